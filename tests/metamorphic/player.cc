// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/player.h"

#include <algorithm>
#include <chrono>

namespace varve::testing {

namespace {

constexpr size_t kShownBytes = 160;

// Returns the text around the first difference.
std::string Excerpt(const std::string& text, size_t at) {
  const size_t from = at < kShownBytes / 2 ? 0 : at - kShownBytes / 2;
  std::string part = Slice(text).ToString().substr(std::min(from, text.size()), kShownBytes);
  for (char& c : part) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  }
  return (from > 0 ? "..." : "") + part + (from + kShownBytes < text.size() ? "..." : "");
}

std::string Difference(const std::string& expected, const std::string& answer) {
  const auto differ = std::mismatch(expected.begin(), expected.end(), answer.begin(), answer.end());
  const auto at = static_cast<size_t>(differ.first - expected.begin());
  return "answers  " + Excerpt(answer, answer.starts_with("FAILS") ? 0 : at) + "\n  expected " +
         Excerpt(expected, at);
}

}  // namespace

Progress& CurrentProgress() {
  static Progress progress;
  return progress;
}

int64_t SteadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Finding Play(const History& history, Executor* executor) {
  Model model;
  Finding finding;
  Progress& progress = CurrentProgress();
  for (size_t i = 0; i < history.size() && !finding.found(); i++) {
    const Line& line = history[i];
    if (!model.Means(line)) continue;
    std::string answer;
    const bool known = executor->Knows(line);
    if (known) {
      progress.line.store(i);
      progress.since_ms.store(SteadyMs());
      answer = executor->Do(line, model);
      progress.since_ms.store(0);
    }
    const std::string expected = model.Do(line);
    finding.played++;
    if (!known || answer == expected) continue;
    finding.line = i;
    finding.what = Difference(expected, answer);
  }
  return finding;
}

}  // namespace varve::testing
