// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fills in the properties of a table that are known before its entries are, and have nothing to do
// with its format.

#include "varve/table_properties.h"

#include "table/table_builder.h"

namespace varve {

// Sets those members of *properties, and leaves the others. Requires options.icmp.
void DescribeTable(const TableBuildOptions& options, TableProperties* properties);

}  // namespace varve
