// SPDX-License-Identifier: Apache-2.0
// The CSV file: a header, then one line an interval, flushed so that it can be followed live.

#include "tools/db_bench/interval_report.h"

#include "tools/db_bench/fail.h"
#include "tools/db_bench/stats.h"

namespace varve::bench {

namespace {

void AppendLine(WritableFile* file, const std::string& line) {
  Status s = file->Append(line + "\n");
  if (s.ok()) s = file->Flush();
  if (!s.ok()) Fail("--report_file", s);
}

}  // namespace

IntervalReport::IntervalReport(const std::string& file_name, uint64_t seconds) : seconds_(seconds) {
  const Status s = Env::Default()->NewWritableFile(file_name, &file_, EnvOptions());
  if (!s.ok()) Fail("--report_file=" + file_name, s);
  AppendLine(file_.get(), "secs_elapsed,interval_qps");
  thread_ = std::thread([this] { Loop(); });
}

IntervalReport::~IntervalReport() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    stop_changed_.SignalAll();
  }
  thread_.join();
}

void IntervalReport::Loop() {
  const uint64_t start = NowMicros();
  uint64_t last = 0;
  // The lines are due at multiples of the interval after the start, not an interval after the last
  // one, so that a late line does not delay those that follow. A condition variable may wake early,
  // whence the inner loop.
  for (uint64_t due = start;;) {
    due += seconds_ * 1000000;
    {
      MutexLock lock(&mu_);
      for (uint64_t now = NowMicros(); !stop_ && now < due; now = NowMicros()) {
        stop_changed_.WaitFor(due - now);
      }
      if (stop_) return;
    }
    // Relaxed: the counter publishes nothing, and a line may lag behind by the operations in
    // flight.
    const uint64_t ops = finished_ops_.load(std::memory_order_relaxed);
    const uint64_t elapsed = (NowMicros() - start + 500000) / 1000000;
    AppendLine(file_.get(),
               std::to_string(elapsed) + "," + std::to_string((ops - last) / seconds_));
    last = ops;
  }
}

}  // namespace varve::bench
