// SPDX-License-Identifier: Apache-2.0

// Lists are text, a line for each file: RocksDB's form, which people can read, too. The comment of
// MetaReader shows an example. Schema 1 is RocksDB's older one, without sizes and without a
// checksum of the list; which schema is written is an option.
//
// A list may come from an attacker. Every line is checked for its form, and each path must be one
// that the backup can have, and occur once. A field whose name begins with "ni::" must not be
// ignored: a reader that does not know it returns NotSupported, and the backup is then kept but not
// used.

#include "db/backup/backup_meta.h"

#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "util/base/declared_names.h"
#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"

namespace varve {

namespace {

constexpr std::string_view kSchemaField = "schema_version";
constexpr std::string_view kMetadataField = "metadata";
constexpr std::string_view kFooterLine = "// FOOTER";
constexpr std::string_view kFooterChecksumField = "crc32c";
// A reader must know each field with this prefix, as it changes the meaning of its line.
constexpr std::string_view kMustBeKnown = "ni::";
constexpr std::string_view kExcludedField = "ni::excluded";
constexpr char kHexDigits[] = "0123456789ABCDEF";

constexpr auto& kTemperatureNames =
    kNamedValues<Temperature::kUnknown, Temperature::kHot, Temperature::kWarm, Temperature::kCool,
                 Temperature::kCold, Temperature::kIce>;

bool ReadNumber(std::string_view text, uint64_t* value) {
  const std::optional<uint64_t> number = ParseDecimal(text);
  *value = number.value_or(0);
  return number.has_value();
}

std::string ToHex(const std::string& bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kHexDigits[byte >> 4];
    hex += kHexDigits[byte & 15];
  }
  return hex;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool FromHex(std::string_view hex, std::string* bytes) {
  if (hex.size() % 2 != 0) return false;
  bytes->clear();
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]);
    const int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes->push_back(static_cast<char>(high << 4 | low));
  }
  return true;
}

// Returns the words of a line, which single spaces separate.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return words;
    line.remove_prefix(space + 1);
  }
}

// Reads one list, once.
//   schema_version 2.1                            schema 2 only
//   1700000000                                    time
//   4711                                          sequence number
//   metadata 48656c6c6f                           fields, each with a value
//   2                                             number of files
//   private/7/CURRENT crc32 123 size 16
//   shared_checksum/000012_s5EF...sst crc32 456 size 98765
//   // FOOTER                                     schema 2 only
//   crc32c 789                                    of all lines above the footer
//
// Every line is checked for form, and every path for being one that this backup can have: a forged
// list must not make a restore write outside of its directory.
class MetaReader {
 public:
  MetaReader(const Slice& text, BackupID id, const std::string& name, BackupMeta* meta)
      : text_(text.ToStringView()), name_(name), meta_(*meta) {
    meta_.id = id;
  }

  Status Read() {
    VARVE_RETURN_IF_ERROR(ReadHead());
    uint64_t count = 0;
    VARVE_RETURN_IF_ERROR(ReadCount(&count));
    while (!AtEnd() && !IsFooter()) {
      VARVE_RETURN_IF_ERROR(NextLine());
      VARVE_RETURN_IF_ERROR(ReadFile());
    }
    // Schema 1 has no checksum of the list, so only the count reveals a truncated one.
    if (meta_.files.size() != count) {
      return Damaged(std::to_string(count) + " files are announced and " +
                     std::to_string(meta_.files.size()) + " listed");
    }
    if (!AtEnd()) VARVE_RETURN_IF_ERROR(ReadFooter());
    // A writer that stores sizes writes the footer, too. Without it the end of the list could be
    // missing, with excluded files that the count does not include.
    if (sized_ && !summed_) return Damaged("the footer with the list's checksum is missing");
    return Status::OK();
  }

 private:
  Status Damaged(const std::string& what) const {
    return Status::Corruption(
        name_, "line " + std::to_string(line_number_) + ": " + what +
                   "; delete this backup, or bring its list of files back from another copy");
  }
  Status Unknown(const std::string& what) const {
    return Status::NotSupported(name_, "line " + std::to_string(line_number_) + ": " + what +
                                           ": it was made by a later version");
  }

