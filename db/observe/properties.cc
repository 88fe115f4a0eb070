// SPDX-License-Identifier: Apache-2.0
#include "db/observe/properties.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <utility>

#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/output_options.h"
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

using P = DB::Properties;

double Megabytes(uint64_t bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

// True if the name is the prefix and a number below `end`.
bool ConsumeNumber(const Slice& name, const std::string& prefix, int end, int* number) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  int value = 0;
  for (size_t i = prefix.size(); i < name.size(); i++) {
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
    AppendF(&out, "%3d %8zu %8.0f\n", level, files.size(), Megabytes(files.bytes()));
  }
  return out;
}

// Returns the bytes of keys and values for each byte of the level's tables, as far as these are
// known; -1: none is.
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

// Describes how background work shares the processors. The urgencies are those of the process.
std::map<std::string, std::string> BackgroundMap(const Engine& e) {
  return {{"gives-way", e.context.options().background_gives_way ? "1" : "0"},
          {"pauses", std::to_string(e.statistics.pauses())},
          {"paused-micros", std::to_string(e.statistics.paused_nanos() / 1000)},
          {"flushes", NameOf(SharedUrgency::OfFlushes().nearest())},
          {"compactions", NameOf(SharedUrgency::OfCompactions().nearest())}};
}

// The totals of writes are known only if DBOptions::statistics counts them.
std::map<std::string, std::string> DatabaseMap(Engine& e) VARVE_REQUIRES(kDbMutex) {
  std::map<std::string, std::string> values = {
      {"db.uptime",
       std::to_string(static_cast<double>(e.context.MonotonicMicros() - e.context.open_micros()) /
                      1e6)},
      {"db.user_write_stall_micros", std::to_string(e.stalls.WaitedMicros())}};
  const Statistics* const counted = e.context.statistics();
  if (counted == nullptr) return values;
  static constexpr std::pair<const char*, Tickers> kCounted[] = {
      {"db.wal_bytes_written", WAL_FILE_BYTES},
      {"db.wal_syncs", WAL_FILE_SYNCED},
      {"db.user_bytes_written", BYTES_WRITTEN},
      {"db.user_keys_written", NUMBER_KEYS_WRITTEN},
      {"db.user_writes_by_other", WRITE_DONE_BY_OTHER},
      {"db.user_writes_by_self", WRITE_DONE_BY_SELF},
      {"db.user_writes_with_wal", WRITE_WITH_WAL}};
  for (const auto& [name, ticker] : kCounted) {
    values[name] = std::to_string(counted->getTickerCount(ticker));
  }
  return values;
}

