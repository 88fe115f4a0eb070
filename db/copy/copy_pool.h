// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyPool copies, hard-links, writes or reads over many files at once, by several threads.
//
// Invariants:
//   1. A task whose status is OK has all of its bytes in place, and they are durable if `sync` is
//      on. Names are not durable: the maker of the directories syncs them.
//   2. The target of a task that is not OK is deleted, if the pool has made it.
//   3. Each thread uses one buffer, and keeps at most kUnsynced targets open.
//   4. Threads of the pool have the active work of the caller (db/active_work.h), who waits for
//   them.
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

// Describes one file. The caller fills in the upper half, the pool the lower one.
struct CopyTask {
  static constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

  std::string source;
  std::string target;  // Made, or replaced if it exists. Empty: the source is only read.
  // Number of bytes to copy from the start, though the file may grow meanwhile. A source that ends
  // before is Corruption.
  uint64_t size = kWholeFile;
  // True if the target may be a hard link to the source, which must be durable already and never be
  // written again. It is copied where file systems have no links; `size` is the file's.
  bool may_link = false;
  bool want_checksum = false;
  // Contents to write to the target; there is no source then.
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
  // Says that a ticker is not counted.
  static constexpr uint32_t kNoTicker = ~uint32_t{0};

  // Receives progress from the copying threads, several at a time. It may throw, which ends the run
  // as Aborted.
  class Observer {
   public:
    virtual ~Observer() = default;
    // Reports that this many of the tasks' total bytes are done; linked files count.
    virtual void OnProgress(uint64_t bytes, uint64_t total) = 0;
  };

  // Objects that it points to are not owned and outlive the pool.
  struct Options {
    FileSystem* source_fs = nullptr;
    FileSystem* target_fs = nullptr;
    int threads = 1;                            // At least 1; includes the caller.
    size_t buffer_bytes = kDefaultBufferBytes;  // 0: the default.
    bool sync = true;
    // Limits reads and writes, as its mode says; null: no limit.
    RateLimiter* rate_limiter = nullptr;
    Env::IOPriority io_priority = Env::IO_LOW;
    // Once it is true, tasks that are not done yet become Incomplete.
    const std::atomic<bool>* stop = nullptr;
    Observer* observer = nullptr;
    uint64_t report_bytes = 4 << 20;  // Each thread reports after this many more bytes.
    Statistics* statistics = nullptr;
    // Tickers that get the bytes read and written.
    uint32_t read_ticker = kNoTicker;
    uint32_t write_ticker = kNoTicker;
    // If set, the pool's own threads do all the work, with this priority.
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
