// SPDX-License-Identifier: Apache-2.0

// Three layers make an iterator: sources over memtables and tables, merged in the order of internal
// keys (version_iterators.h); the walk, which shows user keys (user_key_walk.h); and this class,
// which says which super-version and which sequence number the walk reads, and when it changes to
// others.
//
//     reason                                  super-version      sequence number
//     Refresh, tailing                        the newest         the newest, or a snapshot's
//     auto_refresh_iterator_with_snapshot     the newest         stays
//     a filter was in the way, build failed   stays              stays
//
// Invariants
// 1. An iterator stays with its super-version, unless Refresh or its options ask it to leave: newer
//    files may have lost the state that it shows.
// 2. The super-version is taken before the sequence number that is read with it, so that it
//    contains all that is visible at that number.
// 3. If only the sequence number changes, the sources are kept, provided that the memtable's
//    iterator sees later additions and that no range deletion was added to the memtable since: the
//    memtable's range deletions were copied into tombstones_ when the sources were made.
// 4. Next and Prev first try a plain step (UserKeyWalk::NextPlain), which runs no timer and does
//    not look whether the iterator has to follow a newer state. Only if it declines, or times are
//    measured, NextByRules and PrevByRules do all of that.
// 5. If a rebuild fails, the old source is gone already and the new one is an empty iterator with
//    the error. build_failed_ then makes the next seek build again.

#include "db/read/db_iterator.h"

#include <utility>
#include <vector>

#include "varve/snapshot.h"
#include "varve/system_clock.h"

#include "db/read/history_iterator.h"
#include "db/read/iterator_hold.h"
#include "db/read/newer_writes.h"
#include "db/read/read_timestamp.h"
#include "db/read/user_key_walk.h"
#include "db/read/version_iterators.h"
#include "db/version/entry_place.h"
#include "table/iterator/merging_iterator.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/key/prefix_answer.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

Status CheckIteratorOptions(const ReadOptions& options) {
  if (options.read_tier != kPersistedTier) return Status::OK();
  return Status::NotSupported(
      "iterator: ReadOptions::read_tier kPersistedTier is not supported by this version");
}

// True if, in bytewise order, all keys below `bound` that are larger than `prefix` start with it:
// the bound is at most the first key after those.
bool IsBeforeAllBehind(const Slice& bound, const Slice& prefix) {
  std::string behind = prefix.ToString();
  while (!behind.empty() && behind.back() == '\xff') behind.pop_back();
  if (behind.empty()) return true;
  behind.back() = static_cast<char>(static_cast<unsigned char>(behind.back()) + 1);
  return CompareBytes(bound, behind) <= 0;
}

// Says when an iterator leaves the super-version it was made over without being asked.
enum class Follow : uint8_t {
  kNever,
  kNewest,  // tailing: each move reads the newest state
  kFiles,   // auto_refresh_iterator_with_snapshot: the same state in newer memtables and files
};

Follow FollowFor(const ReadOptions& options) {
  if (options.tailing) return Follow::kNewest;
  // With pin_data everything shown must stay, including the old memtables and blocks.
  return options.auto_refresh_iterator_with_snapshot && options.snapshot != nullptr &&
                 !options.pin_data
             ? Follow::kFiles
             : Follow::kNever;
}

// Returns the clock that file reads of the super-version's tables use.
SystemClock* ClockOf(const SuperVersion& super_version) {
  SystemClock* const clock = super_version.table_cache()->options().clock;
  return clock != nullptr ? clock : SystemClock::Default().get();
}

// The public iterator: it gives each move to walk_, counts it, and before that replaces the walk's
// source if the table above says so.
class DbIterator final : public Iterator {
 public:
  DbIterator(const ReadOptions& options, IteratorHold hold, SequenceNumber sequence)
      : hold_(std::move(hold)),
        options_(options),
        follow_(FollowFor(options)),
        tombstones_(*super_version().version().icmp()) {
    // Prefix filters are chosen when the source is made, and a later seek that cannot use them
    // rebuilds it (TurnPrefixFiltersOff). With pin_data that would free bytes that the user still
    // reads, so such an iterator never uses them.
    if (options_.pin_data && options_.prefix_same_as_start) options_.total_order_seek = true;
    Build(sequence);
  }

  ~DbIterator() override {
    walk_.counters.AddToStatistics(hold_.statistics());
    walk_.DropSource();
    tombstones_.Clear();
  }

