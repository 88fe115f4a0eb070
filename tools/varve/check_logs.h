// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks the write-ahead logs of a database.

#include <cstdint>
#include <string>

#include "varve/status.h"

#include "tools/varve/findings.h"

namespace varve::tool {

// Reads every log from number `oldest` on. What a log of lower number holds is in tables. A log
// that a writer deletes meanwhile is passed over. Returns errors of the file system.
Status CheckLogs(const std::string& db, const std::string& log_directory, uint64_t oldest,
                 Findings* findings);

}  // namespace varve::tool
