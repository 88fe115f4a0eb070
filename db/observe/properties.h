// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named facts about a running database: DB::GetProperty and its kin.

#include <cstdint>
#include <map>
#include <string>

#include "varve/slice.h"

namespace varve {

class ColumnFamily;
struct Engine;

// False for an unknown name. Text properties may allocate much.
bool GetTextProperty(Engine* engine, ColumnFamily* family, const Slice& name, std::string* value);
bool GetNumberProperty(Engine* engine, ColumnFamily* family, const Slice& name, uint64_t* value);
bool GetMapPropertyOf(Engine* engine, ColumnFamily* family, const Slice& name,
                      std::map<std::string, std::string>* value);
// Summed over families; false for unknown names and those that have no sum.
bool GetAggregatedNumberProperty(Engine* engine, const Slice& name, uint64_t* value);

// For the LOG (DBOptions::stats_dump_period_sec): rocksdb.stats of every family, and what
// DBOptions::statistics has counted.
std::string DescribeStatistics(Engine* engine);

}  // namespace varve
