// SPDX-License-Identifier: Apache-2.0
#pragma once

// The libraries that are compared: where they are found, which engine each is, and whether it was
// built for speed. Their files are read for that; nothing is loaded into this process.

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
  // Why its speed says nothing: it was built with assertions or for a sanitizer. Empty if it does.
  std::string unfit;
};

// Kind and fitness of the file at `path`; kUnknown if it is no library that this program knows.
Contender Inspect(const std::string& path);

// Loads it into this process.
std::unique_ptr<Engine> Load(const std::string& path, Kind kind);

// Paths of peers: all in the folder `near`, and those of the system for engines that are not there.
std::vector<std::string> FindPeers(const std::string& near);

}  // namespace compare
