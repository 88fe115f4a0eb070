// SPDX-License-Identifier: Apache-2.0

// Goal: changes of a tree are let in under the rules of tree_admission.h, none is woken too rarely,
// none waits for ever. Method: a few actors, each a thread's program in small steps of one hold of
// the mutex each, are run in every possible order (equal states are visited once). Each step is
// checked; then, in the graph of all states, ends where an actor still sleeps, and rounds in which
// one waits although all others that could move do.

#include "db/engine/tree_admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/harness/environment.h"

namespace varve {
namespace {

using Kind = TreeAdmission::Kind;
using Extent = TreeAdmission::Extent;

// The steps of one actor, from its entering to its leaving.
struct Script {
  Kind kind = Kind::kCall;
  int family = 0;
  int steps = 1;
  unsigned files = 1;  // bits: what its plans take
  Extent extent = Extent::kPlan;
  bool idle = false;     // plans nothing
  bool forever = false;  // begins again when it is done
  int caller = -1;       // the actor in the middle of whose step, and by whose thread, it is called
  bool pauses = false;   // pauses all, and goes on once none has a step; the rest is ignored
};

class World {
 public:
  explicit World(const std::vector<Script>& scripts) : scripts_(scripts) {
    for (const Script& script : scripts) {
      actors_.emplace_back();
      Actor& actor = actors_.back();
      const bool called_back = script.caller >= 0;
      actor.id = ThreadOf(called_back ? static_cast<size_t>(script.caller) : actors_.size() - 1);
      actor.place = called_back ? Place::kNotYet : Place::kOutside;
    }
  }

  bool CanMove(size_t i) const {
    const Actor& actor = actors_[i];
    if (actor.place == Place::kDone || actor.place == Place::kNotYet || actor.asleep) return false;
    // A participant that is called back holds its caller up.
    return !(actor.place == Place::kInStep && CallbackUnderWay(i));
  }
  bool Waits(size_t i) const { return actors_[i].waits; }
  bool Finished() const {
    return std::all_of(actors_.begin(), actors_.end(),
                       [](const Actor& actor) { return actor.place == Place::kDone; });
  }

  // Does one hold of the mutex.
  void Move(size_t i) {
    MoveOne(i);
    Wake();
    for (size_t j = 0; j < actors_.size(); j++) {
      if (actors_[j].asleep && MayGoOn(j)) Fail(j, "sleeps though it may go on");
    }
  }

  std::string Key() const {
    std::vector<int> ranks;
    for (const Actor& actor : actors_) ranks.push_back(actor.rank);
    std::sort(ranks.begin(), ranks.end());
    std::string key = std::to_string(admission_.paused());
    for (const Actor& actor : actors_) {
      key += " " + std::to_string(static_cast<int>(actor.place)) + (actor.asleep ? "s" : "") +
             (actor.waits ? "w" : "") + (actor.began ? "b" : "") + std::to_string(actor.left) +
             "r" +
             std::to_string(std::find(ranks.begin(), ranks.end(), actor.rank) - ranks.begin());
    }
    return key;
  }
  const std::string& fault() const { return fault_; }

 private:
  enum class Place { kNotYet, kOutside, kBetween, kInStep, kLeaving, kDone };
  struct Actor {
    std::thread::id id;
    std::unique_ptr<TreeAdmission::Participant> participant;
    Place place = Place::kOutside;
    int left = 0;
    int rank = -1;  // rank of arrival, while it is in line
    bool asleep = false;
    bool waits = false;  // was refused, and has not begun since
    bool began = false;  // this one is alone
  };

  // Ids of threads that have been, each of its own.
  static std::thread::id ThreadOf(size_t i) {
    static const std::vector<std::thread::id> ids = [] {
      std::vector<std::thread> threads;
      std::vector<std::thread::id> all;
      for (int n = 0; n < 8; n++) threads.emplace_back([] {});
      for (const std::thread& thread : threads) all.push_back(thread.get_id());
      for (std::thread& thread : threads) thread.join();
      return all;
    }();
    return ids[i];
  }

  bool CallbackUnderWay(size_t caller) const {
    for (size_t i = 0; i < actors_.size(); i++) {
      if (IsCalledBy(i, caller) && actors_[i].place != Place::kDone) return true;
    }
    return false;
  }
  bool IsCalledBy(size_t i, size_t caller) const {
    return scripts_[i].caller == static_cast<int>(caller);
  }

