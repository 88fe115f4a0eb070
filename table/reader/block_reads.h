// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads several blocks of one file at once, with as few requests as their places allow.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "varve/file_system.h"
#include "varve/slice.h"

#include "table/block/block_contents.h"
#include "table/format/block_handle.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

// Blocks that lie close together are one request, together with what is between them. What could
// not be read is just not found: who wants such a block reads it alone, and sees why.
//
// Thread safety: none.
class BlockReads {
 public:
  // Reading so much in vain costs less than another request.
  static constexpr uint64_t kGapBytesMax = 16 << 10;
  // Longer requests are not made of several blocks.
  static constexpr uint64_t kRequestBytesMax = 1 << 20;

  // `handle` lies in the file, and after all that were added before.
  void Add(const BlockHandle& handle);
  // Asks the operating system to have all that was added ready, and does not wait for it.
  void ReadAhead(const RandomAccessFileReader& file, const IOOptions& options) const;
  // Returns how many requests were made. Those for one block are read to such a room.
  size_t Run(const RandomAccessFileReader& file, const IOOptions& options, const BlockRoom& room);
  // What was read around the block with its trailer; false if that was not read whole. If it is
  // nothing else, *buffer takes it over, and it is not found again.
  bool Find(const BlockHandle& handle, Slice* bytes, uint64_t* offset, BlockBuffer* buffer);

 private:
  struct Request {
    uint64_t offset;
    uint64_t end;
    size_t blocks;
    BlockBuffer buffer;
    Slice result;
  };
  std::vector<Request> requests_;  // by offset
};

}  // namespace varve
