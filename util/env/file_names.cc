// SPDX-License-Identifier: Apache-2.0

// Three tables say what belongs to a database: whole names, prefixes with a number behind, and
// suffixes with a number before. A number is digits only and must fit 64 bits, so that whatever a
// user puts into the directory ("12x.sst") is not taken for a file of the database, and never
// deleted.

#include "util/env/file_names.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string_view>

#include "util/coding/hash.h"

namespace varve {

namespace {

constexpr size_t kNumberWidth = 6;
constexpr std::string_view kOldLogMark = ".old.";
// Maximum length of a database's path in the name of its LOG in another directory: file systems
// allow 255 bytes, and "_LOG", the mark and a number of 20 digits follow.
constexpr size_t kInfoLogPathMax = 255 - 4 - kOldLogMark.size() - 20;
constexpr std::string_view kTempSuffix = ".dbtmp";

std::string Padded(uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kNumberWidth) digits.insert(0, kNumberWidth - digits.size(), '0');
  return digits;
}

std::string Join(const std::string& dir, const std::string& name) {
  return dir + "/" + name;
}

// Parses the whole of `text` as a decimal number: digits only, at least one, no overflow.
// Overflow must be refused, not wrapped: two different names would otherwise be one file number.
bool ParseNumber(std::string_view text, uint64_t* number) {
  if (text.empty()) return false;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

bool ConsumeSuffix(std::string_view* text, std::string_view suffix) {
  if (text->size() < suffix.size() || text->substr(text->size() - suffix.size()) != suffix) {
    return false;
  }
  text->remove_suffix(suffix.size());
  return true;
}

struct PlainName {
  std::string_view name;
  FileType type;
};
// These tables are the whole grammar of names, apart from the information log's:
//
//   name    = plain | prefix number | number suffix
//   number  = digits, of any width
//   info    = info_log_prefix [ ".old." number ]
//
// No name matches two rules, so the order of the rules does not matter.
constexpr PlainName kPlainNames[] = {
    {"CURRENT", kCurrentFile}, {"LOCK", kDBLockFile}, {"IDENTITY", kIdentityFile}};

struct Affix {
  std::string_view text;
  FileType type;
};
// METADB- and COMPACTION_PROGRESS- are RocksDB's: never written here, but known, so that DestroyDB
// deletes them.
constexpr Affix kPrefixes[] = {{"MANIFEST-", kDescriptorFile},
                               {"OPTIONS-", kOptionsFile},
                               {"METADB-", kMetaDatabase},
                               {"COMPACTION_PROGRESS-", kCompactionProgressFile}};
constexpr Affix kSuffixes[] = {{".log", kWalFile},         {".sst", kTableFile},
                               {".ldb", kTableFile},       {".blob", kBlobFile},
                               {".sst.trash", kTempFile},  {".ldb.trash", kTempFile},
                               {".blob.trash", kTempFile}, {kTempSuffix, kTempFile}};

}  // namespace

std::string LogFileBaseName(uint64_t number) {
  return Padded(number) + ".log";
}

std::string TableFileBaseName(uint64_t number) {
  return Padded(number) + ".sst";
}

std::string BlobFileBaseName(uint64_t number) {
  return Padded(number) + ".blob";
}

std::string DescriptorFileBaseName(uint64_t number) {
  return "MANIFEST-" + Padded(number);
}

std::string OptionsFileBaseName(uint64_t number) {
  return "OPTIONS-" + Padded(number);
}

std::string LogFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, LogFileBaseName(number));
}

std::string TableFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, TableFileBaseName(number));
}

std::string BlobFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, BlobFileBaseName(number));
}

std::string StagingDirectory(const std::string& tables) {
  return tables + "/" + kStagingBaseName;
}

std::string LevelDbTableFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, Padded(number) + ".ldb");
}

std::string DescriptorFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, DescriptorFileBaseName(number));
}

std::string CurrentFileName(const std::string& dbname) {
  return Join(dbname, "CURRENT");
}

std::string LockFileName(const std::string& dbname) {
  return Join(dbname, "LOCK");
}

std::string IdentityFileName(const std::string& dbname) {
  return Join(dbname, "IDENTITY");
}

