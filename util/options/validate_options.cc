// SPDX-License-Identifier: Apache-2.0

// Checks that are no rows of the schema, which are of single options, or of exclusive_options.cc,
// which are of pairs.

#include "util/options/validate_options.h"

#include <algorithm>
#include <limits>
#include <string>

#include "varve/compaction_filter.h"
#include "varve/memtablerep.h"
#include "varve/rate_limiter.h"
#include "varve/table.h"

#include "util/compress/codec.h"
#include "util/key/entry_limits.h"
#include "util/key/internal_key.h"
#include "util/mem/cache_charge.h"
#include "util/options/exclusive_options.h"
#include "util/options/option_schema.h"

namespace varve {

namespace {

// "The engine's choice", and what that is where data ages at all.
constexpr uint64_t kDefaultAge = 0xfffffffffffffffe;
constexpr uint64_t kThirtyDays = 30 * 24 * 60 * 60;

constexpr size_t kMinWriteBufferSize = 64 << 10;
constexpr size_t kMaxArenaBlockSize = 1 << 20;
constexpr uint64_t kDefaultDelayedRate = 16 << 20;

Status CheckCodec(CompressionType type, const char* option) {
  if (type == kDisableCompressionOption || CodecSupported(type)) return Status::OK();
  return CodecNotSupported(type, std::string("ColumnFamilyOptions::") + option);
}

Status CheckCodecs(const ColumnFamilyOptions& cf) {
  Status s = CheckCodec(cf.compression, "compression");
  if (s.ok()) s = CheckCodec(cf.bottommost_compression, "bottommost_compression");
  for (const CompressionType type : cf.compression_per_level) {
    if (s.ok()) s = CheckCodec(type, "compression_per_level");
  }
  return s;
}

Status CheckTableOptions(const BlockBasedTableOptions& table) {
  Status s = CheckOptions(BlockBasedTableOptionTable(), "", &table);
  if (!s.ok()) return s;
  const std::string name = "BlockBasedTableOptions::";
  s = CheckCacheUsage(table);
  if (!s.ok()) return s;
  if (table.block_size > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument(name + "block_size: 4 GiB or more");
  }
  return Status::OK();
}

// Timestamps that no table keeps are compared as numbers when memtables are flushed.
Status CheckTimestampsNotPersisted(const ColumnFamilyOptions& cf) {
  const std::string name = "ColumnFamilyOptions::persist_user_defined_timestamps: false ";
  if (ComparatorOfBareKeys(cf.comparator) == nullptr) {
    return Status::InvalidArgument(name + "needs a built-in comparator with timestamps, like " +
                                   BytewiseComparatorWithU64Ts()->Name() + ", not " +
                                   cf.comparator->Name());
  }
  return Status::OK();
}

Status CheckObjects(const ColumnFamilyOptions& cf) {
  const std::string name = "ColumnFamilyOptions::";
  if (cf.comparator == nullptr) return Status::InvalidArgument(name + "comparator: nullptr");
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
  if (cf.memtable_factory == nullptr) {
    return Status::InvalidArgument(name + "memtable_factory: nullptr");
  }
  const std::string memtable = cf.memtable_factory->Name();
  if (memtable != SkipListFactory::kClassName() && memtable != VectorRepFactory::kClassName()) {
    return Status::NotSupported(name + "memtable_factory: " + memtable +
                                "; only the skip list and the vector are supported");
  }
  if (cf.table_factory == nullptr) return Status::InvalidArgument(name + "table_factory: nullptr");
  const auto* const table = cf.table_factory->GetOptions<BlockBasedTableOptions>();
  if (table == nullptr) {
    return Status::NotSupported(name + "table_factory: " + cf.table_factory->Name() +
                                "; only block-based tables are supported");
  }
  return CheckTableOptions(*table);
}

}  // namespace

Status ValidateDbOptions(const DBOptions& db) {
  Status s = CheckOptions(DbOptionTable(), "", &db);
  if (!s.ok()) return s;
  if (db.env == nullptr) return Status::InvalidArgument("DBOptions::env: nullptr");
  if (db.wal_compression != kNoCompression && !CodecSupported(kZSTD)) {
    return CodecNotSupported(kZSTD, "DBOptions::wal_compression");
  }
  if (db.wal_compression != kNoCompression && db.wal_compression != kZSTD) {
    return Status::NotSupported("DBOptions::wal_compression: logs know kZSTD only");
  }
  for (const auto& listener : db.listeners) {
    if (listener == nullptr) return Status::InvalidArgument("DBOptions::listeners: a nullptr");
  }
  return CheckExclusiveOptions(ExclusiveOptions::Of::kDatabase, &db, nullptr);
}

Status ValidateColumnFamilyOptions(const ColumnFamilyOptions& cf) {
  Status s = CheckOptions(CfOptionTable(), "", &cf);
  if (s.ok()) s = CheckObjects(cf);
  if (s.ok()) s = CheckCodecs(cf);
  if (!s.ok()) return s;
  for (const int factor : cf.max_bytes_for_level_multiplier_additional) {
    if (factor < 1) {
      return Status::InvalidArgument(
          "ColumnFamilyOptions::max_bytes_for_level_multiplier_additional: below 1");
    }
  }
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

ColumnFamilyOptions DeriveColumnFamilyOptions(const ColumnFamilyOptions& given) {
  ColumnFamilyOptions cf = given;
  cf.num_levels = std::max(cf.num_levels, 2);
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
  if (cf.ttl == kDefaultAge) cf.ttl = kThirtyDays;
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
    // Else the limited writes pile up in the system's cache and reach the disk in one burst.
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
