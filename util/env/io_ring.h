// SPDX-License-Identifier: Apache-2.0
#pragma once

// Several positioned reads with one call of the operating system, through Linux's io_uring.
//
// The kernel's own header is enough for what is used of it here: no library is linked.

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

struct RingRead {
  int fd;
  uint64_t offset;
  size_t bytes;
  char* buffer;
  // Out: how many bytes were read, fewer at the end of the file or when it pleased the kernel; or
  // -errno.
  int32_t result;
};

// Thread safety: none.
class IoRing {
 public:
  // Null when there is none to be had, and then *error is an errno value.
  static std::unique_ptr<IoRing> Create(int* error);
  ~IoRing();
  IoRing(const IoRing&) = delete;
  IoRing& operator=(const IoRing&) = delete;

  // Returns when every read is done. False: the ring is of no use any more, and results that were
  // not delivered say -EAGAIN.
  bool ReadAll(std::span<RingRead> reads);

 private:
  struct Mapping {
    void* base = nullptr;
    size_t bytes = 0;
  };

  IoRing() = default;
  bool Map(const void* params);
  void Push(const RingRead& read, uint64_t name);
  void TakeResults(std::span<RingRead> reads);
  bool ReadSome(std::span<RingRead> reads);

  static constexpr unsigned kEntries = 64;

  PosixFd fd_;
  Mapping submissions_;
  Mapping completions_;
  Mapping entries_;
  // Inside the mappings. The kernel moves the one, this side the other end of each queue.
  uint32_t* submit_tail_ = nullptr;
  uint32_t submit_mask_ = 0;
  uint32_t* submit_array_ = nullptr;
  uint32_t* complete_head_ = nullptr;
  uint32_t* complete_tail_ = nullptr;
  uint32_t complete_mask_ = 0;
  void* complete_entries_ = nullptr;

  // The reads under way are named from `first_name_` on, each name once in a ring's life, and have
  // a bit here until their result is in. A result of another name came from outside.
  uint64_t first_name_ = 0;
  uint64_t pending_ = 0;
  bool sound_ = true;
};

// Rings that threads take for one call each, so that there are no more than reads at a time. A
// child of fork() makes its own: those of its parent have one queue for both processes.
//
// Thread safety: all methods from any thread.
class IoRingPool final : private ForkWatch {
 public:
  IoRingPool() { Watch(&mu_); }
  ~IoRingPool() { Forget(); }

  // As IoRing::ReadAll. False also without a ring: then every result says -EAGAIN.
  bool ReadAll(std::span<RingRead> reads);

 private:
  // After a refusal that may pass, such as want of descriptors, so many calls go without a ring
  // before the next attempt.
  static constexpr int kCallsBetweenAttempts = 32;

  // Null: there is none for this call.
  IoRing* Take();
  IoRing* Make();
  void Drop(const IoRing* ring);
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  Mutex mu_{lock_ranks::kIoRings};
  std::vector<std::unique_ptr<IoRing>> all_ VARVE_GUARDED_BY(mu_);
  std::vector<IoRing*> idle_ VARVE_GUARDED_BY(mu_);  // never without room for all
  bool unavailable_ VARVE_GUARDED_BY(mu_) = false;   // for good
  int calls_to_skip_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
