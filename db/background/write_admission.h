// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a write goes through before it enters the commit path: it waits out stalls, and switches
// memtables that are full.

#include "db/background/engine.h"

namespace varve {

// Thread safety: every method from any thread, holding neither the DB mutex nor the commit path.
// With no_slowdown none of them waits for a stall, for memory, or for another thread's switch of
// memtables or lock of the log: they return Incomplete instead.
class WriteAdmission {
 public:
  explicit WriteAdmission(Engine* engine) : engine_(engine) {}

  // OK when a write of `bytes` bytes may go on. One relaxed load when there is nothing to do.
  Status Admit(const WriteOptions& options, size_t bytes) {
    if (!engine_->attention.load(std::memory_order_relaxed)) [[likely]]
      return Status::OK();
    return AdmitWithAttention(options, bytes);
  }
  // What a write with WriteOptions::low_pri does first: while compactions are due, all such writes
  // together get a low rate. Incomplete instead with no_slowdown.
  Status YieldToCompaction(const WriteOptions& options, size_t bytes);
  // Has the rate limiter grant bytes of log, unless the priority is IO_TOTAL: nobody asked for
  // that. The one wait that no_slowdown does not exclude: it was asked for by name.
  void Charge(Env::IOPriority priority, uint64_t bytes);

 private:
  Status AdmitWithAttention(const WriteOptions& options, size_t bytes);
  bool AnythingLasting() const;
  Status SwitchFullMemTables(const WriteOptions& options);
  // These require mu. Those that wait let go of it meanwhile.
  Status WaitWhileStopped(const WriteOptions& options);
  void AskForWork();
  Status WaitWhileDelayed(const WriteOptions& options, size_t bytes);
  Status WaitForMemory(const WriteOptions& options);
  // Sleeps in slices while `wanted` says so, at most `micros`.
  template <typename Wanted>
  Status SleepInSlices(uint64_t micros, Wanted wanted);
  // Around a wait. Waits of several threads at once count once.
  uint64_t BeginStall();
  void EndStall(uint64_t started);

  Engine* const engine_;
};

}  // namespace varve
