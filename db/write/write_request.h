// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one write brings to the commit path: a record for the log, and the updates in it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"
#include "util/coding/fixed.h"

namespace varve {

struct SectionStep;     // db/engine/prepared_sections.h
struct WriteCondition;  // key_stamps.h

// The record is that of a batch; or it is that of one update, of which nobody makes a batch: its
// head, all up to the value, is put together here, and its tail is the value where the caller has
// it. So a value is copied twice, into the log and into the memtable, however long it is.
//
// Thread safety: none. Errors: none; batch_inserter.h checks a request.
class WriteRequest {
 public:
  // The batch outlives the request, and no update is added to it meanwhile.
  explicit WriteRequest(WriteBatch* batch)
      : batch_(batch),
        header_(WriteBatchInternal::Rep(batch)->data()),
        head_(header_, batch->GetDataSize()),
        count_(WriteBatchInternal::Count(*batch)) {}
  // A step of two-phase commit. The record has a header, and is no batch to be applied: what is
  // done where others are inserted, and how many sequences that takes, the step says.
  WriteRequest(WriteBatch* record, uint32_t sequences, const SectionStep* step)
      : batch_(record),
        header_(WriteBatchInternal::Rep(record)->data()),
        head_(header_, record->GetDataSize()),
        count_(sequences),
        step_(step) {}
  // One counted update, `ts` after its key; not a range deletion if there is a timestamp. Its value
  // outlives the request, and CheckRecordSizes allows it.
  explicit WriteRequest(const BatchRecord& update, const Slice& ts = Slice());
  WriteRequest(const WriteRequest&) = delete;
  WriteRequest& operator=(const WriteRequest&) = delete;

  // The record's bytes are these two one after the other.
  const Slice& head() const { return head_; }
  const Slice& tail() const { return tail_; }
  size_t bytes() const { return head_.size() + tail_.size(); }
  // Sequences that it takes: one an update that is inserted.
  uint32_t count() const { return count_; }
  const SectionStep* step() const { return step_; }  // null: an ordinary write
  // The only update, as a memtable takes it, or null: then the batch has to be read.
  const BatchRecord* update() const { return has_update_ ? &update_ : nullptr; }
  // Null: it is one update, and nobody made a batch of it. Else head() is the batch, all of it.
  const WriteBatch* batch() const { return batch_; }
  // All that the batch has is this update, whose bytes lie in it; without a timestamp.
  void SetUpdate(const BatchRecord& update) {
    update_ = update;
    has_update_ = true;
  }
  size_t ts_bytes() const { return ts_bytes_; }  // at the end of the only update's key

  // No log gets it.
  bool unlogged() const { return unlogged_; }
  void SetUnlogged() { unlogged_ = true; }

  // Where its place in the order is refused by a condition; null: by none.
  WriteCondition* condition() const { return condition_; }
  void SetCondition(WriteCondition* condition) { condition_ = condition; }

  // The families that CheckRequest was told of: ColumnFamilySet::removals before it, and whether
  // those that are missing are passed over. kUnchecked: it was not asked.
  static constexpr uint64_t kUnchecked = UINT64_MAX;
  uint64_t checked_removals() const { return checked_removals_; }
  bool ignores_missing_families() const { return ignores_missing_families_; }
  void SetChecked(uint64_t removals, bool ignores_missing_families) {
    checked_removals_ = removals;
    ignores_missing_families_ = ignores_missing_families;
  }

  bool has_merges() const { return has_update_ ? update_.type == kTypeMerge : batch_->HasMerge(); }

  // Of the first update. A batch without a header has none, and stays as it is.
  void SetSequence(SequenceNumber sequence) {
    if (head_.size() >= kBatchHeaderBytes) [[likely]]
      EncodeFixed64(header_, sequence);
  }
  // Gives a batch the checksums that it lacks. Not for one update.
  Status Protect();
  // Whether a batch with checksums still is what was added to it.
  Status VerifyChecksum() const {
    if (batch_ == nullptr || !WriteBatchInternal::HasChecksums(*batch_)) [[likely]]
      return Status::OK();
    return batch_->VerifyChecksum();
  }

 private:
  // Heads of keys of usual lengths cost no allocation.
  static constexpr size_t kInlineBytes = 512;

  WriteBatch* const batch_;  // null: one update
  WriteCondition* condition_ = nullptr;
  uint64_t checked_removals_ = kUnchecked;
  bool ignores_missing_families_ = false;
  bool has_update_ = false;
  bool unlogged_ = false;
  BatchRecord update_;  // if it has one
  char* header_;        // where the head begins
  Slice head_;
  Slice tail_;
  uint32_t count_ = 1;
  uint32_t ts_bytes_ = 0;
  const SectionStep* const step_ = nullptr;
  std::unique_ptr<char[]> long_head_;
  char inline_head_[kInlineBytes];  // not set where it is not used
};

}  // namespace varve
