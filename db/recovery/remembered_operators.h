// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks which merge operator each column family was opened with before, because its operands mean
// nothing to another one.

#include <map>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/status.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// Must be called after the version set was recovered and before any family is created. Operators
// that the MANIFEST does not store, as when RocksDB has written it, are read from the newest
// OPTIONS file. Returns InvalidArgument if a family is to be opened with an operator of another
// name, and its options do not allow that. Writes nothing.
Status CheckMergeOperators(const std::vector<ColumnFamilyDescriptor>& families,
                           const DbContext& context, const DbState& state) VARVE_REQUIRES(kDbMutex);

// Returns InvalidArgument if the options have another operator than `remembered` and do not allow
// that. `remembered` is empty if it is unknown.
Status CheckMergeOperator(const std::string& family, const ColumnFamilyOptions& options,
                          const std::string& remembered);

// Returns the operators in the newest OPTIONS file by family, as far as it can be read: an
// unreadable file forbids nothing.
std::map<std::string, std::string> MergeOperatorsInOptionsFile(FileSystem* fs,
                                                               const std::string& db_name,
                                                               Logger* info_log);

// Returns the name of the options' operator; empty if there is none.
std::string MergeOperatorName(const ColumnFamilyOptions& options);

}  // namespace varve
