// SPDX-License-Identifier: Apache-2.0

// Reads the metrics of a database and writes them as text.
//
// The values are read in pieces, each in one hold of the DB mutex or in none, so that a scrape
// never holds up writers for long. Values of different pieces may be of different moments; those of
// one family's levels are of one moment.

#include <algorithm>
#include <cctype>
#include <iterator>
#include <new>
#include <ranges>
#include <string_view>

#include "varve/env.h"
#include "varve/statistics.h"
#include "varve/utilities/metrics.h"

#include "db/copy/copy_host.h"
#include "db/engine/engine.h"
#include "db/metrics/metrics_list.h"
#include "db/metrics/metrics_text.h"
#include "db/observe/memory_by_owner.h"
#include "db/observe/number_properties.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

using Type = MetricsText::Type;

// True for names that collectors accept.
bool IsName(std::string_view name) {
  const auto fits = [](char c) {
    return c == '_' || (static_cast<unsigned char>(c) < 0x80 &&
                        std::isalnum(static_cast<unsigned char>(c)) != 0);
  };
  return !name.empty() && std::ranges::all_of(name, fits) &&
         std::isdigit(static_cast<unsigned char>(name.front())) == 0;
}

// The labels that the library gives to samples.
constexpr std::string_view kOwnLabels[] = {"db", "cf", "level", "quantile", "owner", "condition"};

// Returns InvalidArgument for a prefix or a label whose name cannot be used.
Status CheckOptions(const MetricsOptions& options) {
  if (!options.prefix.empty() && !IsName(options.prefix)) {
    return Status::InvalidArgument("MetricsOptions::prefix is not a name", options.prefix);
  }
  for (const auto& [name, value] : options.labels) {
    // Two labels of one name make a line invalid.
    if (!IsName(name) || std::ranges::find(kOwnLabels, name) != std::end(kOwnLabels)) {
      return Status::InvalidArgument("MetricsOptions::labels has a name that cannot be used", name);
    }
  }
  return Status::OK();
}

// Converts times to seconds; other values are unchanged.
double InBaseUnit(MetricUnit unit, double value) {
  if (unit == MetricUnit::kMicros) return value / 1e6;
  return unit == MetricUnit::kNanos ? value / 1e9 : value;
}

using Families = std::vector<std::shared_ptr<ColumnFamily>>;

// Sets *families to those that the options name, without dropped ones; InvalidArgument if a name
// does not exist.
Status ChooseFamilies(Engine* e, const MetricsOptions& options, Families* families) {
  DbLock lock(&e->state.mu);
  for (const auto& [id, family] : e->state.families.all()) {
    const bool wanted =
        options.families.empty() || std::ranges::count(options.families, family->name()) > 0;
    if (wanted && !family->dropped()) families->push_back(family);
  }
  for (const std::string& name : options.families) {
    if (std::ranges::none_of(*families, [&](const auto& f) { return f->name() == name; })) {
      return Status::InvalidArgument("MetricsOptions::families names no column family", name);
    }
  }
  return Status::OK();
}

// Writes all metrics of one database.
class Collection {
 public:
  Collection(Engine* e, const MetricsOptions& options, Families families)
      : e_(*e), families_(std::move(families)), text_(options) {}

  std::string Write() {
    WriteOfStatistics();
    WriteGauges();
    WriteWrites();
    WriteMemory();
    WriteFamilies();
    WriteLevels();
    return text_.Finish();
  }

 private:
  struct LevelRow {
    size_t family = 0;
    std::string level;
    uint64_t files = 0;
    uint64_t bytes = 0;
    double score = 0;
    LevelWork work;
  };
  struct FamilyRow {
    FamilyWork work;
    StallCounts stalls;
  };

  MetricLabels OfDatabase() const { return {{"db", e_.context.name()}}; }
  MetricLabels OfFamily(size_t i) const {
    return {{"db", e_.context.name()}, {"cf", families_[i]->name()}};
  }

  // Writes the tickers and histograms of DBOptions::statistics, if it is set.
  void WriteOfStatistics() {
    const Statistics* const statistics = e_.context.statistics();
    if (statistics == nullptr) return;
    for (const StatisticsMetric& row : CounterMetrics()) {
      text_.Begin(Type::kCounter, row.name, row.help);
      text_.Sample(
          OfDatabase(),
          InBaseUnit(row.unit, static_cast<double>(statistics->getTickerCount(row.number))));
    }
    for (const StatisticsMetric& row : HistogramMetrics()) {
      HistogramData data;
      statistics->histogramData(row.number, &data);
      text_.Begin(Type::kSummary, row.name, row.help);
      text_.Quantile(OfDatabase(), "0.5", InBaseUnit(row.unit, data.median));
      text_.Quantile(OfDatabase(), "0.95", InBaseUnit(row.unit, data.percentile95));
      text_.Quantile(OfDatabase(), "0.99", InBaseUnit(row.unit, data.percentile99));
      text_.Sum(OfDatabase(), InBaseUnit(row.unit, static_cast<double>(data.sum)));
      text_.Count(OfDatabase(), static_cast<double>(data.count));
    }
  }