  bool Valid() const override { return walk_.Valid(); }
  Slice key() const override {
    VARVE_ASSERT(walk_.Valid());
    return walk_.key();
  }
  Slice value() const override {
    VARVE_ASSERT(walk_.Valid());
    return walk_.value();
  }
  const WideColumns& columns() const override {
    VARVE_ASSERT(walk_.Valid());
    return walk_.columns();
  }
  bool PrepareValue() override {
    bool prepared = false;
    Guarded([&] { prepared = walk_.PrepareValue(); });
    return prepared;
  }
  Slice timestamp() const override {
    VARVE_ASSERT(walk_.Valid());
    return walk_.timestamp();
  }
  Status status() const override {
    return VARVE_CANARY(kIteratorIgnoresStatus) ? Status::OK() : walk_.status();
  }

  void Next() override {
    if (PerfLevelAtLeast(kEnableTimeExceptForMutex) || !walk_.NextPlain()) [[unlikely]] {
      Guarded([this] { NextByRules(); });
      return;
    }
    walk_.counters.next++;
    const uint64_t bytes = CountFound(&IteratorCounters::next_found);
    if (PerfLevelAtLeast(kEnableCount)) AddMove<&PerfContext::iter_next_count>(bytes);
  }

  void Prev() override {
    if (PerfLevelAtLeast(kEnableTimeExceptForMutex) || !walk_.PrevPlain()) [[unlikely]] {
      Guarded([this] { PrevByRules(); });
      return;
    }
    walk_.counters.prev++;
    const uint64_t bytes = CountFound(&IteratorCounters::prev_found);
    if (PerfLevelAtLeast(kEnableCount)) AddMove<&PerfContext::iter_prev_count>(bytes);
  }

  void Seek(const Slice& target) override {
    hold_.TraceSeek(kTraceIteratorSeek, target, options_);
    Guarded([&] {
      FollowBeforeSeek();
      if (prefix_filters_ != nullptr) [[unlikely]] {
        PrepareFor(target);
      } else if (auto_prefix_ != nullptr) [[unlikely]] {
        prefix_wanted_ = BoundEndsPrefixOf(target);
      }
      CountedSeek([&] { walk_.Seek(target); });
    });
  }
  void SeekForPrev(const Slice& target) override {
    hold_.TraceSeek(kTraceIteratorSeekForPrev, target, options_);
    Guarded([&] {
      FollowBeforeSeek();
      prefix_wanted_ = false;
      if (prefix_filters_ != nullptr) [[unlikely]] {
        PrepareFor(target);
      }
      CountedSeek([&] { walk_.SeekForPrev(target); });
    });
  }
  void SeekToFirst() override {
    Guarded([this] { SeekToEnd(&UserKeyWalk::SeekToFirst); });
  }
  void SeekToLast() override {
    Guarded([this] { SeekToEnd(&UserKeyWalk::SeekToLast); });
  }

  using Iterator::Refresh;
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;

 private:
  // Turns an exception, usually for lack of memory, into an error of the iterator.
  template <typename Move>
  void Guarded(Move move) {
    Status s = varve::Guarded(move);
    if (!s.ok()) [[unlikely]]
      walk_.Fail(std::move(s));
    if (!walk_.status().ok()) [[unlikely]]
      NameTableOfFailure();
  }
  // If a value has failed the walk, adds the table that has its entry to the error.
  void NameTableOfFailure();

  // Counts a move that ended at an entry. Returns its bytes.
  uint64_t CountFound(uint64_t IteratorCounters::*found) {
    VARVE_ASSERT(walk_.Valid() && walk_.status().ok());
    const uint64_t bytes = walk_.key().size() + walk_.value().size();
    (walk_.counters.*found)++;
    walk_.counters.bytes += bytes;
    return bytes;
  }

  void SeekToEnd(void (UserKeyWalk::*seek)()) {
    FollowBeforeSeek();
    prefix_wanted_ = false;
    if (prefix_filters_ != nullptr) TurnPrefixFiltersOff();
    CountedSeek([&] { (walk_.*seek)(); });
  }

  void NextByRules() {
    PerfCpuTimer<&PerfContext::iter_next_cpu_nanos> cpu;
    StepByRules<&PerfContext::iter_next_count>(&IteratorCounters::next,
                                               &IteratorCounters::next_found, &UserKeyWalk::Next,
                                               &UserKeyWalk::GoOnAfter);
  }

