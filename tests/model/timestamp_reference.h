// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a column family with timestamps must answer: every version that was ever written, in the
// order of writing, and the rules by which a reader as of a timestamp chooses among them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/reference.h"

namespace varve::testing {

// Thread safety: none.
class TimestampReference {
 public:
  struct Version {
    Change::Kind kind = Change::kPut;
    uint64_t timestamp = 0;
    uint64_t order = 0;  // of writing
    std::string value;
  };
  struct Answer {
    std::string value;
    uint64_t timestamp = 0;  // of the newest version that has a part in it
  };

  explicit TimestampReference(const Comparator* key_order) : versions_(ComparatorLess{key_order}) {}

  // Timestamps never descend from one call to the next.
  void Apply(const Change& change, uint64_t timestamp) {
    order_++;
    if (change.kind == Change::kDeleteRange) {
      tombstones_.push_back({change.key, change.value, timestamp, order_});
    } else {
      versions_[change.key].push_back({change.kind, timestamp, order_, change.value});
    }
  }
  // How much has been written so far: what a snapshot sees.
  [[nodiscard]] uint64_t order() const { return order_; }

  // As of `timestamp`, of what had been written at `order`.
  [[nodiscard]] std::optional<Answer> Get(const std::string& key, uint64_t timestamp,
                                          uint64_t order) const {
    const auto found = versions_.find(key);
    if (found == versions_.end()) return std::nullopt;
    const uint64_t deleted = DeletedBefore(key, timestamp, order);
    std::vector<const Version*> operands;  // newest first
    std::optional<std::string> base;
    for (auto it = found->second.rbegin(); it != found->second.rend(); ++it) {
      if (it->timestamp > timestamp || it->order > order) continue;
      if (it->order < deleted) break;
      if (it->kind == Change::kMerge) {
        operands.push_back(&*it);
        continue;
      }
      if (it->kind != Change::kPut) break;
      if (operands.empty()) return Answer{it->value, it->timestamp};
      base = it->value;
      break;
    }
    if (operands.empty()) return std::nullopt;
    std::string value = base.value_or("");
    for (auto it = operands.rbegin(); it != operands.rend(); ++it) {
      value = AppendOrReplace::Apply(value, (*it)->value);
    }
    return Answer{value, operands.front()->timestamp};
  }

  // All keys that there are then, in order.
  [[nodiscard]] std::vector<std::pair<std::string, Answer>> Scan(uint64_t timestamp,
                                                                 uint64_t order) const {
    std::vector<std::pair<std::string, Answer>> all;
    for (const auto& [key, versions] : versions_) {
      if (auto answer = Get(key, timestamp, order)) all.emplace_back(key, *answer);
    }
    return all;
  }

  // What an iterator over history shows: of each key and timestamp the last that was written,
  // unless a range deletion within the time covers it.
  [[nodiscard]] std::vector<std::pair<std::string, Version>> History(uint64_t from, uint64_t to,
                                                                     uint64_t order) const {
    std::vector<std::pair<std::string, Version>> all;
    for (const auto& [key, versions] : versions_) {
      const uint64_t deleted = DeletedBefore(key, to, order);
      std::optional<uint64_t> last;
      for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
        if (it->order > order || it->timestamp > to || it->timestamp < from) continue;
        if (it->order < deleted || last == it->timestamp) continue;
        last = it->timestamp;
        all.emplace_back(key, *it);
      }
    }
    return all;
  }

  // As OpenAndTrimHistory does.
  void Trim(uint64_t timestamp) {
    for (auto& [key, versions] : versions_) {
      std::erase_if(versions, [&](const Version& v) { return v.timestamp > timestamp; });
    }
    std::erase_if(tombstones_, [&](const Tombstone& t) { return t.timestamp > timestamp; });
  }

 private:
  struct Tombstone {
    std::string begin;
    std::string end;
    uint64_t timestamp;
    uint64_t order;
  };

  [[nodiscard]] uint64_t DeletedBefore(const std::string& key, uint64_t timestamp,
                                       uint64_t order) const {
    const auto& before = versions_.key_comp();
    uint64_t newest = 0;
    for (const Tombstone& t : tombstones_) {
      if (t.timestamp > timestamp || t.order > order || before(key, t.begin) ||
          !before(key, t.end)) {
        continue;
      }
      newest = std::max(newest, t.order);
    }
    return newest;
  }

  std::map<std::string, std::vector<Version>, ComparatorLess> versions_;
  std::vector<Tombstone> tombstones_;
  uint64_t order_ = 0;
};

}  // namespace varve::testing
