// SPDX-License-Identifier: Apache-2.0
// Implements the machine's clock, and the defaults of SystemClock.

#include <time.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "varve/system_clock.h"

#include "util/env/io_error.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

constexpr uint64_t kNanosPerSecond = 1000 * 1000 * 1000;

uint64_t ReadClock(clockid_t id) {
  struct timespec now = {};
  if (::clock_gettime(id, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

// Two clocks on purpose: micros are the time of day, which may be set, and nanos only grow and suit
// durations. Values of the two must not be subtracted from each other.
class PosixClock final : public SystemClock {
 public:
  const char* Name() const override { return kDefaultName(); }

  uint64_t NowMicros() override { return ReadClock(CLOCK_REALTIME) / 1000; }
  uint64_t NowNanos() override { return ReadClock(CLOCK_MONOTONIC); }
  uint64_t CPUMicros() override { return CPUNanos() / 1000; }
  uint64_t CPUNanos() override { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

  void SleepForMicroseconds(int micros) override {
    if (micros <= 0) return;
    struct timespec left = {};
    left.tv_sec = micros / 1000000;
    left.tv_nsec = static_cast<long>(micros % 1000000) * 1000;
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
  }

  Status GetCurrentTime(int64_t* unix_time) override {
    const time_t now = ::time(nullptr);
    if (now == static_cast<time_t>(-1)) return IoErrorFromErrno("time", "clock", errno);
    *unix_time = static_cast<int64_t>(now);
    return Status::OK();
  }

  std::string TimeToString(uint64_t time) override {
    const auto seconds = static_cast<time_t>(time);
    struct tm parts = {};
    if (::localtime_r(&seconds, &parts) == nullptr) return std::to_string(time);
    std::array<char, 64> text = {};
    if (std::strftime(text.data(), text.size(), "%Y/%m/%d-%H:%M:%S", &parts) == 0) {
      return std::to_string(time);
    }
    return std::string(text.data());
  }
};

}  // namespace

// Returns true after a timeout. The deadline is a time of this clock, so a test's clock decides
// whether it has passed; but the wait itself takes real time.
bool SystemClock::TimedWait(CondVar* cv, std::chrono::microseconds deadline) {
  const uint64_t now = NowMicros();
  if (deadline.count() <= 0 || static_cast<uint64_t>(deadline.count()) <= now) return true;
  return !cv->WaitFor(static_cast<uint64_t>(deadline.count()) - now);
}

const std::shared_ptr<SystemClock>& SystemClock::Default() {
  // Never destroyed: background threads may read the time while the process ends.
  static const auto* const instance =
      std::make_unique<std::shared_ptr<SystemClock>>(std::make_shared<PosixClock>()).release();
  return *instance;
}

}  // namespace varve
