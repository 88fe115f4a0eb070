// SPDX-License-Identifier: Apache-2.0

// Implements the rules about parallel changes of trees.
//
//       Enter --> Ask --no--> MayWait? --> waits for changed_ --> Ask ...
//                  |
//                 yes, in this hold of the mutex: plan, Begin --> works without the mutex --> End
//                  |                                                                         |
//                  '-- nothing to do: Withdraw          a call may Ask for its next step <---'
//                                                                                    Leave
//
// Two things may keep a participant waiting: steps that run (FamilyIsFree, MayBeAlone), and those
// who were in line before (MayGoBeforeThoseInLine). Both lists are short, so everything is
// searched.

#include "db/engine/tree_admission.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {

namespace {

template <typename T>
void Remove(std::vector<T>* all, T one) {
  all->erase(std::remove(all->begin(), all->end(), one), all->end());
}

}  // namespace

void TreeAdmission::Enter(Participant* participant) {
  // Reserves memory, so that later calls need none.
  line_.reserve(parties_ + 1);
  alone_.reserve(parties_ + 1);
  steps_.reserve(parties_ + 1);
  waiting_.reserve(parties_ + 1);
  parties_++;
  if (participant->kind_ != Kind::kAlone) return;
  participant->ticket_ = next_ticket_++;
  alone_.push_back(participant);
}

void TreeAdmission::Leave(Participant* participant) {
  VARVE_ASSERT(std::find(steps_.begin(), steps_.end(), participant) == steps_.end());
  VARVE_ASSERT(parties_ > 0);
  parties_--;
  const bool held_others_up = participant->in_line_ || participant->kind_ == Kind::kAlone;
  Remove<const Participant*>(&line_, participant);
  Remove<const Participant*>(&alone_, participant);
  Remove<const Participant*>(&waiting_, participant);
  // Only such a participant can have been in the way of others, for whom a no may be a yes now. The
  // leaving of any other frees nobody, so those who were told no stay noted as waiting.
  if (held_others_up) return Change();
  changed_();
}

// Waiting participants will ask again.
void TreeAdmission::Change() {
  waiting_.clear();
  changed_();
}

// A call that is told no keeps its place in line, by its ticket. Jobs have none, and are scheduled
// again.
bool TreeAdmission::Ask(Participant* participant, Extent extent) {
  participant->extent_ = extent;
  Remove<const Participant*>(&waiting_, participant);
  if (!participant->in_line_ &&
      (participant->kind_ == Kind::kCall || participant->kind_ == Kind::kAlone)) {
    if (participant->kind_ == Kind::kCall) participant->ticket_ = next_ticket_++;
    participant->in_line_ = true;
    // A participant of kind kAlone has had its ticket since Enter, so it may have to go before
    // others that are in line already.
    const auto later = [](const Participant* a, const Participant* b) {
      return a->ticket_ < b->ticket_;
    };
    line_.insert(std::upper_bound(line_.begin(), line_.end(), participant, later), participant);
  }
  return MayPlan(*participant);
}

void TreeAdmission::Withdraw(Participant* participant) {
  Remove<const Participant*>(&line_, participant);
  participant->in_line_ = false;
  Change();
}

void TreeAdmission::Begin(Participant* participant) {
  VARVE_ASSERT(MayPlan(*participant));
  Remove<const Participant*>(&line_, participant);
  participant->in_line_ = false;
  steps_.push_back(participant);
  // The line is shorter by one participant.
  Change();
}

void TreeAdmission::End(Participant* participant) {
  VARVE_ASSERT(std::find(steps_.begin(), steps_.end(), participant) != steps_.end());
  Remove<Participant*>(&steps_, participant);
  Change();
}

void TreeAdmission::Continue() {
  VARVE_ASSERT(paused_ > 0);
  if (--paused_ == 0) Change();
}

bool TreeAdmission::HasStep(std::thread::id thread) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Participant* step) { return step->thread_ == thread; });
}

bool TreeAdmission::OthersHaveSteps(const Participant& participant) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Participant* step) { return step->thread_ != participant.thread_; });
}

