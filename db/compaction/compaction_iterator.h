// SPDX-License-Identifier: Apache-2.0
#pragma once

// The entries that a flush or a compaction writes: its merged input, without what nobody needs and
// as the compaction filter wants it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/status.h"

#include "db/compaction/cancel_flags.h"
#include "db/compaction/deeper_levels.h"
#include "db/compaction/drop_rules.h"
#include "db/compaction/entry_checks.h"
#include "db/compaction/history_bounds.h"
#include "db/compaction/merge_collector.h"
#include "db/read/covered_jump.h"
#include "util/base/assert.h"
#include "util/iter/entry_batch.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Pointers are borrowed and outlive the iterator; null where nothing is said.
struct CompactionIteratorOptions {
  const InternalKeyComparator* icmp = nullptr;  // never null
  std::vector<SequenceNumber> snapshots;        // ascending
  // As in DropRules::Options.
  bool bottommost = false;
  SequenceNumber traces_since = kMaxSequenceNumber;
  EntryChecks checks;
  DeeperLevels* deeper = nullptr;  // null: every key may exist deeper, unless bottommost
  const CompactionFilter* filter = nullptr;
  int filter_level = 0;
  MergeCaller merge;           // without an operator, operands stay as they are
  Logger* info_log = nullptr;  // is told of merges that failed
  Statistics* statistics = nullptr;
  const Slice* end = nullptr;  // exclusive key, without timestamp
  // After so many entries under one range tombstone the input is asked to leave out the others,
  // which then are not counted; 0: never. It is not for families with timestamps: what is older in
  // the sequence may be of a later time.
  uint32_t covered_before_jump = 0;
  HistoryBounds history;
  CancelFlags cancel;  // looked at often
};

// The filter that a user's factory, unless it is null, makes for files that come to be for
// context.reason; null if it wants none. Aborted if it throws.
Status MakeCompactionFilter(CompactionFilterFactory* factory,
                            const CompactionFilter::Context& context,
                            std::unique_ptr<CompactionFilter>* filter);

struct CompactionCounts {
  uint64_t entries_in = 0;       // taken from the input
  uint64_t entries_out = 0;      // handed on
  uint64_t dropped_hidden = 0;   // a newer entry is seen instead
  uint64_t dropped_covered = 0;  // by a range tombstone
  uint64_t dropped_expired = 0;  // deletions with nothing beneath, SingleDeletes with their values
  uint64_t expired_deletions = 0;   // of these, the deletions that were alone
  uint64_t expired_tombstones = 0;  // range deletions that delete nothing any more, file by file
  uint64_t dropped_by_filter = 0;
  uint64_t merged = 0;  // operands that a newer one stands for, merged with them
  uint64_t failed_merges = 0;
  uint64_t single_delete_mismatches = 0;
  // Entries were passed over uncounted: as a filter asked (kRemoveAndSkipUntil), or because a range
  // tombstone covers them.
  bool skipped = false;
  bool jumped = false;

  void Add(const CompactionCounts& other);
  uint64_t dropped() const {
    return dropped_hidden + dropped_covered + dropped_expired + dropped_by_filter + merged;
  }
};

// One pass: Start, then Next while Valid. One user key is copied for each key of the input; values
// are not, but for operands of one key that the input does not hold at hand together.
//
// Thread safety: none. Errors end the walk: not Valid, and status() says why. A merge operator that
// fails is none: what it was given stays as it is.
class CompactionIterator {
 public:
  // `input` is the merged input; `tombstones` all range tombstones of the inputs.
  CompactionIterator(InternalIterator* input, TombstoneSet* tombstones,
                     const CompactionIteratorOptions& options);
  CompactionIterator(const CompactionIterator&) = delete;
  CompactionIterator& operator=(const CompactionIterator&) = delete;

  // To the first surviving entry at or after `begin` (a key without timestamp; null: from the
  // start).
  void Start(const Slice* begin);

  bool Valid() const { return valid_; }
  Slice key() const {  // internal
    VARVE_ASSERT(valid_);
    return Slice(key_);
  }
  const Slice& value() const { return value_; }  // until Next
  // True when the entry's key, without timestamp, is not that of the entry before it.
  bool starts_user_key() const { return starts_user_key_; }
  void Next() {
    VARVE_ASSERT(valid_);
    starts_user_key_ = false;
    if (input_is_ahead_) [[unlikely]] {
      if (EmitCollected() || EmitEmptied()) return;
      input_is_ahead_ = false;
    } else {
      Advance();
    }
    FindNext();
  }

  const Status& status() const { return status_; }
  const CompactionCounts& counts() const { return counts_; }

 private:
  enum class Step : uint8_t {
    kEmit,
    kDropped,
    kUnseen,  // dropped, and as if it had never been there
    kStop,
  };

