// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes several positioned reads that wait for a device at the same time.

#include <span>

#include "util/env/io_ring.h"
#include "util/env/thread_pool.h"

namespace varve {

// Reads through io_uring, or with threads where the system does not permit that, as in many
// containers. The threads start when they are first needed, and stay.
//
// Thread safety: all methods may be called from any thread.
class ParallelReads {
 public:
  // Number of reads of one call that threads have in flight, the caller's own among them: what a
  // disk usually serves at a time.
  static constexpr int kReadsAtOnce = 8;

  // Returns when every read is done. Returns false if there is no ring, or it failed: results that
  // are missing are then -EAGAIN, and the caller makes these reads in another way.
  bool ReadWithRing(std::span<RingRead> reads) { return rings_.ReadAll(reads); }
  // Returns when every read is done. Without memory or threads they are made one by one.
  void ReadWithThreads(std::span<RingRead> reads);

 private:
  IoRingPool rings_;
  ThreadPool threads_{"reads", Env::Priority::USER, kReadsAtOnce - 1};
};

}  // namespace varve
