// SPDX-License-Identifier: Apache-2.0
#include "db/read/get.h"

#include <algorithm>

#include "db/read/merge_read.h"
#include "db/read/timestamp_order.h"
#include "db/version/file_bounds.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

Status CheckGetOptions(const ReadOptions& options) {
  if (options.read_tier == kMemtableTier) {
    return Status::NotSupported("get: ReadOptions::read_tier kMemtableTier is for iterators");
  }
  return Status::OK();
}

// Returns true if the search is over, in the memtable of this index.
bool SearchMemTables(const SuperVersion& super_version, PointLookup* lookup, size_t* index) {
  PerfTimer<&PerfContext::get_from_memtable_time> timer;
  AddPerfCount<&PerfContext::get_from_memtable_count>();
  if (super_version.mem()->Get(lookup)) return true;
  for (const std::shared_ptr<MemTable>& mem : super_version.immutables()) {
    ++*index;
    if (mem->Get(lookup)) return true;
  }
  return false;
}

// Searches the tables of a super-version for one key.
class TableSearch {
 public:
  TableSearch(const ReadOptions& options, const SuperVersion& super_version, PointLookup* lookup,
              Statistics* statistics)
      : options_(options),
        version_(super_version.version()),
        icmp_(*version_.icmp()),
        table_cache_(super_version.table_cache()),
        lookup_(lookup),
        statistics_(statistics) {}

  Status Run() {
    const int levels = version_.non_empty_levels();
    if (levels == 0) return Status::OK();
    PerfTimer<&PerfContext::get_from_output_files_time> timer;
    LookAhead(levels);
    VARVE_RETURN_IF_ERROR(SearchLevelZero());
    for (int level = 1; level < levels && !over(); level++) {
      VARVE_RETURN_IF_ERROR(SearchLevel(level));
    }
    return Status::OK();
  }

  // Returns, after Run, where the search ended. If it did not end, no source is left.
  [[nodiscard]] SearchPlace place() const {
    return over() ? place_ : SearchPlace{version_.non_empty_levels(), 0};
  }

 private:
  // Number of levels whose files are found before the first is searched.
  static constexpr int kLevelsAhead = 8;

  bool over() const { return lookup_->state() != PointLookup::State::kSearching; }

  // Most keys are only in the last table that is searched: the filters decide, and their cache
  // misses need not wait for each other, nor the block's miss for them.
  void LookAhead(int levels) {
    for (int level = std::min(levels, kLevelsAhead) - 1; level > 0; level--) {
      const LevelFiles& files = version_.level(level);
      const size_t place = files.Find(lookup_->internal_key());
      places_[level] = place;
      const TableReader* const reader = place < files.size() ? ReaderOf(*files[place]) : nullptr;
      if (reader == nullptr) continue;
      if (level == levels - 1) {
        reader->PrefetchSpeculatively(*lookup_, &hint_);
      } else {
        reader->Prefetch(*lookup_);
      }
    }
    // The first is searched at once.
    const LevelFiles& newest = version_.level(0);
    for (size_t i = 1; i < newest.size(); i++) {
      const TableReader* const reader = ReaderOf(*newest[i]);
      if (reader != nullptr) reader->Prefetch(*lookup_);
    }
  }

  static const TableReader* ReaderOf(const FileMetaData& file) {
    return file.reader.load(std::memory_order_acquire);
  }

  Status SearchLevelZero() {
    const LevelFiles& files = version_.level(0);
    for (size_t i = 0; i < files.size(); i++) {
      if (!FileCovers(*files[i], lookup_->key(), icmp_)) continue;
      place_ = {0, i};
      VARVE_RETURN_IF_ERROR(SearchFile(files[i], 0));
      // A file's tombstones are newer than all entries of the files after it.
      if (over() || lookup_->EndIfCovered()) break;
    }
    return Status::OK();
  }

  Status SearchLevel(int level) {
    const LevelFiles& files = version_.level(level);
    const Slice key = lookup_->key();
    place_ = {level, 0};
    size_t i = level < kLevelsAhead ? places_[level] : files.Find(lookup_->internal_key());
    for (; i < files.size(); i++) {
      if (icmp_.CompareKey(key, icmp_.KeyOf(files[i]->smallest)) < 0) break;
      if (!LargestIsExclusive(*files[i]) || !EndsWithin(key, *files[i])) {
        VARVE_RETURN_IF_ERROR(SearchFile(files[i], level));
        if (over()) return Status::OK();
      }
      if (!EndsWithin(key, *files[i])) break;
    }
    (void)lookup_->EndIfCovered();
    return Status::OK();
  }

