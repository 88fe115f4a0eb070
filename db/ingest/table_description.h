// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes an external table, and checks whether it can be added to a family.

#include "db/ingest/ingestion.h"

namespace varve {

// Opens the table at table->path, and sets in table->file what the MANIFEST records of it, except
// the level and assigned sequence numbers. InvalidArgument or NotSupported: the table does not fit
// the family or the options. Corruption: its contents are damaged or impossible. Its bytes are not
// trusted.
Status DescribeExternalTable(const ColumnFamily& family, const IngestExternalFileOptions& options,
                             StagedTable* table);

}  // namespace varve
