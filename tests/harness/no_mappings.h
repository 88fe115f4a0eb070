// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates a system without memory: anonymous mappings fail on demand. Arenas allocate their large
// blocks, and pieces of 8 MiB and more, from mappings.

#include <cstdint>

namespace varve {

// While this lives, the thread that created it gets no new anonymous mapping. Mappings of the C
// library itself (large pieces of the heap, stacks) are not affected.
class NoMappings {
 public:
  NoMappings();
  ~NoMappings();
  NoMappings(const NoMappings&) = delete;
  NoMappings& operator=(const NoMappings&) = delete;
  // Number of refused mappings.
  [[nodiscard]] static uint64_t refused();
};

}  // namespace varve
