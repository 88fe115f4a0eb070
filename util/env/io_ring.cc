// SPDX-License-Identifier: Apache-2.0

// The kernel and this side share three mappings: the submission queue, the completion queue, and
// the entries of the former. Each queue has two ends, of which either side moves one; a release
// store of its own end hands over what lies before it, an acquire load of the other's takes it.
//
//     Push           fills an entry, moves the tail of submissions
//     Enter          one system call: submits, and sleeps until as many results are there
//     TakeResults    reads completions up to their tail, moves their head
//
// Invariants
// 1. ReadSome does not return before everything submitted is over, because the kernel writes into
//    the caller's buffers until then, also after an error.
// 2. Every read has a name of its own. A result with another name belongs to a process that shares
//    the queues (a child of fork()): the ring is then given up, and the reads are made again
//    without it.
// 3. A ring serves one call at a time; the pool has as many as there are calls at once.

#include "util/env/io_ring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <utility>

#if defined(__linux__) && defined(__NR_io_uring_setup) && __has_include(<linux/io_uring.h>)
#define VARVE_IO_RING 1
#include <linux/io_uring.h>
#endif

namespace varve {

namespace {

// True if the error is permanent. Any other depends on the current use of resources.
bool IsForGood(int error) {
  return error == ENOSYS || error == EPERM || error == EACCES || error == EINVAL ||
         error == EOPNOTSUPP;
}

}  // namespace

bool IoRingPool::ReadAll(std::span<RingRead> reads) {
  for (RingRead& read : reads) read.result = -EAGAIN;
  IoRing* const ring = Take();
  if (ring == nullptr) return false;
  if (!ring->ReadAll(reads)) {
    Drop(ring);
    return false;
  }
  MutexLock lock(&mu_);
  idle_.push_back(ring);
  return true;
}

IoRing* IoRingPool::Take() {
  {
    MutexLock lock(&mu_);
    if (!idle_.empty()) {
      IoRing* const ring = idle_.back();
      idle_.pop_back();
      return ring;
    }
    if (unavailable_) return nullptr;
    if (calls_to_skip_ > 0) {
      calls_to_skip_--;
      return nullptr;
    }
  }
  return Make();
}

IoRing* IoRingPool::Make() {
  int error = 0;
  std::unique_ptr<IoRing> ring = IoRing::Create(&error);
  MutexLock lock(&mu_);
  if (ring == nullptr) {
    unavailable_ = IsForGood(error);
    calls_to_skip_ = kCallsBetweenAttempts;
    return nullptr;
  }
  // Room for all rings, so that ReadAll, which puts its ring back into idle_, needs no memory.
  idle_.reserve(all_.size() + 1);
  all_.push_back(std::move(ring));
  return all_.back().get();
}

void IoRingPool::Drop(const IoRing* ring) {
  MutexLock lock(&mu_);
  std::erase_if(all_, [ring](const std::unique_ptr<IoRing>& each) { return each.get() == ring; });
  calls_to_skip_ = kCallsBetweenAttempts;
}

// Also drops the rings that the parent's other threads were using. This closes only the child's own
// descriptors and mappings; the parent's rings are not affected.
void IoRingPool::InChild() {
  idle_.clear();
  all_.clear();
  unavailable_ = false;
  calls_to_skip_ = 0;
}

// Heads and tails are free-running numbers; the masks make places of them. The submissions' head is
// never read, because at most kEntries reads are pushed before all of them are over.
#ifdef VARVE_IO_RING

namespace {

int Setup(unsigned entries, io_uring_params* params) {
  return static_cast<int>(::syscall(__NR_io_uring_setup, entries, params));
}

// Submits `submit` entries. If the kernel accepts all, waits until `results` results are there.
int Enter(int fd, unsigned submit, unsigned results) {
  return static_cast<int>(::syscall(__NR_io_uring_enter, fd, submit, results,
                                    IORING_ENTER_GETEVENTS, nullptr, size_t{0}));
}

void* MapQueue(int fd, size_t bytes, uint64_t what) {
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                            static_cast<off_t>(what));
  return base == MAP_FAILED ? nullptr : base;
}

template <typename T>
T* At(void* base, uint32_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(base) + offset);
}

}  // namespace

std::unique_ptr<IoRing> IoRing::Create(int* error) {
  io_uring_params params = {};
  std::unique_ptr<IoRing> ring(new IoRing);
  ring->fd_ = PosixFd(Setup(kEntries, &params));
  if (ring->fd_.valid() && ring->Map(&params)) return ring;
  *error = errno;
  return nullptr;
}

