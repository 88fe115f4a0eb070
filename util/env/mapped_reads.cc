// SPDX-License-Identifier: Apache-2.0
#include "util/env/mapped_reads.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "util/env/guarded_copy.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/vfs.h>
#include <x86intrin.h>
#endif

namespace varve {

namespace {

// Sums of the whole process, since addresses and mappings are its limits and not a database's.
// Relaxed: nothing is published by them.
std::atomic<uint64_t> mapped_bytes{0};
std::atomic<uint64_t> mappings{0};

#if defined(__linux__) && defined(__x86_64__)
uint64_t Cycles() {
  return __rdtsc();
}

// True if the file system is one of ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs (by Linux's
// numbers). Network and FUSE file systems are missing on purpose, as their mappings may show other
// bytes than pread does.
bool MapsWell(int fd) {
  constexpr std::array<uint32_t, 6> kLocal = {0xef53,     0x58465342, 0x9123683e,
                                              0xf2f52010, 0x01021994, 0x794c7630};
  struct statfs fs = {};
  return ::fstatfs(fd, &fs) == 0 &&
         std::ranges::find(kLocal, static_cast<uint32_t>(fs.f_type)) != kLocal.end();
}
#else
uint64_t Cycles() {
  return 0;
}
bool MapsWell(int /*fd*/) {
  return false;
}
#endif

// More than a copy from memory takes, with a few faults that need no transfer: about 15 us.
constexpr uint64_t kWaitCycles = 40000;

// Returns true if this thread has met a major page fault, one that waits for a device, since the
// last call by this thread. A copy may also be slow because the thread lost its processor, or
// because the host of a virtual machine had to find memory.
bool HasWaitedForDevice() {
#if defined(__linux__)
  [[gnu::tls_model("initial-exec")]] static constinit thread_local uint32_t known = 0;
  struct rusage usage = {};
  if (::getrusage(RUSAGE_THREAD, &usage) != 0) return true;
  const auto now = static_cast<uint32_t>(usage.ru_majflt);
  return std::exchange(known, now) != now;
#else
  return true;
#endif
}

// True if the process runs under a limit on its addresses, which mappings would use up.
bool AddressSpaceIsLimited() {
  struct rlimit limit = {};
  return ::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

// Counts a mapping. Returns false if there are too many: the caller must give it back then, too. It
// counts before it asks, so that threads which map at once cannot all slip below the limit.
bool Reserve(size_t bytes) {
  const uint64_t total = mapped_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const uint64_t count = mappings.fetch_add(1, std::memory_order_relaxed) + 1;
  return total <= MappedReads::kTotalMost && count <= MappedReads::kMappingsMost;
}

// Uncounts a mapping, whether or not it came about.
void GiveBack(size_t bytes) {
  mapped_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  mappings.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

MappedReads::~MappedReads() {
  char* const base = base_.load(std::memory_order_acquire);
  if (base == nullptr) return;
  const size_t size = size_.load(std::memory_order_relaxed);
  (void)::munmap(base, size);
  GiveBack(size);
}

const char* MappedReads::Map() {
  struct stat st = {};
  if (!MapsWell(fd_) || AddressSpaceIsLimited() || ::fstat(fd_, &st) != 0 || st.st_size <= 0) {
    return nullptr;
  }
  const auto size = static_cast<size_t>(st.st_size);
  // The first thread sets the size, so that all map as much.
  size_t agreed = 0;
  if (size_.compare_exchange_strong(agreed, size, std::memory_order_relaxed)) agreed = size;
  if (!Reserve(agreed)) {
    GiveBack(agreed);
    return nullptr;
  }
  // MAP_SHARED shows what other writers of the file store, as pread would.
  void* const memory = ::mmap(nullptr, agreed, PROT_READ, MAP_SHARED, fd_, 0);
  char* other = nullptr;
  if (memory != MAP_FAILED) {
    // A fault reads the page that it is about, and no others.
    (void)::madvise(memory, agreed, MADV_RANDOM);
    auto* const base = static_cast<char*>(memory);
    // Another thread was faster: its mapping is used, and this one goes.
    if (base_.compare_exchange_strong(other, base, std::memory_order_acq_rel)) return base;
    (void)::munmap(memory, agreed);
  }
  GiveBack(agreed);
  return other;
}

// Doubling and halving make the share of copies follow the share of pages in memory: a file that is
// mostly on the device is read with pread nearly always, with one slow copy in up to 8192 reads as
// a probe.
void MappedReads::Learn(uint64_t cycles) {
  const uint32_t pause = pause_after_wait_.load(std::memory_order_relaxed);
  if (cycles > kWaitCycles && HasWaitedForDevice()) [[unlikely]] {
    pause_after_wait_.store(std::min(pause * 2, kPauseMost), std::memory_order_relaxed);
    pause_.store(pause, std::memory_order_relaxed);
  } else if (pause > kPauseLeast) {
    pause_after_wait_.store(std::max(pause / 2, kPauseLeast), std::memory_order_relaxed);
  }
}

bool MappedReads::Read(uint64_t offset, size_t n, char* scratch) {
  if (n > kBytesMost) return false;
  // Not an atomic decrement: a lost one only makes the pause longer. While there is no pause
  // nothing is stored, so the cache line stays shared among the readers.
  if (const uint32_t pause = pause_.load(std::memory_order_relaxed); pause != 0) [[unlikely]] {
    if (pause != kNever) pause_.store(pause - 1, std::memory_order_relaxed);
    return false;
  }
  if (!GuardedCopy::Ready()) return false;
  const char* base = base_.load(std::memory_order_acquire);
  if (base == nullptr) [[unlikely]] {
    base = Map();
    if (base == nullptr) {
      pause_.store(kNever, std::memory_order_relaxed);
      return false;
    }
  }
  const size_t size = size_.load(std::memory_order_relaxed);
  // The sum offset + n could overflow, so the comparison is written as a difference.
  if (n > size || offset > size - n) return false;
  const uint64_t start = Cycles();
  if (GuardedCopy::Copy(scratch, base + offset, n) != 0) [[unlikely]] {
    pause_.store(kNever, std::memory_order_relaxed);
    return false;
  }
  Learn(Cycles() - start);
  return true;
}

void MappedReads::Forget() {
  char* const base = base_.load(std::memory_order_acquire);
  if (base != nullptr) {
    (void)::madvise(base, size_.load(std::memory_order_relaxed), MADV_DONTNEED);
  }
}

uint64_t MappedReads::MappedBytes() {
  return mapped_bytes.load(std::memory_order_relaxed);
}

}  // namespace varve
