// SPDX-License-Identifier: Apache-2.0
#pragma once

// One log as many writers fill it at once: a place is reserved for each record, in order; records
// are written into their places in any order; and a record counts once all before it are there.

#include <cstddef>
#include <cstdint>

#include "varve/io_status.h"
#include "varve/slice.h"

namespace varve::wal {

class CommitLog;

// Where one record goes. What `ticket` means is the log's affair; later places have larger ones.
struct LogReservation {
  CommitLog* log = nullptr;
  uint64_t ticket = 0;
  size_t bytes = 0;  // of the record
};

// What a sync has made durable: all places up to a ticket, and the bytes of the file that they are
// in. Only tickets decide what is durable; the bytes are for those who look at the file.
struct LogExtent {
  uint64_t ticket = 0;
  uint64_t bytes = 0;
};

// Locking: Reserve calls are serialised by the caller, and thereby numbered: the order of places is
//   the order of records. Everything else is for any thread. Close comes after everything else.
// Errors: after one failure every later call fails with it, as the file's state is unknown; nothing
//   is appended any more.
class CommitLog {
 public:
  virtual ~CommitLog() = default;
  CommitLog() = default;
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  // A place for a record of `bytes` bytes. Every place reserved must be filled: others wait for it.
  virtual IOStatus Reserve(size_t bytes, LogReservation* place) = 0;
  // Writes a record, of just the size reserved, into its place: `head`, and `tail` right after it.
  // The bytes are the caller's again afterwards. Waits for no other writer.
  virtual void Fill(const LogReservation& place, const Slice& head, const Slice& tail) = 0;
  void Fill(const LogReservation& place, const Slice& record) { Fill(place, record, Slice()); }
  // Returns when the record and all before it are with the operating system, and so outlive the
  // process (with manual_wal_flush: when they are in the buffer, in order).
  virtual IOStatus WaitWhole(const LogReservation& place) = 0;
  // Adds a record of timestamp sizes (timestamp_sizes.h), of at most 6 KiB. No other thread
  // reserves or fills meanwhile, and all places are filled.
  virtual IOStatus AddTimestampSizes(const Slice& payload) = 0;
  // Hands what manual_wal_flush holds back to the operating system; nothing of it is left after
  // Close.
  virtual IOStatus Flush() = 0;
  // Waits until every record that was reserved before is wholly with the operating system, also
  // what manual_wal_flush holds back. *end is where the last of them ends in the file, or a later
  // record does: whoever reads up to there finds whole records. Unchanged by a failure.
  virtual IOStatus HandOver(uint64_t* end) = 0;
  // Where what is whole in the log ends: all that was reserved before the call is, or it is in the
  // hands of a thread that appends. For readers: they look at nothing that is being stored.
  virtual uint64_t WholeEnd() { return size(); }
  // Bytes that Flush would hand over now.
  virtual uint64_t held_back() const { return 0; }
  // Makes every record reserved before the call durable. *covered is what it made so, or more: it
  // was wholly in the file when the sync of the file began. Unchanged by a failure.
  virtual IOStatus Sync(bool use_fsync, LogExtent* covered) = 0;
  IOStatus Sync(bool use_fsync) {
    LogExtent covered;
    return Sync(use_fsync, &covered);
  }
  // No place will be reserved any more, and all are filled: cuts off what is not log, so that other
  // readers find its end. Only Flush, Sync and Close may follow.
  virtual IOStatus Seal() { return IOStatus::OK(); }
  // Cuts off what is not log, and closes the file. What was not filled is lost.
  virtual IOStatus Close() = 0;

  virtual uint64_t number() const = 0;
  // Bytes of log, never what the file occupies. While places are reserved or filled it is neither
  // what is whole nor what is durable.
  virtual uint64_t size() const = 0;
  // Of what was done last and needs a sync: the place reserved last, as a rule. 0 before the first.
  virtual uint64_t last_ticket() const = 0;
  virtual bool failed() const = 0;
  // Its records bear its number: a later log may take its file over.
  virtual bool recyclable() const { return false; }
};

}  // namespace varve::wal
