// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which threads may change the trees of tables in parallel. A thread that plans a change (a
// background compaction, a step of CompactRange, CompactFiles, a move of a level, a deletion of
// files) asks here first. A yes is valid until the DB mutex is released: before that, the thread
// makes its plan from the family's state and begins its step. After a no, or if the plan conflicts
// with another, nothing that was read is kept: the participant waits for a change and asks again.
//
// The object decides only from the calls it gets. It does not wait, and knows no database.

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace varve {

// Thread safety: none; guarded by the DB mutex. Only Enter allocates memory; if it throws, it has
// no effect.
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
    kFamily,    // no other participant may have a step in the family
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

  // Registers a participant. One of kind kAlone has its place in the order of arrival from here on,
  // and keeps later calls out.
  void Enter(Participant* participant);
  // Unregisters a participant whose step has ended, or that had none.
  void Leave(Participant* participant);

  // True if the participant may plan now, and begin its step before the mutex is released. A
  // participant of kind kCall or kAlone enters the line with this question, and stays there, before
  // jobs and later calls of its family, until it begins a step or withdraws.
  [[nodiscard]] bool Ask(Participant* participant, Extent extent = Extent::kPlan);
  // Leaves the line: there was nothing to do, or the call gives up.
  void Withdraw(Participant* participant);
  // Begins a step. The mutex must not have been released since Ask returned true.
  void Begin(Participant* participant);
  // Ends a step: its change is in force, or never will be.
  void End(Participant* participant);

  // Returns what Ask would return, without entering the line.
  [[nodiscard]] bool MayPlan(const Participant& participant) const;
  // Must be asked after a no. A participant whose thread has a step (the call comes from a callback
  // there) must not wait for that step, nor for steps whose threads wait for it: returns false if
  // it would wait forever. Otherwise it counts as waiting until something changes.
  [[nodiscard]] bool MayWait(Participant* participant);

  // While paused, jobs and calls begin no step (those of kind kAtOnce do). Pauses are counted: each
  // Pause needs one Continue.
  void Pause() { paused_++; }
  void Continue();
  [[nodiscard]] int paused() const { return paused_; }

  [[nodiscard]] bool AnyStep() const { return !steps_.empty(); }
  [[nodiscard]] bool AnyWaiting() const { return !line_.empty(); }

 private:
  // Forgets who waits, and calls changed_: a no may have become a yes.
  void Change();
  // True if the thread runs a step of any participant.
  [[nodiscard]] bool HasStep(std::thread::id thread) const;
  // True if another thread than the participant's has a step in any family.
  [[nodiscard]] bool OthersHaveSteps(const Participant& participant) const;
  // True if the participant cannot begin before the step has ended.
  [[nodiscard]] static bool WaitsFor(const Participant& participant, const Participant& step);
  // True if some step that the participant waits for will end.
  [[nodiscard]] bool AnyEndsFor(const Participant& participant) const;
  // Sets `ends_` of all steps: a step ends unless its thread waits, through others, for itself.
  void FindThoseThatEnd();
  // True if no step in the family excludes this one.
  [[nodiscard]] bool FamilyIsFree(const Participant& participant) const;
  // True if no participant of kind kAlone stands in the way, or this one is the first of them.
  [[nodiscard]] bool MayBeAlone(const Participant& participant) const;
  // True if nobody in line before it wants the same family. One of kind kAtOnce passes those in
  // line, except one that wants the family for itself.
  [[nodiscard]] bool MayGoBeforeThoseInLine(const Participant& participant) const;

  const std::function<void()> changed_;
  // Number of participants, for which the vectors below have reserved room.
  size_t parties_ = 0;
  std::vector<const Participant*> line_;   // ordered by ticket
  std::vector<const Participant*> alone_;  // are, or want to be, alone; ordered by ticket
  std::vector<Participant*> steps_;        // participants whose steps are running
  // Participants whose threads have a step, as they are called from its callbacks, and that were
  // told no since the last change.
  std::vector<const Participant*> waiting_;
  // Ticket of the next participant that waits for its turn.
  uint64_t next_ticket_ = 0;
  int paused_ = 0;
};

}  // namespace varve
