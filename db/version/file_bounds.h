// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers what a file's bounds in its metadata say about one key, given without timestamp.

#include "db/version/file_metadata.h"
#include "util/key/internal_key.h"

namespace varve {

// True if the largest key is the end of a range tombstone: then the file has no entry of that key.
// No entry has this trailer.
inline bool LargestIsExclusive(const FileMetaData& file) {
  return ExtractTrailer(file.largest.Encode()) ==
         PackSequenceAndType(kMaxSequenceNumber, kTypeRangeDeletion);
}

// True if an entry or a tombstone of the file may concern the key.
inline bool FileCovers(const FileMetaData& file, const Slice& key,
                       const InternalKeyComparator& icmp) {
  if (icmp.CompareKey(key, icmp.KeyOf(file.smallest)) < 0) return false;
  const int order = icmp.CompareKey(key, icmp.KeyOf(file.largest));
  return order < 0 || (order == 0 && !LargestIsExclusive(file));
}

}  // namespace varve
