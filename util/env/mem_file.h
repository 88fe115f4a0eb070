// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the contents of one file in memory: the bytes as written, and what is needed to tell which
// of them would survive a crash.

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

// What becomes of bytes written since the last sync.
enum class UnsyncedBytes {
  kLost,
  kPrefix,   // what was appended survives up to some length
  kChaotic,  // each page for itself: new, old, zero, or torn at sectors
  kKept,
};

// Thread-safe.
//
// The durable contents are not kept as a copy: the durable size is, and the old contents of those
// durable pages that were written or cut off since. So a sync costs nothing per byte.
class MemFile {
 public:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kSector = 512;

  explicit MemFile(uint64_t mtime) : mtime_(mtime) {}
  // All of `contents` durable.
  MemFile(std::string contents, uint64_t mtime);

  // Copies up to n bytes at `offset` to scratch; returns how many there were.
  size_t Read(uint64_t offset, size_t n, char* scratch) const;
  // Writes at `offset`, filling a gap with zeros.
  void Write(uint64_t offset, const Slice& data, uint64_t mtime);
  void Truncate(uint64_t size, uint64_t mtime);
  void Sync();

  // Maps [offset, offset + bytes), which becomes part of the file; whole pages. What is stored
  // there counts as written.
  char* Map(uint64_t offset, size_t bytes, uint64_t mtime);
  void Unmap(const char* base);

  // Right after a fork(), in the child, which has one thread: a file that another thread was at
  // work on is empty there.
  void MendInChild() VARVE_NO_THREAD_SAFETY_ANALYSIS;

  uint64_t size() const;
  uint64_t mtime() const;

  // The contents after a crash; a function of the state, `unsynced` and `seed`.
  std::string AfterCrash(UnsyncedBytes unsynced, uint64_t seed) const;

 private:
  struct Piece {
    uint64_t offset = 0;
    size_t bytes = 0;
    std::unique_ptr<char[]> memory;
  };

  // Brings the contents up to date with what was stored into the pieces that are mapped.
  void TakeStored() const VARVE_REQUIRES(mutex_);
  // Keeps the durable contents of every page that overlaps [begin, end).
  void SaveDurable(uint64_t begin, uint64_t end) const VARVE_REQUIRES(mutex_);
  std::string DurableContents() const VARVE_REQUIRES(mutex_);

  mutable Mutex mutex_{lock_ranks::kMemFile};
  // Mutable, as readers first take over what was stored.
  mutable std::string data_ VARVE_GUARDED_BY(mutex_);
  std::vector<Piece> pieces_ VARVE_GUARDED_BY(mutex_);
  uint64_t durable_size_ VARVE_GUARDED_BY(mutex_) = 0;
  // By page number; clipped to the durable size.
  mutable std::map<uint64_t, std::string> saved_pages_ VARVE_GUARDED_BY(mutex_);
  uint64_t mtime_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