  void Wake() {
    if (!changed_) return;
    changed_ = false;
    for (Actor& actor : actors_) actor.asleep = false;
  }

  void MoveOne(size_t i) {
    const Script& script = scripts_[i];
    Actor& actor = actors_[i];
    if (script.pauses) return MovePauser(&actor);
    switch (actor.place) {
      case Place::kOutside:
        actor.participant = std::make_unique<TreeAdmission::Participant>(
            script.kind, &families_[script.family], actor.id);
        admission_.Enter(actor.participant.get());
        actor.left = script.steps;
        actor.place = Place::kBetween;
        if (script.kind == Kind::kAlone) actor.rank = next_rank_++;
        break;
      case Place::kBetween:
        Plan(i);
        break;
      case Place::kInStep:
        admission_.End(actor.participant.get());
        actor.place = --actor.left > 0 ? Place::kBetween : Place::kLeaving;
        break;
      case Place::kLeaving:
        Leave(i);
        break;
      default:
        break;
    }
  }

  // Returns true if the actor could go on if it were woken.
  bool MayGoOn(size_t i) const {
    const Script& script = scripts_[i];
    if (script.pauses) return !admission_.AnyStep();
    const TreeAdmission::Participant job(script.kind, &families_[script.family], actors_[i].id);
    const TreeAdmission::Participant& participant =
        script.kind == Kind::kJob ? job : *actors_[i].participant;
    return admission_.MayPlan(participant) && !ConflictsWithAStep(i);
  }

  // Its own thread's step is in its way, or in that of those in its way.
  bool IsInItsOwnWay(size_t i) const {
    std::set<size_t> held_up = {i};
    for (bool more = true; more;) {
      more = false;
      for (const size_t j : std::set<size_t>(held_up)) {
        for (size_t k = 0; k < actors_.size(); k++) {
          if (!IsInTheWayOf(k, j)) continue;
          if (actors_[k].id == actors_[i].id) return true;
          for (size_t called = 0; called < actors_.size(); called++) {
            if (!IsCalledBy(called, k) || !actors_[called].asleep) continue;
            more = held_up.insert(called).second || more;
          }
        }
      }
    }
    return false;
  }
  bool IsInTheWayOf(size_t step, size_t i) const {
    if (step == i || actors_[step].place != Place::kInStep) return false;
    const Script& script = scripts_[i];
    if (script.kind == Kind::kAlone && actors_[step].id != actors_[i].id) return true;
    return scripts_[step].family == script.family &&
           ((scripts_[step].files & script.files) != 0 || script.extent == Extent::kFamily ||
            scripts_[step].extent != Extent::kPlan);
  }

  void Fail(size_t i, const std::string& what) {
    if (fault_.empty()) fault_ = "actor " + std::to_string(i) + " " + what;
  }

  void Plan(size_t i) {
    const Script& script = scripts_[i];
    Actor& actor = actors_[i];
    const bool in_line = script.kind == Kind::kCall || script.kind == Kind::kAlone;
    if (in_line && actor.rank < 0) actor.rank = next_rank_++;
    const bool yes = admission_.Ask(actor.participant.get(), script.extent);
    const bool conflict = yes && ConflictsWithAStep(i);
    if (yes && !conflict && script.idle) {
      admission_.Withdraw(actor.participant.get());
      actor.rank = script.kind == Kind::kAlone ? actor.rank : -1;
      actor.waits = false;
      actor.place = Place::kLeaving;
      return;
    }
    if (yes && !conflict) return Begin(i);
    if (script.kind == Kind::kJob || (yes && script.kind == Kind::kAtOnce)) {
      // The job is scheduled again when something changes; files named by hand are refused.
      admission_.Leave(actor.participant.get());
      actor.participant.reset();
      actor.asleep = script.kind == Kind::kJob;
      actor.place = script.kind == Kind::kJob ? Place::kOutside : Place::kDone;
      changed_ = false;  // its own leaving is no news
      return;
    }
    if (!admission_.MayWait(actor.participant.get())) {
      if (!IsInItsOwnWay(i)) Fail(i, "is refused though nothing of its own is in its way");
      admission_.Withdraw(actor.participant.get());
      actor.waits = false;
      actor.place = Place::kLeaving;
      return;
    }
    actor.asleep = true;
    actor.waits = true;
  }

  bool ConflictsWithAStep(size_t i) const {
    for (size_t j = 0; j < actors_.size(); j++) {
      if (j != i && actors_[j].place == Place::kInStep &&
          scripts_[j].family == scripts_[i].family &&
          (scripts_[j].files & scripts_[i].files) != 0) {
        return true;
      }
    }
    return false;
  }

