// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes several positioned reads with one system call, through Linux's io_uring.
//
// Only the kernel's own header is needed: no library is linked.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "util/env/posix_fd.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// One read. The caller owns the buffer, which stays until the read is over.
struct RingRead {
  int fd;
  uint64_t offset;
  size_t bytes;
  char* buffer;
  // Result: the number of bytes read, which is smaller at the end of the file or if the kernel
  // returned fewer; or -errno.
  int32_t result;
};

// One instance of io_uring: a queue of submitted reads and a queue of results, both shared with the
// kernel.
//
// Thread safety: none.
class IoRing {
 public:
  // Returns null if no ring can be created; *error is then an errno value.
  static std::unique_ptr<IoRing> Create(int* error);
  ~IoRing();
  IoRing(const IoRing&) = delete;
  IoRing& operator=(const IoRing&) = delete;

  // Returns when every read is done. Returns false if the ring is not usable any more; results that
  // are missing then stay as the caller set them.
  bool ReadAll(std::span<RingRead> reads);

 private:
  struct Mapping {
    void* base = nullptr;
    size_t bytes = 0;
  };

  IoRing() = default;
  // Maps the queues that the kernel shares. `params` is the io_uring_params in which it has
  // described them. Returns false if that fails.
  bool Map(const void* params);
  // Puts a read into the submission queue, which must have room.
  void Push(const RingRead& read, uint64_t name);
  // Takes all results that have arrived.
  void TakeResults(std::span<RingRead> reads);
  // Makes at most kEntries reads. Returns false if the ring is not usable any more.
  bool ReadSome(std::span<RingRead> reads);

  static constexpr unsigned kEntries = 64;

  PosixFd fd_;
  Mapping submissions_;
  Mapping completions_;
  Mapping entries_;
  // Point into the mappings. The kernel moves one end of each queue, this side the other.
  uint32_t* submit_tail_ = nullptr;
  uint32_t submit_mask_ = 0;
  uint32_t* submit_array_ = nullptr;
  uint32_t* complete_head_ = nullptr;
  uint32_t* complete_tail_ = nullptr;
  uint32_t complete_mask_ = 0;
  void* complete_entries_ = nullptr;

  // The pending reads are named from `first_name_` on, each name once in a ring's life, and have a
  // bit here until their result arrives. A result of another name comes from another process.
  uint64_t first_name_ = 0;
  uint64_t pending_ = 0;
  // False once the ring must not be used any more.
  bool sound_ = true;
};

// Rings that threads take for one call each, so that there are no more rings than concurrent calls.
// A child of fork() makes its own: the parent's rings share one queue between both processes.
//
// Thread safety: all methods may be called from any thread.
class IoRingPool final : private ForkWatch {
 public:
  IoRingPool() { Watch(&mu_); }
  ~IoRingPool() { Forget(); }

  // Like IoRing::ReadAll, but sets every result to -EAGAIN first. Also returns false if there is no
  // ring for this call.
  bool ReadAll(std::span<RingRead> reads);

 private:
  // Number of calls that go without a ring after a temporary failure, such as a lack of
  // descriptors, before the next attempt.
  static constexpr int kCallsBetweenAttempts = 32;

  // Returns null if there is no ring for this call.
  IoRing* Take();
  // Makes a ring, unless that failed lately.
  IoRing* Make();
  // Destroys a ring that is not usable any more.
  void Drop(const IoRing* ring);
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  Mutex mu_{lock_ranks::kIoRings};
  std::vector<std::unique_ptr<IoRing>> all_ VARVE_GUARDED_BY(mu_);
  std::vector<IoRing*> idle_ VARVE_GUARDED_BY(mu_);  // Has capacity for all.
  bool unavailable_ VARVE_GUARDED_BY(mu_) = false;   // For good.
  int calls_to_skip_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
