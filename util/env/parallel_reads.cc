// SPDX-License-Identifier: Apache-2.0
#include "util/env/parallel_reads.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "util/base/caught_exception.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

// Sets read->result to the number of bytes read, or to the negative errno.
void ReadOne(RingRead* read) {
  ssize_t got = 0;
  do {
    got = ::pread(read->fd, read->buffer, read->bytes, static_cast<off_t>(read->offset));
  } while (got < 0 && errno == EINTR);
  read->result = got < 0 ? -errno : static_cast<int32_t>(got);
}

// The reads of one call. Each thread takes the next one until none is left, so a thread that comes
// late, when the call may have returned already, touches nothing else.
class Batch {
 public:
  explicit Batch(std::span<RingRead> reads) : reads_(reads), left_(reads.size()) {}

  // The mutex is taken once per thread and not once per read; a thread that came too late for any
  // read does not touch it. Releasing it after the subtraction also makes the results visible to
  // Await.
  void Work() {
    size_t done = 0;
    for (size_t i = next_.fetch_add(1); i < size_; i = next_.fetch_add(1)) {
      ReadOne(&reads_[i]);
      done++;
    }
    if (done == 0) return;
    const MutexLock lock(&mu_);
    left_ -= done;
    if (left_ == 0) all_done_.SignalAll();
  }

  void Await() {
    const MutexLock lock(&mu_);
    while (left_ > 0) all_done_.Wait();
  }

  // A job of the pool; `arg` is a std::shared_ptr<Batch> of its own.
  static void Job(void* arg) {
    const std::unique_ptr<std::shared_ptr<Batch>> batch(static_cast<std::shared_ptr<Batch>*>(arg));
    (*batch)->Work();
  }

 private:
  const std::span<RingRead> reads_;
  const size_t size_ = reads_.size();
  std::atomic<size_t> next_{0};
  Mutex mu_;
  CondVar all_done_{&mu_};
  size_t left_ VARVE_GUARDED_BY(mu_);
};

}  // namespace

void ParallelReads::ReadWithThreads(std::span<RingRead> reads) {
  std::shared_ptr<Batch> batch;
  // Each job owns a share in the batch, because the pool may run it long after this call has
  // returned. The caller's own thread works too, so a pool that is busy or cannot start threads
  // delays nothing.
  const Status helped = Guarded([&] {
    batch = std::make_shared<Batch>(reads);
    const size_t helpers = std::min<size_t>(reads.size(), kReadsAtOnce) - 1;
    for (size_t i = 0; i < helpers; i++) {
      auto its = std::make_unique<std::shared_ptr<Batch>>(batch);
      threads_.Schedule(&Batch::Job, its.get(), /*tag=*/nullptr, /*unschedule=*/nullptr);
      (void)its.release();
    }
    return Status::OK();
  });
  // If some threads could not be asked, this one reads more.
  helped.PermitUncheckedError();
  if (batch == nullptr) {
    for (RingRead& read : reads) ReadOne(&read);
    return;
  }
  batch->Work();
  batch->Await();
}

}  // namespace varve
