// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays a history on an executor beside the model, until an answer differs.

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/metamorphic/executor.h"
#include "tests/metamorphic/history.h"

namespace varve::testing {

struct Finding {
  std::string what;  // "" when all answers are right
  size_t line = 0;
  uint64_t played = 0;  // lines that meant something

  bool found() const { return !what.empty(); }
};

Finding Play(const History& history, Executor* executor);

// Holds the line being played, for threads that watch it or report a crash.
struct Progress {
  std::atomic<int64_t> since_ms{0};  // 0: none is under way
  std::atomic<size_t> line{0};
};
Progress& CurrentProgress();
int64_t SteadyMs();

}  // namespace varve::testing
