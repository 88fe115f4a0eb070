// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reading the write-ahead log of an open database: its files, and its batches since a sequence.

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

enum WalFileType {
  kArchivedLogFile = 0,  // No longer needed by recovery.
  kAliveLogFile = 1,
};

class LogFile {
 public:
  LogFile() = default;
  virtual ~LogFile() = default;

  // Relative to the log directory, with a leading slash.
  virtual std::string PathName() const = 0;
  virtual uint64_t LogNumber() const = 0;
  virtual WalFileType Type() const = 0;

  // Of the first batch in the file; 0 if it has none.
  virtual SequenceNumber StartSequence() const = 0;

  // At the time of the listing.
  virtual uint64_t SizeFileBytes() const = 0;
};

struct BatchResult {
  SequenceNumber sequence = 0;  // of the batch's first update
  std::unique_ptr<WriteBatch> writeBatchPtr;
};

// Walks the batches that were written to a database, in the order of their sequence numbers, beside
// the writers (DB::GetUpdatesSince). Each is given out once it is visible to readers. What was
// written with disableWAL is not among them, and a transaction of two-phase commit is one batch,
// where it was committed.
//
// Used by one thread at a time. While it lives, the logs that it has not read stay. It may outlive
// the DB, and is not valid then.
class TransactionLogIterator {
 public:
  struct ReadOptions {
    ReadOptions() = default;
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}

    bool verify_checksums_ = true;  // Advisory: checksums are always compared.
  };

  TransactionLogIterator() = default;
  virtual ~TransactionLogIterator() = default;

  // False where there is no batch: see status().
  virtual bool Valid() = 0;

  // To the next batch. Where the iterator is not valid and its status is OK or TryAgain, looks
  // again whether there is one; after another status nothing changes.
  virtual void Next() = 0;

  // OK: there is a batch, or all that is visible has been given out. TryAgain: something visible
  // cannot be read yet (manual_wal_flush, or a log that failed). NotFound: no log has the sequence
  // numbers that come next, as they were written without the log, or with one that is gone; the
  // message has the first and the last. A new iterator can be made behind them. Others: as they
  // say.
  virtual Status status() = 0;

  // The batch here and its first sequence number. Requires Valid(). Each call makes a copy.
  virtual BatchResult GetBatch() = 0;
};

}  // namespace varve
