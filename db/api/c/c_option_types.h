// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the structs behind handles of options and descriptions that few functions use, for those
// and for the rows of c_functions.inc. Every struct has one member `rep`, unless its comment says
// more.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/change_stream.h"
#include "varve/metadata.h"
#include "varve/options.h"
#include "varve/transaction_log.h"
#include "varve/utilities/backup_engine.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/copy_plan.h"
#include "varve/utilities/replayer.h"

#include "db/api/c/c_types.h"

// ---- Backups, checkpoints, files ----

// Options of a backup engine.
struct rocksdb_backup_engine_options_t {
  varve::BackupEngineOptions rep;
};

struct rocksdb_create_backup_options_t {
  varve::CreateBackupOptions rep;
};

// Options of a restore.
struct rocksdb_restore_options_t {
  varve::RestoreOptions rep = varve::RestoreOptions();
};

struct rocksdb_copy_plan_options_t {
  varve::CopyPlanOptions rep;
};

struct rocksdb_change_stream_options_t {
  varve::ChangeStreamOptions rep;
};

// Makes checkpoints of one database, which must outlive it.
struct rocksdb_checkpoint_t {
  std::unique_ptr<varve::Checkpoint> rep;
};

struct rocksdb_export_import_files_metadata_t {
  varve::ExportImportFilesMetaData rep;
};

struct rocksdb_import_column_family_options_t {
  varve::ImportColumnFamilyOptions rep;
};

// Describes one table for an import.
struct rocksdb_livefile_t {
  varve::LiveFileMetaData rep;
};

// The part of a family's metadata to return: of one level, or of all for -1, and of files that
// overlap [start_key, end_key], both inclusive. A key without a value is no limit.
struct rocksdb_column_family_metadata_options_t {
  struct {
    int level = -1;
  } rep;
  std::optional<std::string> start_key;
  std::optional<std::string> end_key;
};

struct rocksdb_livefiles_storage_info_options_t {
  varve::LiveFilesStorageInfoOptions rep;
};

struct rocksdb_livefiles_storage_info_t {
  std::vector<varve::LiveFileStorageInfo> rep;
};

// Options of an iterator over the updates in the logs.
struct rocksdb_wal_readoptions_t {
  varve::TransactionLogIterator::ReadOptions rep;
};

// ---- Options of traces of calls ----

struct rocksdb_trace_options_t {
  varve::TraceOptions rep;
};

struct rocksdb_replay_options_t {
  varve::ReplayOptions rep;
};

// ---- Options that serve missing features ----

// The structs hold the values, which nothing else reads, and RocksDB's defaults.

struct rocksdb_cuckoo_table_options_t {
  struct {
    double hash_table_ratio = 0.9;
    uint32_t max_search_depth = 100;
    uint32_t cuckoo_block_size = 5;
    bool identity_as_first_hash = false;
    bool use_module_hash = true;
  } rep;
};

struct rocksdb_open_and_compact_options_t {
  struct {
    bool allow_resumption = false;
  } rep;
};

// Holds options with the values of the override, in place of `rep`.
struct rocksdb_compaction_service_options_override_t {
  rocksdb_options_t options;
};

struct rocksdb_block_cache_trace_options_t {
  struct {
    uint64_t sampling_frequency = 1;
  } rep;
};

struct rocksdb_block_cache_trace_writer_options_t {
  struct {
    uint64_t max_trace_file_size = uint64_t{64} << 30;
  } rep;
};
