// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the records of blob files that a compaction leaves without a reference, so that their
// storage can be given back (punch_holes_in_blob_files).
//
//      merged inputs        Read: the record may be dropped
//          |
//      CompactionIterator   drops entries
//          |
//      BlobOutput           Keep: a table that is written refers to the record
//
// What was read and not kept is garbage: overwritten, deleted, filtered, merged into a value of its
// own, or written anew elsewhere. An entry is kept only after it was read, and a file that is noted
// here has one reference to each record, so the set is right once the last entry is written. The
// reader and the writer of a compaction may be two threads.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "varve/slice.h"

#include "db/blob/blob_reference.h"
#include "db/blob/byte_ranges.h"
#include "db/version/blob_file.h"
#include "util/sync/mutex.h"

namespace varve {

// Records by the number of their blob file.
using RecordsByFile = std::map<uint64_t, ByteRanges>;

// Returns true if holes may ever be punched into the file: its records have one reference each, and
// no checksum of the whole file would tell of a change.
bool MayHaveHoles(const BlobFileFacts& facts);

// Thread safety: all methods may be called from any thread.
class DroppedRecords {
 public:
  // Memory is bounded: once there are so many ranges, about 4 MiB, further records are left alone.
  static constexpr size_t kMostRanges = size_t{1} << 16;

  // Looks at the records of those of `files` that may have holes; `files` must outlive it.
  explicit DroppedRecords(const BlobFiles* files) : files_(*files) {}
  DroppedRecords(const DroppedRecords&) = delete;
  DroppedRecords& operator=(const DroppedRecords&) = delete;

  // Take the reference of an entry with this user key: one of the inputs, or of the outputs.
  void Read(const Slice& user_key, const BlobReference& reference);
  void Keep(const Slice& user_key, const BlobReference& reference);
  // Returns what was read and not kept.
  RecordsByFile Take();

 private:
  // Sets *record to the bytes of header, key and value. Returns false for a file that is not looked
  // at, and for a reference that does not fit into its file.
  bool Locate(const Slice& user_key, const BlobReference& reference, ByteRange* record) const;

  const BlobFiles& files_;
  Mutex mu_;  // has no rank: nothing is called while it is held
  RecordsByFile records_ VARVE_GUARDED_BY(mu_);
  size_t ranges_ VARVE_GUARDED_BY(mu_) = 0;  // in all of records_
};

}  // namespace varve
