// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the files of a database, and estimates the sizes of key ranges. Implements the calls of DB
// that return metadata; all are thread-safe and take the DB mutex.

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

// Set the results to the state of one moment.
void ListLiveFiles(Engine* engine, std::vector<LiveFileMetaData>* files);
void DescribeFamily(Engine* engine, ColumnFamily* family, ColumnFamilyMetaData* metadata);
void DescribeAllFamilies(Engine* engine, std::vector<ColumnFamilyMetaData>* metadata);
// Implements DB::GetLiveFiles after its flush: sets *names to names relative to the directory, with
// a leading slash, and *manifest_bytes (may be null) to the size at which the MANIFEST names these
// files.
Status ListFilesForCopy(Engine* engine, std::vector<std::string>* names, uint64_t* manifest_bytes);
// Sets *files to the archived and live logs, the oldest first.
Status ListLogs(Engine* engine, VectorLogPtr* files);
// Sets *file to the current log; to null after an error. InvalidArgument: `file` is null.
// NotSupported: the database is read-only. ShutdownInProgress: the database is closed.
Status DescribeCurrentLog(Engine* engine, std::unique_ptr<LogFile>* file);
// Sets *seconds to the creation time of the oldest table in seconds since 1970: 0 if it is not
// known for some table, UINT64_MAX if there are no tables.
Status OldestCreationTime(Engine* engine, uint64_t* seconds);
// Sets sizes[i] to the approximate bytes of the range ranges[i] of the `n` ranges, whose ends are
// user keys without timestamps.
Status ApproximateSizes(ColumnFamily* family, const SizeApproximationOptions& options,
                        const Range* ranges, int n, uint64_t* sizes);
// Adds to *properties those of the tables that overlap one of the `n` ranges, both of whose ends
// count, by path; null `ranges`: of all tables. Opens tables that are not open.
Status TablePropertiesInRanges(Engine* engine, ColumnFamily* family, const Range* ranges, size_t n,
                               TablePropertiesCollection* properties);
// Adds to *sum the properties of the tables of a level, or of all levels if it is negative. Opens
// tables that are not open.
Status SumTableProperties(Engine* engine, ColumnFamily* family, int level, TableProperties* sum);

}  // namespace varve
