// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads small pieces of a file out of a mapping, which saves the system call where the operating
// system has the file's pages in memory.
//
// What is read is copied, and so stays what it is however the file changes: its reader checks and
// uses one and the same bytes, as after pread. Files are mapped on Linux on x86-64 only; elsewhere
// Read always returns false. A mapping is only an attempt. The caller reads with pread, which says
// what is wrong, whenever an attempt fails or is not worth while:
// 1. The file is mapped at its kReadsBefore-th small read, so what is opened and hardly read is
//    not.
// 2. Only files on local file systems whose mappings agree with pread are mapped, in total at most
//    kTotalMost bytes and kMappingsMost files, and none if the program's address space is limited.
// 3. A copy that takes more than about 15 us (kWaitCycles) has waited for the device if the thread
//    has met a major page fault since its last slow copy. It has waited page by page, where pread
//    would have waited once. The next reads use pread, the more of them the more copies have
//    waited.
// 4. After a copy that met a page which the file does not have (it was truncated; GuardedCopy
//    catches the SIGBUS), the file is not copied from any more.
//
// A file goes through these states, which pause_ encodes:
//
//      counting --64 small reads--> mapped --copy was slow--> resting --n preads--> mapped
//                                     |                       n = 64, doubled by each slow copy
//                                     |                           up to 8192, halved by fast ones
//                                     '--page missing, or the file cannot be mapped--> never
//
// Invariants
// 1. base_ changes once, from null to the mapping, and the mapping stays until the destructor. So a
//    thread that has loaded base_ may copy from it without a lock, as long as it may call Read at
//    all.
// 2. Threads that map at the same time map the same number of bytes (size_ is set once), and all
//    but one unmap again. Each mapping is counted before it is made and given back when it goes.
// 3. A read beyond the size at the time of mapping is the caller's. The file may have grown since.
// 4. Counts may be wrong by a few when threads race: they only decide how a read is made, and never
//    what it returns.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "util/env/guarded_copy.h"

namespace varve {

// Thread safety: Read and Forget may be called from any thread.
class MappedReads {
 public:
  // Reads of a file before it is mapped: most files are read a few times only.
  static constexpr uint32_t kReadsBefore = 64;
  // Bytes of the largest read that is tried.
  static constexpr size_t kBytesMost = size_t{32} << 10;
  // Limits of the process: 1 TiB of the 128 TiB of addresses that it has, and a quarter of the
  // 65,530 mappings that Linux allows it by default.
  static constexpr uint64_t kTotalMost = uint64_t{1} << 40;
  static constexpr uint64_t kMappingsMost = 16384;

  // `fd` is open for buffered reads and outlives this.
  explicit MappedReads(int fd) : fd_(fd) {}
  MappedReads(const MappedReads&) = delete;
  MappedReads& operator=(const MappedReads&) = delete;
  ~MappedReads();

  // Reads [offset, offset + n) to `scratch`. Returns false if the caller must read it, as always
  // for n > kBytesMost; then scratch has no meaning.
  bool Read(uint64_t offset, size_t n, char* scratch);
  // True if the next read is the caller's: no mapping yet, or copies have waited lately.
  [[nodiscard]] bool rests() const { return pause_.load(std::memory_order_relaxed) != 0; }
  // True if the file is mapped, and this thread's next read is likely to be copied out of the
  // mapping.
  [[nodiscard]] bool copies() const {
    return base_.load(std::memory_order_relaxed) != nullptr && !rests() && !GuardedCopy::Refused();
  }
  // True if copies have waited for the device lately, and more often than not.
  [[nodiscard]] bool waits() const {
    return pause_after_wait_.load(std::memory_order_relaxed) > kPauseLeast;
  }
  // Lets go of the pages, so that the operating system can drop them.
  void Forget();

  // Returns the number of bytes that are mapped in the whole process.
  static uint64_t MappedBytes();

 private:
  // Number of reads that the caller makes after a copy has waited for the device. It doubles with
  // each such copy and is halved by others, within these limits. kNever: the file cannot be
  // mapped.
  static constexpr uint32_t kNever = UINT32_MAX;
  static constexpr uint32_t kPauseLeast = 64;
  static constexpr uint32_t kPauseMost = 8192;

  // Returns null if the file cannot be mapped.
  const char* Map();
  // Learns from a copy that took `cycles`.
  void Learn(uint64_t cycles);

  const int fd_;
  // Number of reads before the next attempt. Relaxed, like pause_after_wait_: hints.
  std::atomic<uint32_t> pause_{kReadsBefore};
  std::atomic<uint32_t> pause_after_wait_{kPauseLeast};
  std::atomic<size_t> size_{0};  // published with base_
  std::atomic<char*> base_{nullptr};
};

}  // namespace varve
