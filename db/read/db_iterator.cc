// SPDX-License-Identifier: Apache-2.0
#include "db/read/db_iterator.h"

#include <cassert>
#include <utility>
#include <vector>

#include "varve/snapshot.h"

#include "db/read/user_key_walk.h"
#include "db/read/version_iterators.h"
#include "table/iterator/merging_iterator.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

Status CheckIteratorOptions(const ReadOptions& options) {
  const char* refused = nullptr;
  if (options.timestamp != nullptr) refused = "timestamp";
  if (options.iter_start_ts != nullptr) refused = "iter_start_ts";
  if (options.tailing) refused = "tailing";
  if (options.auto_refresh_iterator_with_snapshot) refused = "auto_refresh_iterator_with_snapshot";
  if (options.deadline.count() != 0) refused = "deadline";
  if (options.read_tier == kPersistedTier) refused = "read_tier kPersistedTier";
  if (refused == nullptr) return Status::OK();
  return Status::NotSupported(std::string("iterator: ReadOptions::") + refused +
                              " is not supported by this version");
}

// The moves of the walk, counted, over whatever super-version is current for it.
class DbIterator final : public Iterator {
 public:
  DbIterator(const ReadOptions& options, std::shared_ptr<SuperVersionSource> source,
             SuperVersion* super_version, SequenceNumber sequence, Statistics* statistics)
      : options_(options),
        source_(std::move(source)),
        super_version_(super_version),
        statistics_(statistics),
        tombstones_(*super_version->version().icmp()) {
    RecordTick(statistics_, NO_ITERATOR_CREATED);
    Build(sequence);
  }

  ~DbIterator() override {
    walk_.counters.AddToStatistics(statistics_);
    RecordTick(statistics_, NO_ITERATOR_DELETED);
    walk_.DropSource();
    tombstones_.Clear();
    super_version_->Unref();
  }

  bool Valid() const override { return walk_.Valid(); }
  Slice key() const override {
    assert(walk_.Valid());
    return walk_.key();
  }
  Slice value() const override {
    assert(walk_.Valid());
    return walk_.value();
  }
  Status status() const override { return walk_.status(); }

  void Next() override {
    assert(walk_.Valid());
    if (PerfLevelAtLeast(kEnableCount)) [[unlikely]] {
      PerfCpuTimer<&PerfContext::iter_next_cpu_nanos> cpu;
      PerfTimer<&PerfContext::find_next_user_entry_time> timer;
      const IteratorCounters before = walk_.counters;
      CountedNext();
      walk_.counters.AddToPerfContext(before);
    } else {
      CountedNext();
    }
  }

  void Prev() override {
    assert(walk_.Valid());
    if (PerfLevelAtLeast(kEnableCount)) [[unlikely]] {
      PerfCpuTimer<&PerfContext::iter_prev_cpu_nanos> cpu;
      PerfTimer<&PerfContext::find_next_user_entry_time> timer;
      const IteratorCounters before = walk_.counters;
      CountedPrev();
      walk_.counters.AddToPerfContext(before);
    } else {
      CountedPrev();
    }
  }

  void Seek(const Slice& target) override {
    if (prefix_filters_ != nullptr) [[unlikely]] {
      PrepareFor(target);
    }
    CountedSeek([&] { walk_.Seek(target); });
  }
  void SeekForPrev(const Slice& target) override {
    if (prefix_filters_ != nullptr) [[unlikely]] {
      PrepareFor(target);
    }
    CountedSeek([&] { walk_.SeekForPrev(target); });
  }
  void SeekToFirst() override {
    if (prefix_filters_ != nullptr) TurnPrefixFiltersOff();
    CountedSeek([&] { walk_.SeekToFirst(); });
  }
  void SeekToLast() override {
    if (prefix_filters_ != nullptr) TurnPrefixFiltersOff();
    CountedSeek([&] { walk_.SeekToLast(); });
  }

  using Iterator::Refresh;
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;

 private:
  void CountedNext() {
    IteratorCounters& counters = walk_.counters;
    counters.next++;
    walk_.Next();
    if (!walk_.Valid()) return;
    counters.next_found++;
    counters.bytes += walk_.key().size() + walk_.value().size();
  }

  void CountedPrev() {
    IteratorCounters& counters = walk_.counters;
    counters.prev++;
    walk_.Prev();
    if (!walk_.Valid()) return;
    counters.prev_found++;
    counters.bytes += walk_.key().size() + walk_.value().size();
  }

