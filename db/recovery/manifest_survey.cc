// SPDX-License-Identifier: Apache-2.0

// Collects the families and files of a MANIFEST for a repair, up to the first damaged record,
// without building trees. A MANIFEST that has lost its end is still the best source of the levels
// and bounds of the tables that it names.

#include "db/recovery/manifest_survey.h"

#include <algorithm>
#include <span>
#include <utility>

#include "varve/column_family.h"

#include "db/recovery/manifest_records.h"
#include "db/version/manifest_replay.h"
#include "db/wal/synced_marks.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Applies the records of one MANIFEST in order.
class Surveyor {
 public:
  explicit Surveyor(ManifestSurvey* survey) : survey_(survey) {
    survey_->families[0].name = kDefaultColumnFamilyName;
  }

  // Returns false if the edits are inconsistent with earlier ones.
  bool Take(std::span<const VersionEdit> edits) {
    return std::ranges::all_of(edits, [this](const VersionEdit& edit) { return Apply(edit); });
  }
  [[nodiscard]] bool IsComplete() const {
    return has_log_number_ && has_next_file_ && has_last_sequence_;
  }
  void FinishFiles();

 private:
  bool Apply(const VersionEdit& edit);
  void ApplyToFamily(const VersionEdit& edit, SurveyedFamily* family);

  ManifestSurvey* const survey_;
  bool has_log_number_ = false;
  bool has_next_file_ = false;
  bool has_last_sequence_ = false;
};

// Numbers are never lowered, as a number that is too large is harmless.
bool Surveyor::Apply(const VersionEdit& edit) {
  ManifestSurvey& s = *survey_;
  has_log_number_ |= edit.log_number.has_value();
  has_next_file_ |= edit.numbers.next_file.has_value();
  has_last_sequence_ |= edit.numbers.last_sequence.has_value();
  if (edit.db_id.has_value()) s.db_id = *edit.db_id;
  s.next_file_number = std::max(s.next_file_number, edit.numbers.next_file.value_or(0));
  s.last_sequence = std::max(s.last_sequence, edit.numbers.last_sequence.value_or(0));
  s.min_log_number_to_keep =
      std::max(s.min_log_number_to_keep, edit.numbers.min_log_to_keep.value_or(0));
  s.max_family_id = std::max(s.max_family_id, edit.numbers.max_column_family.value_or(0));
  s.ttl_clock = std::max(s.ttl_clock, edit.ttl_clock.value_or(0));
  s.deleted_files.insert(edit.gone_tables.begin(), edit.gone_tables.end());
  const uint32_t id = edit.column_family;
  if (edit.family.added.has_value()) {
    // UINT32_MAX is never given out as an id (ManifestReplay::Apply).
    if (s.families.count(id) > 0 || id == UINT32_MAX) return false;
    s.families[id].name = *edit.family.added;
    s.max_family_id = std::max(s.max_family_id, id);
  }
  const auto it = s.families.find(id);
  if (it == s.families.end()) return false;
  if (edit.family.dropped) {
    if (id == 0) return false;
    for (const auto& [number, file] : it->second.files) s.deleted_files.insert(number);
    for (const auto& [number, file] : it->second.blob_files) s.deleted_files.insert(number);
    s.families.erase(it);
    return true;
  }
  ApplyToFamily(edit, &it->second);
  return true;
}

// Adds and removes files by their numbers. RepairPlanner checks whether they are consistent.
void Surveyor::ApplyToFamily(const VersionEdit& edit, SurveyedFamily* family) {
  if (edit.family.comparator.has_value()) {
    family->comparator = *edit.family.comparator;
    family->persist_timestamps = edit.family.persist_timestamps;
  }
  if (edit.family.merge_operator.has_value()) family->merge_operator = *edit.family.merge_operator;
  if (edit.family.full_history_ts_low.has_value())
    family->full_history_ts_low = *edit.family.full_history_ts_low;
  family->log_number = std::max(family->log_number, edit.log_number.value_or(0));
  for (const auto& [level, number] : edit.deleted_files) {
    family->files.erase(number);
    survey_->deleted_files.insert(number);
  }
  if (edit.family.added.has_value()) return;  // Such an edit never adds files.
  for (const NewFile& file : edit.new_files) {
    family->files[file.number] = file;
    survey_->deleted_files.erase(file.number);
  }
  for (const BlobFileFacts& file : edit.new_blob_files) family->blob_files[file.number] = file;
  for (const BlobGarbage& garbage : edit.blob_garbage) {
    BlobGarbage& sum = family->blob_garbage[garbage.number];
    sum.number = garbage.number;
    sum.count += garbage.count;
    sum.bytes += garbage.bytes;
  }
}

