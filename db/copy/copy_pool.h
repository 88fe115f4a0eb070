// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyPool: many files copied, hard-linked, written or read over at once, by several threads.
//
// Invariants:
//   1. A task whose status is OK has all of its bytes where they belong, and they are durable if
//      `sync` is on. Names are not: who made the directories syncs them.
//   2. The target of a task that is not OK is deleted, if the pool has made it.
//   3. Memory is one buffer a thread. A thread keeps at most kUnsynced targets open.
//   4. Threads of the pool have the duties of the caller (db/thread_duties.h), who waits for them.
//   5. Files are written one after the other and then synced one after the other, so that a file
//      system that commits all changes together does that once for many files.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

class RateLimiter;
class Statistics;

// One file. The upper half is the caller's, the lower is filled in.
struct CopyTask {
  static constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

  std::string source;
  std::string target;  // Empty: the source is only read. Else it is made, or replaced if it exists.
  // So many bytes from the start are copied, though the file may grow meanwhile. A source that ends
  // before is Corruption.
  uint64_t size = kWholeFile;
  // The target may become another name of the source's file, which must be durable already and
  // never be written again. Copied where file systems do not have that; `size` is that of the file.
  bool may_link = false;
  bool want_checksum = false;
  // Written to the target; there is no source.
  std::optional<std::string> contents;

  Status status;
  bool linked = false;
  uint64_t bytes = 0;   // Copied or written; of a linked file 0.
  uint32_t crc32c = 0;  // Of all bytes, not masked; with want_checksum, and not of a linked file.
};

class CopyPool {
 public:
  static constexpr size_t kDefaultBufferBytes = 1 << 20;
  static constexpr size_t kUnsynced = 64;
  static constexpr uint32_t kNoTicker = ~uint32_t{0};

  // Is told of progress by the threads that copy, several at a time. May throw, which ends the run
  // as Aborted.
  class Observer {
   public:
    virtual ~Observer() = default;
    // So many bytes, of all that the tasks have, are through; linked files count.
    virtual void OnProgress(uint64_t bytes, uint64_t total) = 0;
  };

  // What is pointed to is not owned and outlives the pool.
  struct Options {
    FileSystem* source_fs = nullptr;
    FileSystem* target_fs = nullptr;
    int threads = 1;                            // At least 1; the caller's counts.
    size_t buffer_bytes = kDefaultBufferBytes;  // 0: the default.
    bool sync = true;
    // Asked for the bytes read and the bytes written, as far as its mode says; null: no limit.
    RateLimiter* rate_limiter = nullptr;
    Env::IOPriority io_priority = Env::IO_LOW;
    // Once true, what is not done yet becomes Incomplete.
    const std::atomic<bool>* stop = nullptr;
    Observer* observer = nullptr;
    uint64_t report_bytes = 4 << 20;  // Each thread reports when it has copied so many more.
    Statistics* statistics = nullptr;
    uint32_t read_ticker = kNoTicker;
    uint32_t write_ticker = kNoTicker;
    // All work is done by threads of the pool's own with this priority.
    std::optional<CpuPriority> cpu_priority;
  };

  explicit CopyPool(const Options& options) : options_(options) {}

  // Returns when no thread works any more. The first error of any task ends the others, which
  // become Incomplete, and is returned.
  Status Run(std::vector<CopyTask>* tasks) const;

 private:
  const Options options_;
};

}  // namespace varve
