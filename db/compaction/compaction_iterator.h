// SPDX-License-Identifier: Apache-2.0
#pragma once

// The compaction iterator decides what a flush or a compaction writes. It walks the merged input
// once, drops the entries that no reader can see any more, merges operands, asks the compaction
// filter, and yields what is left.
//
// The input has all versions of a key together, newest first. Snapshots cut the sequence numbers
// into stripes (drop_rules.h). All readers of one stripe see the same version of a key, so of each
// stripe only the newest value or deletion is needed, and the merge operands above it:
//
//     key k:   @95 Put   @80 Put | @60 Merge  @55 Merge  @50 Put | @30 Delete  @20 Put
//              --- stripe 2 ---- | -------- stripe 1 ----------- | ----- stripe 0 -----
//                    snapshot at 70 ^                  snapshot at 40 ^
//     output:  @95 Put             @60 Put (merged)                @30 Delete, if k may be deeper
//
// FindNext repeats these steps until an entry survives (JudgeEntry):
//
//     input -> TakeKey: is the order right?     no: Corruption
//           -> Hides: is it hidden by a newer entry of its stripe?              drop
//           -> CoveringSeq: does a range tombstone of its stripe cover it?      drop, or jump
//           -> JudgeSingleDelete: with the value that follows it                keep, or drop both
//           -> JudgeMerge: with all operands of its stripe, and their base      one entry, or all
//           -> Judge: does a deletion still delete anything?                    drop if not
//           -> AskFilter: what does the user want?                              keep, change, drop
//           -> SetLastTrailer: sequence number 0 if no reader can notice        output
//
// Invariants
// 1. Every reader, now or at a snapshot, gets the same answers before and after the compaction.
// 2. Keys ascend, and versions of a key descend. Another order is damage or a changed comparator,
//    and ends the walk as Corruption; it is never asserted, because it comes from files.
// 3. A deletion is dropped only in stripe 0, and only if no deeper level may hold its key.
// 4. A sequence number becomes 0 only at the bottommost level, in stripe 0, for a value.
// 5. Operands are merged only within a stripe. If the merge fails or their base is not known, they
//    stay as they are.
// 6. The filter gets the newest version of a key if that is a value, and operands that no snapshot
//    sees. It never gets what is hidden, covered or deleted.
// 7. While a conflict check may ask whether a key was changed after a sequence number, the last
//    change of a key after it leaves an entry, even if nothing can be read by it.
// 8. A jump to the end of a range tombstone passes only entries that the tombstone covers for all
//    readers: stripe 0, and never with timestamps.
// 9. With timestamps each timestamp of a key is judged like a key of its own. Versions below
//    full_history_ts_low count as one key.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/status.h"

#include "db/compaction/blob_work.h"
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

// Pointers are borrowed and must outlive the iterator; null means "not set".
struct CompactionIteratorOptions {
  const InternalKeyComparator* icmp = nullptr;  // never null
  std::vector<SequenceNumber> snapshots;        // ascending
  // DropRules::Options explains these two.
  bool bottommost = false;
  SequenceNumber conflict_check_floor = kMaxSequenceNumber;
  EntryChecks checks;
  DeeperLevels* deeper = nullptr;  // null: every key may exist deeper, unless bottommost
  const CompactionFilter* filter = nullptr;
  int filter_level = 0;
  MergeCaller merge;           // without an operator, operands do not change
  Logger* info_log = nullptr;  // informed about failed merges
  Statistics* statistics = nullptr;
  const Slice* end = nullptr;  // exclusive key without timestamp
  // After this many entries under one range tombstone, the input is asked to skip the others, which
  // are then not counted; 0: never. Must be 0 for families with timestamps: an entry with an older
  // sequence number may have a later timestamp.
  uint32_t covered_before_jump = 0;
  HistoryBounds history;
  CancelFlags cancel;  // polled often
  // Adds the table to the error of an entry of this key, without timestamp, whose value cannot be
  // decoded; empty: errors do not name tables.
  std::function<Status(const Status& error, const Slice& key)> name_table;
  // Reads values in blob files, for filters and merges. Set if the input may refer to any: then the
  // walk takes every entry, so that all references are counted.
  BlobInputs* blobs = nullptr;
};

