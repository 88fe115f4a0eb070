// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named facts about a running database as texts and maps: DB::GetProperty and its kin. Those that
// are numbers come from number_properties.

#include <map>
#include <string>

#include "varve/slice.h"

namespace varve {

class ColumnFamily;
struct Engine;

// False for an unknown name. Text properties may allocate much.
bool GetTextProperty(Engine* engine, ColumnFamily* family, const Slice& name, std::string* value);
bool GetMapPropertyOf(Engine* engine, ColumnFamily* family, const Slice& name,
                      std::map<std::string, std::string>* value);
// For the LOG (DBOptions::stats_dump_period_sec): rocksdb.stats of every family, and what
// DBOptions::statistics has counted.
std::string DescribeStatistics(Engine* engine);

}  // namespace varve
