// SPDX-License-Identifier: Apache-2.0

// Values that tell what they are. The bytes are a function of the key, the base and the number of
// merges, so that a value is checked by making it again:
//
//      base:     'B' | base: 4 | n: 4 | n bytes from the hash of key and base
//      operand:  'M' | base: 4 | nth: 4 | 4 bytes of the hash of key, base and nth
//      value:    [base] operand operand ...       integers little-endian
//
// A value of another key, of another time, with an operand missing, doubled or out of order is
// recognised without a record of what was written.

#include "tools/db_stress/key_state.h"

#include <algorithm>
#include <cstring>

#include "util/coding/fixed.h"

namespace varve::stress {

namespace {

constexpr size_t kNumberBytes = 8;
// Bytes of a value's head: its kind, its base, and for a base value the length of what follows.
constexpr size_t kHeadBytes = 9;
constexpr size_t kOperandBytes = 13;
constexpr char kBase = 'B';
constexpr char kOperand = 'M';

// Set once, before any child is forked. Another value would make every stored value a wrong one.
uint32_t value_size_most = 64;

// The finaliser of splitmix64.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t SeedOf(const KeyId& key, uint32_t base) {
  return Mix(key.number * 0x9e3779b97f4a7c15ull + key.family + (uint64_t{base} << 40));
}

}  // namespace

KeyState KeyState::After() const {
  switch (pending) {
    case Change::kPut:
      return {base + 1, true, 0, Change::kNone};
    case Change::kDelete:
      return {base + 1, false, 0, Change::kNone};
    case Change::kMerge:
      return {base, has_value, static_cast<uint8_t>(merges + 1), Change::kNone};
    case Change::kNone:
      break;
  }
  return Settled();
}

std::string KeyBytes(uint64_t number) {
  std::string bytes(kNumberBytes, '\0');
  for (size_t i = 0; i < kNumberBytes; i++) {
    bytes[i] = static_cast<char>(number >> (8 * (kNumberBytes - 1 - i)));
  }
  // Tails of different lengths: prefix compression and comparisons meet keys of uneven size. The
  // first eight bytes are unique, so that tails never decide the order.
  return bytes.append(Mix(number) % 9, 'x');
}

std::optional<uint64_t> NumberOf(const Slice& bytes) {
  if (bytes.size() < kNumberBytes) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = 0; i < kNumberBytes; i++) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (bytes != Slice(KeyBytes(number))) return std::nullopt;
  return number;
}

void SetValueSizeMost(uint32_t bytes) {
  value_size_most = bytes;
}

std::string BaseValue(const KeyId& key, uint32_t base) {
  uint64_t seed = SeedOf(key, base);
  const auto n = static_cast<uint32_t>(seed % (uint64_t{value_size_most} + 1));
  std::string value(1, kBase);
  PutFixed32(&value, base);
  PutFixed32(&value, n);
  for (uint32_t i = 0; i < n; i++) {
    if (i % 8 == 0) seed = Mix(seed + i);
    value.push_back(static_cast<char>('a' + (seed >> (i % 8 * 8)) % 7));
  }
  return value;
}

std::string OperandValue(const KeyId& key, uint32_t base, uint8_t nth) {
  std::string value(1, kOperand);
  PutFixed32(&value, base);
  PutFixed32(&value, nth);
  PutFixed32(&value, static_cast<uint32_t>(SeedOf(key, base + nth * 7919u)));
  return value;
}

std::string WholeValue(const KeyId& key, const KeyState& state) {
  std::string value;
  if (state.has_value) value = BaseValue(key, state.base);
  for (uint8_t i = 0; i < state.merges; i++) value += OperandValue(key, state.base, i);
  return value;
}

// Guesses the state from the head and the length, then compares with the value of that state. A
// base has a length of its own; what follows consists of operands of one size. The bounds are
// checked before they are used, as the bytes may be anything.
std::optional<KeyState> StateOf(const KeyId& key, const Slice& value) {
  if (value.size() < kHeadBytes) return std::nullopt;
  KeyState state;
  state.base = DecodeFixed32(value.data() + 1);
  state.has_value = value[0] == kBase;
  size_t rest = value.size();
  if (state.has_value) {
    const size_t base_bytes = kHeadBytes + DecodeFixed32(value.data() + 5);
    if (base_bytes > rest) return std::nullopt;
    rest -= base_bytes;
  }
  if (rest % kOperandBytes != 0 || rest / kOperandBytes > kMergesMost) return std::nullopt;
  state.merges = static_cast<uint8_t>(rest / kOperandBytes);
  if (!state.exists() || value != Slice(WholeValue(key, state))) return std::nullopt;
  return state;
}

}  // namespace varve::stress
