// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the names of the files in a database directory, and their parsing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

// Return paths. Numbers are decimal, padded with zeros to six digits. Tables end in ".sst";
// LevelDB's end in ".ldb" and are only read.
std::string LogFileName(const std::string& dbname, uint64_t number);
std::string TableFileName(const std::string& dbname, uint64_t number);
// Name and path of the staging directory within the directory of tables `tables`: it has files that
// are about to move from there into `tables`, under the names that they will have.
inline constexpr const char* kStagingBaseName = "ingest";
std::string StagingDirectory(const std::string& tables);
std::string LevelDbTableFileName(const std::string& dbname, uint64_t number);
std::string BlobFileName(const std::string& dbname, uint64_t number);
std::string DescriptorFileName(const std::string& dbname, uint64_t number);  // MANIFEST
std::string CurrentFileName(const std::string& dbname);
std::string LockFileName(const std::string& dbname);
std::string IdentityFileName(const std::string& dbname);
std::string TempFileName(const std::string& dbname, uint64_t number);
// Returns the name of the file that records how far logs and MANIFEST are durable
// (db/wal/synced_marks.h). Other programs take it for a temporary file, so they delete it when they
// open the database for writing, as their writes could make it wrong, or when they destroy the
// database. (RocksDB keeps temporary files of number 0.)
std::string SyncedMarksFileName(const std::string& dbname);
inline constexpr char kSyncedMarksBaseName[] = "1.dbtmp";
// Suffix of a table's name while it waits for its deletion. Such a file is temporary, too.
inline constexpr char kTrashSuffix[] = ".trash";
std::string OptionsFileName(const std::string& dbname, uint64_t number);
// Returns the directory of obsolete logs that are kept for a while.
std::string ArchivalDirectory(const std::string& dbname);

// Return the names without a directory.
std::string LogFileBaseName(uint64_t number);
std::string TableFileBaseName(uint64_t number);
std::string BlobFileBaseName(uint64_t number);
std::string DescriptorFileBaseName(uint64_t number);
std::string OptionsFileBaseName(uint64_t number);

// Returns "LOG" for a log in the database's own directory; with a separate log directory the
// absolute path of the database precedes it, with '_' for characters outside [A-Za-z0-9._-], so
// that several databases can share the directory. A long path is truncated, and a hash of it
// replaces the rest.
std::string InfoLogPrefix(bool has_log_dir, const std::string& db_absolute_path);
std::string InfoLogFileName(const std::string& dbname, const std::string& db_absolute_path = "",
                            const std::string& log_dir = "");
std::string OldInfoLogFileName(const std::string& dbname, uint64_t micros,
                               const std::string& db_absolute_path = "",
                               const std::string& log_dir = "");

// Parses the name of a directory entry (no '/'). Returns true for names that the functions above
// produce, with numbers of any width, and for that of an OPTIONS file that is being written
// (util/options/options_file.h), which is kTempFile. Returns false, and leaves *number and *type,
// for all other names: such files are not the database's. Sets *number to 0 for kinds without one,
// and to the microseconds for LOG.old.*. Tables of both suffixes are kTableFile.
bool ParseFileName(const Slice& name, uint64_t* number, FileType* type);
// Does the same where names of information logs begin with info_log_prefix instead of "LOG".
bool ParseFileName(const Slice& name, const Slice& info_log_prefix, uint64_t* number,
                   FileType* type);

// An entry of a directory that ParseFileName takes for a file of a database.
struct NamedFile {
  const std::string& name;  // The entry.
  uint64_t number;
  FileType type;
};

// Returns the entries that are files of a database, or only those of one type, in their order. They
// refer to `entries`.
std::vector<NamedFile> FilesAmong(const std::vector<std::string>& entries,
                                  std::optional<FileType> wanted = std::nullopt);
std::vector<NamedFile> FilesAmong(std::vector<std::string>&& entries,
                                  std::optional<FileType> wanted = std::nullopt) = delete;

}  // namespace varve
