// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which threads may change the trees of tables in parallel. A thread that plans a change (a
// background compaction, a step of CompactRange, CompactFiles, a move of a level, a deletion of
// files) asks here first. A yes is valid for the hold of the DB mutex in which it is given: the
// plan is made from the family's state in that hold, and its step begins in it. After a no, or if
// the plan conflicts with another, nothing that was read is kept: the participant waits for a
// change and asks again.
//
// The object decides only from the calls it gets. It does not wait, and knows no database.

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace varve {

// Guarded by the DB mutex. Only Enter allocates memory; if it throws, it has no effect.
class TreeAdmission {
 public:
  enum class Kind : uint8_t {
    kJob,     // a background job, with one step; does not wait, but is scheduled again
    kCall,    // a call with several steps, each of which waits for its turn
    kAlone,   // like kCall; from its first step to its end no other one has a step, in any family
    kAtOnce,  // a call with one step on files that it names: takes no turn, and ignores a pause
  };
  enum class Extent : uint8_t {
    kPlan,      // others may have steps in the family, with other files
    kFamily,    // no other may
    kAddition,  // adds files, beside running plans; no other step begins until it ends
  };

  // A participant that changes the tree of a family. Its owner must not move it from Enter to
  // Leave.
  class Participant {
   public:
    Participant(Kind kind, const void* family, std::thread::id thread = std::this_thread::get_id())
        : kind_(kind), family_(family), thread_(thread) {}
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

   private:
    friend class TreeAdmission;
    static constexpr uint64_t kNoTicket = UINT64_MAX;

    const Kind kind_;
    const void* const family_;
    const std::thread::id thread_;
    Extent extent_ = Extent::kPlan;  // extent of its step, or of the requested one
    uint64_t ticket_ = kNoTicket;    // order of arrival; none for those that do not wait
    bool in_line_ = false;
    bool ends_ = false;  // used by MayWait: true if the step ends, as its thread is not blocked
  };

  // `changed` is called whenever a no may have become a yes.
  explicit TreeAdmission(std::function<void()> changed) : changed_(std::move(changed)) {}
  TreeAdmission(const TreeAdmission&) = delete;
  TreeAdmission& operator=(const TreeAdmission&) = delete;

  // Registers a participant. One of kind kAlone is in line from here on.
  void Enter(Participant* participant);
  // Unregisters a participant whose step has ended, or that had none.
  void Leave(Participant* participant);

  // True if the participant may plan in this hold. Calls enter the line with this question, and
  // stay there, before jobs and later calls of their family, until they begin a step or withdraw.
  [[nodiscard]] bool Ask(Participant* participant, Extent extent = Extent::kPlan);
  // Leaves the line: there was nothing to do, or the call gives up.
  void Withdraw(Participant* participant);
  // Begins a step; must be called in the hold of the yes.
  void Begin(Participant* participant);
  // Ends a step: its change is in force, or never will be.
  void End(Participant* participant);

  // Returns what Ask would return.
  [[nodiscard]] bool MayPlan(const Participant& participant) const;
  // Must be asked after a no. A participant whose thread has a step (the call comes from a callback
  // there) must not wait for that step, nor for steps whose threads wait for it: returns false if
  // it would wait forever. Otherwise it counts as waiting until something changes.
  [[nodiscard]] bool MayWait(Participant* participant);

  // While paused, jobs and calls begin no step.
  void Pause() { paused_++; }
  void Continue();
  [[nodiscard]] int paused() const { return paused_; }

  [[nodiscard]] bool AnyStep() const { return !steps_.empty(); }
  [[nodiscard]] bool AnyWaiting() const { return !line_.empty(); }

 private:
  void Change();
  [[nodiscard]] bool HasStep(std::thread::id thread) const;
  [[nodiscard]] bool OthersHaveSteps(const Participant& participant) const;
  [[nodiscard]] static bool WaitsFor(const Participant& participant, const Participant& step);
  [[nodiscard]] bool AnyEndsFor(const Participant& participant) const;
  void FindThoseThatEnd();
  [[nodiscard]] bool FamilyIsFree(const Participant& participant) const;
  [[nodiscard]] bool MayBeAlone(const Participant& participant) const;
  [[nodiscard]] bool MayGoBeforeThoseInLine(const Participant& participant) const;

  const std::function<void()> changed_;
  size_t parties_ = 0;
  std::vector<const Participant*> line_;     // ordered by ticket
  std::vector<const Participant*> alone_;    // are, or want to be, alone; ordered by ticket
  std::vector<Participant*> steps_;          // participants whose steps are running
  std::vector<const Participant*> waiting_;  // called in steps; told no since the last change
  uint64_t next_ticket_ = 0;
  int paused_ = 0;
};

}  // namespace varve
