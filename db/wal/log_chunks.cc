// SPDX-License-Identifier: Apache-2.0
#include "db/wal/log_chunks.h"

#include <utility>

#include "util/env/sequential_file_reader.h"

namespace varve::wal {

namespace {

constexpr size_t kChunkBytes = size_t{8} * kBlockBytes;

}  // namespace

LogChunks::LogChunks(std::unique_ptr<SequentialFileReader> file)
    : file_(std::move(file)), buffer_(std::make_unique<char[]>(kChunkBytes)) {}

LogChunks::~LogChunks() = default;

// SequentialFileReader::Read returns less than was asked for only at the end of the file. After an
// error there is no next chunk either.
bool LogChunks::Next(Status* status) {
  if (last_) return false;
  Slice read;
  IOStatus s = file_->Read(kChunkBytes, &read, buffer_.get());
  start_ += size_;
  chunk_ = read.data();
  size_ = s.ok() ? read.size() : 0;
  pos_ = 0;
  last_ = !s.ok() || size_ < kChunkBytes;
  if (!s.ok()) *status = std::move(s);
  return size_ > 0;
}

}  // namespace varve::wal
