// SPDX-License-Identifier: Apache-2.0
#pragma once

// Examines a table file: finds its family, verifies all of it, and copies the readable entries of a
// damaged one.

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

// The result of reading a whole table.
struct TableFinding {
  enum class State : uint8_t {
    kSound,
    kDamaged,     // Some of its blocks can be read.
    kUnreadable,  // No block, or no index or properties, can be read.
  };
  State state = State::kUnreadable;
  Status why;  // Error if it is not sound.
  std::string path;
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  // From its properties.
  std::string family_name;
  uint64_t family_id = 0;
  std::string comparator_name;
  // The table's entry for a MANIFEST, with the bounds of its readable entries, level 0, and no
  // epoch.
  NewFile file;
  // The bounds of the point entries alone; empty if there are none.
  InternalKey first_point;
  InternalKey last_point;
  bool has_tombstones = false;
  SalvageCount count;
  // The compression of each blob file that entries refer to, by file number, from the first
  // reference to it.
  std::map<uint64_t, CompressionType> blob_codecs;
};

// Thread safety: none. Pointers are not owned.
struct TableSurveyContext {
  FileSystem* fs = nullptr;
  const ColumnFamilyOptions* options = nullptr;  // Options of the family.
  const InternalKeyComparator* icmp = nullptr;
};

// Reads only the properties, which have the family. After any error the table counts as unreadable.
Status ReadTableProperties(const TableSurveyContext& context, const std::string& path,
                           std::shared_ptr<const TableProperties>* properties);

// Compares size, footer, index and properties of the file with `known`. Corruption: it is damaged,
// or another table. NotFound or PathNotFound: there is no file.
Status CheckTable(const TableSurveyContext& context, const std::string& path, const NewFile& known);

// Reads the whole table, and sets *finding. `known` is its entry in the MANIFEST, or null; a table
// that does not match it is not sound.
void ExamineTable(const TableSurveyContext& context, const std::string& path, uint64_t number,
                  const NewFile* known, TableFinding* finding);

// Writes the readable entries of a damaged table to a new table, with the number build.file_number,
// durably, and sets *copy to its description (TableOutput::Finish). Range tombstones are limited to
// the bounds of `known`, unless it is null. NotFound: there are no readable entries, and no file
// was made.
Status CopyReadableEntries(const TableSurveyContext& context, const TableFinding& damaged,
                           const NewFile* known, const TableOutputContext& output,
                           const TableBuildOptions& build, NewFile* copy);

}  // namespace varve
