// SPDX-License-Identifier: Apache-2.0
#pragma once

// Data blocks on their way into the file while their maker goes on with the next: a ring of blocks
// that threads of its own compress side by side, and that one thread at a time writes in order. The
// maker lends a hand whenever the ring is full, so nobody waits for work that it could do itself.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/block_writer.h"
#include "table/format/block_handle.h"
#include "util/sync/mutex.h"

namespace varve {

// The file gets the same bytes as by BlockWriter::WriteData, block for block.
//
// Thread safety: one thread, the maker, calls everything; no other touches the BlockWriter from the
// first Push until Drain returns. Errors: the first one stays and is what every later call returns;
// blocks behind it are dropped.
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
  // Drops what is not written.
  ~BlockPipeline();
  BlockPipeline(const BlockPipeline&) = delete;
  BlockPipeline& operator=(const BlockPipeline&) = delete;

  // Takes a copy of a finished block.
  Status Push(const Slice& raw);
  // Waits until every block is in the file; *written gets what became of those that were pushed
  // since the last time, in order.
  Status Drain(std::deque<Written>* written);

  // At least what the file will hold when all blocks are written; exact after Drain.
  [[nodiscard]] uint64_t bytes_bound() const { return bytes_bound_; }
  // Whether nothing was pushed since the last Drain.
  [[nodiscard]] bool drained() const { return results_.empty(); }
  // Ends the threads, after Drain. Returns their processor time in microseconds.
  uint64_t Stop();

 private:
  // Touched by the maker while it is free, by the thread that took it while it is packed, then by
  // the one that writes; mu_ passes it from one to the next.
  struct Slot {
    std::string raw;  // with room for the trailer
    std::string scratch;
    BlockWriter::Packed packed;
    uint64_t bytes_max = 0;  // that it can take in the file
    Written* written = nullptr;
    bool done = false;  // packed, or given up
  };

  Slot& SlotAt(uint64_t block) { return slots_[block % slots_.size()]; }
  void Work();
  void HelpOrWait() VARVE_REQUIRES(mu_);
  void PackOne() VARVE_REQUIRES(mu_);
  void WriteReady() VARVE_REQUIRES(mu_);
  Status Pack(Slot* slot);
  Status Append(Slot* slot);
  void UpdateBound() VARVE_REQUIRES(mu_);

  BlockWriter* const writer_;
  const Slice dictionary_;
  std::vector<Slot> slots_;
  const uint64_t ring_bytes_;  // so many may wait, or one block: a block is as large as its values
  std::vector<std::thread> threads_;
  // The maker's; whoever writes a block fills in the result that its slot names.
  uint64_t bytes_bound_;
  std::deque<Written> results_;

  Mutex mu_;
  CondVar work_{&mu_};      // to the threads: blocks wait, or stop_
  CondVar progress_{&mu_};  // to the maker: blocks were written
  // Blocks are numbered; each counter says how many have come that far: the ring holds
  // [written_, pushed_), and [taken_, pushed_) are still to be packed.
  uint64_t pushed_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t taken_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t written_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t waiting_bytes_ VARVE_GUARDED_BY(mu_) = 0;  // the most that the ring's blocks can take
  uint64_t file_bytes_ VARVE_GUARDED_BY(mu_);         // the writer's offset
  bool writing_ VARVE_GUARDED_BY(mu_) = false;        // some thread is in WriteReady
  bool maker_waits_ VARVE_GUARDED_BY(mu_) = false;
  size_t idle_ VARVE_GUARDED_BY(mu_) = 0;  // threads that wait for work
  bool stop_ VARVE_GUARDED_BY(mu_) = false;
  uint64_t cpu_micros_ VARVE_GUARDED_BY(mu_) = 0;  // of the threads that have ended
  Status status_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
