// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notifies listeners of each operation on a file, if any of them asks for that.

#include <memory>
#include <vector>

#include "varve/file_system.h"
#include "varve/listener.h"

namespace varve {

// Returns `fs` if no listener asks for file notifications. Otherwise returns a wrapper of `fs`. The
// wrapper, and each file that is opened through it, share ownership of the listeners that asked,
// and call them after each operation, in the calling thread. The wrapper offers no mapped files,
// whose writes could not be seen. Exceptions of listeners are dropped, and the operation's result
// stays.
std::shared_ptr<FileSystem> WithFileEvents(
    const std::shared_ptr<FileSystem>& fs,
    const std::vector<std::shared_ptr<EventListener>>& listeners);

}  // namespace varve
