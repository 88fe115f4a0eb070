// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares what a table's properties say about it with what the MANIFEST says, whatever its format.

#include <string>

#include "varve/status.h"
#include "varve/table_properties.h"

#include "table/meta/properties_block.h"
#include "table/table_reader.h"

namespace varve {

// Corruption: the table is not the one that the MANIFEST names, as its unique id is not
// options.expected_unique_id. A table without an identity is not compared. `name` is that of the
// file, here and below, for messages.
Status CheckTableIdentity(const TableProperties& properties, const TableOpenOptions& options,
                          const std::string& name);

// Sets *sequence to the sequence number of all entries if they have a common one, which is not in
// their keys, and leaves it otherwise. Corruption: the number in the table's properties is not
// options.largest_seq, which is that of the MANIFEST, or is out of range.
Status FindOverrideSequence(const TableTraits& traits, const TableOpenOptions& options,
                            const std::string& name, SequenceNumber* sequence);

}  // namespace varve
