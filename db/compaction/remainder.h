// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tracks the remaining work of a CompactRange call, by the numbers of tables. Other compactions
// move and rewrite tables while the call waits and works, so it does not count levels down. Instead
// each compaction reports, when it is installed, which tables it made from which, and after each
// step the call looks for the tables that are left.
//
//      end_ = 20, goal kRewrite           old                 still to be rewritten
//      at the beginning                   all below 20        all below 20
//      job of before: {12, 13} -> {21}    + 21                + 21, as the job began too early
//      job of later:  {21, 14} -> {25}    + 25
//      a flush writes 26                  not old             the call does not wait for it
//
// New writes therefore never prolong the call.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace varve {

// Thread safety: none; guarded by the DB mutex.
class Remainder {
 public:
  enum class Goal : uint8_t {
    kSink,             // everything that existed goes down to the last level
    kRewrite,          // sinks, and is rewritten once, by any compaction
    kRewriteAtBottom,  // sinks, and is rewritten in the last level
  };

  // Describes what one compaction has done.
  struct Work {
    int job_id = 0;
    bool bottommost = false;
    bool in_place = false;  // within one level below L0
    std::string trim_ts;    // see HistoryBounds
    std::vector<uint64_t> inputs;
    std::vector<uint64_t> outputs;  // written by it; tables that it moved keep their numbers
  };

  // Covers the contents of tables with numbers below `end`. Jobs from `first_job` on begin after
  // this.
  Remainder(Goal goal, std::string trim_ts, uint64_t end, int first_job)
      : goal_(goal), trim_ts_(std::move(trim_ts)), end_(end), first_job_(first_job) {}

  // Called for each compaction that was installed: its outputs are old if an input was, and
  // unwritten as far as the compaction does not suffice.
  void Note(const Work& work);

  // True if the table has data that existed at the beginning.
  [[nodiscard]] bool IsOld(uint64_t number) const {
    return number < end_ || old_.find(number) != old_.end();
  }
  // True if such data in the table still has to be rewritten.
  [[nodiscard]] bool IsUnwritten(uint64_t number) const {
    return goal_ != Goal::kSink && (number < end_ || unwritten_.find(number) != unwritten_.end());
  }
  // Returns what the call wants of old data.
  [[nodiscard]] Goal goal() const { return goal_; }

 private:
  // True if such a job rewrites its inputs as the call needs it.
  [[nodiscard]] bool Suffices(const Work& work) const {
    return work.job_id >= first_job_ && (trim_ts_.empty() || work.trim_ts == trim_ts_) &&
           (goal_ == Goal::kRewrite || work.bottommost || work.in_place);
  }

  const Goal goal_;
  // Time whose later versions a compaction must have removed to suffice; empty: there is none.
  const std::string trim_ts_;
  // Numbers of tables and jobs that were given out when the call began are below these.
  const uint64_t end_;
  const int first_job_;
  // Tables with numbers from end_ on. unwritten_ is a subset of old_.
  std::set<uint64_t> old_;
  std::set<uint64_t> unwritten_;
};

}  // namespace varve
