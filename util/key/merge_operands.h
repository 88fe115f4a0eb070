// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the merge operands of one key, for the caller that merges or returns them: slices of bytes
// that stay in place, and the references that keep those alive.
//
//      slices_  [ 0 ][ 1 ][ 2 ][ 3 ][ 4 ][ 5 ]   base_        newest first
//                 |    |    |    |    |    |        |
//               memtable   room_  '-- block A --'  block B
//               in place   copy   one share (3..5) a share of its own
//
// Where the bytes of an operand lie depends on what is cheapest:
// - In a memtable they stay. The caller holds the super-version, and with it the memtables, for as
//   long as it uses the operands.
// - Small operands of a block are copied into room_. A copy of up to 256 bytes costs less than the
//   atomic increment and decrement of a reference, and does not keep a block in memory.
// - For larger ones a share in the block is taken, which ShareOf hands on to a result that outlives
//   the read.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "varve/cleanable.h"
#include "varve/slice.h"

#include "util/iter/internal_iterator.h"
#include "util/key/entity.h"

namespace varve {

// Makes every read copy every operand if true; for comparisons only.
#ifdef VARVE_COPY_MERGE_OPERANDS
inline constexpr bool kCopyMergeOperands = true;
#else
inline constexpr bool kCopyMergeOperands = false;
#endif

// Keeps the memory of a source's values alive, for each holder of a share: a cleanup that releases
// a reference.
class ValuePin {
 public:
  ValuePin() = default;
  ValuePin(const ValuePin&) = delete;
  ValuePin& operator=(const ValuePin&) = delete;

  // Returns a Cleanable, owned by the pin, that holds a share; the caller takes it over
  // (DelegateCleanupsTo, PinSlice). Returns null if the bytes cannot be pinned and must be copied.
  virtual Cleanable* Renew() = 0;

  // Set by MergeOperands when it has taken a share, which covers all values of the same source.
  bool operands_have_share = false;

 protected:
  ~ValuePin() = default;
};

// Collects operands newest first, then perhaps the base value below them.
//
// Thread safety: none. Errors: std::bad_alloc.
class MergeOperands {
 public:
  // Size from which a share in a block costs less than a copy.
  static constexpr size_t kSharedBytesMin = 257;

  MergeOperands() = default;
  MergeOperands(const MergeOperands&) = delete;
  MergeOperands& operator=(const MergeOperands&) = delete;

  // Acquire returns the thread's spare object, empty, or a new one; Release takes it back.
  static MergeOperands* Acquire();
  static void Release(MergeOperands* operands);

  // Adds the next older operand. `pin` is null if the value lies in a memtable, and must not be
  // null otherwise; it is used only during the call.
  void Add(const Slice& value, ValuePin* pin) { slices_.push_back(Keep(value, pin)); }
  // Adds several operands of a memtable.
  void AddFromMemTable(std::span<const Slice> values) {
    if constexpr (kCopyMergeOperands) {
      for (const Slice& value : values) Add(value, nullptr);
      return;
    }
    slices_.insert(slices_.end(), values.begin(), values.end());
    in_memtables_ += values.size();
  }
  // Adds the value below the operands; nothing may be added afterwards. `pin` is as for Add.
  void AddBase(const Slice& value, ValuePin* pin) {
    base_ = Keep(value, pin);
    has_base_ = true;
  }
  // Adds the values of a batch as they are, for walks whose bytes the caller pins.
  void AddPinned(std::span<const BatchEntry> entries) {
    const size_t first = slices_.size();
    slices_.resize(first + entries.size());
    for (size_t i = 0; i < entries.size(); i++) slices_[first + i] = entries[i].value();
  }
  // Replace the base that was added, or add one, as it is: the caller keeps its bytes alive.
  void ReplaceBase(const Slice& value) { base_ = value; }
  void AddPinnedBase(const Slice& value) {
    base_ = value;
    has_base_ = true;
  }
  // Says that the base, which was or will be added, is an entity.
  void SetBaseIsEntity() { base_form_ = ValueForm::kEntity; }
  // Copies the bytes of what was added from operand `first` on, base included.
  void CopyFrom(size_t first);
  // Like CopyFrom for what lies in memtables and is larger than `most` bytes; smaller ones stay.
  void CopyFromMemTables(size_t most);
  // Visits the base, if there is one, then the operands, oldest first. Must not be called after
  // PutOldestFirst().
  template <typename Visit>
  void ForEachFromOldest(Visit visit) const {
    if (has_base_) visit(base_);
    for (size_t i = slices_.size(); i > 0; i--) visit(slices_[i - 1]);
  }
  // Appends an empty share, and returns its Cleanable, to which the caller gives what keeps the
  // bytes of values alive. The Cleanable stays at its address until the next share is made; DropAll
  // and Clear release it.
  Cleanable* NewShare();

  // Reverses the operands from newest first to oldest first. Nothing may be added afterwards.
  void PutOldestFirst() { std::reverse(slices_.begin(), slices_.end()); }

  [[nodiscard]] const std::vector<Slice>& slices() const { return slices_; }
  [[nodiscard]] size_t size() const { return slices_.size(); }
  [[nodiscard]] const Slice* base() const { return has_base_ ? &base_ : nullptr; }
  [[nodiscard]] ValueForm base_form() const { return base_form_; }
  // Number of the newest operands that lie in memtables; size() + 1 if the base does, too.
  [[nodiscard]] size_t in_memtables() const { return in_memtables_; }
  // Returns the share that keeps alive the operand with index `i`, newest first; size() is the
  // base. Returns null if there is none.
  Cleanable* ShareOf(size_t i);

  // Releases everything and resets the options of GetMergeOperands.
  void Clear();
  // Like Clear, but keeps these options.
  void DropAll();

  // --- Options of GetMergeOperands, which wants no value. Called with each operand; false ends the
  // search. Null: there is no such function. Not owned.
  const std::function<bool(Slice)>* continue_callback = nullptr;
  bool wants_value = true;
  // True if all operands are wanted and nothing is called to decide if there are enough.
  [[nodiscard]] bool WantsAll() const { return !wants_value && continue_callback == nullptr; }

 private:
  // A share in a block, and the range of operands that were added from it.
  struct Share {
    size_t first;
    size_t end;
    Cleanable cleanable;
  };

  // Returns a slice of the value's bytes that is valid until DropAll or Clear: of a memtable (`pin`
  // is null), of a block in which a share is taken, or of a copy.
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

  // The operands, newest first until PutOldestFirst.
  std::vector<Slice> slices_;
  Slice base_;
  // True if a value lies under the operands; its bytes are base_, in this form.
  bool has_base_ = false;
  ValueForm base_form_ = ValueForm::kPlain;
  size_t in_memtables_ = 0;
  // Ranges ascend, and none overlap.
  std::vector<Share> shares_;
  // Memory for copies: `room_left_` bytes from `room_` on are free. The first piece is kept.
  char* room_ = nullptr;
  size_t room_left_ = 0;
  std::unique_ptr<char[]> first_room_;
  // Further pieces of memory, and large copies; freed by DropAll.
  std::vector<std::unique_ptr<char[]>> more_room_;
};

}  // namespace varve
