// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks several keys up in tables, in stages, so that the waits for memory overlap.

#include <cstddef>
#include <span>

#include "varve/options.h"

#include "table/table_reader.h"
#include "util/key/point_lookup.h"

namespace varve {

// One key in one table.
struct TableProbe {
  const TableReader* table;
  PointLookup* lookup;
};

// How many probes are worth taking through the stages together.
inline constexpr size_t kProbesMax = 32;

// What had to be read from files.
struct ProbeReads {
  size_t tables = 0;  // that blocks were read of
  size_t blocks = 0;
  size_t meta_blocks = 0;  // indexes and filters
};

// As TableReader::Get for each probe; what fails is told by its lookup alone. At most kProbesMax
// probes; those of one table are neighbours and ascend by key, duplicates allowed.
//
// Each stage touches only memory that the stage before it has asked for: lines of the filters, then
// the indexes, then the data blocks. Neighbours share a block. Blocks that are in no cache are read
// together, file by file.
ProbeReads MultiGetFromTables(const ReadOptions& options, std::span<const TableProbe> probes);

}  // namespace varve
