// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notifies listeners of each operation on a file, if any of them asks for that.

#include <memory>
#include <vector>

#include "varve/file_system.h"
#include "varve/listener.h"

namespace varve {

// Returns `fs` itself if no listener wants file notifications. Otherwise returns one whose files,
// as long as they live, notify those that do. It offers no mapped files, whose writes could not be
// seen. Exceptions of listeners are dropped: the operation's result stays.
std::shared_ptr<FileSystem> WithFileEvents(
    const std::shared_ptr<FileSystem>& fs,
    const std::vector<std::shared_ptr<EventListener>>& listeners);

}  // namespace varve
