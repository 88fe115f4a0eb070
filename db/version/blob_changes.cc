// SPDX-License-Identifier: Apache-2.0

// Decides which blob files a version has. Edits add files and garbage; what references are left is
// counted from the tables of the version (Collect). A file stays while a table refers to it, or may
// refer to it because its shares are not known. Otherwise it goes, and what no edit has counted of
// it is reported as uncounted, for the record that makes the sums whole.

#include "db/version/blob_changes.h"

#include <algorithm>
#include <utility>

#include "util/base/canary.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

uint64_t SaturatingSum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace

Status BlobChanges::Bad(uint64_t number, const std::string& what) const {
  return Status::Corruption(*context_, "blob file " + std::to_string(number) + " " + what);
}

Status BlobChanges::Apply(const VersionEdit& edit, const std::shared_ptr<ObsoleteFileQueue>& queue,
                          const TablePathsRef& paths) {
  for (const BlobFileFacts& file : edit.new_blob_files) {
    VARVE_RETURN_IF_ERROR(Add(file, queue, paths));
  }
  for (const BlobGarbage& garbage : edit.blob_garbage) VARVE_RETURN_IF_ERROR(AddGarbage(garbage));
  return Status::OK();
}

// A file that an older state had already is taken from there, so that all states share one object
// and the file is deleted when the last of them goes.
Status BlobChanges::Add(const BlobFileFacts& file, const std::shared_ptr<ObsoleteFileQueue>& queue,
                        const TablePathsRef& paths) {
  if (file.number == 0) return Bad(file.number, "is added, and no file has that number");
  if (changes_.contains(file.number) || (base_ != nullptr && base_->Find(file.number) != nullptr)) {
    return Bad(file.number, "is added but is there already");
  }
  if (reused_ != nullptr) {
    const auto reused = reused_->find(file.number);
    if (reused != reused_->end() && reused->second->facts() == file) {
      changes_[file.number].added = reused->second;
      return Status::OK();
    }
  }
  auto meta = std::make_unique<FileMetaData>();
  meta->kind = DataFileKind::kBlobs;
  meta->number = file.number;
  meta->size = file.FileSize();
  meta->paths = paths;
  meta->checksum = {file.checksum.value, file.checksum.function};
  changes_[file.number].added =
      std::make_shared<const BlobFile>(file, ObsoleteFileQueue::Track(queue, std::move(meta)));
  return Status::OK();
}

// Adds to the sums of a file, which begin with those of base. Sums never exceed the file: for edits
// of this process they are cut to what the file has, and in a MANIFEST larger ones are damage.
Status BlobChanges::AddGarbage(BlobGarbage garbage) {
  auto change = changes_.find(garbage.number);
  const BlobFileState* const before = base_ != nullptr ? base_->Find(garbage.number) : nullptr;
  if (change == changes_.end()) {
    if (before == nullptr) {
      return is_own() ? Status::OK() : Bad(garbage.number, "has garbage but is not there");
    }
    change = changes_.emplace(garbage.number, Change()).first;
    change->second.garbage_count = before->garbage_count;
    change->second.garbage_bytes = before->garbage_bytes;
  }
  Change& sum = change->second;
  // A change that adds no file is of one that base has, so `before` is not null there.
  const BlobFileFacts& facts = sum.added != nullptr ? sum.added->facts() : before->blobs->facts();
  const uint64_t count_left = facts.count - sum.garbage_count;
  const uint64_t bytes_left = facts.bytes - sum.garbage_bytes;
  if (is_own()) {
    garbage.count = std::min(garbage.count, count_left);
    garbage.bytes = std::min(garbage.bytes, bytes_left);
  }
  if (garbage.count > count_left || garbage.bytes > bytes_left) {
    return Bad(garbage.number, "has more garbage than values: " + std::to_string(garbage.count) +
                                   " values of " + std::to_string(garbage.bytes) + " bytes");
  }
  sum.garbage_count += garbage.count;
  sum.garbage_bytes += garbage.bytes;
  return Status::OK();
}

// Collects which blob files the tables refer to: the oldest one of each table, and how many values
// of which files it refers to, where the table says so.
BlobChanges::References BlobChanges::Collect(const std::vector<std::vector<FileRef>>& levels) {
  References references;
  for (const std::vector<FileRef>& files : levels) {
    for (const FileRef& table : files) {
      if (table->oldest_blob_file_number == 0) continue;
      references.linked[table->oldest_blob_file_number]++;
      if (table->blob_shares.empty()) {
        references.oldest_unknown =
            std::min(references.oldest_unknown, table->oldest_blob_file_number);
      }
      for (const BlobShare& share : table->blob_shares) {
        BlobShare& sum = references.shared[share.file];
        sum.count = SaturatingSum(sum.count, share.count);
        sum.bytes = SaturatingSum(sum.bytes, share.bytes);
      }
    }
  }
  return references;
}

// True if a table refers to the file, or may: tables with unknown references may refer to any file
// from oldest_unknown on that is not all garbage.
bool BlobChanges::References::Keep(const BlobFileState& file) const {
  if (file.linked_tables != 0) return true;
  if (shared.contains(file.number()) && !VARVE_CANARY(kBlobGarbageEarly)) return true;
  return file.number() >= oldest_unknown && file.garbage_count < file.count();
}