  void Begin(size_t i) {
    Actor& actor = actors_[i];
    Check(i);
    admission_.Begin(actor.participant.get());
    actor.place = Place::kInStep;
    actor.waits = false;
    if (scripts_[i].kind == Kind::kAlone) {
      actor.began = true;
    } else {
      actor.rank = -1;
    }
    for (size_t j = 0; j < actors_.size(); j++) {
      if (IsCalledBy(j, i) && actors_[j].place == Place::kNotYet) {
        actors_[j].place = Place::kOutside;
      }
    }
  }

  // Fails if the actor must not have a step now.
  void Check(size_t i) {
    const Script& script = scripts_[i];
    if (admission_.paused() > 0 && script.kind != Kind::kAtOnce && script.caller < 0) {
      Fail(i, "begins while all is paused");
    }
    for (size_t j = 0; j < actors_.size(); j++) {
      if (j == i || scripts_[j].pauses) continue;
      const Actor& other = actors_[j];
      const bool same_thread = other.id == actors_[i].id;
      const bool in_step = other.place == Place::kInStep;
      if (other.began && other.place != Place::kDone && !same_thread &&
          script.extent != Extent::kAddition) {
        Fail(i, "begins beside one that is alone");
      }
      if (in_step && script.kind == Kind::kAlone && !same_thread) {
        Fail(i, "is not alone");
      }
      if (in_step && scripts_[j].family == script.family &&
          (script.extent == Extent::kFamily || scripts_[j].extent != Extent::kPlan)) {
        Fail(i, "begins in a family that is another's, or takes one that is not free");
      }
      if (script.kind == Kind::kJob && other.waits && scripts_[j].kind != Kind::kJob &&
          scripts_[j].kind != Kind::kAtOnce && scripts_[j].family == script.family) {
        Fail(i, "begins before a call that waits");
      }
    }
  }

  void Leave(size_t i) {
    Actor& actor = actors_[i];
    admission_.Leave(actor.participant.get());
    actor.participant.reset();
    actor.rank = -1;
    actor.began = false;
    actor.waits = false;
    actor.place = scripts_[i].forever ? Place::kOutside : Place::kDone;
  }

  void MovePauser(Actor* actor) {
    if (actor->place == Place::kOutside) {
      admission_.Pause();
      actor->place = Place::kInStep;
    } else if (admission_.AnyStep()) {
      actor->asleep = true;
      return;
    } else {
      admission_.Continue();
      actor->place = Place::kDone;
    }
  }

  const std::vector<Script>& scripts_;
  const char families_[2] = {};
  bool changed_ = false;
  TreeAdmission admission_{[this] { changed_ = true; }};
  std::deque<Actor> actors_;
  int next_rank_ = 0;
  std::string fault_;
};

// All states that the actors can get into, and the moves between them.
class Histories {
 public:
  explicit Histories(const std::vector<Script>& scripts) : scripts_(scripts) {
    Add({});
    for (size_t at = 0; at < states_.size() && fault_.empty(); at++) Follow(at);
  }

  size_t count() const { return states_.size(); }
  // Returns the fault and the way to it; empty: there is none.
  const std::string& fault() const { return fault_; }

  // Returns true if the actor may wait for ever though all others that can move do. This looks for
  // states in which it waits that reach each other.
  bool MayStarve(size_t actor) const {
    const std::vector<std::set<size_t>> reach = ReachWhileWaiting(actor);
    for (size_t at = 0; at < states_.size(); at++) {
      if (reach[at].count(at) == 0) continue;
      std::set<size_t> round;
      for (const size_t to : reach[at]) {
        if (reach[to].count(at) != 0) round.insert(to);
      }
      if (IsFair(round)) return true;
    }
    return false;
  }

 private:
  struct State {
    std::vector<size_t> path;
    std::vector<bool> waits;
    std::map<size_t, size_t> moves;  // actor, state
  };

  std::unique_ptr<World> Replay(const std::vector<size_t>& path) const {
    auto world = std::make_unique<World>(scripts_);
    for (const size_t actor : path) world->Move(actor);
    return world;
  }

