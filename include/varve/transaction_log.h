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
  SequenceNumber sequence = 0;
  std::unique_ptr<WriteBatch> writeBatchPtr;
};

// Walks batches in the order of their sequence numbers. Used by one thread.
class TransactionLogIterator {
 public:
  // Refused: GetUpdatesSince is NotSupported.
  struct ReadOptions {
    ReadOptions() = default;
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}

    bool verify_checksums_ = true;
  };

  TransactionLogIterator() = default;
  virtual ~TransactionLogIterator() = default;

  // False at the end or after an error: see status().
  virtual bool Valid() = 0;

  // Requires Valid().
  virtual void Next() = 0;

  // TryAgain: more may have been written; make a new iterator.
  virtual Status status() = 0;

  // The batch here and its first sequence number. Requires Valid(); once for each position.
  virtual BatchResult GetBatch() = 0;
};

}  // namespace varve
