// SPDX-License-Identifier: Apache-2.0

// The program's mutexes and condition variables (custom_mutex_factory) may fail at any call. A
// sleeper whose wait has failed is therefore never used again, because its mutex may be held for
// ever; and a thread that wakes others waits for their mutex only for a limited time.

#include "db/transaction/lock_sleeper.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

// Uses std::mutex instead of Mutex, because the interface locks in one call and unlocks in another,
// and waits for a mutex that it gets as an argument. A mutex is held only while a word is read, so
// time limits are ignored.
class LibraryMutex final : public TransactionDBMutex {
 public:
  Status Lock() override {
    mu_.lock();
    return Status::OK();
  }
  Status TryLockFor(int64_t /*timeout_time*/) override { return Lock(); }
  void UnLock() override { mu_.unlock(); }

 private:
  friend class LibraryCondVar;
  std::mutex mu_;
};

// A condition variable for waiters that hold a LibraryMutex.
class LibraryCondVar final : public TransactionDBCondVar {
 public:
  Status Wait(std::shared_ptr<TransactionDBMutex> mutex) override {
    return WaitFor(std::move(mutex), -1);
  }
  Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_time) override {
    std::unique_lock<std::mutex> lock(static_cast<LibraryMutex*>(mutex.get())->mu_,
                                      std::adopt_lock);
    bool timed_out = false;
    if (timeout_time < 0) {
      changed_.wait(lock);
    } else {
      timed_out = changed_.wait_for(lock, std::chrono::microseconds(timeout_time)) ==
                  std::cv_status::timeout;
    }
    lock.release();  // The caller continues to hold it.
    return timed_out ? Status::TimedOut(Status::kMutexTimeout) : Status::OK();
  }
  void Notify() override { changed_.notify_one(); }
  void NotifyAll() override { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

class LibraryMutexFactory final : public TransactionDBMutexFactory {
 public:
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<LibraryMutex>();
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<LibraryCondVar>();
  }
};

}  // namespace

// The state is read under the mutex, and changed before Wake takes it: so the sleeper either sees
// the change, or already waits when it is notified.
Status LockSleeper::Sleep(const std::atomic<WaitState>& state, int64_t micros) {
  Status s = mutex_->TryLockFor(micros);
  // After a timeout the caller checks its own deadline.
  if (s.IsTimedOut() && micros >= 0) return Status::OK();
  if (!s.ok()) return Fail(std::move(s));
  // The check under the mutex is what makes the wake-up safe: see the comment of this function.
  if (state.load(std::memory_order_acquire) == WaitState::kWaiting) {
    s = micros < 0 ? changed_->Wait(mutex_) : changed_->WaitFor(mutex_, micros);
    if (!s.ok() && !s.IsTimedOut()) return Fail(std::move(s));
  }
  mutex_->UnLock();
  return Status::OK();
}

Status LockSleeper::Fail(Status s) {
  if (!VARVE_CANARY(kKeepFailedSleeper)) failed_.store(true, std::memory_order_release);
  return s;
}

// Waits for the mutex in short steps, because the sleeper may fail at this moment and leave it
// locked for ever.
void LockSleeper::Wake() {
  constexpr int kLooks = 100;
  constexpr int64_t kLookAgainMicros = 10'000;
  for (int i = 0; i < kLooks; i++) {
    if (failed()) return;
    const Status s = mutex_->TryLockFor(kLookAgainMicros);
    // Locking for a moment waits until the sleeper, if it has just read the old state, is asleep
    // and can be notified.
    if (s.ok()) mutex_->UnLock();
    if (!s.IsTimedOut()) break;
  }
  changed_->NotifyAll();
}

LockSleepers::LockSleepers(std::shared_ptr<TransactionDBMutexFactory> factory)
    : factory_(factory != nullptr ? std::move(factory) : std::make_shared<LibraryMutexFactory>()) {}

std::unique_ptr<LockSleeper> LockSleepers::Borrow() {
  MutexLock lock(&mu_);
  std::unique_ptr<LockSleeper> sleeper;
  if (free_.empty()) {
    sleeper = std::make_unique<LockSleeper>(factory_.get());
    const size_t all = lent_ + 1 + failed_.size();  // So that Return does not allocate.
    free_.reserve(all);
    failed_.reserve(all);
  } else {
    sleeper = std::move(free_.back());
    free_.pop_back();
  }
  lent_++;
  return sleeper;
}

// Failed sleepers are kept until no thread is about to wake them.
void LockSleepers::Return(std::unique_ptr<LockSleeper> sleeper) noexcept {
  MutexLock lock(&mu_);
  VARVE_ASSERT(lent_ > 0);
  lent_--;
  if (sleeper->failed()) {
    failed_.push_back(std::move(sleeper));
    std::erase_if(failed_, [](const auto& failed) { return !failed->has_wakers(); });
  } else {
    free_.push_back(std::move(sleeper));
  }
}

}  // namespace varve
