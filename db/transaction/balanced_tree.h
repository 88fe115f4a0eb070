// SPDX-License-Identifier: Apache-2.0
#pragma once

// BalancedTree is an ordered tree of nodes that the caller owns. Each node stores a summary of all
// nodes below it.
//
//             [m | sum of all]          Insert: descend by IsBefore to a free place, then rotate
//            /                \         upwards while the parent's priority is lower.
//      [d | a d g]        [t | t]       Erase: rotate downwards until the node has no children.
//        /     \                        Both update the sums on the way to the root.
//      [a]     [g]
//
// Two users need summaries: ranges of locks, to find an overlapping range of another owner
// (lock_ranges.h), and ordered keys, to skip keys of one owner (locked_keys.h).

#include <cstdint>
#include <utility>

#include "util/base/assert.h"

namespace varve {

// A treap (Seidel and Aragon 1996): nodes are ordered by Node::IsBefore, and no node has a higher
// priority than its parent. Priorities are random, which keeps paths short. Nothing is allocated,
// and erasing a node needs no search.
//
// A node derives from BalancedTree<Node>::Links. IsBefore(other) is its order; two nodes neither of
// which is before the other may both be in the tree. Sum() computes a node's summary from itself
// and its children, and returns true if it has changed. A summary may point to nodes below it, but
// never to erased ones.
//
// Thread safety: none. Cost: O(log n) calls of IsBefore and Sum for a change.
template <typename Node>
class BalancedTree {
 public:
  class Links {
   public:
    // Return the subtrees of nodes that are not after, and not before, this one.
    const Node* left() const { return left_; }
    const Node* right() const { return right_; }
    Node* left() { return left_; }
    Node* right() { return right_; }

   private:
    friend class BalancedTree;
    Node* parent_ = nullptr;
    Node* left_ = nullptr;
    Node* right_ = nullptr;
    uint64_t priority_ = 0;
  };

  // Returns the topmost node, for searches that use the summaries; null: the tree is empty.
  Node* root() const { return root_; }
  bool empty() const { return root_ == nullptr; }

  // Adds a node, which the caller owns and must not move.
  void Insert(Node* node) {
    node->left_ = node->right_ = node->parent_ = nullptr;
    node->priority_ = Draw();
    Node** place = &root_;
    while (*place != nullptr) {
      node->parent_ = *place;
      place = node->IsBefore(**place) ? &(*place)->left_ : &(*place)->right_;
    }
    *place = node;
    (void)node->Sum();
    while (node->parent_ != nullptr && node->parent_->priority_ < node->priority_) Raise(node);
    for (Node* above = node->parent_; above != nullptr && above->Sum(); above = above->parent_) {
    }
  }

  // Removes a node of this tree.
  void Erase(Node* node) {
    while (node->left_ != nullptr || node->right_ != nullptr) {
      const bool raise_left =
          node->right_ == nullptr ||
          (node->left_ != nullptr && node->left_->priority_ > node->right_->priority_);
      Raise(raise_left ? node->left_ : node->right_);
    }
    *PlaceOf(node) = nullptr;
    // All of them are updated: of equal nodes, an ancestor may point to this one although the nodes
    // between point to another.
    for (Node* above = node->parent_; above != nullptr; above = above->parent_) (void)above->Sum();
    node->parent_ = nullptr;
  }

 private:
  // Returns the pointer that leads to the node: the root, or a link of its parent.
  Node** PlaceOf(Node* node) {
    Node* const parent = node->parent_;
    if (parent == nullptr) return &root_;
    return parent->left_ == node ? &parent->left_ : &parent->right_;
  }

  // Rotates the node above its parent; the order does not change.
  void Raise(Node* node) {
    Node* const parent = node->parent_;
    VARVE_ASSERT(parent != nullptr);
    *PlaceOf(parent) = node;
    node->parent_ = parent->parent_;
    parent->parent_ = node;
    Node*& inner = parent->left_ == node ? node->right_ : node->left_;
    (parent->left_ == node ? parent->left_ : parent->right_) = inner;
    if (inner != nullptr) inner->parent_ = parent;
    inner = parent;
    (void)parent->Sum();
    (void)node->Sum();
  }

  // Returns the next number of splitmix64, the same sequence in every run.
  uint64_t Draw() {
    uint64_t z = (seed_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  Node* root_ = nullptr;
  uint64_t seed_ = 0;
};

}  // namespace varve
