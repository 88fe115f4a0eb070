// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyPool copies, hard-links, writes or reads many files with several threads.
//
// Invariants:
//   1. A task whose status is OK has all of its bytes in place, and they are durable if `sync` is
//      on. Names are not durable: the caller must sync the directories.
//   2. The target of a task that is not OK is deleted if the pool has created it.
//   3. Each thread uses one buffer, and keeps at most kUnsynced targets open.
//   4. Threads of the pool take over the active work of the caller (db/active_work.h), which waits
//      for them.
//   5. A thread writes several files before it syncs them, so that a file system that commits all
//      changes together does so once for many files.

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

// Describes one file. The caller sets the members up to `contents`, and Run sets the others.
struct CopyTask {
  static constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

  std::string source;
  std::string target;  // Created or replaced; empty: only reads.
  // Number of bytes to copy from the start; the file may grow meanwhile. A shorter source is
  // Corruption.
  uint64_t size = kWholeFile;
  // True if the target may be a hard link to the source, which then must be durable, never be
  // written again, and have `size` bytes. Where links are not supported it is copied.
  bool may_link = false;
  bool want_checksum = false;
  // If set, these bytes are written to the target instead of those of a source.
  std::optional<std::string> contents;

  Status status;
  bool linked = false;
  uint64_t bytes = 0;   // Bytes copied or written; 0 if linked.
  uint32_t crc32c = 0;  // Unmasked, of all bytes; set with want_checksum unless linked.
};

class CopyPool {
 public:
  static constexpr size_t kDefaultBufferBytes = 1 << 20;
  // Number of targets that a thread writes before it syncs them.
  static constexpr size_t kUnsynced = 64;
  // Stands for no ticker.
  static constexpr uint32_t kNoTicker = ~uint32_t{0};

  // Receives progress from the copying threads, possibly concurrently. If it throws, the run ends
  // with Aborted.
  class Observer {
   public:
    virtual ~Observer() = default;
    // Called when `bytes` of the `total` bytes of all tasks are done, linked files included.
    virtual void OnProgress(uint64_t bytes, uint64_t total) = 0;
  };

  // The objects that it points to are not owned and must outlive the pool.
  struct Options {
    FileSystem* source_fs = nullptr;
    FileSystem* target_fs = nullptr;
    int threads = 1;                            // At least 1; includes the caller.
    size_t buffer_bytes = kDefaultBufferBytes;  // 0: the default.
    bool sync = true;
    // Limits reads, writes or both, depending on its mode; null means no limit.
    RateLimiter* rate_limiter = nullptr;
    Env::IOPriority io_priority = Env::IO_LOW;
    // When it becomes true, tasks that are not done end with Incomplete. May be null.
    const std::atomic<bool>* stop = nullptr;
    Observer* observer = nullptr;
    uint64_t report_bytes = 4 << 20;  // Bytes of one thread between its reports.
    Statistics* statistics = nullptr;
    // Tickers of `statistics` that count the bytes read and written.
    uint32_t read_ticker = kNoTicker;
    uint32_t write_ticker = kNoTicker;
    // If set, the pool's threads do all the work, at no more than this priority.
    std::optional<CpuPriority> cpu_priority;
  };

  explicit CopyPool(const Options& options) : options_(options) {}

  // Runs all tasks, and returns when no thread works any more. At the first error the remaining
  // tasks end with Incomplete, and that error is returned. Thread-safe.
  Status Run(std::vector<CopyTask>* tasks) const;

 private:
  const Options options_;
};

}  // namespace varve
