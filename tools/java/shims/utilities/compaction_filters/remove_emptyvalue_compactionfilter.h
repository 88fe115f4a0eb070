// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the compaction filter that RocksDB's Java glue takes from RocksDB's utilities.

#include <string>

#include "varve/compaction_filter.h"

namespace varve {

// Removes entries whose value is empty.
class RemoveEmptyValueCompactionFilter : public CompactionFilter {
 public:
  const char* Name() const override { return "RemoveEmptyValueCompactionFilter"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& existing_value,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    return existing_value.empty();
  }
};

}  // namespace varve