std::string TempFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, Padded(number) + std::string(kTempSuffix));
}

std::string SyncedMarksFileName(const std::string& dbname) {
  return Join(dbname, kSyncedMarksBaseName);
}

std::string OptionsFileName(const std::string& dbname, uint64_t number) {
  return Join(dbname, OptionsFileBaseName(number));
}

std::string ArchivalDirectory(const std::string& dbname) {
  return Join(dbname, "archive");
}

// The name must be the same at every opening, as old logs are found by it; so it depends on the
// path alone.
std::string InfoLogPrefix(bool has_log_dir, const std::string& db_absolute_path) {
  if (!has_log_dir) return "LOG";
  std::string prefix = db_absolute_path;
  if (!prefix.empty() && prefix.front() == '/') prefix.erase(0, 1);
  for (char& c : prefix) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!kept) c = '_';
  }
  if (prefix.size() > kInfoLogPathMax) {
    // Databases in one directory share the beginning of their paths.
    char hash[18];
    (void)std::snprintf(hash, sizeof(hash), "_%016llx",
                        static_cast<unsigned long long>(KeyHash64(db_absolute_path)));
    prefix.resize(kInfoLogPathMax - (sizeof(hash) - 1));
    prefix += hash;
  }
  return prefix + "_LOG";
}

std::string InfoLogFileName(const std::string& dbname, const std::string& db_absolute_path,
                            const std::string& log_dir) {
  const bool has_log_dir = !log_dir.empty();
  return Join(has_log_dir ? log_dir : dbname, InfoLogPrefix(has_log_dir, db_absolute_path));
}

std::string OldInfoLogFileName(const std::string& dbname, uint64_t micros,
                               const std::string& db_absolute_path, const std::string& log_dir) {
  return InfoLogFileName(dbname, db_absolute_path, log_dir) + std::string(kOldLogMark) +
         std::to_string(micros);
}

bool ParseFileName(const Slice& name, uint64_t* number, FileType* type) {
  return ParseFileName(name, "LOG", number, type);
}

bool ParseFileName(const Slice& name, const Slice& info_log_prefix, uint64_t* number,
                   FileType* type) {
  const std::string_view whole = name.ToStringView();
  uint64_t parsed = 0;
  std::string_view rest = whole;
  // A name that merely begins like the log ("LOG.txt") falls through to the other rules, which
  // refuse it.
  if (!info_log_prefix.empty() && ConsumePrefix(&rest, info_log_prefix.ToStringView())) {
    if (rest.empty() || (ConsumePrefix(&rest, kOldLogMark) && ParseNumber(rest, &parsed))) {
      *number = parsed;
      *type = kInfoLogFile;
      return true;
    }
  }
  for (const PlainName& plain : kPlainNames) {
    if (whole != plain.name) continue;
    *number = 0;
    *type = plain.type;
    return true;
  }
  for (const Affix& prefix : kPrefixes) {
    rest = whole;
    if (!ConsumePrefix(&rest, prefix.text)) continue;
    // WriteOptionsFile, like RocksDB, writes options to "OPTIONS-000007.dbtmp" and renames that.
    const bool temporary = prefix.type == kOptionsFile && ConsumeSuffix(&rest, kTempSuffix);
    if (!ParseNumber(rest, &parsed)) return false;
    *number = parsed;
    *type = temporary ? kTempFile : prefix.type;
    return true;
  }
  for (const Affix& suffix : kSuffixes) {
    rest = whole;
    if (!ConsumeSuffix(&rest, suffix.text) || !ParseNumber(rest, &parsed)) continue;
    *number = parsed;
    *type = suffix.type;
    return true;
  }
  return false;
}

std::vector<NamedFile> FilesAmong(const std::vector<std::string>& entries,
                                  std::optional<FileType> wanted) {
  std::vector<NamedFile> files;
  for (const std::string& entry : entries) {
    uint64_t number = 0;
    FileType type = kTempFile;
    if (!ParseFileName(entry, &number, &type)) continue;
    if (!wanted.has_value() || type == *wanted) files.push_back({entry, number, type});
  }
  return files;
}

}  // namespace varve
