// SPDX-License-Identifier: Apache-2.0

// FamilyWalk holds one iterator for each family, and shows the first key of them all; those that
// stand on it are its shown ones. Forward, every other iterator stands on its first key after the
// shown one, backward on its last key before it. A change of direction seeks in all of them.

#include "db/read/family_iterators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "varve/comparator.h"

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Thread safety: none. Children are owned; the handles of the families are borrowed.
class FamilyWalk {
 public:
  struct Child {
    ColumnFamilyHandle* family;
    std::unique_ptr<Iterator> it;
  };

  // Makes the iterators. With an error the walk stays invalid, and has that status.
  void Start(const NewFamilyIterators& make, const std::vector<ColumnFamilyHandle*>& families) {
    status_ = Guarded([&] { return Make(make, families); });
    failed_ = !status_.ok();
  }

  [[nodiscard]] bool Valid() const { return !shown_.empty(); }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] Slice key() const {
    VARVE_ASSERT(Valid());
    return shown_.front()->it->key();
  }
  // Returns the iterators on the shown key, in the order of the families.
  [[nodiscard]] const std::vector<Child*>& shown() const { return shown_; }

  void SeekToFirst() {
    Move(true, [](Iterator* it) { it->SeekToFirst(); });
  }
  void SeekToLast() {
    Move(false, [](Iterator* it) { it->SeekToLast(); });
  }
  void Seek(const Slice& target) {
    Move(true, [&](Iterator* it) { it->Seek(target); });
  }
  void SeekForPrev(const Slice& target) {
    Move(false, [&](Iterator* it) { it->SeekForPrev(target); });
  }
  void Next() {
    VARVE_ASSERT(Valid());
    if (!forward_) return Turn(true);
    for (Child* child : shown_) child->it->Next();
    FindShown();
  }
  void Prev() {
    VARVE_ASSERT(Valid());
    if (forward_) return Turn(false);
    for (Child* child : shown_) child->it->Prev();
    FindShown();
  }
  bool PrepareValue() {
    VARVE_ASSERT(Valid());
    for (Child* child : shown_) {
      if (child->it->PrepareValue()) continue;
      status_ = child->it->status();
      shown_.clear();
      return false;
    }
    return true;
  }

 private:
  // All families must have one order, as their keys are merged. Nothing is made before that is
  // known.
  Status Make(const NewFamilyIterators& make, const std::vector<ColumnFamilyHandle*>& families) {
    if (families.empty()) {
      return Status::InvalidArgument("iterator: over several column families, and none was given");
    }
    for (const ColumnFamilyHandle* family : families) {
      if (family == nullptr) return Status::InvalidArgument("iterator: a column family is null");
    }
    order_ = families.front()->GetComparator();
    for (ColumnFamilyHandle* family : families) {
      if (Slice(family->GetComparator()->Name()) == Slice(order_->Name())) continue;
      return Status::InvalidArgument(
          "iterator: over column families with different comparators",
          std::string(order_->Name()) + " and " + family->GetComparator()->Name());
    }
    std::vector<Iterator*> made;
    VARVE_RETURN_IF_ERROR(make(&made));
    children_.reserve(made.size());
    for (size_t i = 0; i < made.size(); i++) {
      children_.push_back({families[i], std::unique_ptr<Iterator>(made[i])});
    }
    shown_.reserve(children_.size());
    return Status::OK();
  }

  template <typename MoveOne>
  void Move(bool forward, const MoveOne& move) {
    if (failed_) return;
    forward_ = forward;
    for (Child& child : children_) move(child.it.get());
    FindShown();
  }

  // Every iterator seeks to the shown key and leaves it, whether it stood on that key or not.
  void Turn(bool forward) {
    const std::string from = key().ToString();
    forward_ = forward;
    for (Child& child : children_) {
      Iterator* const it = child.it.get();
      forward ? it->Seek(from) : it->SeekForPrev(from);
      if (!it->Valid() || Compare(it->key(), from) != 0) continue;
      forward ? it->Next() : it->Prev();
    }
    FindShown();
  }

  // Collects the iterators on the first key in the walk's direction. If any iterator has failed,
  // nothing is shown, as its key might have been the first.
  void FindShown() {
    shown_.clear();
    status_ = Status::OK();
    for (Child& child : children_) {
      if (!child.it->Valid()) {
        if (status_.ok()) status_ = child.it->status();
        continue;
      }
      const int order = shown_.empty() ? 0 : Compare(child.it->key(), shown_.front()->it->key());
      if (order == 0) {
        shown_.push_back(&child);
      } else if ((order < 0) == forward_) {
        shown_.assign(1, &child);
      }
    }
    if (!status_.ok()) shown_.clear();
  }

  [[nodiscard]] int Compare(const Slice& a, const Slice& b) const {
    return order_->CompareWithoutTimestamp(a, /*a_has_ts=*/false, b, /*b_has_ts=*/false);
  }

  const Comparator* order_ = nullptr;
  std::vector<Child> children_;
  std::vector<Child*> shown_;
  bool forward_ = true;
  bool failed_ = false;  // The iterators could not be made.
  Status status_;
};

