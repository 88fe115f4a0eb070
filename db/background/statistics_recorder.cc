// SPDX-License-Identifier: Apache-2.0

// Storing a record writes to the database, for which the timer's thread must not wait, so it is
// done by a job. At most one job runs at a time.

#include "db/background/statistics_recorder.h"

#include <utility>

#include "db/active_work.h"
#include "db/background/short_jobs.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

void StatisticsRecorder::Start(Store store) {
  store_ = std::move(store);
  // If an allocation fails, the first record has all counts so far.
  BestEffort([this] {
    if (with_.context.statistics() != nullptr) with_.history.Begin(*with_.context.statistics());
  });
}

// Makes a record in memory at once, as that is fast, or schedules the job.
void StatisticsRecorder::Record(size_t most_bytes) {
  const DbContext& context = with_.context;
  VARVE_ASSERT(context.statistics() != nullptr);
  if (store_ == nullptr) {
    int64_t seconds = 0;
    if (!context.clock()->GetCurrentTime(&seconds).ok() || seconds < 0) return;
    with_.history.Record(*context.statistics(), static_cast<uint64_t>(seconds), most_bytes);
    return;
  }
  DbLock lock(&with_.state.mu);
  if (handed_out_) return;  // the waiting job records everything until it runs
  handed_out_ = true;
  const Status s = Guarded([&] {
    Env* const env = context.env();
    env->Schedule(&StatisticsRecorder::RunJob, this, PoolOfShortJobs(env), this);
  });
  if (!s.ok()) handed_out_ = false;  // the next record covers this time, too
}

void StatisticsRecorder::RunJob(void* self) {
  auto* const recorder = static_cast<StatisticsRecorder*>(self);
  BestEffort([recorder] { recorder->StoreRecord(); });
  recorder->EndJob();
}

// Growth that could not be stored is part of the next record. The clock and the logger, which the
// user may have given, may call the database.
void StatisticsRecorder::StoreRecord() {
  const ActiveWork active(ActiveWork::kBackground, &with_.lifecycle, "the storing of statistics,");
  const DbContext& context = with_.context;
  int64_t seconds = 0;
  if (!context.clock()->GetCurrentTime(&seconds).ok() || seconds < 0) return;
  const StatisticsHistory::Counts growth = with_.history.Take(*context.statistics());
  const Status s = Guarded([&] { return store_(static_cast<uint64_t>(seconds), growth); });
  if (s.ok()) return;
  // The next record includes this growth.
  with_.history.PutBack(growth);
  LogWarn(context.info_log(), "a record of the statistics was not stored: %s",
          s.ToString().c_str());
}

void StatisticsRecorder::EndJob() {
  DbLock lock(&with_.state.mu);
  handed_out_ = false;
  with_.state.work.SignalAll();
}

void StatisticsRecorder::Stop() {
  DbLock lock(&with_.state.mu);
  BestEffort([&] {
    with_.state.mu.AssertHeld();
    handed_out_ &= TakeBackShortJobs(with_.context.env(), this) == 0;
  });
  while (handed_out_) with_.state.work.Wait();
}

}  // namespace varve