  void WriteGauges() {
    for (const PropertyMetric& row : GaugeMetrics()) {
      text_.Begin(Type::kGauge, row.name, row.help);
      // A metric of the database is read through one family, which may be any.
      const size_t families = row.scope == MetricScope::kDatabase ? 1 : families_.size();
      for (size_t i = 0; i < std::min(families, families_.size()); i++) {
        uint64_t value = 0;
        // A family without the property, as one without a blob cache, has no sample.
        if (!GetNumberProperty(&e_, families_[i].get(), *row.property, &value)) continue;
        text_.Sample(row.scope == MetricScope::kDatabase ? OfDatabase() : OfFamily(i),
                     InBaseUnit(row.unit, static_cast<double>(value)));
      }
    }
  }

  // Writes counters of writes, which the commit path and the logs count even without Statistics.
  void WriteWrites() {
    CommitTotals writes;
    uint64_t syncs = 0;
    uint64_t log_bytes = 0;
    uint64_t unsynced = 0;
    uint64_t stalled = 0;
    uint64_t sequence = 0;
    {
      DbLock lock(&e_.state.mu);
      if (e_.state.commit != nullptr) writes = e_.state.commit->Totals();
      if (e_.state.logs != nullptr) {
        syncs = e_.state.logs->sync_requests();
        log_bytes = e_.state.logs->total_bytes();
        unsynced = e_.state.logs->unsynced_bytes();
      }
      stalled = e_.stalls.WaitedMicros();
      sequence = e_.state.versions->last_sequence();
    }
    One(Type::kCounter, "user_writes", "Batches that users wrote.", writes.writes);
    One(Type::kCounter, "user_keys_written", "Updates in these batches.", writes.keys);
    One(Type::kCounter, "user_written_bytes", "Bytes of these batches.", writes.bytes);
    One(Type::kCounter, "log_writes", "Batches written to the log.", writes.logged_writes);
    One(Type::kCounter, "log_written_bytes", "Bytes of batches written to the log.",
        writes.logged_bytes);
    One(Type::kCounter, "log_sync_requests", "Requests to make the log durable.", syncs);
    One(Type::kGauge, "log_files_bytes", "Bytes of the logs that are needed.", log_bytes);
    One(Type::kGauge, "log_unsynced_bytes", "Bytes of logs that a power loss may take.", unsynced);
    text_.Begin(Type::kCounter, "write_stall_seconds",
                "Time for which users' writes were held back.");
    text_.Sample(OfDatabase(), static_cast<double>(stalled) / 1e6);
    One(Type::kGauge, "last_sequence", "Newest sequence number.", sequence);
    text_.Begin(Type::kGauge, "uptime_seconds", "Time since the opening.");
    text_.Sample(
        OfDatabase(),
        static_cast<double>(e_.context.MonotonicMicros() - e_.context.open_micros()) / 1e6);
  }

  // Writes a metric of the database that has one sample.
  void One(Type type, const char* name, const char* help, uint64_t value) {
    text_.Begin(type, name, help);
    text_.Sample(OfDatabase(), static_cast<double>(value));
  }

  void WriteMemory() {
    text_.Begin(Type::kGauge, "memory_bytes",
                "Bytes by owner; an owner with a dot is a part of the one before the dot.");
    for (const auto& [owner, bytes] : MemoryByOwner(e_.context, &e_.state)) {
      MetricLabels labels = OfDatabase();
      labels.emplace_back("owner", owner);
      text_.Sample(labels, static_cast<double>(bytes));
    }
  }

  void WriteFamilies() {
    std::vector<FamilyRow> rows;
    for (const auto& family : families_) {
      DbLock lock(&e_.state.mu);
      rows.push_back({family->work, family->stall_counts});
    }
    OfFamilies(rows, "flushes", "Flushes that are done.",
               [](const FamilyRow& row) { return row.work.flushes; });
    OfFamilies(rows, "flushed_bytes", "Bytes of tables that flushes wrote.",
               [](const FamilyRow& row) { return row.work.flush_bytes; });
    OfFamilies(rows, "ingested_bytes", "Bytes of tables that were ingested.",
               [](const FamilyRow& row) { return row.work.ingested.bytes; });
    // All causes and conditions of a family are samples of one metric, told apart by a label.
    text_.Begin(Type::kCounter, "write_stalls", "Times that the family held writes back.");
    for (size_t i = 0; i < rows.size(); i++) {
      for (const auto& [condition, count] : rows[i].stalls.ToMap()) {
        MetricLabels labels = OfFamily(i);
        labels.emplace_back("condition", condition);
        text_.Sample(labels, static_cast<double>(std::stoull(count)));
      }
    }
  }

