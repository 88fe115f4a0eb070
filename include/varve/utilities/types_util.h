// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions for internal keys, as SstFileReader::NewTableIterator returns and takes them.
//
//   std::string seek;
//   varve::Status s = varve::GetInternalKeyForSeek("apple", comparator, &seek);
//   if (s.ok()) iterator->Seek(seek);  // of SstFileReader::NewTableIterator
//   varve::ParsedEntryInfo entry;
//   if (s.ok() && iterator->Valid()) s = varve::ParseEntry(iterator->key(), comparator, &entry);

#include <string>

#include "varve/comparator.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

// Set *buf to an internal key for a seek of NewTableIterator's result: the first function to one
// that sorts before all entries of the user key, for Seek; the second to one that sorts after them,
// for SeekForPrev. The user key includes its timestamp if the comparator has timestamps.
// InvalidArgument if a pointer is null, or the key is shorter than a timestamp.
VARVE_EXPORT Status GetInternalKeyForSeek(const Slice& user_key, const Comparator* comparator,
                                          std::string* buf);
VARVE_EXPORT Status GetInternalKeyForSeekForPrev(const Slice& user_key,
                                                 const Comparator* comparator, std::string* buf);

// Parses an internal key; *parsed_entry points into it. InvalidArgument if it is not an internal
// key.
VARVE_EXPORT Status ParseEntry(const Slice& internal_key, const Comparator* comparator,
                               ParsedEntryInfo* parsed_entry);

}  // namespace varve
