// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a file's bounds in its metadata say about one key, which is without timestamp.

#include "db/version/file_metadata.h"
#include "util/key/internal_key.h"

namespace varve {

// True when the largest key is the end of a range tombstone: the file holds nothing of that
// key. No entry carries this trailer.
inline bool LargestIsExclusive(const FileMetaData& file) {
  return ExtractTrailer(file.largest.Encode()) ==
         PackSequenceAndType(kMaxSequenceNumber, kTypeRangeDeletion);
}

// True when an entry or a tombstone of the file may concern the key.
inline bool FileCovers(const FileMetaData& file, const Slice& key,
                       const InternalKeyComparator& icmp) {
  if (icmp.CompareKey(key, icmp.KeyOf(file.smallest)) < 0) return false;
  const int order = icmp.CompareKey(key, icmp.KeyOf(file.largest));
  return order < 0 || (order == 0 && !LargestIsExclusive(file));
}

}  // namespace varve
