// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks up several keys in tables. Block-based tables do it in stages, so that the waits for memory
// overlap.

#include <cstddef>
#include <span>

#include "varve/options.h"

#include "table/table_reader.h"
#include "util/key/point_lookup.h"

namespace varve {

// One look-up in one table.
struct TableProbe {
  const TableReader* table;
  PointLookup* lookup;
};

// Number of probes that are worth processing together.
inline constexpr size_t kProbesMax = 32;

// Counts what had to be read from files.
struct ProbeReads {
  size_t tables = 0;  // tables that blocks were read from
  size_t blocks = 0;
  size_t meta_blocks = 0;  // indexes and filters

  void Add(const ProbeReads& other) {
    tables += other.tables;
    blocks += other.blocks;
    meta_blocks += other.meta_blocks;
  }
};

// Does what TableReader::Get does for each probe; errors are reported only by the lookups. Requires
// at most kProbesMax probes; those of one table must be adjacent and ascend by key, duplicates
// allowed. The tables may have several formats: neighbours of one format are looked up together.
ProbeReads MultiGetFromTables(const ReadOptions& options, std::span<const TableProbe> probes);

// Does the same where every table is block-based, and there is at least one probe.
//
// Each stage touches only memory that the previous stage has prefetched: lines of the filters, then
// the indexes, then the data blocks. Neighbours share a block. Blocks that are not cached are read
// together, file by file.
ProbeReads MultiGetFromBlockTables(const ReadOptions& options, std::span<const TableProbe> probes);

}  // namespace varve
