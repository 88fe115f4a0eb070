// SPDX-License-Identifier: Apache-2.0

// Records are applied in order; the result is handed over at the end, so a MANIFEST that is refused
// halfway has changed nothing.
//
// Invariants
// 1. Only the end of a MANIFEST may be torn. Damage with whole records after it is Corruption, as a
//    state without some edit in the middle never existed.
// 2. An atomic group takes effect with its last record. A group without its end, at the end of the
//    MANIFEST, never happened.
// 3. Counters only rise: file numbers, the sequence number and log numbers of records that are
//    older cannot lower them.
// 4. A family that does not fit what the opener wants is an error only if it still exists at the
//    end (Family::refusal): later records may drop it, and give its name to another.
// 5. Families that the opener did not name are followed, as their logs and numbers count, but no
//    tree is built for them.

#include "db/version/manifest_replay.h"

#include <algorithm>
#include <utility>

#include "varve/column_family.h"
#include "varve/comparator.h"

#include "db/wal/log_reader.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

constexpr uint64_t kMaxCurrentBytes = 4096;

std::string ManifestsIn(FileSystem* fs, const std::string& db_name) {
  std::vector<std::string> names;
  if (!fs->GetChildren(db_name, IOOptions(), &names, nullptr).ok()) return "";
  std::string list;
  std::sort(names.begin(), names.end());
  for (const auto& [name, number, type] : FilesAmong(names, kDescriptorFile)) {
    list.append(" " + name);
  }
  return "; MANIFESTs here:" + (list.empty() ? " none" : list);
}

}  // namespace

// Also checks that the MANIFEST exists, as its own absence would be reported without saying who
// named it.
Status ReadCurrent(FileSystem* fs, const std::string& db_name, uint64_t* manifest_number) {
  const std::string path = CurrentFileName(db_name);
  std::string text;
  VARVE_RETURN_IF_ERROR(ReadFileToString(fs, path, kMaxCurrentBytes, &text));
  FileType type = kTempFile;
  // A name without its newline may have lost its end.
  const bool has_newline = !text.empty() && text.back() == '\n';
  if (has_newline) text.pop_back();
  if (!has_newline || !ParseFileName(text, manifest_number, &type) || type != kDescriptorFile) {
    return Status::Corruption(
        path, "does not hold the name of a MANIFEST and a newline" + ManifestsIn(fs, db_name));
  }
  IOStatus exists =
      fs->FileExists(DescriptorFileName(db_name, *manifest_number), IOOptions(), nullptr);
  if (IsMissing(exists)) {
    return Status::Corruption(
        path, "names " + text + ", which does not exist" + ManifestsIn(fs, db_name));
  }
  return exists;
}

ManifestReplay::ManifestReplay(std::string path, const std::vector<FamilyToOpen>* wanted,
                               std::shared_ptr<ObsoleteFileQueue> queue)
    : path_(std::move(path)), wanted_(wanted), queue_(std::move(queue)) {}

Status ManifestReplay::Bad(const std::string& what) const {
  return Status::Corruption(path_,
                            what + " (record at offset " + std::to_string(record_offset_) + ")");
}

Status ManifestReplay::Begin() {
  VARVE_ASSERT(families_.empty());
  return AddFamily(0, kDefaultColumnFamilyName);
}

Status ManifestReplay::Take(const Slice& record, uint64_t offset) {
  record_offset_ = offset;
  VersionEdit edit;
  const Status s = edit.DecodeFrom(record);
  return s.ok() ? TakeRecord(std::move(edit)) : Bad(s.ToString());
}

// Takes all records up to the end of the file, or of the point (GoBackTo). Only then it judges
// damage: a torn tail is what a crash leaves, and is cut off silently; anything else is Corruption
// (invariant 1). With a point the rest of the file does not matter.
Status ManifestReplay::Read(FileSystem* fs, const FileOptions& file_options) {
  VARVE_RETURN_IF_ERROR(Begin());
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(
      SequentialFileReader::Open(fs, path_, fs->OptimizeForManifestRead(file_options), &file));
  wal::LogReader reader(std::move(file), /*log_number=*/0, path_, nullptr);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kTolerateCorruptedTailRecords)) {
    if (point_ != nullptr && reader.LastRecordOffset() >= point_->end) break;
    VARVE_RETURN_IF_ERROR(Take(record, reader.LastRecordOffset()));
  }
  end_ = reader.LastRecordEnd();
  VARVE_RETURN_IF_ERROR(reader.io_status());
  if (point_ != nullptr) return Status::OK();
  const wal::LogDamage& damage = reader.damage();
  // A crash can leave zeros, or a record without some of its sectors, at the end. No writer of a
  // MANIFEST leaves zeros before a whole record.
  if (damage.hole && !damage.torn_tail)
    return Status::Corruption(path_, "has zeros before its last record");
  if (damage.first_bad_offset != UINT64_MAX && !damage.torn_tail) {
    return Status::Corruption(
        path_, damage.reason + " at offset " + std::to_string(damage.first_bad_offset));
  }
  return Status::OK();
}

