// SPDX-License-Identifier: Apache-2.0
#pragma once

// Variable-length integers of the on-disk formats hold seven bits a byte, low group first; the top
// bit says that another byte follows. Length-prefixed slices and zig-zag signed numbers use them.
//
//      300 = 0b10_0101100              ac 02           1|0101100  0|0000010
//      "abc", length-prefixed          03 61 62 63
//      zig-zag: 0, -1, 1, -2, 2        0, 1, 2, 3, 4
//
// Decoders never read at or past `limit`, and they reject what does not fit the type: a 32-bit
// number takes at most 5 bytes and a 64-bit number at most 10, and the last byte may not carry bits
// beyond the type's width.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"

namespace varve {

inline constexpr size_t kMaxVarint32Length = 5;
inline constexpr size_t kMaxVarint64Length = 10;

// Returns the number of bytes that the varint of `value` takes (1..10).
[[nodiscard]] constexpr size_t VarintLength(uint64_t value) {
  const auto bits = static_cast<size_t>(std::bit_width(value | 1));
  return (bits + 6) / 7;
}

// Write `value` at `dst` and return the end of the encoding. They require room for the longest
// encoding.
char* EncodeVarint32(char* dst, uint32_t value);
char* EncodeVarint64(char* dst, uint64_t value);

// The Put functions append to `dst`.
void PutVarint32(std::string* dst, uint32_t value);
void PutVarint64(std::string* dst, uint64_t value);
// Appends the zig-zag form, in which small magnitudes of either sign are short.
void PutVarsignedint64(std::string* dst, int64_t value);
// Requires value.size() < 4 GiB.
void PutLengthPrefixedSlice(std::string* dst, const Slice& value);

// Return the zig-zag form of a number, and the number of a form.
[[nodiscard]] constexpr uint64_t ZigZagEncode(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

[[nodiscard]] constexpr int64_t ZigZagDecode(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Decode the general cases of GetVarint*Ptr below, out of line so that the common case stays small.
const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* value);
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* value);

// Decode the varint that starts at `p` and return the position after it. They return nullptr and
// leave *value unchanged if the input ends too early (p == limit included) or the number does not
// fit.
[[nodiscard]] inline const char* GetVarint32Ptr(const char* p, const char* limit, uint32_t* value) {
  if (p < limit) [[likely]] {
    const auto first = static_cast<unsigned char>(*p);
    if (first < 0x80) [[likely]] {
      *value = first;
      return p + 1;
    }
    // Lengths of keys and values mostly take one byte or two, so both are decoded inline.
    if (limit - p > 1) {
      const auto second = static_cast<unsigned char>(p[1]);
      if (second < 0x80) [[likely]] {
        *value = (first & 0x7fU) | uint32_t{second} << 7;
        return p + 2;
      }
    }
  }
  return GetVarint32PtrSlow(p, limit, value);
}

[[nodiscard]] inline const char* GetVarint64Ptr(const char* p, const char* limit, uint64_t* value) {
  if (p < limit) [[likely]] {
    const auto first = static_cast<unsigned char>(*p);
    if (first < 0x80) [[likely]] {
      *value = first;
      return p + 1;
    }
  }
  return GetVarint64PtrSlow(p, limit, value);
}

// The Get functions decode from the front of *input and advance it; on failure they return false
// and leave *input and the output unchanged.
[[nodiscard]] bool GetVarint32(Slice* input, uint32_t* value);
[[nodiscard]] bool GetVarint64(Slice* input, uint64_t* value);
[[nodiscard]] bool GetVarsignedint64(Slice* input, int64_t* value);
[[nodiscard]] bool GetFixed64(Slice* input, uint64_t* value);
// Sets *result to a range of the input.
[[nodiscard]] bool GetLengthPrefixedSlice(Slice* input, Slice* result);

}  // namespace varve
