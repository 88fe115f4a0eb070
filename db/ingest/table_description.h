// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes an external table, and checks whether it can be added to a family.

#include "db/ingest/ingestion.h"

namespace varve {

// Opens the table at table->path, whose bytes are not trusted, checks it, and describes it in
// *table. Requires `source`, `path`, `prepared` (null: the bounds are read from the table),
// `expected_level`, file.number and file.size. Sets `reader`, `properties`, `db_generated` and
// `only_tombstone`; and of `file` the bounds, unique_id, counts, timestamps_persisted and
// tail_size, and the sequence numbers: those of the entries if db_generated, else 0. After an error
// these members are undefined. Does I/O, so the DB mutex must not be held; several threads may call
// this, each with its own table.
//
// InvalidArgument: the table has no entries, or has another comparator, family or use of timestamps
// than `family`, or is not the file that `prepared` describes. NotSupported: a table of a database
// (db_generated) has range deletions or references to blob files. Corruption: the contents are
// damaged, or not those of a table for ingestion. Otherwise the errors of opening a table
// (TableCache::OpenOutside).
Status DescribeExternalTable(const ColumnFamily& family, const IngestExternalFileOptions& options,
                             StagedTable* table);

}  // namespace varve
