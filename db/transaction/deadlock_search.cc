// SPDX-License-Identifier: Apache-2.0

// Searches the wait-for graph breadth-first from the transaction that waits: its blockers, their
// blockers, and so on. Breadth-first, because most cycles are short, and because detect_depth then
// bounds the number of visited transactions, whatever the graph looks like. The graph changes
// during the search, as no latch is held between two reads of it. A cycle is therefore reported
// only if all of its edges are found a second time, with the same waits: a transaction that was in
// one wait both times has neither acquired nor released anything in between, so all edges existed
// together when the second walk began.
//
//      root T9 --waits for--> T1, T4        first round
//      T4 --waits for--> T9                 second round: the cycle T4, T9

#include "db/transaction/deadlock_search.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "util/base/assert.h"

namespace varve {

namespace {

// A transaction that was reached from the node with index `parent`.
struct Node {
  TransactionID id;
  size_t parent;
  WaitEdges edges;
};

// Returns the path from the transaction that the root waits for to the root itself.
std::vector<const Node*> CycleOf(const std::vector<Node>& nodes, size_t last) {
  std::vector<const Node*> cycle;
  for (size_t i = last; i != 0; i = nodes[i].parent) cycle.push_back(&nodes[i]);
  std::reverse(cycle.begin(), cycle.end());
  cycle.push_back(&nodes[0]);
  return cycle;
}

// True if all edges of the cycle exist now, and belong to the same waits as before.
bool StillThere(WaitGraph* graph, const std::vector<const Node*>& cycle) {
  for (size_t i = 0; i < cycle.size(); i++) {
    const TransactionID next = cycle[(i + 1) % cycle.size()]->id;
    WaitEdges now;
    if (!graph->EdgesOf(cycle[i]->id, &now) || now.number != cycle[i]->edges.number) return false;
    if (std::ranges::find(now.blockers, next) == now.blockers.end()) return false;
  }
  return true;
}

}  // namespace

// Only cycles through the root are searched for: any other cycle is found by its own members.
DeadlockAnswer SearchDeadlock(WaitGraph* graph, TransactionID root, int64_t visits_max,
                              std::vector<DeadlockInfo>* cycle) {
  std::vector<Node> nodes;
  nodes.push_back(Node{root, 0, {}});
  if (!graph->EdgesOf(root, &nodes[0].edges)) return DeadlockAnswer::kNone;
  std::unordered_set<TransactionID> seen = {root};
  int64_t visits = 0;
  for (size_t at = 0; at < nodes.size(); at++) {
    // A copy is walked, because `nodes` grows in the loop and moves its elements.
    for (const TransactionID id : std::vector<TransactionID>(nodes[at].edges.blockers)) {
      if (id == root) {
        const std::vector<const Node*> found = CycleOf(nodes, at);
        VARVE_ASSERT(found.back()->id == root);
        if (!StillThere(graph, found)) return DeadlockAnswer::kNone;
        for (const Node* node : found) cycle->push_back(node->edges.wait);
        return DeadlockAnswer::kCycle;
      }
      if (!seen.insert(id).second) continue;
      if (++visits > visits_max) return DeadlockAnswer::kTooDeep;
      Node next{id, at, {}};
      // A transaction that does not wait cannot be part of a cycle.
      if (graph->EdgesOf(id, &next.edges)) nodes.push_back(std::move(next));
    }
  }
  return DeadlockAnswer::kNone;
}

void DeadlockHistory::Add(DeadlockPath path) {
  MutexLock lock(&mu_);
  paths_.push_front(std::move(path));
  if (paths_.size() > size_) paths_.pop_back();
}

void DeadlockHistory::Resize(uint32_t size) {
  MutexLock lock(&mu_);
  size_ = size;
  if (paths_.size() > size_) paths_.resize(size_);
}

std::vector<DeadlockPath> DeadlockHistory::NewestFirst() const {
  MutexLock lock(&mu_);
  return {paths_.begin(), paths_.end()};
}

}  // namespace varve
