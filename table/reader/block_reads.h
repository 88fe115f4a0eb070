// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads several blocks of one file or more at once, with as few requests as their positions allow.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "varve/file_system.h"
#include "varve/slice.h"

#include "table/block/block_contents.h"
#include "table/format/block_handle.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

// Blocks of one file. Those that lie close together are read in one request, together with the gaps
// between them. A block that could not be read is not found; a caller that needs it reads it alone,
// and gets the error.
//
// Thread safety: none.
class BlockReads {
 public:
  // Reading this many unneeded bytes costs less than another request.
  static constexpr uint64_t kGapBytesMax = 16 << 10;
  // A request of several blocks is not longer than this.
  static constexpr uint64_t kRequestBytesMax = 1 << 20;

  // `file` outlives this. Requests for one block are read into memory of `room`.
  BlockReads(const RandomAccessFileReader& file, const IOOptions& options, const BlockRoom& room)
      : file_(file), options_(options), room_(room) {}

  // Adds a block. Requires that the block lies within the file. Blocks should come in the order of
  // their offsets: one that lies before an earlier one gets a request of its own, or is not found.
  void Add(const BlockHandle& handle);
  [[nodiscard]] size_t requests() const { return requests_.size(); }
  // Asks the operating system to read ahead everything that was added, without waiting for it.
  void ReadAhead() const;
  // Reads everything that was added to each of `files`. The reads of all files are in flight
  // together where the file system can do that (RandomAccessFileReader::MultiReadFiles, also for
  // `async_io`).
  static void Run(std::span<BlockReads> files, bool async_io = false);
  // Sets *bytes to what was read around the block and its trailer, and *offset to the position of
  // these bytes in the file. If nothing else was read with the block, moves their memory to
  // *buffer, which must be null before, and the block is not found again; otherwise the bytes live
  // as long as this object. Returns false, with the outputs unspecified, if the block was not read.
  bool Find(const BlockHandle& handle, Slice* bytes, uint64_t* offset, BlockBuffer* buffer);

 private:
  // One read of the file, for one or several neighbouring blocks.
  struct Request {
    uint64_t offset;  // in the file, as is `end`
    uint64_t end;
    size_t blocks;  // number of blocks that were added to it
    BlockBuffer buffer;
    Slice result;  // empty until it was read, and after a read that failed
  };

  // Sets *reads to the requests, with memory for their results. Returns false if there is none.
  bool Prepare(std::vector<FSReadRequest>* reads);

  const RandomAccessFileReader& file_;
  const IOOptions options_;
  const BlockRoom room_;
  std::vector<Request> requests_;  // ordered by offset
};

}  // namespace varve
