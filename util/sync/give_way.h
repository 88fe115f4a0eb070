// SPDX-License-Identifier: Apache-2.0
#pragma once

// Background work gives way: it is done in pieces shorter than a slice of the scheduler's, and
// while threads wait for a processor it sleeps between two of them. With nobody waiting that costs
// two system calls.
//
// A thread that computes without an end keeps its processor until the next tick, 4 ms or 10 ms, and
// meanwhile every other thread that was to run there waits. Giving it away of one's own accord,
// with no lock held, is what a lower priority does not do: that decides who goes first, not for how
// long. Who wakes from a sleep, in turn, is let in at once, since it has had less than its share.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/system_clock.h"

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// How urgent the work is.
enum class Urgency : uint8_t {
  kCalm,      // no caller will wait for it soon
  kSoon,      // it should go on faster
  kPressing,  // and faster still
  kHurry,     // a caller waits, or is about to: it never yields
};
inline constexpr size_t kUrgencies = 4;

// How one job, with all its threads, shares the processors.
//
// Thread safety: all methods from any thread.
class WorkPace {
 public:
  // The clock outlives this.
  explicit WorkPace(SystemClock* clock) : clock_(clock) {}
  virtual ~WorkPace() = default;
  WorkPace(const WorkPace&) = delete;
  WorkPace& operator=(const WorkPace&) = delete;

  SystemClock* clock() const { return clock_; }
  // As judged last.
  Urgency urgency() const { return urgency_.load(std::memory_order_relaxed); }
  void JudgeAgain(uint64_t steps) { urgency_.store(Judge(steps), std::memory_order_relaxed); }

  void NotePause(uint64_t nanos) {
    pauses_.fetch_add(1, std::memory_order_relaxed);
    paused_nanos_.fetch_add(nanos, std::memory_order_relaxed);
  }
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }
  uint64_t paused_nanos() const { return paused_nanos_.load(std::memory_order_relaxed); }

 protected:
  // Asked by the leaders among the job's threads after each piece, with no lock held. `steps`: so
  // many the asking one has made.
  virtual Urgency Judge(uint64_t steps) = 0;

 private:
  SystemClock* const clock_;
  std::atomic<Urgency> urgency_{Urgency::kCalm};
  std::atomic<uint64_t> pauses_{0};
  std::atomic<uint64_t> paused_nanos_{0};
};

// The calling thread works at a pace, for the life of this object.
class GiveWay {
 public:
  // Leaders, one as a rule, ask for judgement, and the others follow.
  enum class Part : uint8_t { kLeader, kHelper };

  // Null: gives way to nobody. One inside another holds until its end.
  explicit GiveWay(WorkPace* pace, Part part = Part::kLeader);
  ~GiveWay() { here_ = outer_; }
  GiveWay(const GiveWay&) = delete;
  GiveWay& operator=(const GiveWay&) = delete;

  // Between two small pieces of work, an entry's say, with no lock held. A load and a decrement
  // as a rule, and a load on threads without a pace.
  static void Step() {
    GiveWay* const here = here_;
    if (here != nullptr && --here->until_look_ == 0) [[unlikely]]
      here->Look();
  }
  // The calling thread's pace, to be handed to those that help it; may be null.
  static WorkPace* CurrentPace() { return here_ == nullptr ? nullptr : here_->pace_; }

 private:
  void Look();
  void AdaptStride(uint64_t took, uint64_t piece);
  void BeginPiece(uint64_t now);

  GiveWay* const outer_;
  WorkPace* const pace_;
  const Part part_;
  uint32_t until_look_ = 1;
  uint32_t stride_ = 1;  // steps from one look at the clock to the next
  uint64_t steps_ = 0;
  uint64_t looked_ = 0;
  uint64_t piece_began_ = 0;      // as if no time had gone to others since
  uint64_t piece_began_cpu_ = 0;  // the thread's processor time; 0 if the clock does not know it

  [[gnu::tls_model("initial-exec")]] static constinit thread_local GiveWay* here_;
};

// The most urgent wish of all databases of the process: they share its processors, and as a rule
// its background threads, so the work of one may be in another's way.
//
// Thread safety: all methods from any thread. In a child of fork() there are no wishes.
class SharedUrgency final : private ForkWatch {
 public:
  // These live for ever.
  static SharedUrgency& OfFlushes();
  static SharedUrgency& OfCompactions();

  SharedUrgency();
  ~SharedUrgency() override;

  // One database's; ends with this object.
  class Wish {
   public:
    explicit Wish(SharedUrgency* of) : of_(of) {}
    ~Wish() { Set(Urgency::kCalm); }
    Wish(const Wish&) = delete;
    Wish& operator=(const Wish&) = delete;
    // Calls of one wish come one after another.
    void Set(Urgency urgency);

   private:
    SharedUrgency* const of_;
    Urgency urgency_ = Urgency::kCalm;
    uint64_t generation_ = 0;
  };

  Urgency nearest() const { return nearest_.load(std::memory_order_relaxed); }

 private:
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;
  void UpdateNearest() VARVE_REQUIRES(mu_);

  Mutex mu_{lock_ranks::kGiveWay};
  // Wishes above kCalm, by urgency.
  std::array<int, kUrgencies> wishes_ VARVE_GUARDED_BY(mu_) = {};
  uint64_t generation_ VARVE_GUARDED_BY(mu_) = 0;  // of processes
  std::atomic<Urgency> nearest_{Urgency::kCalm};
};

}  // namespace varve