// Sets *filter to the filter that a user's factory creates for files written for context.reason;
// null if the factory is null or wants no filter. Returns Aborted if the factory throws.
Status MakeCompactionFilter(CompactionFilterFactory* factory,
                            const CompactionFilter::Context& context,
                            std::unique_ptr<CompactionFilter>* filter);

// Counts of what happened to the entries of one pass.
struct CompactionCounts {
  uint64_t entries_in = 0;          // taken from the input
  uint64_t entries_out = 0;         // passed on
  uint64_t dropped_hidden = 0;      // hidden by a newer entry
  uint64_t dropped_covered = 0;     // covered by a range tombstone
  uint64_t dropped_expired = 0;     // deletions without data beneath, SingleDelete pairs
  uint64_t expired_deletions = 0;   // lone deletions among dropped_expired
  uint64_t expired_tombstones = 0;  // range deletions without effect, counted per file
  uint64_t dropped_by_filter = 0;
  uint64_t merged = 0;  // operands merged into a newer one
  uint64_t failed_merges = 0;
  uint64_t single_delete_mismatches = 0;
  // True if entries were passed without being counted: because a filter asked for it
  // (kRemoveAndSkipUntil), or because a range tombstone covers them (covered_before_jump).
  bool skipped = false;
  bool jumped = false;

  void Add(const CompactionCounts& other);
  uint64_t dropped() const {
    return dropped_hidden + dropped_covered + dropped_expired + dropped_by_filter + merged;
  }
};

// Used for one pass: Start, then Next while Valid. Copies one user key for each key of the input.
// Does not copy values, except for operands of one key that the input cannot keep valid at the same
// time.
//
// Thread safety: none. An error ends the walk: Valid is false, and status() has the error. A failed
// merge operator is not an error: its operands do not change.
class CompactionIterator {
 public:
  // `input` is the merged input; `tombstones` has all range tombstones of the inputs.
  CompactionIterator(InternalIterator* input, TombstoneSet* tombstones,
                     const CompactionIteratorOptions& options);
  CompactionIterator(const CompactionIterator&) = delete;
  CompactionIterator& operator=(const CompactionIterator&) = delete;

  // Moves to the first surviving entry at or after `begin` (a key without timestamp; null: from the
  // start). Must be called once, before all else. NotSupported: the filter does not ignore
  // snapshots.
  void Start(const Slice* begin);

  bool Valid() const { return valid_; }
  Slice key() const {  // internal key
    VARVE_ASSERT(valid_);
    return Slice(key_);
  }
  const Slice& value() const { return value_; }  // valid until Next
  // True if the entry's key, without timestamp, differs from that of the previous entry.
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
  // In the functions below a `key` is an internal key of the input, and a `user_key` has its
  // timestamp.

  // Says what became of an entry.
  enum class Step : uint8_t {
    kEmit,     // key_ and value_ are the next entry of the output
    kDropped,  // dropped; it still counts as the newest of its key, if it was
    // Dropped as if it had never been there: the entry after it is the newest of the key now. The
    // input is on that already.
    kUnseen,
    kStop,  // the walk has ended, with an error
  };