// A thread that has no step, and no lone call in progress, may always wait: nobody waits for it.
bool TreeAdmission::MayWait(Participant* participant) {
  // A call of this thread is alone already, and this one comes from its callback: it would wait for
  // itself.
  const auto own = [&](const Participant* alone) {
    return alone != participant && alone->thread_ == participant->thread_;
  };
  if (std::any_of(alone_.begin(), alone_.end(), own)) return false;
  if (!HasStep(participant->thread_)) return true;
  // The participant counts as waiting during the search, which asks if anything ends in spite of
  // that.
  waiting_.push_back(participant);
  FindThoseThatEnd();
  if (AnyEndsFor(*participant)) return true;
  waiting_.pop_back();
  return false;
}

// Answers as far as this object knows: only a plan can tell which of the family's steps use its
// files.
bool TreeAdmission::WaitsFor(const Participant& participant, const Participant& step) {
  return step.thread_ != participant.thread_ &&
         (participant.kind_ == Kind::kAlone || step.family_ == participant.family_);
}

bool TreeAdmission::AnyEndsFor(const Participant& participant) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const Participant* step) {
    return step->ends_ && WaitsFor(participant, *step);
  });
}

// Marks the steps that end: those whose threads wait for nothing, or for steps that end.
void TreeAdmission::FindThoseThatEnd() {
  const auto waiter_of = [&](const Participant& step) {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Participant* participant) {
      return participant->thread_ == step.thread_;
    });
  };
  for (Participant* step : steps_) step->ends_ = waiter_of(*step) == waiting_.end();
  // Each round finds steps that end because of those found before; it stops when a round finds
  // none.
  for (bool found = true; found;) {
    found = false;
    for (Participant* step : steps_) {
      if (step->ends_ || !AnyEndsFor(**waiter_of(*step))) continue;
      step->ends_ = found = true;
    }
  }
}

// True if the participant's extent allows a step. Plans run in parallel, and files are added beside
// plans.
bool TreeAdmission::FamilyIsFree(const Participant& participant) const {
  return std::none_of(steps_.begin(), steps_.end(), [&](const Participant* step) {
    return step->family_ == participant.family_ &&
           (step->extent_ != Extent::kPlan || participant.extent_ == Extent::kFamily);
  });
}

// Participants that were in line before it have their steps first; later ones, and those without a
// ticket, wait until it has left. So it is alone from its first step on.
bool TreeAdmission::MayBeAlone(const Participant& participant) const {
  const bool first = line_.empty() || line_.front()->ticket_ >= participant.ticket_;
  return alone_.front() == &participant && first && steps_.empty();
}

bool TreeAdmission::MayGoBeforeThoseInLine(const Participant& participant) const {
  for (const Participant* other : line_) {
    if (other == &participant) return true;
    if (other->family_ != participant.family_) continue;
    if (participant.kind_ != Kind::kAtOnce || other->extent_ == Extent::kFamily) return false;
  }
  return true;
}

// The rules in the order of their force: the family must be free; a call from a callback of a step
// goes before everybody, since others wait for that step; a pause; a lone participant; the line.
bool TreeAdmission::MayPlan(const Participant& participant) const {
  if (!FamilyIsFree(participant)) return false;
  // Participants that wait for the end of this thread's step must not be waited for. A job is never
  // called from a callback.
  if (participant.kind_ != Kind::kJob && HasStep(participant.thread_)) {
    return participant.kind_ != Kind::kAlone || !OthersHaveSteps(participant);
  }
  if (paused_ > 0 && participant.kind_ != Kind::kAtOnce) return false;
  if (participant.kind_ == Kind::kAlone) return MayBeAlone(participant);
  // Additions run even beside a lone participant, as flushes do.
  if (participant.kind_ == Kind::kAtOnce && participant.extent_ == Extent::kAddition) return true;
  // A participant that wants to be alone lets those before it finish, and keeps out those after it.
  if (!alone_.empty() && alone_.front()->ticket_ < participant.ticket_) return false;
  return MayGoBeforeThoseInLine(participant);
}

}  // namespace varve
