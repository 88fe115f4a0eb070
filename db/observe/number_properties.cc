// SPDX-License-Identifier: Apache-2.0

// Each property is a row of one of three tables. Rows of Numbers() are functions that read memory
// with the DB mutex held, so all figures of one property are of one moment; they do no I/O, and
// wait for nobody. Rows of kOfVersions count in versions that readers may leave meanwhile; these
// are held until the mutex is released, as the last reference closes files. Rows of kOfCaches ask a
// cache, which may walk over its entries to count pinned ones, so the mutex is not held.
//
// A sum over all families counts nothing twice: a property of the whole database is taken from one
// family (Scope::kDatabase), and a cache that several families share is read once.

#include "db/observe/number_properties.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "varve/cache.h"
#include "varve/db.h"

#include "db/background/jobs.h"
#include "db/compaction/plan.h"
#include "db/engine/engine.h"
#include "db/engine/output_options.h"
#include "db/version/table_cache.h"
#include "util/base/assert.h"

namespace varve {

namespace {

using P = DB::Properties;

const std::string kScrubCorruptions = "varve.scrub-corruptions";
const std::string kBlobHoleBytes = "varve.blob-hole-bytes";
const std::string kBlobHoleErrors = "varve.blob-hole-errors";

enum class Scope : uint8_t {
  kFamily,    // has a value for each family, which can be summed
  kDatabase,  // has the same value for every family
};

struct NumberProperty {
  const std::string* name;
  uint64_t (*get)(Engine& e, ColumnFamily& f);  // called with the DB mutex held
  Scope scope;
};

uint64_t SumImmutables(ColumnFamily& f, uint64_t (MemTable::*get)() const)
    VARVE_REQUIRES(kDbMutex) {
  uint64_t sum = 0;
  for (const ImmutableMemTable& imm : f.immutables()) sum += (imm.mem.get()->*get)();
  return sum;
}

uint64_t UsedByMemTables(ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  return f.mem()->UsedBytes() + SumImmutables(f, &MemTable::UsedBytes);
}

uint64_t UsedByHistory(ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  uint64_t sum = 0;
  for (const auto& mem : f.history()) sum += mem->UsedBytes();
  return sum;
}

// Estimates the number of live keys in files: entries less twice the deletions, assuming that each
// deletion deletes one entry. Files without counts are assumed to be like the others.
uint64_t EstimateKeysInFiles(const Version& version) {
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t known_bytes = 0;
  for (int level = 0; level < version.num_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      const TableCounts& counts = file->counts();
      if (!counts.known()) continue;
      entries += counts.entries;
      deletions += counts.deletions;
      known_bytes += file->size;
    }
  }
  // By this estimate everything is deleted, or no file has counts.
  if (entries <= 2 * deletions) return 0;
  const uint64_t keys = entries - 2 * deletions;
  const uint64_t bytes = version.TotalBytes();
  VARVE_ASSERT(known_bytes > 0 && known_bytes <= bytes);
  if (known_bytes == bytes) return keys;
  return static_cast<uint64_t>(static_cast<double>(keys) * static_cast<double>(bytes) /
                               static_cast<double>(known_bytes));
}

// Deletions in memtables are subtracted from the whole sum, as they may delete entries of files.
uint64_t EstimateKeys(Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  const uint64_t entries = f.mem()->entry_count() + SumImmutables(f, &MemTable::entry_count) +
                           EstimateKeysInFiles(*f.current());
  const uint64_t deletions =
      f.mem()->deletion_count() + SumImmutables(f, &MemTable::deletion_count);
  return entries > 2 * deletions ? entries - 2 * deletions : 0;
}

// Sums the memory of the open readers, which are attached to the files, or in a cache of the whole
// database if open files are limited.
uint64_t TableReaderBytes(Engine& e, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  Cache* const limited = e.context.limited_tables().get();
  uint64_t sum = 0;
  std::unordered_set<uint64_t> in_cache;
  for (int level = 0; level < f.current()->num_levels(); level++) {
    for (const FileRef& file : f.current()->level(level).files()) {
      if (const TableReader* reader = file->reader.load(std::memory_order_acquire)) {
        sum += reader->MemoryUsage();
      } else if (limited != nullptr) {
        in_cache.insert(file->number);
      }
    }
  }
  if (in_cache.empty()) return sum;
  TableCache::VisitLimited(limited, [&](uint64_t number, const TableReader& reader) {
    if (in_cache.contains(number)) sum += reader.MemoryUsage();
  });
  return sum;
}

// The largest key of a file. It is exclusive if the end of a range tombstone ends the file; the
// next file may then begin with that key.
struct FileEnd {
  Slice key;
  bool inclusive;
};

// Estimates the bytes of live data: the files of the last level, and files above that overlap no
// file counted so far. Files that overlap are assumed to have newer versions of the same keys.
uint64_t LiveDataBytes(Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  const InternalKeyComparator& icmp = f.icmp();
  const auto before = [&icmp](const FileEnd& a, const FileEnd& b) {
    const int order = icmp.CompareKey(a.key, b.key);
    return order != 0 ? order < 0 : !a.inclusive && b.inclusive;
  };
  // The ranges in `counted` do not overlap, so only the first one that ends at or after `smallest`
  // has to be checked.
  std::map<FileEnd, FileEnd, decltype(before)> counted(before);  // maps the largest to the smallest
  uint64_t bytes = 0;
  for (int level = f.current()->num_levels() - 1; level >= 0; level--) {
    for (const FileRef& file : f.current()->level(level).files()) {
      const FileEnd smallest = {icmp.KeyOf(file->smallest), true};
      const FileEnd largest = {icmp.KeyOf(file->largest),
                               file->largest.sequence() != kMaxSequenceNumber};
      const auto next = counted.lower_bound(smallest);
      if (next != counted.end() && !before(largest, next->second)) continue;
      counted.emplace_hint(next, largest, smallest);
      bytes += file->size;
    }
  }
  for (const BlobFileState& file : f.current()->blob_files()) {
    // Values that no table refers to are not live.
    bytes += file.bytes() - file.garbage_bytes;
  }
  return bytes;
}

// Sums all tables that may have readers, including those of older versions.
uint64_t DistinctTableBytes(const std::vector<const Version*>& versions) {
  std::set<uint64_t> counted;
  uint64_t bytes = 0;
  for (const Version* const version : versions) {
    for (int level = 0; level < version->num_levels(); level++) {
      for (const FileRef& file : version->level(level).files()) {
        if (counted.insert(file->number).second) bytes += file->size;
      }
    }
  }
  return bytes;
}

// Does the same for blob files.
uint64_t DistinctBlobBytes(const std::vector<const Version*>& versions) {
  std::set<uint64_t> counted;
  uint64_t bytes = 0;
  for (const Version* const version : versions) {
    for (const BlobFileState& file : version->blob_files()) {
      if (counted.insert(file.number()).second) bytes += file.FileSize();
    }
  }
  return bytes;
}

uint64_t BlobBytes(const Version& version) {
  uint64_t bytes = 0;
  for (const BlobFileState& file : version.blob_files()) bytes += file.FileSize();
  return bytes;
}

uint64_t BlobGarbageBytes(const Version& version) {
  uint64_t bytes = 0;
  for (const BlobFileState& file : version.blob_files()) bytes += file.garbage_bytes;
  return bytes;
}

// Returns the number of sorted runs in running compactions: each file of L0 is a run, and all files
// of another level are one.
uint64_t RunsBeingCompacted(ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  uint64_t runs = 0;
  for (const CompactionPlan* plan : f.running_compactions) {
    for (const CompactionInputLevel& input : plan->inputs) {
      runs += input.level == 0 ? input.files.size() : std::min<size_t>(input.files.size(), 1);
    }
  }
  return runs;
}

const std::vector<NumberProperty>& Numbers() {
  static const auto* table = new std::vector<NumberProperty>{
      {&P::kNumImmutableMemTable,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.immutables().size(); },
       Scope::kFamily},
      {&P::kNumImmutableMemTableFlushed,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.history().size(); },
       Scope::kFamily},
      {&P::kMemTableFlushPending,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.flush_requested ? 1 : 0; },
       Scope::kFamily},
      {&P::kCurSizeActiveMemTable,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.mem()->UsedBytes(); },
       Scope::kFamily},
      {&P::kCurSizeAllMemTables,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return UsedByMemTables(f); },
       Scope::kFamily},
      {&P::kSizeAllMemTables,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) { return UsedByMemTables(f) + UsedByHistory(f); },
       Scope::kFamily},
      {&P::kNumEntriesActiveMemTable,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return f.mem()->entry_count(); },
       Scope::kFamily},
      {&P::kNumEntriesImmMemTables,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) { return SumImmutables(f, &MemTable::entry_count); },
       Scope::kFamily},
      {&P::kNumDeletesActiveMemTable,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return f.mem()->deletion_count(); },
       Scope::kFamily},
      {&P::kNumDeletesImmMemTables,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) { return SumImmutables(f, &MemTable::deletion_count); },
       Scope::kFamily},
      {&P::kNumRunningFlushes,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) { return static_cast<uint64_t>(e.jobs->flush.running()); },
       Scope::kDatabase},
      {&P::kCompactionPending,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.compaction_queued ? 1 : 0; },
       Scope::kFamily},
      {&P::kNumRunningCompactions,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.running_compactions.size(); },
       Scope::kFamily},
      {&P::kNumRunningCompactionSortedRuns,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return RunsBeingCompacted(f); },
       Scope::kFamily},
      // Counts the error in force, and the automatic attempts to recover from it.
      {&P::kBackgroundErrors,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) -> uint64_t {
         return e.errors.state().severity() != ErrorState::Severity::kNone
                    ? 1 + e.errors.state().retries()
                    : 0;
       },
       Scope::kDatabase},
      {&kScrubCorruptions,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return e.jobs->scrubber.progress().corruptions; },
       Scope::kDatabase},
      {&kBlobHoleBytes,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) { return e.state.blob_holes.punched_bytes(); },
       Scope::kDatabase},
      {&kBlobHoleErrors,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) { return e.state.blob_holes.errors(); },
       Scope::kDatabase},
      {&P::kEstimatePendingCompactionBytes,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) { return f.shape().pending_compaction_bytes; },
       Scope::kFamily},
      {&P::kActualDelayedWriteRate,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return e.stalls.DelayedRate(); },
       Scope::kDatabase},
      {&P::kIsWriteStopped,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) -> uint64_t {
         return e.stalls.stopped() || e.errors.state().writes_stopped() ? 1 : 0;
       },
       Scope::kDatabase},
      {&P::kIsFileDeletionsEnabled,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return e.deletions.disabled() ? 0 : 1; },
       Scope::kDatabase},
      {&P::kEstimateNumKeys, EstimateKeys, Scope::kFamily},
      {&P::kEstimateLiveDataSize, LiveDataBytes, Scope::kFamily},
      {&P::kEstimateTableReadersMem, TableReaderBytes, Scope::kFamily},
      {&P::kObsoleteSstFilesSize,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) { return e.state.versions->obsolete_files()->Bytes(); },
       Scope::kDatabase},
      {&P::kLiveSstFilesSize,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return f.current()->TotalBytes(); },
       Scope::kFamily},
      {&P::kBaseLevel,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) { return static_cast<uint64_t>(f.shape().base_level); },
       Scope::kFamily},
      {&P::kNumSnapshots,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return e.state.snapshots.count(); },
       Scope::kDatabase},
      {&P::kOldestSnapshotTime,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) {
         return static_cast<uint64_t>(e.state.snapshots.oldest_unix_seconds());
       },
       Scope::kDatabase},
      {&P::kOldestSnapshotSequence,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) {
         return e.state.snapshots.count() == 0 ? 0 : e.state.snapshots.oldest();
       },
       Scope::kDatabase},
      {&P::kCurrentSuperVersionNumber,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return f.SuperVersionNumber(); },
       Scope::kFamily},
      {&P::kMinLogNumberToKeep,
       [](Engine& e, ColumnFamily&)
           VARVE_REQUIRES(kDbMutex) { return e.state.versions->OldestLogNeeded(); },
       Scope::kDatabase},
      // Obsolete tables are not kept by their numbers, so this has its neutral value.
      {&P::kMinObsoleteSstNumberToKeep,
       [](Engine&, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return UINT64_MAX; },
       Scope::kDatabase},
      {&P::kNumBlobFiles,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) -> uint64_t { return f.current()->blob_files().size(); },
       Scope::kFamily},
      {&P::kLiveBlobFileSize,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return BlobBytes(*f.current()); },
       Scope::kFamily},
      {&P::kLiveBlobFileGarbageSize,
       [](Engine&, ColumnFamily& f)
           VARVE_REQUIRES(kDbMutex) { return BlobGarbageBytes(*f.current()); },
       Scope::kFamily},
  };
  return *table;
}