  size_t Add(std::vector<size_t> path) {
    const auto world = Replay(path);
    const auto [at, is_new] = known_.emplace(world->Key(), states_.size());
    if (!is_new) return at->second;
    State state;
    for (size_t i = 0; i < scripts_.size(); i++) {
      state.waits.push_back(world->Waits(i));
      if (world->CanMove(i)) state.moves[i] = 0;
    }
    if (!world->fault().empty()) {
      NoteFault(world->fault(), path);
    } else if (state.moves.empty() && !world->Finished()) {
      NoteFault("nobody can move: " + world->Key(), path);
    }
    state.path = std::move(path);
    states_.push_back(std::move(state));
    return states_.size() - 1;
  }

  void Follow(size_t at) {
    for (auto& move : std::map<size_t, size_t>(states_[at].moves)) {
      std::vector<size_t> path = states_[at].path;
      path.push_back(move.first);
      states_[at].moves[move.first] = Add(std::move(path));
    }
  }

  void NoteFault(const std::string& what, const std::vector<size_t>& path) {
    if (!fault_.empty()) return;
    fault_ = what + " after";
    for (const size_t actor : path) fault_ += " " + std::to_string(actor);
  }

  std::vector<std::set<size_t>> ReachWhileWaiting(size_t actor) const {
    std::vector<std::set<size_t>> reach(states_.size());
    for (size_t from = 0; from < states_.size(); from++) {
      if (!states_[from].waits[actor]) continue;
      std::vector<size_t> open = {from};
      while (!open.empty()) {
        const size_t at = open.back();
        open.pop_back();
        for (const auto& move : states_[at].moves) {
          if (!states_[move.second].waits[actor]) continue;
          if (reach[from].insert(move.second).second) open.push_back(move.second);
        }
      }
    }
    return reach;
  }

  // Each actor moves in the round, or cannot in one of its states.
  bool IsFair(const std::set<size_t>& round) const {
    for (size_t i = 0; i < scripts_.size(); i++) {
      const bool fair = std::any_of(round.begin(), round.end(), [&](size_t at) {
        const auto move = states_[at].moves.find(i);
        return move == states_[at].moves.end() || round.count(move->second) != 0;
      });
      if (!fair) return false;
    }
    return true;
  }

