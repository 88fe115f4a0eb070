// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a table from outside says of itself, and whether a family can have it.

#include "db/ingest/ingestion.h"

namespace varve {

// Opens the table at table->path and fills in what the MANIFEST is to know of it, but for the level
// and the numbers in the order of writes. InvalidArgument: it is no table for this family.
// Corruption: what stands in it cannot be. The bytes are trusted in nothing.
Status DescribeExternalTable(const ColumnFamily& family, const IngestExternalFileOptions& options,
                             StagedTable* table);

}  // namespace varve