Status ManifestReplay::CheckComplete() const {
  if (!next_file_number_.has_value()) return Status::Corruption(path_, "no next_file_number entry");
  if (!log_number_.has_value()) return Status::Corruption(path_, "no log_file_number entry");
  if (!last_sequence_.has_value()) return Status::Corruption(path_, "no last_sequence entry");
  for (const auto& [id, family] : families_) VARVE_RETURN_IF_ERROR(family.refusal);
  return Status::OK();
}

// Handles atomic groups. A record of a group stores how many records are still to come; the group
// takes effect only with the last.
Status ManifestReplay::TakeRecord(VersionEdit edit) {
  if (!edit.atomic_group_remaining.has_value()) {
    if (!group_.empty()) return Bad("a record interrupts an atomic group");
    return Apply(edit);
  }
  const uint32_t remaining = *edit.atomic_group_remaining;
  // A record of the group is missing or repeated.
  if (!group_.empty() && uint64_t{remaining} + 1 != *group_.back().atomic_group_remaining) {
    return Bad("an atomic group is counted wrongly");
  }
  group_.push_back(std::move(edit));
  if (remaining > 0) return Status::OK();
  VARVE_ASSERT(!group_.empty());
  // Nothing of the group was applied before: if its end is missing, none of it has happened.
  for (const VersionEdit& member : group_) VARVE_RETURN_IF_ERROR(Apply(member));
  group_.clear();
  return Status::OK();
}

Status ManifestReplay::NoteNumber(uint64_t number) {
  if (number > kMaxFileNumber)
    return Bad("file number " + std::to_string(number) + " is too large");
  largest_number_ = std::max(largest_number_, number);
  return Status::OK();
}

// Takes over what an edit says of the whole database. Numbers only rise (invariant 3); the id and
// the time of lifetimes are replaced; lists grow, and positions replace those of the same name.
Status ManifestReplay::ApplyGlobals(const VersionEdit& edit) {
  if (edit.db_id.has_value()) db_id_ = edit.db_id;
  if (edit.log_number.has_value()) log_number_ = edit.log_number;
  if (edit.numbers.next_file.has_value()) {
    // The number itself is unused, but the numbers before it may be in use.
    if (*edit.numbers.next_file > 0) {
      VARVE_RETURN_IF_ERROR(NoteNumber(*edit.numbers.next_file - 1));
    }
    next_file_number_ = std::max(next_file_number(), *edit.numbers.next_file);
  }
  if (edit.numbers.last_sequence.has_value()) {
    last_sequence_ = std::max(last_sequence(), *edit.numbers.last_sequence);
  }
  min_log_number_to_keep_ =
      std::max(min_log_number_to_keep_, edit.numbers.min_log_to_keep.value_or(0));
  max_family_id_ = std::max(max_family_id_, edit.numbers.max_column_family.value_or(0));
  for (uint64_t log : {edit.log_number.value_or(0), edit.numbers.min_log_to_keep.value_or(0)}) {
    VARVE_RETURN_IF_ERROR(NoteNumber(log));
  }
  for (const NewFile& file : edit.new_files) VARVE_RETURN_IF_ERROR(NoteNumber(file.number));
  for (const BlobFileFacts& file : edit.new_blob_files) {
    VARVE_RETURN_IF_ERROR(NoteNumber(file.number));
  }
  for (uint64_t number : edit.gone_tables) {
    // Numbers of files that are gone from disk, too, are of no use, and would pile up.
    if (IsPresent(number)) gone_tables_.insert(number);
  }
  unread_logs_.insert(unread_logs_.end(), edit.unread_logs.begin(), edit.unread_logs.end());
  ttl_clock_ = edit.ttl_clock.value_or(ttl_clock_);
  for (const ChangePosition& position : edit.change_positions) {
    if (position.dropped) {
      change_positions_.erase(position.name);
    } else {
      change_positions_[position.name] = position;
    }
  }
  return Status::OK();
}

