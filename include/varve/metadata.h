// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptions of a database's files, returned by DB::GetLiveFilesMetaData etc.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"
#include "varve/types.h"

namespace varve {

struct FileStorageInfo {
  std::string relative_filename;  // Within `directory`, without leading slash.
  std::string directory;
  uint64_t file_number = 0;  // 0 if the file has none.
  FileType file_type = kTempFile;
  uint64_t size = 0;  // Bytes.
  Temperature temperature = Temperature::kUnknown;
  std::string file_checksum;            // The whole file's; empty if unknown.
  std::string file_checksum_func_name;  // Empty if unknown.
};

struct LiveFileStorageInfo : public FileStorageInfo {
  std::string replacement_contents;  // If not empty, copy this instead of the file.
  bool trim_to_size = false;         // True if the file may be longer than `size`.
};

// Files are ordered newest first within L0 and by key in other levels.
struct SstFileMetaData : public FileStorageInfo {
  SstFileMetaData() { file_type = kTableFile; }

  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  std::string smallestkey;  // User keys.
  std::string largestkey;
  uint64_t num_reads_sampled = 0;
  bool being_compacted = false;
  uint64_t num_entries = 0;
  uint64_t num_deletions = 0;
  uint64_t oldest_blob_file_number = 0;
  uint64_t oldest_ancester_time = 0;  // Seconds since 1970; 0: unknown.
  uint64_t file_creation_time = 0;    // Seconds since 1970; 0: unknown.
  uint64_t epoch_number = 0;          // Order of L0 files; 0: unknown.

  // Older names: relative_filename with a leading slash; directory.
  std::string name;
  std::string db_path;

  // Internal keys: user key, sequence number, kind. Set only by Checkpoint::ExportColumnFamily.
  std::string smallest;
  std::string largest;
};

struct LiveFileMetaData : SstFileMetaData {
  std::string column_family_name;
  int level = 0;
};

// Result of Checkpoint::ExportColumnFamily, for DB::CreateColumnFamilyWithImport.
struct ExportImportFilesMetaData {
  std::string db_comparator_name;
  std::vector<LiveFileMetaData> files;
};

struct BlobMetaData {
  uint64_t blob_file_number = 0;
  std::string blob_file_name;
  std::string blob_file_path;
  uint64_t blob_file_size = 0;
  uint64_t total_blob_count = 0;
  uint64_t total_blob_bytes = 0;
  uint64_t garbage_blob_count = 0;
  uint64_t garbage_blob_bytes = 0;
  std::string checksum_method;
  std::string checksum_value;
};

struct LevelMetaData {
  LevelMetaData(int level_number, uint64_t total_size, std::vector<SstFileMetaData> level_files)
      : level(level_number), size(total_size), files(std::move(level_files)) {}

  const int level;
  const uint64_t size;  // Bytes of all files.
  const std::vector<SstFileMetaData> files;
};

struct ColumnFamilyMetaData {
  ColumnFamilyMetaData() = default;
  ColumnFamilyMetaData(const std::string& cf_name, uint64_t total_size,
                       std::vector<LevelMetaData> all_levels)
      : size(total_size), name(cf_name), levels(std::move(all_levels)) {}

  uint64_t size = 0;  // Bytes of all tables.
  size_t file_count = 0;
  std::string name;
  std::vector<LevelMetaData> levels;

  uint64_t blob_file_size = 0;  // Always 0, as there are no blob files.
  size_t blob_file_count = 0;
  std::vector<BlobMetaData> blob_files;
};

}  // namespace varve
