// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements the walk from internal entries to user keys: which keys show, and in which order.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "varve/options.h"
#include "varve/slice_transform.h"
#include "varve/system_clock.h"
#include "varve/wide_columns.h"

#include "db/read/covered_jump.h"
#include "db/read/entry_visibility.h"
#include "db/read/iterator_counters.h"
#include "db/read/key_buffer.h"
#include "db/read/merged_value.h"
#include "db/read/seek_progress.h"
#include "db/read/skip_budget.h"
#include "db/read/tombstone_run_watch.h"
#include "db/read/walk_blobs.h"
#include "db/read/walk_bounds.h"
#include "util/base/assert.h"
#include "util/iter/entry_batch.h"
#include "util/key/internal_key.h"
#include "util/key/merge_caller.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Walks the visible, live keys of a merged source within the bounds of the options. With
// timestamps, entries newer than the options' timestamp are not visible. Every key that is shown,
// and every `key`, `user_key` and `target` of a method, is a user key without timestamp.
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
// The parts of a walk have classes of their own: what is visible (EntryVisibility), where the walk
// ends (WalkBounds), how much it may skip (SkipBudget), that its seeks lead onward (SeekProgress),
// jumps over range tombstones (CoveredJump), runs of deletions (TombstoneRunWatch) and merge
// operands (MergedValue). The moves are in user_key_walk_forward.cc and user_key_walk_backward.cc.
//
// Thread safety: none. Lifetime: options, comparator, tombstones and the extractor must outlive it;
// `tombstones` is shared with the source, whose iterators add to it the range tombstones of each
// table that they open. Errors: a move that fails ends the walk (Fail); status() has the error
// until the next seek. Moves may throw what a comparator or an allocation throws; the owner then
// calls Fail.
class UserKeyWalk {
 public:
  struct Settings {
    const ReadOptions* options = nullptr;
    const InternalKeyComparator* icmp = nullptr;
    const SliceTransform* prefix_extractor = nullptr;  // null unless walks end with the prefix
    uint64_t reseek_after = 8;            // hidden versions of a key stepped over before a seek
    SystemClock* clock = nullptr;         // for ReadOptions::deadline; may be null if that is 0
    const MergeCaller* merger = nullptr;  // must outlive the source; null: no operator
    Statistics* statistics = nullptr;
    // Source and version of values in blob files; null: there are none. Both outlive the walk's
    // source.
    BlobSource* blobs = nullptr;
    const Version* version = nullptr;
  };

  UserKeyWalk() = default;
  UserKeyWalk(const UserKeyWalk&) = delete;
  UserKeyWalk& operator=(const UserKeyWalk&) = delete;

  // Must be called before all else, and again, after DropSource, before a source over another
  // super-version is set, because the settings belong to one super-version.
  void Init(const Settings& settings, TombstoneSet* tombstones);
  // Sets the source to walk; forgets the position.
  void SetSource(std::unique_ptr<InternalIterator> source);
  // Sets the visible sequence number; forgets the position.
  void SetSequence(SequenceNumber sequence);
  // Makes the walk jump over the tombstone runs in `ranges` (db/version/tombstone_runs.h), which
  // belong to the version that the source walks, and add those that it finds. `super_version` is
  // the number of the walk's super-version. Null turns this off. Requires that the source has all
  // of the version's entries, and at least one table.
  void SkipTombstoneRuns(TombstoneRuns* ranges, uint64_t super_version);
  // Must be called before a seek: if ReadOptions::deadline has passed, fails the walk with TimedOut
  // and returns true; the seek must then not be made.
  bool TooLateToSeek();
  // Releases the source and what is pinned from it.
  void DropSource() {
    StartSeek();
    source_.reset();
  }

