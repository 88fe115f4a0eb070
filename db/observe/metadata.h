// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which files a database consists of, and how large parts of it are.

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

// What each answers is of one moment.
void ListLiveFiles(Engine* engine, std::vector<LiveFileMetaData>* files);
void DescribeFamily(Engine* engine, ColumnFamily* family, ColumnFamilyMetaData* metadata);
void DescribeAllFamilies(Engine* engine, std::vector<ColumnFamilyMetaData>* metadata);
// Names relative to the directory, with a leading slash; the size at which the MANIFEST names these
// tables.
Status ListFilesForCopy(Engine* engine, std::vector<std::string>* names, uint64_t* manifest_bytes);
Status ListLogs(Engine* engine, VectorLogPtr* files);
// The log that is written now. NotSupported for a database that is not written.
Status DescribeCurrentLog(Engine* engine, std::unique_ptr<LogFile>* file);
// Seconds; 0: of some table it is not known; UINT64_MAX: there are no tables.
Status OldestCreationTime(Engine* engine, uint64_t* seconds);
Status ApproximateSizes(ColumnFamily* family, const SizeApproximationOptions& options,
                        const Range* ranges, int n, uint64_t* sizes);
Status TablePropertiesInRanges(Engine* engine, ColumnFamily* family, const Range* ranges, size_t n,
                               TablePropertiesCollection* properties);  // ranges null: all tables
// Of the tables of a level, or, below 0, of all.
Status SumTableProperties(Engine* engine, ColumnFamily* family, int level, TableProperties* sum);

}  // namespace varve
