// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a file's bounds in its metadata say about one user key.

#include "db/version/file_metadata.h"
#include "util/key/internal_key.h"

namespace varve {

// True when the largest key is the end of a range tombstone: the file holds nothing of that user
// key. No entry carries this trailer.
inline bool LargestIsExclusive(const FileMetaData& file) {
  return ExtractTrailer(file.largest.Encode()) ==
         PackSequenceAndType(kMaxSequenceNumber, kTypeRangeDeletion);
}

// True when an entry or a tombstone of the file may concern the user key.
inline bool FileCovers(const FileMetaData& file, const Slice& user_key,
                       const InternalKeyComparator& icmp) {
  if (icmp.CompareUserKey(user_key, file.smallest.user_key()) < 0) return false;
  const int order = icmp.CompareUserKey(user_key, file.largest.user_key());
  return order < 0 || (order == 0 && !LargestIsExclusive(file));
}

}  // namespace varve
