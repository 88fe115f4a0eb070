// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/surviving_writes.h"

#include <algorithm>
#include <utility>

namespace varve::testing {

namespace {

void ApplyTo(const Change& change, FamilyState* state) {
  switch (change.kind) {
    case Change::kPut:
      (*state)[change.key] = Shown(change.value);
      if (IsRemovable(change.value)) state->erase(change.key);
      break;
    case Change::kDelete:
    case Change::kSingleDelete:
      state->erase(change.key);
      break;
    case Change::kMerge:
      (*state)[change.key] = AppendOrReplace::Apply((*state)[change.key], change.value);
      break;
    case Change::kDeleteRange:
      state->erase(state->lower_bound(change.key), state->lower_bound(change.value));
      break;
  }
}

}  // namespace

FamilyState ShownState(const FamilyState& state) {
  FamilyState shown(state.key_comp());
  for (const auto& [key, value] : state) {
    if (!IsRemovable(value)) shown.emplace(key, Shown(value));
  }
  return shown;
}

void SurvivingWrites::Restart(const States& now) {
  kept_.clear();
  writes_ = 0;
  for (const auto& [name, view] : now) kept_.emplace(name, Kept{ShownState(*view), {}});
}

void SurvivingWrites::NoteFamily(const std::string& name, const Comparator* order) {
  kept_.emplace(name, Kept{FamilyState(ComparatorLess{order}), {}});
}

void SurvivingWrites::NoteWrite(const std::vector<Change>& changes) {
  writes_++;
  for (const Change& change : changes) {
    const auto found = kept_.find(change.family);
    if (found != kept_.end()) found->second.changes.emplace_back(writes_, change);
  }
}

std::string SurvivingWrites::JudgePrefixes(bool together, const States& left) const {
  std::vector<size_t> votes(writes_ + 1, 0);  // families that were so after this many writes
  for (const auto& [name, kept] : kept_) {
    const auto found = left.find(name);
    if (found == left.end()) return "family " + name + " is gone";
    const FamilyState is = ShownState(*found->second);
    FamilyState was = kept.state;
    size_t at = 0;
    bool any = false;
    for (size_t n = 0; n <= writes_; n++) {
      for (; at < kept.changes.size() && kept.changes[at].first == n; at++) {
        ApplyTo(kept.changes[at].second, &was);
      }
      if (was.size() != is.size() || was != is) continue;
      votes[n]++;
      any = true;
    }
    if (!any) return "family " + name + " is as it never was after a write";
  }
  if (!together || std::find(votes.begin(), votes.end(), kept_.size()) != votes.end()) return "";
  return "families are as they never were together after a write";
}

std::string SurvivingWrites::Judge(Survival survival, const States& left) const {
  if (survival == Survival::kAny || survival == Survival::kAll) return "";
  return JudgePrefixes(survival == Survival::kTogether, left);
}

}  // namespace varve::testing
