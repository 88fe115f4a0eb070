// SPDX-License-Identifier: Apache-2.0

// Determines the ring's length, and processes the blocks in it.

#include "table/builder/block_pipeline.h"

#include <algorithm>
#include <string>

#include "table/format/block_handle.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {
namespace {

// Large enough for a thread to sleep through many blocks before it is needed, small enough to stay
// in a core's cache.
constexpr uint64_t kRingBytes = 256 << 10;
constexpr size_t kSlotsMax = 128;

// At least two slots for each thread, and two more: one that is being filled and one that is being
// written.
size_t SlotCount(size_t threads, uint64_t block_bytes) {
  const size_t wanted = static_cast<size_t>(kRingBytes / std::max<uint64_t>(block_bytes, 1));
  return std::max(std::min(wanted, kSlotsMax), 2 * threads + 2);
}

}  // namespace

BlockPipeline::BlockPipeline(BlockWriter* writer, const Slice& dictionary, size_t threads,
                             uint64_t block_bytes)
    : writer_(writer),
      dictionary_(dictionary),
      ring_bytes_(std::max(kRingBytes, (threads + 2) * block_bytes)),
      bytes_before_(writer->offset()),
      slots_(SlotCount(threads, block_bytes)),
      pipeline_({.threads = threads,
                 .places = slots_.size(),
                 .weight_max = ring_bytes_,
                 .wake_late = true},
                {.prepare = [this](size_t place) { return Pack(&slots_[place]); },
                 .finish = [this](size_t place,
                                  uint64_t* bytes) { return Append(&slots_[place], bytes); }}) {}

Status BlockPipeline::Push(const Slice& raw) {
  size_t place = 0;
  VARVE_RETURN_IF_ERROR(pipeline_.Wait(raw.size(), &place));
  Slot& slot = slots_[place];
  slot.raw.assign(raw.data(), raw.size());
  slot.raw.append(kBlockTrailerBytes, '\0');
  // A deque does not move its elements when it grows, so the writing thread may fill one in
  // meanwhile.
  slot.written = &results_.emplace_back();
  // The weight is the most that the block can add to the file; Append corrects it to what it has
  // taken.
  pipeline_.Push(slot.raw.size() + writer_->padding_max());
  return Status::OK();
}

Status BlockPipeline::Drain(std::deque<Written>* written) {
  const Status s = pipeline_.Drain();
  written->clear();
  written->swap(results_);
  return s;
}

Status BlockPipeline::Pack(Slot* slot) const {
  return writer_->Pack(slot->raw.data(), slot->raw.size() - kBlockTrailerBytes, dictionary_,
                       &slot->scratch, &slot->packed);
}

Status BlockPipeline::Append(Slot* slot, uint64_t* bytes) {
  slot->written->raw_bytes = slot->raw.size() - kBlockTrailerBytes;
  slot->written->outcome = slot->packed.outcome;
  const uint64_t begin = writer_->offset();
  VARVE_ASSERT(begin >= bytes_before_);
  Status s = writer_->AppendData(slot->packed, &slot->written->handle);
  *bytes = writer_->offset() - begin;
  // Release the memory of a very large block: the slot's next block is likely to have the usual
  // size.
  if (slot->raw.capacity() + slot->scratch.capacity() > ring_bytes_) {
    slot->raw = std::string();
    slot->scratch = std::string();
  }
  return s;
}

}  // namespace varve
