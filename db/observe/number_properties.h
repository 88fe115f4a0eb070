// SPDX-License-Identifier: Apache-2.0
#pragma once

// The named facts about a running database that are numbers.

#include <cstdint>

#include "varve/slice.h"

namespace varve {

class ColumnFamily;
struct Engine;

// False for a name that is unknown, or that has no number in this family.
bool GetNumberProperty(Engine* engine, ColumnFamily* family, const Slice& name, uint64_t* value);
// Summed over families, whatever the sum may mean; of the whole database, once; of block caches,
// each once that several families share. False for unknown names.
bool GetAggregatedNumberProperty(Engine* engine, const Slice& name, uint64_t* value);

}  // namespace varve
