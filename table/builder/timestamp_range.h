// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the smallest and the largest timestamp of a table's keys, for its properties.

#include <string>

#include "varve/comparator.h"
#include "varve/table_properties.h"

namespace varve {

// Used only for keys that end with timestamps. Thread safety: none. The comparator must outlive it.
class TimestampRange {
 public:
  explicit TimestampRange(const Comparator* comparator) : comparator_(comparator) {}

  // Adds the timestamp at the end of a user key. Ignores a key that is too short to have one.
  void Add(const Slice& user_key) {
    const size_t size = comparator_->timestamp_size();
    if (user_key.size() < size) return;
    const Slice timestamp(user_key.data() + user_key.size() - size, size);
    if (min_.empty() || comparator_->CompareTimestamp(timestamp, min_) < 0) {
      min_.assign(timestamp.data(), size);
    }
    if (max_.empty() || comparator_->CompareTimestamp(timestamp, max_) > 0) {
      max_.assign(timestamp.data(), size);
    }
  }

  // Adds the properties; adds nothing if there was no key.
  void Describe(UserCollectedProperties* properties) const {
    if (min_.empty()) return;
    (*properties)["rocksdb.timestamp_min"] = min_;
    (*properties)["rocksdb.timestamp_max"] = max_;
  }

 private:
  const Comparator* const comparator_;
  std::string min_;  // empty: no key yet
  std::string max_;
};

}  // namespace varve
