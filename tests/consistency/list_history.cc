// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/list_history.h"

#include <algorithm>
#include <unordered_map>

namespace varve::testing {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

class Graph {
 public:
  explicit Graph(size_t nodes) : edges_(nodes) {}

  void Add(size_t from, size_t to) { edges_[from].push_back(static_cast<uint32_t>(to)); }

  // Returns one cycle of each strongly connected component that has more than one node.
  [[nodiscard]] std::vector<std::vector<uint32_t>> Cycles() {
    FindComponents();
    std::vector<bool> seen(edges_.size());
    std::vector<std::vector<uint32_t>> cycles;
    for (uint32_t node = 0; node < edges_.size(); node++) {
      if (sizes_[component_[node]] < 2 || seen[component_[node]]) continue;
      seen[component_[node]] = true;
      cycles.push_back(CycleThrough(node));
    }
    return cycles;
  }

 private:
  // Runs Tarjan's algorithm with an explicit stack.
  void FindComponents() {
    component_.assign(edges_.size(), kNone);
    order_.assign(edges_.size(), kNone);
    lowest_.assign(edges_.size(), kNone);
    for (uint32_t root = 0; root < edges_.size(); root++) {
      if (order_[root] != kNone) continue;
      Enter(root);
      while (!calls_.empty()) Step();
    }
  }
  void Enter(uint32_t node) {
    order_[node] = lowest_[node] = entered_++;
    open_.push_back(node);
    calls_.push_back({node, 0});
  }
  void Step() {
    auto& [node, edge] = calls_.back();
    if (edge < edges_[node].size()) {
      const uint32_t to = edges_[node][edge++];
      if (order_[to] == kNone) return Enter(to);
      if (component_[to] == kNone) lowest_[node] = std::min(lowest_[node], order_[to]);
      return;
    }
    const uint32_t done = node;
    calls_.pop_back();
    if (!calls_.empty()) {
      uint32_t& above = lowest_[calls_.back().node];
      above = std::min(above, lowest_[done]);
    }
    if (lowest_[done] != order_[done]) return;
    sizes_.push_back(0);
    uint32_t member;
    do {
      member = open_.back();
      open_.pop_back();
      component_[member] = static_cast<uint32_t>(sizes_.size() - 1);
      sizes_.back()++;
    } while (member != done);
  }

  // Returns the shortest cycle through `start` within its component.
  [[nodiscard]] std::vector<uint32_t> CycleThrough(uint32_t start) const {
    std::unordered_map<uint32_t, uint32_t> from;
    std::vector<uint32_t> queue = {start};
    for (size_t i = 0; i < queue.size(); i++) {
      for (const uint32_t to : edges_[queue[i]]) {
        if (component_[to] != component_[start] || from.contains(to)) continue;
        from[to] = queue[i];
        queue.push_back(to);
      }
      if (from.contains(start)) break;
    }
    std::vector<uint32_t> cycle = {start};
    for (uint32_t node = from.at(start); node != start; node = from.at(node)) cycle.push_back(node);
    std::ranges::reverse(cycle);
    return cycle;
  }

  struct Call {
    uint32_t node;
    size_t edge;
  };
  std::vector<std::vector<uint32_t>> edges_;
  std::vector<uint32_t> component_;
  std::vector<uint32_t> sizes_;  // sizes of the components
  std::vector<uint32_t> order_;
  std::vector<uint32_t> lowest_;
  std::vector<uint32_t> open_;
  std::vector<Call> calls_;
  uint32_t entered_ = 0;
};

std::string Show(const ListTransaction& transaction) {
  std::string text =
      "[" + std::to_string(transaction.begun) + ".." + std::to_string(transaction.ended);
  for (const auto& reading : transaction.readings) {
    text += " r" + std::to_string(reading.list) + ":" + std::to_string(reading.elements.size());
  }
  for (const auto& append : transaction.appends) {
    text += " a" + std::to_string(append.list) + ":" + std::to_string(append.element);
  }
  return text + "]";
}

class Search {
 public:
  Search(const std::vector<ListTransaction>& transactions, const std::vector<ListElements>& lists)
      : transactions_(transactions),
        lists_(lists),
        all_(2 * transactions.size()),
        with_gaps_(3 * transactions.size()) {}

  ListAnomalies Run() {
    FindWriters();
    if (found_.forbidden.empty()) AddWrites();
    for (size_t i = 0; i < transactions_.size() && found_.forbidden.empty(); i++) AddReadings(i);
    if (!found_.forbidden.empty()) return found_;
    AddRealTime();
    for (const auto& cycle : with_gaps_.Cycles()) {
      found_.forbidden = "a cycle: " + ShowCycle(cycle, 3);
      return found_;
    }
    const auto cycles = all_.Cycles();
    found_.not_serializable = cycles.size();
    if (!cycles.empty()) found_.example = ShowCycle(cycles.front(), 2);
    return found_;
  }

