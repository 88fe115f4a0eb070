// SPDX-License-Identifier: Apache-2.0
#pragma once

// The internal iterators that together cover memtables and tables.

#include <memory>
#include <vector>

#include "db/column_family/super_version.h"
#include "util/iter/internal_iterator.h"
#include "util/key/range_tombstone.h"

namespace varve {

// One level >= 1 (or a run of disjoint files in key order) as an iterator that opens a file when it
// is reached. Each opened file's tombstones, clipped to the file's bounds, are added to
// `tombstones` (may be null) before its first entry is returned. A file is passed by unopened if
// those that are there already hide all of it from their reader, if they have one. `files` is
// borrowed and outlives the iterator.
std::unique_ptr<InternalIterator> NewLevelIterator(
    const LevelFiles* files, int level, TableCache* table_cache, const InternalKeyComparator* icmp,
    const ReadOptions& options, const TableIterOptions& iter_options, TombstoneSet* tombstones);

// Appends one iterator per source of the super-version (memtables, L0 files, levels), newest first,
// and adds memtable and L0 tombstones to *tombstones. With bounds, L0 files outside are left out.
// The first *memtables iterators are not of tables. With auto_prefix_mode filters are asked in the
// seeks before which *prefix_wanted, which outlives the iterators, is set.
Status AddSuperVersionIterators(const ReadOptions& options, const SuperVersion& super_version,
                                TombstoneSet* tombstones,
                                std::vector<std::unique_ptr<InternalIterator>>* iterators,
                                const bool* prefix_wanted, size_t* memtables);

// The part of it that concerns tables.
Status AddTableIterators(const ReadOptions& options, const SuperVersion& super_version,
                         TombstoneSet* tombstones,
                         std::vector<std::unique_ptr<InternalIterator>>* iterators,
                         const bool* prefix_wanted);

// A file's tombstones clipped to its bounds, as FileMetaData states them.
void AddFileTombstones(const FileMetaData& file, const TableReader& reader,
                       const InternalKeyComparator& icmp, TombstoneSet* tombstones);

}  // namespace varve
