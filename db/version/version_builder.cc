// SPDX-License-Identifier: Apache-2.0

// An edit names files by number and level. A file that moves is deleted from one level and added to
// another in one edit, or in two; a file that an earlier edit of the same batch added and a later
// one deletes has never been in a version at all. So additions are kept by number, and deletions of
// the base's files apart from these, until Build brings them together:
//
//                                  in added_                      not in added_
//     base has it, deleted         moved: keeps the base's object    removed
//     base has it, not deleted     an impossible edit                stays
//     base does not have it        new                               -
//
// Invariants
// 1. A version has a number once, in one level. Whatever contradicts that is Corruption: an edit
//    that deletes what is not there, or adds what is.
// 2. Files of a level >= 1 are disjoint and sorted by internal key; the largest key of one may have
//    the user key of the smallest of the next. L0 is sorted by age (LevelFiles).
// 3. A file that stays or moves keeps its FileMetaData, and with it the open reader and notes.

#include "db/version/version_builder.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

std::string Describe(const FileMetaData& file, int level) {
  return "table " + std::to_string(file.number) + " (L" + std::to_string(level) + ")";
}

// Returns the heap bytes of a string; short ones are stored in the object itself.
size_t HeapBytes(const std::string& text) {
  constexpr size_t kInPlace = 15;
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}

}  // namespace

size_t MemoryUsage(const FileMetaData& file) {
  return sizeof(file) + file.smallest.Encode().size() + file.largest.Encode().size() +
         HeapBytes(file.unique_id) + HeapBytes(file.checksum.value) +
         HeapBytes(file.checksum.function) + file.blob_shares.capacity() * sizeof(BlobShare);
}

std::unique_ptr<FileMetaData> MakeFileMetaData(const NewFile& file) {
  auto meta = std::make_unique<FileMetaData>();
  static_cast<TableFacts&>(*meta) = file;
  meta->SetCounts(file.counts);
  meta->notes.marked_for_compaction = file.marked_for_compaction;
  return meta;
}

NewFile DescribeFile(const FileMetaData& file, int level) {
  NewFile out;
  static_cast<TableFacts&>(out) = file;
  out.level = level;
  out.marked_for_compaction = file.notes.marked_for_compaction;
  out.counts = file.counts();
  return out;
}

VersionBuilder::VersionBuilder(const InternalKeyComparator* icmp, int num_levels,
                               const Version* base, std::shared_ptr<ObsoleteFileQueue> queue,
                               const std::string* context)
    : icmp_(icmp),
      num_levels_(num_levels),
      base_(base),
      queue_(std::move(queue)),
      context_(context),
      blobs_(base != nullptr ? &base->blob_files() : nullptr, context) {}

Status VersionBuilder::Bad(const std::string& what) const {
  return Status::Corruption(*context_, what);
}

Status VersionBuilder::Apply(const VersionEdit& edit) {
  VARVE_RETURN_IF_ERROR(blobs_.Apply(edit, queue_, paths_));
  for (const auto& [level, number] : edit.deleted_files) {
    VARVE_RETURN_IF_ERROR(ApplyDeletion(level, number));
  }
  for (const NewFile& file : edit.new_files) VARVE_RETURN_IF_ERROR(ApplyAddition(file));
  return Status::OK();
}

// A table that was added by an earlier edit is simply taken out again. One of the base is only
// noted here; whether the base has it there is checked when the new version is built.
Status VersionBuilder::ApplyDeletion(int level, uint64_t number) {
  const std::string name = "table " + std::to_string(number);
  auto it = added_.find(number);
  if (it != added_.end()) {
    if (it->second.level != level) {
      return Bad(name + " is deleted from L" + std::to_string(level) + " but is in L" +
                 std::to_string(it->second.level));
    }
    added_.erase(it);
    return Status::OK();
  }
  // The walk over base will show if base has it there.
  const bool may_be_in_base = base_ != nullptr && base_->non_empty_levels() > 0;
  if (!may_be_in_base || !deleted_from_base_.emplace(number, level).second) {
    return Bad(name + " is deleted from L" + std::to_string(level) + " but is not there");
  }
  return Status::OK();
}

FileRef VersionBuilder::FindReused(const NewFile& file) const {
  if (reused_ == nullptr) return nullptr;
  const auto found = reused_->find(file.number);
  if (found == reused_->end()) return nullptr;
  const FileMetaData& same = *found->second;
  // Without known sequence numbers FinishRecovery would change the object, which readers may have.
  const bool is_same = same.size == file.size && same.path_id == file.path_id &&
                       same.smallest == file.smallest && same.largest == file.largest &&
                       same.largest_seq == file.largest_seq &&
                       same.epoch_number == file.epoch_number && file.seqs_known;
  return is_same ? found->second : nullptr;
}

