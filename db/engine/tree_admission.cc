// SPDX-License-Identifier: Apache-2.0

// Implements the rules about parallel changes of trees.

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

void TreeAdmission::Enter(Party* party) {
  // Reserves memory, so that later calls need none.
  line_.reserve(parties_ + 1);
  alone_.reserve(parties_ + 1);
  steps_.reserve(parties_ + 1);
  waiting_.reserve(parties_ + 1);
  parties_++;
  if (party->kind_ != Kind::kAlone) return;
  party->ticket_ = next_ticket_++;
  alone_.push_back(party);
}

void TreeAdmission::Leave(Party* party) {
  VARVE_ASSERT(std::find(steps_.begin(), steps_.end(), party) == steps_.end());
  VARVE_ASSERT(parties_ > 0);
  parties_--;
  const bool held_others_up = party->in_line_ || party->kind_ == Kind::kAlone;
  Remove<const Party*>(&line_, party);
  Remove<const Party*>(&alone_, party);
  Remove<const Party*>(&waiting_, party);
  if (held_others_up) return Change();
  changed_();
}

// Waiting participants will ask again.
void TreeAdmission::Change() {
  waiting_.clear();
  changed_();
}

bool TreeAdmission::Ask(Party* party, Extent extent) {
  party->extent_ = extent;
  Remove<const Party*>(&waiting_, party);
  if (!party->in_line_ && (party->kind_ == Kind::kCall || party->kind_ == Kind::kAlone)) {
    if (party->kind_ == Kind::kCall) party->ticket_ = next_ticket_++;
    party->in_line_ = true;
    const auto later = [](const Party* a, const Party* b) { return a->ticket_ < b->ticket_; };
    line_.insert(std::upper_bound(line_.begin(), line_.end(), party, later), party);
  }
  return MayPlan(*party);
}

void TreeAdmission::Withdraw(Party* party) {
  Remove<const Party*>(&line_, party);
  party->in_line_ = false;
  Change();
}

void TreeAdmission::Begin(Party* party) {
  VARVE_ASSERT(MayPlan(*party));
  Remove<const Party*>(&line_, party);
  party->in_line_ = false;
  steps_.push_back(party);
  // The line is shorter by one participant.
  Change();
}

void TreeAdmission::End(Party* party) {
  VARVE_ASSERT(std::find(steps_.begin(), steps_.end(), party) != steps_.end());
  Remove<Party*>(&steps_, party);
  Change();
}

void TreeAdmission::Continue() {
  VARVE_ASSERT(paused_ > 0);
  if (--paused_ == 0) Change();
}

bool TreeAdmission::HasStep(std::thread::id thread) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Party* step) { return step->thread_ == thread; });
}

bool TreeAdmission::OthersHaveSteps(const Party& party) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Party* step) { return step->thread_ != party.thread_; });
}

bool TreeAdmission::MayWait(Party* party) {
  // Its own thread is alone until the call from whose callback it comes returns.
  const auto own = [&](const Party* alone) {
    return alone != party && alone->thread_ == party->thread_;
  };
  if (std::any_of(alone_.begin(), alone_.end(), own)) return false;
  if (!HasStep(party->thread_)) return true;
  waiting_.push_back(party);
  FindThoseThatEnd();
  if (AnyEndsFor(*party)) return true;
  waiting_.pop_back();
  return false;
}

// Answers as far as this object knows: only a plan can tell which of the family's steps use its
// files.
bool TreeAdmission::WaitsFor(const Party& party, const Party& step) {
  return step.thread_ != party.thread_ &&
         (party.kind_ == Kind::kAlone || step.family_ == party.family_);
}

bool TreeAdmission::AnyEndsFor(const Party& party) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Party* step) { return step->ends_ && WaitsFor(party, *step); });
}

// Marks the steps that end: those whose threads wait for nothing, or for steps that end.
void TreeAdmission::FindThoseThatEnd() {
  const auto waiter_of = [&](const Party& step) {
    return std::find_if(waiting_.begin(), waiting_.end(),
                        [&](const Party* party) { return party->thread_ == step.thread_; });
  };
  for (Party* step : steps_) step->ends_ = waiter_of(*step) == waiting_.end();
  for (bool found = true; found;) {
    found = false;
    for (Party* step : steps_) {
      if (step->ends_ || !AnyEndsFor(**waiter_of(*step))) continue;
      step->ends_ = found = true;
    }
  }
}

// True if the participant's extent allows a step. Plans run in parallel, and files are added beside
// plans.
bool TreeAdmission::FamilyIsFree(const Party& party) const {
  return std::none_of(steps_.begin(), steps_.end(), [&](const Party* step) {
    return step->family_ == party.family_ &&
           (step->extent_ != Extent::kPlan || party.extent_ == Extent::kFamily);
  });
}

// Participants that were in line before it have their steps first; later ones, and those without a
// ticket, wait until it has left. So it is alone from its first step on.
bool TreeAdmission::MayBeAlone(const Party& party) const {
  const bool first = line_.empty() || line_.front()->ticket_ >= party.ticket_;
  return alone_.front() == &party && first && steps_.empty();
}

bool TreeAdmission::MayGoBeforeThoseInLine(const Party& party) const {
  for (const Party* other : line_) {
    if (other == &party) return true;
    if (other->family_ != party.family_) continue;
    if (party.kind_ != Kind::kAtOnce || other->extent_ == Extent::kFamily) return false;
  }
  return true;
}

bool TreeAdmission::MayPlan(const Party& party) const {
  if (!FamilyIsFree(party)) return false;
  // Participants that wait for the end of this thread's step must not be waited for. A job is never
  // called from a callback.
  if (party.kind_ != Kind::kJob && HasStep(party.thread_)) {
    return party.kind_ != Kind::kAlone || !OthersHaveSteps(party);
  }
  if (paused_ > 0 && party.kind_ != Kind::kAtOnce) return false;
  if (party.kind_ == Kind::kAlone) return MayBeAlone(party);
  // Additions run even beside a lone participant, as flushes do.
  if (party.kind_ == Kind::kAtOnce && party.extent_ == Extent::kAddition) return true;
  if (!alone_.empty() && alone_.front()->ticket_ < party.ticket_) return false;
  return MayGoBeforeThoseInLine(party);
}

}  // namespace varve
