// SPDX-License-Identifier: Apache-2.0

// A name is looked up in this order:
//
//     numbers                       number_properties.h
//     what may take long            entries of the block cache, owners of memory, sums over all
//                                   tables, garbage: computed without the DB mutex, which they take
//                                   themselves where they need it
//     names that end in a number    NumberedText
//     texts from memory             a row of Texts(): a function that is called with the mutex
//                                   held, so it does no I/O
//
// A new text that only reads memory is a row of Texts(). Maps are another call with other names
// (GetMapPropertyOf): a property that has both forms is in both functions.

#include "db/observe/properties.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <sstream>
#include <utility>

#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/output_options.h"
#include "db/observe/blob_sums.h"
#include "db/observe/database_stats.h"
#include "db/observe/family_stats.h"
#include "db/observe/garbage.h"
#include "db/observe/memory_by_owner.h"
#include "db/observe/metadata.h"
#include "db/observe/number_properties.h"
#include "db/observe/report_text.h"
#include "util/base/assert.h"
#include "util/metrics/cache_entry_stats.h"

namespace varve {

namespace {

std::string BlobStatsText(ColumnFamily& family) VARVE_REQUIRES(kDbMutex) {
  const BlobSums sums(family.current()->blob_files());
  std::ostringstream text;
  text << "Number of blob files: " << sums.files << "\nTotal size of blob files: " << sums.bytes
       << "\nTotal size of garbage in blob files: " << sums.garbage
       << "\nBlob file space amplification: " << sums.space_amplification() << "\n";
  return text.str();
}

using P = DB::Properties;

// Returns true, and sets *number, if the name is the prefix followed by a number below `end`.
bool ConsumeNumber(const Slice& name, const std::string& prefix, int end, int* number) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  int value = 0;
  for (size_t i = prefix.size(); i < name.size(); i++) {
    // Longer numbers are refused, so that the int does not overflow.
    if (name[i] < '0' || name[i] > '9' || value > 1000) return false;
    value = value * 10 + (name[i] - '0');
  }
  *number = value;
  return value < end;
}

// The functions below are called with the DB mutex held.

std::string LevelStats(ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  std::string out = "Level Files Size(MB)\n--------------------\n";
  for (int level = 0; level < f.current()->num_levels(); level++) {
    const LevelFiles& files = f.current()->level(level);
    AppendF(&out, "%3d %8zu %8.0f\n", level, files.size(), Mebibytes(files.bytes()));
  }
  return out;
}

// Returns the bytes of keys and values for each byte of the level's tables with known sizes, or -1
// if there are none.
std::string CompressionRatio(const LevelFiles& files) {
  uint64_t raw = 0;
  uint64_t stored = 0;
  for (const FileRef& file : files.files()) {
    const TableCounts& counts = file->counts();
    if (!counts.known()) continue;
    raw += counts.raw_key_bytes + counts.raw_value_bytes;
    stored += file->size;
  }
  return std::to_string(stored == 0 ? -1.0
                                    : static_cast<double>(raw) / static_cast<double>(stored));
}

std::string BytesAtTemperature(const Version& version, int temperature) {
  uint64_t bytes = 0;
  for (int level = 0; level < version.num_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      if (static_cast<int>(file->temperature) == temperature) bytes += file->size;
    }
  }
  return std::to_string(bytes);
}

// Handles the properties whose names end in a number.
bool NumberedText(ColumnFamily& f, const Slice& name, std::string* value) VARVE_REQUIRES(kDbMutex) {
  const Version& version = *f.current();
  const int levels = version.num_levels();
  int number = 0;
  if (ConsumeNumber(name, P::kNumFilesAtLevelPrefix, levels, &number)) {
    *value = std::to_string(version.level(number).size());
  } else if (ConsumeNumber(name, P::kCompressionRatioAtLevelPrefix, levels, &number)) {
    *value = CompressionRatio(version.level(number));
  } else if (ConsumeNumber(name, P::kLiveSstFilesSizeAtTemperature,
                           static_cast<int>(Temperature::kLastTemperature), &number)) {
    *value = BytesAtTemperature(version, number);
  } else {
    return false;
  }
  return true;
}