  bool AtEnd() const { return position_ >= text_.size(); }
  // A path cannot look like the footer, as it has no space and a folder's name in front.
  bool IsFooter() const {
    const std::string_view rest = text_.substr(position_);
    return schema_ == 2 && rest.substr(0, rest.find('\n')) == kFooterLine;
  }

  // Sets line_. Each line ends with a newline.
  Status NextLine() {
    line_number_++;
    const size_t end = text_.find('\n', position_);
    if (end == std::string_view::npos) return Damaged("the file ends in the middle of a line");
    line_ = text_.substr(position_, end - position_);
    position_ = end + 1;
    return Status::OK();
  }

  // Reads the lines before the fields: the schema version, if there is one, the time and the
  // sequence number.
  Status ReadHead() {
    VARVE_RETURN_IF_ERROR(NextLine());
    std::vector<std::string_view> words = Words(line_);
    if (words[0] == kSchemaField) {
      if (words.size() != 2) return Damaged("not a schema version");
      if (words[1] != "2" && !words[1].starts_with("2.")) {
        return Unknown("schema version " + std::string(words[1]));
      }
      schema_ = 2;
      VARVE_RETURN_IF_ERROR(NextLine());
    }
    uint64_t number = 0;
    if (!ReadNumber(line_, &number) ||
        number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Damaged("not a time");
    }
    meta_.timestamp = static_cast<int64_t>(number);
    VARVE_RETURN_IF_ERROR(NextLine());
    if (!ReadNumber(line_, &number)) return Damaged("not a sequence number");
    meta_.sequence = number;
    return Status::OK();
  }

  // Reads the number of files, and the fields before it. In schema 2 unknown fields are skipped,
  // unless their names begin with kMustBeKnown; schema 1 has no fields but the metadata.
  Status ReadCount(uint64_t* count) {
    for (;;) {
      VARVE_RETURN_IF_ERROR(NextLine());
      if (ReadNumber(line_, count)) return Status::OK();
      const size_t space = line_.find(' ');
      const std::string_view field = line_.substr(0, space);
      if (space == std::string_view::npos) return Damaged("not a number of files");
      if (field == kMetadataField) {
        if (!FromHex(line_.substr(space + 1), &meta_.app_metadata)) {
          return Damaged("not bytes in hexadecimal");
        }
      } else if (schema_ == 1) {
        return Damaged("not a number of files");
      } else if (field.starts_with(kMustBeKnown)) {
        return Unknown("field " + std::string(field));
      }
    }
  }

  // Reads line_ as a file, and adds it to the backup's files or to those left out.
  Status ReadFile() {
    const std::vector<std::string_view> words = Words(line_);
    BackupFile file;
    file.path = words[0];
    if (!ParseBackupPath(file.path, meta_.id, &file.parsed)) {
      return Damaged("no path of a file that this backup can have");
    }
    // After the path come pairs of a field and its value.
    if (words.size() % 2 == 0 || (schema_ == 1 && words.size() != 3)) {
      return Damaged("not a path with fields");
    }
    bool excluded = false;
    for (size_t i = 1; i < words.size(); i += 2) {
      VARVE_RETURN_IF_ERROR(ReadField(words[i], words[i + 1], &file, &excluded));
    }
    if (schema_ == 1 && !file.crc32c.has_value()) return Damaged("not a checksum");
    // A restore would overwrite one of the two files with the other.
    if (!names_.insert(file.parsed.db_name).second) {
      return Damaged("a second file that is " + file.parsed.db_name + " in the database");
    }
    if (!excluded) {
      meta_.files.push_back(std::move(file));
    } else if (!file.parsed.shared) {
      return Damaged("a file is left out that is not shared");
    } else {
      meta_.excluded.push_back(std::move(file.path));
    }
    return Status::OK();
  }

