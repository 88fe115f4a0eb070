// SPDX-License-Identifier: Apache-2.0
#pragma once

// A round: open, operate, verify, close. Either in this process, or in children that are killed at
// some moment and whose successors find out what they left.

#include <cstdint>
#include <string>

namespace varve::stress {

struct RunTotals {
  uint64_t operations = 0;
  uint64_t checks = 0;
  uint64_t wrong = 0;
  uint64_t lost = 0;
  uint64_t crashes = 0;
  uint64_t hangs = 0;
  uint64_t kills = 0;
};

// As the flags say. Directory and expected state are kept if something is wrong.
RunTotals RunRounds(const std::string& directory, const std::string& expected_path);

}  // namespace varve::stress