// A table that another version has already is shared with it, so that its file is deleted when the
// last version goes. After an error the builder is not to be used.
Status VersionBuilder::ApplyAddition(const NewFile& file) {
  const std::string name = "table " + std::to_string(file.number);
  if (file.smallest_seq > file.largest_seq) {
    return Bad(name + " has a smallest sequence above its largest");
  }
  // A table of one entry must not call the user's comparator.
  const Slice smallest = file.smallest.Encode();
  const Slice largest = file.largest.Encode();
  if (smallest != largest && icmp_->Compare(smallest, largest) > 0) {
    return Bad(name + " has a smallest key after its largest");
  }
  Added added{file.level, file.seqs_known, nullptr};
  added.file = FindReused(file);
  if (added.file == nullptr) {
    std::unique_ptr<FileMetaData> meta = MakeFileMetaData(file);
    meta->paths = paths_;
    added.file = ObsoleteFileQueue::Track(queue_, std::move(meta));
  }
  const auto [it, fresh] = added_.emplace(file.number, std::move(added));
  if (!fresh) {
    return Bad(name + " is added to L" + std::to_string(file.level) + " but is in L" +
               std::to_string(it->second.level) + " already");
  }
  return Status::OK();
}

// Fills in what MANIFESTs of LevelDB and of old versions of RocksDB lack. An epoch orders L0, so if
// one is missing all are given anew: older files get smaller ones, deeper levels being older.
void VersionBuilder::FinishRecovery(SequenceNumber last_sequence, uint64_t* next_epoch) {
  VARVE_ASSERT(base_ == nullptr && deleted_from_base_.empty());
  bool epochs_known = true;
  uint64_t largest_epoch = 0;
  std::vector<Added*> files;
  for (auto& [number, added] : added_) {
    if (!added.seqs_known) {
      added.file->largest_seq = last_sequence;
      made_up_ = true;
    }
    epochs_known &= added.file->epoch_number != kUnknownEpochNumber;
    largest_epoch = std::max(largest_epoch, added.file->epoch_number);
    files.push_back(&added);
  }
  if (epochs_known) {
    *next_epoch = largest_epoch + 1;
    return;
  }
  made_up_ = true;
  // Sorts oldest first: the deepest level, whose files share one epoch, up to L0, where each file
  // has its own.
  std::sort(files.begin(), files.end(), [](const Added* a, const Added* b) {
    const FileMetaData& x = *a->file;
    const FileMetaData& y = *b->file;
    return std::tie(b->level, x.largest_seq, x.smallest_seq, x.number) <
           std::tie(a->level, y.largest_seq, y.smallest_seq, y.number);
  });
  uint64_t epoch = 0;
  int level = -1;
  for (Added* added : files) {
    if (added->level != level || level == 0) epoch++;
    level = added->level;
    added->file->epoch_number = epoch;
  }
  VARVE_ASSERT(files.empty() || epoch > 0);
  *next_epoch = epoch + 1;
}

// Decides about each file of base by the table at the head of this file. A moved file's object
// replaces the one that ApplyAddition made. At last, deletions that met no file of base are
// reported.
Status VersionBuilder::TakeBase(std::vector<std::vector<FileRef>>* levels,
                                std::vector<FileRef>* removed) {
  if (base_ == nullptr) return Status::OK();
  size_t deletions_left = deleted_from_base_.size();
  for (int level = 0; level < base_->num_levels(); level++) {
    for (const FileRef& file : base_->level(level).files()) {
      const auto deleted = deleted_from_base_.find(file->number);
      const auto added = added_.find(file->number);
      if (deleted == deleted_from_base_.end()) {
        if (added != added_.end()) {
          return Bad(Describe(*file, level) + " is added to L" +
                     std::to_string(added->second.level) + " but is in the tree already");
        }
        (*levels)[static_cast<size_t>(level)].push_back(file);
        continue;
      }
      if (deleted->second != level) {
        return Bad(Describe(*file, level) + " is deleted from L" + std::to_string(deleted->second));
      }
      deletions_left--;
      if (added == added_.end()) {
        removed->push_back(file);
        continue;
      }
      const FileMetaData& again = *added->second.file;
      if (again.size != file->size || !(again.smallest == file->smallest) ||
          !(again.largest == file->largest)) {
        return Bad(Describe(*file, level) + " is moved, but with another size or other bounds");
      }
      VARVE_ASSERT(added->second.file->number == file->number);
      added->second.file = file;
    }
  }
  if (deletions_left == 0) return Status::OK();
  for (const auto& [number, level] : deleted_from_base_) {
    if (base_->FindByNumber(number, nullptr) == nullptr) {
      return Bad("table " + std::to_string(number) + " is deleted from L" + std::to_string(level) +
                 " but is not there");
    }
  }
  return Bad("a table is deleted twice");
}

