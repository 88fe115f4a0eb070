// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::OpenChangeStream and DropChangeStream: the writes since a named position.

#include <memory>
#include <string>

#include "varve/change_stream.h"
#include "varve/status.h"

namespace varve {

struct Engine;

// Return the statuses of the calls of DB. The stream keeps the engine, and may outlive the DB.
Status OpenNamedStream(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                       std::unique_ptr<ChangeStream>* stream);
Status DropNamedStream(Engine* engine, const std::string& name);

}  // namespace varve
