// SPDX-License-Identifier: Apache-2.0
#pragma once

// Data blocks on their way into the file while their maker goes on with the next: threads compress
// them side by side, and one at a time is written, in order.

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

// The file gets the same bytes as by BlockWriter::WriteData, block for block.
//
// Thread safety: one thread, the maker, calls everything; no other touches the BlockWriter from the
// first Push until Drain returns. Errors: the first one stays and is what every later call returns;
// blocks after it are dropped.
class BlockPipeline {
 public:
  // What became of a block.
  struct Written {
    BlockHandle handle;
    uint64_t raw_bytes = 0;
    BlockWriter::Outcome outcome = BlockWriter::Outcome::kPlain;
  };

  // The writer and the dictionary's bytes outlive it. `block_bytes` is what a block usually has.
  // Fewer threads, or none, are started where the system gives no more.
  BlockPipeline(BlockWriter* writer, const Slice& dictionary, size_t threads, uint64_t block_bytes);

  // Takes a copy of a finished block.
  Status Push(const Slice& raw);
  // Waits until every block is in the file; *written gets what became of those that were pushed
  // since the last time, in order.
  Status Drain(std::deque<Written>* written);

  // At least what the file will hold when all blocks are written; exact after Drain.
  [[nodiscard]] uint64_t bytes_bound() const { return bytes_before_ + pipeline_.total_weight(); }
  // Whether nothing was pushed since the last Drain.
  [[nodiscard]] bool drained() const { return results_.empty(); }
  // Ends the threads, after Drain. Returns their processor time in microseconds.
  uint64_t Stop() { return pipeline_.Stop(); }

 private:
  struct Slot {
    std::string raw;  // with room for the trailer
    std::string scratch;
    BlockWriter::Packed packed;
    Written* written = nullptr;
  };

  Status Pack(Slot* slot) const;
  // *bytes becomes what the block took in the file.
  Status Append(Slot* slot, uint64_t* bytes);

  BlockWriter* const writer_;
  const Slice dictionary_;
  const uint64_t ring_bytes_;  // so many may wait, or one block: a block is as large as its values
  const uint64_t bytes_before_;  // in the file
  std::vector<Slot> slots_;
  // The thread that writes a block fills in the result that its slot names.
  std::deque<Written> results_;
  OrderedPipeline pipeline_;  // weighs bytes; the first to go: its threads use all the others
};

}  // namespace varve
