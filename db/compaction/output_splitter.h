// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides where an output file ends: at its target size, before it overlaps too much of the next
// deeper level, into which it will be compacted some day, and where the user's partitioner says so.
//
//      grandparents    [a ...... d]  [e ...... j]  [k .. m]  [n ....... t]
//      outputs         [ file 1                  ][ file 2            ]
//                                                ^ ends at a border, as it is nearly full
//
// The file will once be compacted with the grandparents that it overlaps, and all of these are
// rewritten then. So their bytes are bounded; and a file that is three quarters full ends at the
// border of a grandparent, because a little behind that it would overlap one grandparent more.
//
// All entries of a key go into one file, so the splitter is asked for keys and not for entries.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/sst_partitioner.h"

#include "db/version/file_metadata.h"
#include "util/key/internal_key.h"

namespace varve {

// Asked once for each key, without timestamp, in order; never between entries of one key.
//
// Thread safety: none. The pointers must outlive it.
class OutputSplitter {
 public:
  // `grandparents` are the files of the level after the output's, ascending. With a target of
  // UINT64_MAX and no grandparents there is one file. `partitioner` may be null. A file with
  // `border_bytes` ends at a border; 0: three quarters of the target.
  OutputSplitter(const InternalKeyComparator* icmp, const std::vector<FileRef>* grandparents,
                 uint64_t target_file_bytes, uint64_t max_overlap_bytes,
                 SstPartitioner* partitioner = nullptr, uint64_t border_bytes = 0);

  // True if a new file should begin with the key. `reaches(bytes)` says if the open file has this
  // many bytes; `open_bytes` is their number, needed only if HasPartitioner().
  template <typename Reaches>
  bool ShouldStopBefore(const Slice& key, Reaches&& reaches, uint64_t open_bytes = 0) {
    if (partitioner_ != nullptr && EndsPartition(key, open_bytes)) [[unlikely]]
      return true;
    bool crossed = false;
    if (has_boundary_ && icmp_->CompareKey(key, boundary_) > 0) [[unlikely]] {
      PassBoundaries(key);
      crossed = true;
    }
    if (reaches(target_file_bytes_)) return true;
    return crossed && (WouldOverlapTooMuch() || reaches(border_bytes_));
  }
  [[nodiscard]] bool HasPartitioner() const { return partitioner_ != nullptr; }
  // Returns the key in the form that it must be passed in.
  [[nodiscard]] Slice KeyOf(const Slice& internal_key) const { return icmp_->KeyOf(internal_key); }
  // Notes that a file begins with this key.
  void StartFile(const Slice& key);

 private:
  // Asks the partitioner, and notes the key.
  bool EndsPartition(const Slice& key, uint64_t open_bytes);
  // Moves over the grandparents that end before the key.
  void PassBoundaries(const Slice& key);
  // Sets boundary_ for next_.
  void SetBoundary();
  // True if the file would overlap too much by continuing into the next grandparent.
  bool WouldOverlapTooMuch() const {
    const uint64_t next_bytes = has_boundary_ ? grandparents_[next_]->size : 0;
    return passed_bytes_ + next_bytes > max_overlap_bytes_;
  }

  const InternalKeyComparator* const icmp_;
  const std::vector<FileRef>& grandparents_;
  const uint64_t target_file_bytes_;
  const uint64_t max_overlap_bytes_;
  // A file of this size ends at a grandparent's border: then the next compaction of each of the two
  // files has fewer files to rewrite.
  const uint64_t border_bytes_;
  size_t next_ = 0;            // the first grandparent that does not end before the last key
  uint64_t passed_bytes_ = 0;  // bytes of grandparents that ended within the open file
  bool has_boundary_ = false;
  Slice boundary_;  // largest key of grandparents_[next_]
  SstPartitioner* const partitioner_;
  std::string last_key_;  // the last key passed, if there is a partitioner
};

}  // namespace varve
