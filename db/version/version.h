// SPDX-License-Identifier: Apache-2.0
#pragma once

// One immutable state of a column family's tree of tables, arranged for searching, and the blob
// files that the tables refer to.
//
//      L0   [ 31 ] [ 30 ] [ 28 ]            newest first; keys may overlap
//      L1   [ 12 ][ 17 ][ 14 ]              ascending, disjoint
//      L2   [ 3 ][ 5 ][ 4 ][ 9 ][ 8 ]       ascending, disjoint
//           blob files 6, 7, 11             by number; entries of tables refer to them
//
// A search goes downwards: what it finds first is the newest. In L0 each file is asked in turn, or,
// where files are disjoint, each chain of files (l0_chains); in deeper levels binary search finds
// the one file that may have the key.
//
// A version is made by VersionBuilder, and lives as long as a super-version, an iterator or a job
// refers to it. Its files live as long as any version has them. The metadata of files is shared
// between versions, and is immutable but for `notes`, which the DB mutex guards, and the open
// reader.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/version/blob_file.h"
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
//
// Thread safety: immutable. Lifetime: the comparator must outlive it; the files are shared.
class LevelFiles {
 public:
  LevelFiles() = default;
  // Sorts `files` in the order of the level.
  LevelFiles(const InternalKeyComparator* icmp, int level, std::vector<FileRef> files);

  size_t size() const { return files_.size(); }
  bool empty() const { return files_.empty(); }
  FileMetaData* operator[](size_t i) const {
    VARVE_ASSERT(i < files_.size());
    return files_[i].get();
  }
  const std::vector<FileRef>& files() const { return files_; }
  // Returns the sum of the files' sizes in bytes.
  uint64_t bytes() const { return bytes_; }

  // Levels >= 1: returns the index of the first file whose largest key is >= the target (an
  // internal key), or size() if there is none.
  size_t Find(const Slice& internal_key) const;

  // Returns the files that may overlap [begin, end] (keys without timestamps, both inclusive, null:
  // open), in the order of the level. In L0 they are not joined by files that overlap only these.
  std::vector<FileMetaData*> Overlapping(const Slice* begin, const Slice* end) const;

 private:
  const InternalKeyComparator* icmp_ = nullptr;
  // Level that the files are sorted for.
  int level_ = 0;
  std::vector<FileRef> files_;
  // Eight bytes of each file's largest key, after shared_prefix_. Empty if the comparator's order
  // is not that of bytes; then all comparisons are of whole keys.
  std::vector<uint64_t> largest_prefixes_;
  std::string shared_prefix_;
  uint64_t bytes_ = 0;
};

// Describes files of L0 that are neighbours in age and share no keys, so that a search looks into
// one of them.
struct L0Chain {
  LevelFiles files;  // in key order
  size_t oldest;     // index in L0 of the oldest of them
};

// Thread safety: immutable except for the notes of readers; shared by std::shared_ptr.
class Version {
 public:
  // `reserves_last_level` and `surplus_levels`: see the accessors. Both together are not allowed.
  Version(const InternalKeyComparator* icmp, uint64_t version_number,
          std::vector<std::vector<FileRef>> files_by_level, bool reserves_last_level = false,
          int surplus_levels = 0, BlobFiles blob_files = {});

  // Returns the number of levels, with those of surplus_levels().
  int num_levels() const { return static_cast<int>(levels_.size()); }
  // Returns the number of levels that compactions may write to: the options' num_levels, or one
  // less, if the last level takes only tables that are ingested behind all data
  // (cf_allow_ingest_behind).
  int usable_levels() const {
    return num_levels() - surplus_levels_ - (reserves_last_level_ ? 1 : 0);
  }
  bool reserves_last_level() const { return reserves_last_level_; }
  // Returns the number of levels beneath the options' num_levels. Such levels are there as long as
  // they hold tables of a time when there were more levels (db/compaction/surplus_levels.h).
  int surplus_levels() const { return surplus_levels_; }
  // Returns the files of a level; `l` must be below num_levels().
  const LevelFiles& level(int l) const {
    VARVE_ASSERT(l >= 0 && l < num_levels());
    return levels_[static_cast<size_t>(l)];
  }
  // Returns the blob files that the tables may refer to.
  const BlobFiles& blob_files() const { return blob_files_; }
  // Returns the chains that L0 consists of, the newest first. Empty: L0 is to be searched file by
  // file, because it has few files, or most chains would be short.
  const std::vector<L0Chain>& l0_chains() const { return l0_chains_; }
  // Returns the smallest n such that only levels 0..n-1 hold files.
  int non_empty_levels() const { return non_empty_levels_; }
  // Returns the order of keys, borrowed from the family.
  const InternalKeyComparator* icmp() const { return icmp_; }
  // Returns a number that is unique among the versions of the process's version set.
  uint64_t version_number() const { return version_number_; }
  // Returns the cache of runs of tombstones, which readers fill; it synchronises itself.
  TombstoneRuns& tombstone_runs() const { return tombstone_runs_; }

  // True if a file at `level` or deeper may overlap [begin, end] (keys without timestamps), or one
  // may come there later, in a reserved level.
  bool RangeMayExistFrom(int level, const Slice& begin, const Slice& end) const;
  // Returns the table with this number, and sets *level, unless `level` is null, to where it is.
  // Returns null, and leaves *level, if there is none. Takes time for each file.
  FileRef FindByNumber(uint64_t number, int* level) const;
  // Returns the bytes of all tables, blob files not included.
  uint64_t TotalBytes() const;
  // Returns a list of the files for people who look for a fault.
  std::string DebugString() const;
  // Returns the number of tables at each level.
  std::vector<uint64_t> FileCounts() const;

 private:
  const InternalKeyComparator* icmp_;
  uint64_t version_number_;
  std::vector<LevelFiles> levels_;
  BlobFiles blob_files_;
  int non_empty_levels_ = 0;
  const bool reserves_last_level_;
  const uint8_t surplus_levels_;
  mutable TombstoneRuns tombstone_runs_;
  std::vector<L0Chain> l0_chains_;
};

using VersionRef = std::shared_ptr<const Version>;

}  // namespace varve