// Keeps the account of those files that exist on disk (TellGoneAmong): they belong to the family,
// or are gone. Deletions come first, because a file that one edit deletes and adds is only moved.
void ManifestReplay::NoteTables(const VersionEdit& edit, Family* family) {
  for (const auto& [level, number] : edit.deleted_files) {
    if (!IsPresent(number)) continue;
    family->tables.erase(number);
    gone_tables_.insert(number);
  }
  for (const NewFile& file : edit.new_files) {
    if (!IsPresent(file.number)) continue;
    family->tables.insert(file.number);
    gone_tables_.erase(file.number);
  }
  for (const BlobFileFacts& file : edit.new_blob_files) {
    if (IsPresent(file.number)) family->tables.insert(file.number);
  }
}

// Tables that a point (GoBackTo) leaves out may refer to a blob file that no table here refers to.
// It is unexplained then, as those tables are, and moves to lost/ instead of being deleted
// (ObsoleteFiles::SweepAtOpen).
void ManifestReplay::NoteUnreferenced(const VersionBuilder& built) {
  if (point_ != nullptr) return;
  for (const FileRef& file : built.blobs().rejected()) {
    if (IsPresent(file->number)) gone_tables_.insert(file->number);
  }
}

// A family that the opener named gets its comparator, its paths and a builder for its tree. In a
// replay that continues an earlier one it keeps the earlier comparator object, because versions
// that readers still have point to it.
Status ManifestReplay::AddFamily(uint32_t id, const std::string& name) {
  if (families_.count(id) > 0) {
    return Bad("column family " + std::to_string(id) + " is added twice");
  }
  if (!names_.insert(name).second) return Bad("column family \"" + name + "\" is added twice");
  const auto named =
      std::find_if(wanted_->begin(), wanted_->end(),
                   [&name](const FamilyToOpen& family) { return family.name == name; });
  const bool opened = named != wanted_->end();
  auto versions = std::make_shared<FamilyVersions>();
  versions->id = id;
  versions->name = name;
  versions->opened = opened;
  // A family that is not opened builds no tree, so any comparator serves.
  const Comparator* const comparator = opened ? named->comparator : BytewiseComparator();
  versions->comparator_name = comparator->Name();
  const auto before = before_.find(id);
  versions->icmp = before != before_.end() ? before->second->icmp
                                           : std::make_shared<InternalKeyComparator>(comparator);
  if (opened) {
    versions->num_levels = named->num_levels;
    versions->reserves_last_level = named->reserves_last_level;
    versions->persist_timestamps = named->persist_timestamps;
    versions->file_charge = named->file_charge;
    versions->paths = named->paths;
    if (versions->paths == nullptr) {
      versions->paths = std::make_shared<const TablePaths>(path_.substr(0, path_.rfind('/')));
    }
  }
  Family& family = families_[id];
  family.context = path_ + ": column family " + name;
  if (opened) {
    family.builder = std::make_unique<VersionBuilder>(versions->icmp.get(), versions->num_levels,
                                                      nullptr, queue_, &family.context);
    family.builder->ChargeFilesTo(versions->file_charge);
    family.builder->PlaceFilesIn(versions->paths);
    family.builder->ReserveLastLevel(versions->reserves_last_level);
    family.builder->ReuseFiles(&reused_);
  }
  family.versions = std::move(versions);
  max_family_id_ = std::max(max_family_id_, id);
  VARVE_ASSERT(names_.size() == families_.size());
  return Status::OK();
}

// Applies first what concerns the database, then the family's creation or end, then its own
// changes. A record of a family that does not exist is damage, as is a second family of a name.
Status ManifestReplay::Apply(const VersionEdit& edit) {
  VARVE_RETURN_IF_ERROR(ApplyGlobals(edit));
  if (edit.family.added.has_value()) {
    if (edit.column_family == UINT32_MAX) return Bad("column family id is too large");
    VARVE_RETURN_IF_ERROR(AddFamily(edit.column_family, *edit.family.added));
  }
  const auto it = families_.find(edit.column_family);
  if (it == families_.end()) {
    return Bad("column family " + std::to_string(edit.column_family) + " does not exist");
  }
  if (edit.family.dropped) {
    if (edit.column_family == 0) return Bad("the default column family is dropped");
    // The name is free again: a later record may add a family of that name, with another id.
    names_.erase(it->second.versions->name);
    gone_tables_.merge(it->second.tables);
    families_.erase(it);
    return Status::OK();
  }
  Family& family = it->second;
  if (point_ != nullptr) return ApplyUpToPoint(edit, &family);
  return ApplyUnlessRefused(edit, &family);
}

