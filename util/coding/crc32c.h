// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes CRC-32C (Castagnoli), the checksum of logs and, if chosen, of table blocks.

#include <cstddef>
#include <cstdint>

namespace varve::crc32c {

// Returns the CRC of A followed by data[0, n), where `crc` is the CRC of A (0 for an empty A).
// Bytes in several ranges take one call for each.
[[nodiscard]] uint32_t Extend(uint32_t crc, const char* data, size_t n);

[[nodiscard]] inline uint32_t Value(const char* data, size_t n) {
  return Extend(0, data, n);
}

inline constexpr uint32_t kMaskDelta = 0xa282ead8u;

// Returns the form of a CRC that is stored. The CRC of bytes that contain their own CRC is a
// constant; masking avoids that.
[[nodiscard]] constexpr uint32_t Mask(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + kMaskDelta;
}

[[nodiscard]] constexpr uint32_t Unmask(uint32_t masked) {
  const uint32_t rotated = masked - kMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

// The implementations behind Extend, for tests and benchmarks. The Find functions return nullptr if
// this machine lacks the instructions.
using ExtendFunction = uint32_t (*)(uint32_t crc, const char* data, size_t n);
[[nodiscard]] uint32_t ExtendPortable(uint32_t crc, const char* data, size_t n);
[[nodiscard]] ExtendFunction FindX86Extend();
[[nodiscard]] ExtendFunction FindArm64Extend();

}  // namespace varve::crc32c
