// SPDX-License-Identifier: Apache-2.0

// Reads and writes PLAN: what the plan's directory has, and the catalog of the backup. A checksum
// covers all of it. The lines are:
//
//      varve_copy_plan 1
//      7                               id of the backup
//      2                               number of files that the plan has, and their names
//      000012.sst
//      MANIFEST-000005
//      schema_version 2.1 ...          the catalog, as it will be in the store (backup_meta.cc)
//      crc32c 789                      of all bytes above this line

#include "db/backup/plan_file.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"

namespace varve {

namespace {

constexpr std::string_view kHead = "varve_copy_plan ";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kChecksumField = "crc32c ";

// Decodes one plan. An object is used for one call of Read.
class PlanReader {
 public:
  PlanReader(const Slice& text, const std::string& name, PlanContents* contents)
      : text_(text.ToStringView()), name_(name), contents_(*contents) {}

  // The checksum is compared before anything is parsed. The catalog is still parsed as untrusted
  // input, since a checksum protects from damage but not from forgery.
  Status Read() {
    VARVE_RETURN_IF_ERROR(CheckHead());
    VARVE_RETURN_IF_ERROR(TakeChecksum());
    std::string_view line;
    VARVE_RETURN_IF_ERROR(NextLine(&line));
    const std::optional<BackupID> id = ParseBackupId(line);
    if (!id.has_value()) return Damaged("there is no id");
    VARVE_RETURN_IF_ERROR(NextLine(&line));
    const std::optional<uint64_t> count = ParseDecimal(line);
    if (!count.has_value()) return Damaged("there is no number of files");
    // The count is not trusted: one that is too large ends with an error at the end of the text.
    std::vector<std::string_view> names;
    for (uint64_t i = 0; i < *count; i++) {
      VARVE_RETURN_IF_ERROR(NextLine(&line));
      names.push_back(line);
    }
    contents_.catalog_bytes = text_;
    VARVE_RETURN_IF_ERROR(DecodeBackupMeta(text_, *id, name_, &contents_.meta));
    VARVE_RETURN_IF_ERROR(CheckFiles());
    return FindBrought(names);
  }

 private:
  Status Damaged(const std::string& what) const {
    return Status::Corruption(name_, what + "; discard the plan, and make another one");
  }

  Status NextLine(std::string_view* line) {
    const size_t end = text_.find('\n');
    if (end == std::string_view::npos) return Damaged("it ends in the middle of a line");
    *line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return Status::OK();
  }

  // Checks the version before the checksum, which a later version may store elsewhere.
  Status CheckHead() {
    whole_ = text_;
    std::string_view line;
    VARVE_RETURN_IF_ERROR(NextLine(&line));
    if (!line.starts_with(kHead)) return Damaged("it does not begin as a plan");
    if (line.substr(kHead.size()) != kVersion) {
      return Status::NotSupported(name_, "it is a plan of a later version");
    }
    return Status::OK();
  }

  // Removes the last line and compares it with the checksum of all bytes before it.
  Status TakeChecksum() {
    if (text_.empty() || text_.back() != '\n') return Damaged("it ends in the middle of a line");
    const size_t before = text_.substr(0, text_.size() - 1).rfind('\n');
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = text_.substr(begin, text_.size() - 1 - begin);
    text_ = text_.substr(0, begin);
    std::optional<uint64_t> checksum;
    if (line.starts_with(kChecksumField)) {
      checksum = ParseDecimal(line.substr(kChecksumField.size()));
    }
    // Everything but the last line and its newline.
    const size_t body = whole_.size() - line.size() - 1;
    if (checksum != crc32c::Value(whole_.data(), body)) return Damaged("its checksum is wrong");
    return Status::OK();
  }

  Status CheckFiles() const {
    if (!contents_.meta.excluded.empty()) return Damaged("it leaves files out");
    for (const BackupFile& file : contents_.meta.files) {
      if (!file.crc32c.has_value() || !file.size.has_value()) {
        return Damaged("there is no size or no checksum of " + file.path);
      }
    }
    return Status::OK();
  }

  // Sets contents_.brought to the indexes of `names` in the catalog. The plan must have every
  // private file, as no earlier backup has it.
  Status FindBrought(const std::vector<std::string_view>& names) {
    std::unordered_map<std::string_view, bool> wanted;
    for (const std::string_view name : names) {
      if (!wanted.emplace(name, false).second) return Damaged("it names a file twice");
    }
    for (size_t i = 0; i < contents_.meta.files.size(); i++) {
      const BackupFile& file = contents_.meta.files[i];
      const auto it = wanted.find(file.parsed.db_name);
      if (it != wanted.end()) {
        it->second = true;
        contents_.brought.push_back(i);
      } else if (!file.parsed.shared) {
        return Damaged("it lacks " + file.path);
      }
    }
    for (const auto& [name, found] : wanted) {
      if (!found) return Damaged("it names a file that its catalog does not");
    }
    return Status::OK();
  }

  std::string_view text_;
  std::string_view whole_;
  const std::string& name_;
  PlanContents& contents_;
};

}  // namespace

std::string EncodePlan(const PlanContents& contents) {
  std::string text;
  text.append(kHead).append(kVersion).append("\n");
  text.append(std::to_string(contents.meta.id)).append("\n");
  text.append(std::to_string(contents.brought.size())).append("\n");
  for (const size_t i : contents.brought) {
    text.append(contents.meta.files[i].parsed.db_name).append("\n");
  }
  text.append(contents.catalog_bytes);
  const uint32_t checksum = crc32c::Value(text.data(), text.size());
  text.append(kChecksumField).append(std::to_string(checksum)).append("\n");
  return text;
}

Status DecodePlan(const Slice& text, const std::string& name, PlanContents* contents) {
  *contents = PlanContents();
  return PlanReader(text, name, contents).Read();
}

}  // namespace varve
