// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes the fixed-width integers of the on-disk formats: they are always little-endian, at any
// alignment.
//
//      EncodeFixed32(p, 0x01020304)      p: 04 03 02 01
//      PutFixed16(&s, 7)                 appends 07 00
//
// Copies go through memcpy, which compilers turn into one load or store. A cast of the pointer
// would be undefined for addresses that are not aligned. No function here checks bounds; decoders
// of untrusted bytes use util/coding/reader.h.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>

namespace varve {

// Returns the value with its bytes in reverse order.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T ByteSwap(T value) {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bswap64(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else {
    return value;
  }
}

// Reads an integer from `src`. Requires sizeof(T) readable bytes there.
template <std::unsigned_integral T>
[[nodiscard]] inline T DecodeFixed(const char* src) {
  T value;
  std::memcpy(&value, src, sizeof(value));
  if constexpr (std::endian::native != std::endian::little) value = ByteSwap(value);
  return value;
}

// Writes an integer to `dst`. Requires room for sizeof(T) bytes there.
template <std::unsigned_integral T>
inline void EncodeFixed(char* dst, T value) {
  if constexpr (std::endian::native != std::endian::little) value = ByteSwap(value);
  std::memcpy(dst, &value, sizeof(value));
}

// Read a number of that many bits. Require that its bytes at `src` are readable.
[[nodiscard]] inline uint16_t DecodeFixed16(const char* src) {
  return DecodeFixed<uint16_t>(src);
}
[[nodiscard]] inline uint32_t DecodeFixed32(const char* src) {
  return DecodeFixed<uint32_t>(src);
}
[[nodiscard]] inline uint64_t DecodeFixed64(const char* src) {
  return DecodeFixed<uint64_t>(src);
}

// Store a number of that many bits. Require room for it.
inline void EncodeFixed16(char* dst, uint16_t value) {
  EncodeFixed(dst, value);
}
inline void EncodeFixed32(char* dst, uint32_t value) {
  EncodeFixed(dst, value);
}
inline void EncodeFixed64(char* dst, uint64_t value) {
  EncodeFixed(dst, value);
}

// Loads a big-endian integer: the order of the results is the byte order of the inputs.
[[nodiscard]] inline uint64_t DecodeBigEndian64(const char* src) {
  return ByteSwap(DecodeFixed64(src));
}

// The PutFixed* functions append to `dst`.
inline void PutFixed16(std::string* dst, uint16_t value) {
  char buf[sizeof(value)];
  EncodeFixed16(buf, value);
  dst->append(buf, sizeof(buf));
}

inline void PutFixed32(std::string* dst, uint32_t value) {
  char buf[sizeof(value)];
  EncodeFixed32(buf, value);
  dst->append(buf, sizeof(buf));
}

inline void PutFixed64(std::string* dst, uint64_t value) {
  char buf[sizeof(value)];
  EncodeFixed64(buf, value);
  dst->append(buf, sizeof(buf));
}

}  // namespace varve
