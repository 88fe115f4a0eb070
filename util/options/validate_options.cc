// SPDX-License-Identifier: Apache-2.0

// Implements checks that fit neither rows of the schema, which are about single options, nor
// exclusive_options.cc, which is about pairs.

#include "util/options/validate_options.h"

#include <algorithm>
#include <limits>
#include <string>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/memtablerep.h"
#include "varve/rate_limiter.h"
#include "varve/table.h"

#include "util/base/status_macros.h"
#include "util/compress/codec.h"
#include "util/key/entry_limits.h"
#include "util/key/internal_key.h"
#include "util/mem/cache_charge.h"
#include "util/options/exclusive_options.h"
#include "util/options/memtable_factories.h"
#include "util/options/option_schema.h"
#include "util/options/table_kinds.h"

namespace varve {

namespace {

// The value that leaves the age to the engine, and the engine's choice where data ages at all.
constexpr uint64_t kDefaultAge = 0xfffffffffffffffe;
constexpr uint64_t kThirtyDays = 30 * 24 * 60 * 60;

constexpr size_t kMinWriteBufferSize = 64 << 10;
constexpr size_t kMaxArenaBlockSize = 1 << 20;
constexpr uint64_t kDefaultDelayedRate = 16 << 20;

// Returns InvalidArgument if the cache of blob values shall be charged to the block cache, and
// there is none, or it could not be held there.
Status CheckBlobCacheCharge(const BlockBasedTableOptions& table, const Cache* values) {
  const auto& overrides = table.cache_usage_options.options_overrides;
  const auto role = overrides.find(CacheEntryRole::kBlobCache);
  if (role == overrides.end() ||
      role->second.charged != CacheEntryRoleOptions::Decision::kEnabled) {
    return Status::OK();
  }
  const std::string name = "BlockBasedTableOptions::cache_usage_options: blob-cache";
  const Cache* const blocks = table.block_cache.get();
  if (values == nullptr) {
    return Status::InvalidArgument(name, "there is no ColumnFamilyOptions::blob_cache to charge");
  }
  if (values == blocks) {
    return Status::InvalidArgument(name, "blob_cache is the block cache, which has its values");
  }
  if (blocks != nullptr && values->GetCapacity() > blocks->GetCapacity()) {
    return Status::InvalidArgument(name, "blob_cache, of " + std::to_string(values->GetCapacity()) +
                                             " bytes, is larger than the block cache, of " +
                                             std::to_string(blocks->GetCapacity()) + " bytes");
  }
  return Status::OK();
}

Status CheckTableOptions(const TableKind& kind, const ColumnFamilyOptions& cf) {
  const Status s = CheckOptions(kind.schema(), "", kind.OptionsOf(*cf.table_factory));
  if (!s.ok()) return s;
  if (const auto* const table = cf.table_factory->GetOptions<BlockBasedTableOptions>()) {
    VARVE_RETURN_IF_ERROR(CheckCacheUsage(*table));
    return CheckBlobCacheCharge(*table, cf.blob_cache.get());
  }
  if (cf.comparator->timestamp_size() == 0) return Status::OK();
  return Status::NotSupported("ColumnFamilyOptions::table_factory: PlainTable",
                              "keys cannot have timestamps there");
}

// A flush reads timestamps that it leaves out as numbers of 64 bits (TsLowAboveAll in
// db/flush/flush_job.cc), which only those of the built-in comparators are.
Status CheckTimestampsNotPersisted(const ColumnFamilyOptions& cf) {
  const std::string name = "ColumnFamilyOptions::persist_user_defined_timestamps: false ";
  if (ComparatorWithoutTimestamp(cf.comparator) == nullptr) {
    return Status::InvalidArgument(name + "needs a built-in comparator with timestamps, like " +
                                   BytewiseComparatorWithU64Ts()->Name() + ", not " +
                                   cf.comparator->Name());
  }
  return Status::OK();
}

bool IsShare(double value) {
  return value >= 0 && value <= 1;  // false for NaN
}

Status CheckBlobOptions(const ColumnFamilyOptions& cf) {
  const std::string name = "ColumnFamilyOptions::";
  if (cf.enable_blob_garbage_collection) {
    if (!IsShare(cf.blob_garbage_collection_age_cutoff)) {
      return Status::InvalidArgument(name + "blob_garbage_collection_age_cutoff: not in [0, 1]");
    }
    if (!IsShare(cf.blob_garbage_collection_force_threshold)) {
      return Status::InvalidArgument(name +
                                     "blob_garbage_collection_force_threshold: not in [0, 1]");
    }
  }
  if (!cf.enable_blob_files) return Status::OK();
  if (!CodecSupported(cf.blob_compression_type)) {
    return CodecNotSupported(cf.blob_compression_type, name + "blob_compression_type");
  }
  // Records of blob files hold keys with their timestamps (db/blob/FORMAT.md), which do not match
  // the keys of a table that leaves timestamps out.
  if (cf.comparator->timestamp_size() == 0 || cf.persist_user_defined_timestamps) {
    return Status::OK();
  }
  return Status::NotSupported(name + "enable_blob_files",
                              "persist_user_defined_timestamps must be true");
}

// Runs after the rows' checks, which have refused null pointers.
Status CheckObjects(const ColumnFamilyOptions& cf) {
  const std::string name = "ColumnFamilyOptions::";
  const Comparator& order = *cf.comparator;
  if (order.GetMaxTimestamp().size() != order.timestamp_size() ||
      order.GetMinTimestamp().size() != order.timestamp_size()) {
    return Status::InvalidArgument(name + "comparator: " + order.Name() + " has timestamps of " +
                                   std::to_string(order.timestamp_size()) +
                                   " bytes, but not its largest and smallest one");
  }
  if (order.timestamp_size() > kTimestampBytesMax) {
    return Status::InvalidArgument(name + "comparator: " + order.Name() + " has timestamps of " +
                                   std::to_string(order.timestamp_size()) + " bytes, and " +
                                   std::to_string(kTimestampBytesMax) + " are allowed");
  }
  if (!IsKnownMemTableFactory(*cf.memtable_factory)) {
    return Status::NotSupported(name + "memtable_factory: " + cf.memtable_factory->Name() +
                                "; only those of varve/memtablerep.h are supported");
  }
  const TableKind* const kind = TableKindOf(cf.table_factory.get());
  if (kind == nullptr) {
    return Status::NotSupported(name + "table_factory: " + cf.table_factory->Name() +
                                "; only block-based tables and PlainTables are supported");
  }
  return CheckTableOptions(*kind, cf);
}

}  // namespace

Status ValidateDbOptions(const DBOptions& db) {
  VARVE_RETURN_IF_ERROR(CheckOptions(DbOptionTable(), "", &db));
  return CheckExclusiveOptions(ExclusiveOptions::Of::kDatabase, &db, nullptr);
}

Status ValidateColumnFamilyOptions(const ColumnFamilyOptions& cf) {
  Status s = CheckOptions(CfOptionTable(), "", &cf);
  if (s.ok()) s = CheckObjects(cf);
  if (s.ok()) s = CheckBlobOptions(cf);
  if (!s.ok()) return s;
  return CheckExclusiveOptions(ExclusiveOptions::Of::kFamily, nullptr, &cf);
}

Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& cf) {
  Status s = ValidateDbOptions(db);
  if (s.ok()) s = ValidateColumnFamilyOptions(cf);
  if (s.ok() && !cf.persist_user_defined_timestamps && cf.comparator->timestamp_size() != 0) {
    s = CheckTimestampsNotPersisted(cf);
  }
  return s.ok() ? CheckExclusiveOptions(ExclusiveOptions::Of::kBoth, &db, &cf) : s;
}

