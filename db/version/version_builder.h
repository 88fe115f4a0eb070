// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the next Version of a column family out of the last one and edits.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/version/obsolete_file_queue.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"

namespace varve {

// Thread safety: none; needs no lock, since a Version does not change.
// Errors: Corruption naming the files for what cannot be. Nothing shared has changed then.
class VersionBuilder {
 public:
  // `base` may be null: the empty tree. It, icmp and `context` (names the MANIFEST and family in
  // messages) outlive the builder.
  VersionBuilder(const InternalKeyComparator* icmp, int num_levels, const Version* base,
                 std::shared_ptr<ObsoleteFileQueue> queue, const std::string* context);

  // Build charges the metadata of files that are new in the version; null: it does not.
  void ChargeFilesTo(std::shared_ptr<CacheCharge> charge) { charge_ = std::move(charge); }
  // Where the files of edits are: what asks their metadata for a name needs it.
  void PlaceFilesIn(TablePathsRef paths) { paths_ = std::move(paths); }

  // Files that an edit adds are these, by number, where they are the same; borrowed.
  void ReuseFiles(const std::unordered_map<uint64_t, FileRef>* files) { reused_ = files; }

  // Deletions first, then additions.
  Status Apply(const VersionEdit& edit);

  // For a whole MANIFEST that was read: gives files without a known sequence range (LevelDB's) the
  // widest one up to `last_sequence`, and when any file has no epoch, gives all new ones from the
  // order that their sequences or numbers tell. *next_epoch is one past the largest epoch.
  void FinishRecovery(SequenceNumber last_sequence, uint64_t* next_epoch);

  // Whether FinishRecovery had to make epochs, or sequence ranges, up.
  bool made_up() const { return made_up_; }

  // Checks the levels. `removed` gets the files of base that the result does not hold. MemoryLimit
  // if a charge is refused.
  Status Build(uint64_t version_number, VersionRef* version, std::vector<FileRef>* removed);
  // The files of the edits that base does not have.
  std::vector<FileRef> NewFiles() const;

 private:
  struct Added {
    int level;
    bool seqs_known;
    FileRef file;
  };

  Status ApplyDeletion(int level, uint64_t number);
  Status ApplyAddition(const NewFile& file);
  // Null if it is not among those that are used again.
  [[nodiscard]] FileRef FindReused(const NewFile& file) const;
  // Keeps base's files unless they were deleted; a file that was deleted and added again, which is
  // how files move, stays the same object with its open reader.
  Status TakeBase(std::vector<std::vector<FileRef>>* levels, std::vector<FileRef>* removed);
  Status ChargeFile(FileMetaData* file) const;
  Status CheckLevel(int level, std::vector<FileRef>* files) const;
  Status Bad(const std::string& what) const;

  const InternalKeyComparator* const icmp_;
  const int num_levels_;
  const Version* const base_;
  const std::shared_ptr<ObsoleteFileQueue> queue_;
  const std::string* const context_;
  std::shared_ptr<CacheCharge> charge_;
  TablePathsRef paths_;
  const std::unordered_map<uint64_t, FileRef>* reused_ = nullptr;
  bool made_up_ = false;
  std::unordered_map<uint64_t, Added> added_;
  std::unordered_map<uint64_t, int> deleted_from_base_;  // level by number
};

// What an edit says of a file, as the file's metadata.
std::unique_ptr<FileMetaData> MakeFileMetaData(const NewFile& file);
// The other way round.
NewFile DescribeFile(const FileMetaData& file, int level);

}  // namespace varve
