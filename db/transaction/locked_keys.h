// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockedKeys stores the locked keys of one column family in order, for finding the keys in a range.
//
// The lock table finds a key by its hash, which tells nothing about neighbours. A range lock has to
// know if another transaction holds a key in the range; with many range locks a walk over the whole
// table for each of them would be too slow. So, once a family has several ranges, its locked keys
// are also kept here: a balanced tree in key order, in which each node knows if all locks below it
// have the same owner.
//
//                     [k: T1 | several]            visiting [f, z] for T2:
//                    /                 \           - the right part has only T2's locks: skipped
//          [d: T1 | only T1]     [s: T2 | only T2] - the left part has only T1's: one is enough
//
// The search skips subtrees whose only owner is the one that asks, or the one that was found last.
// Its cost is therefore one path for each change of owner in the range, and not one step for each
// key.

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "db/transaction/balanced_tree.h"
#include "db/transaction/key_span.h"
#include "db/transaction/lock_owner.h"
#include "util/base/assert.h"

namespace varve {

// A key with several holders is stored once for each of them.
//
// Thread safety: none. Lifetime: a lock must be removed before its memory is freed.
class LockedKeys {
 public:
  LockedKeys() = default;
  LockedKeys(const LockedKeys&) = delete;
  LockedKeys& operator=(const LockedKeys&) = delete;

  // True if no key of the family is in order here.
  bool empty() const { return tree_.empty(); }

  // Adds a lock that is held. Must be called under the mutex of the ranges. Throws std::bad_alloc,
  // with nothing changed.
  void Add(HeldLock* lock, const Comparator* comparator) {
    VARVE_ASSERT(lock->place_in_order.load(std::memory_order_relaxed) == 0);
    if (free_ == 0) {
      nodes_.emplace_back();
      free_ = static_cast<uint32_t>(nodes_.size());
    }
    Node& node = nodes_[free_ - 1];
    lock->place_in_order.store(free_, std::memory_order_relaxed);
    free_ = node.next_free;
    node.lock = lock;
    node.comparator = comparator;
    tree_.Insert(&node);
  }

  // Removes a lock, held or not any more, and says so in its place_in_order. Requires that the lock
  // is here.
  void Remove(HeldLock* lock) {
    const uint32_t place = lock->place_in_order.load(std::memory_order_relaxed);
    Node& node = nodes_[place - 1];
    VARVE_ASSERT(node.lock == lock);
    tree_.Erase(&node);
    node.next_free = free_;
    free_ = place;
    // This must be the last access to the lock: its owner may reuse the memory at once.
    lock->place_in_order.store(0, std::memory_order_release);
    if (!tree_.empty()) return;
    nodes_.clear();
    free_ = 0;
  }

  // Visits the range's keys that others than `owner` hold: adds the owners, and sets *key to one of
  // the keys if `ids` was empty. Keys for which is_held returns false are removed.
  template <typename IsHeld>  // bool(HeldLock*)
  void FindOthers(const FamilyRange& range, const LockOwner* owner, IsHeld is_held,
                  std::string* key, std::vector<TransactionID>* ids) {
    std::vector<HeldLock*> gone;
    const LockOwner* found = nullptr;
    const auto skips = [&](const LockOwner* of) { return of == owner || of == found; };
    const auto visit = [&](HeldLock* lock) {
      if (!is_held(lock)) return gone.push_back(lock);
      if (ids->empty()) key->assign(lock->key.key.data(), lock->key.key.size());
      found = lock->owner;
      ids->push_back(found->id());
    };
    Visit(tree_.root(), range.span(), skips, visit);
    for (HeldLock* lock : gone) Remove(lock);
  }

 private:
  // A locked key in the order of its family's keys.
  struct Node : public BalancedTree<Node>::Links {
    // The lock, in its owner's memory.
    HeldLock* lock = nullptr;
    // Order of the family's keys; every node of a tree has the same.
    const Comparator* comparator = nullptr;
    const LockOwner* only_owner = nullptr;  // Subtree's only owner; null: there are several.
    // While the node is unused: the next free place, counted from 1; 0: none.
    uint32_t next_free = 0;

    bool IsBefore(const Node& other) const {
      return comparator->CompareWithoutTimestamp(lock->key.key, false, other.lock->key.key, false) <
             0;
    }
    // Computes only_owner from this lock and the children. Returns true if it has changed, so that
    // the tree goes on upwards.
    bool Sum() {
      const LockOwner* const before = only_owner;
      only_owner = lock->owner;
      for (const Node* child : {this->left(), this->right()}) {
        if (child != nullptr && child->only_owner != only_owner) only_owner = nullptr;
      }
      return only_owner != before;
    }
  };

  // Visits the keys in order, except for subtrees of a single owner that is skipped.
  template <typename Skips, typename Act>
  static void Visit(Node* node, const KeySpan& span, const Skips& skips, const Act& act) {
    if (node == nullptr) return;
    if (node->only_owner != nullptr && skips(node->only_owner)) return;
    const int side = span.SideOf(node->lock->key.key);
    if (side >= 0) Visit(node->left(), span, skips, act);
    if (side == 0 && !skips(node->lock->owner)) act(node->lock);
    if (side <= 0) Visit(node->right(), span, skips, act);
  }

  // All nodes that have a lock.
  BalancedTree<Node> tree_;
  // Memory of the nodes, addressed by place_in_order - 1. A deque never moves its elements, which
  // the tree links.
  std::deque<Node> nodes_;
  uint32_t free_ = 0;  // First reusable place; 0: none.
};

}  // namespace varve
