// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes random histories of writes over few keys, so that versions, deletions and ranges meet.

#include <random>
#include <string>
#include <vector>

#include "tests/db/read/mini_lsm.h"

namespace varve::test {

struct HistoryShape {
  size_t writes = 60;
  size_t longest_key = 3;
  uint32_t alphabet = 3;
  uint32_t range_deletions_percent = 10;
  size_t large_value_percent = 3;
};

inline std::string RandomKey(const HistoryShape& shape, std::mt19937* random) {
  static constexpr char kBytes[] = {'b', 'a', '\xff', '\0', 'c', '\x80'};
  std::string key;
  const size_t n = (*random)() % (shape.longest_key + 1);
  for (size_t i = 0; i < n; i++) key.push_back(kBytes[(*random)() % shape.alphabet]);
  return key;
}

inline std::vector<Write> RandomHistory(const HistoryShape& shape, const Comparator* comparator,
                                        std::mt19937* random) {
  std::vector<Write> history;
  SequenceNumber seq = 0;
  for (size_t i = 0; i < shape.writes; i++) {
    seq += 1 + (*random)() % 2;
    Write write{seq, kTypeValue, RandomKey(shape, random), ""};
    const uint32_t kind = (*random)() % 100;
    if (kind < shape.range_deletions_percent) {
      write.type = kTypeRangeDeletion;
      write.value = RandomKey(shape, random);
      if (comparator->Compare(write.key, write.value) > 0) std::swap(write.key, write.value);
    } else if (kind < shape.range_deletions_percent + 20) {
      write.type = kind % 2 == 0 ? kTypeDeletion : kTypeSingleDeletion;
    } else {
      const bool large = (*random)() % 100 < shape.large_value_percent;
      write.value = std::to_string(seq) + std::string(large ? 1500 : (*random)() % 10, 'v');
    }
    history.push_back(std::move(write));
  }
  return history;
}

}  // namespace varve::test
