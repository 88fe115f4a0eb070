// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns properties of an open database as texts and maps: DB::GetProperty and GetMapProperty.
// Numeric properties are in number_properties.h.

#include <map>
#include <string>

#include "varve/slice.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Set *value to the property of the family. Return false for an unknown name. A text may need much
// memory.
bool GetTextProperty(Engine* engine, ColumnFamily* family, const Slice& name, std::string* value);
bool GetMapPropertyOf(Engine* engine, ColumnFamily* family, const Slice& name,
                      std::map<std::string, std::string>* value);
// Returns a text for the LOG (DBOptions::stats_dump_period_sec): rocksdb.stats of every family, and
// the counts of DBOptions::statistics.
std::string DescribeStatistics(Engine* engine);

}  // namespace varve
