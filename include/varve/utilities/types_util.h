// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal keys, as SstFileReader::NewTableIterator shows them and takes them.

#include <string>

#include "varve/comparator.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

// *buf becomes the internal key to Seek (SeekForPrev) to, so that all entries of the user key come
// after (before) it. A user key has its timestamp where the comparator has them. InvalidArgument if
// a pointer is null, or the key is shorter than a timestamp.
VARVE_EXPORT Status GetInternalKeyForSeek(const Slice& user_key, const Comparator* comparator,
                                          std::string* buf);
VARVE_EXPORT Status GetInternalKeyForSeekForPrev(const Slice& user_key,
                                                 const Comparator* comparator, std::string* buf);

// Takes an internal key apart; *parsed_entry points into it. InvalidArgument if it is none.
VARVE_EXPORT Status ParseEntry(const Slice& internal_key, const Comparator* comparator,
                               ParsedEntryInfo* parsed_entry);

}  // namespace varve
