// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns the numeric properties of an open database: DB::GetIntProperty and
// GetAggregatedIntProperty.

#include <cstdint>

#include "varve/slice.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Sets *value to the property of the family. Returns false if the name is unknown, or the family
// does not have the property.
bool GetNumberProperty(Engine* engine, ColumnFamily* family, const Slice& name, uint64_t* value);
// Sets *value to the sum of the property over all families, whether or not it is meaningful. A
// property of the whole database, and a cache that families share, is counted once. Returns false
// for unknown names.
bool GetAggregatedNumberProperty(Engine* engine, const Slice& name, uint64_t* value);

}  // namespace varve