struct VersionsProperty {
  const std::string* name;
  uint64_t (*get)(const std::vector<const Version*>& versions);  // those of a family
};

const VersionsProperty kOfVersions[] = {
    {&P::kTotalSstFilesSize, &DistinctTableBytes},
    {&P::kTotalBlobFileSize, &DistinctBlobBytes},
    {&P::kNumLiveVersions,
     [](const std::vector<const Version*>& versions) -> uint64_t { return versions.size(); }},
};

const VersionsProperty* FindOfVersions(const Slice& name) {
  for (const VersionsProperty& property : kOfVersions) {
    if (name == Slice(*property.name)) return &property;
  }
  return nullptr;
}

// Evaluates the property for the versions of the family among `live`, which are those of all
// families. Each family has a comparator object of its own, by which its versions are recognized.
uint64_t CountInVersions(const VersionsProperty& property, const ColumnFamily& family,
                         const std::vector<VersionRef>& live) VARVE_REQUIRES(kDbMutex) {
  std::vector<const Version*> of_family;
  for (const VersionRef& version : live) {
    if (version->icmp() == family.versions()->icmp.get()) of_family.push_back(version.get());
  }
  return property.get(of_family);
}

// Evaluated without the DB mutex, as counting pinned entries takes long.
struct CacheProperty {
  const std::string* name;
  std::shared_ptr<Cache> (*find)(const ColumnFamily& f);  // null: the family has no such cache
  uint64_t (*get)(const Cache& cache);
  bool exists_always;  // its value is 0 without a cache
};

