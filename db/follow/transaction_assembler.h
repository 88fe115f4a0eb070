// SPDX-License-Identifier: Apache-2.0
#pragma once

// TransactionAssembler remembers the prepared transactions of logs that are read, and returns the
// updates of each as one batch when its commit record is read.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/timestamp_sizes.h"

namespace varve {

// Thread safety: none.
class TransactionAssembler {
 public:
  // Sets *batch to all updates that a record with marks of two-phase commit brings, with the
  // record's sequence number: its own, and those of the prepared transactions that it commits.
  // `sizes` are the sizes of timestamps that the record's log states. Sets *missing to the names of
  // the transactions that are not here. Remembers and forgets nothing: Apply does, once the record
  // counts. After an error *batch is unspecified. NotFound: *missing is not empty. Corruption: the
  // record is malformed, or has too many updates. NotSupported: a transaction is one of RocksDB's
  // WRITE_PREPARED.
  Status Assemble(const Slice& record, const wal::TimestampSizes& sizes, std::string* batch,
                  std::set<std::string>* missing) const;
  // Remembers the transactions that the record prepares, and forgets those that it decides. The
  // record has been assembled, or its faults do not matter. `log` is the number of its log, which
  // is `recovered` if an earlier opening wrote it.
  void Apply(const Slice& record, uint64_t log, bool recovered);
  // Moves the state of the transaction of that name from `earlier` to this object. Returns false if
  // `earlier` has none.
  bool TakeFrom(TransactionAssembler* earlier, const std::string& name);
  // Forgets undecided transactions. Must be called at the first log of an opening, which begins
  // with copies of the transactions that recovery found undecided.
  void Restart() { undecided_.clear(); }
  // Returns the number of the oldest log with an undecided transaction of this object, or
  // UINT64_MAX.
  uint64_t OldestLog() const;

 private:
  struct Prepared {
    std::string updates;  // Encoded as a batch.
    uint64_t log = 0;
  };
  std::map<std::string, Prepared> undecided_;
  // Names of transactions that are decided in recovered logs. A log may have a decision whose write
  // was reported as failed, followed by a copy of the transaction or by a second decision, which
  // must both be ignored.
  std::set<std::string> decided_;
};

}  // namespace varve
