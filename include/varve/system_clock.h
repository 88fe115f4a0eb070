// SPDX-License-Identifier: Apache-2.0
#pragma once

// SystemClock is used for every reading of time and every sleep in the library, so that a test can
// supply its own.
//
//   class FrozenClock : public varve::SystemClockWrapper {
//    public:
//     using SystemClockWrapper::SystemClockWrapper;
//     const char* Name() const override { return "FrozenClock"; }
//     uint64_t NowMicros() override { return 1000000; }
//   };
//
// An Env made with a file system and such a clock hands it to a database (Env::Env).

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/forwarded_calls.h"
#include "varve/status.h"

namespace varve {

class CondVar;
struct ConfigOptions;

// Tells the time, and waits. A program replaces it to test what depends on time. Thread-safe.
// Overridden functions must not throw.
class VARVE_EXPORT SystemClock : public Customizable {
 public:
  ~SystemClock() override = default;

  // Return the class name under which ObjectRegistry keeps clocks, and the name of the machine's
  // clock.
  static const char* Type() { return "SystemClock"; }
  static const char* kDefaultName() { return "DefaultClock"; }
  // Accepts "DefaultClock", or a registered object; null for "" and "nullptr". NotSupported for
  // another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<SystemClock>* result);

  // Returns the machine's clock, which exists until the process ends.
  static const std::shared_ptr<SystemClock>& Default();

  // Returns microseconds since the Unix epoch by the wall clock, which may step back when it is
  // set.
  virtual uint64_t NowMicros() = 0;

  // Returns nanoseconds since an unspecified point. The default clock is monotonic: use it for
  // durations.
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }

  // Return the CPU time of the calling thread; 0 if the clock does not support it.
  virtual uint64_t CPUMicros() { return 0; }
  virtual uint64_t CPUNanos() { return CPUMicros() * 1000; }

  // Blocks the calling thread for at least `micros` microseconds; returns at once if micros <= 0.
  virtual void SleepForMicroseconds(int micros) = 0;

  // Waits on `cv`, whose mutex the caller holds, until it is signalled or NowMicros() reaches
  // `deadline`. Returns true if the deadline passed first. May wake up spuriously.
  virtual bool TimedWait(CondVar* cv, std::chrono::microseconds deadline);

  // Sets *unix_time to seconds since the Unix epoch, on success only.
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;

  // Formats seconds since the Unix epoch as local time, "YYYY/MM/DD-HH:MM:SS".
  virtual std::string TimeToString(uint64_t time) = 0;
};

// Forwards every call except Name() to `target`. Override what should differ.
class VARVE_EXPORT SystemClockWrapper : public SystemClock {
 public:
  // Shares ownership of `t`, which must not be null.
  explicit SystemClockWrapper(std::shared_ptr<SystemClock> t) : target_(std::move(t)) {}

  const Customizable* Inner() const override { return target_.get(); }
  VARVE_TIME_CALLS
  VARVE_FORWARD(uint64_t, CPUMicros, (), )
  VARVE_FORWARD(uint64_t, CPUNanos, (), )
  VARVE_FORWARD(bool, TimedWait, (CondVar*, std::chrono::microseconds), )

 protected:
  std::shared_ptr<SystemClock> target_;
};

}  // namespace varve
