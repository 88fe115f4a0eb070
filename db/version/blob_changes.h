// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects what edits say of blob files, and decides which files the next version keeps.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/version/blob_file.h"
#include "db/version/obsolete_file_queue.h"
#include "db/version/table_paths.h"
#include "db/version/version_edit.h"

namespace varve {

// A version keeps a blob file while one of its tables may refer to a value in it. Tables of
// this library have shares (FileMetaData::blob_shares), which say how many values of which blob
// files they refer to. Such a table keeps exactly these files. Of any other table, as RocksDB
// writes them, only the oldest blob file is known, and it may refer to any later one, too. So a
// later blob file stays until all such tables have a yet later one as their oldest, or until
// compactions have counted all its values as garbage.
//
// With a base, the edits are those of this process's own jobs. Then garbage of a file that the
// version lacks, as a repair leaves behind, is ignored, and the garbage of a file to which a table
// refers is cut so that at least one value is left. Without a base, the edits are those of a
// MANIFEST, where garbage of a missing file, and a file that is all garbage although a table refers
// to it, are Corruption.
//
// Thread safety: none. Errors: Corruption for an impossible edit. Then nothing shared has changed.
class BlobChanges {
 public:
  // `base` may be null; it and `context`, which begins messages, must outlive this object.
  BlobChanges(const BlobFiles* base, const std::string* context) : base_(base), context_(context) {}

  // Makes edits reuse these files, whose readers may be open, if they are unchanged; borrowed.
  void ReuseFiles(const BlobFilesByNumber* files) { reused_ = files; }

  // Takes what the edit says of blob files. `queue` and `paths` are those of new files; paths may
  // be null in tests.
  Status Apply(const VersionEdit& edit, const std::shared_ptr<ObsoleteFileQueue>& queue,
               const TablePathsRef& paths);

  // Chooses the files of a version with these tables. Fails if a MANIFEST says that a table's
  // oldest blob file is nothing but garbage. Without a base it may be called again after more
  // edits; files that no edit can name any more are forgotten.
  Status Build(const std::vector<std::vector<FileRef>>& levels, BlobFiles* files);

  // Return, after Build, the files that were not chosen: those of base, and those of the edits.
  const std::vector<FileRef>& removed() const { return removed_; }
  const std::vector<FileRef>& rejected() const { return rejected_; }
  // Returns, after Build, how many values of removed() and rejected() no edit has counted as
  // garbage.
  const std::vector<BlobGarbage>& uncounted() const { return uncounted_; }
  // Returns, after Build, the garbage that the edits add to that of base.
  std::vector<BlobGarbage> Counted() const;
  // Returns the files that edits add.
  std::vector<FileRef> NewFiles() const;

 private:
  struct Change {
    std::shared_ptr<const BlobFile> added;  // null: it is in base
    uint64_t garbage_count = 0;             // of base and of the edits
    uint64_t garbage_bytes = 0;
  };
  // The blob files that the tables of a version refer to.
  struct References {
    std::map<uint64_t, uint64_t> linked;   // number of tables, by their oldest blob file
    std::map<uint64_t, BlobShare> shared;  // known references
    uint64_t oldest_unknown = UINT64_MAX;
    [[nodiscard]] bool Keep(const BlobFileState& file) const;
    // Lowers the garbage of a file that stays to what these references leave.
    void Limit(BlobFileState* file) const;
  };

  // Takes a new file. Corruption if its number is zero or in use.
  Status Add(const BlobFileFacts& file, const std::shared_ptr<ObsoleteFileQueue>& queue,
             const TablePathsRef& paths);
  // True if the edits are of this process, which builds on a version; false for a MANIFEST's.
  [[nodiscard]] bool is_own() const { return base_ != nullptr; }
  // Adds to the garbage of a file. If the file is not known, it is ignored in an edit of this
  // process, and Corruption in a MANIFEST.
  Status AddGarbage(BlobGarbage garbage);
  // Takes over the garbage of a chosen file as References::Limit has left it, for Counted.
  void KeepSums(const BlobFileState& file);
  // Forgets rejected files that are nothing but garbage, and closes the readers of the others. For
  // edits without a base, so that reading a long MANIFEST keeps no files that are gone.
  void ForgetDead();
  // Returns Corruption that names the blob file.
  Status Bad(uint64_t number, const std::string& what) const;
  // Returns the blob files that the tables in these levels refer to.
  static References Collect(const std::vector<std::vector<FileRef>>& levels);
  // Adds the file to *chosen if the next version keeps it, otherwise to removed_ (if it is from
  // base) or rejected_.
  Status Choose(BlobFileState file, bool from_base, References* references,
                std::vector<BlobFileState>* chosen);

  const BlobFiles* const base_;
  const std::string* const context_;
  const BlobFilesByNumber* reused_ = nullptr;
  std::map<uint64_t, Change> changes_;  // by number: files that edits add or count garbage in
  std::vector<FileRef> removed_;
  std::vector<FileRef> rejected_;
  std::vector<BlobGarbage> uncounted_;
};

}  // namespace varve
