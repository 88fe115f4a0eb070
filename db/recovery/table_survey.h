// SPDX-License-Identifier: Apache-2.0
#pragma once

// Examines one table file: finds its family, checks every byte, and copies the readable entries of
// a damaged one.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "varve/compression_type.h"
#include "varve/options.h"

#include "db/compaction/table_output.h"
#include "db/version/version_edit.h"
#include "table/table_reader.h"

namespace varve {

// The findings of a reading of a whole table.
struct TableFinding {
  enum class State : uint8_t {
    kSound,
    kDamaged,     // Some of its blocks can be read.
    kUnreadable,  // No block, or not the index or the properties.
  };
  State state = State::kUnreadable;
  Status why;  // Reason if it is not sound.
  std::string path;
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  // Values of its properties.
  std::string family_name;
  uint64_t family_id = 0;
  std::string comparator_name;
  // The table as a MANIFEST would describe it, with the bounds of its readable entries. Its level
  // is 0, and it has no epoch.
  NewFile file;
  // The bounds of the point entries alone; empty if there are none.
  InternalKey first_point;
  InternalKey last_point;
  bool has_tombstones = false;
  SalvageCount count;
  // The codec of each blob file that entries refer to, keyed by the file's number, as the first
  // reference to it has it.
  std::map<uint64_t, CompressionType> blob_codecs;
};

// Thread safety: none. Pointers are not owned.
struct TableSurveyContext {
  FileSystem* fs = nullptr;
  const ColumnFamilyOptions* options = nullptr;  // Options of the family.
  const InternalKeyComparator* icmp = nullptr;
};

// Reads only the properties, which identify the family. Any error means that the table is
// unreadable.
Status ReadTableProperties(const TableSurveyContext& context, const std::string& path,
                           std::shared_ptr<const TableProperties>* properties);

// Checks size, footer, index and properties of the file against `known`. Returns Corruption if it
// is another table, and NotFound or PathNotFound if there is no file.
Status CheckTable(const TableSurveyContext& context, const std::string& path, const NewFile& known);

// Reads the whole table. `known` is its entry in the MANIFEST, or null; a table that does not match
// it is not sound.
void ExamineTable(const TableSurveyContext& context, const std::string& path, uint64_t number,
                  const NewFile* known, TableFinding* finding);

// Writes the readable entries of a damaged table to a new one, build.file_number, which is complete
// and durable. Tombstones are limited to the bounds of `known`, which may be null: then they are
// not limited. If no entry is left, returns NotFound and makes no file.
Status CopyReadableEntries(const TableSurveyContext& context, const TableFinding& damaged,
                           const NewFile* known, const TableOutputContext& output,
                           const TableBuildOptions& build, NewFile* copy);

}  // namespace varve
