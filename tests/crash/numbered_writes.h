// SPDX-License-Identifier: Apache-2.0
#pragma once

// A write history that anybody can recompute: write i changes what write i changes, always. After a
// crash the state tells by itself up to which write it holds, and whether it is exactly that.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/write_batch.h"

#include "tests/model/reference.h"

namespace varve::testing {

using Handles = std::map<std::string, ColumnFamilyHandle*>;

// The changes of write i (from 1): every family gets the marker key "#" with the value i, and a few
// puts, deletions, now and then a range deletion, and merges where its name says that it has them.
// In a family with timestamps all of them are of timestamp i.
std::vector<Change> ChangesOf(uint64_t i, const std::vector<std::string>& families);

// Fills the batch of write i.
Status MakeNumbered(const Handles& handles, const std::vector<std::string>& families, uint64_t i,
                    WriteBatch* batch);
// Applies write i as one batch.
Status WriteNumbered(DB* db, const Handles& handles, const std::vector<std::string>& families,
                     uint64_t i, const WriteOptions& options);

// Raises the marks of families whose tables keep timestamps, unless they are there already.
Status RaiseMarks(DB* db, const Handles& handles, uint64_t mark);

// Takes a state of writes 1..i-1 to that of 1..i.
void ApplyNumbered(uint64_t i, const std::vector<std::string>& families, ReferenceState* state);
// The state after writes 1..n.
ReferenceState StateAfter(uint64_t n, const std::vector<std::string>& families);

// Scans and gets; "" or what is not as expected.
std::string CompareFamily(DB* db, ColumnFamilyHandle* handle, const ReadOptions& options,
                          const FamilyState& expected);

struct PrefixCheck {
  bool ok = false;
  uint64_t n = 0;              // the state is that after writes 1..n
  uint64_t mark = UINT64_MAX;  // the lowest of the families with timestamps
  std::string problem;         // when not ok
};

// Reads everything, forwards and by key, and compares with the state after some n in [least, most];
// families with timestamps also as of earlier ones, from their marks on.
// With `per_family` each family may be at an n of its own (writes without a log).
PrefixCheck CheckPrefix(DB* db, const Handles& handles, const std::vector<std::string>& families,
                        uint64_t least, uint64_t most, bool per_family = false);

// Opens with all families, each tuned as its name says; fills *handles.
Status OpenWithFamilies(const DBOptions& db_options, const ColumnFamilyOptions& cf_options,
                        const std::string& name, const std::vector<std::string>& families,
                        std::unique_ptr<DB>* db, Handles* handles);
void CloseWithFamilies(std::unique_ptr<DB>* db, Handles* handles);

}  // namespace varve::testing