uint64_t CapacityOf(const Cache& cache) {
  return cache.GetCapacity();
}
uint64_t UsageOf(const Cache& cache) {
  return cache.GetUsage();
}
uint64_t PinnedUsageOf(const Cache& cache) {
  return cache.GetPinnedUsage();
}
std::shared_ptr<Cache> BlockCacheOf(const ColumnFamily& f) {
  return TableOptionsOf(*f.options()).block_cache;
}
std::shared_ptr<Cache> BlobCacheOf(const ColumnFamily& f) {
  return f.options()->blob_cache;
}

const CacheProperty kOfCaches[] = {
    {&P::kBlockCacheCapacity, &BlockCacheOf, &CapacityOf, true},
    {&P::kBlockCacheUsage, &BlockCacheOf, &UsageOf, true},
    {&P::kBlockCachePinnedUsage, &BlockCacheOf, &PinnedUsageOf, true},
    {&P::kBlobCacheCapacity, &BlobCacheOf, &CapacityOf, false},
    {&P::kBlobCacheUsage, &BlobCacheOf, &UsageOf, false},
    {&P::kBlobCachePinnedUsage, &BlobCacheOf, &PinnedUsageOf, false},
};

const CacheProperty* FindOfCaches(const Slice& name) {
  for (const CacheProperty& property : kOfCaches) {
    if (name == Slice(*property.name)) return &property;
  }
  return nullptr;
}

