// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates the internal iterators that together cover memtables and tables.

#include <memory>
#include <vector>

#include "db/column_family/super_version.h"
#include "util/iter/internal_iterator.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Returns an iterator over one level >= 1 (or a run of disjoint files in key order) that opens a
// file when it is reached. Each opened file's tombstones, clipped to the file's bounds, are added
// to `tombstones` (may be null) before its first entry is returned. Skips a file unopened if known
// tombstones hide all of it from their reader. `files` is borrowed and must outlive the iterator.
std::unique_ptr<InternalIterator> NewLevelIterator(
    const LevelFiles* files, int level, TableCache* table_cache, const InternalKeyComparator* icmp,
    const ReadOptions& options, const TableIterOptions& iter_options, TombstoneSet* tombstones);

// Appends one iterator per source of the super-version (memtables, L0 files, levels), newest first,
// and adds memtable and L0 tombstones to *tombstones. With bounds, skips L0 files outside them. The
// first *memtables iterators are those of memtables. With auto_prefix_mode, filters are used in
// seeks for which *prefix_wanted, which must outlive the iterators, is true.
Status AddSuperVersionIterators(const ReadOptions& options, const SuperVersion& super_version,
                                TombstoneSet* tombstones,
                                std::vector<std::unique_ptr<InternalIterator>>* iterators,
                                const bool* prefix_wanted, size_t* memtables);

// Does the part that concerns tables.
Status AddTableIterators(const ReadOptions& options, const SuperVersion& super_version,
                         TombstoneSet* tombstones,
                         std::vector<std::unique_ptr<InternalIterator>>* iterators,
                         const bool* prefix_wanted);

// Adds a file's tombstones clipped to its bounds in FileMetaData.
void AddFileTombstones(const FileMetaData& file, const TableReader& reader,
                       const InternalKeyComparator& icmp, TombstoneSet* tombstones);

}  // namespace varve
