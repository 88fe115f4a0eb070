// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the contract of every ordered walk inside the engine: memtable, block, table, level,
// merge.

#include <cstddef>
#include <cstdint>

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

// Says if an entry has the user key, without timestamp, of the entry that was returned before it.
enum class SameKey : uint8_t {
  kUnknown,  // Not compared.
  kNo,
  kYes,
};

// One entry of a batch, that is, of several entries that a walk decoded at once. It is left
// uninitialised, because arrays of them are created.
struct BatchEntry {
  const char* key_data;
  const char* value_data;
  uint32_t key_size;
  uint32_t value_size;
  SameKey same_key;

  [[nodiscard]] Slice key() const { return Slice(key_data, key_size); }  // Internal key.
  [[nodiscard]] Slice value() const { return Slice(value_data, value_size); }
  void Set(const Slice& key, const Slice& value) {
    key_data = key.data();
    value_data = value.data();
    key_size = static_cast<uint32_t>(key.size());  // Sizes have 32 bits wherever they are stored.
    value_size = static_cast<uint32_t>(value.size());
    same_key = SameKey::kUnknown;
  }
};

// The memory that PrefetchSeek prefetches. Each round uses what the previous round prefetched.
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
  const Slice& key() const { return key_; }      // Internal key; requires Valid().
  const Slice& value() const { return value_; }  // Requires Valid().

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the first entry >= target (an internal key).
  virtual void Seek(const Slice& target) = 0;
  // Prefetches memory that Seek(target) will need, so that several walks can wait for theirs
  // together. Requires that rounds go in order and that Seek(target) follows.
  virtual void PrefetchSeek(const Slice& /*target*/, SeekRound /*round*/) {}
  // Moves to the last entry <= target (an internal key).
  virtual void SeekForPrev(const Slice& target) = 0;
  // Like Seek and SeekForPrev, but move only the tables, onwards from the position of a walk in
  // that direction: memtables of a merge stay where they are. They require that the walk reads
  // tables.
  virtual void SeekTables(const Slice& target) { Seek(target); }
  virtual void SeekTablesForPrev(const Slice& target) { SeekForPrev(target); }
  // Skip entries before (after) `target`, an internal key, whose sequence numbers are less than
  // `below`, as far as this is known without a look at each, onwards from the position of a walk in
  // that direction. They return false, without a move, if it is not known. After true the iterator
  // stands on the next entry that is not skipped, which its last batch may have contained already,
  // or is not Valid. They require Valid().
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
  // Sets an upper bound of the entries' sequence numbers, which the creator of the iterator may
  // know; SkipOlder uses it. Without a call there is no bound.
  void SetNewest(SequenceNumber newest) { newest_ = newest; }
  virtual void Next() = 0;  // Requires Valid().
  virtual void Prev() = 0;  // Requires Valid().
  virtual Status status() const = 0;

  // Move like one to `max` calls of Next() (Prev()), write the entries passed to `out` in order and
  // stand on the last of them. They return 0 if there is none; the iterator then is not Valid. Keys
  // and values of the whole batch live until the next move. They require Valid() and max > 0.
  virtual size_t NextBatch(BatchEntry* out, size_t /*max*/) {
    Next();
    return WriteCurrent(out);
  }
  virtual size_t PrevBatch(BatchEntry* out, size_t /*max*/) {
    Prev();
    return WriteCurrent(out);
  }

  // Gives `pin` a share in what keeps value() alive, so that the bytes outlive the position.
  // Returns false if the bytes cannot be pinned: the caller must copy them.
  virtual bool PinValue(Cleanable* /*pin*/) { return false; }

  // Like PinValue for the values of the whole last batch (of the current entry, after other moves).
  // `pin` may get no share if the values stay anyway. Returns false if all of them must be copied.
  virtual bool PinBatch(Cleanable* pin) { return IsValuePinned() || PinValue(pin); }

  // True if value() (key()) stays at its address until the iterator is destroyed, wherever it
  // moves.
  virtual bool IsValuePinned() const { return false; }
  virtual bool IsKeyPinned() const { return false; }

 protected:
  // Writes the current entry as a batch and returns its size; 0 if not Valid.
  size_t WriteCurrent(BatchEntry* out) const {
    if (valid_) out->Set(key_, value_);
    return valid_ ? 1 : 0;
  }
  // Moves the position to the last entry of a batch, which must not be empty.
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
