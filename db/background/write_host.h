// SPDX-License-Identifier: Apache-2.0
#pragma once

// The database as the commit path sees it: room for a write, the log, the memtables, visibility.

#include "db/background/engine.h"
#include "db/write/commit_path.h"

namespace varve {

// What a write with WriteOptions::low_pri does before it queues, where it is in nobody's way: while
// compactions are due, it waits as long as its bytes take at a low rate. Incomplete instead with
// no_slowdown. Takes the DB mutex.
Status YieldToCompaction(Engine* engine, const WriteOptions& options, size_t bytes);

class WriteHost final : public CommitHost {
 public:
  explicit WriteHost(Engine* engine) : engine_(engine) {}

  Status PrepareGroup(const WriteOptions& options, size_t bytes) override;
  bool NeedsAttention() const override {
    return engine_->attention.load(std::memory_order_relaxed);
  }
  Status AppendToLog(const Slice& record, bool sync) override;
  Status Insert(const Slice& rep, SequenceNumber sequence) override;
  void Publish(SequenceNumber sequence) override { engine_->versions->set_last_sequence(sequence); }
  void OnCommitError(const Status& status, bool in_log) override;

 private:
  Status WaitWhileStopped(const WriteOptions& options);
  Status WaitWhileDelayed(const WriteOptions& options, size_t bytes);
  Status Refusal() const;

  Engine* const engine_;
  // Head of the commit path only.
  uint64_t logged_since_check_ = 0;  // bytes
};

}  // namespace varve
