// SPDX-License-Identifier: Apache-2.0
#include "tests/db/follow/numbered_history.h"

#include <cstdlib>
#include <map>
#include <memory>

#include "varve/iterator.h"
#include "varve/write_batch.h"

namespace varve::testing {

namespace {

constexpr char kNewest[] = "newest";

uint64_t NumberOf(const std::string& value) {
  return std::strtoull(value.c_str(), nullptr, 10);
}

// Number by key, of one family.
using Found = std::map<std::string, uint64_t>;

Status ReadByGet(DB* db, ColumnFamilyHandle* family, const ReadOptions& options, Found* found) {
  std::string value;
  const auto get = [&](const std::string& key) {
    Status s = db->Get(options, family, key, &value);
    if (s.ok()) (*found)[key] = NumberOf(value);
    return s.IsNotFound() ? Status::OK() : s;
  };
  Status s = get(kNewest);
  for (uint64_t n = 0; s.ok() && n < kHistoryKeys; n++) s = get(HistoryKey(n));
  return s;
}

Status TakeAll(Iterator* it, Found* found) {
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    (*found)[it->key().ToString()] = NumberOf(it->value().ToString());
  }
  return it->status();
}

// Returns why this is not the state after the first `steps` steps; empty: it is.
std::string Compare(const std::vector<Found>& found, uint64_t steps) {
  std::vector<Found> expected(found.size());
  const uint64_t first =
      steps > kHistoryKeys * found.size() ? steps - kHistoryKeys * found.size() : 0;
  for (uint64_t n = first; n < steps; n++) expected[n % found.size()][HistoryKey(n)] = n;
  if (steps > 0) expected[0][kNewest] = steps - 1;
  for (size_t i = 0; i < found.size(); i++) {
    for (const auto& [key, n] : expected[i]) {
      const auto there = found[i].find(key);
      if (there == found[i].end()) return "family " + std::to_string(i) + " lacks " + key;
      if (there->second != n) {
        return "family " + std::to_string(i) + ": " + key + " is " + std::to_string(there->second) +
               ", not " + std::to_string(n) + ", after " + std::to_string(steps) + " steps";
      }
    }
    if (found[i].size() != expected[i].size()) {
      return "family " + std::to_string(i) + " has keys of later steps than " +
             std::to_string(steps);
    }
  }
  return "";
}

}  // namespace

std::string HistoryKey(uint64_t n) {
  const std::string text = std::to_string(n % kHistoryKeys);
  return "key" + std::string(4 - text.size(), '0') + text;
}

Status WriteHistory(DB* db, const std::vector<ColumnFamilyHandle*>& families, uint64_t first,
                    uint64_t end, const WriteOptions& options, size_t padding) {
  for (uint64_t n = first; n < end; n++) {
    const std::string value = std::to_string(n) + " " + std::string(padding, 'p');
    WriteBatch batch;
    batch.Put(families[n % families.size()], HistoryKey(n), value).PermitUncheckedError();
    batch.Put(families[0], kNewest, value).PermitUncheckedError();
    Status s = db->Write(options, &batch);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

HistoryState ReadHistory(DB* db, const std::vector<ColumnFamilyHandle*>& families,
                         const ReadOptions& options, bool by_iterator) {
  HistoryState state;
  std::vector<Found> found(families.size());
  Status s;
  if (by_iterator) {
    std::vector<Iterator*> iterators;
    s = db->NewIterators(options, families, &iterators);
    for (size_t i = 0; i < iterators.size(); i++) {
      const std::unique_ptr<Iterator> it(iterators[i]);
      if (s.ok()) s = TakeAll(it.get(), &found[i]);
    }
  } else {
    for (size_t i = 0; s.ok() && i < families.size(); i++) {
      s = ReadByGet(db, families[i], options, &found[i]);
    }
  }
  if (!s.ok()) {
    state.problem = s.ToString();
    return state;
  }
  const auto newest = found[0].find(kNewest);
  state.steps = newest == found[0].end() ? 0 : newest->second + 1;
  state.problem = Compare(found, state.steps);
  return state;
}

}  // namespace varve::testing
