// SPDX-License-Identifier: Apache-2.0
#pragma once

// OPTIONS files hold the options with which a database was last opened, as text that RocksDB 7.8.3
// and later also read.
//
// Only names that 7.8.3 knows are written as options. Settings that it lacks, where they differ
// from the default, follow as "#+ name=value": a comment to every other reader.

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

// Largest size of a file that is written or read: enough for more ordinary families, at about 4 KiB
// each, than a database can have (db/version/version_set.h).
inline constexpr size_t kOptionsFileBytesMax = size_t{1} << 30;

// The contents of an OPTIONS file.
struct OptionsFileContents {
  // Objects that text cannot make have the value of a default-made struct.
  DBOptions db_options;

  // At least one; the default column family is the first.
  std::vector<ColumnFamilyDescriptor> column_families;

  // Names of the comparators in the file, in the same order; empty if not named.
  std::vector<std::string> comparator_names;
};

// The text of one column family, without its name: a program that writes the files of a database
// repeatedly keeps these.
struct FamilyOptionsText {
  explicit FamilyOptionsText(const ColumnFamilyOptions& options);
  bool operator==(const FamilyOptionsText&) const = default;
  // Appends the sections of the column family of that name.
  void AppendTo(const std::string& family, std::string* text) const;

  std::string options;
  std::string table_factory;  // Name of the factory; empty if it is none of ours.
  std::string table_options;
};

// Returns the text before the column families. `place` is the directory of the database; if empty,
// it is not written, because all of its files are there. `log_directory` is the absolute path of
// db_options.wal_dir; empty if wal_dir is.
std::string OptionsFileBeginning(const DBOptions& db_options, const std::string& place,
                                 const std::string& log_directory);

// Appends the text after them: a file without it was truncated.
void AppendOptionsFileEnd(std::string* text);

// Appends, after a family's options, the directories of its tables.
void AppendTableDirectories(const std::vector<std::string>& directories, std::string* text);

// Returns a file's text for a copy of the database that has these families and all its files in one
// directory: without other families, wal_dir and the comments about directories.
std::string OptionsOfCopy(std::string_view text, const std::vector<std::string>& families);

// Returns the text of a whole file. `column_families` must contain the default one; it is written
// first.
std::string FormatOptionsFile(const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families);

// Parses a file. *contents is unchanged after an error. Errors name `file_name` and the line:
// Corruption if it is no OPTIONS file, or one of Varve's that was truncated; InvalidArgument and
// NotSupported as from ApplyOptions.
Status ParseOptionsFile(const ConfigOptions& config, const std::string& file_name,
                        std::string_view text, OptionsFileContents* contents);

// Creates `OPTIONS-<number>` in `dbname`, durably, through a temporary name. Returns
// InvalidArgument above kOptionsFileBytesMax.
Status WriteOptionsFile(FileSystem* fs, const std::string& dbname, uint64_t number,
                        const Slice& text);
Status WriteOptionsFile(FileSystem* fs, const std::string& dbname, uint64_t number,
                        const DBOptions& db_options,
                        const std::vector<ColumnFamilyDescriptor>& column_families);

// Reads from an OPTIONS file only the directory of the logs, empty if it is the database's own, and
// that of the database, empty if not written. A relative path is relative to another process's
// working directory.
Status ReadLogDirectory(FileSystem* fs, const std::string& file_name, std::string* log_directory,
                        std::string* place);

// Reads from an OPTIONS file only the directories of tables, by column family, in the order of
// db_paths or cf_paths, and the directory of the database, empty if not written.
Status ReadTableDirectories(FileSystem* fs, const std::string& file_name,
                            std::map<std::string, std::vector<std::string>>* directories,
                            std::string* place);

// Reads and parses a file. Errors are those of the file system and of ParseOptionsFile.
Status ReadOptionsFile(const ConfigOptions& config, FileSystem* fs, const std::string& file_name,
                       OptionsFileContents* contents);

// Reads from an OPTIONS file only the names of merge operators, by column family; families without
// one are left out. The rest of the file is not checked.
Status ReadMergeOperatorNames(FileSystem* fs, const std::string& file_name,
                              std::map<std::string, std::string>* names);

// Sets *numbers to those of all OPTIONS files of a database, descending; none if the directory is
// missing.
Status ListOptionsFiles(FileSystem* fs, const std::string& dbname, std::vector<uint64_t>* numbers);

}  // namespace varve
