// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table that somebody else has made, looked at before anything relies on it. Its bytes are
// hostile until proven otherwise.

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

struct InspectOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  // Of the family that is to have the table.
  const InternalKeyComparator* icmp = nullptr;
  std::shared_ptr<const TableFactory> factory;
  std::shared_ptr<const SliceTransform> prefix_extractor;
  Statistics* statistics = nullptr;

  // Where the MANIFEST of somebody has the table: what it says of it. See TableOpenOptions.
  SequenceNumber largest_seq = kMaxSequenceNumber;
  std::string expected_unique_id;

  // Who may have written it. By a program: it has the properties of SstFileWriter, sequence number
  // 0 in all keys, no kind of entry that such a writer has no call for, and no user key twice.
  enum class Writer : uint8_t { kProgram, kDatabase, kEither };
  Writer writer = Writer::kProgram;

  // Each block is read and its checksum compared; each entry is looked at. Else the index, the ends
  // of the data, the range deletions and the properties are.
  bool every_block = false;
  size_t readahead_size = 0;  // of that; bytes, 0: a default
  // Of the reader that results: whether it goes past the block cache. The inspection puts nothing
  // there but the table's index and filter.
  bool past_cache = true;
  // Told how many bytes were read; what it returns, unless OK, ends the inspection.
  TableReader::PaceReads pace;
};

// What the table holds.
struct InspectedTable {
  std::string path;
  uint64_t file_size = 0;
  // Shows sequence numbers as InspectOptions::largest_seq has them.
  std::unique_ptr<TableReader> reader;
  std::shared_ptr<const TableProperties> properties;
  std::string unique_id;  // 16 bytes; empty: the table has no identity

  // Of a table that a program wrote: 1 or 2, else 0; and the sequence number that was written into
  // it, 0 if none was.
  uint32_t external_version = 0;
  SequenceNumber global_seqno = 0;
  // False: its keys lack the timestamps that the family's have; bounds have the oldest one.
  bool timestamps_persisted = true;

  // Internal keys, as the reader shows them; empty if there is none.
  InternalKey smallest_point;
  InternalKey largest_point;
  // The first begin at its newest sequence number, and the largest end, exclusive, as a MANIFEST
  // has it: at kMaxSequenceNumber.
  InternalKey smallest_tombstone;
  InternalKey largest_tombstone_end;
  // Of both: what a MANIFEST has as the table's bounds.
  InternalKey smallest;
  InternalKey largest;

  // Of what was looked at: all points with every_block, else the two ends, and all range deletions.
  SequenceNumber smallest_seq = kMaxSequenceNumber;
  SequenceNumber largest_seq = 0;
  uint64_t points = 0;  // with every_block

  [[nodiscard]] bool empty() const { return smallest.empty(); }
};

// Opens the table at `path` and looks at it; a table without entries is no error. Reads nothing
// from the block cache, and puts nothing there.
//
// Errors, all of which name the file: Corruption for bytes that no table has, or that contradict
//   each other (the comparator's name included: InvalidArgument); NotSupported for a form that we
//   do not read, IOError.
Status InspectTable(const std::string& path, const InspectOptions& options, InspectedTable* table);

}  // namespace varve
