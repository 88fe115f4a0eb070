// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that a column family is opened with the merge operator of earlier openings, because
// another one cannot interpret its operands.

#include <map>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/status.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// Must be called after the version set was recovered and before any family is created. Operators
// that the MANIFEST does not have, for example if RocksDB has written it, are read from the newest
// OPTIONS file and set in the version set, which writes them to its next MANIFEST; no file is
// written here. Returns InvalidArgument if a family's operator has another name than before, and
// its options do not allow that.
Status CheckMergeOperators(const std::vector<ColumnFamilyDescriptor>& families,
                           const DbContext& context, const DbState& state) VARVE_REQUIRES(kDbMutex);

// Returns InvalidArgument if the options have an operator of another name than `remembered`, and
// allow_other_merge_operator is false. Options without an operator are accepted, and so is every
// operator if `remembered` is "", as it is not known.
Status CheckMergeOperator(const std::string& family, const ColumnFamilyOptions& options,
                          const std::string& remembered);

// Returns the operators in the newest OPTIONS file by family, or an empty map if it cannot be read.
std::map<std::string, std::string> MergeOperatorsInOptionsFile(FileSystem* fs,
                                                               const std::string& db_name,
                                                               Logger* info_log);

// Returns the name of the options' operator, or "".
std::string MergeOperatorName(const ColumnFamilyOptions& options);

}  // namespace varve
