// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the programs that read and write directories: the drivers, and RocksDB's public tools.

#include <string>
#include <vector>

#include "tests/model/reference.h"

namespace varve::testing {

// Output and error together; *exit_code as a shell tells it.
std::string RunProgram(const std::string& command, int* exit_code);
bool ProgramExists(const std::string& name);

// Runs the driver on the script, which is written into `work`. "" or what went wrong.
std::string RunScript(const std::string& driver, const std::string& work, const std::string& text);

// What the public tools say to `directory`, compared with `state`: consistency, each family's scan,
// some reads, MANIFEST, logs, checksums and order of every table. "" or what is wrong.
std::string CheckWithTools(const std::string& directory, const ReferenceState& state);

// Files of the directory that end in `suffix` or, for "MANIFEST-", begin with it.
std::vector<std::string> FilesNamed(const std::string& directory, const std::string& affix);

}  // namespace varve::testing
