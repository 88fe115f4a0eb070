// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a log as its reader takes them: in chunks of whole blocks, front to back.

#include <cstdint>
#include <memory>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/log_format.h"
#include "util/base/assert.h"

namespace varve {
class SequentialFileReader;
}

namespace varve::wal {

// Thread safety: none. Pointers into a chunk are good until Next.
class LogChunks {
 public:
  explicit LogChunks(std::unique_ptr<SequentialFileReader> file);
  ~LogChunks();

  // To the next chunk. False where there is none, or *status says why it cannot be read: then this
  // was the last.
  bool Next(Status* status);

  // All of the chunk at hand: whole blocks but for the file's last. Empty before the first.
  Slice chunk() const { return Slice(chunk_, size_); }
  // Whether the file ends with it.
  bool is_last() const { return last_; }

  // Where the reader stands: in the chunk, and in the file.
  size_t pos() const { return pos_; }
  uint64_t offset() const { return start_ + pos_; }
  const char* here() const { return chunk_ + pos_; }
  size_t left() const { return size_ - pos_; }                      // in the chunk
  size_t room() const { return kBlockBytes - pos_ % kBlockBytes; }  // in the block
  void Skip(size_t bytes) {
    VARVE_ASSERT(bytes <= left());
    pos_ += bytes;
  }

 private:
  const std::unique_ptr<SequentialFileReader> file_;
  const std::unique_ptr<char[]> buffer_;
  const char* chunk_ = nullptr;
  uint64_t start_ = 0;
  size_t size_ = 0;
  size_t pos_ = 0;
  bool last_ = false;
};

}  // namespace varve::wal