const NumberProperty* FindNumber(const Slice& name) {
  for (const NumberProperty& property : Numbers()) {
    if (name == Slice(*property.name)) return &property;
  }
  return nullptr;
}

}  // namespace

bool GetNumberProperty(Engine* engine, ColumnFamily* family, const Slice& name, uint64_t* value) {
  if (const CacheProperty* const of_caches = FindOfCaches(name)) {
    const std::shared_ptr<Cache> cache = of_caches->find(*family);
    if (cache == nullptr && !of_caches->exists_always) return false;
    *value = cache == nullptr ? 0 : of_caches->get(*cache);
    return true;
  }
  if (const VersionsProperty* const of_versions = FindOfVersions(name)) {
    std::vector<VersionRef> live;
    DbLock lock(&engine->state.mu);
    live = engine->state.versions->LiveVersions();
    *value = CountInVersions(*of_versions, *family, live);
    return true;
  }
  const NumberProperty* const property = FindNumber(name);
  if (property == nullptr) return false;
  DbLock lock(&engine->state.mu);
  *value = property->get(*engine, *family);
  return true;
}

bool GetAggregatedNumberProperty(Engine* engine, const Slice& name, uint64_t* value) {
  if (const CacheProperty* const of_caches = FindOfCaches(name)) {
    // A set, so that a shared cache is counted once. It keeps the caches alive while they are read
    // without the mutex.
    std::set<std::shared_ptr<Cache>> caches;
    {
      DbLock lock(&engine->state.mu);
      for (const auto& [id, family] : engine->state.families.all()) {
        caches.insert(of_caches->find(*family));
      }
    }
    caches.erase(nullptr);
    if (caches.empty() && !of_caches->exists_always) return false;
    *value = 0;
    for (const auto& cache : caches) *value += of_caches->get(*cache);
    return true;
  }
  if (const VersionsProperty* const of_versions = FindOfVersions(name)) {
    std::vector<VersionRef> live;
    DbLock lock(&engine->state.mu);
    live = engine->state.versions->LiveVersions();
    *value = 0;
    for (const auto& [id, family] : engine->state.families.all()) {
      *value += CountInVersions(*of_versions, *family, live);
    }
    return true;
  }
  const NumberProperty* const property = FindNumber(name);
  if (property == nullptr) return false;
  DbLock lock(&engine->state.mu);
  *value = 0;
  for (const auto& [id, family] : engine->state.families.all()) {
    *value += property->get(*engine, *family);
    if (property->scope == Scope::kDatabase) break;
  }
  return true;
}

}  // namespace varve
