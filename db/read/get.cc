// SPDX-License-Identifier: Apache-2.0

// A key's entries lie in many places, newer ones before older ones: the active memtable,
// immutable ones from the newest on, tables of L0 from the newest on, then one table of each deeper
// level, and more of a level only where the key lies on the border of tables. The search asks each
// in this order and stops at the first place that decides. A merge operand does not decide: it is
// collected, and the search goes on for what lies beneath.
//
// Invariants
// 1. A range tombstone found on the way covers all entries in later places, as they are older:
//    EndIfCovered. Within one level two tables are of the same age, so it counts only behind the
//    last one.
// 2. With timestamps, "newer" has two meanings, and places are ordered by sequence numbers only. A
//    search that finds out that timestamps may be in another order is done again
//    (GetInTimestampOrder).
// 3. A failed read ends the search: an older entry must never be shown instead of one that could
//    not be read.

#include "db/read/get.h"

#include <algorithm>
#include <string>

#include "db/read/blob_read.h"
#include "db/read/merge_read.h"
#include "db/read/timestamp_order.h"
#include "db/version/file_bounds.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
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

// Searches the memtables from the newest on. Returns true if one of them has ended the search;
// *index, which must be 0 before, is then its SearchPlace::index.
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

  // Finds the key's file in each level before anything is searched, and prefetches the memory of
  // the filters there. Most keys are only in the last level, where the data block is prefetched as
  // well. So the processor waits for these cache misses at once instead of one after the other.
  // Reads no file and opens no table.
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
    // A search of chains does not know their files yet.
    if (!version_.l0_chains().empty()) [[unlikely]]
      return;
    // File 0 is searched right after this, so a prefetch of it would come too late.
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
    if (!version_.l0_chains().empty()) [[unlikely]]
      return SearchChains();
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

  // Searches each chain of L0 like a level: its files share no keys, so one of them may have the
  // key. The place is the oldest file of the chain, as what a chain has is newer than all later
  // chains.
  Status SearchChains() {
    for (const L0Chain& chain : version_.l0_chains()) {
      const size_t i = chain.files.Find(lookup_->internal_key());
      if (i == chain.files.size()) continue;
      FileMetaData* const file = chain.files[i];
      if (!FileCovers(*file, lookup_->key(), icmp_)) continue;
      place_ = {0, chain.oldest};
      VARVE_RETURN_IF_ERROR(SearchFile(file, 0));
      if (over() || lookup_->EndIfCovered()) break;
    }
    return Status::OK();
  }

  // Searches the file that may have the key, and the ones after it as long as the key is on their
  // border. A file that ends exclusively with this key has tombstones only up to it and no entry of
  // it, so it is passed over. The level's tombstones count when all of these were searched.
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

  // Looks for the key in one table, which is opened if it is not. After an error the lookup has it
  // too, and the search must end (invariant 3).
  Status SearchFile(FileMetaData* file, int level) {
    VARVE_ASSERT(!over());
    TableRef table;
    if (Status s = table_cache_->Find(file, level, options_, &table); !s.ok()) [[unlikely]] {
      return Failed(s);
    }
    if (Status s = table->Get(options_, lookup_, hint_); !s.ok()) [[unlikely]] {
      return Failed(s);
    }
    const PointLookup::State state = lookup_->state();
    if (state == PointLookup::State::kFound || state == PointLookup::State::kReference) {
      CountHit(level);
    }
    if (lookup_->state() == PointLookup::State::kFailed) [[unlikely]]
      return FailedAt(table, *file);
    return Status::OK();
  }

  // Adds to a Corruption where the entry is that the lookup could not take.
  [[gnu::noinline]] Status FailedAt(const TableRef& table, const FileMetaData& file) const {
    if (!lookup_->status().IsCorruption()) return Failed(lookup_->status());
    const uint64_t offset = table->ApproximateOffsetOf(options_, lookup_->internal_key());
    return Failed(Status::CopyAppendMessage(
        lookup_->status(), "; ",
        "in " + TableFileBaseName(file.number) + " offset " + std::to_string(offset)));
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

// Memtables are searched first, and then tables. Without timestamps that is all. With them the
// place where the search ended is remembered, NoteTimestampOrder asks the sources behind it, and if
// one of them may have a newer timestamp, everything is searched again.
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

// An error, for example of a read that would need I/O, means that nothing is known of the key.
bool KeyMayExistInSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                               PointLookup* lookup, PinnableSlice* value, bool* found) {
  ReadOptions without_io = options;
  without_io.read_tier = kBlockCacheTier;
  const Status s = GetFromSuperVersion(without_io, super_version, lookup, nullptr);
  if (s.ok() && lookup->operands() != nullptr) {
    *found =
        value != nullptr && MergeForRead(without_io, super_version, lookup, value, nullptr).ok();
    return true;
  }
  if (s.ok() && lookup->state() == PointLookup::State::kReference) {
    *found = value == nullptr || ReadReference(without_io, super_version, *lookup, value).ok();
    return true;
  }
  *found = s.ok() && lookup->state() == PointLookup::State::kFound;
  // A key whose state is unknown may exist.
  return !s.ok() || *found;
}

}  // namespace varve
