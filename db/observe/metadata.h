// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the files of a database, and the sizes of parts of it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/metadata.h"
#include "varve/table_properties.h"
#include "varve/transaction_log.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Each of these describes one moment.
void ListLiveFiles(Engine* engine, std::vector<LiveFileMetaData>* files);
void DescribeFamily(Engine* engine, ColumnFamily* family, ColumnFamilyMetaData* metadata);
void DescribeAllFamilies(Engine* engine, std::vector<ColumnFamilyMetaData>* metadata);
// Returns names relative to the directory, with a leading slash, and the size of the MANIFEST that
// names these tables.
Status ListFilesForCopy(Engine* engine, std::vector<std::string>* names, uint64_t* manifest_bytes);
Status ListLogs(Engine* engine, VectorLogPtr* files);
// Describes the log that is being written. Returns NotSupported for a database that is not written.
Status DescribeCurrentLog(Engine* engine, std::unique_ptr<LogFile>* file);
// Sets *seconds; 0: unknown for some table; UINT64_MAX: there are no tables.
Status OldestCreationTime(Engine* engine, uint64_t* seconds);
Status ApproximateSizes(ColumnFamily* family, const SizeApproximationOptions& options,
                        const Range* ranges, int n, uint64_t* sizes);
Status TablePropertiesInRanges(Engine* engine, ColumnFamily* family, const Range* ranges, size_t n,
                               TablePropertiesCollection* properties);  // ranges null: all tables
// Sums the properties of the tables of a level, or, if it is negative, of all levels.
Status SumTableProperties(Engine* engine, ColumnFamily* family, int level, TableProperties* sum);

}  // namespace varve
