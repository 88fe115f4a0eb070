// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the command line: the grammar of all commands, their help, and the permissions that they
// need.

#include <optional>
#include <string>

#include "varve/status.h"

#include "tools/varve/console.h"
#include "tools/varve/request.h"

namespace varve::tool {

// A command of the program. All are constants of command_line.cc.
struct Command {
  const char* name;
  const char* help;
  Status (*run)(const Request& request, Console* console);
  bool writes = false;  // Changes the database: needs --write.
};

// Holds what the command line asks for.
struct Invocation {
  const Command* command = nullptr;
  Request request;
};

// Fills *invocation and returns nothing if a command is to be run. Otherwise returns the exit
// status with which the program ends: help was asked for and printed, or the command line is wrong,
// and the reason printed.
std::optional<int> ReadCommandLine(int argc, const char* const* argv, Invocation* invocation);

}  // namespace varve::tool