  // True if the file ends with the key, by a tombstone's exclusive end or, in databases of other
  // engines, between two versions of the key: then the next file may begin with it, and may hold an
  // entry newer than the first file's tombstones.
  bool EndsWithin(const Slice& key, const FileMetaData& file) const {
    return icmp_.CompareKey(key, icmp_.KeyOf(file.largest)) >= 0;
  }

  Status SearchFile(FileMetaData* file, int level) {
    VARVE_ASSERT(!over());
    TableRef table;
    if (Status s = table_cache_->Find(file, level, options_, &table); !s.ok()) [[unlikely]] {
      return Failed(s);
    }
    if (Status s = table->Get(options_, lookup_, hint_); !s.ok()) [[unlikely]] {
      return Failed(s);
    }
    if (lookup_->state() == PointLookup::State::kFound) CountHit(level);
    if (lookup_->state() == PointLookup::State::kFailed) [[unlikely]]
      return lookup_->status();
    return Status::OK();
  }

  Status Failed(const Status& s) const {
    lookup_->Fail(s);
    return s;
  }

  void CountHit(int level) const {
    AddPerfLevelCount<&PerfContextByLevel::user_key_return_count>(static_cast<uint32_t>(level));
    if (statistics_ == nullptr) return;
    RecordTick(statistics_,
               level == 0 ? GET_HIT_L0 : (level == 1 ? GET_HIT_L1 : GET_HIT_L2_AND_UP));
  }

  const ReadOptions& options_;
  const Version& version_;
  const InternalKeyComparator& icmp_;
  TableCache* const table_cache_;
  PointLookup* const lookup_;
  Statistics* const statistics_;
  SearchPlace place_;
  TableHint hint_;               // hint of the table in the last level
  size_t places_[kLevelsAhead];  // expected places of the key in each level; L0's is not used
};

}  // namespace

Status GetFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, Statistics* statistics, bool skip_memtables) {
  if (options.read_tier == kMemtableTier) [[unlikely]] {
    return CheckGetOptions(options);
  }
  VARVE_ASSERT(lookup->state() == PointLookup::State::kSearching);
  lookup->IgnoreTombstones(options.ignore_range_deletions);
  // A callback about operands must be called once for each, so there must be no second search.
  if (lookup->has_timestamp() && lookup->operands() != nullptr &&
      lookup->operands()->continue_callback != nullptr) [[unlikely]] {
    return GetInTimestampOrder(options, super_version, skip_memtables, lookup);
  }
  SearchPlace place;
  if (!skip_memtables && SearchMemTables(super_version, lookup, &place.index)) {
    RecordTick(statistics, MEMTABLE_HIT);
    if (lookup->state() == PointLookup::State::kFailed) return lookup->status();
  } else {
    RecordTick(statistics, MEMTABLE_MISS);
    TableSearch search(options, super_version, lookup, statistics);
    VARVE_RETURN_IF_ERROR(search.Run());
    if (!lookup->has_timestamp()) [[likely]]
      return Status::OK();
    place = search.place();
  }
  if (!lookup->has_timestamp()) [[likely]]
    return Status::OK();
  NoteTimestampOrder(options, super_version, place, lookup);
  return lookup->out_of_order()
             ? GetInTimestampOrder(options, super_version, skip_memtables, lookup)
             : Status::OK();
}

bool KeyMayExistInSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                               PointLookup* lookup, PinnableSlice* value, bool* found) {
  ReadOptions without_io = options;
  without_io.read_tier = kBlockCacheTier;
  const Status s = GetFromSuperVersion(without_io, super_version, lookup, nullptr);
  if (s.ok() && lookup->operands() != nullptr) {
    *found = value != nullptr && MergeForRead(options, super_version, lookup, value, nullptr).ok();
    return true;
  }
  *found = s.ok() && lookup->state() == PointLookup::State::kFound;
  // A key whose state is unknown may exist.
  return !s.ok() || *found;
}

}  // namespace varve