std::string AsText(const std::map<std::string, std::string>& values) {
  std::string out;
  for (const auto& [name, value] : values) out += name + ": " + value + "\n";
  return out;
}

std::map<std::string, std::string> DatabaseStallStats(Engine& e) VARVE_REQUIRES(kDbMutex) {
  return {{"write-buffer-manager-limit-stops", std::to_string(e.stalls.totals().memory_stalls)},
          {"write-buffer-manager-limit-stop-micros",
           std::to_string(e.stalls.totals().memory_stall_micros)},
          {"stall-micros", std::to_string(e.stalls.WaitedMicros())},
          {"delayed-writes", std::to_string(e.stalls.totals().delayed_writes)},
          {"stopped-writes", std::to_string(e.stalls.totals().stopped_writes)}};
}

std::string FamilyStallText(Engine& e, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  std::string out = e.stalls.Describe();
  if (!out.empty()) out += "\n";
  return out + AsText(f.stall_counts.ToMap());
}

const char* NameOf(Urgency urgency) {
  static constexpr std::array<const char*, kUrgencies> kNames = {"calm", "soon", "pressing",
                                                                 "hurry"};
  VARVE_ASSERT(static_cast<size_t>(urgency) < kNames.size());
  return kNames[static_cast<size_t>(urgency)];
}

// Describes how background work shares the processors. The urgencies cover all databases of the
// process.
std::map<std::string, std::string> BackgroundMap(const Engine& e) {
  return {{"gives-way", e.context.options().background_gives_way ? "1" : "0"},
          {"pauses", std::to_string(e.statistics.pauses())},
          {"paused-micros", std::to_string(e.statistics.paused_nanos() / 1000)},
          {"flushes", NameOf(SharedUrgency::OfFlushes().nearest())},
          {"compactions", NameOf(SharedUrgency::OfCompactions().nearest())}};
}

constexpr char kMemory[] = "varve.memory";
constexpr char kBackground[] = "varve.background";
constexpr char kGarbage[] = "varve.garbage";
constexpr char kRecovery[] = "varve.recovery";

std::string MemoryText(Engine& e) {
  std::string out;
  for (const auto& [owner, bytes] : MemoryByOwner(e.context, &e.state)) {
    out += (out.empty() ? "" : " ") + owner + "=" + std::to_string(bytes);
  }
  return out;
}

// Returns how old the collected statistics may be for a property about the block cache's entries,
// or null for other properties.
const CacheEntryStatsCollector::Patience* PatienceOf(const Slice& name) {
  if (name == Slice(P::kBlockCacheEntryStats)) return &CacheEntryStatsCollector::kExact;
  if (name == Slice(P::kFastBlockCacheEntryStats)) return &CacheEntryStatsCollector::kFast;
  return nullptr;
}

// Collects statistics of the entries of the family's block cache. Must be called without the DB
// mutex, as it may take long. Returns false if the family has no block cache.
bool CollectEntryStats(Engine* e, ColumnFamily* f,
                       const CacheEntryStatsCollector::Patience& patience, CacheEntryStats* stats) {
  const std::shared_ptr<Cache> cache = TableOptionsOf(*f->options()).block_cache;
  if (cache == nullptr) return false;
  *stats = e->statistics.cache_entries().Collect(cache, e->context.clock(), patience);
  return true;
}

