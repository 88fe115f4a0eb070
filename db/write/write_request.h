// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of one write to the commit path: a record for the log, and its updates.

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

struct TwoPhaseStep;    // Declared in db/engine/prepared_transactions.h.
struct WriteCondition;  // Declared in key_stamps.h.

// The record is a batch, or a single update without a batch. For the latter the head, everything up
// to the value, is encoded here, and the tail is the caller's value; so the value is copied only
// into the log and into the memtable, and not into a batch before.
//
// Thread safety: none. Errors: none; batch_inserter.h checks a request.
class WriteRequest {
 public:
  // The batch must outlive the request, and no update may be added to it meanwhile.
  explicit WriteRequest(WriteBatch* batch)
      : batch_(batch),
        header_(WriteBatchInternal::Rep(batch)->data()),
        head_(header_, batch->GetDataSize()),
        count_(WriteBatchInternal::Count(*batch)) {}
  // Makes a step of two-phase commit. The record has a header, but is not applied as a batch:
  // `step` defines what is done instead of the insertion, and `sequences` how many numbers it uses.
  WriteRequest(WriteBatch* record, uint32_t sequences, const TwoPhaseStep* step)
      : batch_(record),
        header_(WriteBatchInternal::Rep(record)->data()),
        head_(header_, record->GetDataSize()),
        count_(sequences),
        step_(step) {}
  // Makes a request for one counted update, with `ts` after its key, which has no timestamp yet;
  // not a range deletion if there is a timestamp. The value must outlive the request, and the sizes
  // must pass CheckRecordSizes. The slices are passed by value, in registers: a caller has often
  // stored their halves just before, and to load both halves at once would wait for these stores.
  WriteRequest(Slice key, Slice value, ValueType type, uint32_t column_family,
               const Slice& ts = Slice());
  WriteRequest(const WriteRequest&) = delete;
  WriteRequest& operator=(const WriteRequest&) = delete;

  // The record consists of head and tail, in this order.
  const Slice& head() const { return head_; }
  Slice tail() const { return batch_ == nullptr ? update_.value : Slice(); }
  size_t bytes() const { return head_.size() + tail().size(); }
  // Returns the number of sequence numbers that it uses: one per inserted update.
  uint32_t count() const { return count_; }
  const TwoPhaseStep* step() const { return step_; }  // Null: an ordinary write.
  // Returns the only update, as a memtable takes it, or null: then the batch must be parsed.
  const BatchRecord* update() const { return has_update_ ? &update_ : nullptr; }
  // Returns null for a single update without a batch. Otherwise head() is the whole batch.
  const WriteBatch* batch() const { return batch_; }
  // Sets the only update of a batch; its bytes lie in the batch, and it has no timestamp.
  void SetUpdate(const BatchRecord& update) {
    update_ = update;
    has_update_ = true;
  }
  size_t ts_bytes() const { return ts_bytes_; }  // At the end of the only update's key.

  // True if it is not logged.
  bool unlogged() const { return unlogged_; }
  // Marks the write as one with disableWAL.
  void SetUnlogged() { unlogged_ = true; }

  // The condition that may refuse its place in the order, or null.
  WriteCondition* condition() const { return condition_; }
  void SetCondition(WriteCondition* condition) { condition_ = condition; }

  // Remember the state at CheckRequest: the value of ColumnFamilySet::removals before it, by which
  // a later drop of a family is noticed, and whether missing families are ignored. kUnchecked: the
  // request was not checked.
  static constexpr uint64_t kUnchecked = UINT64_MAX;
  uint64_t checked_removals() const { return checked_removals_; }
  bool ignores_missing_families() const { return ignores_missing_families_; }
  void SetChecked(uint64_t removals, bool ignores_missing_families) {
    checked_removals_ = removals;
    ignores_missing_families_ = ignores_missing_families;
  }

  // True if an update is a merge; then the family's operator is needed.
  bool has_merges() const { return has_update_ ? update_.type == kTypeMerge : batch_->HasMerge(); }

  // Sets the sequence number of the first update. Does nothing for a batch without a header.
  void SetSequence(SequenceNumber sequence) {
    if (head_.size() >= kBatchHeaderBytes) [[likely]]
      EncodeFixed64(header_, sequence);
  }
  // Adds missing checksums to a batch. Not for a single update.
  Status Protect();
  // Returns OK unless a batch with checksums differs from what was added to it.
  Status VerifyChecksum() const {
    if (batch_ == nullptr || !WriteBatchInternal::HasChecksums(*batch_)) [[likely]]
      return Status::OK();
    return batch_->VerifyChecksum();
  }

 private:
  // Heads of keys of usual sizes need no allocation.
  static constexpr size_t kInlineBytes = 512;

  WriteBatch* const batch_;  // Null: a single update.
  WriteCondition* condition_ = nullptr;
  uint64_t checked_removals_ = kUnchecked;
  bool ignores_missing_families_ = false;
  bool has_update_ = false;
  bool unlogged_ = false;
  BatchRecord update_;  // Set if has_update_.
  char* header_;        // Beginning of the head.
  Slice head_;
  uint32_t count_ = 1;
  uint32_t ts_bytes_ = 0;
  const TwoPhaseStep* const step_ = nullptr;
  // The head, if it does not fit into the object.
  std::unique_ptr<char[]> long_head_;
  char inline_head_[kInlineBytes];  // Not initialised unless used.
};

}  // namespace varve
