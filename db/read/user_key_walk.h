// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements the rules by which internal entries become user keys: which version of a key shows at
// a sequence number, and where a walk over keys ends.

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
// timestamps, entries newer than the options' timestamp are not visible, and keys are shown without
// timestamps.
//
// Forward, the source is on the entry that is shown, and key() and value() are the source's own
// bytes. Backward, the source is before all entries of the key that is shown, because only then is
// the newest version known; key() and value() are copies, or pinned.
//
// A key whose newest version is a merge operand is shown with the operator's result of all its
// operands; these are pinned until the walk moves on. Forward, the source is then on the last entry
// that was merged, or on the one after it.
//
// The source is read in batches of entries, and the walk's position in the batch is what comments
// call the source's position. Most steps are plain: they go to the next entry of the batch, which
// is a visible value of a key that differs from its neighbour's, under no tombstone, within all
// bounds.
//
// Thread safety: none. Lifetime: options, comparator, tombstones and the extractor must outlive it;
// the source's iterators add to `tombstones` those of tables they open.
class UserKeyWalk {
 public:
  struct Settings {
    const ReadOptions* options = nullptr;
    const InternalKeyComparator* icmp = nullptr;
    const SliceTransform* prefix_extractor = nullptr;  // null unless walks end with the prefix
    uint64_t reseek_after = 8;            // hidden versions of a key stepped over before a seek
    SystemClock* clock = nullptr;         // used for the options' deadline
    const MergeCaller* merger = nullptr;  // must outlive the source; null: no operator
    Statistics* statistics = nullptr;
  };

  UserKeyWalk() = default;
  UserKeyWalk(const UserKeyWalk&) = delete;
  UserKeyWalk& operator=(const UserKeyWalk&) = delete;

  void Init(const Settings& settings, TombstoneSet* tombstones);
  // Sets the source to walk; forgets the position.
  void SetSource(std::unique_ptr<InternalIterator> source);
  // Sets the visible sequence number; forgets the position.
  void SetSequence(SequenceNumber sequence);
  // Uses and adds to the known tombstone runs of the version that the source walks, as a reader of
  // a super-version; null: not used. Requires that the source has all of the version's entries, and
  // at least one table.
  void SkipTombstoneRuns(TombstoneRuns* ranges, uint64_t super_version);
  // True if the deadline has passed before a seek: then the walk has failed.
  bool TooLateToSeek();
  // Releases the source and what is pinned from it.
  void DropSource() {
    StartSeek();
    source_.reset();
  }

