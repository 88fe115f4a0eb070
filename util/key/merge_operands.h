// SPDX-License-Identifier: Apache-2.0
#pragma once

// The merge operands of one key on their way to the caller that merges them or returns them: slices
// of bytes that stay where they lie, and what keeps those alive.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "varve/cleanable.h"
#include "varve/slice.h"

#include "util/iter/internal_iterator.h"

namespace varve {

// For comparisons only: true makes every read copy every operand.
#ifdef VARVE_COPY_MERGE_OPERANDS
inline constexpr bool kCopyMergeOperands = true;
#else
inline constexpr bool kCopyMergeOperands = false;
#endif

// Keeps the memory alive that a source's values lie in, for each holder of a share.
class ValuePin {
 public:
  ValuePin() = default;
  ValuePin(const ValuePin&) = delete;
  ValuePin& operator=(const ValuePin&) = delete;

  // Puts a fresh share into the Cleanable if the last one was taken over. Null if the bytes cannot
  // be pinned and must be copied.
  virtual Cleanable* Renew() = 0;

  // Set once operands have a share, which does for all values of the same source.
  bool operands_have_share = false;

 protected:
  ~ValuePin() = default;
};

// Operands are added newest first, then perhaps the base value below them. Those of memtables stay
// where they are: the caller holds the super-version. Of those in blocks, the small ones are copied
// into memory that all of them share, and for others a share in the block is taken, one for all
// that lie in it.
//
// Thread safety: none. Errors: std::bad_alloc.
class MergeOperands {
 public:
  // From here on a share in a block costs less than a copy.
  static constexpr size_t kSharedBytesMin = 257;

  MergeOperands() = default;
  MergeOperands(const MergeOperands&) = delete;
  MergeOperands& operator=(const MergeOperands&) = delete;

  // The thread's spare one, empty, or a new one; and back.
  static MergeOperands* Acquire();
  static void Release(MergeOperands* operands);

  // The next older operand. A null pin: the value lies in a memtable.
  void Add(const Slice& value, ValuePin* pin) { slices_.push_back(Keep(value, pin)); }
  // Several at once, of a memtable.
  void AddFromMemTable(std::span<const Slice> values) {
    if constexpr (kCopyMergeOperands) {
      for (const Slice& value : values) Add(value, nullptr);
      return;
    }
    slices_.insert(slices_.end(), values.begin(), values.end());
    in_memtables_ += values.size();
  }
  // The value below the operands; nothing is added afterwards.
  void AddBase(const Slice& value, ValuePin* pin) {
    base_ = Keep(value, pin);
    has_base_ = true;
  }
  // For walks, whose bytes the caller pins: values of a batch, as they are.
  void AddPinned(std::span<const BatchEntry> entries) {
    const size_t first = slices_.size();
    slices_.resize(first + entries.size());
    for (size_t i = 0; i < entries.size(); i++) slices_[first + i] = entries[i].value();
  }
  void AddPinnedBase(const Slice& value) {
    base_ = value;
    has_base_ = true;
  }
  // Copies the bytes of what was added from operand `first` on, base included.
  void CopyFrom(size_t first);
  // The same for what lies in memtables and is larger than `most`: smaller ones stay.
  void CopyFromMemTables(size_t most);
  // The base, if there is one, then the operands, oldest first. Not after PutOldestFirst().
  template <typename Visit>
  void ForEachFromOldest(Visit visit) const {
    if (has_base_) visit(base_);
    for (size_t i = slices_.size(); i > 0; i--) visit(slices_[i - 1]);
  }
  // An empty place for a share that everything added so far may need.
  Cleanable* NewShare();

  // From newest first, as they were added, to oldest first. Nothing may be added afterwards.
  void PutOldestFirst() { std::reverse(slices_.begin(), slices_.end()); }

  [[nodiscard]] const std::vector<Slice>& slices() const { return slices_; }
  [[nodiscard]] size_t size() const { return slices_.size(); }
  [[nodiscard]] const Slice* base() const { return has_base_ ? &base_ : nullptr; }
  // How many of the newest lie in memtables; one more than size() if the base does, too.
  [[nodiscard]] size_t in_memtables() const { return in_memtables_; }
  // The share that keeps the entry alive which is number `i` of the newest first, size() being the
  // base. Null: there is none.
  Cleanable* ShareOf(size_t i);

  // Releases everything.
  void Clear();
  // The same, but for what is wanted of them.
  void DropAll();

  // --- For GetMergeOperands, which wants no value.
  // Called with each operand; false ends the search. Null: asks nobody. Not owned.
  const std::function<bool(Slice)>* continue_callback = nullptr;
  bool wants_value = true;
  // Whatever they are: nobody is asked whether there are enough.
  [[nodiscard]] bool WantsAll() const { return !wants_value && continue_callback == nullptr; }

 private:
  // A share in a block, and the entries that were added from it.
  struct Share {
    size_t first;
    size_t end;
    Cleanable cleanable;
  };

  Slice Keep(const Slice& value, ValuePin* pin) {
    if constexpr (kCopyMergeOperands) return Copy(value);
    if (pin == nullptr) {
      in_memtables_++;
      return value;
    }
    return KeepOfBlock(value, pin);
  }
  Slice KeepOfBlock(const Slice& value, ValuePin* pin);
  Slice Copy(const Slice& value);

  std::vector<Slice> slices_;
  Slice base_;
  bool has_base_ = false;
  size_t in_memtables_ = 0;
  std::vector<Share> shares_;
  // Memory for copies: `room_left_` bytes from `room_` on are free. The first piece stays.
  char* room_ = nullptr;
  size_t room_left_ = 0;
  std::unique_ptr<char[]> first_room_;
  std::vector<std::unique_ptr<char[]>> more_room_;
};

}  // namespace varve
