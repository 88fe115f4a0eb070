// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of two-phase commit (FORMAT.md): a prepared transaction, and the decision about one,
// given by its name.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

// Returns a record with the updates between marks. `again`: they are logged again because their old
// log will be deleted; replay ignores them if it has met the first copy, or a decision about it.
WriteBatch MakePrepareRecord(const WriteBatch& updates, const Slice& name, bool again = false);
// Returns the record that decides to commit. `updates` (of the CommitTimeWriteBatch) are stored
// before the commit mark. A `timestamp` that is not empty is what replay writes into the timestamps
// of the prepared keys.
WriteBatch MakeCommitRecord(const WriteBatch& updates, const Slice& name,
                            const Slice& timestamp = Slice());
// Returns the record that decides to drop a prepared transaction.
WriteBatch MakeRollbackRecord(const Slice& name);

// A part of a record: a prepared transaction, a decision, or plain updates. Logs of other writers
// may have several of them in one record.
struct TwoPhasePart {
  enum class Kind : uint8_t { kUpdates, kPrepare, kCommit, kRollback };
  Kind kind = Kind::kUpdates;
  Slice name;          // Empty for kUpdates.
  Slice timestamp;     // For kCommit; empty: it has none.
  Slice updates;       // Records of kUpdates and kPrepare, without header and marks.
  uint32_t count = 0;  // Number of the updates.
  bool again = false;  // For kPrepare: logged again (MakePrepareRecord).
  // True if RocksDB wrote these updates under WRITE_PREPARED: they have one sequence number for
  // each sub-batch (db/recovery/sub_batches.h), and prepared ones took theirs at Prepare. Set for
  // kUpdates and kPrepare.
  bool by_sub_batch = false;
};

// Splits a record, whose structure must have been checked, into its parts in order; they point into
// it. Returns NotSupported if the marks are those of WRITE_UNPREPARED, and Corruption if a mark is
// misplaced.
Status SplitTwoPhaseRecord(const Slice& record, std::vector<TwoPhasePart>* parts);

// Returns the bytes of a write batch: a header with sequence number 0 and `count`, then the records
// in `updates`.
std::string MakeBatchOf(const Slice& updates, uint32_t count);

}  // namespace varve
