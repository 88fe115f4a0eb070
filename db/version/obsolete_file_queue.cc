// SPDX-License-Identifier: Apache-2.0
#include "db/version/obsolete_file_queue.h"

#include <utility>

namespace varve {

FileRef ObsoleteFileQueue::Track(std::shared_ptr<ObsoleteFileQueue> queue,
                                 std::unique_ptr<FileMetaData> file) {
  return FileRef(file.release(), [queue = std::move(queue)](FileMetaData* last) {
    std::unique_ptr<FileMetaData> owned(last);
    // Acquire: pairs with the version set's release, so that whoever lets go last sees the mark.
    const bool obsolete = owned->obsolete.load(std::memory_order_acquire);
    const uint64_t number = owned->number;
    owned.reset();  // closes the table before its name may be deleted
    if (obsolete) queue->Push(number);
  });
}

void ObsoleteFileQueue::Push(uint64_t number) {
  MutexLock lock(&mu_);
  numbers_.push_back(number);
}

std::vector<uint64_t> ObsoleteFileQueue::TakeAll() {
  MutexLock lock(&mu_);
  return std::exchange(numbers_, {});
}

bool ObsoleteFileQueue::Empty() const {
  MutexLock lock(&mu_);
  return numbers_.empty();
}

}  // namespace varve
