// SPDX-License-Identifier: Apache-2.0

// Implements Slice's conversions, and the moving and shrinking of a PinnableSlice.

#include "varve/slice.h"

#include <string>
#include <utility>

#include "util/base/assert.h"

namespace varve {

namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

// Returns the value of a hex digit, or -1.
int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

// Always copies, also a single part: the result points into *buf only.
Slice::Slice(const SliceParts& parts, std::string* buf) {
  size_t total = 0;
  for (int i = 0; i < parts.num_parts; ++i) total += parts.parts[i].size();
  buf->clear();
  buf->reserve(total);
  for (int i = 0; i < parts.num_parts; ++i) {
    buf->append(parts.parts[i].data(), parts.parts[i].size());
  }
  data_ = buf->data();
  size_ = buf->size();
}

std::string Slice::ToString(bool hex) const {
  if (!hex) return std::string(data_, size_);
  std::string digits(2 * size_, '\0');
  for (size_t i = 0; i < size_; ++i) {
    const auto byte = static_cast<unsigned char>(data_[i]);
    digits[2 * i] = kHexDigits[byte >> 4];
    digits[2 * i + 1] = kHexDigits[byte & 0xf];
  }
  return digits;
}

bool Slice::DecodeHex(std::string* result) const {
  if (result == nullptr || size_ % 2 != 0) return false;
  std::string bytes;
  bytes.reserve(size_ / 2);
  for (size_t i = 0; i < size_; i += 2) {
    const int high = HexValue(data_[i]);
    const int low = HexValue(data_[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  *result = std::move(bytes);
  return true;
}

size_t Slice::difference_offset(const Slice& b) const {
  const size_t shared = size_ < b.size_ ? size_ : b.size_;
  size_t i = 0;
  while (i < shared && data_[i] == b.data_[i]) ++i;
  return i;
}

PinnableSlice::PinnableSlice(PinnableSlice&& other) noexcept
    : Slice(), Cleanable(), buffer_(&own_) {
  TakeFrom(&other);
}

PinnableSlice& PinnableSlice::operator=(PinnableSlice&& other) noexcept {
  if (this != &other) {
    Reset();
    TakeFrom(&other);
  }
  return *this;
}

// Requires that this holds no cleanups. There are three cases: the value is pinned elsewhere (its
// bytes stay), lies in a buffer of the caller (the pointer moves), or in the object's own string
// (the string moves, perhaps with its bytes).
void PinnableSlice::TakeFrom(PinnableSlice* other) noexcept {
  Cleanable::operator=(std::move(*other));
  pinned_ = other->pinned_;
  data_ = other->data_;
  size_ = other->size_;
  if (other->buffer_ != &other->own_) {
    buffer_ = other->buffer_;
  } else {
    // A short string lives inside its object, so its bytes move even when the string is moved.
    const bool in_buffer = !pinned_ && other->data_ == other->own_.data();
    own_ = std::move(other->own_);
    buffer_ = &own_;
    if (in_buffer) data_ = own_.data();
  }
  other->own_.clear();
  other->buffer_ = &other->own_;
  other->pinned_ = false;
  other->clear();
}

void PinnableSlice::remove_suffix(size_t n) {
  VARVE_ASSERT(n <= size_);
  if (pinned_) {
    size_ -= n;
    return;
  }
  buffer_->resize(size_ - n);
  PointAtBuffer();
}

void PinnableSlice::remove_prefix(size_t n) {
  VARVE_ASSERT(n <= size_);
  if (pinned_) {
    data_ += n;
    size_ -= n;
    return;
  }
  buffer_->erase(0, n);
  PointAtBuffer();
}

}  // namespace varve
