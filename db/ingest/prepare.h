// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first step of an ingestion: files are staged, synced, opened and inspected. It affects no
// readers and writers.

#include <memory>
#include <vector>

#include "varve/external_file.h"

#include "db/engine/engine.h"
#include "db/ingest/ingestion.h"

namespace varve {

// Stages the files of all arguments. On success *ingestion holds them, and is in the engine's list
// of staged ingestions. After an error nothing of it is left. InvalidArgument and NotSupported
// messages name the file or option at fault.
Status PrepareIngestion(Engine* engine, const std::vector<IngestExternalFileArg>& args,
                        std::shared_ptr<Ingestion>* ingestion);

}  // namespace varve
