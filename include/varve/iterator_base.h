// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// IteratorBase: the moves that every iterator over keys has, whatever it yields besides the key.

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class Snapshot;

/// Starts out invalid. One thread at a time; const methods may run concurrently with each other.
/// An iterator pins what it reads: delete it before its DB, and don't keep it for longer than
/// needed.
class IteratorBase : public Cleanable {
 public:
  IteratorBase() = default;
  IteratorBase(const IteratorBase&) = delete;
  IteratorBase& operator=(const IteratorBase&) = delete;
  virtual ~IteratorBase() = default;

  /// True when it stands on an entry. False after the last entry and after an error: ask status().
  virtual bool Valid() const = 0;

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  /// To the first entry at or after `target`. Every seek forgets an earlier error. Targets carry no
  /// timestamp.
  virtual void Seek(const Slice& target) = 0;
  /// To the last entry at or before `target`.
  virtual void SeekForPrev(const Slice& target) = 0;

  /// One entry on or back. Requires Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  /// Reads the newest state from now on. Invalid afterwards until the next seek.
  virtual Status Refresh() { return Refresh(nullptr); }
  /// Reads the state of `snapshot`, or the newest when null. NotSupported by default;
  /// InvalidArgument if the snapshot is not one of the database's, or was released.
  virtual Status Refresh(const Snapshot* /*snapshot*/) {
    return Status::NotSupported("Refresh() is not supported by this iterator");
  }

  /// With ReadOptions::allow_unprepared_value: loads the value of this entry. On false the iterator
  /// is invalid and status() tells why. Requires Valid().
  virtual bool PrepareValue() { return true; }

  /// The key, valid until the iterator moves. Requires Valid().
  virtual Slice key() const = 0;

  /// OK, also at the end of the data; otherwise the error that made the iterator invalid.
  /// Incomplete when the read tier forbids the I/O that would be needed.
  virtual Status status() const = 0;
};

}  // namespace varve
