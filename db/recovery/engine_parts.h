// SPDX-License-Identifier: Apache-2.0
#pragma once

// Steps that all kinds of openings of an engine share.

#include <memory>
#include <vector>

#include "varve/db.h"

#include "db/recovery/open.h"

namespace varve {

struct Engine;

// Returns an engine with the request's sanitized options and absolute paths. Does no I/O.
std::shared_ptr<Engine> MakeEngine(const OpenRequest& request);

// InvalidArgument: a name occurs twice, or the default family is missing. Otherwise returns the
// first error of CheckFamily (families.h).
Status CheckFamilies(const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families);

// Creates the write path of an engine. Requires its logs and versions, and that the last sequence
// number is final, or is told with CommitPath::StartFrom before the first write.
void MakeWritePath(Engine* engine);

}  // namespace varve
