// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the bytes of a log sequentially in chunks of whole blocks.

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

// Thread safety: none. Pointers into a chunk are valid until Next.
class LogChunks {
 public:
  // Reads the file from its beginning.
  explicit LogChunks(std::unique_ptr<SequentialFileReader> file);
  ~LogChunks();

  // Moves to the next chunk. Returns false at the end of the file, and after a read error, which
  // *status is set to; otherwise leaves *status. After false there are no more chunks.
  bool Next(Status* status);

  // Returns the current chunk, which consists of whole blocks except for the file's last. Empty
  // before the first Next.
  Slice chunk() const { return Slice(chunk_, size_); }
  // True if the file ends with this chunk.
  bool is_last() const { return last_; }

  // Positions of the reader in the chunk and in the file.
  size_t pos() const { return pos_; }
  uint64_t offset() const { return start_ + pos_; }
  // Returns the next byte to be read.
  const char* here() const { return chunk_ + pos_; }
  size_t left() const { return size_ - pos_; }                      // Bytes left in the chunk.
  size_t room() const { return kBlockBytes - pos_ % kBlockBytes; }  // Bytes left in the block.
  // Moves within the chunk.
  void Skip(size_t bytes) {
    VARVE_ASSERT(bytes <= left());
    pos_ += bytes;
  }

 private:
  const std::unique_ptr<SequentialFileReader> file_;
  const std::unique_ptr<char[]> buffer_;
  // The chunk: its first byte, its offset in the file, its size, and the reader's position in it.
  const char* chunk_ = nullptr;
  uint64_t start_ = 0;
  size_t size_ = 0;
  size_t pos_ = 0;
  bool last_ = false;
};

}  // namespace varve::wal