  // True if an entry is shown. False at the end, before the first seek, and after a failure.
  bool Valid() const { return valid_; }
  const Slice& key() const { return key_; }
  const Slice& value() const { return value_; }
  // Returns the columns of the entry that is shown, by name; a plain value is one column. Valid
  // until the walk moves, or the call is made again.
  const WideColumns& columns();
  // True if the entry that is shown is an entity.
  [[nodiscard]] bool IsEntity() const { return kept_ != nullptr && kept_->shows_entity; }
  // Returns the timestamp of the entry that is shown, of the newest one if it was merged. Empty
  // without timestamps.
  const Slice& timestamp() const { return timestamp_; }
  // Returns the error that ended the walk, or OK.
  const Status& status() const { return status_; }
  // Ends the walk with an error; nothing is shown until the next seek.
  void Fail(Status status);
  // Moves the key of the entry whose value has failed the walk to *key, without timestamp. Returns
  // false if there is none, or if it was taken since.
  bool TakeFailedKey(std::string* key);
  SequenceNumber sequence() const { return visibility_.sequence(); }
  // Returns the user key where the walk is, or where it gave up.
  Slice stopped_at() const { return valid_ ? key_ : passed_key_.slice(); }
  // True if the bytes stay until the source is destroyed.
  bool IsKeyPinned() const;
  bool IsValuePinned() const;