// Leaves room for known references, and for at least one value. A value takes no less than the
// header of its record.
void BlobChanges::References::Limit(BlobFileState* file) const {
  const auto found = shared.find(file->number());
  const BlobShare known = found == shared.end() ? BlobShare() : found->second;
  const uint64_t count = std::max<uint64_t>(known.count, 1);
  const uint64_t bytes = std::max<uint64_t>(known.bytes, BlobRecordHeader::kBytes);
  file->garbage_count =
      std::min(file->garbage_count, file->count() - std::min(file->count(), count));
  file->garbage_bytes =
      std::min(file->garbage_bytes, file->bytes() - std::min(file->bytes(), bytes));
}

// Makes Counted return the sums that were lowered.
void BlobChanges::KeepSums(const BlobFileState& file) {
  const auto change = changes_.find(file.number());
  if (change == changes_.end()) return;
  change->second.garbage_count = file.garbage_count;
  change->second.garbage_bytes = file.garbage_bytes;
}

// A file that no table refers to and that is nothing but garbage has no future. Another one may
// still get the record that counts the rest of it, but nobody reads it: its reader is closed.
void BlobChanges::ForgetDead() {
  for (const FileRef& file : rejected_) {
    const auto change = changes_.find(file->number);
    if (change == changes_.end()) continue;
    const BlobFileFacts& facts = change->second.added->facts();
    if (change->second.garbage_count == facts.count) {
      changes_.erase(change);
    } else if (change->second.added->reader() != nullptr) {
      change->second.added = std::make_shared<const BlobFile>(facts, file);
    }
  }
}

// Decides about one file: it is chosen, or goes to removed_ or rejected_ with what is left of it in
// uncounted_. For edits of this process the garbage of a chosen file is limited before KeepSums
// takes it, because Counted gives the MANIFEST what KeepSums took: so both have the same sums.
Status BlobChanges::Choose(BlobFileState file, bool from_base, References* references,
                           std::vector<BlobFileState>* chosen) {
  const auto linked = references->linked.find(file.number());
  file.linked_tables = linked == references->linked.end() ? 0 : linked->second;
  if (references->Keep(file)) {
    if (is_own()) {
      // The sums of base stay at least, as a MANIFEST can only add to them.
      const BlobFileState* const before = from_base ? base_->Find(file.number()) : nullptr;
      references->Limit(&file);
      if (before != nullptr) {
        file.garbage_count = std::max(file.garbage_count, before->garbage_count);
        file.garbage_bytes = std::max(file.garbage_bytes, before->garbage_bytes);
      }
      KeepSums(file);
    } else if (file.garbage_count == file.count()) {
      return Bad(file.number(), "is nothing but garbage, and a table refers to it");
    }
    chosen->push_back(std::move(file));
    return Status::OK();
  }
  (from_base ? removed_ : rejected_).push_back(file.blobs->file());
  if (file.garbage_count < file.count()) {
    uncounted_.push_back(
        {file.number(), file.count() - file.garbage_count, file.bytes() - file.garbage_bytes});
  }
  return Status::OK();
}

// Brings the files of base and the changes together by number, and decides about each.
Status BlobChanges::Build(const std::vector<std::vector<FileRef>>& levels, BlobFiles* files) {
  removed_.clear();
  rejected_.clear();
  uncounted_.clear();
  if (changes_.empty() && (base_ == nullptr || base_->empty())) return Status::OK();
  References references = Collect(levels);
  std::vector<BlobFileState> chosen;
  // Pairs of a file and whether base has it. A map, as BlobFiles must ascend, and new files need
  // not have larger numbers than those of base in a tree that is put together anew.
  std::map<uint64_t, std::pair<BlobFileState, bool>> all;
  if (base_ != nullptr) {
    for (const BlobFileState& file : *base_) all.emplace(file.number(), std::pair(file, true));
  }
  for (const auto& [number, change] : changes_) {
    auto& [file, from_base] = all[number];
    if (change.added != nullptr) file.blobs = change.added;
    file.garbage_count = change.garbage_count;
    file.garbage_bytes = change.garbage_bytes;
  }
  for (auto& [number, entry] : all) {
    VARVE_RETURN_IF_ERROR(Choose(std::move(entry.first), entry.second, &references, &chosen));
  }
  *files = BlobFiles(std::move(chosen));
  if (!is_own()) ForgetDead();
  return Status::OK();
}

std::vector<BlobGarbage> BlobChanges::Counted() const {
  std::vector<BlobGarbage> counted;
  for (const auto& [number, change] : changes_) {
    const BlobFileState* const before = base_ != nullptr ? base_->Find(number) : nullptr;
    const BlobGarbage added = {number, change.garbage_count - (before ? before->garbage_count : 0),
                               change.garbage_bytes - (before ? before->garbage_bytes : 0)};
    if (added.count != 0 || added.bytes != 0) counted.push_back(added);
  }
  return counted;
}

std::vector<FileRef> BlobChanges::NewFiles() const {
  std::vector<FileRef> files;
  for (const auto& [number, change] : changes_) {
    if (change.added != nullptr) files.push_back(change.added->file());
  }
  return files;
}

}  // namespace varve
