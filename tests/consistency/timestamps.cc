// SPDX-License-Identifier: Apache-2.0

// Writers take turns to write all keys of a family with timestamps, each time at the next
// timestamp, while full_history_ts_low follows. A reader as of an acknowledged timestamp must find
// exactly the values written at it, in every key, whatever is flushed and compacted.

#include <algorithm>
#include <mutex>

#include "tests/consistency/checker.h"

namespace varve::testing {

namespace {

constexpr size_t kTimestampCells = 8;
constexpr uint64_t kTimedHistory = 64;     // moments that are asked for
constexpr uint64_t kTimestampsKept = 200;  // moments above the mark
constexpr size_t kTimedPadding = 200;

class TimestampsChecker final : public Checker {
 public:
  explicit TimestampsChecker(Store* store) : Checker(store, "timed") {}

  void Prepare(Random*) override {}

  void WriteOnce(size_t, Random* random) override {
    const std::lock_guard<std::mutex> lock(turn_);
    const uint64_t moment = published_.load(std::memory_order_relaxed) + 1;
    WriteBatch batch;
    for (size_t i = 0; i < kTimestampCells; i++) {
      const std::string value =
          std::to_string(moment) + " " + random->Text(random->Below(kTimedPadding));
      store()->AddWithTimestamp(&batch, KeyOf(i), moment, value);
    }
    store()->Write(&batch, random);
    published_.store(moment, std::memory_order_release);
    if (moment % kTimestampsKept == 0)
      store()->RaiseMark(moment - std::min(moment, kTimestampsKept));
    CountWrite();
  }

  void ReadOnce(size_t, Random* random) override {
    const uint64_t published = published_.load(std::memory_order_acquire);
    const uint64_t moment = published - std::min(published, random->Below(kTimedHistory));
    if (moment == 0) return;
    const auto values = store()->ReadAsOf(moment, random->OneIn(2));
    if (!values.has_value()) {
      // full_history_ts_low may overtake a slow reader.
      const uint64_t newest = published_.load(std::memory_order_acquire) + 1;
      if (newest < moment + kTimestampsKept)
        Wrong(std::to_string(moment) + " is refused too early");
      return;
    }
    size_t right = 0;
    for (const std::string& value : *values) {
      const uint64_t found = strtoull(value.c_str(), nullptr, 10);
      if (found == moment) {
        right++;
      } else {
        Wrong("as of " + std::to_string(moment) + " a key holds what was written at " +
              std::to_string(found));
      }
    }
    if (right != kTimestampCells && !store()->findings()->any()) {
      Wrong("as of " + std::to_string(moment) + " there are " + std::to_string(right) + " keys");
    }
    CountRead();
  }

 private:
  static std::string KeyOf(size_t i) { return "timed/" + std::to_string(i); }

  std::mutex turn_;
  // Publishes that all writes up to there were acknowledged.
  std::atomic<uint64_t> published_{0};
};

}  // namespace

std::unique_ptr<Checker> NewTimestampsChecker(Store* store) {
  return std::make_unique<TimestampsChecker>(store);
}

}  // namespace varve::testing
