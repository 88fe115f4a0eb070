// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::OpenChangeStream and DropChangeStream: the writes since a named position.
//
// A stream is an UpdateReader with a memory: the MANIFEST stores the name and the position, so a
// consumer finds its place again after a crash, and no log that it still needs is removed
// meanwhile.
//
//      ... 100       140        170           200        sequence numbers
//           |         |          |             |
//         stored   acknowledged given out    visible
//         in the   by the user  by Next
//         MANIFEST
//
// What lies between "stored" and "given out" may be given out a second time after a crash: delivery
// is at least once. The list of positions (db/engine/change_positions.h) keeps the logs from
// "stored" on, and not the reader, so they stay while no stream is open. A position expires when
// its bounds, max_retained_bytes and max_idle_seconds, are exceeded; the logs go then, and the
// stream reports Expired.

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
