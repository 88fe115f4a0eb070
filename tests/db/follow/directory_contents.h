// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads whole directories, so that a test can show that nothing in one has changed.

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace varve::testing {

// Returns the names and bytes of all files below a directory.
inline std::map<std::string, std::string> Files(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    files[entry.path().string()] = bytes.str();
  }
  return files;
}

}  // namespace varve::testing