  void PrevByRules() {
    PerfCpuTimer<&PerfContext::iter_prev_cpu_nanos> cpu;
    // A backward step may leave the prefix of the last seek, as iterate_upper_bound, by which
    // auto_prefix_mode allowed filters for that seek, does not limit it.
    prefix_wanted_ = false;
    StepByRules<&PerfContext::iter_prev_count>(&IteratorCounters::prev,
                                               &IteratorCounters::prev_found, &UserKeyWalk::Prev,
                                               &UserKeyWalk::GoOnBefore);
  }

  // Makes one step with `step`. If the iterator has to follow a newer state first, the step is made
  // over the old sources if no newer write can change its result; otherwise the sources are
  // replaced, and `go_on` seeks in them to the neighbour of the key that was shown. Does nothing if
  // the iterator is not Valid.
  template <uint64_t PerfContextBase::*kMoves>
  void StepByRules(uint64_t IteratorCounters::*steps, uint64_t IteratorCounters::*found,
                   void (UserKeyWalk::*step)(), void (UserKeyWalk::*go_on)(const Slice&, bool)) {
    if (!walk_.Valid()) [[unlikely]]
      return;
    PerfTimer<&PerfContext::find_next_user_entry_time> timer;
    const PassedInCall passed(walk_.counters);
    (walk_.counters.*steps)++;
    if (follow_ != Follow::kNever && HasToFollow()) [[unlikely]] {
      const std::string key = walk_.key().ToString();
      const bool in_prefix = walk_.in_prefix();
      if (!StepsPastNoNewerWrite(key, step)) {
        FollowBeforeSeek();
        (walk_.*go_on)(key, in_prefix);
      }
    } else {
      (walk_.*step)();
    }
    const uint64_t bytes = walk_.Valid() ? CountFound(found) : 0;
    if (PerfLevelAtLeast(kEnableCount)) {
      AddMove<kMoves>(bytes);
      passed.AddToPerfContext(ThreadPerfContext());
    }
  }

  // Makes the step from `key` over the iterator's state. Returns true if the newest state would
  // give the same result, as nothing was written since between the keys before and after the step.
  // If false, the position is of no use.
  bool StepsPastNoNewerWrite(const Slice& key, void (UserKeyWalk::*step)()) {
    if (newer_writes_ == nullptr) return false;
    const NewerWrites::Since since = {walk_.sequence(),
                                      super_version().Limit(hold_.source().VisibleSequence())};
    // Checked after reading the sequence number: then what it makes visible is in this memtable.
    if (hold_.IsOld() || super_version().mem()->range_deletion_count() != memtable_tombstones_) {
      return false;
    }
    (walk_.*step)();
    if (!walk_.status().ok()) return false;
    const Slice shown = walk_.Valid() ? walk_.key() : Slice();
    const Slice* const end = walk_.Valid() ? &shown : nullptr;
    return step == &UserKeyWalk::Next ? !newer_writes_->AnyBehind(key, end, since)
                                      : !newer_writes_->AnyBefore(key, end, since);
  }

  // Runs a seek, counts it, and measures its time if anybody wants that. Past ReadOptions::deadline
  // the walk fails, and `move` is not called.
  template <typename Move>
  void CountedSeek(Move move) {
    PerfCpuTimer<&PerfContext::iter_seek_cpu_nanos> cpu;
    PerfTimer<&PerfContext::seek_internal_seek_time> timer;
    const PassedInCall passed(walk_.counters);
    Statistics* const statistics = hold_.statistics();
    const TimeIfWanted time(statistics, DB_SEEK, SystemClock::Default().get());
    walk_.counters.seek++;
    if (!walk_.TooLateToSeek()) [[likely]]
      move();
    const uint64_t bytes = walk_.Valid() ? CountFound(&IteratorCounters::seek_found) : 0;
    if (time.wanted()) RecordTimeToHistogram(statistics, DB_SEEK, time.Micros());
    if (PerfLevelAtLeast(kEnableCount)) {
      PerfContext* const perf = ThreadPerfContext();
      perf->iter_seek_count++;
      perf->iter_read_bytes += bytes;
      passed.AddToPerfContext(perf);
    }
  }

