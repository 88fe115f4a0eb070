// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements what the commit path needs of the database: the log, the memtables, visibility.

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/error_handler.h"
#include "db/engine/slow_path_flag.h"
#include "db/write/commit_path.h"
#include "util/base/assert.h"

namespace varve {

// Thread safety: that of CommitHost (db/write/commit_path.h), which says in which order and on
// which thread each function is called.
class WriteHost final : public CommitHost {
 public:
  // Uses the families, the logs, and the visible sequence number of the state.
  WriteHost(const DbContext& context, DbState* state, ErrorHandler* errors, SlowPathFlag* slow_path)
      : context_(context), state_(*state), errors_(*errors), slow_path_(*slow_path) {}

  bool BytesDecideIn(uint32_t column_family) override;
  bool Refuses(const WriteRequest& request) const override {
    return errors_.refuses_writes() || MissesRemoval(request);
  }
  Status Refusal(WriteRequest* request) override;
  Status ReserveLog(size_t bytes, wal::LogReservation* place) override;
  Status SyncLog(const wal::LogReservation& place) override;
  Status Insert(const WriteRequest& request, SequenceNumber sequence) override;
  void Publish(SequenceNumber sequence) override {
    VARVE_ASSERT(sequence >= state_.versions->last_sequence());
    state_.versions->set_last_sequence(sequence);
    state_.updates.Notify();
  }
  Status OnLogError(const Status& status) override;
  Status OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) override;

 private:
  // True if a family has been dropped since the request was checked (ColumnFamilySet::removals).
  bool MissesRemoval(const WriteRequest& request) const {
    const uint64_t checked = request.checked_removals();
    return checked != WriteRequest::kUnchecked && checked != state_.families.removals();
  }
  // Handles a step of two-phase commit.
  Status TakeStep(const WriteRequest& request, SequenceNumber sequence);
  // Inserts the updates of a committed transaction. Adds their number to *inserted.
  Status InsertCommitted(const TwoPhaseStep& step, SequenceNumber sequence, uint64_t* inserted);
  // Sets the slow path if a memtable is full, or all of them take too much memory, so that a later
  // write switches them.
  void LookForFull();
  // Adds to the tickers of writes.
  void CountWrite(uint64_t keys, uint64_t bytes) const;

  // Borrowed parts of the engine, which outlives the commit path.
  const DbContext& context_;
  DbState& state_;
  ErrorHandler& errors_;
  SlowPathFlag& slow_path_;
  uint64_t logged_since_check_ = 0;  // bytes; only for ReserveLog, whose calls do not overlap
};

}  // namespace varve
