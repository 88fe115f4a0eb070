// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes manual pages, and the completion for bash, from the grammar of the command line.

#include <string>

#include "varve/status.h"

namespace CLI {
class App;
}

namespace varve::tool {

// Writes varve.1, and varve-COMMAND.1 for each command, into an existing directory.
Status WriteManPages(const CLI::App& app, const std::string& directory);

// Prints a script for bash to the standard output.
Status PrintCompletion(const CLI::App& app);

}  // namespace varve::tool
