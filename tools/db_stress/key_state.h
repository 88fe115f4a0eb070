// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one key must hold, in 64 bits: enough to know every value that a read may return, even while
// a change of it is under way or was cut off by a kill.

#include <cstdint>
#include <optional>
#include <string>

#include "varve/slice.h"

namespace varve::stress {

enum class Change : uint8_t { kNone, kPut, kDelete, kMerge };

// A key's history is a row of bases, each a value or nothing, with operands merged on top.
struct KeyState {
  uint32_t base = 0;       // counts puts and deletions; 0: never written
  bool has_value = false;  // the base is a value
  uint8_t merges = 0;      // operands on top of it
  Change pending = Change::kNone;

  [[nodiscard]] bool exists() const { return has_value || merges > 0; }
  // Nothing is under way.
  [[nodiscard]] KeyState Settled() const { return {base, has_value, merges, Change::kNone}; }
  // After what is under way.
  [[nodiscard]] KeyState After() const;
  [[nodiscard]] KeyState With(Change change) const { return {base, has_value, merges, change}; }

  [[nodiscard]] uint64_t Pack() const {
    return uint64_t{base} << 32 | uint64_t{merges} << 8 | uint64_t{has_value} << 7 |
           static_cast<uint64_t>(pending);
  }
  static KeyState Unpack(uint64_t bits) {
    return {static_cast<uint32_t>(bits >> 32), (bits >> 7 & 1) != 0,
            static_cast<uint8_t>(bits >> 8), static_cast<Change>(bits & 3)};
  }
  // Whether the other one is a later moment of the same key, or the same.
  [[nodiscard]] bool NotAfter(const KeyState& other) const {
    return base < other.base || (base == other.base && merges <= other.merges);
  }
  friend bool operator==(const KeyState&, const KeyState&) = default;
};

// More operands than this are not put on a base.
inline constexpr uint8_t kMergesMost = 100;

// Which key of which family.
struct KeyId {
  uint32_t family = 0;
  uint64_t number = 0;
};

// The key's bytes: eight that sort as the number does, and a tail of a length of its own.
std::string KeyBytes(uint64_t number);
// Nothing if those are no key's bytes.
std::optional<uint64_t> NumberOf(const Slice& bytes);

// A base value, and the operand that was merged as the `nth` on it, from 0.
std::string BaseValue(const KeyId& key, uint32_t base);
std::string OperandValue(const KeyId& key, uint32_t base, uint8_t nth);
// All that a read of the state returns. Requires exists().
std::string WholeValue(const KeyId& key, const KeyState& state);

// The state that a value was made for; nothing if no state of this key makes these bytes.
std::optional<KeyState> StateOf(const KeyId& key, const Slice& value);

// Longest base value, in bytes.
void SetValueSizeMost(uint32_t bytes);

}  // namespace varve::stress
