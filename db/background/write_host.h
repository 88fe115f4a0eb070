// SPDX-License-Identifier: Apache-2.0
#pragma once

// The database as the commit path sees it: the log, the memtables, visibility.

#include "db/background/engine.h"
#include "db/write/commit_path.h"

namespace varve {

class WriteHost final : public CommitHost {
 public:
  explicit WriteHost(Engine* engine) : engine_(engine) {}

  bool Refuses() const override { return engine_->refuses_writes.load(std::memory_order_relaxed); }
  Status Refusal() override;
  Status ReserveLog(size_t bytes, wal::LogPlace* place) override;
  Status SyncLog(const wal::LogPlace& place) override;
  Status Insert(const WriteRequest& request, SequenceNumber sequence) override;
  void Publish(SequenceNumber sequence) override { engine_->versions->set_last_sequence(sequence); }
  Status OnLogError(const Status& status) override;
  Status OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) override;

 private:
  Engine* const engine_;
  uint64_t logged_since_check_ =
      0;  // bytes; touched in ReserveLog alone, whose calls do not overlap
};

}  // namespace varve
