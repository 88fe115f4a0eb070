// SPDX-License-Identifier: Apache-2.0

// Computes CRC-32C with the optional CRC instructions of ARMv8. They are written as assembly
// because the compilers disagree on how to enable their intrinsics for one function.

#include "util/coding/crc32c.h"

#if defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

#include "util/coding/fixed.h"

namespace varve::crc32c {
namespace {

// The AT_HWCAP bit of Linux, defined here because not all C libraries name it.
constexpr unsigned long kHwcapCrc32 = 1ul << 7;

inline uint32_t Crc8(uint32_t state, uint64_t word) {
  asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(state) : "r"(word));
  return state;
}

inline uint32_t Crc1(uint32_t state, uint32_t byte) {
  asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(state) : "r"(byte));
  return state;
}

uint32_t ExtendArm64(uint32_t crc, const char* data, size_t n) {
  uint32_t state = ~crc;
  for (; n >= 8; data += 8, n -= 8) state = Crc8(state, DecodeFixed64(data));
  for (; n > 0; data++, n--) state = Crc1(state, static_cast<unsigned char>(*data));
  return ~state;
}

}  // namespace

ExtendFunction FindArm64Extend() {
  return (getauxval(AT_HWCAP) & kHwcapCrc32) != 0 ? &ExtendArm64 : nullptr;
}

}  // namespace varve::crc32c

#else

namespace varve::crc32c {

ExtendFunction FindArm64Extend() {
  return nullptr;
}

}  // namespace varve::crc32c

#endif
