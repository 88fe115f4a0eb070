// SPDX-License-Identifier: Apache-2.0

// A table is checked from what costs little on. Damage in one of the first two steps ends the check
// of that table, as the rest would only repeat it:
//
//     CheckTable            size, footer, index and properties, against the MANIFEST
//     ExamineTable          every block, the order of entries, and counts
//     CheckBounds           the entries lie within the MANIFEST's bounds
//     CheckFooterPadding    bytes of old footers that no checksum covers are zero
//     CheckFileChecksum     the whole file, if the MANIFEST has its checksum
//
// Under a comparator of the program's own the order of keys is not known here: blocks and checksums
// are checked all the same, and a remark says what was left out. A table that is missing is no
// damage yet, because a process may be compacting beside this one: the caller looks at the MANIFEST
// again.

#include "tools/varve/check_tables.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "db/recovery/table_survey.h"
#include "db/version/table_paths.h"
#include "table/format/footer.h"
#include "tools/varve/check_whole_file.h"
#include "tools/varve/table_file.h"
#include "util/base/status_macros.h"
#include "util/env/io_error.h"
#include "util/env/random_access_file_reader.h"

namespace varve::tool {

namespace {

// Checks the tables of one family.
class FamilyCheck {
 public:
  FamilyCheck(const TableFamily& where, const SurveyedFamily& family, Findings* findings,
              SeenTables* seen)
      : where_(where),
        family_(family),
        absent_(family.comparator),
        order_known_(family.comparator.empty() ||
                     family.comparator == where.options.comparator->Name()),
        icmp_(order_known_ ? where.options.comparator : &absent_),
        findings_(findings),
        seen_(seen) {
    context_ = {FileSystem::Default().get(), &where_.options, &icmp_};
  }

  [[nodiscard]] bool order_known() const { return order_known_; }

  // IsMissing: there is no such file.
  Status Check(const NewFile& file, bool quick);
  void CheckLevels();

 private:
  Status CheckBlocks(const std::string& path, const NewFile& file);
  void CheckBlocksOnly(const std::string& path, const NewFile& file);
  void CheckBounds(const NewFile& file, const TableFinding& finding);
  Status CheckFooterPadding(const std::string& path, const NewFile& file);
  Status CheckFileChecksum(const std::string& path, const NewFile& file) {
    return CheckWholeFile(where_.db_options, path, file.checksum.function, file.checksum.value,
                          findings_);
  }

