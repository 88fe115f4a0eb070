// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares iterators over a family without a database with a model of it.

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "varve/iterator.h"

#include "db/read/db_iterator.h"
#include "tests/db/read/mini_lsm.h"

namespace varve::test {

// Returns the iterators' source, shared without owning.
inline std::shared_ptr<SuperVersionSource> Borrow(MiniLsm* lsm) {
  return std::shared_ptr<SuperVersionSource>(std::shared_ptr<void>(), lsm);
}

inline std::unique_ptr<Iterator> Open(MiniLsm* lsm, const ReadOptions& options, SequenceNumber seq,
                                      Statistics* statistics = nullptr) {
  return std::unique_ptr<Iterator>(
      NewDbIterator(options, Borrow(lsm), lsm->AcquireSuperVersion(), seq, statistics));
}

inline ::testing::AssertionResult SamePlace(const Iterator& iter, const UserModel& model,
                                            UserModel::const_iterator at) {
  if (!iter.status().ok()) return ::testing::AssertionFailure() << iter.status().ToString();
  if (at == model.end()) {
    if (!iter.Valid()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << "at " << iter.key().ToString(true) << ", not at the end";
  }
  if (!iter.Valid()) {
    return ::testing::AssertionFailure()
           << "at the end, not at " << Slice(at->first).ToString(true);
  }
  if (iter.key() == Slice(at->first) && iter.value() == Slice(at->second)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "at " << iter.key().ToString(true) << " = " << iter.value().ToString() << ", not "
         << Slice(at->first).ToString(true) << " = " << at->second;
}

inline UserModel::const_iterator Before(const UserModel& model, UserModel::const_iterator at) {
  return at == model.begin() ? model.end() : std::prev(at);
}

// Keys "key10000" and on, in order, each written once.
inline std::vector<Write> Numbered(int n, ValueType type = kTypeValue) {
  std::vector<Write> history;
  for (int i = 0; i < n; i++) {
    const auto seq = static_cast<SequenceNumber>(i + 1);
    history.push_back({seq, type, "key" + std::to_string(10000 + i), std::string(30, 'v')});
  }
  return history;
}

}  // namespace varve::test
