// SPDX-License-Identifier: Apache-2.0
#pragma once

// One immutable state of a column family's tree of tables, arranged for searching.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/version/file_metadata.h"
#include "db/version/tombstone_runs.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// The files of one level. L0: newest first (descending epoch, then largest sequence, then number).
// Deeper levels: ascending and disjoint.
//
// A search compares 8-byte key prefixes, taken after the common prefix of all bounds, and compares
// a whole key only to decide ties.
class LevelFiles {
 public:
  LevelFiles() = default;
  LevelFiles(const InternalKeyComparator* icmp, int level, std::vector<FileRef> files);

  size_t size() const { return files_.size(); }
  bool empty() const { return files_.empty(); }
  FileMetaData* operator[](size_t i) const {
    VARVE_ASSERT(i < files_.size());
    return files_[i].get();
  }
  const std::vector<FileRef>& files() const { return files_; }
  uint64_t bytes() const { return bytes_; }

  // Levels >= 1: returns the index of the first file whose largest key is >= the target (an
  // internal key), or size() if there is none.
  size_t Find(const Slice& internal_key) const;

  // Levels >= 1: returns the files that may overlap [begin, end] (user keys, both inclusive, null =
  // open). L0: returns every such file, in order, without transitive growth.
  std::vector<FileMetaData*> Overlapping(const Slice* begin, const Slice* end) const;

 private:
  const InternalKeyComparator* icmp_ = nullptr;
  int level_ = 0;
  std::vector<FileRef> files_;
  std::vector<uint64_t> largest_prefixes_;
  std::string shared_prefix_;
  uint64_t bytes_ = 0;
};

// Thread safety: immutable except for the notes of readers; shared by std::shared_ptr.
class Version {
 public:
  Version(const InternalKeyComparator* icmp, uint64_t version_number,
          std::vector<std::vector<FileRef>> files_by_level);

  int num_levels() const { return static_cast<int>(levels_.size()); }
  const LevelFiles& level(int l) const {
    VARVE_ASSERT(l >= 0 && l < num_levels());
    return levels_[static_cast<size_t>(l)];
  }
  // Returns the smallest n such that only levels 0..n-1 hold files.
  int non_empty_levels() const { return non_empty_levels_; }
  const InternalKeyComparator* icmp() const { return icmp_; }
  uint64_t version_number() const { return version_number_; }
  TombstoneRuns& tombstone_runs() const { return tombstone_runs_; }

  // True if a file at `level` or deeper may overlap the user-key range [begin, end].
  bool RangeMayExistFrom(int level, const Slice& begin, const Slice& end) const;
  FileRef FindByNumber(uint64_t number, int* level) const;
  uint64_t TotalBytes() const;
  std::string DebugString() const;

 private:
  const InternalKeyComparator* icmp_;
  uint64_t version_number_;
  std::vector<LevelFiles> levels_;
  int non_empty_levels_ = 0;
  mutable TombstoneRuns tombstone_runs_;
};

using VersionRef = std::shared_ptr<const Version>;

}  // namespace varve
