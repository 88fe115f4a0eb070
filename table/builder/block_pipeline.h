// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compresses data blocks while the builder goes on with the next: several threads compress in
// parallel, and the blocks are written one at a time, in order.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/builder/block_writer.h"
#include "table/format/block_handle.h"
#include "util/sync/ordered_pipeline.h"

namespace varve {

// Writes the same bytes to the file as BlockWriter::WriteData would, block for block.
//
// Thread safety: one thread, the builder's, makes all calls; no other thread may touch the
// BlockWriter from the first Push until Drain returns. Errors: the first error is kept and returned
// by every later call; blocks after it are dropped.
class BlockPipeline {
 public:
  // Result of writing a block.
  struct Written {
    BlockHandle handle;
    uint64_t raw_bytes = 0;
    BlockWriter::Outcome outcome = BlockWriter::Outcome::kPlain;
  };

  // The writer and the dictionary's bytes must outlive it. `block_bytes` is the usual size of a
  // block. Starts fewer threads, or none, if the system gives no more.
  BlockPipeline(BlockWriter* writer, const Slice& dictionary, size_t threads, uint64_t block_bytes);

  // Copies a block without its trailer into the pipeline. Waits while the pipeline is full.
  Status Push(const Slice& raw);
  // Waits until every block is in the file. Sets *written to the results of the blocks pushed since
  // the last call, in order; after an error, those of blocks that were not written are unspecified.
  Status Drain(std::deque<Written>* written);

  // Returns an upper bound of the file's size when all blocks are written; exact after Drain.
  [[nodiscard]] uint64_t bytes_bound() const { return bytes_before_ + pipeline_.total_weight(); }
  // True if nothing was pushed since the last Drain.
  [[nodiscard]] bool drained() const { return results_.empty(); }
  // Ends the threads. Must be called after Drain. Returns their processor time in microseconds.
  uint64_t Stop() { return pipeline_.Stop(); }

 private:
  // A block on its way through the pipeline, and the buffers of the thread that compresses it.
  struct Slot {
    std::string raw;  // has room for the trailer
    std::string scratch;
    BlockWriter::Packed packed;
    Written* written = nullptr;
  };

  // Compresses the slot's block. Runs on any thread of the pipeline.
  Status Pack(Slot* slot) const;
  // Appends the slot's packed block, with its trailer, to the file, and sets *slot->written. Sets
  // *bytes to the bytes that this took in the file, zeros before the block included.
  Status Append(Slot* slot, uint64_t* bytes);

  BlockWriter* const writer_;
  const Slice dictionary_;
  const uint64_t ring_bytes_;    // most bytes that wait in the pipeline, unless they are one block
  const uint64_t bytes_before_;  // bytes already in the file
  std::vector<Slot> slots_;
  // Results; the thread that writes a block fills in the one that its slot points to.
  std::deque<Written> results_;
  OrderedPipeline pipeline_;  // weighs bytes; destroyed first, as its threads use all other members
};

}  // namespace varve
