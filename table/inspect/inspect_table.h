// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inspects a table of unknown origin before anything relies on it. Its bytes are not trusted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"
#include "varve/options.h"
#include "varve/status.h"
#include "varve/table_properties.h"

#include "table/table_reader.h"
#include "util/key/internal_key.h"

namespace varve {

class SliceTransform;
class Statistics;

// Says what a table is expected to be, and how much of it is read. `fs` and icmp are required, and
// the factory may be null, as in TableOpenOptions. Pointers are not owned, and must outlive the
// inspected table's reader.
struct InspectOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  // Orders the family that is to have the table.
  const InternalKeyComparator* icmp = nullptr;
  std::shared_ptr<const TableFactory> factory;
  std::shared_ptr<const SliceTransform> prefix_extractor;
  Statistics* statistics = nullptr;

  // The MANIFEST's description of the table, if one has it. See TableOpenOptions.
  SequenceNumber largest_seq = kMaxSequenceNumber;
  std::string expected_unique_id;

  // Says who must have written the table. A program's table has the properties of SstFileWriter,
  // sequence number 0 in all keys, only kinds of entries that such a writer can add, and no user
  // key twice.
  enum class Writer : uint8_t {
    kProgram,   // a program, by SstFileWriter
    kDatabase,  // a flush or a compaction
    kEither,    // not checked; the rules of the one that wrote it apply
  };
  Writer writer = Writer::kProgram;

  // True: reads each block, compares its checksum, and checks each entry. False: only the index,
  // the ends of the data, the range deletions and the properties.
  bool every_block = false;
  size_t readahead_size = 0;  // For every_block; bytes, 0: a default.
  // True: the resulting reader bypasses the block cache. False: it uses the cache as its options
  // say, so that opening may put the table's index and filter there; the inspection adds nothing.
  bool past_cache = true;
  // Called with the bytes read; an error that it returns ends the inspection.
  TableReader::PaceReads pace;
};

// Describes the table's contents.
struct InspectedTable {
  std::string path;
  uint64_t file_size = 0;
  // Shows sequence numbers as InspectOptions::largest_seq has them.
  std::unique_ptr<TableReader> reader;
  std::shared_ptr<const TableProperties> properties;
  std::string unique_id;  // 16 bytes; empty: the table has no identity.

  // 1 or 2 for a table that a program wrote, else 0; and the sequence number that was written into
  // it, 0 if none was.
  uint32_t external_version = 0;
  SequenceNumber global_seqno = 0;
  // False: its keys lack the family's timestamps. Bounds have the oldest one then, but for the end
  // of a range deletion, which is exclusive and has the newest.
  bool timestamps_persisted = true;

  // Internal keys, as the reader shows them; empty if there is none.
  InternalKey smallest_point;
  InternalKey largest_point;
  // The first begin at its newest sequence number, and the largest end, exclusive, at
  // kMaxSequenceNumber as in a MANIFEST.
  InternalKey smallest_tombstone;
  InternalKey largest_tombstone_end;
  // Bounds of points and tombstones, as a MANIFEST has them.
  InternalKey smallest;
  InternalKey largest;

  // Range of the inspected numbers: of all points with every_block, else of the two ends, and of
  // all range deletions.
  SequenceNumber smallest_seq = kMaxSequenceNumber;
  SequenceNumber largest_seq = 0;
  uint64_t points = 0;      // Set with every_block.
  uint64_t references = 0;  // To blob files, among the points; set with every_block.

  [[nodiscard]] bool empty() const { return smallest.empty(); }
};

// Opens the table at `path` and inspects it; a table without entries is no error. With
// options.past_cache the block cache is neither read nor changed.
//
// Errors, all of which name the file: Corruption for bytes that no table has, that contradict each
// other, or that the expected writer does not write; InvalidArgument if the keys are ordered by
// another comparator; NotSupported for a form that cannot be read; IOError; and what options.pace
// returns. After an error *table is empty and the file is closed.
Status InspectTable(const std::string& path, const InspectOptions& options, InspectedTable* table);

}  // namespace varve