  template <typename Move>
  void CountedSeek(Move move) {
    PerfCpuTimer<&PerfContext::iter_seek_cpu_nanos> cpu;
    PerfTimer<&PerfContext::seek_internal_seek_time> timer;
    const IteratorCounters before = walk_.counters;
    IteratorCounters& counters = walk_.counters;
    counters.seek++;
    move();
    if (walk_.Valid()) {
      counters.seek_found++;
      counters.bytes += walk_.key().size() + walk_.value().size();
    }
    if (PerfLevelAtLeast(kEnableCount)) counters.AddToPerfContext(before);
  }

  // Makes the source of the walk out of super_version_.
  void Build(SequenceNumber sequence);
  // A walk that starts without a prefix does not end with one, so filters, which answer each seek
  // for that key's prefix alone, would hide keys from it. The iterator then does without them for
  // good.
  void TurnPrefixFiltersOff();
  void PrepareFor(const Slice& target) {
    if (!prefix_filters_->InDomain(target)) TurnPrefixFiltersOff();
  }

  ReadOptions options_;
  const std::shared_ptr<SuperVersionSource> source_;
  SuperVersion* super_version_;  // one reference
  Statistics* const statistics_;
  TombstoneSet tombstones_;
  const SliceTransform* prefix_filters_ = nullptr;  // null unless tables may use prefix filters
  uint64_t memtable_tombstones_ = 0;  // of the active memtable, when the source was made
  UserKeyWalk walk_;
};

void DbIterator::Build(SequenceNumber sequence) {
  const SuperVersion& super_version = *super_version_;
  const InternalKeyComparator* const icmp = super_version.version().icmp();
  UserKeyWalk::Settings settings;
  settings.options = &options_;
  settings.icmp = icmp;
  settings.reseek_after = super_version.options().max_sequential_skip_in_iterations;
  if (options_.prefix_same_as_start) {
    settings.prefix_extractor = super_version.options().prefix_extractor.get();
  }
  prefix_filters_ = options_.total_order_seek ? nullptr : settings.prefix_extractor;
  walk_.Init(settings, &tombstones_);
  memtable_tombstones_ = super_version.mem()->range_deletion_count();
  std::vector<std::unique_ptr<InternalIterator>> sources;
  Status s = AddSuperVersionIterators(options_, super_version, &tombstones_, &sources);
  walk_.SetSource(s.ok() ? NewMergingIterator(icmp, std::move(sources))
                         : NewEmptyInternalIterator(s));
  walk_.SetSequence(sequence);
  if (!s.ok()) walk_.Fail(std::move(s));
}

void DbIterator::TurnPrefixFiltersOff() {
  walk_.DropSource();
  tombstones_.Clear();
  options_.total_order_seek = true;
  Build(walk_.sequence());
}

Status DbIterator::Refresh(const Snapshot* snapshot) {
  SuperVersion* fresh = nullptr;
  if (source_->SuperVersionNumber() != super_version_->number()) {
    fresh = source_->AcquireSuperVersion();
  }
  // Read after the super-version: what is visible at it and written before this call is in there.
  const SequenceNumber sequence =
      snapshot != nullptr ? snapshot->GetSequenceNumber() : source_->VisibleSequence();
  const MemTable& mem = *super_version_->mem();
  if (fresh == nullptr && walk_.status().ok() && mem.IteratorsSeeAdditions() &&
      mem.range_deletion_count() == memtable_tombstones_) {
    walk_.SetSequence(sequence);
    return Status::OK();
  }
  walk_.DropSource();
  tombstones_.Clear();
  if (fresh != nullptr) {
    super_version_->Unref();
    super_version_ = fresh;
  }
  Build(sequence);
  return walk_.status();
}

Status DbIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("GetProperty: no place for the answer");
  if (prop_name == "rocksdb.iterator.super-version-number") {
    *prop = std::to_string(super_version_->number());
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.internal-key") {
    *prop = walk_.stopped_at().ToString();
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.is-key-pinned") {
    *prop = walk_.Valid() ? (walk_.IsKeyPinned() ? "1" : "0") : "Iterator is not valid.";
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.is-value-pinned") {
    *prop = walk_.Valid() ? (walk_.IsValuePinned() ? "1" : "0") : "Iterator is not valid.";
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
  const Status s = CheckIteratorOptions(options);
  if (!s.ok()) {
    super_version->Unref();
    return NewErrorIterator(s);
  }
  return std::make_unique<DbIterator>(options, std::move(source), super_version, sequence,
                                      statistics)
      .release();
}

}  // namespace varve
