// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the position of a block in a table file.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "util/coding/varint.h"

namespace varve {

// Every block is followed by one byte of compression type and a four-byte checksum.
inline constexpr size_t kBlockTrailerBytes = 5;

// Position of a block in its file: offset, and size without the trailer.
struct BlockHandle {
  static constexpr size_t kMaxEncodedBytes = 2 * kMaxVarint64Length;

  uint64_t offset = 0;
  uint64_t size = 0;  // excludes the trailer

  // True if the handle is (0, 0), which stands for "no block": a real block is never empty.
  [[nodiscard]] bool IsNull() const { return offset == 0 && size == 0; }

  // True if block and trailer lie within the first `limit` bytes. Must be checked before any read
  // or allocation that a stored handle asks for.
  [[nodiscard]] bool FitsIn(uint64_t limit) const {
    return limit >= kBlockTrailerBytes && size <= limit - kBlockTrailerBytes &&
           offset <= limit - kBlockTrailerBytes - size;
  }

  // Returns the offset of the byte after the trailer. Requires FitsIn of some limit.
  [[nodiscard]] uint64_t end() const { return offset + size + kBlockTrailerBytes; }

  // Writes at most kMaxEncodedBytes to `dst` and returns the end.
  char* EncodeTo(char* dst) const { return EncodeVarint64(EncodeVarint64(dst, offset), size); }

  // Appends the handle as two varints.
  void EncodeTo(std::string* dst) const {
    char buf[kMaxEncodedBytes];
    dst->append(buf, static_cast<size_t>(EncodeTo(buf) - buf));
  }

  // Consumes a handle from the front of *input. Returns false and changes nothing if there is none.
  [[nodiscard]] static bool DecodeFrom(Slice* input, BlockHandle* handle) {
    Slice in = *input;
    BlockHandle result;
    if (!GetVarint64(&in, &result.offset) || !GetVarint64(&in, &result.size)) return false;
    *input = in;
    *handle = result;
    return true;
  }

  friend bool operator==(const BlockHandle& a, const BlockHandle& b) {
    return a.offset == b.offset && a.size == b.size;
  }
};

}  // namespace varve
