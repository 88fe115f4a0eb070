// SPDX-License-Identifier: Apache-2.0
#pragma once

// A system that gives no memory: anonymous mappings fail on demand. Arenas take their large blocks,
// and pieces of 8 MiB and more, from those.

#include <cstdint>

namespace varve {

// While it lives, the thread that made it gets no new anonymous mapping. What the C library maps
// for itself (large pieces of the heap, stacks) is not concerned.
class NoMappings {
 public:
  NoMappings();
  ~NoMappings();
  NoMappings(const NoMappings&) = delete;
  NoMappings& operator=(const NoMappings&) = delete;
  // How many were refused.
  [[nodiscard]] static uint64_t refused();
};

}  // namespace varve