  const std::vector<Script>& scripts_;
  std::map<std::string, size_t> known_;
  std::vector<State> states_;
  std::string fault_;
};

Script Job(unsigned files) {
  Script script;
  script.kind = Kind::kJob;
  script.files = files;
  return script;
}

Script Call(Kind kind, unsigned files, int steps = 2) {
  Script script;
  script.kind = kind;
  script.files = files;
  script.steps = steps;
  return script;
}

Script Whole(int steps = 1) {
  Script script = Call(Kind::kCall, 0, steps);  // its obstacle is not its files
  script.extent = Extent::kFamily;
  return script;
}

Script Addition() {
  Script script = Call(Kind::kAtOnce, 0, 1);
  script.extent = Extent::kAddition;
  return script;
}

Script Idle(Script script) {
  script.idle = true;
  return script;
}

Script In(int family, Script script) {
  script.family = family;
  return script;
}

Script Forever(Script script) {
  script.forever = true;
  return script;
}

Script CalledBack(Script script, int caller = 0) {
  script.caller = caller;
  return script;
}

Script Pauser() {
  Script script;
  script.pauses = true;
  return script;
}

TEST(TreeAdmissionTest, EveryHistoryOfThreeEndsAndKeepsTheRules) {
  const std::vector<Script> kinds = {
      Job(1),
      Job(3),
      In(1, Job(1)),
      Call(Kind::kCall, 1),
      Call(Kind::kCall, 6),
      In(1, Call(Kind::kCall, 1)),
      Call(Kind::kAlone, 1),
      In(1, Call(Kind::kAlone, 1)),
      Call(Kind::kAtOnce, 2, 1),
      Whole(),
      Addition(),
      Idle(Call(Kind::kCall, 1)),
      Pauser(),
  };
  uint64_t number = 0;
  size_t cases = 0;
  size_t states = 0;
  for (size_t a = 0; a < kinds.size(); a++) {
    for (size_t b = a; b < kinds.size(); b++) {
      for (size_t c = b; c < kinds.size(); c++) {
        if (number++ % testing::StepUnderSanitizer() != testing::FirstUnderSanitizer()) continue;
        cases++;
        const std::vector<Script> scripts = {kinds[a], kinds[b], kinds[c]};
        const Histories histories(scripts);
        ASSERT_EQ(histories.fault(), "") << a << " " << b << " " << c;
        states += histories.count();
      }
    }
  }
  EXPECT_GT(states, 22 * cases) << "states that were looked at";
}

TEST(TreeAdmissionTest, WhoWaitsHasItsTurnWhateverOthersDo) {
  const std::vector<std::vector<Script>> companies = {
      {Call(Kind::kCall, 1), Forever(Job(1)), Forever(Job(3))},
      {Whole(), Forever(Job(1)), Forever(Job(2))},
      {Call(Kind::kAlone, 1), Forever(Job(1)), Forever(In(1, Job(1)))},
      {Call(Kind::kCall, 1), Forever(Call(Kind::kCall, 1)), Forever(Job(1))},
      {Call(Kind::kCall, 1), Forever(Call(Kind::kAlone, 1)), Forever(Call(Kind::kAlone, 1))},
      {Call(Kind::kAlone, 1), Forever(Call(Kind::kCall, 1)), Forever(Call(Kind::kAlone, 2))},
      {Whole(), Forever(Call(Kind::kCall, 2)), Forever(Call(Kind::kAtOnce, 4, 1))},
      {Call(Kind::kAlone, 1), Forever(Call(Kind::kAtOnce, 4, 1)), Forever(Whole())},
      {Addition(), Forever(Call(Kind::kAlone, 1)), Forever(Job(1))},
  };
  for (size_t i = 0; i < companies.size(); i++) {
    SCOPED_TRACE(i);
    const Histories histories(companies[i]);
    ASSERT_EQ(histories.fault(), "");
    EXPECT_GT(histories.count(), 20u);
    EXPECT_FALSE(histories.MayStarve(0));
  }
}

// The first actor's thread calls the second in its step; the third waits for that step.
TEST(TreeAdmissionTest, WhoIsCalledBackInAStepIsNotKeptWaitingForIt) {
  const std::vector<Script> steps = {Job(1), Call(Kind::kCall, 1), Call(Kind::kAlone, 1)};
  const std::vector<Script> called = {Call(Kind::kCall, 1), Call(Kind::kCall, 2),
                                      Call(Kind::kAlone, 2), Call(Kind::kAtOnce, 2, 1), Whole()};
  const std::vector<Script> others = {Job(2),  Call(Kind::kCall, 1),         Call(Kind::kAlone, 1),
                                      Whole(), In(1, Call(Kind::kAlone, 1)), In(1, Job(1)),
                                      Pauser()};
  for (const Script& step : steps) {
    for (const Script& callee : called) {
      for (const Script& other : others) {
        const std::vector<Script> scripts = {step, CalledBack(callee), other};
        const Histories histories(scripts);
        ASSERT_EQ(histories.fault(), "");
      }
    }
  }
}

// Two threads are called back in their steps, and each calls what the other's step may be in the
// way of: one of them is refused, if no third thread ends it.
TEST(TreeAdmissionTest, TwoWhoAreCalledBackDoNotWaitForEachOther) {
  const std::vector<std::pair<Script, Script>> steps = {
      {Job(1), Job(2)},
      {Job(1), In(1, Job(1))},
      {Job(1), Call(Kind::kAtOnce, 2, 1)},
  };
  const std::vector<Script> called = {
      Call(Kind::kCall, 3, 1),
      In(1, Call(Kind::kCall, 1, 1)),
      Call(Kind::kAlone, 4, 1),
      In(1, Call(Kind::kAlone, 4, 1)),
      Whole(),
      In(1, Whole()),
  };
  uint64_t number = 0;
  for (const auto& [a, b] : steps) {
    for (const Script& of_a : called) {
      for (const Script& of_b : called) {
        if (number++ % testing::StepUnderSanitizer() != testing::FirstUnderSanitizer()) continue;
        const std::vector<Script> pair = {a, b, CalledBack(of_a, 0), CalledBack(of_b, 1)};
        const Histories histories(pair);
        ASSERT_EQ(histories.fault(), "");
        std::vector<Script> beside_a_third = pair;
        beside_a_third.push_back(Job(4));
        const Histories longer(beside_a_third);
        ASSERT_EQ(longer.fault(), "");
      }
    }
  }
}

// The checks of this file find planted faults.
TEST(TreeAdmissionTest, AWaitThatNobodyEndsIsFound) {
  const std::vector<Script> scripts = {Forever(Call(Kind::kAtOnce, 1, 1)), Call(Kind::kCall, 1),
                                       Job(2)};
  const Histories histories(scripts);
  EXPECT_EQ(histories.fault(), "");
  EXPECT_TRUE(histories.MayStarve(1)) << "files named by hand take no turn";
}

}  // namespace
}  // namespace varve
