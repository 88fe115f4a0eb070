// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules by which internal entries become user keys: which version of a key shows at a sequence
// number, and where a walk over keys ends.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/slice_transform.h"
#include "varve/system_clock.h"

#include "db/read/covered_jump.h"
#include "db/read/iterator_counters.h"
#include "db/read/key_buffer.h"
#include "db/version/tombstone_runs.h"
#include "util/base/assert.h"
#include "util/iter/entry_batch.h"
#include "util/key/internal_key.h"
#include "util/key/merge_caller.h"
#include "util/key/merge_operands.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Walks the visible, live keys of a merged source within the bounds of the options. With
// timestamps, what is newer than the options' timestamp is not visible, and keys are shown without
// theirs.
//
// Forward, the source stands on the entry that is shown, and key() and value() are the source's own
// bytes. Backward, the source stands before all entries of the key that is shown, because only then
// is it known which version was the newest; key() and value() are copies, or pinned.
//
// A key whose newest version is a merge operand is shown with what the operator makes of all its
// operands; these are pinned where they lie until the walk moves on. Forward, the source then
// stands on the last entry that was merged, or on the one after it.
//
// The source is read in batches of entries, and the walk keeps the place in the batch that the
// rules speak of as the source's. Most steps go from an entry to the next of the batch, which is
// plain: a visible value of a key that differs from its neighbour's, under no tombstone, within all
// bounds.
//
// Thread safety: none. Lifetime: options, comparator, tombstones and the extractor outlive it; the
// source's iterators add to `tombstones` what they open.
class UserKeyWalk {
 public:
  struct Settings {
    const ReadOptions* options = nullptr;
    const InternalKeyComparator* icmp = nullptr;
    const SliceTransform* prefix_extractor = nullptr;  // null unless walks end with the prefix
    uint64_t reseek_after = 8;            // hidden versions of one key stepped over before a seek
    SystemClock* clock = nullptr;         // for the options' deadline
    const MergeCaller* merger = nullptr;  // outlives the source; null: no operator
    Statistics* statistics = nullptr;
  };

  UserKeyWalk() = default;
  UserKeyWalk(const UserKeyWalk&) = delete;
  UserKeyWalk& operator=(const UserKeyWalk&) = delete;

  void Init(const Settings& settings, TombstoneSet* tombstones);
  // The source to walk from now on; forgets the position.
  void SetSource(std::unique_ptr<InternalIterator> source);
  // What is visible from now on; forgets the position.
  void SetSequence(SequenceNumber sequence);
  // What is known of the version that the source walks, as a reader of a super-version; null: not
  // used. Requires that the source has all of the version's entries, and at least one table.
  void SkipTombstoneRuns(TombstoneRuns* ranges, uint64_t super_version);
  // Whether the deadline has passed before a seek: the walk has failed then.
  bool TooLateToSeek();
  // Releases the source and of what is pinned from it.
  void DropSource() {
    StartSeek();
    source_.reset();
  }

