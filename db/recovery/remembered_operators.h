// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which merge operator each column family was opened with before: its operands mean nothing to
// another one.

#include <map>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/status.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"

namespace varve {

// After the version set was recovered, before any family is made. What the MANIFEST does not
// remember, as when RocksDB has written it, is taken from the newest OPTIONS file.
// InvalidArgument: a family is to be opened with an operator of another name, which its options do
// not allow. Writes nothing.
Status CheckMergeOperators(const std::vector<ColumnFamilyDescriptor>& families,
                           const DbContext& context, const DbState& state) VARVE_REQUIRES(kDbMutex);

// InvalidArgument: the options have another operator than the family was opened with, which they do
// not allow. `remembered` is empty if nobody knows.
Status CheckMergeOperator(const std::string& family, const ColumnFamilyOptions& options,
                          const std::string& remembered);

// What the newest OPTIONS file says, by family, as far as it can be read: a file that cannot be
// read forbids nothing.
std::map<std::string, std::string> MergeOperatorsInOptionsFile(FileSystem* fs,
                                                               const std::string& db_name,
                                                               Logger* info_log);

// The operator that the options name, if there is one; empty: none.
std::string MergeOperatorName(const ColumnFamilyOptions& options);

}  // namespace varve
