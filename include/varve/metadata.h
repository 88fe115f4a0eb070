// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptions of a database's files, returned by DB::GetLiveFilesMetaData,
// DB::GetColumnFamilyMetaData, DB::GetLiveFilesStorageInfo and Checkpoint::ExportColumnFamily. They
// are copies: by the time they are read, files may be deleted, or be in other levels. Sizes are in
// bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"
#include "varve/types.h"

namespace varve {

// A file of a database. Its path is `directory`, a slash, and `relative_filename`.
struct FileStorageInfo {
  // Name within `directory`, without a leading slash.
  std::string relative_filename;
  // Path of the directory that has the file.
  std::string directory;
  // Number in the file's name; 0 if it has none.
  uint64_t file_number = 0;
  // Type of the file, as its name indicates.
  FileType file_type = kTempFile;
  // Size in bytes.
  uint64_t size = 0;
  // Temperature with which the file was written, if the MANIFEST has it.
  Temperature temperature = Temperature::kUnknown;
  // Checksum of the whole file, as bytes; empty if it is not known
  // (DBOptions::file_checksum_gen_factory).
  std::string file_checksum;
  // Name of the function that computed the checksum; empty or kUnknownFileChecksumFuncName if there
  // is no checksum.
  std::string file_checksum_func_name;
};

// A file that belongs to the state of one moment (DB::GetLiveFilesStorageInfo). A copy of all files
// of the list, made while they are kept from deletion, is a database.
struct LiveFileStorageInfo : public FileStorageInfo {
  // The content to write in place of the file's own if this is not empty. CURRENT has it.
  std::string replacement_contents;
  // True if the file grows or may be longer: copy its first `size` bytes, and do not link it.
  bool trim_to_size = false;
};

// A table. Lists of them are ordered newest first within L0 and by key in other levels.
struct SstFileMetaData : public FileStorageInfo {
  SstFileMetaData() { file_type = kTableFile; }

  // Smallest and largest sequence number of the table's entries; both 0 if compactions have set all
  // of them to 0, as no snapshot needs them.
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  // Smallest and largest user key, with timestamps if the comparator has them. If a range deletion
  // ends the table, the largest key is exclusive.
  std::string smallestkey;
  std::string largestkey;
  // Always 0, as reads are not sampled.
  uint64_t num_reads_sampled = 0;
  // True if the table is an input of a running compaction.
  bool being_compacted = false;
  // Numbers of all entries and of deletions (of keys and ranges) in the table; 0 if they are not
  // known.
  uint64_t num_entries = 0;
  uint64_t num_deletions = 0;
  // Number of the oldest blob file that the table refers to; 0 if it refers to none.
  uint64_t oldest_blob_file_number = 0;
  // Creation time, in seconds since 1970, of the oldest table whose data this one has; 0: unknown.
  uint64_t oldest_ancester_time = 0;
  // Time at which the table was written, in seconds since 1970; 0: unknown.
  uint64_t file_creation_time = 0;
  // Orders tables of L0 by age: newer ones have larger numbers; 0: unknown.
  uint64_t epoch_number = 0;

  // Older names: relative_filename with a leading slash; directory.
  std::string name;
  std::string db_path;

  // Bounds as internal keys (user key, sequence number, type). Set only by
  // Checkpoint::ExportColumnFamily.
  std::string smallest;
  std::string largest;
};

// A table, with its place in the database.
struct LiveFileMetaData : SstFileMetaData {
  // Name of the column family that has the table.
  std::string column_family_name;
  // Level of the table, from 0 to num_levels - 1.
  int level = 0;
};

// Result of Checkpoint::ExportColumnFamily, for DB::CreateColumnFamilyWithImport.
struct ExportImportFilesMetaData {
  // Name of the comparator by which the tables are ordered; the importing column family must have
  // it.
  std::string db_comparator_name;
  // The tables, by level from L0 on, with `directory` empty and `db_path` the export's directory.
  std::vector<LiveFileMetaData> files;
};

// Describes a blob file, which holds values apart from tables.
struct BlobMetaData {
  // Number in the file's name.
  uint64_t blob_file_number = 0;
  // Name with a leading slash, and the directory that has the file.
  std::string blob_file_name;
  std::string blob_file_path;
  uint64_t blob_file_size = 0;
  // Number of values that were written to the file, and bytes of their records.
  uint64_t total_blob_count = 0;
  uint64_t total_blob_bytes = 0;
  // Number of the values to which no table refers any more, and bytes of their records. The file is
  // deleted when all of its values are garbage.
  uint64_t garbage_blob_count = 0;
  uint64_t garbage_blob_bytes = 0;
  // Name of the checksum's function, and the checksum as bytes; both are empty if none was
  // computed.
  std::string checksum_method;
  std::string checksum_value;
};

// The tables of one level.
struct LevelMetaData {
  LevelMetaData(int level_number, uint64_t total_size, std::vector<SstFileMetaData> level_files)
      : level(level_number), size(total_size), files(std::move(level_files)) {}

  // The level's number; 0 is the newest.
  const int level;
  // Bytes of all tables of the level.
  const uint64_t size;
  // The level's tables, newest first in L0 and by key in other levels; empty for an empty level.
  const std::vector<SstFileMetaData> files;
};

// The tables of a column family, or of a range of it, as of one moment.
struct ColumnFamilyMetaData {
  ColumnFamilyMetaData() = default;
  ColumnFamilyMetaData(const std::string& cf_name, uint64_t total_size,
                       std::vector<LevelMetaData> all_levels)
      : size(total_size), name(cf_name), levels(std::move(all_levels)) {}

  // Bytes of all tables; blob files are counted below.
  uint64_t size = 0;
  // Number of all tables.
  size_t file_count = 0;
  // Name of the column family.
  std::string name;
  // All levels from L0 on, including empty ones.
  std::vector<LevelMetaData> levels;

  // Bytes and number of all blob files, and their descriptions by ascending number.
  uint64_t blob_file_size = 0;
  size_t blob_file_count = 0;
  std::vector<BlobMetaData> blob_files;
};

}  // namespace varve
