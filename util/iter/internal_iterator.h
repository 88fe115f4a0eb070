// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract of every ordered walk inside the engine: memtable, block, table, level, merge.

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

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
  // To the last entry <= target (an internal key).
  virtual void SeekForPrev(const Slice& target) = 0;
  virtual void Next() = 0;  // requires Valid()
  virtual void Prev() = 0;  // requires Valid()
  virtual Status status() const = 0;

  // Hands `pin` a share in whatever keeps value() alive, so that the bytes outlive the position.
  // False: the bytes cannot be pinned and the caller must copy them.
  virtual bool PinValue(Cleanable* /*pin*/) { return false; }

  // True when value() stays at its address until the iterator is destroyed, whatever it moves to.
  virtual bool IsValuePinned() const { return false; }
  virtual bool IsKeyPinned() const { return false; }

 protected:
  bool valid_ = false;
  Slice key_;
  Slice value_;
};

}  // namespace varve
