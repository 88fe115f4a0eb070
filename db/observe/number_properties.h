// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns the properties of a running database that are numbers.

#include <cstdint>

#include "varve/slice.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Returns false for a name that is unknown, or that has no number in this family.
bool GetNumberProperty(Engine* engine, ColumnFamily* family, const Slice& name, uint64_t* value);
// Sums the property over families, even if the sum has no meaning; counts properties of the whole
// database once, and each block cache shared by families once. Returns false for unknown names.
bool GetAggregatedNumberProperty(Engine* engine, const Slice& name, uint64_t* value);

}  // namespace varve
