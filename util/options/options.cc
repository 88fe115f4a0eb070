// SPDX-License-Identifier: Apache-2.0

// Implements methods of the options structs. Presets that make a block cache are in db, which may
// use caches.

#include "varve/options.h"

#include <algorithm>
#include <span>
#include <string>

#include "varve/table.h"

#include "util/base/assert.h"
#include "util/options/option_schema.h"

namespace varve {

const char* const kHostnameForDbHostId = "__hostname__";

namespace {

// Logs a line for each option of the struct.
void DumpTable(const OptionTable& table, Logger* log, const void* object) {
  const OptionPrintStyle style = {.detailed = true};
  for (const OptionRow& row : table.rows()) {
    const std::string name(row.name);
    if (row.HasText()) {
      const std::string value = row.type().print(style, row.Field(object));
      Log(INFO_LEVEL, log, "%48s: %s", name.c_str(), value.c_str());
    } else {
      // An object without a text form can still be told apart from its default.
      const std::shared_ptr<const void> defaults = table.MakeDefault();
      const bool is_default = row.type().equal(row.Field(object), row.Field(defaults.get()));
      Log(INFO_LEVEL, log, "%48s: %s", name.c_str(), is_default ? "default" : "set");
    }
  }
}

}  // namespace

// ---- Construction ----

AdvancedColumnFamilyOptions::AdvancedColumnFamilyOptions(const Options& options)
    : AdvancedColumnFamilyOptions(static_cast<const AdvancedColumnFamilyOptions&>(options)) {}

ColumnFamilyOptions::ColumnFamilyOptions() : table_factory(NewBlockBasedTableFactory()) {}

ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}

DBOptions::DBOptions(const Options& options) : DBOptions(static_cast<const DBOptions&>(options)) {}

// ---- Printing ----

void ColumnFamilyOptions::Dump(Logger* log) const {
  DumpTable(CfOptionTable(), log, this);
}

void DBOptions::Dump(Logger* log) const {
  DumpTable(DbOptionTable(), log, this);
}

void Options::Dump(Logger* log) const {
  DBOptions::Dump(log);
  DumpCFOptions(log);
}

void Options::DumpCFOptions(Logger* log) const {
  ColumnFamilyOptions::Dump(log);
}

// ---- Presets ----

namespace {

struct Setting {
  const char* option;
  const char* value;
};

// The values are those of RocksDB's presets, which its users know; the comments state their
// consequences.

// One CompactRange at the end does all the work, from level 0 into the only other level: no
// compaction runs before, and nothing waits for one.
constexpr Setting kBulkLoad[] = {
    {"disable_auto_compactions", "true"},
    {"level0_file_num_compaction_trigger", "1G"},
    {"level0_slowdown_writes_trigger", "1G"},
    {"level0_stop_writes_trigger", "1G"},
    {"soft_pending_compaction_bytes_limit", "0"},
    {"hard_pending_compaction_bytes_limit", "0"},
    {"max_compaction_bytes", "1048576T"},
    {"num_levels", "2"},
    {"target_file_size_base", "256M"},
    // Writes continue while several memtables are flushed, each separately.
    {"max_write_buffer_number", "6"},
    {"min_write_buffer_number_to_merge", "1"},
    {"max_background_flushes", "4"},
    {"max_background_compactions", "2"},
};

// Memtables have a quarter of the budget: two are merged into one file of level 0, and two of those
// into level 1, which is as large. While writes are fast, six memtables take one and a half times
// the budget.
constexpr Setting kLevelStyle[] = {
    {"compaction_style", "kCompactionStyleLevel"},
    {"min_write_buffer_number_to_merge", "2"},
    {"max_write_buffer_number", "6"},
    {"level0_file_num_compaction_trigger", "2"},
};

constexpr Setting kNoExtraChecks[] = {
    {"force_consistency_checks", "false"},
    {"flush_verify_memtable_count", "false"},
    {"compaction_verify_record_count", "false"},
};

// Sets by name, through the schema, so a preset cannot name an option that does not exist: the
// assertion fails in the first test that uses it. `db` may be null if no setting is a database's.
void Apply(std::span<const Setting> settings, ColumnFamilyOptions* cf, DBOptions* db) {
  for (const auto& [option, value] : settings) {
    const bool of_family = CfOptionTable().Find(option) != nullptr;
    const Status s = of_family ? ApplyOptions(CfOptionTable(), ConfigOptions(), {{option, value}},
                                              OptionScope::kAll, cf)
                               : ApplyOptions(DbOptionTable(), ConfigOptions(), {{option, value}},
                                              OptionScope::kAll, db);
    VARVE_ASSERT(s.ok());
  }
}

}  // namespace

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(
    uint64_t memtable_memory_budget) {
  Apply(kLevelStyle, this, nullptr);
  write_buffer_size = static_cast<size_t>(memtable_memory_budget / 4);
  max_bytes_for_level_base = memtable_memory_budget;
  target_file_size_base = max_bytes_for_level_base / 8;
  // Levels 0 and 1 are small and rewritten often: compression would not pay.
  compression_per_level.assign(static_cast<size_t>(num_levels), kLZ4Compression);
  const size_t small = std::min<size_t>(2, compression_per_level.size());
  std::fill_n(compression_per_level.begin(), small, kNoCompression);
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeUniversalStyleCompaction(
    uint64_t memtable_memory_budget) {
  write_buffer_size = static_cast<size_t>(memtable_memory_budget / 4);
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  compaction_style = kCompactionStyleUniversal;
  compaction_options_universal.compression_size_percent = 80;
  return this;
}

DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  const int threads = std::max(1, total_threads);
  max_background_jobs = threads;
  // The Env may be shared by databases, and this sets its pools for all of them, as in RocksDB.
  env->SetBackgroundThreads(threads, Env::LOW);
  env->SetBackgroundThreads(1, Env::HIGH);
  return this;
}

Options* Options::PrepareForBulkLoad() {
  Apply(kBulkLoad, this, this);
  return this;
}

Options* Options::DisableExtraChecks() {
  Apply(kNoExtraChecks, this, this);
  return this;
}

}  // namespace varve
