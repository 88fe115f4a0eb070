// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a CompactRange call has still to do, told by the numbers of tables. Other compactions move
// and rewrite tables while it waits and works, so it does not count levels down: each compaction
// reports, when it is installed, what became of which tables, and after each step the call looks
// where that is now.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace varve {

// Thread safety: none; the DB mutex guards it.
class Remainder {
 public:
  enum class Duty : uint8_t {
    kSink,             // all that was there goes down to the last level
    kRewrite,          // and is rewritten once, by whomever
    kRewriteAtBottom,  // and that in the last level
  };

  // What one compaction has done.
  struct Work {
    int job_id = 0;
    bool bottommost = false;
    bool in_place = false;  // in one level below L0
    std::string trim_ts;    // as in HistoryBounds
    std::vector<uint64_t> inputs;
    std::vector<uint64_t> outputs;  // that it wrote; what it only moved has kept its number
  };

  // Of what is in tables whose numbers are below `end`. Jobs from `first_job` on begin after this.
  Remainder(Duty duty, std::string trim_ts, uint64_t end, int first_job)
      : duty_(duty), trim_ts_(std::move(trim_ts)), end_(end), first_job_(first_job) {}

  void Note(const Work& work);

  // It holds some of what was there at the beginning.
  [[nodiscard]] bool IsOld(uint64_t number) const {
    return number < end_ || old_.find(number) != old_.end();
  }
  // And that has to be rewritten.
  [[nodiscard]] bool IsUnwritten(uint64_t number) const {
    return duty_ != Duty::kSink && (number < end_ || unwritten_.find(number) != unwritten_.end());
  }
  [[nodiscard]] Duty duty() const { return duty_; }

 private:
  // What such a job rewrites is as the call wants it.
  [[nodiscard]] bool Suffices(const Work& work) const {
    return work.job_id >= first_job_ && (trim_ts_.empty() || work.trim_ts == trim_ts_) &&
           (duty_ == Duty::kRewrite || work.bottommost || work.in_place);
  }

  const Duty duty_;
  const std::string trim_ts_;
  const uint64_t end_;
  const int first_job_;
  // Of tables from end_ on. The second are among the first.
  std::set<uint64_t> old_;
  std::set<uint64_t> unwritten_;
};

}  // namespace varve
