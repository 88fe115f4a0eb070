// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a history of which every state tells how long it is: step n writes n under its own key
// and under "newest", in one batch. So a reader can tell a prefix from anything else without the
// history.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"

namespace varve::testing {

constexpr uint64_t kHistoryKeys = 200;

std::string HistoryKey(uint64_t n);
// Steps [first, end), each with `padding` bytes beside the number, in the family that it belongs
// to: n modulo the number of families.
Status WriteHistory(DB* db, const std::vector<ColumnFamilyHandle*>& families, uint64_t first,
                    uint64_t end, const WriteOptions& options, size_t padding);

struct HistoryState {
  uint64_t steps = 0;   // number of steps in the state
  std::string problem;  // empty: it is the state after that many steps
};
// Reads all keys, by Get or by iterators; `families` as in the writing.
HistoryState ReadHistory(DB* db, const std::vector<ColumnFamilyHandle*>& families,
                         const ReadOptions& options, bool by_iterator);

}  // namespace varve::testing
