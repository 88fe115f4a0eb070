// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares what a table's properties say about it with what the MANIFEST says, whatever its format.

#include <string>

#include "varve/status.h"
#include "varve/table_properties.h"

#include "table/meta/properties_block.h"
#include "table/table_reader.h"

namespace varve {

// Returns Corruption if the table is not the one that the MANIFEST names.
Status CheckTableIdentity(const TableProperties& properties, const TableOpenOptions& options,
                          const std::string& name);

// Sets *sequence to the sequence number of all entries if they have a common one, which is not in
// their keys. Returns Corruption if table and MANIFEST disagree about it.
Status FindOverrideSequence(const TableTraits& traits, const TableOpenOptions& options,
                            const std::string& name, SequenceNumber* sequence);

}  // namespace varve
