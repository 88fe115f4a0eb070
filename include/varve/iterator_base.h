// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// IteratorBase declares the moves of every iterator over keys, whatever it returns besides the key.

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class Snapshot;

/// An iterator is invalid until the first seek. Only one thread may use it at a time; const methods
/// may run concurrently with each other. It pins the data it reads: delete it before its DB, and do
/// not keep it longer than needed.
class IteratorBase : public Cleanable {
 public:
  IteratorBase() = default;
  IteratorBase(const IteratorBase&) = delete;
  IteratorBase& operator=(const IteratorBase&) = delete;
  virtual ~IteratorBase() = default;

  /// True if the iterator is positioned at an entry. False after the last entry and after an error:
  /// see status().
  virtual bool Valid() const = 0;

  /// Move to the first or to the last entry within the bounds; the iterator is invalid if there is
  /// none.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  /// Moves to the first entry at or after `target`, a user key without timestamp, as in
  /// SeekForPrev. Every seek clears an earlier error.
  virtual void Seek(const Slice& target) = 0;
  /// Moves to the last entry at or before `target`.
  virtual void SeekForPrev(const Slice& target) = 0;

  /// Move forward or back by one entry. Require Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  /// Reads the newest state from now on. The iterator is invalid until the next seek.
  virtual Status Refresh() { return Refresh(nullptr); }
  /// Reads the state of `snapshot`, or the newest if null. NotSupported by default; InvalidArgument
  /// if the snapshot is of another database or was released.
  virtual Status Refresh(const Snapshot* /*snapshot*/) {
    return Status::NotSupported("Refresh() is not supported by this iterator");
  }

  /// With ReadOptions::allow_unprepared_value: loads the value of this entry. After false the
  /// iterator is invalid and status() returns the error. Requires Valid().
  virtual bool PrepareValue() { return true; }

  /// Returns the user key without its timestamp, valid until the iterator moves; with
  /// ReadOptions::iter_start_ts, the internal key. Requires Valid().
  virtual Slice key() const = 0;

  /// Returns OK, also at the end of the data, or the error that made the iterator invalid.
  /// Incomplete if the read tier forbids I/O that is needed.
  virtual Status status() const = 0;
};

}  // namespace varve
