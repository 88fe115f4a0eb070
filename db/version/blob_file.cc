// SPDX-License-Identifier: Apache-2.0
#include "db/version/blob_file.h"

#include "db/blob/blob_file_reader.h"
#include "db/version/obsolete_file_queue.h"

namespace varve {

BlobFile::~BlobFile() {
  const std::unique_ptr<BlobFileReader> reader(reader_.load(std::memory_order_acquire));
  // To close a file takes too long under the DB mutex.
  if (reader != nullptr && ObsoleteFileQueue::LeaveOpen::InForce()) {
    file_->opened_ahead = reader->TakeFile();
  }
}

const BlobFileReader* BlobFile::Publish(std::unique_ptr<BlobFileReader> reader) const {
  BlobFileReader* known = nullptr;
  if (reader_.compare_exchange_strong(known, reader.get(), std::memory_order_acq_rel)) {
    return reader.release();
  }
  return known;
}

}  // namespace varve
