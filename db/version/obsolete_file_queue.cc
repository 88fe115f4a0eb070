// SPDX-License-Identifier: Apache-2.0
#include "db/version/obsolete_file_queue.h"

#include <algorithm>
#include <utility>

namespace varve {

FileRef ObsoleteFileQueue::Track(std::shared_ptr<ObsoleteFileQueue> queue,
                                 std::unique_ptr<FileMetaData> file) {
  queue->MakeRoom();
  return FileRef(file.release(), [queue = std::move(queue)](FileMetaData* last) {
    std::unique_ptr<FileMetaData> owned(last);
    // Acquire: pairs with the version set's release, so that whoever lets go last sees the mark.
    const bool obsolete = owned->obsolete.load(std::memory_order_acquire);
    const uint64_t number = owned->number;
    owned.reset();  // closes the table before its name may be deleted
    queue->Release(number, obsolete);
  });
}

// Whoever lets go of a file last cannot fail: each file tracked has a place from the beginning.
void ObsoleteFileQueue::MakeRoom() {
  MutexLock lock(&mu_);
  const size_t wanted = numbers_.size() + tracked_ + 1;
  if (numbers_.capacity() < wanted) numbers_.reserve(std::max(wanted, 2 * numbers_.capacity()));
  tracked_++;
}

void ObsoleteFileQueue::Release(uint64_t number, bool obsolete) {
  MutexLock lock(&mu_);
  tracked_--;
  if (obsolete) numbers_.push_back(number);
}

void ObsoleteFileQueue::GiveBack(const std::vector<uint64_t>& numbers) {
  MutexLock lock(&mu_);
  numbers_.reserve(numbers_.size() + numbers.size() + tracked_);
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
}

std::vector<uint64_t> ObsoleteFileQueue::TakeAll() {
  MutexLock lock(&mu_);
  std::vector<uint64_t> taken = numbers_;
  numbers_.clear();
  return taken;
}

bool ObsoleteFileQueue::Empty() const {
  MutexLock lock(&mu_);
  return numbers_.empty();
}

}  // namespace varve
