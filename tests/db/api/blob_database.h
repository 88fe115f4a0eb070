// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database in memory that keeps large values apart, and compacts only when it is told to.

#include <string>
#include <vector>

#include "varve/db.h"

#include "tests/harness/database.h"

namespace varve {

inline std::string Key(int i) {
  return "key" + std::to_string(1000 + i);
}

inline std::string Large(char c, size_t n = 200) {
  return std::string(n, c);
}

class BlobDatabase : public testing::Database {
 protected:
  BlobDatabase() {
    options_.enable_blob_files = true;
    options_.min_blob_size = 100;
    options_.disable_auto_compactions = true;
  }
  std::vector<std::string> Blobs() { return Files(kBlobFile); }
  void Compact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    const Status s = db()->CompactRange(options, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Set(const std::string& name, const std::string& value) {
    const Status s = db()->SetOptions({{name, value}});
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
};

}  // namespace varve
