// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Slice: a borrowed run of bytes. PinnableSlice: a result that either borrows engine memory and
// knows how to give it back, or holds its own copy. SliceParts: a value scattered over slices.

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "varve/cleanable.h"
#include "varve/export.h"

namespace varve {

struct SliceParts;

/// Pointer and length; owns nothing. The maker of a Slice keeps the bytes alive while it is used.
/// Any byte value may occur. Const methods may be called by many threads at once.
class VARVE_EXPORT Slice {
 public:
  constexpr Slice() : data_(""), size_(0) {}
  constexpr Slice(const char* d, size_t n) : data_(d), size_(n) {}
  /* implicit */ Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}
  /* implicit */ constexpr Slice(const std::string_view& sv) : data_(sv.data()), size_(sv.size()) {}
  /// Up to, without, the terminating zero. Null makes an empty slice.
  /* implicit */ constexpr Slice(const char* s)
      : data_(s), size_(s == nullptr ? 0 : std::char_traits<char>::length(s)) {}
  /// Joins `parts` in `*buf` and refers to it.
  Slice(const SliceParts& parts, std::string* buf);

  constexpr const char* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }

  /// Requires n < size().
  constexpr char operator[](size_t n) const {
    assert(n < size_);
    return data_[n];
  }

  constexpr void clear() { *this = Slice(); }

  /// Drop n bytes at the front or the back; requires n <= size().
  constexpr void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  constexpr void remove_suffix(size_t n) {
    assert(n <= size_);
    size_ -= n;
  }

  /// A copy of the bytes, or with `hex` two upper-case digits for each byte.
  std::string ToString(bool hex = false) const;
  constexpr std::string_view ToStringView() const { return std::string_view(data_, size_); }

  /// Reads this slice as hex digits of either case. False, with `*result` unspecified, when the
  /// length is odd, a character is no hex digit or `result` is null.
  bool DecodeHex(std::string* result) const;

  /// Unsigned bytewise order, a prefix before its extensions: <0, 0 or >0.
  int compare(const Slice& b) const;

  bool starts_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_, x.data_, x.size_) == 0;
  }
  bool ends_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_ + (size_ - x.size_), x.data_, x.size_) == 0;
  }

  /// Length of the common prefix.
  size_t difference_offset(const Slice& b) const;

  // Public so that a Slice can be laid over foreign buffers; treat as read-only elsewhere.
  const char* data_;
  size_t size_;
};

inline bool operator==(const Slice& x, const Slice& y) {
  return x.size() == y.size() && (x.size() == 0 || std::memcmp(x.data(), y.data(), x.size()) == 0);
}
inline bool operator!=(const Slice& x, const Slice& y) {
  return !(x == y);
}

inline int Slice::compare(const Slice& b) const {
  const size_t shared = size_ < b.size_ ? size_ : b.size_;
  const int order = shared == 0 ? 0 : std::memcmp(data_, b.data_, shared);
  if (order != 0) return order;
  return (size_ > b.size_ ? 1 : 0) - (size_ < b.size_ ? 1 : 0);
}

/// A value given as the concatenation of `num_parts` slices. Borrows the array and the bytes.
struct SliceParts {
  SliceParts() = default;
  SliceParts(const Slice* _parts, int _num_parts) : parts(_parts), num_parts(_num_parts) {}

  const Slice* parts = nullptr;
  int num_parts = 0;
};

/// A Slice or nothing, in the space of a Slice. Nothing differs from an empty slice.
class OptSlice {
 public:
  OptSlice() : slice_(nullptr, 0) {}
  /* implicit */ OptSlice(std::nullptr_t) : OptSlice() {}
  /* implicit */ OptSlice(const Slice& s) : slice_(s) {}
  /* implicit */ OptSlice(const std::string& s) : slice_(s) {}
  /* implicit */ OptSlice(const std::string_view& s) : slice_(s) {}
  /// Null makes nothing.
  /* implicit */ OptSlice(const char* s) : slice_(s) {}
  OptSlice(const char* data, size_t size) : slice_(data, size) {}

  bool has_value() const { return slice_.data() != nullptr; }
  explicit operator bool() const { return has_value(); }

  /// Require has_value().
  const Slice& value() const {
    assert(has_value());
    return slice_;
  }
  const Slice& operator*() const { return value(); }
  const Slice* operator->() const { return &value(); }

  /// Null stands for nothing. The pointer is valid as long as this object is.
  static OptSlice CopyFromPtr(const Slice* s) { return s == nullptr ? OptSlice() : OptSlice(*s); }
  const Slice* AsPtr() const { return has_value() ? &slice_ : nullptr; }

 private:
  Slice slice_;
};

/// The result of a read. Pinned: it points into engine memory, held by cleanups until Reset(),
/// reuse or destruction, all of which must come before the DB is closed. Otherwise: it points into
/// its buffer, which is its own or a string given at construction. Movable only. Not thread-safe.
class VARVE_EXPORT PinnableSlice : public Slice, public Cleanable {
 public:
  PinnableSlice() : buffer_(&own_) {}
  /// Copies go to `*buf`, which must outlive this object.
  explicit PinnableSlice(std::string* buf) : buffer_(buf) {}

  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  /// The source becomes empty with a buffer of its own; an external buffer moves along.
  PinnableSlice(PinnableSlice&& other) noexcept;
  PinnableSlice& operator=(PinnableSlice&& other) noexcept;

  /// Point at `s` and run `f(arg1, arg2)` when it is no longer needed. Requires !IsPinned().
  void PinSlice(const Slice& s, CleanupFunction f, void* arg1, void* arg2) {
    Pin(s);
    RegisterCleanup(f, arg1, arg2);
  }
  /// The same, taking over all cleanups of `cleanable`; null when the bytes need none.
  void PinSlice(const Slice& s, Cleanable* cleanable) {
    Pin(s);
    if (cleanable != nullptr) cleanable->DelegateCleanupsTo(this);
  }

  /// Copies `slice` into the buffer and points there. Requires !IsPinned().
  void PinSelf(const Slice& slice) {
    assert(!pinned_);
    // As in a loop over values of one size: the string need not look at its room.
    if (slice.size() == buffer_->size()) {
      if (!slice.empty()) std::memmove(buffer_->data(), slice.data(), slice.size());
    } else {
      buffer_->assign(slice.data(), slice.size());
    }
    PointAtBuffer();
  }
  /// Points at the buffer as filled through GetSelf(). Requires !IsPinned().
  void PinSelf() {
    assert(!pinned_);
    PointAtBuffer();
  }

  /// Pinned: narrows the view. Not pinned: edits the buffer as well, external or not.
  void remove_suffix(size_t n);
  void remove_prefix(size_t n);

  /// Runs the cleanups and becomes empty; the buffer keeps its bytes and capacity.
  void Reset() {
    Cleanable::Reset();
    pinned_ = false;
    size_ = 0;
  }

  /// The buffer; call PinSelf() after a change. Never null.
  std::string* GetSelf() { return buffer_; }
  bool IsPinned() const { return pinned_; }

 private:
  void Pin(const Slice& s) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
  }
  void PointAtBuffer() {
    data_ = buffer_->data();
    size_ = buffer_->size();
  }
  void TakeFrom(PinnableSlice* other) noexcept;

  std::string own_;
  std::string* buffer_;
  bool pinned_ = false;
};

}  // namespace varve
