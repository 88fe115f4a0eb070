// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::OpenChangeStream and DropChangeStream: streams of the writes since a named
// position.
//
// A stream is an UpdateReader with a persistent position: the MANIFEST stores its name and
// position, so after a crash a consumer continues where it was, and no log that it still needs is
// deleted meanwhile.
//
//      ... 100       140        170           200        sequence numbers
//           |         |          |             |
//         stored   acknowledged given out    visible
//         in the   by the user  by Next
//         MANIFEST
//
// Records between "stored" and "given out" may be returned again after a crash: delivery is at
// least once. The logs from "stored" on are kept by the list of positions
// (db/engine/change_positions.h), and not by the reader, so they stay while no stream is open. A
// position expires when its limits, max_retained_bytes or max_idle_seconds, are exceeded; then the
// logs are deleted, and the stream returns Expired.

#include <memory>
#include <string>

#include "varve/change_stream.h"
#include "varve/status.h"

namespace varve {

struct Engine;

// Return what the calls of DB return. The stream shares the engine, and may outlive the DB.
Status OpenNamedStream(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                       std::unique_ptr<ChangeStream>* stream);
Status DropNamedStream(Engine* engine, const std::string& name);

}  // namespace varve