std::string DatabaseStats(Engine& e) VARVE_REQUIRES(kDbMutex) {
  std::string out = "\n** DB Stats **\n";
  AppendF(&out, "Uptime(secs): %.1f\n",
          static_cast<double>(e.context.MonotonicMicros() - e.context.open_micros()) / 1e6);
  if (const Statistics* const counted = e.context.statistics(); counted != nullptr) {
    AppendF(&out, "Cumulative writes: %" PRIu64 " writes, %" PRIu64 " keys, ingest: %.2f GB\n",
            counted->getTickerCount(WRITE_DONE_BY_SELF),
            counted->getTickerCount(NUMBER_KEYS_WRITTEN),
            Megabytes(counted->getTickerCount(BYTES_WRITTEN)) / 1024);
    AppendF(&out, "Cumulative WAL: %" PRIu64 " writes, %" PRIu64 " syncs, written: %.2f GB\n",
            counted->getTickerCount(WRITE_WITH_WAL), counted->getTickerCount(WAL_FILE_SYNCED),
            Megabytes(counted->getTickerCount(WAL_FILE_BYTES)) / 1024);
  }
  AppendF(&out, "Last sequence: %" PRIu64 "\n", e.state.versions->last_sequence());
  if (e.state.logs != nullptr) {
    AppendF(&out, "Logs: %zu files, %.1f MB, %.1f MB not synced\n", e.state.logs->List().size(),
            Megabytes(e.state.logs->total_bytes()), Megabytes(e.state.logs->unsynced_bytes()));
  }
  const std::string stall = e.stalls.Describe();
  AppendF(&out, "Write stall: %s\n", stall.empty() ? "none" : stall.c_str());
  AppendF(&out,
          "Write stalls: %.3f s in all, %" PRIu64 " delayed and %" PRIu64
          " stopped writes; %.3f s and %" PRIu64 " writes for the write-buffer manager\n",
          static_cast<double>(e.stalls.WaitedMicros()) / 1e6, e.stalls.totals().delayed_writes,
          e.stalls.totals().stopped_writes,
          static_cast<double>(e.stalls.totals().memory_stall_micros) / 1e6,
          e.stalls.totals().memory_stalls);
  return out;
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

// Returns the patience for a property about the block cache's entries; null for other properties.
const CacheEntryStatsCollector::Patience* PatienceOf(const Slice& name) {
  if (name == Slice(P::kBlockCacheEntryStats)) return &CacheEntryStatsCollector::kExact;
  if (name == Slice(P::kFastBlockCacheEntryStats)) return &CacheEntryStatsCollector::kFast;
  return nullptr;
}

// Called without the DB mutex, as it may take long. Returns false if the family has no block cache.
bool CollectEntryStats(Engine* e, ColumnFamily* f,
                       const CacheEntryStatsCollector::Patience& patience, CacheEntryStats* stats) {
  const std::shared_ptr<Cache> cache = TableOptionsOf(*f->options()).block_cache;
  if (cache == nullptr) return false;
  *stats = e->statistics.cache_entries().Collect(cache, e->context.clock(), patience);
  return true;
}

// Handles the sum over all tables, or over those of a level. Called without the DB mutex, as tables
// may have to be opened. Returns false for another name, if a table cannot be opened, or if the
// database is closed.
bool SumTables(Engine* e, ColumnFamily* f, const Slice& name, TableProperties* sum) {
  if (!name.starts_with(P::kAggregatedTableProperties)) return false;
  int level = -1;
  if (name != Slice(P::kAggregatedTableProperties)) {
    DbLock lock(&e->state.mu);
    const int levels = f->current()->num_levels();
    if (!ConsumeNumber(name, P::kAggregatedTablePropertiesAtLevel, levels, &level)) return false;
  }
  const OpenCall call(&e->lifecycle);
  return call.inside() && SumTableProperties(e, f, level, sum).ok();
}

// The logs between those that families need and the oldest that stays are kept for prepared
// transactions only.
std::string PreparedText(Engine& e) VARVE_REQUIRES(kDbMutex) {
  const std::vector<PreparedSections::Info> sections = e.state.sections.Undecided();
  const uint64_t needed = e.state.versions->MinLogNumber();
  const uint64_t kept = e.state.versions->OldestLogNeeded();
  uint64_t bytes = 0;
  if (e.state.logs != nullptr) {
    for (const LogSet::LogInfo& log : e.state.logs->List()) {
      if (log.number >= kept && log.number < needed) bytes += log.bytes;
    }
  }
  std::string out;
  AppendF(&out, "undecided=%zu log_bytes_kept=%" PRIu64 "\n", sections.size(), bytes);
  for (const PreparedSections::Info& section : sections) {
    out += "'" + ShownName(section.name) + "'";
    AppendF(&out, " seconds=%" PRIu64 " bytes=%zu log=%" PRIu64 "%s\n",
            (e.context.MonotonicMicros() - section.since_micros) / 1000000, section.bytes,
            section.log, section.claimed ? "" : " without a transaction");
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
         return FamilyStatsText(e, f) + FileReadsText(f) + DatabaseStats(e);
       }},
      {P::kCFStats, [](Engine& e, ColumnFamily& f) VARVE_REQUIRES(
                        kDbMutex) { return FamilyStatsText(e, f) + FileReadsText(f); }},
      {P::kCFStatsNoFileHistogram, FamilyStatsText},
      {P::kCFFileHistogram, [](Engine&, ColumnFamily& f) { return FileReadsText(f); }},
      {P::kDBStats,
       [](Engine& e, ColumnFamily&) VARVE_REQUIRES(kDbMutex) { return DatabaseStats(e); }},
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
       [](Engine&, ColumnFamily&) VARVE_REQUIRES(kDbMutex) {
         return std::string(
             "Number of blob files: 0\nTotal size of blob files: 0\n"
             "Size of garbage in blob files: 0\n");
       }},
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
    *value = DatabaseMap(*engine);
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
    text += DatabaseStats(*engine);
  }
  if (engine->context.statistics() != nullptr) text += engine->context.statistics()->ToString();
  return text;
}

}  // namespace varve
