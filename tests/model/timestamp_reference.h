// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers for a column family with timestamps: it has every version that was ever written, and the
// rules by which a reader as of a timestamp chooses among them. Visible versions under a visible
// tombstone that was written later do not count. Of the others the one with the newest timestamp is
// read, and of one timestamp the one written last; operands apply to the next versions in that
// order.
//
// Timestamps come in any order. Where versions below full_history_ts_low were not written in order,
// it is unknown which of them is left: a compaction may have met some without the others, and keeps
// one.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/reference.h"

namespace varve::testing {

// Thread safety: one thread may use it.
class TimestampReference {
 public:
  struct Version {
    Change::Kind kind = Change::kPut;
    uint64_t timestamp = 0;
    uint64_t order = 0;  // order of writing
    std::string value;
  };
  struct Answer {
    std::string value;
    uint64_t timestamp = 0;  // the newest version's that has a part in it
  };

  explicit TimestampReference(const Comparator* key_order) : versions_(ComparatorLess{key_order}) {}

  void Apply(const Change& change, uint64_t timestamp) {
    order_++;
    if (change.kind == Change::kDeleteRange) {
      tombstones_.push_back({change.key, change.value, timestamp, order_});
    } else {
      versions_[change.key].push_back({change.kind, timestamp, order_, change.value});
    }
  }
  // Returns how much has been written so far, which is what a snapshot sees.
  [[nodiscard]] uint64_t order() const { return order_; }

  // Returns the answer at `timestamp`, of what had been written at `order`.
  [[nodiscard]] std::optional<Answer> Get(const std::string& key, uint64_t timestamp,
                                          uint64_t order) const {
    std::vector<const Version*> operands;  // newest first
    std::optional<std::string> base;
    for (const Version* version : Standing(key, timestamp, order)) {
      if (version->kind == Change::kMerge) {
        operands.push_back(version);
        continue;
      }
      if (version->kind != Change::kPut) break;
      if (operands.empty()) return Answer{version->value, version->timestamp};
      base = version->value;
      break;
    }
    if (operands.empty()) return std::nullopt;
    std::string value = base.value_or("");
    for (auto it = operands.rbegin(); it != operands.rend(); ++it) {
      value = AppendOrReplace::Apply(value, (*it)->value);
    }
    return Answer{value, operands.front()->timestamp};
  }

  // Returns true if the answer depends on which versions are left below the mark.
  [[nodiscard]] bool IsUnsettled(const std::string& key, uint64_t timestamp, uint64_t order,
                                 uint64_t mark) const {
    const auto found = versions_.find(key);
    if (found == versions_.end()) return false;
    uint64_t newest = 0;
    bool in_order = true;
    for (const Version& version : found->second) {
      if (version.timestamp >= mark) continue;
      in_order = in_order && version.timestamp >= newest;
      newest = std::max(newest, version.timestamp);
    }
    if (in_order) return false;
    for (const Version* version : Standing(key, timestamp, order)) {
      if (version->timestamp < mark) return true;
      if (version->kind != Change::kMerge) return false;
    }
    return true;
  }

  // Returns true if the value is possible for an unsettled key: it is that of one of its versions,
  // or one of the versions is an operand.
  [[nodiscard]] bool MayBe(const std::string& key, const std::string& value) const {
    const auto found = versions_.find(key);
    if (found == versions_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Version& version) {
      return version.kind == Change::kMerge ||
             (version.kind == Change::kPut && version.value == value);
    });
  }

  [[nodiscard]] bool AnyUnsettled(uint64_t timestamp, uint64_t order, uint64_t mark) const {
    return std::any_of(versions_.begin(), versions_.end(), [&](const auto& one) {
      return IsUnsettled(one.first, timestamp, order, mark);
    });
  }

  // Returns all keys that exist at that time, in order.
  [[nodiscard]] std::vector<std::pair<std::string, Answer>> Scan(uint64_t timestamp,
                                                                 uint64_t order) const {
    std::vector<std::pair<std::string, Answer>> all;
    for (const auto& [key, versions] : versions_) {
      if (auto answer = Get(key, timestamp, order)) all.emplace_back(key, *answer);
    }
    return all;
  }

  // Returns what an iterator over history shows: for each key and timestamp the version written
  // last, unless a range deletion within the time covers it.
  [[nodiscard]] std::vector<std::pair<std::string, Version>> History(uint64_t from, uint64_t to,
                                                                     uint64_t order) const {
    std::vector<std::pair<std::string, Version>> all;
    for (const auto& [key, versions] : versions_) {
      std::optional<uint64_t> last;
      for (const Version* version : Standing(key, to, order)) {
        if (version->timestamp < from || last == version->timestamp) continue;
        last = version->timestamp;
        all.emplace_back(key, *version);
      }
    }
    return all;
  }

  // Does what OpenAndTrimHistory does.
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

  // Returns the versions that a reader sees and no tombstone covers, the first one first.
  [[nodiscard]] std::vector<const Version*> Standing(const std::string& key, uint64_t timestamp,
                                                     uint64_t order) const {
    std::vector<const Version*> standing;
    const auto found = versions_.find(key);
    if (found == versions_.end()) return standing;
    const uint64_t deleted = DeletedBefore(key, timestamp, order);
    for (const Version& version : found->second) {
      if (version.timestamp > timestamp || version.order > order) continue;
      if (version.order >= deleted) standing.push_back(&version);
    }
    std::sort(standing.begin(), standing.end(), [](const Version* a, const Version* b) {
      return a->timestamp != b->timestamp ? a->timestamp > b->timestamp : a->order > b->order;
    });
    return standing;
  }

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