  // True if the next step must read another state or other files than the last one did. Requires
  // that follow_ is not kNever.
  [[nodiscard]] bool HasToFollow() const {
    // A new super-version counts even if the visible sequence number is unchanged: writes that this
    // number shows may be in its memtable and not in the old one's.
    return hold_.IsOld() ||
           (follow_ == Follow::kNewest &&
            super_version().Limit(hold_.source().VisibleSequence()) != walk_.sequence());
  }
  // Must be called before each seek: moves to the newest state or files if the iterator follows
  // them, and builds again if the last build failed.
  void FollowBeforeSeek() {
    if (follow_ == Follow::kNever && !build_failed_) [[likely]]
      return;
    // The status may be dropped: after an error the source is an empty one with that error, which
    // the seek after this call reports.
    if (follow_ == Follow::kNewest) {
      MoveTo(nullptr).PermitUncheckedError();
    } else if (follow_ == Follow::kNever) {
      Rebuild(nullptr, walk_.sequence());
    } else if (hold_.IsOld() || build_failed_) {
      FollowFiles();
    }
  }
  [[nodiscard]] const SuperVersion& super_version() const { return hold_.super_version(); }
  // Moves to the state of a snapshot, or to the newest one if it is null. The position is lost.
  // After an error a tailing iterator has an empty source with it; if only the history check
  // failed, another iterator stays where it was.
  Status MoveTo(const Snapshot* snapshot);
  // Moves to the same state over the newest super-version; stays if that has lost the state.
  void FollowFiles();
  // Checks that a newer super-version has the history that this iterator's timestamp needs.
  [[nodiscard]] Status CheckHistory(const SuperVersion& fresh) const {
    return CheckReadTimestamp(options_, fresh, "of an iterator");
  }
  // Rebuilds over `fresh`, whose reference it takes, or over the current one if that is null.
  void Rebuild(SuperVersion* fresh, SequenceNumber sequence);
  // Makes the source of the walk from the current super-version.
  void Build(SequenceNumber sequence);
  // A walk that starts without a prefix does not end with one, so filters, which answer each seek
  // for that key's prefix alone, would hide keys from it. From then on the iterator does not use
  // them.
  void TurnPrefixFiltersOff();
  void PrepareFor(const Slice& target) {
    Slice prefix;
    if (AskPrefix(*prefix_filters_, target, &prefix) != PrefixAnswer::kPrefix) {
      TurnPrefixFiltersOff();
    }
  }
  // True if all keys from `target` up to iterate_upper_bound have the target's prefix.
  [[nodiscard]] bool BoundEndsPrefixOf(const Slice& target) const;

  IteratorHold hold_;  // destroyed last
  ReadOptions options_;
  Follow follow_;
  TombstoneSet tombstones_;
  const SliceTransform* prefix_filters_ = nullptr;  // null unless tables may use prefix filters
  // Null unless auto_prefix_mode decides for each seek.
  const SliceTransform* auto_prefix_ = nullptr;
  uint64_t memtable_tombstones_ = 0;  // tombstones of the active memtable when the source was made
  // With auto_prefix_mode: true if the last seek may use prefix filters. Tables read it through a
  // pointer in each seek.
  bool prefix_wanted_ = false;
  bool memtable_left_out_ = false;  // true: the active memtable was empty, and has no source
  bool build_failed_ = false;       // then there may be no source
  std::unique_ptr<NewerWrites> newer_writes_;  // of a tailing iterator, if its memtable allows it
  mutable UserKeyWalk walk_;  // Mutable, because columns() const makes the columns in it.
};

// An iterator is often made for one seek. Up to this size glibc caches freed memory for each
// thread; larger sizes take a search.
static_assert(sizeof(DbIterator) <= 1032);

void DbIterator::NameTableOfFailure() {
  std::string key;
  if (!walk_.TakeFailedKey(&key)) return;
  // Without memory, or if the comparator throws, the error stays as it is.
  BestEffort([&] {
    walk_.Fail(NameTableOfEntry(walk_.status(), options_, super_version().version(),
                                super_version().table_cache(), key, walk_.sequence()));
  });
}

