// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes a table from outside, and checks whether a family can have it.

#include "db/ingest/ingestion.h"

namespace varve {

// Opens the table at table->path and fills in what the MANIFEST records of it, except the level and
// the sequence numbers. InvalidArgument: it is no table for this family. Corruption: it has
// impossible contents. Nothing in the bytes is trusted.
Status DescribeExternalTable(const ColumnFamily& family, const IngestExternalFileOptions& options,
                             StagedTable* table);

}  // namespace varve
