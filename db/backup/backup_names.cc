// SPDX-License-Identifier: Apache-2.0

// Names tell what a file is, so that a directory of backups can be understood without any other
// index:
//
//      private/7/MANIFEST-000005                 a file of backup 7 alone
//      shared/000012.sst                         a table, identified by its number alone
//      shared_checksum/000012_sSESSION_SIZE.sst  also by the session that wrote it
//      shared_checksum/000012_CRC_SIZE.sst       also by its contents (legacy)
//
// Paths come from lists that are not trusted. A path of any other form is refused, so that no list
// can make a restore read or write elsewhere.

#include "db/backup/backup_names.h"

#include <limits>
#include <string_view>

#include "util/env/file_names.h"

namespace varve {

namespace {

constexpr std::string_view kTempSuffix = ".tmp";
constexpr size_t kMaxNumberDigits = 20;
constexpr std::string_view kNameCharacters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.";

// True if backups have files of this type. LOCK, LOG, IDENTITY and temporary files hold no data,
// and METADB and COMPACTION_PROGRESS are never written by this library.
bool IsBackedUp(FileType type) {
  return type == kTableFile || type == kWalFile || type == kDescriptorFile ||
         type == kCurrentFile || type == kOptionsFile || type == kBlobFile;
}

// Returns "000009.sst" for "000009_<anything>.sst", and "" for other forms.
std::string NameInDatabase(std::string_view shared_name) {
  const size_t first = shared_name.find('_');
  const size_t dot = shared_name.rfind('.');
  if (first == std::string_view::npos || dot == std::string_view::npos || dot < first) return "";
  return std::string(shared_name.substr(0, first)).append(shared_name.substr(dot));
}

std::string InsertBeforeEnding(const std::string& db_name, const std::string& text) {
  const size_t dot = db_name.rfind('.');
  return db_name.substr(0, dot) + "_" + text +
         (dot == std::string::npos ? "" : db_name.substr(dot));
}

}  // namespace

std::optional<uint64_t> ParseDecimal(std::string_view text) {
  if (text.empty() || text.size() > kMaxNumberDigits) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<BackupID> ParseBackupId(const Slice& name) {
  const std::optional<uint64_t> number = ParseDecimal(name.ToStringView());
  if (!number.has_value() || *number == 0 || name[0] == '0') return std::nullopt;
  if (*number > std::numeric_limits<BackupID>::max()) return std::nullopt;
  return static_cast<BackupID>(*number);
}

// Allows what Varve and RocksDB write, and nothing else: a known folder, private ones only with the
// backup's own id; plain characters; a name that some file of a database has; and a type that is
// backed up, of which only tables and blob files are shared.
bool ParseBackupPath(const Slice& path, BackupID id, BackupPath* parsed) {
  const std::string_view text = path.ToStringView();
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return false;
  parsed->folder = text.substr(0, slash);
  parsed->file_name = text.substr(slash + 1);
  parsed->db_name = parsed->file_name;
  if (parsed->folder == kSharedChecksumFolder) {
    parsed->shared = true;
    parsed->db_name = NameInDatabase(parsed->file_name);
  } else if (parsed->folder == kSharedFolder) {
    parsed->shared = true;
  } else if (parsed->folder == std::string(kPrivateFolder) + "/" + std::to_string(id)) {
    parsed->shared = false;
  } else {
    return false;
  }
  // Only harmless characters are allowed, and no way out of the folder.
  if (parsed->file_name.find("..") != std::string::npos ||
      parsed->file_name.find_first_not_of(kNameCharacters) != std::string::npos) {
    return false;
  }
  if (!ParseFileName(parsed->db_name, &parsed->number, &parsed->type)) return false;
  const bool table = parsed->type == kTableFile || parsed->type == kBlobFile;
  return IsBackedUp(parsed->type) && (table || !parsed->shared);
}

std::optional<uint64_t> SizeInSharedName(const Slice& file_name) {
  const std::string_view text = file_name.ToStringView();
  const size_t first = text.find('_');
  const size_t last = text.rfind('_');
  const size_t dot = text.rfind('.');
  // With a single underscore the name has a session and no size: "000012_sSESSION.sst".
  if (first == std::string_view::npos || last == first || dot == std::string_view::npos ||
      dot < last) {
    return std::nullopt;
  }
  return ParseDecimal(text.substr(last + 1, dot - last - 1));
}

// A legacy name has a digit after its first underscore, so it is not mistaken for a session. The
// search begins after the last slash; without one rfind returns npos, and npos + 1 is 0.
std::string SessionInSharedName(const std::string& path) {
  const size_t begin = path.find("_s", path.rfind('/') + 1);
  if (begin == std::string::npos) return "";
  const size_t end = path.find_first_of("_.", begin + 2);
  return path.substr(begin + 2, end - begin - 2);
}

std::string SessionName(const std::string& db_name, const std::string& session_id,
                        std::optional<uint64_t> size) {
  std::string text = "s" + session_id;
  if (size.has_value()) text += "_" + std::to_string(*size);
  return InsertBeforeEnding(db_name, text);
}

std::string LegacyName(const std::string& db_name, uint32_t crc32c, uint64_t size) {
  return InsertBeforeEnding(db_name, std::to_string(crc32c) + "_" + std::to_string(size));
}

std::string BackupTempName(const std::string& file_name) {
  return "." + file_name + std::string(kTempSuffix);
}

bool IsBackupTempName(const Slice& file_name) {
  const std::string_view text = file_name.ToStringView();
  return text.starts_with('.') && text.ends_with(kTempSuffix);
}

}  // namespace varve