bool IoRing::Map(const void* setup) {
  const auto& params = *static_cast<const io_uring_params*>(setup);
  const auto map = [this](Mapping* mapping, size_t bytes, uint64_t what) {
    mapping->bytes = bytes;
    mapping->base = MapQueue(fd_.get(), bytes, what);
    return mapping->base != nullptr;
  };
  if (!map(&submissions_, params.sq_off.array + params.sq_entries * sizeof(uint32_t),
           IORING_OFF_SQ_RING) ||
      !map(&completions_, params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe),
           IORING_OFF_CQ_RING) ||
      !map(&entries_, params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES)) {
    return false;
  }
  submit_tail_ = At<uint32_t>(submissions_.base, params.sq_off.tail);
  submit_mask_ = *At<uint32_t>(submissions_.base, params.sq_off.ring_mask);
  submit_array_ = At<uint32_t>(submissions_.base, params.sq_off.array);
  complete_head_ = At<uint32_t>(completions_.base, params.cq_off.head);
  complete_tail_ = At<uint32_t>(completions_.base, params.cq_off.tail);
  complete_mask_ = *At<uint32_t>(completions_.base, params.cq_off.ring_mask);
  complete_entries_ = At<void>(completions_.base, params.cq_off.cqes);
  return true;
}

IoRing::~IoRing() {
  for (const Mapping& mapping : {submissions_, completions_, entries_}) {
    if (mapping.base != nullptr) (void)::munmap(mapping.base, mapping.bytes);
  }
}

void IoRing::Push(const RingRead& read, uint64_t name) {
  const uint32_t tail = *submit_tail_;  // Only this side moves it.
  const uint32_t slot = tail & submit_mask_;
  auto* const entry = static_cast<io_uring_sqe*>(entries_.base) + slot;
  *entry = {};
  entry->opcode = IORING_OP_READ;
  entry->fd = read.fd;
  entry->off = read.offset;
  entry->addr = reinterpret_cast<uintptr_t>(read.buffer);
  entry->len = static_cast<uint32_t>(std::min<size_t>(read.bytes, size_t{1} << 30));
  entry->user_data = name;
  // The indirection of the submission ring is not needed: entry i is always at place i.
  submit_array_[slot] = slot;
  // Release: the kernel sees the entry before the tail that includes it.
  std::atomic_ref<uint32_t>(*submit_tail_).store(tail + 1, std::memory_order_release);
}

void IoRing::TakeResults(std::span<RingRead> reads) {
  const auto* const results = static_cast<const io_uring_cqe*>(complete_entries_);
  uint32_t head = *complete_head_;  // Only this side moves it.
  // Acquire: makes the results before this tail visible, and the bytes read.
  const uint32_t tail = std::atomic_ref<uint32_t>(*complete_tail_).load(std::memory_order_acquire);
  for (; head != tail; head++) {
    const io_uring_cqe& result = results[head & complete_mask_];
    // A process that shares these queues with another one gets that one's results.
    const uint64_t i = result.user_data - first_name_;
    if (i >= reads.size() || (pending_ >> i & 1) == 0) {
      sound_ = false;
      continue;
    }
    reads[i].result = result.res;
    pending_ &= ~(uint64_t{1} << i);
  }
  // Release: the kernel may reuse these places.
  std::atomic_ref<uint32_t>(*complete_head_).store(head, std::memory_order_release);
}

// Pushes all reads, then enters the kernel until every accepted one has a result. It never returns
// while the kernel may still write into a caller's buffer, whatever fails:
//
//   pushed --Enter--> accepted (submitted) --result--> done
//      '--refused, with nothing pending--> left as it was, and the ring is dropped
//
// An interrupted or failed call while reads are pending is repeated, since their results will come.
bool IoRing::ReadSome(std::span<RingRead> reads) {
  static_assert(kEntries <= 64, "a bit in pending_ for each");
  for (size_t i = 0; i < reads.size(); i++) {
    Push(reads[i], first_name_ + i);
    pending_ |= uint64_t{1} << i;
  }
  size_t submitted = 0;
  bool refused = false;
  for (;;) {
    const size_t done = reads.size() - static_cast<size_t>(std::popcount(pending_));
    // Everything submitted must be waited for in any case: the kernel writes into its buffers.
    const size_t wanted = refused ? submitted : reads.size();
    if (done >= wanted) break;
    const auto left = static_cast<unsigned>(wanted - submitted);
    // The kernel wakes this thread once, when all of the missing results are there.
    const auto missing = static_cast<unsigned>(wanted - done);
    const int n = Enter(fd_.get(), left, missing);
    if (n >= 0) {
      submitted += static_cast<size_t>(n);
    } else if (errno != EINTR && submitted == done) {
      // Nothing is pending, and nothing was accepted.
      refused = true;
    }
    TakeResults(reads);
  }
  // Names are never used again, so a late result of another process cannot be taken for one of
  // ours.
  first_name_ += reads.size();
  return !refused && sound_;
}

bool IoRing::ReadAll(std::span<RingRead> reads) {
  while (!reads.empty()) {
    const size_t n = std::min<size_t>(reads.size(), kEntries);
    if (!ReadSome(reads.first(n))) return false;
    reads = reads.subspan(n);
  }
  return true;
}

#else

std::unique_ptr<IoRing> IoRing::Create(int* error) {
  *error = ENOSYS;
  return nullptr;
}
IoRing::~IoRing() = default;
bool IoRing::ReadAll(std::span<RingRead>) {
  return false;
}

#endif

}  // namespace varve
