// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the next Version of a column family from the last one and edits.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/version/blob_changes.h"
#include "db/version/obsolete_file_queue.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"

namespace varve {

// Number of levels that the options may ask for, and that a tree may have.
inline constexpr int kMostLevels = 64;

// Files of an earlier version, by number. They may be open.
struct ReusableFiles {
  std::unordered_map<uint64_t, FileRef> tables;
  BlobFilesByNumber blobs;
};

// Used in this order: the setters, Apply for each edit, FinishRecovery if these were all edits of a
// MANIFEST, Build. A builder without a base may be built again after further edits.
//
// Thread safety: none; needs no lock, since a Version does not change. Errors: Corruption, naming
// the files, for an impossible edit; InvalidArgument if the options have no place for a table (its
// level or path_id). Then nothing shared has changed, and the builder is of no further use.
class VersionBuilder {
 public:
  // `base` may be null, which means the empty tree. `base`, `icmp` and `context` (which names the
  // MANIFEST and family in messages) must outlive the builder.
  VersionBuilder(const InternalKeyComparator* icmp, int num_levels, const Version* base,
                 std::shared_ptr<ObsoleteFileQueue> queue, const std::string* context);

  // Makes Build charge the metadata of files that are new in the version; null: nothing is charged.
  void ChargeFilesTo(std::shared_ptr<CacheCharge> charge) { charge_ = std::move(charge); }
  // Sets the directories of the edits' files, which are needed to name them.
  void PlaceFilesIn(TablePathsRef paths) { paths_ = std::move(paths); }

  // Makes the version keep its last level for tables that are ingested behind all data. Then tables
  // deeper than num_levels are refused.
  void ReserveLastLevel(bool reserve) { reserves_last_level_ = reserve; }

  // Makes edits reuse these files if they are unchanged; borrowed.
  void ReuseFiles(const ReusableFiles* files) {
    reused_ = &files->tables;
    blobs_.ReuseFiles(&files->blobs);
  }

  // Applies what the edit says of blob files, its deletions, then its additions.
  Status Apply(const VersionEdit& edit);

  // Must be called after a whole MANIFEST was read. Files without a known sequence range
  // (LevelDB's) get the widest one up to `last_sequence`. If any file has no epoch, all new files
  // get one from the order of their sequence numbers or file numbers. Sets *next_epoch to one past
  // the largest epoch.
  void FinishRecovery(SequenceNumber last_sequence, uint64_t* next_epoch);

  // True if FinishRecovery had to invent epochs or sequence ranges.
  bool made_up() const { return made_up_; }

  // Checks the levels, and sets *version to the new version, and *removed to the files of base,
  // blob files too, that the version does not have. Without a base, tables may lie deeper than
  // num_levels: the version gets surplus levels for them. MemoryLimit: a charge is refused.
  Status Build(uint64_t version_number, VersionRef* version, std::vector<FileRef>* removed);
  // Returns the tables of the edits that base does not have.
  std::vector<FileRef> NewFiles() const;
  const BlobChanges& blobs() const { return blobs_; }

 private:
  // A table that an edit adds.
  struct Added {
    int level;
    bool seqs_known;  // false: FinishRecovery gives it a sequence range
    FileRef file;
  };

  // Apply one deletion or addition of an edit. Corruption: it contradicts earlier edits. If it
  // contradicts base, TakeBase finds that.
  Status ApplyDeletion(int level, uint64_t number);
  Status ApplyAddition(const NewFile& file);
  // Returns null if the file is not among those to be reused.
  [[nodiscard]] FileRef FindReused(const NewFile& file) const;
  // Returns the number of levels that may hold files.
  [[nodiscard]] size_t MostLevels() const;
  // Keeps base's files unless they were deleted. A file that was deleted and added again, which is
  // how files move, keeps its object with the open reader.
  Status TakeBase(std::vector<std::vector<FileRef>>* levels, std::vector<FileRef>* removed);
  // Returns InvalidArgument if the options have no level or directory for the table.
  Status CheckPlace(const Added& added, size_t levels) const;
  // Charges the memory of the file's metadata, unless that was done.
  Status ChargeFile(FileMetaData* file) const;
  // Sorts the files of a level below L0. Corruption: two of them overlap.
  Status CheckLevel(int level, std::vector<FileRef>* files) const;
  // Returns Corruption with the context.
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
  bool reserves_last_level_ = false;
  BlobChanges blobs_;
  std::unordered_map<uint64_t, Added> added_;            // by number
  std::unordered_map<uint64_t, int> deleted_from_base_;  // maps a number to its level
};

// Returns the file's metadata as the edit describes it.
std::unique_ptr<FileMetaData> MakeFileMetaData(const NewFile& file);
// Returns the edit's description of the file.
NewFile DescribeFile(const FileMetaData& file, int level);

}  // namespace varve