  void Advance() {
    counts_.entries_in++;
    input_.Next();
  }
  void FindNext();
  // The input's entry becomes the current one, or ends the walk.
  bool TakeKey(const Slice& key);
  // The next version of the current key; false: it is out of order.
  bool TakeVersion(const Slice& key, uint64_t trailer);
  // The entry is the first of those that DropRules takes for one key.
  void StartKey(const Slice& key);
  // The current key, without timestamp.
  Slice key_without_timestamp() const {
    return Slice(key_.data(), key_.size() - kInternalKeyTrailerBytes - timestamp_bytes_);
  }
  [[nodiscard]] bool IsBeyondEnd(const Slice& key) const {
    return options_.end != nullptr &&
           options_.icmp->CompareKey(options_.icmp->KeyOf(key), *options_.end) >= 0;
  }
  [[nodiscard]] bool Trims(const Slice& key) const;
  [[nodiscard]] bool InPast(const Slice& timestamp) const;
  // Whether readers may ask for the state as of each timestamp of the current key.
  [[nodiscard]] bool KeepsHistory() const { return timestamp_bytes_ != 0 && !in_past_; }
  // Whether DropRules takes an entry, which follows the current one, for one of the same key.
  [[nodiscard]] bool IsOlder(const Slice& internal_key) const;
  // The newest tombstone of the stripe that covers the current key for all who see its entries; 0
  // if none.
  SequenceNumber CoveringSeq(size_t stripe) {
    if (!has_tombstones_) [[likely]]
      return 0;
    return KeepsHistory()
               ? CoveringSeqOfMoment(stripe)
               : tombstones_->MaxCoveringSeq(key_without_timestamp(), rules_.StripeTop(stripe));
  }
  SequenceNumber CoveringSeqOfMoment(size_t stripe);
  // What older operands and bases must not be older than to belong to an operand of this number.
  SequenceNumber SeparatingSeq(SequenceNumber sequence, size_t stripe) {
    if (!has_tombstones_) [[likely]]
      return 0;
    return timestamp_bytes_ != 0 ? CoveringSeqOfAnyTime(sequence) : CoveringSeq(stripe);
  }
  SequenceNumber CoveringSeqOfAnyTime(SequenceNumber newest);
  void LimitToPast();
  Step JudgeEntry(SequenceNumber sequence, ValueType type);
  Step JudgeSingleDelete(SequenceNumber sequence, size_t stripe);
  // Of an entry that a tombstone covers for everybody: whether to ask for a jump to its end.
  bool WantsJump();
  Step LeaveCovered(size_t stripe);
  DropRules::Follower PeekFollower() const;
  // Of an operand that nothing hides: with all that belong to it.
  Step JudgeMerge(SequenceNumber sequence, size_t stripe);
  // Whether the next entry is known to be another key's.
  bool StandsAlone() const;
  Step JudgeLoneOperand(SequenceNumber sequence, size_t stripe, SequenceNumber covered);
  void NoteFailedMerge(const Status& s);
  Step CollectOperands(size_t stripe, SequenceNumber covered, DropRules::Follower* next);
  MergeCollector::Base BaseOf(const DropRules::Follower& next, size_t stripe,
                              SequenceNumber covered);
  // The next entry that was made of operands becomes the current one. False: there is none.
  bool EmitCollected();
  // The value that stays beneath a SingleDelete becomes the current entry, without its bytes.
  // False: none does.
  bool EmitEmptied();
  Step FilterOperand();
  Step RemoveOperand();
  // Somebody may ask whether a key was changed (DropRules::Options::traces_since).
  [[nodiscard]] bool LeavesTraces() const { return options_.traces_since != kMaxSequenceNumber; }
  Step AskFilter(SequenceNumber sequence, ValueType type, size_t stripe);
  Step Refuse(CompactionFilter::Decision decision);
  CompactionFilter::Decision CallFilter(CompactionFilter::ValueType type);
  Step RemoveByFilter(SequenceNumber sequence, ValueType marker, size_t stripe);
  bool MaySkip() const;
  void SkipUntil();
  bool MayExistDeeper();
  bool Cancelled();
  void SetTrailer(SequenceNumber sequence, ValueType type);
  // The same of an entry that stays; nobody may be able to tell its sequence number and timestamp.
  void SetLastTrailer(size_t stripe, SequenceNumber sequence, ValueType type);
  Step Fail(Status status);

  EntryBatchReader input_;
  TombstoneSet* const tombstones_;
  const CompactionIteratorOptions options_;
  DropRules rules_;
  const bool has_tombstones_;
  const size_t timestamp_bytes_;
  std::unique_ptr<MergeCollector> collected_;  // null: operands pass one by one

  bool valid_ = false;
  bool has_key_ = false;
  bool is_newest_ = false;  // the entry is the first of its user key
  bool in_past_ = false;    // its timestamp is below full_history_ts_low
  bool starts_user_key_ = false;
  bool input_is_ahead_ = false;  // the input stands after the current entry already
  bool in_place_ = true;         // this step left the input on the entry it dropped
  bool empties_next_ = false;    // the entry at the input stays, without its value
  bool operand_stays_ = false;   // of those collected, one that a filter removed
  // How many entries the tombstone up to there has covered, since a jump in vain; where a jump led
  // from tombstone to tombstone, of all of them.
  CoveredJump jump_;
  const char* covered_until_ = nullptr;
  uint32_t covered_here_ = 0;
  uint64_t out_at_jump_ = UINT64_MAX;  // entries_out then
  uint32_t until_poll_ = 0;            // entries until the cancellation flags are looked at
  uint64_t last_trailer_ = 0;          // of the input's last entry
  std::string last_timestamp_;         // the same
  std::string key_;                    // the current user key with the trailer of the current entry
  Slice value_;
  std::string filter_value_;
  std::string skip_until_;
  Status status_;
  CompactionCounts counts_;
};

}  // namespace varve
