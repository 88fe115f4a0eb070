// SPDX-License-Identifier: Apache-2.0
#include "db/read/db_iterator.h"

#include <utility>
#include <vector>

#include "varve/snapshot.h"
#include "varve/system_clock.h"

#include "db/read/history_iterator.h"
#include "db/read/iterator_hold.h"
#include "db/read/read_timestamp.h"
#include "db/read/user_key_walk.h"
#include "db/read/version_iterators.h"
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

// Counts the moves of the walk, which runs over the current super-version.
class DbIterator final : public Iterator {
 public:
  DbIterator(const ReadOptions& options, IteratorHold hold, SequenceNumber sequence)
      : hold_(std::move(hold)),
        options_(options),
        follow_(FollowFor(options)),
        tombstones_(*super_version().version().icmp()) {
    // Pinned data belongs to the source, which has to stay: it cannot use filters, as a later seek
    // might have to do without them.
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
  }

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
    // No bound keeps it in the prefix.
    prefix_wanted_ = false;
    StepByRules<&PerfContext::iter_prev_count>(&IteratorCounters::prev,
                                               &IteratorCounters::prev_found, &UserKeyWalk::Prev,
                                               &UserKeyWalk::GoOnBefore);
  }

  // Makes one step, or the same over the newest files: `go_on` finds the position there.
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
      FollowBeforeSeek();
      (walk_.*go_on)(key, in_prefix);
    } else {
      (walk_.*step)();
    }
    const uint64_t bytes = walk_.Valid() ? CountFound(found) : 0;
    if (PerfLevelAtLeast(kEnableCount)) {
      AddMove<kMoves>(bytes);
      passed.AddToPerfContext(ThreadPerfContext());
    }
  }

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

  // True if, between two entries, the state or the files to be read have changed.
  [[nodiscard]] bool HasToFollow() const {
    // A newer super-version may contain what is visible already, while this one does not.
    return hold_.IsOld() ||
           (follow_ == Follow::kNewest &&
            super_version().Limit(hold_.source().VisibleSequence()) != walk_.sequence());
  }
  void FollowBeforeSeek() {
    if (follow_ == Follow::kNever && !build_failed_) [[likely]]
      return;
    // An error stays with the source, and the next seek reports it.
    if (follow_ == Follow::kNewest) {
      MoveTo(nullptr).PermitUncheckedError();
    } else if (follow_ == Follow::kNever) {
      Rebuild(nullptr, walk_.sequence());
    } else if (hold_.IsOld() || build_failed_) {
      FollowFiles();
    }
  }
  [[nodiscard]] const SuperVersion& super_version() const { return hold_.super_version(); }
  // Moves to the state of a snapshot, or to the newest.
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
  bool prefix_wanted_ = false;        // the decision for the last seek
  uint64_t memtable_tombstones_ = 0;  // tombstones of the active memtable when the source was made
  bool memtable_left_out_ = false;
  bool build_failed_ = false;  // then there may be no source
  UserKeyWalk walk_;
};

// An iterator is often made for one seek. Up to this size glibc caches freed memory for each
// thread; larger sizes take a search.
static_assert(sizeof(DbIterator) <= 1032);

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
  // Later additions are too new for `sequence`.
  memtable_left_out_ = super_version.mem()->Empty();
  std::vector<std::unique_ptr<InternalIterator>> sources;
  size_t memtables = 0;
  Status s = AddSuperVersionIterators(options_, super_version, &tombstones_, &sources,
                                      &prefix_wanted_, &memtables);
  VARVE_ASSERT(!s.ok() || memtables <= sources.size());
  const bool sees_all = !has_timestamps && !options_.table_filter &&
                        !options_.ignore_range_deletions && prefix_filters_ == nullptr &&
                        memtables < sources.size();
  walk_.SkipTombstoneRuns(sees_all ? &super_version.version().tombstone_runs() : nullptr,
                          super_version.number());
  const MergeAhead ahead = options_.pin_data ? MergeAhead::kNothing : MergeAhead::kBatches;
  walk_.SetSource(s.ok() ? NewMergingIterator(icmp, std::move(sources), ahead, memtables)
                         : NewEmptyInternalIterator(s));
  walk_.SetSequence(sequence);
  build_failed_ = !s.ok();
  if (!s.ok()) walk_.Fail(std::move(s));
}

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
  SuperVersion* fresh = hold_.Newer();
  // Another process writes the database, and keeps nothing for snapshots here.
  if (super_version().sequence_limit() != kMaxSequenceNumber && fresh != nullptr) {
    std::exchange(fresh, nullptr)->Unref();
  }
  if (fresh != nullptr && !CheckHistory(*fresh).ok()) [[unlikely]] {
    std::exchange(fresh, nullptr)->Unref();
    follow_ = Follow::kNever;
    if (!build_failed_) return;
  }
  Rebuild(fresh, walk_.sequence());
}

void DbIterator::Rebuild(SuperVersion* fresh, SequenceNumber sequence) {
  build_failed_ = true;  // reset on success
  walk_.DropSource();
  tombstones_.Clear();
  if (fresh != nullptr) hold_.MoveTo(fresh);
  Build(sequence);
}

Status DbIterator::Refresh(const Snapshot* snapshot) {
  if (snapshot != nullptr && !hold_.source().Holds(snapshot)) {
    return Status::InvalidArgument("Refresh: the snapshot is not held by this database");
  }
  if (snapshot != nullptr && super_version().sequence_limit() != kMaxSequenceNumber) {
    return Status::NotSupported("Refresh to a snapshot of a secondary: make another iterator");
  }
  if (follow_ != Follow::kNewest) {
    // A state that no snapshot holds is not in newer files.
    options_.snapshot = snapshot;
    follow_ = FollowFor(options_);
  }
  Status s = varve::Guarded([&] { return MoveTo(snapshot); });
  if (build_failed_ && walk_.status().ok()) walk_.Fail(s);
  return s;
}

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
  // Read after the super-version, which so contains what is visible at it and written before this
  // call.
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
  if (prop_name == "rocksdb.iterator.write-time") {
    return Status::NotSupported("iterator property is not supported by this version", prop_name);
  }
  return Status::InvalidArgument("Unidentified property", prop_name);
}

}  // namespace

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