  // Moves the input on by one entry, which counts as read.
  void Advance() {
    counts_.entries_in++;
    input_.Next();
  }
  // Moves to the next entry that survives, if there is one.
  void FindNext();
  // Makes the input's entry the current one, or ends the walk. Returns false if it ended.
  bool TakeKey(const Slice& key);
  // Takes the next version of the current key. Returns false if it is out of order.
  bool TakeVersion(const Slice& key, uint64_t trailer);
  // Prepares for the first entry of what DropRules treats as one key.
  void StartKey(const Slice& key);
  // Returns the current key without timestamp.
  Slice key_without_timestamp() const {
    return Slice(key_.data(), key_.size() - kInternalKeyTrailerBytes - timestamp_bytes_);
  }
  [[nodiscard]] bool IsBeyondEnd(const Slice& key) const {
    return options_.end != nullptr &&
           options_.icmp->CompareKey(options_.icmp->KeyOf(key), *options_.end) >= 0;
  }
  // True if the entry is newer than trim_ts, and so is treated as never written.
  [[nodiscard]] bool Trims(const Slice& key) const;
  // True if the timestamp is older than full_history_ts_low.
  [[nodiscard]] bool InPast(const Slice& timestamp) const;
  // True if readers may ask for the state as of each timestamp of the current key.
  [[nodiscard]] bool KeepsHistory() const { return timestamp_bytes_ != 0 && !in_past_; }
  // True if `internal_key`, which follows the current entry in the input, is of the same key, as
  // DropRules sees it: with timestamps another timestamp is another key, unless both are below
  // full_history_ts_low.
  [[nodiscard]] bool IsOlder(const Slice& internal_key) const;
  // Returns the newest tombstone of the stripe that covers the current key for all readers of its
  // entries; 0 if there is none.
  SequenceNumber CoveringSeq(size_t stripe) {
    if (!has_tombstones_) [[likely]]
      return 0;
    return KeepsHistory()
               ? CoveringSeqOfMoment(stripe)
               : tombstones_->MaxCoveringSeq(key_without_timestamp(), rules_.StripeTop(stripe));
  }
  // Does CoveringSeq with the tombstones up to the current timestamp, which every reader that may
  // see the entry sees.
  SequenceNumber CoveringSeqOfMoment(size_t stripe);
  // Returns the sequence number of the newest range tombstone that lies, for some reader, between
  // the operand of this number and older entries of the key: the operand must not be merged with
  // entries whose numbers are below it. 0: there is none.
  SequenceNumber SeparatingSeq(SequenceNumber sequence, size_t stripe) {
    if (!has_tombstones_) [[likely]]
      return 0;
    return timestamp_bytes_ != 0 ? CoveringSeqOfAnyTime(sequence) : CoveringSeq(stripe);
  }
  // Returns the newest tombstone of any timestamp over the current key, up to this number.
  SequenceNumber CoveringSeqOfAnyTime(SequenceNumber newest);
  // Makes tombstones_ show only those older than full_history_ts_low, as it does between calls.
  void LimitToPast();
  Step JudgeEntry(SequenceNumber sequence, ValueType type);
  Step JudgeSingleDelete(SequenceNumber sequence, size_t stripe);
  // Notes an entry that a tombstone covers for all readers. Returns true if a jump to the
  // tombstone's end is worth it.
  bool WantsJump();
  // Jumps from such an entry to the tombstone's end, if the input can.
  Step LeaveCovered(size_t stripe);
  DropRules::Follower PeekFollower() const;
  // Judges an operand that is not hidden, with all operands that belong to it.
  Step JudgeMerge(SequenceNumber sequence, size_t stripe);
  // True if the next entry is known to be of another key.
  bool StandsAlone() const;
  Step JudgeLoneOperand(SequenceNumber sequence, size_t stripe, SequenceNumber covered);
  void NoteFailedMerge(const Status& s);
  // Returns the error with the table of the entry of the current key that it is about.
  [[nodiscard]] Status NameTable(const Status& s) const;
  // Collects the operands of the stripe down to `covered`, and sets *next to the entry behind them.
  Step CollectOperands(size_t stripe, SequenceNumber covered, DropRules::Follower* next);
  // Returns what these operands apply to, if that is known.
  MergeCollector::Base BaseOf(const DropRules::Follower& next, size_t stripe,
                              SequenceNumber covered);
  // Makes the next entry that was made from operands the current one. Returns false if there is
  // none.
  bool EmitCollected();
  // Makes the value that stays beneath a SingleDelete the current entry, without its bytes. Returns
  // false if there is none.
  bool EmitEmptied();
  // Ask the filter about one operand, and remove it unless a conflict check may need it.
  Step FilterOperand();
  Step RemoveOperand();
  // True if a reader may ask if a key was changed (DropRules::Options::conflict_check_floor).
  [[nodiscard]] bool KeepsEvidence() const {
    return options_.conflict_check_floor != kMaxSequenceNumber;
  }
  // True for a reference whose value no attempt can read. Such an entry is kept as it is, so that
  // the others do not suffer from it.
  bool IsLost(const Slice& encoded_reference) const {
    return options_.blobs != nullptr && options_.blobs->IsLost(encoded_reference);
  }
  // Reads a value in a blob file into blob_value_. Returns false if the walk ended with an error.
  bool FetchBlob(const Slice& user_key, const Slice& encoded_reference);
  // Merges the collected operands, and their base if it is known. Returns false as FetchBlob does.
  bool MergeCollected(const DropRules::Follower& next, size_t stripe, SequenceNumber covered);
  // Asks the filter about the current entry, the newest of its key, and does what it decides.
  Step AskFilter(SequenceNumber sequence, ValueType type, size_t stripe);
  // Fails because of a decision that the filter must not make here.
  Step Refuse(CompactionFilter::Decision decision);
  // Call the user's filter: in general, for a plain value, for one in a blob file, for an entity.
  // An exception of the filter fails the walk.
  template <typename Call>
  CompactionFilter::Decision CallFilter(const Call& call);
  CompactionFilter::Decision FilterValue(CompactionFilter::ValueType type, const Slice& value);
  CompactionFilter::Decision FilterBlob();
  CompactionFilter::Decision FilterEntity(const Slice& entity);
  // Asks the filter about the current value, which has that type.
  CompactionFilter::Decision CallFilterFor(ValueType type);
  // Puts an entity of the filter's columns in the place of the value. Returns false if the
  // compaction has failed.
  bool TakeFilterColumns(SequenceNumber sequence);
  // Replaces the current entry by a deletion of type `marker`, if that has anything to delete.
  Step RemoveByFilter(SequenceNumber sequence, ValueType marker, size_t stripe);
  // True if skip_until_, which the filter has set, lies behind the current key.
  bool MaySkip() const;
  // Leaves the entries before skip_until_. Returns kStop if the compaction was cancelled.
  Step SkipUntil();
  // True if an entry of the current key may lie deeper than the output, or in its history.
  bool MayExistDeeper();
  // Fails, and returns true, if the job was cancelled.
  bool Cancelled();
  // Sets the sequence number and type of key_, with which the current entry comes out.
  void SetTrailer(SequenceNumber sequence, ValueType type);
  // Sets them for an entry that stays, but zeroes the sequence number, and sets the timestamp to
  // the oldest one, if no reader can notice.
  void SetLastTrailer(size_t stripe, SequenceNumber sequence, ValueType type);
  Step Fail(Status status);

