// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who may change the trees of tables, and beside whom. A thread that plans a change (a background
// compaction, a step of CompactRange, CompactFiles, a move of a level, a deletion of files) asks
// here first. A yes is good for the hold of the DB mutex in which it is given: the plan is made
// from what the family is in that hold, and its step begins in it. After a no, or when the plan
// turns out to be in another's way, nothing that was read is kept: the party waits for a change and
// asks again.
//
// The object decides from what it is told alone. It does not wait, and knows no database.

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace varve {

// Guarded by the DB mutex. Only Enter takes memory, and throws without any effect.
class TreeAdmission {
 public:
  enum class Kind : uint8_t {
    kJob,     // of the background, with one step; does not wait, but is scheduled again
    kCall,    // with one step after another, each of which waits for its turn
    kAlone,   // the same; from its first step to its end nobody else has any, in no family
    kAtOnce,  // with one step on files that it names: takes no turn, and a pause is not for it
  };
  enum class Extent : uint8_t {
    kPlan,      // others may have steps in the family, with other files
    kFamily,    // nobody else may
    kAddition,  // it adds files, beside plans under way; nobody else begins a step until it ends
  };

  // One that changes the tree of a family. Its owner keeps it in place from Enter to Leave.
  class Party {
   public:
    Party(Kind kind, const void* family, std::thread::id thread = std::this_thread::get_id())
        : kind_(kind), family_(family), thread_(thread) {}
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;

   private:
    friend class TreeAdmission;
    static constexpr uint64_t kNoTicket = UINT64_MAX;

    const Kind kind_;
    const void* const family_;
    const std::thread::id thread_;
    Extent extent_ = Extent::kPlan;  // of its step, or of the one that it asks for
    uint64_t ticket_ = kNoTicket;    // in the order of arrival; those that do not wait have none
    bool in_line_ = false;
    bool ends_ = false;  // of a step, for MayWait: its thread is not held up
  };

  // `changed` is called whenever a no may have become a yes.
  explicit TreeAdmission(std::function<void()> changed) : changed_(std::move(changed)) {}
  TreeAdmission(const TreeAdmission&) = delete;
  TreeAdmission& operator=(const TreeAdmission&) = delete;

  // A party that wants to be alone is in line from here on.
  void Enter(Party* party);
  // Its step has ended, or it never had one.
  void Leave(Party* party);

  // Whether it may plan in this hold. Calls get in line with the question, and stay there, in front
  // of jobs and of later ones in their family, until they begin a step or withdraw.
  [[nodiscard]] bool Ask(Party* party, Extent extent = Extent::kPlan);
  // The plan was that there is nothing to do, or the call gives up.
  void Withdraw(Party* party);
  // In the hold of the yes.
  void Begin(Party* party);
  // The step's change is in force, or never will be.
  void End(Party* party);

  // What Ask would answer.
  [[nodiscard]] bool MayPlan(const Party& party) const;
  // After a no. A party whose thread has a step under way (it is called back from there) is not
  // made to wait for that, nor for steps whose threads wait for it in their turn: false when it
  // would wait for ever. Otherwise it counts as waiting until something changes.
  [[nodiscard]] bool MayWait(Party* party);

  // While paused, jobs and calls begin no step.
  void Pause() { paused_++; }
  void Continue();
  [[nodiscard]] int paused() const { return paused_; }

  [[nodiscard]] bool AnyStep() const { return !steps_.empty(); }
  [[nodiscard]] bool AnyWaiting() const { return !line_.empty(); }

 private:
  void Change();
  [[nodiscard]] bool HasStep(std::thread::id thread) const;
  [[nodiscard]] bool OthersHaveSteps(const Party& party) const;
  [[nodiscard]] static bool WaitsFor(const Party& party, const Party& step);
  [[nodiscard]] bool AnyEndsFor(const Party& party) const;
  void FindThoseThatEnd();
  [[nodiscard]] bool FamilyIsFree(const Party& party) const;
  [[nodiscard]] bool MayBeAlone(const Party& party) const;
  [[nodiscard]] bool MayGoBeforeThoseInLine(const Party& party) const;

  const std::function<void()> changed_;
  size_t parties_ = 0;
  std::vector<const Party*> line_;     // by ticket
  std::vector<const Party*> alone_;    // those that are, or want to be; by ticket
  std::vector<Party*> steps_;          // whose steps are under way
  std::vector<const Party*> waiting_;  // called back in steps, and told no since the last change
  uint64_t next_ticket_ = 0;
  int paused_ = 0;
};

}  // namespace varve
