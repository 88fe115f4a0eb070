// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns the seeds of a run of the model tests: VARVE_MODEL_SEED alone, or VARVE_MODEL_SEEDS of
// them, which differ at each commit.

#include <cstdlib>
#include <vector>

#include "tests/harness/environment.h"

namespace varve::testing {

inline std::vector<uint64_t> SeedsOfModel() {
  if (std::getenv("VARVE_MODEL_SEED") != nullptr) {
    return {NumberFromEnvironment("VARVE_MODEL_SEED", 1)};
  }
  std::vector<uint64_t> seeds(NumberFromEnvironment("VARVE_MODEL_SEEDS", 24));
  for (uint64_t i = 0; i < seeds.size(); i++) seeds[i] = Rotation() * seeds.size() + i + 1;
  return seeds;
}

}  // namespace varve::testing
