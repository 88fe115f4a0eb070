// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the bounded reader with which decoders read untrusted bytes.

#include <cstddef>
#include <cstdint>

#include "varve/slice.h"

#include "util/coding/fixed.h"
#include "util/coding/varint.h"

namespace varve {

// Reads primitives one after another from a slice, never past its end.
//
// The first read that does not fit makes the reader fail, and it stays failed: every later read
// returns zero or an empty slice and consumes nothing. A decoder may therefore read a whole
// structure first and test ok() once, before it acts on a value:
//
//   BoundedReader in(record);
//   const uint32_t count = in.Varint32();
//   const Slice name = in.LengthPrefixed();
//   if (!in.ok()) return Status::Corruption(...);
//
// A loop over the input must test ok() in its condition, or else be bounded by remaining().
//
// Thread safety: none.
// Lifetime: returned slices point into the input.
class BoundedReader {
 public:
  explicit BoundedReader(const Slice& input)
      : begin_(input.data()), pos_(begin_), end_(begin_ + input.size()) {}

  // True if every read so far has fitted.
  [[nodiscard]] bool ok() const { return !failed_; }
  // True if everything was read and nothing failed.
  [[nodiscard]] bool AtEnd() const { return !failed_ && pos_ == end_; }
  // Number of bytes left; 0 after a failure, so that loops on it end.
  [[nodiscard]] size_t remaining() const { return failed_ ? 0 : static_cast<size_t>(end_ - pos_); }
  // Number of bytes consumed so far; after a failure, the position where the failed read started.
  [[nodiscard]] size_t offset() const { return static_cast<size_t>(pos_ - begin_); }
  // Returns what is left, without consuming it.
  [[nodiscard]] Slice rest() const { return Slice(pos_, remaining()); }

  // Makes the reader fail, for a decoder that finds a value it cannot accept.
  void Fail() { failed_ = true; }

  // Return the next number; 0 after a failure.
  uint8_t U8() { return Fixed<uint8_t>(); }
  uint16_t Fixed16() { return Fixed<uint16_t>(); }
  uint32_t Fixed32() { return Fixed<uint32_t>(); }
  uint64_t Fixed64() { return Fixed<uint64_t>(); }

  uint32_t Varint32() {
    uint32_t value = 0;
    return Advance(GetVarint32Ptr(pos_, pos_ + remaining(), &value)) ? value : 0;
  }

  uint64_t Varint64() {
    uint64_t value = 0;
    return Advance(GetVarint64Ptr(pos_, pos_ + remaining(), &value)) ? value : 0;
  }

  // Returns the next `n` bytes. `n` may come from the input: it is checked against what is left.
  Slice Bytes(uint64_t n) {
    if (n > remaining()) {
      failed_ = true;
      return Slice();
    }
    const Slice result(pos_, static_cast<size_t>(n));
    pos_ += n;
    return result;
  }

  // Reads a varint32 length, then that many bytes.
  Slice LengthPrefixed() {
    const char* const start = pos_;
    const uint32_t n = Varint32();
    const Slice result = Bytes(n);
    if (failed_) pos_ = start;
    return result;
  }

  // Passes over `n` bytes.
  void Skip(uint64_t n) { (void)Bytes(n); }

 private:
  template <std::unsigned_integral T>
  T Fixed() {
    if (remaining() < sizeof(T)) {
      failed_ = true;
      return 0;
    }
    const T value = DecodeFixed<T>(pos_);
    pos_ += sizeof(T);
    return value;
  }

  // Moves to `next`, or fails if it is null.
  bool Advance(const char* next) {
    if (next == nullptr || failed_) {
      failed_ = true;
      return false;
    }
    pos_ = next;
    return true;
  }

  const char* begin_;
  const char* pos_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace varve
