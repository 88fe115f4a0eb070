// SPDX-License-Identifier: Apache-2.0
#pragma once

// A round opens, operates, verifies and closes, either in this process or in children that are
// killed at some moment. The successor of a killed child checks what it left.

#include <cstdint>
#include <string>

namespace varve::stress {

struct RunTotals {
  uint64_t operations = 0;
  uint64_t checks = 0;
  uint64_t wrong = 0;
  uint64_t lost = 0;
  uint64_t crashes = 0;  // rounds that ended unasked, or gave up without a finding
  uint64_t hangs = 0;    // rounds that made no progress for --hang_seconds
  uint64_t kills = 0;    // rounds that killed themselves, as they should
};

// Runs the rounds that the flags ask for, up to the first one that fails; a reason is on stderr.
// Files are left in both places, whatever the result. Requires that the process has no other
// thread.
RunTotals RunRounds(const std::string& directory, const std::string& expected_path);

}  // namespace varve::stress
