// SPDX-License-Identifier: Apache-2.0
#pragma once

// Trees of tables drawn as text, for tests that need no tables.

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "varve/comparator.h"

#include "db/version/version.h"

namespace varve {

inline const InternalKeyComparator& BytewiseOrder() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

// Draws one line for each level, "L1: 4[a-c]100 5[d-f]200": number, bounds, bytes. An asterisk
// after a file says that it is being compacted. In L0 the epoch is the number. Sequence numbers are
// the file numbers. `surplus` of the levels lie deeper than the options allow.
inline VersionRef DrawTree(const std::string& drawing, int num_levels = 7,
                           const InternalKeyComparator* icmp = &BytewiseOrder(), int surplus = 0) {
  std::vector<std::vector<FileRef>> levels(static_cast<size_t>(num_levels));
  std::istringstream lines(drawing);
  std::string word;
  size_t level = 0;
  while (lines >> word) {
    if (word[0] == 'L') {
      level = static_cast<size_t>(word[1] - '0');
      continue;
    }
    auto file = std::make_shared<FileMetaData>();
    const size_t open = word.find('[');
    const size_t dash = word.find('-');
    const size_t close = word.find(']');
    file->number = std::stoull(word.substr(0, open));
    file->epoch_number = file->number;
    file->smallest_seq = file->largest_seq = file->number;
    file->smallest = InternalKey(word.substr(open + 1, dash - open - 1), file->number, kTypeValue);
    file->largest = InternalKey(word.substr(dash + 1, close - dash - 1), file->number, kTypeValue);
    file->notes.being_compacted = word.back() == '*';
    if (file->notes.being_compacted) word.pop_back();
    file->size = std::stoull(word.substr(close + 1));
    levels.at(level).push_back(std::move(file));
  }
  return std::make_shared<const Version>(icmp, 1, std::move(levels), /*reserves_last_level=*/false,
                                         surplus);
}

template <typename Files>
std::vector<uint64_t> Numbers(const Files& files) {
  std::vector<uint64_t> numbers;
  for (const auto& file : files) numbers.push_back(file->number);
  return numbers;
}

}  // namespace varve