// A read-only or secondary opening often gets the writer's options; a rule about two write modes
// must not stand in its way.
DBOptions ForReading(const DBOptions& given) {
  const DBOptions defaults;
  DBOptions db = given;
  db.unordered_write = defaults.unordered_write;
  db.enable_pipelined_write = defaults.enable_pipelined_write;
  db.two_write_queues = defaults.two_write_queues;
  db.atomic_flush = defaults.atomic_flush;
  db.allow_concurrent_memtable_write = false;  // The single thread of recovery fills memtables.
  db.allow_mmap_writes = defaults.allow_mmap_writes;
  db.use_direct_io_for_flush_and_compaction = defaults.use_direct_io_for_flush_and_compaction;
  db.allow_ingest_behind = defaults.allow_ingest_behind;
  db.WAL_ttl_seconds = defaults.WAL_ttl_seconds;
  db.WAL_size_limit_MB = defaults.WAL_size_limit_MB;
  db.write_identity_file = defaults.write_identity_file;
  return db;
}

// Does the same for a family: what only a writer uses cannot make the options of a reader invalid.
ColumnFamilyOptions ForReading(const ColumnFamilyOptions& given) {
  const ColumnFamilyOptions defaults;
  ColumnFamilyOptions cf = given;
  cf.max_successive_merges = defaults.max_successive_merges;
  cf.compaction_style = defaults.compaction_style;
  cf.cf_allow_ingest_behind = defaults.cf_allow_ingest_behind;
  cf.compaction_filter = defaults.compaction_filter;
  cf.compaction_filter_factory = defaults.compaction_filter_factory;
  cf.enable_blob_files = defaults.enable_blob_files;
  return cf;
}