// The walk is set up for the super-version's options, then gets one merged source over everything
// in it. The tombstones are collected while the sources are made, so their set must be empty and
// have its timestamp limit before that. If a table cannot be opened, the walk gets an empty source
// with the error and has failed.
void DbIterator::Build(SequenceNumber sequence) {
  const SuperVersion& super_version = hold_.super_version();
  const InternalKeyComparator* const icmp = super_version.version().icmp();
  UserKeyWalk::Settings settings;
  settings.options = &options_;
  settings.icmp = icmp;
  settings.reseek_after = super_version.options().max_sequential_skip_in_iterations;
  settings.clock = ClockOf(super_version);
  settings.merger = &super_version.merger();
  settings.statistics = hold_.statistics();
  if (!super_version.version().blob_files().empty()) {
    settings.blobs = &super_version.table_cache()->blobs();
    settings.version = &super_version.version();
  }
  if (options_.prefix_same_as_start) {
    settings.prefix_extractor = super_version.options().prefix_extractor.get();
  }
  prefix_filters_ = options_.total_order_seek ? nullptr : settings.prefix_extractor;
  auto_prefix_ = options_.auto_prefix_mode && !options_.total_order_seek &&
                         !options_.prefix_same_as_start && options_.iterate_upper_bound != nullptr
                     ? super_version.options().prefix_extractor.get()
                     : nullptr;
  walk_.Init(settings, &tombstones_);
  const bool has_timestamps = icmp->timestamp_size() != 0;
  if (has_timestamps) tombstones_.SetTimestampLimit({*options_.timestamp, /*inclusive=*/true});
  memtable_tombstones_ = super_version.mem()->range_deletion_count();
  // AddSuperVersionIterators makes no source for an empty memtable. Nothing is missed at
  // `sequence`, as later additions have larger numbers; MoveTo builds anew for a larger one.
  memtable_left_out_ = super_version.mem()->Empty();
  std::vector<std::unique_ptr<InternalIterator>> sources;
  size_t memtables = 0;
  Status s = AddSuperVersionIterators(options_, super_version, &tombstones_, &sources,
                                      &prefix_wanted_, &memtables);
  VARVE_ASSERT(!s.ok() || memtables <= sources.size());
  // Known tombstone runs say that tables have no live key; a walk may add to them only if it sees
  // every entry of the tables.
  const bool sees_all = !has_timestamps && !options_.table_filter &&
                        !options_.ignore_range_deletions && prefix_filters_ == nullptr &&
                        memtables < sources.size();
  walk_.SkipTombstoneRuns(sees_all ? &super_version.version().tombstone_runs() : nullptr,
                          super_version.number());
  const MergeAhead ahead = options_.pin_data ? MergeAhead::kNothing : MergeAhead::kBatches;
  walk_.SetSource(s.ok() ? NewMergingIterator(icmp, std::move(sources), ahead, memtables)
                         : NewEmptyInternalIterator(s));
  walk_.SetSequence(sequence);
  if (follow_ == Follow::kNewest && !memtable_left_out_) {
    newer_writes_ = NewerWrites::Watch(*super_version.mem(), *icmp);
  }
  build_failed_ = !s.ok();
  if (!s.ok()) walk_.Fail(std::move(s));
}

// The walk starts at `target` or at the lower bound, and prefix filters may be asked for the prefix
// of that key. This is right only if every key from there to the upper bound has the prefix, which
// needs an order by bytes, and a bound that starts with the prefix or, in ascending order, is not
// beyond the first key after all that do.
bool DbIterator::BoundEndsPrefixOf(const Slice& target) const {
  const InternalKeyComparator& icmp = *super_version().version().icmp();
  const Slice* const lower = options_.iterate_lower_bound;
  const Slice& start = lower != nullptr && icmp.CompareKey(target, *lower) < 0 ? *lower : target;
  const Slice& bound = *options_.iterate_upper_bound;
  Slice prefix;
  if (AskPrefix(*auto_prefix_, start, &prefix) != PrefixAnswer::kPrefix) return false;
  if (!start.starts_with(prefix) || !auto_prefix_->SameResultWhenAppended(prefix)) return false;
  if (!BytesDecide(icmp.order())) return false;
  return bound.starts_with(prefix) ||
         (!IsReverse(icmp.order()) && IsBeforeAllBehind(bound, prefix));
}

void DbIterator::TurnPrefixFiltersOff() {
  options_.total_order_seek = true;
  Rebuild(nullptr, walk_.sequence());
}

void DbIterator::FollowFiles() {
  // A limited super-version shows a database that another process writes, whose newer tables keep
  // nothing for snapshots here. So the iterator stays with its files, and no longer compares the
  // super-versions, which differ from now on.
  const bool stays = super_version().sequence_limit() != kMaxSequenceNumber;
  if (stays) {
    follow_ = Follow::kNever;
    if (!build_failed_) return;
  }
  SuperVersion* fresh = stays ? nullptr : hold_.Newer();
  if (fresh != nullptr && !CheckHistory(*fresh).ok()) [[unlikely]] {
    std::exchange(fresh, nullptr)->Unref();
    // Every later super-version lacks that history, too: full_history_ts_low only rises.
    follow_ = Follow::kNever;
    if (!build_failed_) return;
  }
  Rebuild(fresh, walk_.sequence());
}

