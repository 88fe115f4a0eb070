// SPDX-License-Identifier: Apache-2.0
#include "db/version/blob_file.h"

#include "db/blob/blob_file_reader.h"
#include "db/version/obsolete_file_queue.h"

namespace varve {

BlobFile::~BlobFile() {
  const std::unique_ptr<BlobFileReader> reader(reader_.load(std::memory_order_acquire));
  // Where LeaveOpen is in force the DB mutex may be held, under which closing a file takes too
  // long. The metadata keeps the file open, and whoever takes that from the queue closes it.
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
