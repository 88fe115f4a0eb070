// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads several blocks of one file at once, with as few requests as their places allow.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/file_system.h"
#include "varve/slice.h"

#include "table/format/block_handle.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

// Blocks that lie close together are one request, together with what is between them. What could
// not be read is just not found: whoever wants such a block reads it alone, and sees why.
//
// Thread safety: none.
class BlockReads {
 public:
  // Reading so much in vain costs less than another request.
  static constexpr uint64_t kGapBytesMax = 16 << 10;
  // Longer requests are not made of several blocks.
  static constexpr uint64_t kRequestBytesMax = 1 << 20;

  // `handle` lies in the file, and behind all that were added before.
  void Add(const BlockHandle& handle);
  // Asks the operating system to have all that was added ready, and does not wait for it.
  void ReadAhead(const RandomAccessFileReader& file, const IOOptions& options) const;
  // Returns how many requests were made.
  size_t Run(const RandomAccessFileReader& file, const IOOptions& options);
  // What was read around the block with its trailer; false if that was not read whole.
  bool Find(const BlockHandle& handle, Slice* bytes, uint64_t* offset) const;

 private:
  struct Request {
    uint64_t offset;
    uint64_t end;
    std::unique_ptr<char[]> buffer;
    Slice result;
  };
  std::vector<Request> requests_;  // by offset
};

}  // namespace varve