 private:
  // A transaction is one node of all_ and two of with_gaps_: one that is reached by a dependency,
  // and one that is reached by an antidependency and must be left by a dependency. The last third,
  // or half, of the nodes are the moments at which transactions ended.
  [[nodiscard]] size_t Count() const { return transactions_.size(); }

  void AddDependency(size_t from, size_t to) {
    if (from == to) return;
    all_.Add(from, to);
    with_gaps_.Add(from, to);
    with_gaps_.Add(Count() + from, to);
  }
  void AddAntidependency(size_t from, size_t to) {
    if (from == to) return;
    all_.Add(from, to);
    with_gaps_.Add(from, Count() + to);
  }

  void Forbid(const std::string& what) {
    if (found_.forbidden.empty()) found_.forbidden = what;
  }
  [[nodiscard]] uint32_t Writer(uint32_t element) const {
    const auto it = writers_.find(element);
    return it == writers_.end() ? kNone : it->second;
  }

  void FindWriters() {
    for (size_t i = 0; i < Count(); i++) {
      for (const auto& append : transactions_[i].appends) {
        writers_[append.element] = static_cast<uint32_t>(i);
      }
    }
    std::unordered_map<uint32_t, uint32_t> held;  // element to list
    for (uint32_t list = 0; list < lists_.size(); list++) {
      for (const uint32_t element : lists_[list]) {
        if (!held.emplace(element, list).second) Forbid("twice: " + std::to_string(element));
      }
    }
    for (const ListTransaction& transaction : transactions_) {
      for (const auto& append : transaction.appends) {
        const auto it = held.find(append.element);
        if (it == held.end() || it->second != append.list) Forbid("lost: " + Show(transaction));
      }
    }
  }

  void AddWrites() {
    for (const ListElements& list : lists_) {
      for (size_t i = 0; i < list.size(); i++) {
        const uint32_t writer = Writer(list[i]);
        if (writer == kNone) return Forbid("of nobody: " + std::to_string(list[i]));
        if (i != 0) AddDependency(Writer(list[i - 1]), writer);
      }
    }
  }

  void AddReadings(size_t reader) {
    for (const auto& reading : transactions_[reader].readings) {
      const ListElements& list = lists_[reading.list];
      const size_t n = reading.elements.size();
      if (n > list.size() ||
          !std::equal(reading.elements.begin(), reading.elements.end(), list.begin())) {
        return Forbid("no beginning of list " + std::to_string(reading.list) + ": " +
                      Show(transactions_[reader]));
      }
      const uint32_t last = n == 0 ? kNone : Writer(list[n - 1]);
      const uint32_t next = n == list.size() ? kNone : Writer(list[n]);
      if (last != kNone && last == next) return Forbid("in between: " + Show(transactions_[last]));
      if (last != kNone) AddDependency(last, reader);
      if (next != kNone) AddAntidependency(reader, next);
    }
  }

  // Adds real time: a transaction that ended before another began precedes it. The moments of the
  // ends form a chain.
  void AddRealTime() {
    std::vector<uint32_t> by_end(Count());
    for (uint32_t i = 0; i < Count(); i++) by_end[i] = i;
    std::ranges::sort(by_end, {}, [this](uint32_t i) { return transactions_[i].ended; });
    for (size_t i = 0; i < Count(); i++) {
      AddToMoment(by_end[i], i);
      if (i + 1 < Count()) {
        all_.Add(Count() + i, Count() + i + 1);
        with_gaps_.Add(2 * Count() + i, 2 * Count() + i + 1);
      }
    }
    for (size_t i = 0; i < Count(); i++) {
      const auto later =
          std::ranges::lower_bound(by_end, transactions_[i].begun, {},
                                   [this](uint32_t j) { return transactions_[j].ended; });
      if (later == by_end.begin()) continue;
      const auto moment = static_cast<size_t>(later - by_end.begin()) - 1;
      all_.Add(Count() + moment, i);
      with_gaps_.Add(2 * Count() + moment, i);
    }
  }
  void AddToMoment(size_t transaction, size_t moment) {
    all_.Add(transaction, Count() + moment);
    with_gaps_.Add(transaction, 2 * Count() + moment);
    with_gaps_.Add(Count() + transaction, 2 * Count() + moment);
  }

  // `parts` is the number of nodes of a transaction.
  [[nodiscard]] std::string ShowCycle(const std::vector<uint32_t>& cycle, size_t parts) const {
    std::string text;
    for (const uint32_t node : cycle) {
      if (node >= (parts - 1) * Count()) {
        text += "then ";
      } else {
        text += Show(transactions_[node % Count()]) + " ";
      }
    }
    return text;
  }

  const std::vector<ListTransaction>& transactions_;
  const std::vector<ListElements>& lists_;
  std::unordered_map<uint32_t, uint32_t> writers_;
  Graph all_;
  Graph with_gaps_;  // paths of it never have two antidependencies in a row
  ListAnomalies found_;
};

}  // namespace

ListAnomalies FindAnomalies(const std::vector<ListTransaction>& transactions,
                            const std::vector<ListElements>& lists) {
  return Search(transactions, lists).Run();
}

}  // namespace varve::testing