// The order matters where a value depends on another derived one: the arena's block on the write
// buffer, the number to merge on the number of buffers, the triggers on each other from low to
// high.
ColumnFamilyOptions DeriveColumnFamilyOptions(const ColumnFamilyOptions& given) {
  ColumnFamilyOptions cf = given;
  const bool runs_stay_in_l0 = cf.compaction_style == kCompactionStyleUniversal ||
                               cf.compaction_style == kCompactionStyleFIFO;
  cf.num_levels = std::max(cf.num_levels, runs_stay_in_l0 ? 1 : 2);
  cf.write_buffer_size = std::max(cf.write_buffer_size, kMinWriteBufferSize);
  if (cf.arena_block_size == 0) {
    cf.arena_block_size = std::min(kMaxArenaBlockSize, cf.write_buffer_size / 8);
  }
  cf.max_write_buffer_number = std::max(cf.max_write_buffer_number, 2);
  cf.min_write_buffer_number_to_merge =
      std::clamp(cf.min_write_buffer_number_to_merge, 1, cf.max_write_buffer_number - 1);
  if (cf.max_write_buffer_size_to_maintain < 0) {
    const uint64_t number = static_cast<uint64_t>(cf.max_write_buffer_number);
    const uint64_t most = std::numeric_limits<int64_t>::max() / number;
    cf.max_write_buffer_size_to_maintain =
        static_cast<int64_t>(std::min<uint64_t>(most, cf.write_buffer_size) * number);
  }
  if (cf.max_compaction_bytes == 0) {
    constexpr uint64_t kFiles = 25;
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    const uint64_t file = cf.target_file_size_base;
    cf.max_compaction_bytes = file > kMost / kFiles ? kMost : file * kFiles;
  }
  cf.level0_slowdown_writes_trigger =
      std::max(cf.level0_slowdown_writes_trigger, cf.level0_file_num_compaction_trigger);
  cf.level0_stop_writes_trigger =
      std::max(cf.level0_stop_writes_trigger, cf.level0_slowdown_writes_trigger);
  const uint64_t hard = cf.hard_pending_compaction_bytes_limit;
  uint64_t& soft = cf.soft_pending_compaction_bytes_limit;
  if (hard > 0 && (soft == 0 || soft > hard)) soft = hard;
  cf.max_bytes_for_level_multiplier_additional.resize(static_cast<size_t>(cf.num_levels), 1);
  // FIFO compaction would delete a family's data at that age, which must not happen by default.
  if (cf.ttl == kDefaultAge) {
    cf.ttl = cf.compaction_style == kCompactionStyleFIFO ? 0 : kThirtyDays;
  }
  if (cf.periodic_compaction_seconds == kDefaultAge) {
    const bool filters = cf.compaction_filter != nullptr || cf.compaction_filter_factory != nullptr;
    cf.periodic_compaction_seconds = filters ? kThirtyDays : 0;
  }
  return cf;
}

DBOptions DeriveDbOptions(const DBOptions& given) {
  DBOptions db = given;
  if (db.delayed_write_rate == 0) {
    const int64_t limit = db.rate_limiter != nullptr ? db.rate_limiter->GetBytesPerSecond() : 0;
    db.delayed_write_rate = limit > 0 ? static_cast<uint64_t>(limit) : kDefaultDelayedRate;
  }
  if (db.rate_limiter != nullptr && db.bytes_per_sync == 0) {
    // Otherwise the limited writes collect in the system's cache and reach the disk in one burst.
    db.bytes_per_sync = 1 << 20;
  }
  if (db.max_background_flushes == -1 && db.max_background_compactions == -1) {
    db.max_background_flushes = std::max(1, db.max_background_jobs / 4);
    db.max_background_compactions = std::max(1, db.max_background_jobs - db.max_background_flushes);
  } else {
    db.max_background_flushes = std::max(1, db.max_background_flushes);
    db.max_background_compactions = std::max(1, db.max_background_compactions);
  }
  return db;
}

}  // namespace varve
