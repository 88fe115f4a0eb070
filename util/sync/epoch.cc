// SPDX-License-Identifier: Apache-2.0
#include "util/sync/epoch.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/sync/spin.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define VARVE_EPOCH_FENCED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VARVE_EPOCH_FENCED 1
#endif
#endif

namespace varve {

namespace {

// The thread sanitizer does not model membarrier.
#if defined(__linux__) && !defined(VARVE_EPOCH_FENCED)
bool Membarrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}
bool RegisterForMembarrier() {
  return Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
bool PassMembarrier() {
  // The kernel may be short of memory for a moment.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; i++) {
    if (Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
    if (errno != ENOMEM) break;
    sched_yield();
  }
  // A child of fork may have to register again.
  return RegisterForMembarrier() && Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
bool RegisterForMembarrier() {
  return false;
}
bool PassMembarrier() {
  return false;
}
#endif

void RaiseTo(std::atomic<uint64_t>* highest, uint64_t value) {
  uint64_t now = highest->load(std::memory_order_relaxed);
  while (now < value && !highest->compare_exchange_weak(now, value, std::memory_order_acq_rel,
                                                        std::memory_order_relaxed)) {
  }
}

}  // namespace

std::atomic<uint64_t> Epoch::now_{1};
std::atomic<uint64_t> Epoch::barrier_{0};
std::atomic<uint64_t> Epoch::known_free_{0};
std::atomic<const Epoch::Record*> Epoch::oldest_reader_{nullptr};
std::atomic<bool> Epoch::fenced_{Epoch::Prepare()};
std::atomic<Epoch::Record*> Epoch::records_{nullptr};
constinit thread_local Epoch::Record* Epoch::record_ = nullptr;

bool Epoch::Prepare() {
  // If this fails for lack of memory, only children of fork are affected.
  (void)pthread_atfork(nullptr, nullptr, &Epoch::ForgetOtherThreads);
  return !RegisterForMembarrier();
}

void Epoch::ForgetOtherThreads() {
  for (Record* r = records_.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    if (r == record_) continue;
    r->epoch.store(kOutside, std::memory_order_relaxed);
    r->taken.store(false, std::memory_order_relaxed);
  }
}

// Returns the thread's record when the thread exits.
class Epoch::Release {
 public:
  Release() = default;
  ~Release() {
    Record* const mine = record_;
    record_ = nullptr;
    mine->taken.store(false, std::memory_order_release);
  }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
};

void Epoch::Register() {
  Record* found = records_.load(std::memory_order_acquire);
  for (; found != nullptr; found = found->next) {
    if (!found->taken.load(std::memory_order_relaxed) &&
        !found->taken.exchange(true, std::memory_order_acquire)) {
      break;
    }
  }
  if (found == nullptr) {
    found = new Record;
    found->next = records_.load(std::memory_order_relaxed);
    while (!records_.compare_exchange_weak(found->next, found, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
  }
  record_ = found;
  static thread_local Release release;
}

uint64_t Epoch::FreeBelow() {
  const uint64_t now = now_.fetch_add(1, std::memory_order_seq_cst) + 1;
  if (!fenced_.load(std::memory_order_relaxed) && !PassMembarrier()) {
    // A sandbox has disabled membarrier since the start. Readers fence from now on; the stores of
    // readers that are inside without a fence are visible by the next call.
    fenced_.store(true, std::memory_order_seq_cst);
    return 0;
  }
  RaiseTo(&barrier_, now);
  return Oldest(now);
}

uint64_t Epoch::Oldest(uint64_t barrier) {
  uint64_t oldest = barrier;
  const Record* reader = nullptr;
  for (const Record* r = records_.load(std::memory_order_seq_cst); r != nullptr; r = r->next) {
    const uint64_t epoch = r->epoch.load(std::memory_order_seq_cst);
    if (epoch == kOutside || epoch >= oldest || VARVE_CANARY(kForgetReaders)) continue;
    oldest = epoch;
    reader = r;
  }
  // Readers load the neighbouring words.
  if (oldest_reader_.load(std::memory_order_relaxed) != reader) {
    oldest_reader_.store(reader, std::memory_order_release);
  }
  RaiseTo(&known_free_, oldest);
  return oldest;
}

bool Epoch::IsFree(uint64_t stamp) {
  if (stamp < KnownFree()) return true;
  // A reader in the current epoch may have entered just now and may leave soon.
  if (const Record* const reader = oldest_reader_.load(std::memory_order_acquire)) {
    const uint64_t epoch = reader->epoch.load(std::memory_order_relaxed);
    if (epoch != kOutside && epoch <= stamp && epoch < now_.load(std::memory_order_relaxed)) {
      return false;
    }
  }
  const uint64_t barrier = barrier_.load(std::memory_order_seq_cst);
  return stamp < (stamp < barrier ? Oldest(barrier) : FreeBelow());
}

void Epoch::WaitForReaders() {
  VARVE_ASSERT(!Inside());
  const uint64_t stamp = Stamp();
  SpinWait spin;
  while (FreeBelow() <= stamp) spin.Once();
}

}  // namespace varve
