// SPDX-License-Identifier: Apache-2.0

// Implements the portable CRC-32C, which does eight table look-ups for eight bytes, and the choice
// of implementation.

#include "util/coding/crc32c.h"

#include <array>
#include <atomic>

#include "util/coding/fixed.h"

namespace varve::crc32c {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78u;

// kTables[k][b] is what byte b contributes if k more bytes follow it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; bit++) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    }
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; k++) {
    for (size_t b = 0; b < 256; b++) {
      const uint32_t shorter = tables[k - 1][b];
      tables[k][b] = (shorter >> 8) ^ tables[0][shorter & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

// A pointer that begins at the choosing function needs no check at each call, and works in
// initialisers that run before any other.
uint32_t ChooseAndExtend(uint32_t crc, const char* data, size_t n);

// The chosen implementation, or the function that chooses. Relaxed order is enough: every thread
// that chooses gets the same result, and code needs no publishing.
constinit std::atomic<ExtendFunction> extend{&ChooseAndExtend};

uint32_t ChooseAndExtend(uint32_t crc, const char* data, size_t n) {
  ExtendFunction chosen = FindX86Extend();
  if (chosen == nullptr) chosen = FindArm64Extend();
  if (chosen == nullptr) chosen = &ExtendPortable;
  extend.store(chosen, std::memory_order_relaxed);
  return chosen(crc, data, n);
}

}  // namespace

uint32_t ExtendPortable(uint32_t crc, const char* data, size_t n) {
  uint32_t state = ~crc;
  for (; n >= 8; data += 8, n -= 8) {
    const uint64_t word = DecodeFixed64(data) ^ state;
    state = 0;
    // Eight independent look-ups: byte i of the word is followed by 7 - i more bytes of it.
    for (unsigned i = 0; i < 8; i++) state ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; n > 0; data++, n--) {
    state = (state >> 8) ^ kTables[0][(state ^ static_cast<unsigned char>(*data)) & 0xff];
  }
  return ~state;
}

uint32_t Extend(uint32_t crc, const char* data, size_t n) {
  return extend.load(std::memory_order_relaxed)(crc, data, n);
}

}  // namespace varve::crc32c
