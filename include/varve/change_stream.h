// SPDX-License-Identifier: Apache-2.0
#pragma once

// Change streams: what is written to a database, read on from a position that has a name and is
// kept. Varve's own; DB::GetUpdatesSince is RocksDB's way, without a position.

#include <cstdint>
#include <string>

#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

struct ChangeStreamOptions {
  // Of the position; 1 to 256 bytes. Used by one stream at a time.
  std::string name;

  // The first sequence number that is wanted. 0: that of the position, or, of a new one, the first
  // that is written after the call. Of a position that exists it must not be before what was
  // acknowledged.
  SequenceNumber from = 0;

  // A position that does not exist is made. False: NotFound.
  bool create_if_missing = true;

  // Only what a power loss cannot take any more is given out. What is written without `sync` then
  // waits for a sync of the log.
  bool durable_only = false;

  // Of a new position: how much of logs that nothing else needs it may keep, in bytes, and for how
  // many seconds without an Acknowledge. Beyond either it expires. 0: no bound.
  uint64_t max_retained_bytes = uint64_t{8} << 30;
  uint64_t max_idle_seconds = 0;
};

// One step of a change stream.
struct ChangeRecord {
  enum class Kind : uint8_t {
    kNothing,  // all that can be read has been given out
    kBatch,
    kGap,  // no log has these sequence numbers
  };
  enum class Gap : uint8_t {
    kNotLogged,  // writes with disableWAL, or files taken in from outside
    kLost,       // a log may have had them, and it failed, is damaged, or is gone
  };

  Kind kind = Kind::kNothing;
  // Both ends are in. A batch of nothing but log data has no number: `last` is `first` - 1.
  SequenceNumber first = 0;
  SequenceNumber last = 0;
  Gap gap = Gap::kNotLogged;
  WriteBatch batch;
};

// Reads batches in the order of their sequence numbers, from a named position on; each number is in
// one batch or in one gap. The position moves when something is acknowledged; a process that opens
// the stream again goes on behind that, and may be given again what it had not acknowledged
// durably. Logs from the position on stay, within the bounds of the position.
//
// Used by one thread at a time. Destroying it keeps the position. May outlive the DB, and then only
// fails.
class ChangeStream {
 public:
  ChangeStream() = default;
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;
  virtual ~ChangeStream() = default;

  // The next record; kNothing where there is none yet. Expired: the position has lost its logs; the
  // message has the range of sequence numbers. DB::DropChangeStream, a copy of the database, and a
  // new position are the way on. Corruption, IOError: a log cannot be read.
  virtual Status Next(ChangeRecord* record) = 0;

  // The same, but waits for up to so long until there is one.
  virtual Status WaitNext(uint64_t timeout_micros, ChangeRecord* record) = 0;

  // Everything up to `last`, which has been given out, is dealt with: the position is behind it.
  // With `durably` the MANIFEST has that when the call returns; else it is written down when logs
  // can go, and when the stream is destroyed. InvalidArgument: `last` has not been given out. What
  // was acknowledged before stays so.
  virtual Status Acknowledge(SequenceNumber last, bool durably = false) = 0;

  // The first number that is not acknowledged.
  virtual SequenceNumber position() const = 0;
};

}  // namespace varve