// Passes the moves of an iterator on to a walk.
template <typename Base>
class FamilyIterator : public Base {
 public:
  bool Valid() const override { return walk_.Valid(); }
  void SeekToFirst() override { Moved(&FamilyWalk::SeekToFirst); }
  void SeekToLast() override { Moved(&FamilyWalk::SeekToLast); }
  void Seek(const Slice& target) override {
    is_made_ = false;
    walk_.Seek(target);
  }
  void SeekForPrev(const Slice& target) override {
    is_made_ = false;
    walk_.SeekForPrev(target);
  }
  void Next() override { Moved(&FamilyWalk::Next); }
  void Prev() override { Moved(&FamilyWalk::Prev); }
  bool PrepareValue() override {
    is_made_ = false;
    return walk_.PrepareValue();
  }
  Slice key() const override { return walk_.key(); }
  Status status() const override { return walk_.status(); }

  FamilyWalk& walk() { return walk_; }

 protected:
  [[nodiscard]] const FamilyWalk& walk() const { return walk_; }
  // Returns true at the first call after each move: the columns or groups of the new position are
  // then to be made, and are kept until the next move.
  bool TakeUnmade() const { return !std::exchange(is_made_, true); }

 private:
  void Moved(void (FamilyWalk::*move)()) {
    is_made_ = false;
    (walk_.*move)();
  }

  FamilyWalk walk_;
  mutable bool is_made_ = false;
};

// Shows the columns of all families together. Those of later families come in the place of those
// of the same name in earlier ones.
class CoalescingIterator final : public FamilyIterator<Iterator> {
 public:
  Slice value() const override {
    const WideColumns& all = columns();
    const bool has_default = !all.empty() && all.front().name() == kDefaultWideColumnName;
    return has_default ? all.front().value() : Slice();
  }
  const WideColumns& columns() const override {
    VARVE_ASSERT(Valid());
    if (TakeUnmade()) Coalesce();
    return columns_;
  }

 private:
  // Merges sorted columns into sorted ones.
  void Coalesce() const {
    columns_.clear();
    for (const FamilyWalk::Child* child : walk().shown()) {
      merged_.clear();
      auto old = columns_.cbegin();
      for (const WideColumn& column : child->it->columns()) {
        for (; old != columns_.cend() && old->name().compare(column.name()) < 0; ++old) {
          merged_.push_back(*old);
        }
        if (old != columns_.cend() && old->name() == column.name()) ++old;
        merged_.push_back(column);
      }
      merged_.insert(merged_.end(), old, columns_.cend());
      columns_.swap(merged_);
    }
  }

  mutable WideColumns columns_;
  mutable WideColumns merged_;
};

class GroupIterator final : public FamilyIterator<AttributeGroupIterator> {
 public:
  const IteratorAttributeGroups& attribute_groups() const override {
    VARVE_ASSERT(Valid());
    if (!TakeUnmade()) return groups_;
    groups_.clear();
    for (const FamilyWalk::Child* child : walk().shown()) {
      groups_.emplace_back(child->family, &child->it->columns());
    }
    return groups_;
  }

 private:
  mutable IteratorAttributeGroups groups_;
};

}  // namespace

std::unique_ptr<Iterator> MakeCoalescingIterator(const NewFamilyIterators& make,
                                                 const std::vector<ColumnFamilyHandle*>& families) {
  auto made = std::make_unique<CoalescingIterator>();
  made->walk().Start(make, families);
  return made;
}

std::unique_ptr<AttributeGroupIterator> MakeAttributeGroupIterator(
    const NewFamilyIterators& make, const std::vector<ColumnFamilyHandle*>& families) {
  auto made = std::make_unique<GroupIterator>();
  made->walk().Start(make, families);
  return made;
}

}  // namespace varve