  const TableFamily& where_;
  const SurveyedFamily& family_;
  const AbsentComparator absent_;
  const bool order_known_;
  const InternalKeyComparator icmp_;
  Findings* const findings_;
  SeenTables* const seen_;
  TableSurveyContext context_;
};

Status FamilyCheck::Check(const NewFile& file, bool quick) {
  const std::string path = TablePathOf(where_, file);
  const Status s = CheckTable(context_, path, file);
  if (IsMissing(s)) return s;
  // The system failed and not the file: the command ends, as it could not say which files are
  // sound.
  if (s.IsIOError()) return s;
  findings_->CountFile(file.size);
  if (!s.ok()) {
    findings_->Damage(path, s.ToString());
    return Status::OK();
  }
  return quick ? Status::OK() : CheckBlocks(path, file);
}

// The footers of versions before 6 have no checksum; zeros follow the handles that they hold.
Status FamilyCheck::CheckFooterPadding(const std::string& path, const NewFile& file) {
  std::unique_ptr<RandomAccessFileReader> reader;
  VARVE_RETURN_IF_ERROR(RandomAccessFileReader::Open(context_.fs, path, FileOptions(),
                                                     RandomAccessFileReader::Options(), &reader));
  char buffer[Footer::kBytes];
  const uint64_t start = file.size - std::min<uint64_t>(file.size, sizeof(buffer));
  Slice bytes;
  VARVE_RETURN_IF_ERROR(reader->Read(start, sizeof(buffer), &bytes, buffer));
  Footer footer;
  // A footer that cannot be read has been reported.
  if (!footer.DecodeFrom(bytes, start).ok()) return Status::OK();
  if (Footer::UsesContext(footer.format_version)) return Status::OK();
  // The handles follow the byte of the checksum's kind, which version 0 does not have.
  const size_t before = bytes.size() - footer.length() + (footer.format_version == 0 ? 0 : 1);
  Slice rest(bytes.data() + before, 2 * BlockHandle::kMaxEncodedBytes);
  BlockHandle handle;
  if (!BlockHandle::DecodeFrom(&rest, &handle) || !BlockHandle::DecodeFrom(&rest, &handle)) {
    return Status::OK();
  }
  const size_t odd = rest.ToStringView().find_first_not_of('\0');
  if (odd == std::string_view::npos) return Status::OK();
  const auto at = static_cast<uint64_t>(rest.data() - bytes.data()) + odd;
  findings_->Damage(
      path, "a byte of the footer that must be 0 is not, at offset " + std::to_string(start + at));
  return Status::OK();
}

Status FamilyCheck::CheckBlocks(const std::string& path, const NewFile& file) {
  if (!order_known_) {
    CheckBlocksOnly(path, file);
    return CheckFileChecksum(path, file);
  }
  TableFinding finding;
  ExamineTable(context_, path, file.number, &file, &finding);
  if (IsMissing(finding.why)) return finding.why;
  if (finding.state == TableFinding::State::kSound) {
    seen_->blob_codecs.insert(finding.blob_codecs.begin(), finding.blob_codecs.end());
    CheckBounds(file, finding);
    VARVE_RETURN_IF_ERROR(CheckFooterPadding(path, file));
    return CheckFileChecksum(path, file);
  }
  std::string text = finding.why.ToString();
  if (finding.count.lost_blocks > 1) {
    text += " (the first of " + std::to_string(finding.count.lost_blocks) + " damaged blocks)";
  }
  findings_->Damage(path, text);
  return Status::OK();
}

void FamilyCheck::CheckBlocksOnly(const std::string& path, const NewFile& file) {
  std::unique_ptr<TableFile> table;
  Status s = TableFile::Open(path, file.largest_seq, &table);
  if (s.ok()) s = table->reader().VerifyChecksum(ReadOptions());
  if (!s.ok()) findings_->Damage(path, s.ToString());
}

// Skips families with timestamps, whose bounds may be stored without them.
void FamilyCheck::CheckBounds(const NewFile& file, const TableFinding& finding) {
  if (icmp_.timestamp_size() != 0 || finding.first_point.empty()) return;
  if (icmp_.Compare(finding.first_point.Encode(), file.smallest.Encode()) < 0 ||
      icmp_.Compare(finding.last_point.Encode(), file.largest.Encode()) > 0) {
    findings_->Damage(finding.path, "has keys outside the bounds that the MANIFEST gives it");
  }
}

// From level 1 on, the tables of a level are disjoint; level 0 may overlap. Internal keys are
// compared: two neighbours may share a user key, as long as the sequence numbers order them.
void FamilyCheck::CheckLevels() {
  std::map<int, std::vector<const NewFile*>> levels;
  for (const auto& [number, file] : family_.files) {
    if (file.level > 0) levels[file.level].push_back(&file);
  }
  for (auto& [level, files] : levels) {
    std::ranges::sort(files, [this](const NewFile* a, const NewFile* b) {
      return icmp_.Compare(a->smallest.Encode(), b->smallest.Encode()) < 0;
    });
    for (size_t i = 1; i < files.size(); i++) {
      if (icmp_.Compare(files[i - 1]->largest.Encode(), files[i]->smallest.Encode()) < 0) continue;
      findings_->Damage(
          TablePathOf(where_, *files[i]),
          "overlaps " + TablePathOf(where_, *files[i - 1]) + " in level " + std::to_string(level));
    }
  }
}

}  // namespace

std::string TablePathOf(const TableFamily& where, const NewFile& file) {
  const auto& own = where.options.cf_paths;
  TablePaths paths(where.db, own.empty() ? where.db_options.db_paths : own);
  // A table of a directory that the options lack is looked for in the first one.
  NewFile shown = file;
  if (shown.path_id >= paths.size()) shown.path_id = 0;
  const std::string name = paths.FileName(shown);
  const std::string old_name = paths.LevelDbFileName(shown);
  Env* const env = Env::Default();
  return !env->FileExists(name).ok() && env->FileExists(old_name).ok() ? old_name : name;
}

Status CheckTables(const TableFamily& where, const SurveyedFamily& family, bool quick,
                   Findings* findings, SeenTables* seen) {
  FamilyCheck check(where, family, findings, seen);
  if (!check.order_known()) {
    findings->Remark("family " + family.name, "its comparator, " + family.comparator +
                                                  ", is not known here: the order of keys is "
                                                  "not checked");
  } else {
    check.CheckLevels();
  }
  for (const auto& [number, file] : family.files) {
    const Status s = check.Check(file, quick);
    // No damage yet: a compaction may have deleted the table since the MANIFEST was read.
    if (IsMissing(s)) {
      seen->missing.push_back(number);
      continue;
    }
    VARVE_RETURN_IF_ERROR(s);
  }
  return Status::OK();
}

}  // namespace varve::tool
