// SPDX-License-Identifier: Apache-2.0
#pragma once

// One table file looked at by itself: whose it is, whether every byte of it is sound, and a sound
// copy of what can be read of a damaged one.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"

#include "db/compaction/table_output.h"
#include "db/version/version_edit.h"
#include "table/table_reader.h"

namespace varve {

struct TableFinding {
  enum class State : uint8_t {
    kSound,
    kDamaged,     // some of its blocks can be read
    kUnreadable,  // none, or the index or the properties cannot
  };
  State state = State::kUnreadable;
  Status why;  // of what is not sound
  std::string path;
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  // As its properties have them.
  std::string family_name;
  uint64_t family_id = 0;
  std::string comparator_name;
  // Found by reading it all, with the bounds of what was read; level 0 and no epoch.
  NewFile file;
  // The same of the point entries alone; empty if there are none.
  InternalKey first_point;
  InternalKey last_point;
  bool has_tombstones = false;
  SalvageCount count;
};

// Thread safety: none. Pointers are borrowed.
struct TableSurveyContext {
  FileSystem* fs = nullptr;
  const ColumnFamilyOptions* options = nullptr;  // of the family
  const InternalKeyComparator* icmp = nullptr;
};

// The properties alone, with which the family can be found out. Anything but OK: unreadable.
Status ReadTableProperties(const TableSurveyContext& context, const std::string& path,
                           std::shared_ptr<const TableProperties>* properties);

// Whether the file is that table, as far as size, footer, index and properties tell. Corruption: it
// is not; NotFound, PathNotFound: there is none.
Status CheckTable(const TableSurveyContext& context, const std::string& path, const NewFile& known);

// Reads everything. `known` is what the MANIFEST has, or null; a table that is not that one is not
// sound. Only I/O errors of the directory are errors.
void ExamineTable(const TableSurveyContext& context, const std::string& path, uint64_t number,
                  const NewFile* known, TableFinding* finding);

// Writes what can be read of a damaged table to a new one, build.file_number, that is complete and
// durable. Tombstones reach as far as the old bounds did (`known`; null: as far as they say).
// NotFound, and no file, if nothing is left.
Status CopyReadableEntries(const TableSurveyContext& context, const TableFinding& damaged,
                           const NewFile* known, const TableOutputContext& output,
                           const TableBuildOptions& build, NewFile* copy);

}  // namespace varve
