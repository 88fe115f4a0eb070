// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks the tables that a MANIFEST names.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/compression_type.h"
#include "varve/options.h"
#include "varve/status.h"

#include "db/recovery/manifest_survey.h"
#include "tools/varve/findings.h"

namespace varve::tool {

// Says where a family's tables are, and what they are read with.
struct TableFamily {
  std::string db;
  DBOptions db_options;
  ColumnFamilyOptions options;
};

// Holds what the check of a family's tables leaves to its caller.
struct SeenTables {
  // Numbers of tables that are absent. The caller asks the MANIFEST once more before it calls that
  // damage.
  std::vector<uint64_t> missing;
  // The codec of each blob file, keyed by its number, as references say. Tables that are damaged,
  // or were not read whole, add none.
  std::map<uint64_t, CompressionType> blob_codecs;
};

// Checks the family's tables: present, as long as the MANIFEST says, each block with its checksum,
// entries in order and within the bounds of the MANIFEST, tables of a level in order. `quick`:
// reads only their ends.
Status CheckTables(const TableFamily& where, const SurveyedFamily& family, bool quick,
                   Findings* findings, SeenTables* seen);

// Returns the path that the table has, or should have.
std::string TablePathOf(const TableFamily& where, const NewFile& file);

}  // namespace varve::tool