// Handles the summed properties of all tables, or of those of a level. Must be called without the
// DB mutex, as tables may have to be opened. Returns false for another name, if a table cannot be
// opened, or if the database is closed.
bool SumTables(Engine* e, ColumnFamily* f, const Slice& name, TableProperties* sum) {
  if (!name.starts_with(P::kAggregatedTableProperties)) return false;
  int level = -1;
  // The mutex is released before tables are opened.
  if (name != Slice(P::kAggregatedTableProperties)) {
    DbLock lock(&e->state.mu);
    const int levels = f->current()->num_levels();
    if (!ConsumeNumber(name, P::kAggregatedTablePropertiesAtLevel, levels, &level)) return false;
  }
  // Tables may be opened by name, so Close must wait for this.
  const OpenCall call(&e->lifecycle);
  return call.inside() && SumTableProperties(e, f, level, sum).ok();
}

// Lists the prepared transactions, and the logs that are kept only for them: those older than what
// families need.
std::string PreparedText(Engine& e) VARVE_REQUIRES(kDbMutex) {
  const std::vector<PreparedTransactions::Info> transactions = e.state.prepared.Undecided();
  const uint64_t needed = e.state.versions->MinLogNumber();
  const uint64_t kept = e.state.versions->OldestLogNeeded();
  uint64_t bytes = 0;
  if (e.state.logs != nullptr) {
    for (const LogSet::LogInfo& log : e.state.logs->List()) {
      if (log.number >= kept && log.number < needed) bytes += log.bytes;
    }
  }
  std::string out;
  AppendF(&out, "undecided=%zu log_bytes_kept=%" PRIu64 "\n", transactions.size(), bytes);
  for (const PreparedTransactions::Info& txn : transactions) {
    out += "'" + ShownName(txn.name) + "'";
    AppendF(&out, " seconds=%" PRIu64 " bytes=%zu log=%" PRIu64 "%s\n",
            (e.context.MonotonicMicros() - txn.since_micros) / 1000000, txn.bytes, txn.log,
            txn.claimed ? "" : " without a transaction");
  }
  return out;
}

struct TextProperty {
  const std::string name;
  std::string (*get)(Engine& e, ColumnFamily& f);
};

const std::vector<TextProperty>& Texts() {
  static const auto* table = new std::vector<TextProperty>{
      {P::kStats,
       [](Engine& e, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
         return FamilyStatsText(e, f) + FileReadsText(f) + DatabaseStatsText(e);
       }},
      {P::kCFStats, [](Engine& e, ColumnFamily& f) VARVE_REQUIRES(
                        kDbMutex) { return FamilyStatsText(e, f) + FileReadsText(f); }},
      {P::kCFStatsNoFileHistogram, FamilyStatsText},
      {P::kCFFileHistogram, [](Engine&, ColumnFamily& f) { return FileReadsText(f); }},
      {P::kDBStats,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return DatabaseStatsText(e); }},
      {P::kSSTables, [](Engine&, ColumnFamily& f)
                         VARVE_REQUIRES(kDbMutex) { return f.current()->DebugString(); }},
      {P::kLevelStats,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return LevelStats(f); }},
      {P::kOptionsStatistics,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) {
         return e.context.statistics() == nullptr ? std::string()
                                                  : e.context.statistics()->ToString();
       }},
      {P::kDBWriteStallStats, [](Engine& e, ColumnFamily&) VARVE_REQUIRES(
                                  kDbMutex) { return AsText(DatabaseStallStats(e)); }},
      {P::kCFWriteStallStats, FamilyStallText},
      {P::kBlobStats,
       [](Engine&, ColumnFamily& f) VARVE_REQUIRES(kDbMutex) { return BlobStatsText(f); }},
      {kRecovery,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return e.recovery.ToString(); }},
      {kBackground,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return AsText(BackgroundMap(e)); }},
      {"varve.scrub",
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) {
         return e.jobs->scrubber.started() ? e.jobs->scrubber.progress().ToString() : "off";
       }},
      {"varve.prepared-transactions",
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return PreparedText(e); }},
      {"varve.holders",
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) {
         return e.lifecycle.OutstandingReferences(e.state.snapshots);
       }},
      {"varve.write-stall-reason",
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return e.stalls.Describe(); }},
      {"varve.background-error", [](Engine& e, ColumnFamily&) VARVE_REQUIRES(
                                     kDbMutex) { return e.errors.state().error().ToString(); }},
  };
  return *table;
}

}  // namespace