  // Reads one field of a file. Unknown ones are skipped, unless their names say that they must be
  // known.
  Status ReadField(std::string_view field, std::string_view value, BackupFile* file,
                   bool* excluded) {
    uint64_t number = 0;
    if (field == "crc32") {
      if (!ReadNumber(value, &number) || number > std::numeric_limits<uint32_t>::max()) {
        return Damaged("not a checksum");
      }
      file->crc32c = static_cast<uint32_t>(number);
    } else if (field == "size") {
      if (!ReadNumber(value, &number)) return Damaged("not a size");
      file->size = number;
      sized_ = true;
    } else if (field == "temp") {
      // A temperature of a later version counts as unknown.
      for (const auto& [temperature, text] : kTemperatureNames) {
        if (text == value) file->temperature = temperature;
      }
    } else if (field == kExcludedField) {
      if (value != "true" && value != "false") return Damaged("neither left out nor not");
      *excluded = value == "true";
    } else if (field.starts_with(kMustBeKnown)) {
      return Unknown("field " + std::string(field));
    }
    return Status::OK();
  }

  // Fields of later versions are skipped, unless their names say that they must be known. `body`
  // ends before the footer's line.
  Status ReadFooter() {
    const size_t body = position_;
    VARVE_RETURN_IF_ERROR(NextLine());
    while (!AtEnd()) {
      VARVE_RETURN_IF_ERROR(NextLine());
      const std::vector<std::string_view> words = Words(line_);
      if (words.size() < 2) return Damaged("not a field");
      if (words[0].starts_with(kMustBeKnown)) return Unknown("field " + std::string(words[0]));
      if (words[0] != kFooterChecksumField) continue;
      uint64_t number = 0;
      if (!ReadNumber(words[1], &number)) return Damaged("not a checksum");
      if (number != crc32c::Value(text_.data(), body)) {
        return Damaged("the list's checksum is wrong");
      }
      summed_ = true;
    }
    return Status::OK();
  }

  const std::string_view text_;
  const std::string& name_;
  BackupMeta& meta_;
  int schema_ = 1;
  size_t position_ = 0;
  uint64_t line_number_ = 0;
  std::string_view line_;
  std::set<std::string> names_;
  bool sized_ = false;   // Some file has a size, which only Varve writes.
  bool summed_ = false;  // The list's checksum was compared.
};

// Schema 1 has the checksum only: its readers treat additional words on a line as damage.
void AppendFileLine(const BackupFile& file, int schema_version, std::string* text) {
  text->append(file.path).append(" crc32 ").append(std::to_string(file.crc32c.value_or(0)));
  if (schema_version >= 2) {
    for (const auto& [temperature, name] : kTemperatureNames) {
      if (temperature == file.temperature && temperature != Temperature::kUnknown) {
        text->append(" temp ").append(name);
      }
    }
    if (file.size.has_value()) text->append(" size ").append(std::to_string(*file.size));
  }
  text->append("\n");
}

}  // namespace

std::string EncodeBackupMeta(const BackupMeta& meta, int schema_version) {
  std::string text;
  if (schema_version >= 2) text.append(kSchemaField).append(" 2.1\n");
  text.append(std::to_string(meta.timestamp)).append("\n");
  text.append(std::to_string(meta.sequence)).append("\n");
  if (!meta.app_metadata.empty()) {
    text.append(kMetadataField).append(" ").append(ToHex(meta.app_metadata)).append("\n");
  }
  text.append(std::to_string(meta.files.size())).append("\n");
  for (const BackupFile& file : meta.files) AppendFileLine(file, schema_version, &text);
  for (const std::string& path : meta.excluded) {
    text.append(path).append(" ").append(kExcludedField).append(" true\n");
  }
  if (schema_version < 2) return text;
  const uint32_t checksum = crc32c::Value(text.data(), text.size());
  text.append(kFooterLine).append("\n");
  text.append(kFooterChecksumField).append(" ").append(std::to_string(checksum)).append("\n");
  return text;
}

Status DecodeBackupMeta(const Slice& text, BackupID id, const std::string& name, BackupMeta* meta) {
  *meta = BackupMeta();
  return MetaReader(text, id, name, meta).Read();
}

}  // namespace varve
