// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the write-ahead log of an open database: its files, and its batches from a sequence number
// on.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

class LogFile;
using VectorLogPtr = std::vector<std::unique_ptr<LogFile>>;

// State of a log.
enum WalFileType {
  // The log is kept in archive/ (DBOptions::WAL_ttl_seconds), and recovery needs it no longer.
  kArchivedLogFile = 0,
  // Recovery would read it.
  kAliveLogFile = 1,
};

// Describes one log of a database at the time of the listing (DB::GetSortedWalFiles). Not
// thread-safe.
class LogFile {
 public:
  LogFile() = default;
  virtual ~LogFile() = default;

  // Returns the path relative to the log directory, with a leading slash.
  virtual std::string PathName() const = 0;
  // Returns the number in the file's name; later logs have larger ones.
  virtual uint64_t LogNumber() const = 0;
  // Returns the state at the time of the listing.
  virtual WalFileType Type() const = 0;

  // Returns the sequence number of the first batch in the file; 0 if it has none.
  virtual SequenceNumber StartSequence() const = 0;

  // Returns the size at the time of the listing.
  virtual uint64_t SizeFileBytes() const = 0;
};

// A batch that was read from a log.
struct BatchResult {
  // Sequence number of the batch's first update.
  SequenceNumber sequence = 0;
  // The batch, which the caller owns.
  std::unique_ptr<WriteBatch> writeBatchPtr;
};

// Iterates over the batches written to a database, in the order of their sequence numbers,
// concurrently with writers (DB::GetUpdatesSince). A batch is returned once it is visible to
// readers. Writes with disableWAL are missing; a transaction of two-phase commit is one batch, at
// its commit.
//
// Used by one thread at a time. While it exists, logs that it has not read are kept. It may outlive
// the DB; it is not valid then.
class TransactionLogIterator {
 public:
  struct ReadOptions {
    ReadOptions() = default;
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}

    // Advisory: checksums are always verified.
    bool verify_checksums_ = true;
  };

  TransactionLogIterator() = default;
  virtual ~TransactionLogIterator() = default;

  // Returns true if there is a current batch; otherwise status() has the reason.
  virtual bool Valid() = 0;

  // Moves to the next batch. If the iterator is not valid and its status is OK or TryAgain, checks
  // again for one; after another status nothing changes.
  virtual void Next() = 0;

  // Returns the state of the iteration. OK: there is a batch, or all visible ones have been
  // returned. TryAgain: a visible batch cannot be read yet (manual_wal_flush, or a log that
  // failed). NotFound: no log has the next sequence numbers, as they were written without a log, or
  // their log was deleted; the message has the first and the last. A new iterator can be made after
  // them. Other errors are those of reading the log.
  virtual Status status() = 0;

  // Returns a copy of the current batch and its first sequence number. Requires Valid().
  virtual BatchResult GetBatch() = 0;
};

}  // namespace varve