  // Writes a counter with one sample for each family: value(row).
  template <typename Value>
  void OfFamilies(const std::vector<FamilyRow>& rows, const char* name, const char* help,
                  const Value& value) {
    text_.Begin(Type::kCounter, name, help);
    for (size_t i = 0; i < rows.size(); i++) {
      text_.Sample(OfFamily(i), static_cast<double>(value(rows[i])));
    }
  }

  // Reads all levels of a family in one hold of the mutex, so that they belong together.
  void ReadLevels(size_t at, std::vector<LevelRow>* rows) {
    ColumnFamily& f = *families_[at];
    DbLock lock(&e_.state.mu);
    const auto& scores = f.shape().scores;
    for (int level = 0; level < f.current()->num_levels(); level++) {
      const auto n = static_cast<size_t>(level);
      const LevelFiles& files = f.current()->level(level);
      LevelRow row;
      if (n < f.work.levels.size()) row.work = f.work.levels[n];
      // A level without tables and without work so far is left out.
      if (files.empty() && row.work.count == 0) continue;
      row.family = at;
      row.level = std::to_string(level);
      row.files = files.size();
      row.bytes = files.bytes();
      row.score = n < scores.size() ? scores[n] : 0;
      rows->push_back(std::move(row));
    }
  }

  void WriteLevels() {
    std::vector<LevelRow> rows;
    for (size_t i = 0; i < families_.size(); i++) ReadLevels(i, &rows);
    OfLevels(rows, Type::kGauge, "level_tables", "Tables of a level.",
             [](const LevelRow& row) { return static_cast<double>(row.files); });
    OfLevels(rows, Type::kGauge, "level_bytes", "Bytes of the tables of a level.",
             [](const LevelRow& row) { return static_cast<double>(row.bytes); });
    OfLevels(rows, Type::kGauge, "level_score",
             "How much a level needs compaction; above 1: it does.",
             [](const LevelRow& row) { return row.score; });
    OfLevels(rows, Type::kCounter, "level_read_bytes", "Bytes that compactions into a level read.",
             [](const LevelRow& row) {
               return static_cast<double>(row.work.bytes_read_above + row.work.bytes_read_at_level +
                                          row.work.blob_bytes_read);
             });
    OfLevels(rows, Type::kCounter, "level_written_bytes",
             "Bytes that flushes and compactions wrote into a level.", [](const LevelRow& row) {
               return static_cast<double>(row.work.bytes_written + row.work.blob_bytes_written);
             });
    OfLevels(rows, Type::kCounter, "level_jobs", "Flushes and compactions into a level.",
             [](const LevelRow& row) { return static_cast<double>(row.work.count); });
    OfLevels(rows, Type::kCounter, "level_job_seconds",
             "Time of flushes and compactions into a level.",
             [](const LevelRow& row) { return static_cast<double>(row.work.micros) / 1e6; });
  }

  // Writes a metric with one sample for each level of each family: value(row).
  template <typename Value>
  void OfLevels(const std::vector<LevelRow>& rows, Type type, const char* name, const char* help,
                const Value& value) {
    text_.Begin(type, name, help);
    for (const LevelRow& row : rows) {
      MetricLabels labels = OfFamily(row.family);
      labels.emplace_back("level", row.level);
      text_.Sample(labels, value(row));
    }
  }

  Engine& e_;
  const Families families_;
  MetricsText text_;
};

}  // namespace

Status WriteMetrics(DB* db, const MetricsOptions& options, std::string* out) try {
  if (db == nullptr || out == nullptr)
    return Status::InvalidArgument("WriteMetrics: null argument");
  VARVE_RETURN_IF_ERROR(CheckOptions(options));
  auto* const host = dynamic_cast<CopyHost*>(db->GetRootDB());
  if (host == nullptr) return Status::NotSupported("WriteMetrics: not a database of this library");
  // Close waits for this, as for any call.
  return host->WithEngine([&](Engine* engine) {
    Families families;
    VARVE_RETURN_IF_ERROR(ChooseFamilies(engine, options, &families));
    *out = Collection(engine, options, std::move(families)).Write();
    return Status::OK();
  });
} catch (...) {
  return CaughtException();
}

Status DumpMetricsToFile(DB* db, const MetricsOptions& options, const std::string& path) try {
  std::string text;
  VARVE_RETURN_IF_ERROR(WriteMetrics(db, options, &text));
  Env* const env = db->GetEnv();
  // Collectors read whole files at any time: the rename shows them the new text or the old one, and
  // never half of it.
  const std::string half = path + ".tmp";
  Status s = WriteStringToFile(env, text, half);
  if (s.ok()) s = env->RenameFile(half, path);
  if (!s.ok()) env->DeleteFile(half).PermitUncheckedError();
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
