// SPDX-License-Identifier: Apache-2.0
#pragma once

// --report_file: a thread writes, every --report_interval_seconds, how many operations all workers
// finished per second.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "varve/env.h"

#include "util/sync/mutex.h"

namespace varve::bench {

// Thread safety: workers may add to finished_ops() at any time; the rest belongs to the thread
// that made it.
class IntervalReport {
 public:
  // Starts the thread, which writes every `seconds`. Ends the program if the file cannot be
  // created.
  IntervalReport(const std::string& file_name, uint64_t seconds);
  // Waits for the thread. The last, incomplete interval is not written.
  ~IntervalReport();
  IntervalReport(const IntervalReport&) = delete;
  IntervalReport& operator=(const IntervalReport&) = delete;

  // Workers add to it.
  std::atomic<uint64_t>* finished_ops() { return &finished_ops_; }

 private:
  void Loop();

  const uint64_t seconds_;
  std::unique_ptr<WritableFile> file_;
  // Relaxed, as it is only a count and publishes nothing.
  std::atomic<uint64_t> finished_ops_{0};
  Mutex mu_;
  CondVar stop_changed_{&mu_};
  bool stop_ VARVE_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace varve::bench
