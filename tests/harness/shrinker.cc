// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/shrinker.h"

#include <algorithm>
#include <utility>

namespace varve::testing {

namespace {

class Shrinker {
 public:
  Shrinker(History history, const std::function<bool(const History&)>& fails,
           std::chrono::seconds most)
      : best_(std::move(history)), fails_(fails), end_(std::chrono::steady_clock::now() + most) {}

  History Run() {
    size_t before = 0;
    do {
      before = Size();
      for (size_t chunk = (best_.size() + 1) / 2; chunk > 0; chunk /= 2) LeaveOut(chunk);
      LeaveOutParts();
    } while (Size() < before && !Late());
    return std::move(best_);
  }

 private:
  bool Late() const { return std::chrono::steady_clock::now() > end_; }

  size_t Size() const {
    size_t size = 0;
    for (const Line& line : best_) size += 1 + PartsOf(line);
    return size;
  }

  bool Try(History candidate) {
    if (Late() || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // Proceeds from the end, where lines matter least.
  void LeaveOut(size_t chunk) {
    for (size_t end = best_.size(); end > 0 && !Late();) {
      const size_t begin = end > chunk ? end - chunk : 0;
      History candidate = best_;
      candidate.erase(candidate.begin() + static_cast<long>(begin),
                      candidate.begin() + static_cast<long>(std::min(end, candidate.size())));
      Try(std::move(candidate));
      end = begin;
    }
  }

  void LeaveOutParts() {
    for (size_t i = 0; i < best_.size(); i++) {
      for (size_t part = PartsOf(best_[i]); part > 0 && PartsOf(best_[i]) > 1; part--) {
        History candidate = best_;
        candidate[i] = WithoutPart(best_[i], part - 1);
        Try(std::move(candidate));
        if (Late()) return;
      }
    }
  }

  History best_;
  const std::function<bool(const History&)>& fails_;
  const std::chrono::steady_clock::time_point end_;
};

}  // namespace

History Shrink(const History& history, const std::function<bool(const History&)>& fails,
               std::chrono::seconds most) {
  return Shrinker(history, fails, most).Run();
}

}  // namespace varve::testing
