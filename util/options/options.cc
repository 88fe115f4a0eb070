// SPDX-License-Identifier: Apache-2.0

// Methods of the options structs. Presets that make a block cache are in the db room, which sees
// caches.

#include "varve/options.h"

#include <algorithm>
#include <string>

#include "varve/table.h"

#include "util/options/option_schema.h"

namespace varve {

const char* const kHostnameForDbHostId = "__hostname__";

namespace {

void DumpTable(const OptionTable& table, Logger* log, const void* object) {
  const OptionPrintStyle style = {.detailed = true};
  for (const OptionRow& row : table.rows()) {
    const std::string name(row.name);
    if (row.HasText()) {
      const std::string value = row.type().print(style, row.Field(object));
      Log(INFO_LEVEL, log, "%48s: %s", name.c_str(), value.c_str());
    } else {
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

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(
    uint64_t memtable_memory_budget) {
  write_buffer_size = static_cast<size_t>(memtable_memory_budget / 4);
  // Two memtables merge into one L0 file; up to six use half as much memory again for a while.
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  // L0 is compacted as soon as it has two files, which together are as large as L1.
  level0_file_num_compaction_trigger = 2;
  target_file_size_base = memtable_memory_budget / 8;
  max_bytes_for_level_base = memtable_memory_budget;
  compaction_style = kCompactionStyleLevel;
  // The first two levels are small and rewritten often: not worth a codec's time.
  compression_per_level.resize(static_cast<size_t>(num_levels));
  for (int level = 0; level < num_levels; ++level) {
    compression_per_level[static_cast<size_t>(level)] =
        level < 2 ? kNoCompression : kLZ4Compression;
  }
  return this;
}

DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  const int threads = std::max(1, total_threads);
  max_background_jobs = threads;
  env->SetBackgroundThreads(threads, Env::LOW);
  env->SetBackgroundThreads(1, Env::HIGH);
  return this;
}

Options* Options::PrepareForBulkLoad() {
  // L0 may grow without limit: one CompactRange at the end does all the work at once.
  level0_file_num_compaction_trigger = 1 << 30;
  level0_slowdown_writes_trigger = 1 << 30;
  level0_stop_writes_trigger = 1 << 30;
  soft_pending_compaction_bytes_limit = 0;
  hard_pending_compaction_bytes_limit = 0;
  disable_auto_compactions = true;
  // A compaction takes all of L0 into one level below.
  max_compaction_bytes = uint64_t{1} << 60;
  num_levels = 2;
  target_file_size_base = 256 << 20;
  // Writing goes on while several memtables are flushed.
  max_write_buffer_number = 6;
  min_write_buffer_number_to_merge = 1;
  max_background_flushes = 4;
  max_background_compactions = 2;
  return this;
}

Options* Options::DisableExtraChecks() {
  force_consistency_checks = false;
  flush_verify_memtable_count = false;
  compaction_verify_record_count = false;
  return this;
}

}  // namespace varve
