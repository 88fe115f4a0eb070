// SPDX-License-Identifier: Apache-2.0

// Implements the encoding loops, and the decoding of varints of more than one byte.

#include "util/coding/varint.h"

#include "util/base/assert.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

template <typename T>
char* EncodeVarint(char* dst, T value) {
  while (value >= 0x80) {
    *dst++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *dst++ = static_cast<char>(value);
  return dst;
}

// The width of T bounds the number of bytes and the bits that the last of them may carry.
template <typename T>
const char* DecodeVarint(const char* p, const char* limit, T* value) {
  constexpr unsigned kBits = sizeof(T) * 8;
  T result = 0;
  for (unsigned shift = 0; shift < kBits && p < limit; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    const T bits = byte & 0x7f;
    // The last byte of a 32-bit number has room for four bits, that of a 64-bit one for one.
    if (shift + 7 > kBits && (bits >> (kBits - shift)) != 0) return nullptr;
    result |= bits << shift;
    if (byte < 0x80) {
      *value = result;
      return p;
    }
  }
  return nullptr;
}

template <typename T>
bool TakeFixed(Slice* input, T* value) {
  if (input->size() < sizeof(T)) return false;
  *value = DecodeFixed<T>(input->data());
  input->remove_prefix(sizeof(T));
  return true;
}

}  // namespace

char* EncodeVarint32(char* dst, uint32_t value) {
  return EncodeVarint(dst, value);
}
char* EncodeVarint64(char* dst, uint64_t value) {
  return EncodeVarint(dst, value);
}

void PutVarint32(std::string* dst, uint32_t value) {
  char buf[kMaxVarint32Length];
  dst->append(buf, static_cast<size_t>(EncodeVarint32(buf, value) - buf));
}

void PutVarint64(std::string* dst, uint64_t value) {
  char buf[kMaxVarint64Length];
  dst->append(buf, static_cast<size_t>(EncodeVarint64(buf, value) - buf));
}

void PutVarsignedint64(std::string* dst, int64_t value) {
  PutVarint64(dst, ZigZagEncode(value));
}

void PutLengthPrefixedSlice(std::string* dst, const Slice& value) {
  VARVE_ASSERT(value.size() <= UINT32_MAX);
  PutVarint32(dst, static_cast<uint32_t>(value.size()));
  dst->append(value.data(), value.size());
}

const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* value) {
  return DecodeVarint(p, limit, value);
}

const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* value) {
  return DecodeVarint(p, limit, value);
}

bool GetVarint32(Slice* input, uint32_t* value) {
  const char* const limit = input->data() + input->size();
  const char* const end = GetVarint32Ptr(input->data(), limit, value);
  if (end == nullptr) return false;
  *input = Slice(end, static_cast<size_t>(limit - end));
  return true;
}

bool GetVarint64(Slice* input, uint64_t* value) {
  const char* const limit = input->data() + input->size();
  const char* const end = GetVarint64Ptr(input->data(), limit, value);
  if (end == nullptr) return false;
  *input = Slice(end, static_cast<size_t>(limit - end));
  return true;
}

bool GetVarsignedint64(Slice* input, int64_t* value) {
  uint64_t encoded = 0;
  if (!GetVarint64(input, &encoded)) return false;
  *value = ZigZagDecode(encoded);
  return true;
}

bool GetFixed64(Slice* input, uint64_t* value) {
  return TakeFixed(input, value);
}

bool GetLengthPrefixedSlice(Slice* input, Slice* result) {
  Slice rest = *input;
  uint32_t length = 0;
  if (!GetVarint32(&rest, &length) || length > rest.size()) return false;
  *result = Slice(rest.data(), length);
  rest.remove_prefix(length);
  *input = rest;
  return true;
}

}  // namespace varve
