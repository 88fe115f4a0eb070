// SPDX-License-Identifier: Apache-2.0
#pragma once

// OPTIONS files: the options a database was last opened with, as text that RocksDB 7.8.3 and later
// read too.
//
// We write only names that 7.8.3 knows. Settings that it lacks, where they differ from the default,
// follow as "#+ name=value": a comment to every other reader.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "varve/column_family.h"
#include "varve/convenience.h"
#include "varve/file_system.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// More than a database can have families (db/version/version_set.h) with ordinary options: about
// 4 KiB each. Files above it are neither written nor read.
inline constexpr size_t kOptionsFileBytesMax = size_t{1} << 30;

struct OptionsFileContents {
  // Objects that text cannot make are as in a default-made struct.
  DBOptions db_options;

  // At least one; the default column family is the first.
  std::vector<ColumnFamilyDescriptor> column_families;

  // Comparators' names as the file has them, in the same order; empty: not named.
  std::vector<std::string> comparator_names;
};

// What a file says of one column family, but for its name: a program that writes the files of a
// database again and again keeps these.
struct FamilyOptionsText {
  explicit FamilyOptionsText(const ColumnFamilyOptions& options);
  bool operator==(const FamilyOptionsText&) const = default;
  void AppendTo(const std::string& family, std::string* text) const;

  std::string options;
  std::string table_options;  // empty: the table format is another one
};

// What comes before the column families. `place` is where the database is; empty: that is not told,
// as all that it has is there. `log_directory` is the absolute path that db_options.wal_dir stands
// for; empty if that is none.
std::string OptionsFileBeginning(const DBOptions& db_options, const std::string& place,
                                 const std::string& log_directory);

// What comes after them: a file without it was cut.
void AppendOptionsFileEnd(std::string* text);

// What comes after a family's options whose tables are in these directories.
void AppendTableDirectories(const std::vector<std::string>& directories, std::string* text);

// A file's text as it is to be for a copy of the database that has these families, and all its
// files in one directory: without others, without wal_dir, and without what it says of places.
std::string OptionsOfCopy(std::string_view text, const std::vector<std::string>& families);

// A whole file. `column_families` must contain the default one; it is written first.
std::string FormatOptionsFile(const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families);

// *contents is untouched after an error. Errors name `file_name` and the line.
//   Corruption: not an OPTIONS file, or one of ours that has been cut. InvalidArgument,
//   NotSupported: as ApplyOptions.
Status ParseOptionsFile(const ConfigOptions& config, const std::string& file_name,
                        std::string_view text, OptionsFileContents* contents);

// Makes `OPTIONS-<number>` in `dbname`, durably, by way of a temporary name. InvalidArgument: above
// kOptionsFileBytesMax.
Status WriteOptionsFile(FileSystem* fs, const std::string& dbname, uint64_t number,
                        const Slice& text);
Status WriteOptionsFile(FileSystem* fs, const std::string& dbname, uint64_t number,
                        const DBOptions& db_options,
                        const std::vector<ColumnFamilyDescriptor>& column_families);

// Reads of an OPTIONS file no more than where the database had its logs, and where it was itself;
// empty: in its own directory, and not told. A path that is not absolute was so to another process.
Status ReadLogDirectory(FileSystem* fs, const std::string& file_name, std::string* log_directory,
                        std::string* place);

// Reads of an OPTIONS file no more than the directories of tables, by column family, in the order
// of db_paths or cf_paths, and where the database was; empty: not told.
Status ReadTableDirectories(FileSystem* fs, const std::string& file_name,
                            std::map<std::string, std::vector<std::string>>* directories,
                            std::string* place);

Status ReadOptionsFile(const ConfigOptions& config, FileSystem* fs, const std::string& file_name,
                       OptionsFileContents* contents);

// Reads of an OPTIONS file no more than the names of merge operators, by column family; families
// without one are left out. Whatever else is in the file is not looked at.
Status ReadMergeOperatorNames(FileSystem* fs, const std::string& file_name,
                              std::map<std::string, std::string>* names);

// Numbers of all OPTIONS files of a database, descending; none if the directory is missing.
Status ListOptionsFiles(FileSystem* fs, const std::string& dbname, std::vector<uint64_t>* numbers);

}  // namespace varve
