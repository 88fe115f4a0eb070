// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shows two-phase commit to readers of logs: each prepared transaction as one batch, at its commit.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/timestamp_sizes.h"

namespace varve {

// Thread safety: none.
class SectionMemory {
 public:
  // Sets *batch to all updates that a record with marks brings, with the record's sequence number:
  // its own, and those of the prepared transactions that it commits. Returns NotFound if it commits
  // some that are not here, and sets *missing to the names of all of these. Changes nothing: Apply
  // does, once the record counts.
  Status Assemble(const Slice& record, const wal::TimestampSizes& sizes, std::string* batch,
                  std::set<std::string>* missing) const;
  // Remembers the transactions that the record prepares, and forgets those that it decides. The
  // record has been assembled, or its faults do not matter. `log` is the number of its log, which
  // is `recovered` if an earlier opening wrote it.
  void Apply(const Slice& record, uint64_t log, bool recovered);
  // Moves what `earlier` knows of the transaction of that name to this object. Returns false if it
  // knows nothing of it.
  bool TakeFrom(SectionMemory* earlier, const std::string& name);
  // Forgets undecided transactions. An opening logs those that it has found undecided again, at the
  // beginning of its first log.
  void Restart() { undecided_.clear(); }
  // Returns the oldest log that has a transaction of this object; UINT64_MAX: it holds none.
  uint64_t OldestLog() const;

 private:
  struct Section {
    std::string updates;  // Encoded as a batch.
    uint64_t log = 0;
  };
  std::map<std::string, Section> undecided_;
  // Holds the names that recovered logs decide about. A recovery may find there a decision that its
  // writer believed to have failed, in front of a copy of the transaction or a second decision:
  // neither of these counts.
  std::set<std::string> decided_;
};

}  // namespace varve
