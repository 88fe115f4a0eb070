// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the states that crashes would leave: at every call that changes something, a clone under
// each policy, with the writes it must hold.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/environment.h"
#include "util/env/mem_file_system.h"
#include "util/sync/mutex.h"

namespace varve::testing {

struct CrashState {
  std::shared_ptr<MemFileSystem> fs;
  CrashPolicy policy;
  uint64_t call = 0;
  uint64_t durable = 0;  // Writes that must be there.
  uint64_t acked = 0;    // Writes that must be there if only the process died.
  uint64_t issued = 0;   // Writes that may be there.
  uint64_t mark = 0;     // The marks of families with timestamps are at least this.
};

inline constexpr CrashPolicy kCrashPolicies[] = {
    CrashPolicy::kSyncedOnly,  CrashPolicy::kOrderedPrefix, CrashPolicy::kAllNames,
    CrashPolicy::kAdversarial, CrashPolicy::kSyncedBytes,   CrashPolicy::kKill};

// True for the policies that keep any subset of the directory operations.
inline bool IsAdversary(CrashPolicy policy) {
  return policy == CrashPolicy::kAdversarial || policy == CrashPolicy::kSyncedBytes;
}

// Takes clones at calls and keeps them until they are checked.
class CrashRecorder final : public MemFileSystem::CallHook {
 public:
  // Takes clones at every `stride`-th call, `seeds` of them under each policy that leaves something
  // to chance.
  CrashRecorder(MemFileSystem* fs, uint64_t stride, uint64_t seeds = 1)
      : fs_(fs), stride_(stride), seeds_(seeds) {}

  void BeforeCall(uint64_t index, MemCall, const std::string&) override {
    if (index % stride_ == Rotation() % stride_) TakeClones(index);
  }

  // May also be called between calls, where only stores into mapped files can happen.
  void TakeClones(uint64_t index) {
    for (CrashPolicy policy : kCrashPolicies) {
      // Until the creation of the database is durable an adversary can leave any part of it.
      if (IsAdversary(policy) && !created.load()) continue;
      const bool chance = policy != CrashPolicy::kSyncedOnly && policy != CrashPolicy::kKill;
      for (uint64_t seed = 0; seed < (chance ? seeds_ : 1); seed++) TakeClone(index, policy, seed);
    }
  }

  std::vector<CrashState> Take() {
    MutexLock lock(&mu_);
    return std::move(states_);
  }

  std::atomic<bool> created{false};
  std::atomic<uint64_t> durable{0};
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> issued{0};
  std::atomic<uint64_t> mark{0};

 private:
  // Reads the numbers in a safe order: what must be there before the clone, what may be there after
  // it.
  void TakeClone(uint64_t index, CrashPolicy policy, uint64_t seed) {
    CrashState state;
    state.mark = mark.load();
    state.durable = durable.load();
    state.acked = acked.load();
    state.fs = fs_->CrashClone(policy, index + (seed << 40));
    state.issued = issued.load();
    state.policy = policy;
    state.call = index;
    MutexLock lock(&mu_);
    states_.push_back(std::move(state));
  }

  MemFileSystem* const fs_;
  const uint64_t stride_;
  const uint64_t seeds_;
  Mutex mu_;
  std::vector<CrashState> states_;
};

}  // namespace varve::testing
