// SPDX-License-Identifier: Apache-2.0

// Epochs tell a thread that unlinked an object when no reader can use it any more.
//
// A global counter, now_, is the current epoch. A reader announces the epoch that it entered in, in
// a record of its own thread, and clears the record when it leaves. A thread that unlinks an object
// notes the counter as the object's stamp. A thread that wants to free increments the counter and
// reads all records: an object may be freed if its stamp is smaller than every announced epoch.
//
//     now_        5                      | 6                              | 7
//     freer         unlink X, stamp 5      FreeBelow: R1 is in 5            FreeBelow: R2 is in 6
//                                          5 < 5 is false: X stays          5 < 6: X is freed
//     reader R1   enters 5 ............. may use X ..... leaves
//     reader R2                            enters 6 ..... cannot reach X ...........
//
// Readers are frequent, so they execute no fence: an announcement may wait in the processor's store
// buffer while the reader's next loads are done. FreeBelow makes every running thread of the
// process execute a fence (membarrier) before it reads the records. A reader whose announcement is
// not visible then loads its pointers after the fence, and so after the unlinking.
//
// Invariants
// 1. A reader announces before it loads a pointer. The compiler may not swap the two; the processor
//    may, and invariant 3 covers that.
// 2. An object is unlinked by a sequentially consistent store before its stamp is read. So a reader
//    that announces an epoch above the stamp loads its pointers after the unlinking.
// 3. Records are read after a fence in all threads. An object with stamp s is free if s is below
//    the epoch of that fence and below every epoch that was announced then.
// 4. now_, barrier_ and known_free_ never decrease: what was free once stays free.
// 5. A thread inside a Guard waits for nothing that may take long, and never for readers.
// 6. Leaving is a release, and the record is read with acquire: a reader's last use of an object
//    happens before the object is freed.
// 7. Records are never freed. A thread that exits hands its record, which is clear, to a later
//    thread. In a child of fork() the records of the parent's other threads are cleared.
// 8. Without membarrier, each announcement is a fence by itself (fenced_). The call that finds this
//    out frees nothing.

#include "util/sync/epoch.h"

#include <pthread.h>

#include <algorithm>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/sync/heavy_fence.h"
#include "util/sync/spin.h"

namespace varve {

namespace {

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
  return !PrepareHeavyFence();
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
    VARVE_ASSERT(mine->epoch.load(std::memory_order_relaxed) == kOutside);  // Invariant 7.
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
  if (!fenced_.load(std::memory_order_relaxed) && !HeavyFence()) {
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
  // Stored only if it has changed, as readers load words of the same cache line.
  if (oldest_reader_.load(std::memory_order_relaxed) != reader) {
    oldest_reader_.store(reader, std::memory_order_release);
  }
  RaiseTo(&known_free_, oldest);
  return oldest;
}

bool Epoch::IsFree(uint64_t stamp) {
  if (stamp < KnownFree()) return true;
  // The reader that prevented it last is looked at first: while it is inside, all records need not
  // be read. If its epoch is the current one, it may have entered just now and leave soon.
  if (const Record* const reader = oldest_reader_.load(std::memory_order_acquire)) {
    const uint64_t epoch = reader->epoch.load(std::memory_order_relaxed);
    if (epoch != kOutside && epoch <= stamp && epoch < now_.load(std::memory_order_relaxed)) {
      return false;
    }
  }
  // If there has been a fence since the stamp, reading the records is enough.
  const uint64_t barrier = barrier_.load(std::memory_order_seq_cst);
  return stamp < (stamp < barrier ? Oldest(barrier) : FreeBelow());
}

void Epoch::WaitForReaders() {
  VARVE_ASSERT(!Inside());  // Invariant 5.
  const uint64_t stamp = Stamp();
  SpinWait spin;
  while (FreeBelow() <= stamp) spin.Once();
}

}  // namespace varve
