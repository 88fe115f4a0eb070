// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells listeners of each operation on a file, if any of them wants to know.

#include <memory>
#include <vector>

#include "varve/file_system.h"
#include "varve/listener.h"

namespace varve {

// `fs` itself if none of the listeners wants to be notified of file operations. Else one whose
// files, as long as they live, tell those that do. It offers no mapped files, whose writes nobody
// would see. What a listener throws is dropped: the operation is over, and was what it was.
std::shared_ptr<FileSystem> WithFileEvents(
    const std::shared_ptr<FileSystem>& fs,
    const std::vector<std::shared_ptr<EventListener>>& listeners);

}  // namespace varve
