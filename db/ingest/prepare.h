// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first step of an ingestion, which needs no order among writes: files are staged, synced,
// opened and inspected. No reader and no writer sees anything of it.

#include <memory>
#include <vector>

#include "varve/external_file.h"

#include "db/engine/engine.h"
#include "db/ingest/ingestion.h"

namespace varve {

// OK: *ingestion has all files of the arguments, and is in the engine's list of staged ones.
// Otherwise nothing is left of it. InvalidArgument and NotSupported name the fault.
Status PrepareIngestion(Engine* engine, const std::vector<IngestExternalFileArg>& args,
                        std::shared_ptr<Ingestion>* ingestion);

}  // namespace varve
