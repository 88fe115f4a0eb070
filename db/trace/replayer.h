// SPDX-License-Identifier: Apache-2.0
#pragma once

// MakeReplayer makes the Replayer of DB::NewDefaultReplayer: it reads records, waits until each is
// due, and executes it.

#include <memory>
#include <vector>

#include "varve/db.h"
#include "varve/trace_reader_writer.h"
#include "varve/utilities/replayer.h"

namespace varve {

// Returns a replayer of the trace that `reader` has, which must not be null. Database and handles
// must outlive it.
std::unique_ptr<Replayer> MakeReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                                       std::unique_ptr<TraceReader> reader);

}  // namespace varve