bool GetTextProperty(Engine* engine, ColumnFamily* family, const Slice& name, std::string* value) {
  uint64_t number = 0;
  if (GetNumberProperty(engine, family, name, &number)) {
    *value = std::to_string(number);
    return true;
  }
  if (const auto* const patience = PatienceOf(name)) {
    CacheEntryStats stats;
    if (!CollectEntryStats(engine, family, *patience, &stats)) return false;
    *value = stats.ToString(engine->context.clock()->NowMicros());
    return true;
  }
  if (name == Slice(kMemory)) {
    *value = MemoryText(*engine);
    return true;
  }
  if (TableProperties sum; SumTables(engine, family, name, &sum)) {
    *value = sum.ToString();
    return true;
  }
  if (name == Slice(kGarbage)) {
    *value = GarbageText(Garbage(engine->context, &engine->state, family));
    return true;
  }
  DbLock lock(&engine->state.mu);
  if (NumberedText(*family, name, value)) return true;
  for (const TextProperty& property : Texts()) {
    if (name == Slice(property.name)) {
      *value = property.get(*engine, *family);
      return true;
    }
  }
  return false;
}

bool GetMapPropertyOf(Engine* engine, ColumnFamily* family, const Slice& name,
                      std::map<std::string, std::string>* value) {
  if (const auto* const patience = PatienceOf(name)) {
    CacheEntryStats stats;
    if (!CollectEntryStats(engine, family, *patience, &stats)) return false;
    *value = stats.ToMap(engine->context.clock()->NowMicros());
    return true;
  }
  if (name == Slice(kGarbage)) {
    *value = GarbageMap(Garbage(engine->context, &engine->state, family));
    return true;
  }
  if (TableProperties sum; SumTables(engine, family, name, &sum)) {
    value->clear();
    for (const auto& [field, n] : sum.GetAggregatablePropertiesAsMap()) {
      (*value)[field] = std::to_string(n);
    }
    return true;
  }
  if (name == Slice(kMemory)) {
    value->clear();
    for (const auto& [owner, bytes] : MemoryByOwner(engine->context, &engine->state)) {
      (*value)[owner] = std::to_string(bytes);
    }
    return true;
  }
  if (name == Slice(kBackground)) {
    *value = BackgroundMap(*engine);
    return true;
  }
  if (name == Slice(kRecovery)) {
    VARVE_ASSERT(engine->state.commit != nullptr);  // the report is final
    value->clear();
    for (const auto& [field, text] : engine->recovery.Fields()) (*value)[field] = text;
    return true;
  }
  DbLock lock(&engine->state.mu);
  if (name == Slice(P::kDBWriteStallStats)) {
    *value = DatabaseStallStats(*engine);
    return true;
  }
  if (name == Slice(P::kDBStats)) {
    *value = DatabaseStatsMap(*engine);
    return true;
  }
  if (name == Slice(P::kCFWriteStallStats)) {
    *value = family->stall_counts.ToMap();
    return true;
  }
  if (name != Slice(P::kCFStats)) return false;
  *value = FamilyStatsMap(*family);
  return true;
}

std::string DescribeStatistics(Engine* engine) {
  std::string text;
  {
    DbLock lock(&engine->state.mu);
    for (const auto& [id, family] : engine->state.families.all()) {
      text += FamilyStatsText(*engine, *family) + FileReadsText(*family);
    }
    text += DatabaseStatsText(*engine);
  }
  if (engine->context.statistics() != nullptr) text += engine->context.statistics()->ToString();
  return text;
}

}  // namespace varve