  // Move to a live key within the bounds: the first, the last, the first at or after the target,
  // and the last at or before it.
  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& target);
  void SeekForPrev(const Slice& target);
  // Make a plain step (see above), and skip and count nothing. Return false, without a step, if the
  // step is not plain: then Next() or Prev() must be called. May be called if !Valid(), and then
  // return false.
  bool NextPlain() {
    VARVE_ASSERT(plain_end_ == nullptr || plain_end_ == batch_.end);
    if (backward_ || PlainStepsEnd()) return false;
    const BatchEntry& next = batch_.at[1];
    if (next.same_key != SameKey::kNo || !visibility_.IsVisibleValue(next)) return false;
    batch_.at++;
    ShowPlain(next);
    return true;
  }
  bool PrevPlain() {
    // The entry after must be of another key: then this one is the newest of its own key.
    if (!backward_ || PlainStepsEnd()) return false;
    const BatchEntry& entry = *batch_.at;
    if (batch_.at[1].same_key != SameKey::kNo || !visibility_.IsVisibleValue(entry)) return false;
    batch_.at++;
    ShowPlain(entry);
    return true;
  }
  void Next();
  void Prev();
  // Reads the value of the entry that is shown, if that was left out; see allow_unprepared_value.
  // Returns false if the walk has failed.
  bool PrepareValue();
  // Continues over a new source: moves to the next live key after (before) `key`, which need not
  // exist there. `in_prefix` is what in_prefix() returned when the walk over the old source was on
  // the key; if true, the walk again ends with that key's prefix.
  void GoOnAfter(const Slice& key, bool in_prefix);
  void GoOnBefore(const Slice& key, bool in_prefix);
  // True if the walk ends with the prefix it began in.
  [[nodiscard]] bool in_prefix() const { return bounds_.has_prefix(); }

  IteratorCounters counters;

 private:
  using Place = EntryVisibility::Place;
  using Verdict = EntryVisibility::Verdict;

  // Says why entries of passed_key_ are being skipped.
  enum class Passing : uint8_t {
    kNothing,
    kHidden,  // a newer entry of the key was shown, or deletes it
    kRecent,  // too new for the sequence number; with timestamps, not visible
  };

  // Ways to skip many entries at once.
  struct Detours {
    SeekProgress progress;
    CoveredJump jump;
  };

  // Members that only walks with timestamps, over values in blob files, or over entities have.
  struct Kept {
    std::string timestamp;
    std::unique_ptr<WalkBlobs> blobs;  // null if the version has no blob files
    bool shows_entity = false;         // true if the columns are those of the shown entity
    WideColumns columns;
    // Key of the entry whose value has failed the walk, until it is taken.
    std::optional<std::string> failed_key;
  };

  static constexpr size_t kBatchEntries = 32;

  // --- The source's position.
  [[nodiscard]] bool AtEntry() const { return batch_.at != batch_.end; }
  // True if the source itself is where the walk is, so that no entry it has returned is lost when
  // it is moved.
  [[nodiscard]] bool SourceIsHere() const { return batch_.at + 1 == batch_.end; }
  // True if no plain step is allowed from here: the next entry is at plain_end_ or after it.
  // Compares addresses as numbers, because either pointer may be null.
  [[nodiscard]] bool PlainStepsEnd() const {
    return reinterpret_cast<uintptr_t>(batch_.at) + sizeof(BatchEntry) >=
           reinterpret_cast<uintptr_t>(plain_end_);
  }
  // Steps to the next entry in the walk's direction.
  void Step() {
    VARVE_ASSERT(AtEntry());
    if (++batch_.at == batch_.end) TakeBatch();
  }
  // Takes the next entries from the source.
  void TakeBatch();
  // With pin_data batches have one entry, because the source answers only for the entry that it is
  // on whether key and value are pinned.
  [[nodiscard]] size_t BatchEntriesMax() const { return pins_ ? 1 : kBatchEntries; }
  // Must be called after the source was moved by a seek.
  void TakePlace();
  // Measures how far into the batch no tombstones, bounds and prefixes need checks.
  void MeasurePlain();
  // True if the entry's user key is passed_key_. Requires that the entry before it has that key.
  [[nodiscard]] bool SameAsPassed(const BatchEntry& entry) const {
    return entry.same_key == SameKey::kUnknown ? PassedKeyIs(entry)
                                               : entry.same_key == SameKey::kYes;
  }
  [[nodiscard]] bool PassedKeyIs(const BatchEntry& entry) const {
    return icmp_->EqualKey(icmp_->KeyOf(entry.key()), passed_key_.slice());
  }

  // --- What is shown. ShowPlain requires that there are no timestamps.
  void ShowPlain(const BatchEntry& entry) {
    key_ = ExtractUserKey(entry.key());
    value_ = entry.value();
  }
  void Show(const BatchEntry& entry) {
    key_ = icmp_->KeyOf(entry.key());
    timestamp_ = visibility_.TimestampOf(entry);
    value_ = entry.value();
  }
  // Copies the timestamp, because the source moves on while the entry is shown. Requires
  // timestamps.
  void KeepTimestamp(const BatchEntry& entry);
  // Judges the newest visible entry of a key; fails the walk if the entry cannot be read. All
  // tombstones that may cover it have been added: every source has been positioned around the key.
  Verdict Judge(const Slice& key, uint64_t trailer) {
    const Verdict verdict = visibility_.Judge(key, trailer);
    if (verdict == Verdict::kRefused) [[unlikely]]
      Fail(EntryVisibility::RefusalOf(trailer));
    return verdict;
  }

  // --- Seeks.
  // Forgets what is shown, and the last error.
  void StartSeek();
  // Sets target_.
  void SetTarget(const Slice& key, Place place) { visibility_.SetTarget(key, place, &target_); }
  // Move the source to a place among the versions of the key, and take a batch from there.
  void SeekSource(const Slice& key, Place place);
  void SeekSourceForPrev(const Slice& key, Place place);
  // Must be called before the source is moved to target_ in the walk's direction within one walk.
  // Returns false, and fails the walk with Corruption, if target_ is not beyond the target of the
  // last such move: the keys are out of order then (SeekProgress).
  bool MayReseek();
  // Fails the walk with Corruption, as the source does not ascend.
  void FailOutOfOrder();
  void ForgetDetours() {
    if (detours_ == nullptr) [[likely]]
      return;
    detours_->progress.Forget();
    detours_->jump.Forget();
  }
  Detours& detours();
  // Ends the walk: at the end of the source, or with its error.
  void EndOfSource();

  // --- Bounds and prefix. The walk has failed if the prefix extractor throws.
  bool BeyondEnd(const Slice& key) {
    if (!bounds_.IsBeyondEnd(key)) [[likely]]
      return false;
    CheckExtractor();
    return true;
  }
  bool BeyondStart(const Slice& key) {
    if (!bounds_.IsBeyondStart(key)) [[likely]]
      return false;
    CheckExtractor();
    return true;
  }
  bool SetPrefixOf(const Slice& key) {
    if (bounds_.SetPrefixOf(key)) [[likely]]
      return true;
    CheckExtractor();
    return false;
  }
  // Fails the walk if the prefix extractor has thrown.
  void CheckExtractor();
  // Sets the prefix of the key that is shown, if the options ask for walks to end with it.
  void StayInPrefix();

  // --- The budget. Both return true if another entry may be skipped; otherwise they fail the walk.
  bool Spend() {
    if (budget_.Spend()) [[likely]]
      return true;
    Fail(budget_.Refusal());
    return false;
  }
  // Is called for an entry under a range tombstone, which does not count against the user's limit.
  bool SpendTimeOnly() {
    if (budget_.SpendTimeOnly()) [[likely]]
      return true;
    Fail(budget_.Refusal());
    return false;
  }
  // Must be called at the start of each move.
  void StartMove() {
    budget_.StartMove();
    run_watch_.Forget();
  }

  // --- Forward (user_key_walk_forward.cc).
  void FindForward(Passing passing) {
    PassForward(passing);
    if (run_watch_.measuring()) [[unlikely]]
      CloseTombstoneRun();
  }
  // Steps to the next entry to be shown, and shows it.
  void PassForward(Passing passing);
  // Seeks behind many hidden versions of a key instead of stepping over them. Returns false if the
  // seek would not lead beyond the current entry, whose trailer is given; otherwise the source was
  // moved, or the walk has failed.
  bool ReseekForward(Passing passing, uint64_t trailer);
  // Changes the direction, with the key shown as the starting point.
  void TurnForward();

  // --- Backward (user_key_walk_backward.cc).
  void FindBackward() {
    PassBackward();
    if (run_watch_.measuring()) [[unlikely]]
      CloseTombstoneRun();
  }
  // Steps to the previous key, and finds its newest visible version.
  void PassBackward();
  // Find the newest visible version of passed_key_: by steps, or, after too many of them, by a
  // seek. Set *trailer to its trailer, and save its value and timestamp; leave *trailer if there is
  // none. The source is before all versions of the key afterwards. Return false if the walk has
  // failed.
  bool FindNewestVisible(uint64_t* trailer);
  bool SeekNewestVisible(uint64_t* trailer);
  // Moves the source to that version. Returns false if there is none, or the walk has failed.
  // `stepped_on` is the trailer of a version that a step has found: if the seek misses it without
  // a reason, the table is damaged, and the walk fails.
  bool GoToVisible(uint64_t stepped_on);
  // Passes the versions of passed_key_ that are too new. Returns false if the walk has failed.
  bool PassTooNew();
  // Seeks to before all versions of passed_key_. Returns false if the walk has failed.
  bool ReseekBackward();
  // Sets value_ to a copy of the value, or pins it, before the source moves on.
  void SaveValue();
  // Changes the direction, with the key shown as the starting point.
  void TurnBackward();

  // --- Values in blob files. Shows the key whose newest visible entry, with that user key and
  // timestamp, has the reference `encoded` as its value. Returns false if the walk has failed.
  bool ShowReference(const Slice& user_key, const Slice& timestamp, const Slice& encoded);
  // Sets *value to what the reference leads to, until the walk moves on.
  bool ReadReference(const Slice& user_key, const Slice& timestamp, const Slice& encoded,
                     Slice* value);
  // Reads the value that WalkBlobs has the reference of.
  Status ReadBlob(Slice* value);
  // Fails the walk because of the value of the entry where it is, or of the base of operands.
  void FailAtEntry(Status status);
  [[nodiscard]] WalkBlobs* blobs() const { return kept_ != nullptr ? kept_->blobs.get() : nullptr; }
  [[nodiscard]] bool IsFromBlob() const { return blobs() != nullptr && blobs()->active(); }

  // --- Entities. Shows the key whose newest visible entry is an entity, or was merged into one:
  // value_ becomes its default column. The walk fails if the entity is ill-formed.
  void ShowEntity(const Slice& entity);
  Kept& kept() {
    if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
    return *kept_;
  }

  // --- Merging (user_key_merge.cc). Shows the key whose newest visible entry, on which the source
  // is, is an operand.
  void MergeForward();
  // Does the same for the key that was passed backward; the source is before its entries.
  void MergeBackward();
  // Collects the operands, and the base below them if there is one. Returns false if the walk has
  // failed.
  bool CollectOperands();
  // Steps to the next older version of passed_key_. Returns false if there is none.
  bool StepInKey();
  // Returns the last of the entries from `at` on that are operands of one key for certain.
  [[nodiscard]] const BatchEntry* LastOfOperands(const BatchEntry* at) const;
  // Does StepInKey where the batch ends: takes the next one, with the operands pinned.
  bool MoveOverOperands();
  // Calls the operator, and shows its result. Returns false if the walk has failed.
  bool MergeOperandsNow();
  // True if value_ is the result of an operator.
  [[nodiscard]] bool IsMerged() const { return merging_ != nullptr && merging_->active(); }
  // Releases the operands, the columns, or the value in a blob file, of the key that was shown.
  void ForgetMerge();

  // --- Skipping what is deleted. If a range tombstone is over passed_key_, moves the source's
  // older sorted runs to the tombstone's end (start). Returns true if any was moved; the walk may
  // have failed. Requires AtEntry().
  bool LeaveCovered();
  // Called in a move that has skipped a slice of entries, the last of which is passed_key_: begins
  // to measure the tombstone run. Returns true if the source was moved beyond a known tombstone
  // run, or the walk has failed.
  bool LeaveTombstoneRun();
  [[nodiscard]] bool MayLeaveTombstoneRun() const {
    return budget_.slice_ended() && SourceIsHere();
  }
  // Must be called at the end of such a move.
  void CloseTombstoneRun();

  std::unique_ptr<InternalIterator> source_;
  const InternalKeyComparator* icmp_ = nullptr;
  EntryBatch batch_;                       // at its end: no entry is left
  const BatchEntry* plain_end_ = nullptr;  // the batch's end, or null if entries must be checked
  EntryVisibility visibility_;
  Slice key_;
  Slice value_;
  Slice timestamp_;
  bool valid_ = false;
  bool backward_ = false;
  bool pins_ = false;        // pin_data
  bool tailing_ = false;     // other threads may write between two steps
  bool jumps_ = true;        // may jump over range tombstones and tombstone runs
  bool key_kept_ = false;    // backward: key_ points to the source's pinned bytes
  bool value_kept_ = false;  // backward: value_ points to the source's pinned bytes
  // Forward: true if the source is after the entries of the key that is shown.
  bool is_past_ = false;
  uint64_t reseek_after_ = 0;
  KeyBuffer passed_key_;  // user key of the entry that was passed, or is being looked at
  Status status_;
  SkipBudget budget_;
  WalkBounds bounds_;
  TombstoneRunWatch run_watch_;
  std::string target_;       // internal key that SetTarget has made
  std::string saved_value_;  // backward: value_, if it was copied
  Cleanable value_pin_;      // backward: releases value_, if it was pinned until the next move
  const MergeCaller* merger_ = nullptr;
  Statistics* statistics_ = nullptr;
  // Members that most walks never need are allocated on demand: a small iterator is cheap to make.
  std::unique_ptr<Detours> detours_;
  std::unique_ptr<MergedValue> merging_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace varve
