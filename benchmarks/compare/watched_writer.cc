// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/watched_writer.h"

#include <sched.h>

#include <algorithm>
#include <memory>

namespace compare {

WatchedWriter::WatchedWriter(Run* run, uint64_t key, Durability durability,
                             std::chrono::microseconds pause)
    : thread_([=, this] { Write(run, key, durability, pause); }) {
  while (writes_ == 0) std::this_thread::yield();
}

WatchedWriter::~WatchedWriter() {
  if (thread_.joinable()) (void)Stop();
}

double WatchedWriter::Stop() {
  done_ = true;
  thread_.join();
  return longest_;
}

void WatchedWriter::Write(Run* run, uint64_t key, Durability durability,
                          std::chrono::microseconds pause) {
  sched_param first{};
  (void)sched_getparam(0, &first);
  first.sched_priority++;  // above its maker's, which may be a real-time thread, too
  (void)sched_setscheduler(0, SCHED_FIFO, &first);
  const std::unique_ptr<Session> session = run->engine().NewSession();
  Values values(kValueSize);
  while (!done_) {
    const double seconds =
        SecondsOf([&] { session->Put(Key(key).view(), values.Of(0), durability); });
    longest_ = std::max(longest_, seconds);
    writes_++;
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
}

}  // namespace compare
