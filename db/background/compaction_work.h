// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs compactions: automatic ones as levels ask for them, manual ones on demand.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "db/background/engine.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/leveled_picker.h"

namespace varve {

// Locking: methods require the DB mutex unless they say otherwise.
class CompactionWork {
 public:
  explicit CompactionWork(Engine* engine) : engine_(engine) {}

  // Queues the family when its shape asks for work, and hands queued ones to background threads.
  void Schedule(ColumnFamily* family);
  void ScheduleAll();
  bool Busy() const { return scheduled_ > 0 || !queue_.empty() || manual_waiting_ > 0; }

  int Running() const { return scheduled_; }

  // API calls: take mu themselves.
  Status CompactRange(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                      const Slice* end);
  Status CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                      const std::vector<std::string>& names, int output_level,
                      std::vector<std::string>* output_names, CompactionJobInfo* info);
  Status DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                             bool include_end);
  Status SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end);
  void DisableManual();
  void EnableManual();

 private:
  static void RunOne(void* work);
  void BackgroundCompaction();
  // Runs a plan whose inputs are marked; installs its result. Releases mu while it works.
  Status RunPlan(ColumnFamily* family, CompactionPlan* plan,
                 const std::atomic<bool>* manual_cancelled, CompactionResult* result);
  void MarkInputs(ColumnFamily* family, CompactionPlan* plan, bool marked);
  int MaxRunning() const;

  Engine* const engine_;
  std::deque<ColumnFamily*> queue_;
  int running_ = 0;
  int scheduled_ = 0;  // handed to the environment, running ones included
  int manual_waiting_ = 0;
  int manual_disabled_ = 0;
  std::atomic<bool> manual_cancel_{false};
};

}  // namespace varve
