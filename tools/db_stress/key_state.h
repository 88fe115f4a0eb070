// SPDX-License-Identifier: Apache-2.0
#pragma once

// The expected state of one key, in 64 bits: enough to know every value that a read may return,
// even while a change is pending or was cut off by a kill.

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
  // Returns the state without the pending change.
  [[nodiscard]] KeyState Settled() const { return {base, has_value, merges, Change::kNone}; }
  // Returns the state after the pending change.
  [[nodiscard]] KeyState After() const;
  [[nodiscard]] KeyState With(Change change) const { return {base, has_value, merges, change}; }

  // From the highest bit: base: 32 | unused: 16 | merges: 8 | has_value: 1 | unused: 5 |
  // pending: 2. All bits are zero if the key was never written.
  [[nodiscard]] uint64_t Pack() const {
    return uint64_t{base} << 32 | uint64_t{merges} << 8 | uint64_t{has_value} << 7 |
           static_cast<uint64_t>(pending);
  }
  static KeyState Unpack(uint64_t bits) {
    return {static_cast<uint32_t>(bits >> 32), (bits >> 7 & 1) != 0,
            static_cast<uint8_t>(bits >> 8), static_cast<Change>(bits & 3)};
  }
  // Returns true if `other` is the same state of the key or a later one. Pending changes are not
  // compared.
  [[nodiscard]] bool NotAfter(const KeyState& other) const {
    return base < other.base || (base == other.base && merges <= other.merges);
  }
  friend bool operator==(const KeyState&, const KeyState&) = default;
};

// Maximal number of operands on a base.
inline constexpr uint8_t kMergesMost = 100;

// Identifies a key of a family.
struct KeyId {
  uint32_t family = 0;
  uint64_t number = 0;
};

// Returns the key's bytes: eight that sort as the number does, and a tail whose length depends on
// the key.
std::string KeyBytes(uint64_t number);
// Returns nothing if the bytes are no key.
std::optional<uint64_t> NumberOf(const Slice& bytes);

// Return a base value, and the operand that was merged as the `nth` on it, from 0.
std::string BaseValue(const KeyId& key, uint32_t base);
std::string OperandValue(const KeyId& key, uint32_t base, uint8_t nth);
// Returns the value that a read of the state returns. Requires exists().
std::string WholeValue(const KeyId& key, const KeyState& state);

// Returns the state that a value was made for, or nothing if no state of this key makes these
// bytes.
std::optional<KeyState> StateOf(const KeyId& key, const Slice& value);

// Sets how many bytes may follow the head of a base value. It must be the same for all processes of
// a run, and for those that read its values later.
void SetValueSizeMost(uint32_t bytes);

}  // namespace varve::stress
