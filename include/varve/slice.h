// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Slice: a borrowed sequence of bytes. PinnableSlice: a result that either borrows engine memory
// and releases it, or owns a copy. SliceParts: a value in several slices.
//
// A Slice is passed by reference or by value; it is two words. A key or value that must outlive the
// call that gave it is copied, by ToString() or into a buffer:
//
//   varve::PinnableSlice value;
//   varve::Status s = db->Get(varve::ReadOptions(), family, "key", &value);
//   if (s.ok()) {
//     Use(value.data(), value.size());  // engine memory, where possible
//     value.Reset();                    // releases the block of the cache
//   }

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

/// A pointer and a length; owns nothing. The creator keeps the bytes alive while the Slice is used:
/// a Slice of a temporary string dangles at the end of the statement. Any byte value may occur.
/// Const methods may be called by many threads at once.
class VARVE_EXPORT Slice {
 public:
  /// Makes an empty slice, whose data() is not null.
  constexpr Slice() : data_(""), size_(0) {}
  /// Refers to n bytes from d on.
  constexpr Slice(const char* d, size_t n) : data_(d), size_(n) {}
  /// Refers to the string's bytes, which a change of the string may move.
  /* implicit */ Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}
  /* implicit */ constexpr Slice(const std::string_view& sv) : data_(sv.data()), size_(sv.size()) {}
  /// Excludes the terminating zero. Null makes an empty slice.
  /* implicit */ constexpr Slice(const char* s)
      : data_(s), size_(s == nullptr ? 0 : std::char_traits<char>::length(s)) {}
  /// Concatenates `parts` in `*buf` and refers to it.
  Slice(const SliceParts& parts, std::string* buf);

  /// Return the bytes, which need not end with a zero, and their number.
  constexpr const char* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  /// True if there are no bytes.
  constexpr bool empty() const { return size_ == 0; }

  /// Requires n < size(). Returns byte n, from 0 on.
  constexpr char operator[](size_t n) const {
    assert(n < size_);
    return data_[n];
  }

  /// Makes the slice empty; the bytes stay with their owner.
  constexpr void clear() { *this = Slice(); }

  /// Drop n bytes at the front or the back. Require n <= size().
  constexpr void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  constexpr void remove_suffix(size_t n) {
    assert(n <= size_);
    size_ -= n;
  }

  /// Returns a copy of the bytes, or with `hex` two upper-case digits per byte.
  std::string ToString(bool hex = false) const;
  /// Returns a view of the same bytes, without a copy and with the same lifetime.
  constexpr std::string_view ToStringView() const { return std::string_view(data_, size_); }

  /// Decodes this slice as hex digits of either case. Returns false, with `*result` unspecified, if
  /// the length is odd, a character is no hex digit or `result` is null.
  bool DecodeHex(std::string* result) const;

  /// Returns <0, 0 or >0 if this slice sorts before, equal to or after `b`. Bytes are compared as
  /// unsigned numbers, and a prefix sorts before its extensions.
  int compare(const Slice& b) const;

  /// True if the bytes begin, or end, with those of `x`. An empty `x` always matches.
  bool starts_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_, x.data_, x.size_) == 0;
  }
  bool ends_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_ + (size_ - x.size_), x.data_, x.size_) == 0;
  }

  /// Returns the length of the common prefix.
  size_t difference_offset(const Slice& b) const;

  // Public so that a Slice can be overlaid on foreign buffers; treat as read-only elsewhere.
  const char* data_;
  size_t size_;
};

/// True if both have the same bytes. Empty slices are equal, whatever they point to.
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

/// A value that is the concatenation of `num_parts` slices. Borrows the array and the bytes.
struct SliceParts {
  /// Makes an empty value.
  SliceParts() = default;
  /// Refers to `_num_parts` slices, which must live as long as this object is used.
  SliceParts(const Slice* _parts, int _num_parts) : parts(_parts), num_parts(_num_parts) {}

  /// The first slice and the number of slices; the pointer may be null if the number is 0.
  const Slice* parts = nullptr;
  int num_parts = 0;
};

