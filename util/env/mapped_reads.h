// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads small pieces of a file out of a mapping, which saves the system call where the operating
// system has the file's pages in memory.
//
// What is read is copied, and so stays what it is however the file changes: its reader checks and
// uses one and the same bytes, as after pread. A mapping is only an attempt. The caller reads with
// pread, which says what is wrong, whenever an attempt fails or is not worth while:
// 1. The file is mapped at its kReadsBefore-th small read, so what is opened and hardly read is
// not.
// 2. Only files on local file systems whose mappings agree with pread are mapped, in total at most
//    kTotalMost bytes and kMappingsMost files, and none if the program's address space is limited.
// 3. A copy that takes longer than memory does has waited for the device, page by page where pread
//    would have waited once. The next reads use pread, the more of them the more copies have
//    waited.
// 4. After a copy that met a page which the file does not have, the file is not copied from any
// more.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace varve {

// Thread safety: Read and Forget may be called from any thread.
class MappedReads {
 public:
  static constexpr uint32_t kReadsBefore = 64;
  static constexpr size_t kBytesMost = size_t{32} << 10;  // of one read
  static constexpr uint64_t kTotalMost = uint64_t{1} << 40;
  static constexpr uint64_t kMappingsMost = 16384;

  // `fd` is open for buffered reads and outlives this.
  explicit MappedReads(int fd) : fd_(fd) {}
  MappedReads(const MappedReads&) = delete;
  MappedReads& operator=(const MappedReads&) = delete;
  ~MappedReads();

  // Reads [offset, offset + n) to `scratch`. Returns false if the caller must read it, and then
  // scratch has no meaning.
  bool Read(uint64_t offset, size_t n, char* scratch);
  // Lets go of the pages, so that the operating system can drop them.
  void Forget();

  // Returns the number of bytes that are mapped in the whole process.
  static uint64_t MappedBytes();

 private:
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