void DbIterator::Rebuild(SuperVersion* fresh, SequenceNumber sequence) {
  build_failed_ = true;  // reset on success
  walk_.DropSource();
  tombstones_.Clear();
  newer_writes_.reset();
  if (fresh != nullptr) hold_.MoveTo(fresh);
  Build(sequence);
}

// A refusal leaves the iterator as it is. After any other error it is not valid until a later
// Refresh succeeds, or has its old state, if nothing was rebuilt.
Status DbIterator::Refresh(const Snapshot* snapshot) {
  if (snapshot != nullptr && !hold_.source().Holds(snapshot)) {
    return Status::InvalidArgument("Refresh: the snapshot is not held by this database");
  }
  if (snapshot != nullptr && super_version().sequence_limit() != kMaxSequenceNumber) {
    return Status::NotSupported("Refresh to a snapshot of a secondary: make another iterator");
  }
  if (follow_ != Follow::kNewest) {
    // auto_refresh_iterator_with_snapshot may go on only if the new state is again that of a
    // snapshot: compactions keep a state for newer files only if a snapshot protects it.
    options_.snapshot = snapshot;
    follow_ = FollowFor(options_);
  }
  Status s = varve::Guarded([&] { return MoveTo(snapshot); });
  if (build_failed_ && walk_.status().ok()) walk_.Fail(s);
  return s;
}

// Takes the newest super-version, if there is a newer one, and then the sequence number. If neither
// the super-version nor what its sources show is different, only the number is set, and the sources
// with their open blocks are kept; otherwise everything is built anew.
Status DbIterator::MoveTo(const Snapshot* snapshot) {
  SuperVersion* const fresh = hold_.Newer();
  if (fresh != nullptr) {
    const Status s = CheckHistory(*fresh);
    if (!s.ok()) [[unlikely]] {
      fresh->Unref();
      if (follow_ == Follow::kNewest) {
        walk_.DropSource();
        tombstones_.Clear();
        walk_.SetSource(NewEmptyInternalIterator(s));
      }
      return s;
    }
  }
  // The number is read after the super-version was taken (invariant 2).
  const SequenceNumber visible =
      snapshot != nullptr ? snapshot->GetSequenceNumber() : hold_.source().VisibleSequence();
  const SequenceNumber sequence = (fresh != nullptr ? *fresh : super_version()).Limit(visible);
  const MemTable& mem = *super_version().mem();
  const bool sees_all = !memtable_left_out_ && mem.IteratorsSeeAdditions() &&
                        mem.range_deletion_count() == memtable_tombstones_;
  if (fresh == nullptr && !build_failed_ && walk_.status().ok() &&
      (sees_all || sequence == walk_.sequence())) {
    walk_.SetSequence(sequence);
    return Status::OK();
  }
  Rebuild(fresh, sequence);
  return walk_.status();
}

Status DbIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("GetProperty: no place for the answer");
  if (prop_name == "rocksdb.iterator.super-version-number") {
    *prop = std::to_string(super_version().number());
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.internal-key") {
    *prop = walk_.stopped_at().ToString();
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.is-key-pinned") {
    *prop = walk_.Valid() ? (follow_ == Follow::kNever && walk_.IsKeyPinned() ? "1" : "0")
                          : "Iterator is not valid.";
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.is-value-pinned") {
    *prop = walk_.Valid() ? (follow_ == Follow::kNever && walk_.IsValuePinned() ? "1" : "0")
                          : "Iterator is not valid.";
    return Status::OK();
  }
  if (prop_name == kIteratorIsEntity) {
    *prop = walk_.IsEntity() ? "1" : "0";
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.write-time") {
    return Status::NotSupported("iterator property is not supported by this version", prop_name);
  }
  return Status::InvalidArgument("Unidentified property", prop_name);
}

}  // namespace

// Takes over the reference to the super-version at once, so that every way out releases it. Errors
// come as an iterator that has them as its status.
Iterator* NewDbIterator(const ReadOptions& options, std::shared_ptr<SuperVersionSource> source,
                        SuperVersion* super_version, SequenceNumber sequence,
                        Statistics* statistics) {
  IteratorHold hold(std::move(source), super_version, statistics);
  try {
    if (options.iter_start_ts != nullptr) {
      return NewHistoryIterator(options, std::move(hold), sequence);
    }
    const Status s = CheckIteratorOptions(options);
    if (!s.ok()) return NewErrorIterator(s);
    return std::make_unique<DbIterator>(options, std::move(hold), sequence).release();
  } catch (...) {
    return NewErrorIterator(CaughtException());
  }
}

}  // namespace varve