  bool Valid() const { return valid_; }
  const Slice& key() const { return key_; }
  const Slice& value() const { return value_; }
  // Of the entry that is shown, the newest one if it was merged. Empty without timestamps.
  const Slice& timestamp() const { return timestamp_; }
  const Status& status() const { return status_; }
  void Fail(Status status);
  SequenceNumber sequence() const { return sequence_; }
  // The user key where the walk stands, or where it gave up.
  Slice stopped_at() const { return valid_ ? key_ : passed_key_.slice(); }
  // True when the bytes stay until the source is destroyed.
  bool IsKeyPinned() const;
  bool IsValuePinned() const;

  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& target);
  void SeekForPrev(const Slice& target);
  // These require Valid(). A plain step has nothing to count but itself; false: it takes the whole
  // of Next() or Prev().
  bool NextPlain() {
    VARVE_ASSERT(plain_end_ == nullptr || plain_end_ == batch_.end);
    if (backward_ || PlainStepsEnd()) return false;
    const BatchEntry& next = batch_.at[1];
    if (next.same_key != SameKey::kNo || !ShowsAtOnce(next)) return false;
    batch_.at++;
    Show(next);
    return true;
  }
  bool PrevPlain() {
    // The entry after must be another key's: then this one is the newest of its own.
    if (!backward_ || PlainStepsEnd()) return false;
    const BatchEntry& entry = *batch_.at;
    if (batch_.at[1].same_key != SameKey::kNo || !ShowsAtOnce(entry)) return false;
    batch_.at++;
    Show(entry);
    return true;
  }
  void Next();
  void Prev();
  // Over a new source: to the next live key after (before) `key`, which need not be there.
  // `in_prefix` as in_prefix() was when the walk stood on it.
  void GoOnAfter(const Slice& key, bool in_prefix);
  void GoOnBefore(const Slice& key, bool in_prefix);
  // True if the walk ends with the prefix it began in.
  [[nodiscard]] bool in_prefix() const { return has_prefix_; }

  IteratorCounters counters;

 private:
  // As numbers: either may be null.
  [[nodiscard]] bool PlainStepsEnd() const {
    return reinterpret_cast<uintptr_t>(batch_.at) + sizeof(BatchEntry) >=
           reinterpret_cast<uintptr_t>(plain_end_);
  }
  // Why entries of passed_key_ are being passed over.
  enum class Passing : uint8_t {
    kNothing,
    kHidden,  // something newer of the key was shown, or deletes it
    kRecent,  // too new for the sequence number; with timestamps, not visible
  };
  enum class Verdict : uint8_t { kLive, kDeleted, kCovered, kFailed, kOperand };

  // Where a seek goes among the versions of a key.
  enum class Place : uint8_t {
    kFirst,    // before all
    kVisible,  // to the newest that may be visible
    kLast,     // after all
  };

  // Where the source was moved to so as to pass over much, and from where.
  struct Detours {
    // Of the last reseek in this direction, and of the last leap of tables after it; empty: none.
    std::string reseek_target;
    std::string leap_target;
    CoveredJump jump;
    // A tombstone run passed over in this move, from after a key on.
    std::string tombstone_run_key;
    uint64_t tombstone_run_start = 0;         // what counters said was passed over
    uint64_t tombstone_run_start_recent = 0;  // and of that, as too new; or kNotAllSeen
  };
  // Of the key that is shown, or was last, with operands.
  struct Merging {
    MergeOperands operands;
    size_t pinned = 0;  // or copied; the others are in the current batch
    std::string buffer;
  };

  static constexpr size_t kBatchEntries = 32;
  static constexpr uint64_t kBudgetMax = UINT64_MAX / 2;
  static constexpr uint64_t kNotAllSeen = UINT64_MAX;

  // --- The source's place.
  [[nodiscard]] bool AtEntry() const { return batch_.at != batch_.end; }
  // Steps to the next entry in the walk's direction.
  void Step() {
    VARVE_ASSERT(AtEntry());
    if (++batch_.at == batch_.end) TakeBatch();
  }
  void TakeBatch();
  // What is pinned is known of the entry that the source stands on only.
  [[nodiscard]] size_t BatchEntriesMax() const { return pins_ ? 1 : kBatchEntries; }
  // After the source was moved by a seek.
  void TakePlace();
  // How far into the batch there are no tombstones, bounds and prefixes to look at.
  void MeasurePlain();
  [[nodiscard]] bool ShowsAtOnce(const BatchEntry& entry) const {
    const uint64_t trailer = ExtractTrailer(entry.key());
    return UnpackType(trailer) == kTypeValue && UnpackSequence(trailer) <= sequence_;
  }
  // Without timestamps.
  void Show(const BatchEntry& entry) {
    key_ = ExtractUserKey(entry.key());
    value_ = entry.value();
  }
  void ShowWithTimestamp(const BatchEntry& entry) {
    key_ = icmp_->KeyOf(entry.key());
    timestamp_ = icmp_->TimestampOf(ExtractUserKey(entry.key()));
    value_ = entry.value();
  }
  // With timestamps, what a tombstone covers is as if it were not there: a version after it may
  // have been written later.
  [[nodiscard]] bool Visible(const BatchEntry& entry) const {
    const SequenceNumber sequence = ExtractSequence(entry.key());
    return sequence <= sequence_ && (!has_timestamps_ || VisibleInTime(entry, sequence));
  }
  [[nodiscard]] bool VisibleInTime(const BatchEntry& entry, SequenceNumber sequence) const;
  // Requires timestamps.
  [[nodiscard]] bool IsOfLaterTime(const BatchEntry& entry) const {
    return icmp_->CompareTimestamp(icmp_->TimestampOf(ExtractUserKey(entry.key())), as_of_) > 0;
  }
  // For when the source moves on while the entry is shown.
  void KeepTimestamp(const BatchEntry& entry) {
    VARVE_ASSERT(has_timestamps_);
    const Slice timestamp = icmp_->TimestampOf(ExtractUserKey(entry.key()));
    if (kept_timestamp_ == nullptr) kept_timestamp_ = std::make_unique<std::string>();
    kept_timestamp_->assign(timestamp.data(), timestamp.size());
    timestamp_ = *kept_timestamp_;
  }
  // True if the entry's user key is passed_key_. Requires that the entry before it has that.
  [[nodiscard]] bool SameAsPassed(const BatchEntry& entry) const {
    return entry.same_key == SameKey::kUnknown ? PassedKeyIs(entry)
                                               : entry.same_key == SameKey::kYes;
  }
  [[nodiscard]] bool PassedKeyIs(const BatchEntry& entry) const {
    return icmp_->EqualKey(icmp_->KeyOf(entry.key()), passed_key_.slice());
  }

  void FindForward(Passing passing) {
    PassForward(passing);
    if (in_tombstone_run_) [[unlikely]]
      CloseTombstoneRun();
  }
  void FindBackward() {
    PassBackward();
    if (in_tombstone_run_) [[unlikely]]
      CloseTombstoneRun();
  }
  void PassForward(Passing passing);
  void PassBackward();
  bool FindNewestVisible(uint64_t* trailer);
  bool SeekNewestVisible(uint64_t* trailer);
  bool PassTooNew();
  void TurnForward();
  void TurnBackward();
  // Before the source is moved to target_ in the walk's direction: false, failing the walk, unless
  // that is beyond where it was last moved to so.
  bool MayReseek();
  void FailOutOfOrder();
  // Before its tables alone are: false if they have been moved as far.
  bool LeapsFurther();
  void ForgetSeeks() {
    if (detours_ == nullptr) [[likely]]
      return;
    detours_->reseek_target.clear();
    detours_->leap_target.clear();
    detours_->jump.Forget();
  }
  Detours& detours() {
    if (detours_ == nullptr) {
      detours_ = std::make_unique<Detours>();
      detours_->jump.Init(icmp_, tombstones_);
    }
    return *detours_;
  }
  bool ReseekForward(Passing passing, uint64_t trailer);
  bool GoToVisible(uint64_t stepped_on);
  bool ReseekBackward();

  Verdict Judge(const Slice& key, uint64_t trailer);
  Verdict RefuseType(uint64_t trailer);

  // --- Merging (user_key_merge.cc).
  // The newest visible entry of a key is an operand, and the source stands on it: shows the key.
  void MergeForward();
  // The same for the key that was passed backward, before whose entries the source stands.
  void MergeBackward();
  bool CollectOperands();
  bool StepInKey();
  [[nodiscard]] const BatchEntry* LastOfOperands(const BatchEntry* at) const;
  bool MoveOverOperands();
  void PinOperands();
  bool MergeOperandsNow();
  // Releases the operands of the key that was shown.
  void ForgetMerge();
  // True while another entry may be passed over; fails the walk otherwise.
  bool Spend() {
    if (budget_left_ != 0) [[likely]] {
      budget_left_--;
      return true;
    }
    return SpendMore();
  }
  // The same for an entry under a range tombstone, which users do not take for one that was passed
  // over: it is only time that may run out.
  bool SpendNone() {
    budget_rest_++;
    return Spend();
  }
  bool SpendMore();
  // At the start of each move.
  void GetBudget() {
    budget_left_ = std::min(budget_, first_slice_);
    budget_rest_ = budget_ - budget_left_;
    slice_ended_ = false;
    in_tombstone_run_ = false;
  }

  // --- Range tombstones.
  // With one over passed_key_: moves the source's older sorted runs to the tombstone's end (start).
  // True if any was moved; the walk may have failed. Requires AtEntry().
  bool LeaveCovered();
  // By a tombstone that is newer than the entry with that trailer.
  [[nodiscard]] bool IsCovered(const Slice& key, uint64_t trailer) const {
    return tombstones_->MaxCoveringSeq(key, sequence_) > UnpackSequence(trailer);
  }

  // --- Deletions without end.
  // In a move that has passed over a slice of entries, of which passed_key_ is the last: begins to
  // measure the tombstone run; true if the source was moved beyond a known tombstone run, or the
  // walk has failed.
  bool LeaveTombstoneRun();
  // The source itself has to stand where the walk does, so that nothing it has handed over is lost.
  [[nodiscard]] bool MayLeaveTombstoneRun() const {
    return slice_ended_ && batch_.at + 1 == batch_.end;
  }
  // At the end of such a move.
  void CloseTombstoneRun();
  // False, failing the walk, once the deadline has passed.
  bool InTime();

  bool BeyondEnd(const Slice& key) {
    return (upper_ != nullptr && icmp_->CompareKey(key, *upper_) >= 0) ||
           (has_prefix_ && !InPrefix(key));
  }
  bool BeyondStart(const Slice& key) {
    return (lower_ != nullptr && icmp_->CompareKey(key, *lower_) < 0) ||
           (has_prefix_ && !InPrefix(key));
  }
  // Both fail the walk if the extractor throws, and are false then.
  bool InPrefix(const Slice& key);
  bool SetPrefixOf(const Slice& key);
  void StayInPrefix();

  void StartSeek();
  // Makes target_.
  void SetTarget(const Slice& key, Place place);
  void SeekSource(const Slice& key, Place place);
  void SeekSourceForPrev(const Slice& key, Place place);
  void SaveValue();
  void EndOfSource();

  std::unique_ptr<InternalIterator> source_;
  const InternalKeyComparator* icmp_ = nullptr;
  TombstoneSet* tombstones_ = nullptr;
  const Slice* lower_ = nullptr;
  const Slice* upper_ = nullptr;
  SequenceNumber sequence_ = 0;
  bool valid_ = false;
  bool backward_ = false;
  bool has_prefix_ = false;
  bool pins_ = false;            // pin_data
  bool key_kept_ = false;        // backward: key_ is the source's, pinned
  bool value_kept_ = false;      // backward: value_ is the source's, pinned for its life
  bool merged_ = false;          // value_ is what an operator made
  bool has_timestamps_ = false;  // there are timestamps
  bool tailing_ = false;         // between two steps others may write
  // Forward: the source stands after the entries of the key that is shown.
  bool is_past_ = false;
  bool jumps_ = true;  // over tombstone runs
  bool slice_ended_ = false;
  bool in_tombstone_run_ = false;  // the one of detours_
  bool reseeks_here_ = false;  // backward: it began at passed_key_, from where there may be another
  Slice key_;
  Slice value_;
  Slice timestamp_;
  Slice as_of_;                            // what is newer is not visible
  EntryBatch batch_;                       // at end: nothing is left
  const BatchEntry* plain_end_ = nullptr;  // its end, or null when entries must be looked at
  uint64_t reseek_after_ = 0;
  uint64_t budget_ = kBudgetMax;  // max_skippable_internal_keys
  // The budget is given out in slices. Between them there is a look at the clock and at what is
  // known of ranges; without need for either, the slice is the budget.
  uint64_t first_slice_ = UINT64_MAX;
  uint64_t budget_left_ = 0;  // of the slice
  uint64_t budget_rest_ = 0;  // after it
  SystemClock* clock_ = nullptr;
  uint64_t deadline_micros_ = 0;  // 0: none
  KeyBuffer passed_key_;
  Status status_;
  TombstoneRuns* tombstone_runs_ = nullptr;  // null: not looked at
  uint64_t super_version_ = 0;
  const SliceTransform* extractor_ = nullptr;
  std::string prefix_;
  std::string target_;
  std::string saved_value_;
  Cleanable value_pin_;
  const MergeCaller* merger_ = nullptr;
  Statistics* statistics_ = nullptr;
  // What most walks never need is made when it is: an iterator is as cheap as it is small.
  std::unique_ptr<Detours> detours_;
  std::unique_ptr<Merging> merging_;
  std::unique_ptr<std::string> kept_timestamp_;
};

}  // namespace varve
