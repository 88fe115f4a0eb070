// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the contents of one file in memory: the bytes as written, and the information which of them
// would survive a crash.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The effect of a crash on bytes written since the last sync.
enum class UnsyncedBytes {
  kLost,
  kPrefix,   // appended bytes survive up to some length
  kChaotic,  // each page independently: new, old, zero, or torn at sectors
  kKept,
};

// The contents of one file, with what a crash would leave of them. Thread-safe.
//
// The durable contents are stored as the durable size and the old contents of those durable pages
// that were written or truncated since the sync. So a sync costs nothing per byte.
class MemFile {
 public:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kSector = 512;

  // `mtime` here and below is the time of modification, in seconds since 1970.
  explicit MemFile(uint64_t mtime) : mtime_(mtime) {}
  // Creates a file with all of `contents` durable.
  MemFile(std::string contents, uint64_t mtime);

  // Copies up to n bytes at `offset` to scratch; returns the number of bytes copied.
  size_t Read(uint64_t offset, size_t n, char* scratch) const;
  // Writes at `offset`, filling a gap with zeros.
  void Write(uint64_t offset, const Slice& data, uint64_t mtime);
  void Truncate(uint64_t size, uint64_t mtime);
  void Sync();

  // Maps [offset, offset + bytes), whole pages, which become part of the file. Returns memory that
  // lives until Unmap; bytes stored there count as written.
  char* Map(uint64_t offset, size_t bytes, uint64_t mtime);
  void Unmap(const char* base);

  // Repairs the file in the child right after a fork(); the child has one thread. A file that
  // another thread was using is empty there.
  void MendInChild() VARVE_NO_THREAD_SAFETY_ANALYSIS;

  uint64_t size() const;
  uint64_t mtime() const;

  // Returns the contents after a crash, which depend only on the state, `unsynced` and `seed`.
  std::string AfterCrash(UnsyncedBytes unsynced, uint64_t seed) const;

 private:
  struct Piece {
    uint64_t offset = 0;
    size_t bytes = 0;
    std::unique_ptr<char[]> memory;
  };

  // Copies what was stored into mapped pieces to the contents.
  void TakeStored() const VARVE_REQUIRES(mutex_);
  // Saves the durable contents of every page that overlaps [begin, end).
  void SaveDurable(uint64_t begin, uint64_t end) const VARVE_REQUIRES(mutex_);
  // Returns the contents of the last Sync.
  std::string DurableContents() const VARVE_REQUIRES(mutex_);

  mutable Mutex mutex_{lock_ranks::kMemFile};
  // Mutable, because readers first copy what was stored.
  mutable std::string data_ VARVE_GUARDED_BY(mutex_);
  std::vector<Piece> pieces_ VARVE_GUARDED_BY(mutex_);
  uint64_t durable_size_ VARVE_GUARDED_BY(mutex_) = 0;
  // By page number; limited to the durable size.
  mutable std::map<uint64_t, std::string> saved_pages_ VARVE_GUARDED_BY(mutex_);
  uint64_t mtime_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
