// SPDX-License-Identifier: Apache-2.0

// Replaces null pointers, clamps values, and removes trailing slashes of paths. Invalid options are
// refused elsewhere.

#include "db/recovery/sanitize.h"

#include <algorithm>

#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/rate_limiter.h"
#include "varve/table.h"
#include "varve/write_buffer_manager.h"

#include "util/base/canary.h"
#include "util/env/absolute_path.h"
#include "util/env/info_log.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// Number of files that a database has open in addition to tables: the MANIFEST, logs and others.
constexpr int kFilesBesideTables = 10;
constexpr int kLeastOpenFiles = 20;

// Returns the path without slashes at the end.
std::string TrimmedPath(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Status PrepareTableFactory(const ColumnFamilyOptions& options) {
  if (options.table_factory == nullptr) return Status::OK();
  return options.table_factory->PrepareOptions(ConfigOptions());
}

DBOptions SanitizeOptions(const std::string& db_name, const DBOptions& options) {
  DBOptions result = options;
  if (result.env == nullptr) result.env = Env::Default();
  if (result.wal_dir == db_name || result.wal_dir == db_name + "/") result.wal_dir.clear();
  result.wal_dir = TrimmedPath(result.wal_dir);
  if (result.write_buffer_manager == nullptr) {
    result.write_buffer_manager = std::make_shared<WriteBufferManager>(result.db_write_buffer_size);
  }
  result.delayed_write_rate = DeriveDbOptions(result).delayed_write_rate;
  if (result.max_open_files > 0) {
    result.max_open_files = std::max(result.max_open_files, kLeastOpenFiles);
  }
  // The bytes after the end of a recycled log look like damage that these two modes refuse.
  // RocksDB's readers fail on records of recycled logs that are compressed and in several blocks.
  // With the last two options old logs go into the archive, and cannot be recycled.
  if (result.wal_recovery_mode == WALRecoveryMode::kTolerateCorruptedTailRecords ||
      result.wal_recovery_mode == WALRecoveryMode::kAbsoluteConsistency ||
      result.wal_compression != kNoCompression || result.WAL_ttl_seconds != 0 ||
      result.WAL_size_limit_MB != 0) {
    result.recycle_log_file_num = 0;
  }
  result.keep_log_file_num = std::max<size_t>(result.keep_log_file_num, 1);
  result.max_background_jobs = std::max(result.max_background_jobs, 1);
  return result;
}

DBOptions WithAbsolutePaths(FileSystem* fs, const DBOptions& options) {
  DBOptions result = options;
  result.wal_dir = AbsolutePath(fs, options.wal_dir);
  result.db_log_dir = AbsolutePath(fs, options.db_log_dir);
  for (DbPath& path : result.db_paths) path.path = AbsolutePath(fs, path.path);
  return result;
}

size_t TablesFor(int max_open_files) {
  return static_cast<size_t>(std::max(max_open_files, kLeastOpenFiles) - kFilesBesideTables);
}

std::vector<DbPath> TablePathsOf(const DBOptions& db_options, const ColumnFamilyOptions& options) {
  std::vector<DbPath> paths = options.cf_paths.empty() ? db_options.db_paths : options.cf_paths;
  Env* const env = db_options.env == nullptr ? Env::Default() : db_options.env;
  for (DbPath& path : paths) {
    path.path = TrimmedPath(AbsolutePath(env->GetFileSystem().get(), path.path));
  }
  return paths;
}

ColumnFamilyOptions SanitizeFamilyOptions(const DBOptions& db_options,
                                          const ColumnFamilyOptions& options) {
  ColumnFamilyOptions result = DeriveColumnFamilyOptions(options);
  if (result.table_factory == nullptr) result.table_factory.reset(NewBlockBasedTableFactory());
  if (VARVE_CANARY(kCacheForEachFamily)) {
    BlockBasedTableOptions own = *result.table_factory->GetOptions<BlockBasedTableOptions>();
    own.block_cache = nullptr;
    result.table_factory.reset(NewBlockBasedTableFactory(own));
  }
  PrepareTableFactory(result).PermitUncheckedError();
  if (result.comparator == nullptr) result.comparator = BytewiseComparator();
  result.cf_allow_ingest_behind |= db_options.allow_ingest_behind;
  result.cf_paths = TablePathsOf(db_options, options);
  return result;
}

Status CreateInfoLog(const DBOptions& options, const std::string& db_name,
                     std::shared_ptr<Logger>* log) {
  InfoLogOptions log_options;
  log_options.level = options.info_log_level;
  log_options.max_log_file_size = options.max_log_file_size;
  log_options.log_file_time_to_roll = options.log_file_time_to_roll;
  log_options.keep_log_file_num = options.keep_log_file_num;
  return OpenInfoLog(options.env->GetFileSystem(), options.env->GetSystemClock(), db_name,
                     options.db_log_dir, log_options, log);
}

std::string HostNameForTables(const DBOptions& options) {
  if (options.db_host_id != kHostnameForDbHostId) return options.db_host_id;
  char name[256] = {};
  if (!options.env->GetHostName(name, sizeof(name) - 1).ok()) return "";
  return name;
}

}  // namespace varve