  bool Valid() const { return valid_; }
  const Slice& key() const { return key_; }
  const Slice& value() const { return value_; }
  // Returns the timestamp of the entry that is shown, of the newest one if it was merged. Empty
  // without timestamps.
  const Slice& timestamp() const { return timestamp_; }
  const Status& status() const { return status_; }
  void Fail(Status status);
  SequenceNumber sequence() const { return sequence_; }
  // Returns the user key where the walk is, or where it gave up.
  Slice stopped_at() const { return valid_ ? key_ : passed_key_.slice(); }
  // True if the bytes stay until the source is destroyed.
  bool IsKeyPinned() const;
  bool IsValuePinned() const;

  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& target);
  void SeekForPrev(const Slice& target);
  // These require Valid(). They make a plain step, which needs no other counting. They return
  // false, without a step, if Next() or Prev() must be called.
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
    // The entry after must be of another key: then this one is the newest of its own key.
    if (!backward_ || PlainStepsEnd()) return false;
    const BatchEntry& entry = *batch_.at;
    if (batch_.at[1].same_key != SameKey::kNo || !ShowsAtOnce(entry)) return false;
    batch_.at++;
    Show(entry);
    return true;
  }
  void Next();
  void Prev();
  // Continues over a new source: moves to the next live key after (before) `key`, which need not
  // exist. `in_prefix` is in_prefix() of the walk when it was on the key.
  void GoOnAfter(const Slice& key, bool in_prefix);
  void GoOnBefore(const Slice& key, bool in_prefix);
  // True if the walk ends with the prefix it began in.
  [[nodiscard]] bool in_prefix() const { return has_prefix_; }

  IteratorCounters counters;

 private:
  // Compares as numbers, as either may be null.
  [[nodiscard]] bool PlainStepsEnd() const {
    return reinterpret_cast<uintptr_t>(batch_.at) + sizeof(BatchEntry) >=
           reinterpret_cast<uintptr_t>(plain_end_);
  }
  // Says why entries of passed_key_ are being skipped.
  enum class Passing : uint8_t {
    kNothing,
    kHidden,  // a newer entry of the key was shown, or deletes it
    kRecent,  // too new for the sequence number; with timestamps, not visible
  };
  enum class Verdict : uint8_t { kLive, kDeleted, kCovered, kFailed, kOperand };

  // Position of a seek's target among the versions of a key.
  enum class Place : uint8_t {
    kFirst,    // before all
    kVisible,  // at the newest that may be visible
    kLast,     // after all
  };

  // Positions to and from which the source was moved in order to skip many entries.
  struct Detours {
    // Targets of the last reseek in this direction, and of the last leap of tables after it; empty:
    // none.
    std::string reseek_target;
    std::string leap_target;
    CoveredJump jump;
    // Key after which the tombstone run of the current move begins.
    std::string tombstone_run_key;
    uint64_t tombstone_run_start = 0;         // number of skipped entries at its start
    uint64_t tombstone_run_start_recent = 0;  // number of them that were too new, or kNotAllSeen
  };
  // Operands of the key that is shown, or was shown last.
  struct Merging {
    MergeOperands operands;
    size_t pinned = 0;  // number pinned or copied; the others are in the current batch
    std::string buffer;
  };

  static constexpr size_t kBatchEntries = 32;
  static constexpr uint64_t kBudgetMax = UINT64_MAX / 2;
  static constexpr uint64_t kNotAllSeen = UINT64_MAX;

  // --- The source's position.
  [[nodiscard]] bool AtEntry() const { return batch_.at != batch_.end; }
  // Steps to the next entry in the walk's direction.
  void Step() {
    VARVE_ASSERT(AtEntry());
    if (++batch_.at == batch_.end) TakeBatch();
  }
  void TakeBatch();
  // Only the entry that the source is on is known to be pinned.
  [[nodiscard]] size_t BatchEntriesMax() const { return pins_ ? 1 : kBatchEntries; }
  // Must be called after the source was moved by a seek.
  void TakePlace();
  // Measures how far into the batch no tombstones, bounds and prefixes need checks.
  void MeasurePlain();
  [[nodiscard]] bool ShowsAtOnce(const BatchEntry& entry) const {
    const uint64_t trailer = ExtractTrailer(entry.key());
    return UnpackType(trailer) == kTypeValue && UnpackSequence(trailer) <= sequence_;
  }
  // Used without timestamps.
  void Show(const BatchEntry& entry) {
    key_ = ExtractUserKey(entry.key());
    value_ = entry.value();
  }
  void ShowWithTimestamp(const BatchEntry& entry) {
    key_ = icmp_->KeyOf(entry.key());
    timestamp_ = icmp_->TimestampOf(ExtractUserKey(entry.key()));
    value_ = entry.value();
  }
  // True if the entry is visible. With timestamps, an entry that a tombstone covers is not: a
  // version after it may have been written later.
  [[nodiscard]] bool Visible(const BatchEntry& entry) const {
    const SequenceNumber sequence = ExtractSequence(entry.key());
    return sequence <= sequence_ && (!has_timestamps_ || VisibleInTime(entry, sequence));
  }
  [[nodiscard]] bool VisibleInTime(const BatchEntry& entry, SequenceNumber sequence) const;
  // Requires timestamps.
  [[nodiscard]] bool IsOfLaterTime(const BatchEntry& entry) const {
    return icmp_->CompareTimestamp(icmp_->TimestampOf(ExtractUserKey(entry.key())), as_of_) > 0;
  }
  // Copies the timestamp, because the source moves on while the entry is shown.
  void KeepTimestamp(const BatchEntry& entry) {
    VARVE_ASSERT(has_timestamps_);
    const Slice timestamp = icmp_->TimestampOf(ExtractUserKey(entry.key()));
    if (kept_timestamp_ == nullptr) kept_timestamp_ = std::make_unique<std::string>();
    kept_timestamp_->assign(timestamp.data(), timestamp.size());
    timestamp_ = *kept_timestamp_;
  }
  // True if the entry's user key is passed_key_. Requires that the entry before it has that key.
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
  // Must be called before the source is moved to target_ in the walk's direction. Returns false,
  // and fails the walk, unless that is beyond the last such target.
  bool MayReseek();
  void FailOutOfOrder();
  // Must be called before only the tables are moved: returns false if they have been moved as far.
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

  // --- Merging (user_key_merge.cc). Shows the key whose newest visible entry, on which the source
  // is, is an operand.
  void MergeForward();
  // Does the same for the key that was passed backward; the source is before its entries.
  void MergeBackward();
  bool CollectOperands();
  bool StepInKey();
  [[nodiscard]] const BatchEntry* LastOfOperands(const BatchEntry* at) const;
  bool MoveOverOperands();
  void PinOperands();
  bool MergeOperandsNow();
  // Releases the operands of the key that was shown.
  void ForgetMerge();
  // Returns true if another entry may be skipped; otherwise fails the walk.
  bool Spend() {
    if (budget_left_ != 0) [[likely]] {
      budget_left_--;
      return true;
    }
    return SpendMore();
  }
  // Like Spend, for an entry under a range tombstone, which does not count against the user's
  // limit: only time may run out.
  bool SpendNone() {
    budget_rest_++;
    return Spend();
  }
  bool SpendMore();
  // Must be called at the start of each move.
  void GetBudget() {
    budget_left_ = std::min(budget_, first_slice_);
    budget_rest_ = budget_ - budget_left_;
    slice_ended_ = false;
    in_tombstone_run_ = false;
  }

  // --- Range tombstones. If one is over passed_key_, moves the source's older sorted runs to the
  // tombstone's end (start). Returns true if any was moved; the walk may have failed. Requires
  // AtEntry().
  bool LeaveCovered();
  // True if a tombstone newer than the entry with that trailer covers the key.
  [[nodiscard]] bool IsCovered(const Slice& key, uint64_t trailer) const {
    return tombstones_->MaxCoveringSeq(key, sequence_) > UnpackSequence(trailer);
  }

  // --- Long runs of deletions. Called in a move that has skipped a slice of entries, the last of
  // which is passed_key_: begins to measure the tombstone run. Returns true if the source was moved
  // beyond a known tombstone run, or the walk has failed.
  bool LeaveTombstoneRun();
  // True if the source itself is where the walk is, so that no entry it has returned is lost.
  [[nodiscard]] bool MayLeaveTombstoneRun() const {
    return slice_ended_ && batch_.at + 1 == batch_.end;
  }
  // Must be called at the end of such a move.
  void CloseTombstoneRun();
  // Returns false, and fails the walk, once the deadline has passed.
  bool InTime();

  bool BeyondEnd(const Slice& key) {
    return (upper_ != nullptr && icmp_->CompareKey(key, *upper_) >= 0) ||
           (has_prefix_ && !InPrefix(key));
  }
  bool BeyondStart(const Slice& key) {
    return (lower_ != nullptr && icmp_->CompareKey(key, *lower_) < 0) ||
           (has_prefix_ && !InPrefix(key));
  }
  // Both fail the walk if the extractor throws, and then return false.
  bool InPrefix(const Slice& key);
  bool SetPrefixOf(const Slice& key);
  void StayInPrefix();

  void StartSeek();
  // Sets target_.
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
  bool key_kept_ = false;        // backward: key_ points to the source's pinned bytes
  bool value_kept_ = false;      // backward: value_ points to the source's pinned bytes
  bool merged_ = false;          // value_ is the result of an operator
  bool has_timestamps_ = false;  // keys have timestamps
  bool tailing_ = false;         // other threads may write between two steps
  // Forward: true if the source is after the entries of the key that is shown.
  bool is_past_ = false;
  bool jumps_ = true;  // may jump over tombstone runs
  bool slice_ended_ = false;
  bool in_tombstone_run_ = false;  // the run described in detours_
  bool reseeks_here_ = false;      // backward: the last reseek began at passed_key_
  Slice key_;
  Slice value_;
  Slice timestamp_;
  Slice as_of_;                            // newer timestamps are not visible
  EntryBatch batch_;                       // at its end: no entry is left
  const BatchEntry* plain_end_ = nullptr;  // the batch's end, or null if entries must be checked
  uint64_t reseek_after_ = 0;
  uint64_t budget_ = kBudgetMax;  // max_skippable_internal_keys
  // The budget is used in slices. After each, the clock and the known ranges are checked; if
  // neither is needed, the slice is the budget.
  uint64_t first_slice_ = UINT64_MAX;
  uint64_t budget_left_ = 0;  // rest of the slice
  uint64_t budget_rest_ = 0;  // rest of the budget after it
  SystemClock* clock_ = nullptr;
  uint64_t deadline_micros_ = 0;  // 0: none
  KeyBuffer passed_key_;
  Status status_;
  TombstoneRuns* tombstone_runs_ = nullptr;  // null: not used
  uint64_t super_version_ = 0;
  const SliceTransform* extractor_ = nullptr;
  std::string prefix_;
  std::string target_;
  std::string saved_value_;
  Cleanable value_pin_;
  const MergeCaller* merger_ = nullptr;
  Statistics* statistics_ = nullptr;
  // Members that most walks never need are allocated on demand: a small iterator is cheap to make.
  std::unique_ptr<Detours> detours_;
  std::unique_ptr<Merging> merging_;
  std::unique_ptr<std::string> kept_timestamp_;
};

}  // namespace varve
