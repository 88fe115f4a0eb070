// SPDX-License-Identifier: Apache-2.0
// Models the contents of a family, and an iterator over it.
#include "tests/metamorphic/model.h"

namespace varve::testing {

namespace {

constexpr int kNeverSingle = 1 << 20;

bool IsForFilters(const Slice& value) {
  return IsRemovable(value) || value.starts_with("Chg");
}

}  // namespace

FamilyModel::FamilyModel(const std::string& name, const Line& line)
    : order_(line.Has("reverse") ? ReverseBytewiseComparator() : BytewiseComparator()),
      filtered_(line.Has("filtered")),
      has_timestamps_(HasTimestamps(name)),
      now_(std::make_shared<FamilyState>(ComparatorLess{order_})),
      versions_(order_) {}

bool WriteContract::Keeps(const Change& change, const Comparator* order, bool filtered) const {
  const auto found = puts_since_delete_.find(change.key);
  switch (change.kind) {
    case Change::kPut:
      if (!filtered && IsForFilters(change.value)) return false;
      // A filter that purges a value leaves no tombstone, so nothing older may lie beneath.
      return !Slice(change.value).starts_with("purge") || found == puts_since_delete_.end();
    case Change::kMerge:
      return !filtered;
    case Change::kSingleDelete:
      return found != puts_since_delete_.end() && found->second == 1;
    case Change::kDelete:
      return true;
    case Change::kDeleteRange:
      return order->Compare(change.key, change.value) < 0;
  }
  return false;
}

void WriteContract::Count(const Change& change, const Comparator* order) {
  switch (change.kind) {
    case Change::kPut:
      // A filter may replace the value by a deletion, which a single deletion must not meet.
      if (IsRemovable(change.value)) {
        puts_since_delete_[change.key] = kNeverSingle;
      } else {
        puts_since_delete_[change.key]++;
      }
      break;
    case Change::kSingleDelete:
      puts_since_delete_[change.key] = 0;
      break;
    case Change::kMerge:
    case Change::kDelete:
      puts_since_delete_[change.key] = kNeverSingle;
      break;
    case Change::kDeleteRange:
      for (auto& [key, count] : puts_since_delete_) {
        if (order->Compare(key, change.key) >= 0 && order->Compare(key, change.value) < 0) {
          count = kNeverSingle;
        }
      }
      break;
  }
}

void WriteContract::Forget() {
  for (auto& [key, count] : puts_since_delete_) count = kNeverSingle;
}

void FamilyModel::Trim(uint64_t timestamp) {
  versions_.Trim(timestamp);
  contract_.Forget();
}

FamilyState& FamilyModel::Writable() {
  if (now_.use_count() > 1) now_ = std::make_shared<FamilyState>(*now_);
  return *now_;
}

void FamilyModel::Apply(const Change& change, uint64_t timestamp) {
  contract_.Count(change, order_);
  if (has_timestamps_) {
    versions_.Apply(change, timestamp);
    return;
  }
  ApplyTo(&Writable(), change);
}

View FamilyModel::See(uint64_t timestamp, uint64_t moment) const {
  if (!has_timestamps_) return now_;
  auto view = std::make_shared<FamilyState>(ComparatorLess{order_});
  for (auto& [key, answer] : versions_.Scan(timestamp, moment)) {
    view->emplace(key, std::move(answer.value));
  }
  return view;
}

// ---- Iterators ----

bool IteratorModel::Contains(const std::string& key) const {
  const auto& before = view->key_comp();
  return !(lower.has_value() && before(key, *lower)) &&
         !(upper.has_value() && !before(key, *upper));
}

// Moves to the first visible position from here on.
void IteratorModel::Forward(Position from) {
  at.reset();
  for (; from != view->end() && Contains(from->first); ++from) {
    if (IsRemovable(from->second)) continue;
    at = from->first;
    return;
  }
}

// Moves to the last visible position before this one.
void IteratorModel::Backward(Position after) {
  at.reset();
  while (after != view->begin()) {
    --after;
    if (!Contains(after->first)) return;
    if (IsRemovable(after->second)) continue;
    at = after->first;
    return;
  }
}

void IteratorModel::First() {
  Forward(lower.has_value() ? view->lower_bound(*lower) : view->begin());
}

void IteratorModel::Last() {
  Backward(upper.has_value() ? view->lower_bound(*upper) : view->end());
}

void IteratorModel::Seek(const std::string& target) {
  const bool below = lower.has_value() && view->key_comp()(target, *lower);
  Forward(view->lower_bound(below ? *lower : target));
}

void IteratorModel::SeekForPrev(const std::string& target) {
  const bool above = upper.has_value() && !view->key_comp()(target, *upper);
  Backward(above ? view->lower_bound(*upper) : view->upper_bound(target));
}

void IteratorModel::Next() {
  Forward(view->upper_bound(*at));
}

void IteratorModel::Prev() {
  Backward(view->lower_bound(*at));
}

std::string IteratorModel::Answer() const {
  return at.has_value() ? PairText(*at, view->at(*at)) : kAbsent;
}

}  // namespace varve::testing
