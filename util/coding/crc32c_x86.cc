// SPDX-License-Identifier: Apache-2.0

// Computes CRC-32C with the crc32 instruction of SSE4.2, which takes three cycles and can start
// every cycle: long inputs are cut into three lanes that run in parallel, and carry-less
// multiplications join the lanes. One lane alone has a third of the speed.

#include "util/coding/crc32c.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "util/coding/fixed.h"

#define VARVE_TARGET_CRC __attribute__((target("sse4.2,pclmul")))

namespace varve::crc32c {
namespace {

// Returns x^exponent modulo the polynomial, bit-reversed: the top bit is the coefficient of x^0.
constexpr uint32_t PowerOfX(size_t exponent) {
  uint32_t power = 0x80000000u;
  for (size_t i = 0; i < exponent; i++) {
    power = (power >> 1) ^ ((power & 1) != 0 ? 0x82f63b78u : 0);
  }
  return power;
}

// Advances a CRC state over `bytes` zero bytes, with shift = PowerOfX(8 * bytes - 33): the
// instruction that reduces the 64-bit product multiplies by x^32, and the product of two reversed
// numbers is one bit too high.
VARVE_TARGET_CRC inline uint64_t ShiftBy(uint64_t state, uint32_t shift) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(state)),
                                               _mm_cvtsi32_si128(static_cast<int>(shift)), 0);
  return _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product)));
}

// Consumes all complete runs of three lanes, kLane bytes each.
template <size_t kLane>
VARVE_TARGET_CRC inline uint64_t ExtendLanes(uint64_t state, const char** data, size_t* n) {
  constexpr uint32_t kShiftOne = PowerOfX(8 * kLane - 33);
  constexpr uint32_t kShiftTwo = PowerOfX(16 * kLane - 33);
  const char* p = *data;
  size_t left = *n;
  while (left >= 3 * kLane) {
    uint64_t a = state;
    uint64_t b = 0;
    uint64_t c = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      a = _mm_crc32_u64(a, DecodeFixed64(p + i));
      b = _mm_crc32_u64(b, DecodeFixed64(p + kLane + i));
      c = _mm_crc32_u64(c, DecodeFixed64(p + 2 * kLane + i));
    }
    state = ShiftBy(a, kShiftTwo) ^ ShiftBy(b, kShiftOne) ^ c;
    p += 3 * kLane;
    left -= 3 * kLane;
  }
  *data = p;
  *n = left;
  return state;
}

VARVE_TARGET_CRC uint32_t ExtendX86(uint32_t crc, const char* data, size_t n) {
  uint64_t state = static_cast<uint32_t>(~crc);
  // Long lanes first, as joining them costs the same for any length; what is left goes through
  // shorter ones.
  if (n >= 3 * 64) {
    state = ExtendLanes<1024>(state, &data, &n);
    state = ExtendLanes<256>(state, &data, &n);
    state = ExtendLanes<64>(state, &data, &n);
  }
  for (; n >= 8; data += 8, n -= 8) state = _mm_crc32_u64(state, DecodeFixed64(data));
  auto narrow = static_cast<uint32_t>(state);
  if ((n & 4) != 0) {
    narrow = _mm_crc32_u32(narrow, DecodeFixed32(data));
    data += 4;
  }
  if ((n & 2) != 0) {
    narrow = _mm_crc32_u16(narrow, DecodeFixed16(data));
    data += 2;
  }
  if ((n & 1) != 0) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*data));
  return ~narrow;
}

}  // namespace

ExtendFunction FindX86Extend() {
  __builtin_cpu_init();
  const bool usable = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  return usable ? &ExtendX86 : nullptr;
}

}  // namespace varve::crc32c

#else

namespace varve::crc32c {

ExtendFunction FindX86Extend() {
  return nullptr;
}

}  // namespace varve::crc32c

#endif
