// SPDX-License-Identifier: Apache-2.0
#pragma once

// Change streams read the writes of a database, starting at a named position that the database
// stores: the first sequence number that is not acknowledged (DB::OpenChangeStream). RocksDB has
// none: its DB::GetUpdatesSince stores no position.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

// Options of DB::OpenChangeStream.
struct ChangeStreamOptions {
  // Name of the position, 1 to 256 bytes. One stream may use it at a time. A database has up to
  // 10,000 positions; a stream for another one is refused with InvalidArgument.
  std::string name;

  // First sequence number to read. 0 means that of the position or, for a new position, the first
  // one written after the call. For an existing position it must not be less than the position.
  SequenceNumber from = 0;

  // If true, a missing position is created; otherwise the call returns NotFound.
  bool create_if_missing = true;

  // If true, only records that survive a power failure are returned. Writes without `sync` are then
  // returned after a later sync of the log.
  bool durable_only = false;

  // Limits of a new position. max_retained_bytes: of the logs that are retained only for it.
  // max_idle_seconds: of the time since the position last moved; it is checked only while logs are
  // retained only for it, but counts in full. When one is exceeded, the position expires. 0: no
  // limit.
  uint64_t max_retained_bytes = uint64_t{8} << 30;
  uint64_t max_idle_seconds = 0;
};

// One record of a change stream.
struct ChangeRecord {
  enum class Kind : uint8_t {
    // All readable records have been returned.
    kNothing,
    // One batch of updates, as it was written.
    kBatch,
    // No log has these sequence numbers.
    kGap,
  };
  enum class Gap : uint8_t {
    // The sequence numbers were used by writes with disableWAL, or by ingested files.
    kNotLogged,
    // A log may have had them, but it failed, is damaged, or was deleted; or an earlier opening
    // that was not closed wrote it, and a crash may have taken its end.
    kLost,
  };

  Kind kind = Kind::kNothing;
  // First and last sequence number of the batch or gap, both inclusive. A batch with only log data
  // (PutLogData) has no sequence number: `last` is `first` - 1.
  SequenceNumber first = 0;
  SequenceNumber last = 0;
  // The kind of a gap; for kGap only.
  Gap gap = Gap::kNotLogged;
  // For kNotLogged: names of the column families that may have these numbers, in alphabetical
  // order; no other family has, unless it was dropped. A family is named if it wrote anything
  // without the log at about that time. Unset if an earlier opening of the database wrote them, as
  // that is not stored.
  std::optional<std::vector<std::string>> families;
  // The updates; for kBatch only.
  WriteBatch batch;
};

// Reads batches in the order of their sequence numbers, from a named position on; each number is in
// one batch or one gap. Acknowledge moves the position. A process that opens the stream again
// continues after the position, and may read again what was not acknowledged durably. Logs from the
// position on are retained, within the limits of the position.
//
// Used by one thread at a time. Destroying it keeps the position. It may outlive the DB; its calls
// then return errors.
class ChangeStream {
 public:
  ChangeStream() = default;
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;
  virtual ~ChangeStream() = default;

  // Returns the next record, or kNothing if there is none yet. Expired: the position has lost its
  // logs; the message has the range of sequence numbers. To continue, call DB::DropChangeStream,
  // copy the database, and create a new position. Corruption, IOError: a log cannot be read.
  virtual Status Next(ChangeRecord* record) = 0;

  // Like Next, but waits for up to timeout_micros for a record, and then returns kNothing. A write
  // wakes it; meanwhile it uses no processor time, and writers pay nothing. Closing the database
  // ends the wait with an error.
  virtual Status WaitNext(uint64_t timeout_micros, ChangeRecord* record) = 0;

  // Moves the position to `last` + 1. `last` must have been returned by Next or WaitNext. With
  // `durably` the position is in the MANIFEST when the call returns; otherwise it is stored when
  // logs can be deleted, and when the stream is destroyed. InvalidArgument: `last` has not been
  // returned. The position never moves back.
  virtual Status Acknowledge(SequenceNumber last, bool durably = false) = 0;

  // Returns the first sequence number that is not acknowledged.
  virtual SequenceNumber position() const = 0;
};

}  // namespace varve