  EntryBatchReader input_;
  TombstoneSet* const tombstones_;
  const CompactionIteratorOptions options_;
  DropRules rules_;
  const bool has_tombstones_;
  const size_t timestamp_bytes_;
  std::unique_ptr<MergeCollector> collected_;  // null: operands are passed on one by one

  bool valid_ = false;
  bool has_key_ = false;
  bool is_newest_ = false;  // the entry is the newest of its user key
  bool in_past_ = false;    // its timestamp is below full_history_ts_low
  bool starts_user_key_ = false;
  bool input_is_ahead_ = false;  // the input is already after the current entry
  bool in_place_ = true;         // this step left the input on the entry it dropped
  bool empties_next_ = false;    // the entry at the input stays, without its value
  bool operand_stays_ = false;   // a filter removed a collected operand that is conflict evidence
  CoveredJump jump_;
  // Address of the end of the tombstone fragment that covered the last entry counted below.
  const char* covered_until_ = nullptr;
  // Number of entries that this fragment has covered since a jump that did not help; if a jump led
  // from fragment to fragment, of all of them.
  uint32_t covered_here_ = 0;
  // entries_out at the last jump that helped; UINT64_MAX: there was none since one that did not.
  uint64_t out_at_jump_ = UINT64_MAX;
  uint32_t until_poll_ = 0;     // entries until the cancellation flags are polled
  uint64_t last_trailer_ = 0;   // trailer of the last entry taken from the input
  std::string last_timestamp_;  // timestamp of the last entry taken from the input
  std::string key_;             // the current user key with the trailer of the current entry
  Slice value_;
  std::string filter_value_;
  std::vector<std::pair<std::string, std::string>> filter_columns_;
  WideColumns columns_;  // those that the filter gets, or gave
  std::string skip_until_;
  PinnableSlice blob_value_;
  Status status_;
  CompactionCounts counts_;
};

}  // namespace varve