size_t VersionBuilder::MostLevels() const {
  if (base_ != nullptr) return static_cast<size_t>(std::max(num_levels_, base_->num_levels()));
  return static_cast<size_t>(reserves_last_level_ ? num_levels_
                                                  : std::max(num_levels_, kMostLevels));
}

Status VersionBuilder::CheckPlace(const Added& added, size_t levels) const {
  if (static_cast<size_t>(added.level) >= levels) {
    return Status::InvalidArgument(*context_, Describe(*added.file, added.level) +
                                                  " lies deeper than num_levels, which is " +
                                                  std::to_string(num_levels_) + ", allows");
  }
  if (paths_ != nullptr && added.file->path_id >= paths_->size()) {
    return Status::InvalidArgument(
        *context_, Describe(*added.file, added.level) + " lies in path " +
                       std::to_string(added.file->path_id) + " of db_paths or cf_paths, and " +
                       std::to_string(paths_->size()) + " of them are given");
  }
  return Status::OK();
}

Status VersionBuilder::ChargeFile(FileMetaData* file) const {
  // A file that is moved has its charge already.
  if (charge_ == nullptr || file->charged.bytes() != 0) return Status::OK();
  file->charged = ChargedBytes(charge_);
  const Status s = file->charged.TrySet(MemoryUsage(*file));
  if (s.ok()) return s;
  return Status::CopyAppendMessage(s, ": ", *context_ + ", table " + std::to_string(file->number));
}

// Sorts the files of a level below L0, and returns Corruption if two of them overlap.
Status VersionBuilder::CheckLevel(int level, std::vector<FileRef>* files) const {
  if (level == 0) return Status::OK();
  std::sort(files->begin(), files->end(), [this](const FileRef& a, const FileRef& b) {
    return icmp_->Compare(a->smallest.Encode(), b->smallest.Encode()) < 0;
  });
  for (size_t i = 1; i < files->size(); i++) {
    const FileMetaData& left = *(*files)[i - 1];
    const FileMetaData& right = *(*files)[i];
    if (icmp_->Compare(left.largest.Encode(), right.smallest.Encode()) >= 0) {
      return Bad(Describe(left, level) + " and " + Describe(right, level) + " overlap");
    }
  }
  return Status::OK();
}

// Puts base's files and the added ones into levels, drops empty levels beneath num_levels, checks
// each level, and then decides which blob files these tables need.
Status VersionBuilder::Build(uint64_t version_number, VersionRef* version,
                             std::vector<FileRef>* removed) {
  removed->clear();
  std::vector<std::vector<FileRef>> levels(MostLevels());
  VARVE_RETURN_IF_ERROR(TakeBase(&levels, removed));
  for (const auto& [number, added] : added_) {
    VARVE_RETURN_IF_ERROR(CheckPlace(added, levels.size()));
    VARVE_RETURN_IF_ERROR(ChargeFile(added.file.get()));
    levels[static_cast<size_t>(added.level)].push_back(added.file);
  }
  const auto own = static_cast<size_t>(num_levels_);
  while (levels.size() > own && levels.back().empty()) levels.pop_back();
  for (size_t level = 0; level < levels.size(); level++) {
    VARVE_RETURN_IF_ERROR(CheckLevel(static_cast<int>(level), &levels[level]));
  }
  VARVE_ASSERT(levels.size() >= own);
  const int surplus = static_cast<int>(levels.size() - own);
  BlobFiles blob_files;
  VARVE_RETURN_IF_ERROR(blobs_.Build(levels, &blob_files));
  removed->insert(removed->end(), blobs_.removed().begin(), blobs_.removed().end());
  *version = std::make_shared<const Version>(icmp_, version_number, std::move(levels),
                                             reserves_last_level_, surplus, std::move(blob_files));
  return Status::OK();
}

std::vector<FileRef> VersionBuilder::NewFiles() const {
  std::vector<FileRef> files;
  for (const auto& [number, added] : added_) {
    if (!deleted_from_base_.contains(number)) files.push_back(added.file);
  }
  return files;
}

}  // namespace varve
