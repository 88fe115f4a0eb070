// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the programs that read and write directories: the drivers, and RocksDB's public tools.

#include <string>
#include <vector>

#include "tests/model/reference.h"

namespace varve::testing {

// Returns output and error together. Sets *exit_code as a shell reports it.
std::string RunProgram(const std::string& command, int* exit_code);
bool ProgramExists(const std::string& name);

// Runs the driver on the script, which is written into `work`. Returns "" or the problem.
std::string RunScript(const std::string& driver, const std::string& work, const std::string& text);

// Compares the public tools' view of `directory` with `state`: consistency, each family's scan,
// some reads, MANIFEST, logs, checksums and order of every table. Returns "" or the problem.
std::string CheckWithTools(const std::string& directory, const ReferenceState& state);

// Returns files of the directory that end in `suffix` or, for "MANIFEST-", begin with it.
std::vector<std::string> FilesNamed(const std::string& directory, const std::string& affix);

}  // namespace varve::testing
