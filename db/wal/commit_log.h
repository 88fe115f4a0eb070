// SPDX-License-Identifier: Apache-2.0
#pragma once

// CommitLog is a log that many writers fill at once: a place is reserved for each record, in order;
// records are written into their places in any order; and a record counts once all before it are
// written.

#include <cstddef>
#include <cstdint>

#include "varve/io_status.h"
#include "varve/slice.h"

namespace varve::wal {

class CommitLog;

// The place of one record. The meaning of `ticket` depends on the log; later places have larger
// ones.
struct LogReservation {
  CommitLog* log = nullptr;
  uint64_t ticket = 0;
  size_t bytes = 0;  // Size of the record.
};

// The part that a sync has made durable: all places up to a ticket, and the bytes of the file that
// contain them. Only tickets decide what is durable; the bytes are for readers of the file.
struct LogExtent {
  uint64_t ticket = 0;
  uint64_t bytes = 0;
};

// Locking: the caller makes one Reserve call at a time; their order is the order of the records.
// Any thread may call the other methods. Close must be the last call.
//
// Errors: after one failure every later call fails with it, because the file's state is unknown;
// nothing is appended any more.
class CommitLog {
 public:
  virtual ~CommitLog() = default;
  CommitLog() = default;
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  // Reserves a place for a record of `bytes` bytes, and sets *place. Every reserved place must be
  // filled: others wait for it. With an error there is no place.
  virtual IOStatus Reserve(size_t bytes, LogReservation* place) = 0;
  // Writes a record of exactly the reserved size into its place: `head`, followed by `tail`. The
  // bytes are not used after the return. Does not wait for other writers.
  virtual void Fill(const LogReservation& place, const Slice& head, const Slice& tail) = 0;
  void Fill(const LogReservation& place, const Slice& record) { Fill(place, record, Slice()); }
  // Waits until the record and all before it are with the operating system, and so survive the
  // process (with manual_wal_flush: are in the buffer, in order).
  virtual IOStatus WaitWhole(const LogReservation& place) = 0;
  // Adds a record of timestamp sizes, as EncodeTimestampSizes makes them (at most 6 KiB, so that it
  // fits into a block). Requires that all places are filled, and that no other thread reserves or
  // fills one meanwhile.
  virtual IOStatus AddTimestampSizes(const Slice& payload) = 0;
  // Gives the operating system the records that manual_wal_flush keeps in memory; Close does so
  // too.
  virtual IOStatus Flush() = 0;
  // Waits until every record reserved before is completely with the operating system, also those
  // that manual_wal_flush keeps in memory. Sets *end to the end of the last of them, or of a later
  // record, in the file: up to there a reader finds whole records. A failure does not change it.
  virtual IOStatus HandOver(uint64_t* end) = 0;
  // Returns the end of the whole records in the log: all reserved before the call are whole, or are
  // being appended by a thread. For readers, which must not read records that are being stored.
  virtual uint64_t WholeEnd() { return size(); }
  // Returns the bytes that Flush would write now.
  virtual uint64_t held_back() const { return 0; }
  // Makes every record reserved before the call durable. Sets *covered to what was completely in
  // the file when the sync of the file began, which may be more. A failure does not change it.
  virtual IOStatus Sync(bool use_fsync, LogExtent* covered) = 0;
  IOStatus Sync(bool use_fsync) {
    LogExtent covered;
    return Sync(use_fsync, &covered);
  }
  // Truncates the file to the log, so that other readers find its end. Requires that all places are
  // filled; only Flush, Sync and Close may follow.
  virtual IOStatus Seal() { return IOStatus::OK(); }
  // Truncates the file to the log and closes it. Places that were not filled are lost.
  virtual IOStatus Close() = 0;

  // Returns the number in the file's name.
  virtual uint64_t number() const = 0;
  // Returns the bytes of the log, not those that the file occupies. While places are reserved or
  // filled this is neither the whole nor the durable part.
  virtual uint64_t size() const = 0;
  // Returns the ticket of the last operation that needs a sync, usually the last reservation. 0
  // before the first.
  virtual uint64_t last_ticket() const = 0;
  virtual bool failed() const = 0;
  // True if the records contain the log's number, so that a later log may reuse the file.
  virtual bool recyclable() const { return false; }
};

}  // namespace varve::wal