// With GoBackTo, changes of files after the point, and the files that it leaves out, are not
// applied; numbers of logs and the like are.
Status ManifestReplay::ApplyUpToPoint(VersionEdit edit, Family* family) {
  if (!point_->Reaches(edit.column_family, record_offset_)) {
    edit.deleted_files.clear();
    edit.new_files.clear();
    edit.compact_cursors.clear();
    edit.new_blob_files.clear();
    edit.blob_garbage.clear();
  }
  std::erase_if(edit.new_files,
                [this](const NewFile& file) { return point_->absent.contains(file.number); });
  return ApplyUnlessRefused(edit, family);
}

// A family that does not fit what the opener wants is remembered as refused, and its further edits
// are ignored; whether that fails the opening is known only at the end (invariant 4).
Status ManifestReplay::ApplyUnlessRefused(const VersionEdit& edit, Family* family) {
  // The files of a record that adds a family do not count (ApplyToFamily).
  if (!edit.family.added.has_value()) NoteTables(edit, family);
  if (!family->refusal.ok()) return Status::OK();
  Status s = ApplyToFamily(edit, family);
  if (VARVE_CANARY(kRefusePassedName)) return s;
  // These two say that the opener's options do not fit; every other error is damage.
  if (!s.IsInvalidArgument() && !s.IsNotSupported()) return s;
  family->refusal = std::move(s);
  return Status::OK();
}

// Takes the value over. It has no meaning for a family whose timestamps were switched off. Other
// threads do not have the family yet.
Status ManifestReplay::TakeFullHistoryTsLow(const std::string& low, const Family& family) const
    VARVE_NO_THREAD_SAFETY_ANALYSIS {
  const size_t size = family.versions->icmp->timestamp_size();
  if (size == 0) return Status::OK();
  if (low.size() != size) {
    return Status::InvalidArgument(family.context, "has timestamps of " + std::to_string(size) +
                                                       " bytes, but a full_history_ts_low of " +
                                                       std::to_string(low.size()));
  }
  family.versions->RaiseFullHistoryTsLow(low);
  return Status::OK();
}

// A family that is not opened (FamilyVersions::opened) has no tree, so the files of its records are
// passed over. If timestamps were switched on or off since the record was written, its files are
// adapted to the comparator of this opening.
//
// Needs no lock, as other threads do not have the family yet.
Status ManifestReplay::ApplyToFamily(const VersionEdit& edit,
                                     Family* family) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  FamilyVersions& versions = *family->versions;
  if (edit.family.comparator.has_value() && !versions.opened)
    versions.comparator_name = *edit.family.comparator;
  if (edit.family.comparator.has_value() && versions.opened) {
    VARVE_RETURN_IF_ERROR(CheckComparatorChange(
        family->context, {*edit.family.comparator, edit.family.persist_timestamps.value_or(true)},
        *versions.icmp->user_comparator(), versions.persist_timestamps, &family->timestamps));
  }
  versions.log_number = std::max(versions.log_number, edit.log_number.value_or(0));
  if (edit.family.full_history_ts_low.has_value() && versions.opened) {
    VARVE_RETURN_IF_ERROR(TakeFullHistoryTsLow(*edit.family.full_history_ts_low, *family));
  }
  if (edit.family.merge_operator.has_value()) versions.merge_operator = *edit.family.merge_operator;
  // Files in a record that adds a family are not part of it, by a rule as old as families.
  if (family->builder == nullptr || edit.family.added.has_value()) return Status::OK();
  if (versions.icmp->timestamp_size() == 0 && family->timestamps == TimestampSwitch::kSame) {
    const Status s = family->builder->Apply(edit);
    return s.ok() ? s : Bad(s.ToString());
  }
  VersionEdit adapted = edit;
  Status s = AdaptFiles(family->timestamps, *versions.icmp, &adapted);
  if (s.IsInvalidArgument()) return Status::InvalidArgument(family->context, s.ToString());
  if (s.ok()) s = family->builder->Apply(adapted);
  return s.ok() ? s : Bad(s.ToString());
}

}  // namespace varve
