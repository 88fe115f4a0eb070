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
// tombstones hide all of it from their reader. All arguments are borrowed and must outlive the
// iterator; iter_options is copied. One thread uses the iterator. A table that cannot be opened
// ends it with that error, which the next seek forgets.
std::unique_ptr<InternalIterator> NewLevelIterator(
    const LevelFiles* files, int level, TableCache* table_cache, const InternalKeyComparator* icmp,
    const ReadOptions& options, const TableIterOptions& iter_options, TombstoneSet* tombstones);

// Appends one iterator per source of the super-version (memtables that are not empty, L0 files or
// chains of them, levels), newest first, and adds the tombstones of memtables and of single L0
// files to *tombstones; iterators over chains and levels add those of their files later, as they
// open them. Skips single L0 files outside the bounds of the options. Sets *memtables to how many
// of the iterators, the first ones, are over memtables. With auto_prefix_mode, tables use filters
// in those seeks during which *prefix_wanted is true. All arguments but *memtables must outlive the
// iterators. With an error (a table cannot be opened) *iterators has a part of them.
Status AddSuperVersionIterators(const ReadOptions& options, const SuperVersion& super_version,
                                TombstoneSet* tombstones,
                                std::vector<std::unique_ptr<InternalIterator>>* iterators,
                                const bool* prefix_wanted, size_t* memtables);

// Does the same without memtables.
Status AddTableIterators(const ReadOptions& options, const SuperVersion& super_version,
                         TombstoneSet* tombstones,
                         std::vector<std::unique_ptr<InternalIterator>>* iterators,
                         const bool* prefix_wanted);

// Adds a file's tombstones clipped to its bounds in FileMetaData.
void AddFileTombstones(const FileMetaData& file, const TableReader& reader,
                       const InternalKeyComparator& icmp, TombstoneSet* tombstones);

}  // namespace varve
