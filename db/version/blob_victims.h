// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses the blob files whose values are to be written anew, so that garbage takes no more than
// its share of the space.
//
// Garbage is a value that no table refers to any more. It is known only after a compaction has met
// the newer entry of its key, so the bytes of all blob files consist of three parts:
//
//      |<----------------- bytes of all blob files ------------------>|
//      | live values | garbage not known yet | known garbage          |
//                    '- hidden: at most      '- counted in the states
//                       what all but the        of the blob files
//                       largest part of the
//                       tree refers to (blob_victims.cc)
//
// The limit L is BlobGarbageLimit. In a tree of levels the rules in blob_victims.cc keep the known
// garbage of old files below L times their bytes, and, if files of any age count as old at all,
// that of all files together below the larger of L and a half. What is hidden is kept below the
// rest of L times all bytes, as far as a compaction of L0 can show it.

#include "varve/options.h"

#include "db/version/due_files.h"
#include "db/version/version.h"

namespace varve {

// Returns the share of the bytes of blob files that may be garbage, below 1. The default of the
// option blob_garbage_collection_force_threshold, which asks for files of garbage alone, stands for
// a half.
double BlobGarbageLimit(const ColumnFamilyOptions& options);

// Sets due->blob_victims, due->blob_tables and due->l0_hides_blob_garbage, which must be new. Does
// nothing unless enable_blob_garbage_collection is set. Requires the DB mutex (being_compacted).
void FindBlobVictims(const Version& version, const ColumnFamilyOptions& options, DueFiles* due);

}  // namespace varve