// LevelDB's edits have no sequence numbers; such files get the widest range, as in an opening.
void Surveyor::FinishFiles() {
  for (auto& [id, family] : survey_->families) {
    for (auto& [number, file] : family.files) {
      if (!file.seqs_known) file.largest_seq = survey_->last_sequence;
    }
  }
}

}  // namespace

// The survey is not whole if there is damage, a number that an opening needs is missing, or the
// synced mark has a longer size of this file or a later file.
Status SurveyManifest(FileSystem* fs, const std::string& db_name, uint64_t number,
                      ManifestSurvey* survey) {
  *survey = ManifestSurvey();
  survey->number = number;
  const std::string path = DescriptorFileName(db_name, number);
  Surveyor surveyor(survey);
  ManifestEnd end;
  VARVE_RETURN_IF_ERROR(ReadManifestRecords(
      fs, FileOptions(), path,
      [&](std::span<const VersionEdit> edits, uint64_t) { return surveyor.Take(edits); }, &end));
  survey->damage = std::move(end.damage);
  survey->end = end.offset;
  if (survey->damage.empty() && !surveyor.IsComplete()) {
    survey->damage = "an end before all that an opening needs";
  }
  // Only the mark shows that complete records are missing at the end.
  const wal::SyncedMark mark = wal::ReadSyncedMark(fs, db_name);
  const bool cut =
      mark.manifest == number ? mark.manifest_bytes > survey->end : mark.manifest > number;
  if (survey->damage.empty() && cut) {
    survey->damage = "its end is missing: " + DescriptorFileBaseName(mark.manifest) +
                     " was in force with " + std::to_string(mark.manifest_bytes) + " bytes";
  }
  survey->whole = survey->damage.empty();
  surveyor.FinishFiles();
  return Status::OK();
}

// If CURRENT cannot be used, every MANIFEST is tried, from the newest on, and the first one with a
// next file number is chosen, since one without was still being written.
Status FindManifest(FileSystem* fs, const std::string& db_name,
                    const std::vector<std::string>& entries, ManifestSurvey* survey) {
  uint64_t number = 0;
  Status current = ReadCurrent(fs, db_name, &number);
  if (current.ok()) return SurveyManifest(fs, db_name, number, survey);
  if (!current.IsCorruption() && !current.IsNotFound() && !current.IsPathNotFound()) return current;
  std::vector<uint64_t> numbers;
  for (const auto& [name, found, type] : FilesAmong(entries, kDescriptorFile)) {
    if (found <= kMaxFoundFileNumber) numbers.push_back(found);  // Others were never assigned.
  }
  // The newest MANIFEST has the latest state, unless it was still being written.
  std::sort(numbers.rbegin(), numbers.rend());
  for (uint64_t candidate : numbers) {
    VARVE_RETURN_IF_ERROR(SurveyManifest(fs, db_name, candidate, survey));
    survey->current_lost = true;
    if (survey->next_file_number == 0) continue;
    if (numbers.size() > 1) {
      // An older MANIFEST may be the right one.
      survey->whole = false;
      survey->damage += " (CURRENT is lost, and there are several MANIFESTs)";
    }
    return Status::OK();
  }
  *survey = ManifestSurvey();
  survey->families[0].name = kDefaultColumnFamilyName;
  survey->damage = "there is no MANIFEST that can be read";
  return Status::OK();
}

uint64_t OldestLogWanted(const ManifestSurvey& survey) {
  uint64_t oldest = UINT64_MAX;
  for (const auto& [id, family] : survey.families) oldest = std::min(oldest, family.log_number);
  return std::max(oldest == UINT64_MAX ? 0 : oldest, survey.min_log_number_to_keep);
}

}  // namespace varve
