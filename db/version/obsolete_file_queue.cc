// SPDX-License-Identifier: Apache-2.0
#include "db/version/obsolete_file_queue.h"

#include <memory>
#include <utility>

#include "util/base/assert.h"

namespace varve {

thread_local int ObsoleteFileQueue::LeaveOpen::alive_ = 0;

ObsoleteFileQueue::~ObsoleteFileQueue() {
  Forget();
  while (newest_ != nullptr) {
    const std::unique_ptr<FileMetaData> file(newest_);
    newest_ = file->next_obsolete;
  }
}

// The mutex may have been locked by a thread that the child does not have, so it is made anew.
void ObsoleteFileQueue::InChild() {
  std::construct_at(&mu_, lock_ranks::kObsoleteFiles);
  newest_ = nullptr;
  size_ = 0;
  std::construct_at(&waker_);
}

FileRef ObsoleteFileQueue::Track(std::shared_ptr<ObsoleteFileQueue> queue,
                                 std::unique_ptr<FileMetaData> file) {
  VARVE_ASSERT(queue != nullptr && file != nullptr);
  return FileRef(file.release(), [queue = std::move(queue)](FileMetaData* last) {
    std::unique_ptr<FileMetaData> owned(last);
    // Acquire pairs with the version set's release, so that the thread that releases the last
    // reference sees the flag.
    if (!owned->obsolete.load(std::memory_order_acquire)) return;
    // Threads that use LeaveOpen check the queue afterwards. No other thread may do so for long
    // after this one, so it closes the table itself and calls the waker.
    const bool left_open = LeaveOpen::InForce();
    if (!left_open) owned->CloseTable();
    const MutexLock lock(&queue->mu_);
    queue->Link(std::move(owned));
    if (!left_open && queue->waker_) queue->waker_();
  });
}

void ObsoleteFileQueue::SetWaker(std::function<void()> waker) {
  const MutexLock lock(&mu_);
  waker_ = std::move(waker);
}

void ObsoleteFileQueue::Requeue(std::unique_ptr<FileMetaData> file) noexcept {
  const MutexLock lock(&mu_);
  Link(std::move(file));
}

void ObsoleteFileQueue::Link(std::unique_ptr<FileMetaData> file) noexcept {
  VARVE_ASSERT(file->obsolete.load(std::memory_order_relaxed) && file->next_obsolete == nullptr);
  file->next_obsolete = newest_;
  newest_ = file.release();
  size_++;
}

std::vector<std::unique_ptr<FileMetaData>> ObsoleteFileQueue::TakeAll() {
  const MutexLock lock(&mu_);
  std::vector<std::unique_ptr<FileMetaData>> taken;
  taken.reserve(size_);
  while (newest_ != nullptr) {
    taken.emplace_back(newest_);
    newest_ = std::exchange(taken.back()->next_obsolete, nullptr);
  }
  VARVE_ASSERT(taken.size() == size_);
  size_ = 0;
  return taken;
}

uint64_t ObsoleteFileQueue::Bytes() const {
  const MutexLock lock(&mu_);
  uint64_t bytes = 0;
  for (const FileMetaData* file = newest_; file != nullptr; file = file->next_obsolete) {
    bytes += file->size;
  }
  return bytes;
}

bool ObsoleteFileQueue::Empty() const {
  const MutexLock lock(&mu_);
  return newest_ == nullptr;
}

}  // namespace varve
