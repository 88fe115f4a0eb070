// SPDX-License-Identifier: Apache-2.0
#pragma once

// Background work yields: it is done in pieces shorter than a scheduler time slice, and sleeps
// between two of them while threads wait for a processor. If none waits, that costs two system
// calls.
//
// A thread that computes without a pause keeps its processor until the next tick, 4 ms or 10 ms,
// and meanwhile other threads wait for that processor. A lower priority decides who runs first, not
// for how long, so it does not help; sleeping voluntarily, with no lock held, does. A thread that
// wakes from a sleep runs at once, since it has had less than its share.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/system_clock.h"

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The urgency of background work.
enum class Urgency : uint8_t {
  kCalm,      // no caller will wait for it soon
  kSoon,      // it should go faster
  kPressing,  // it should go faster still
  kHurry,     // a caller waits or soon will: it never yields
};
inline constexpr size_t kUrgencies = 4;

// The rule by which one job, with all its threads, shares the processors.
//
// Thread safety: all methods may be called from any thread.
class WorkPace {
 public:
  // Requires that the clock outlives this.
  explicit WorkPace(SystemClock* clock) : clock_(clock) {}
  virtual ~WorkPace() = default;
  WorkPace(const WorkPace&) = delete;
  WorkPace& operator=(const WorkPace&) = delete;

  SystemClock* clock() const { return clock_; }
  // Returns the urgency as judged last.
  Urgency urgency() const { return urgency_.load(std::memory_order_relaxed); }
  // Judges the urgency anew; called by leaders.
  void JudgeAgain(uint64_t steps) { urgency_.store(Judge(steps), std::memory_order_relaxed); }

  // Counts one pause of that length.
  void NotePause(uint64_t nanos) {
    pauses_.fetch_add(1, std::memory_order_relaxed);
    paused_nanos_.fetch_add(nanos, std::memory_order_relaxed);
  }
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }
  uint64_t paused_nanos() const { return paused_nanos_.load(std::memory_order_relaxed); }

 protected:
  // Called by the job's leader threads after each piece, with no lock held. `steps` is the number
  // of steps of the calling thread.
  virtual Urgency Judge(uint64_t steps) = 0;

 private:
  SystemClock* const clock_;
  std::atomic<Urgency> urgency_{Urgency::kCalm};
  std::atomic<uint64_t> pauses_{0};
  std::atomic<uint64_t> paused_nanos_{0};
};

// Makes the calling thread work at a pace while this object lives.
class GiveWay {
 public:
  // Leaders, usually one, call Judge; helpers follow its result.
  enum class Part : uint8_t { kLeader, kHelper };

  // With a null pace, the thread does not yield. A nested object applies until its end.
  explicit GiveWay(WorkPace* pace, Part part = Part::kLeader);
  ~GiveWay() { here_ = outer_; }
  GiveWay(const GiveWay&) = delete;
  GiveWay& operator=(const GiveWay&) = delete;

  // Call this between two small pieces of work, such as entries, with no lock held. It usually
  // costs a load and a decrement, and a load on threads without a pace.
  static void Step() {
    GiveWay* const here = here_;
    if (here != nullptr && --here->until_look_ == 0) [[unlikely]]
      here->Look();
  }
  // Returns the calling thread's pace, for threads that help it; may be null.
  static WorkPace* CurrentPace() { return here_ == nullptr ? nullptr : here_->pace_; }

 private:
  // Looks at the clock, and yields if the pace says so.
  void Look();
  // Sets stride_ so that several looks come in a piece.
  void AdaptStride(uint64_t took, uint64_t piece);
  // Begins a piece of work at that time.
  void BeginPiece(uint64_t now);

  // The object that applied before; null: none.
  GiveWay* const outer_;
  WorkPace* const pace_;
  const Part part_;
  // Steps until the next look.
  uint32_t until_look_ = 1;
  uint32_t stride_ = 1;  // Number of steps from one look at the clock to the next.
  uint64_t steps_ = 0;
  uint64_t looked_ = 0;
  uint64_t piece_began_ = 0;      // Start of the piece, shifted as if no other thread had run
                                  // since.
  uint64_t piece_began_cpu_ = 0;  // The thread's processor time then; 0 if the clock does not
                                  // provide it.

  [[gnu::tls_model("initial-exec")]] static constinit thread_local GiveWay* here_;
};

// The most urgent wish of all databases of the process: they share its processors, and usually its
// background threads, so the work of one may delay another's.
//
// Thread safety: all methods may be called from any thread. A child of fork() starts without
// wishes.
class SharedUrgency final : private ForkWatch {
 public:
  // Return the urgency of all flushes and of all compactions of the process. The objects are never
  // destroyed.
  static SharedUrgency& OfFlushes();
  static SharedUrgency& OfCompactions();

  SharedUrgency();
  ~SharedUrgency() override;

  // The wish of one database; ends with this object.
  class Wish {
   public:
    explicit Wish(SharedUrgency* of) : of_(of) {}
    ~Wish() { Set(Urgency::kCalm); }
    Wish(const Wish&) = delete;
    Wish& operator=(const Wish&) = delete;
    // Sets the urgency. Requires that calls for one wish do not overlap.
    void Set(Urgency urgency);

   private:
    SharedUrgency* const of_;
    Urgency urgency_ = Urgency::kCalm;
    uint64_t generation_ = 0;  // That of *of_ when urgency_ was set.
  };

  // Returns the most urgent wish.
  Urgency nearest() const { return nearest_.load(std::memory_order_relaxed); }

 private:
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;
  void UpdateNearest() VARVE_REQUIRES(mu_);

  Mutex mu_{lock_ranks::kGiveWay};
  // Number of wishes above kCalm, by urgency.
  std::array<int, kUrgencies> wishes_ VARVE_GUARDED_BY(mu_) = {};
  // Incremented in a child of fork(), where wishes of earlier generations do not count.
  uint64_t generation_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<Urgency> nearest_{Urgency::kCalm};
};

}  // namespace varve
