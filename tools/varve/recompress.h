// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tries codecs on a table: writes its entries again with each of them, in memory, and says how
// large the table becomes and how long writing and reading take.

#include "varve/status.h"

#include "tools/varve/console.h"
#include "tools/varve/request.h"
#include "tools/varve/table_file.h"

namespace varve::tool {

Status TryCompressions(const Request& request, const TableFile& file, Console* console);

}  // namespace varve::tool
