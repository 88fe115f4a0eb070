// SPDX-License-Identifier: Apache-2.0
#include "db/background/holders.h"

#include <cstdint>

namespace varve {

std::string DescribeHolders(const Engine& engine) {
  std::string text;
  const auto add = [&text](int64_t count, const char* what) {
    if (count <= 0) return;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  add(static_cast<int64_t>(engine.snapshots.count()), "snapshot");
  add(engine.holders.iterators.load(std::memory_order_relaxed), "iterator");
  add(engine.holders.handles.load(std::memory_order_relaxed), "column family handle");
  return text;
}

}  // namespace varve
