// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract of every ordered walk inside the engine: memtable, block, table, level, merge.

#include <cstddef>
#include <cstdint>

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

// Whether an entry has the user key, without timestamp, of the entry that was delivered before it.
enum class SameKey : uint8_t {
  kUnknown,  // nobody looked
  kNo,
  kYes,
};

// One entry of a batch: several entries that a walk decoded at once. Left uninitialised when made,
// as arrays of them are.
struct BatchEntry {
  const char* key_data;
  const char* value_data;
  uint32_t key_size;
  uint32_t value_size;
  SameKey same_key;

  [[nodiscard]] Slice key() const { return Slice(key_data, key_size); }  // internal key
  [[nodiscard]] Slice value() const { return Slice(value_data, value_size); }
  void Set(const Slice& key, const Slice& value) {
    key_data = key.data();
    value_data = value.data();
    key_size = static_cast<uint32_t>(key.size());  // 32 bits, as in every place that stores it
    value_size = static_cast<uint32_t>(value.size());
    same_key = SameKey::kUnknown;
  }
};

// What PrefetchSeek asks for. Each round finds what the round before it asked for.
enum class SeekRound : uint8_t { kIndex, kBlock, kEntry };

// Walks entries in internal-key order (user key ascending, then newest first).
//
// The current entry is plain data of the base class, so Valid(), key() and value() cost a load and
// never a virtual call; a subclass sets the three fields at the end of each move.
//
// Thread safety: none; one thread at a time.
// Lifetime: key() and value() point to memory that stays until the next move or destruction.
// Errors: an iterator that met an error is not Valid(), and status() says why until the next Seek*.
class InternalIterator {
 public:
  InternalIterator() = default;
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;
  virtual ~InternalIterator() = default;

  bool Valid() const { return valid_; }
  const Slice& key() const { return key_; }      // internal key; requires Valid()
  const Slice& value() const { return value_; }  // requires Valid()

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // To the first entry >= target (an internal key).
  virtual void Seek(const Slice& target) = 0;
  // Asks for memory that Seek(target) will need, so that several walks can wait for theirs
  // together. Rounds go in order, and Seek(target) must follow.
  virtual void PrefetchSeek(const Slice& /*target*/, SeekRound /*round*/) {}
  // To the last entry <= target (an internal key).
  virtual void SeekForPrev(const Slice& target) = 0;
  // The same for tables alone, on from where a walk in that direction stands: what a merge knows to
  // be memtables stays where it is. Requires that the walk reads tables.
  virtual void SeekTables(const Slice& target) { Seek(target); }
  virtual void SeekTablesForPrev(const Slice& target) { SeekForPrev(target); }
  // Leaves entries before (after) `target` out that are older than `below`, as far as it can tell
  // without looking at each, on from where a walk in that direction stands. False: it could not
  // tell, and stays. True: it stands on the next entry that is not left out, which it may have
  // handed over in its last batch, or is not Valid. They require Valid().
  virtual bool SkipOlder(const Slice& target, SequenceNumber below) {
    if (newest_ >= below) return false;
    Seek(target);
    return true;
  }
  virtual bool SkipOlderForPrev(const Slice& target, SequenceNumber below) {
    if (newest_ >= below) return false;
    SeekForPrev(target);
    return true;
  }
  // No entry is newer than that: an upper bound that the maker of the iterator may know.
  void SetNewest(SequenceNumber newest) { newest_ = newest; }
  virtual void Next() = 0;  // requires Valid()
  virtual void Prev() = 0;  // requires Valid()
  virtual Status status() const = 0;

  // Moves like one to `max` calls of Next() (Prev()): writes the entries passed to `out` in order
  // and stands on the last of them. 0 when there is none; then it is not Valid. Keys and values of
  // the whole batch live until the next move. They require Valid() and max > 0.
  virtual size_t NextBatch(BatchEntry* out, size_t /*max*/) {
    Next();
    return WriteCurrent(out);
  }
  virtual size_t PrevBatch(BatchEntry* out, size_t /*max*/) {
    Prev();
    return WriteCurrent(out);
  }

  // Hands `pin` a share in whatever keeps value() alive, so that the bytes outlive the position.
  // False: the bytes cannot be pinned and the caller must copy them.
  virtual bool PinValue(Cleanable* /*pin*/) { return false; }

  // The same for the values of the whole last batch (of the current entry, after other moves).
  // `pin` may get a share, and may not, if they stay anyway. False: all of them must be copied.
  virtual bool PinBatch(Cleanable* pin) { return IsValuePinned() || PinValue(pin); }

  // True when value() stays at its address until the iterator is destroyed, whatever it moves to.
  virtual bool IsValuePinned() const { return false; }
  virtual bool IsKeyPinned() const { return false; }

 protected:
  // The current entry as a batch; 0 when not Valid.
  size_t WriteCurrent(BatchEntry* out) const {
    if (valid_) out->Set(key_, value_);
    return valid_ ? 1 : 0;
  }
  // Stands on the last entry of a batch that is not empty.
  void PublishLast(const BatchEntry& last) {
    key_ = last.key();
    value_ = last.value();
    valid_ = true;
  }

  bool valid_ = false;
  Slice key_;
  Slice value_;

 private:
  SequenceNumber newest_ = UINT64_MAX;
};

}  // namespace varve