/// An optional Slice in the space of a Slice. An absent slice differs from an empty one.
class OptSlice {
 public:
  /// Makes an absent slice.
  OptSlice() : slice_(nullptr, 0) {}
  /* implicit */ OptSlice(std::nullptr_t) : OptSlice() {}
  /// Refers to the bytes of `s`; a Slice with a null pointer makes it absent.
  /* implicit */ OptSlice(const Slice& s) : slice_(s) {}
  /* implicit */ OptSlice(const std::string& s) : slice_(s) {}
  /* implicit */ OptSlice(const std::string_view& s) : slice_(s) {}
  /// Null makes it absent.
  /* implicit */ OptSlice(const char* s) : slice_(s) {}
  OptSlice(const char* data, size_t size) : slice_(data, size) {}

  /// True unless the slice is absent, also for an empty one.
  bool has_value() const { return slice_.data() != nullptr; }
  /// True if has_value().
  explicit operator bool() const { return has_value(); }

  /// Return the slice. They require has_value().
  const Slice& value() const {
    assert(has_value());
    return slice_;
  }
  const Slice& operator*() const { return value(); }
  const Slice* operator->() const { return &value(); }

  /// Convert from and to an optional pointer: null stands for an absent slice. The pointer that
  /// AsPtr() returns is valid as long as this object.
  static OptSlice CopyFromPtr(const Slice* s) { return s == nullptr ? OptSlice() : OptSlice(*s); }
  const Slice* AsPtr() const { return has_value() ? &slice_ : nullptr; }

 private:
  Slice slice_;
};

/// The result of a read. If pinned, it points into engine memory, which its cleanups release at
/// Reset(), reuse or destruction; one of these must happen before the DB is closed. Otherwise it
/// points into a buffer: one of its own, or a string given at construction. Movable only. Not
/// thread-safe.
class VARVE_EXPORT PinnableSlice : public Slice, public Cleanable {
 public:
  /// Makes an empty result with a buffer of its own, which later copies reuse.
  PinnableSlice() : buffer_(&own_) {}
  /// Copies are stored in `*buf`, which must outlive this object.
  explicit PinnableSlice(std::string* buf) : buffer_(buf) {}

  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  /// Makes the source empty, with its own buffer; an external buffer moves along.
  PinnableSlice(PinnableSlice&& other) noexcept;
  PinnableSlice& operator=(PinnableSlice&& other) noexcept;

  /// Points at `s`; runs `f(arg1, arg2)` when it is no longer needed. Requires !IsPinned().
  void PinSlice(const Slice& s, CleanupFunction f, void* arg1, void* arg2) {
    Pin(s);
    RegisterCleanup(f, arg1, arg2);
  }
  /// Points at `s`, and takes all cleanups of `cleanable`, which is null if there are none.
  void PinSlice(const Slice& s, Cleanable* cleanable) {
    Pin(s);
    if (cleanable != nullptr) cleanable->DelegateCleanupsTo(this);
  }

  /// Copies `slice` into the buffer and points there. Requires !IsPinned().
  void PinSelf(const Slice& slice) {
    assert(!pinned_);
    // For values of equal size, as in a loop, the string's capacity need not be checked.
    if (slice.size() == buffer_->size()) {
      if (!slice.empty()) std::memmove(buffer_->data(), slice.data(), slice.size());
    } else {
      buffer_->assign(slice.data(), slice.size());
    }
    PointAtBuffer();
  }
  /// Points at the buffer, which was filled through GetSelf(). Requires !IsPinned().
  void PinSelf() {
    assert(!pinned_);
    PointAtBuffer();
  }

  /// Drop n bytes at the back or the front; require n <= size(). The bytes are also removed from
  /// the buffer unless the value is pinned.
  void remove_suffix(size_t n);
  void remove_prefix(size_t n);

  /// Runs the cleanups and becomes empty; the buffer keeps its bytes and capacity.
  void Reset() {
    Cleanable::Reset();
    pinned_ = false;
    size_ = 0;
  }

  /// Returns the buffer, never null; call PinSelf() after a change.
  std::string* GetSelf() { return buffer_; }
  /// True if the value lies in engine memory, which this object keeps from being freed.
  bool IsPinned() const { return pinned_; }

 private:
  /// Points at memory that the cleanups release.
  void Pin(const Slice& s) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
  }
  /// Points at the buffer's present bytes.
  void PointAtBuffer() {
    data_ = buffer_->data();
    size_ = buffer_->size();
  }
  /// Moves value, cleanups and buffer here; the source becomes empty.
  void TakeFrom(PinnableSlice* other) noexcept;

  /// The buffer, unless the constructor was given one.
  std::string own_;
  std::string* buffer_;
  bool pinned_ = false;
};

}  // namespace varve
