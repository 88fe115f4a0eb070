// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the libraries to compare, which engine each is, and whether it was built for speed. Only
// their files are read; nothing is loaded into this process.

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/compare/engine.h"

namespace compare {

enum class Kind { kUnknown, kRocksDb, kLevelDb, kLmdb };

struct Contender {
  std::string path;
  Kind kind = Kind::kUnknown;
  std::string name;  // with the version: what the library says, see Identify in child.h
  // Reason why its speed says nothing: it was built with assertions or for a sanitizer. Empty if
  // fit.
  std::string unfit;
};

// Returns kind and fitness of the file at `path`; kUnknown if this program does not know the
// library.
Contender Inspect(const std::string& path);

// Loads the library into this process, for good. Ends the process if it cannot be loaded.
std::unique_ptr<Engine> Load(const std::string& path, Kind kind);

// Returns paths of peers: all in the folder `near`, and for each engine that is not found there,
// those in the first folder of the system's that has one.
std::vector<std::string> FindPeers(const std::string& near);

}  // namespace compare
