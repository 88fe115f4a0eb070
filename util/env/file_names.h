// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the names of the files in a database directory, in both directions.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

// Paths. Numbers are decimal, padded with zeros to six digits. Tables end in ".sst"; LevelDB's end
// in ".ldb" and are only read.
std::string LogFileName(const std::string& dbname, uint64_t number);
std::string TableFileName(const std::string& dbname, uint64_t number);
// In which tables stand that are on their way into a directory of tables, under the names that they
// will have there.
inline constexpr const char* kStagingBaseName = "ingest";
std::string StagingDirectory(const std::string& tables);
std::string LevelDbTableFileName(const std::string& dbname, uint64_t number);
std::string DescriptorFileName(const std::string& dbname, uint64_t number);
std::string CurrentFileName(const std::string& dbname);
std::string LockFileName(const std::string& dbname);
std::string IdentityFileName(const std::string& dbname);
std::string TempFileName(const std::string& dbname, uint64_t number);
// How far logs and MANIFEST are durable (db/wal/synced_marks.h). To every other program it is a
// temporary file, which goes when that program writes to the database or destroys it: what it says
// might not be true any more. (Of number 0 RocksDB keeps temporary files.)
std::string SyncedMarksFileName(const std::string& dbname);
inline constexpr char kSyncedMarksBaseName[] = "1.dbtmp";
// At the end of a table's name while it waits for its deletion. It is a temporary file, too.
inline constexpr char kTrashSuffix[] = ".trash";
std::string OptionsFileName(const std::string& dbname, uint64_t number);
std::string ArchivalDirectory(const std::string& dbname);

// The same without a directory.
std::string LogFileBaseName(uint64_t number);
std::string TableFileBaseName(uint64_t number);
std::string DescriptorFileBaseName(uint64_t number);
std::string OptionsFileBaseName(uint64_t number);

// "LOG" for a log in the database's own directory; with a directory of logs the absolute path of
// the database is put in front, its characters outside [A-Za-z0-9._-] replaced by '_', so that
// several databases can share it. A long path is cut, and a hash of it takes the rest's place.
std::string InfoLogPrefix(bool has_log_dir, const std::string& db_absolute_path);
std::string InfoLogFileName(const std::string& dbname, const std::string& db_absolute_path = "",
                            const std::string& log_dir = "");
std::string OldInfoLogFileName(const std::string& dbname, uint64_t micros,
                               const std::string& db_absolute_path = "",
                               const std::string& log_dir = "");

// Takes the name of a directory entry (no '/') apart. False for everything that the functions above
// do not produce, apart from the width of numbers and from what RocksDB alone writes (.blob,
// options under a temporary name); such files are none of ours. *number is 0 for kinds without one,
// and the microseconds for LOG.old.*. The table types share kTableFile, and options being written
// are kTempFile.
bool ParseFileName(const Slice& name, uint64_t* number, FileType* type);
// The same where logs begin with info_log_prefix instead of "LOG".
bool ParseFileName(const Slice& name, const Slice& info_log_prefix, uint64_t* number,
                   FileType* type);

}  // namespace varve
