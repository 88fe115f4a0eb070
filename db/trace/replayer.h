// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays a trace: reads records, waits until each is due, and has it executed.

#include <memory>
#include <vector>

#include "varve/db.h"
#include "varve/trace_reader_writer.h"
#include "varve/utilities/replayer.h"

namespace varve {

// `reader` is not null. Database and handles must outlive the replayer.
std::unique_ptr<Replayer> MakeReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                                       std::unique_ptr<TraceReader> reader);

}  // namespace varve
