// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a write history that can be recomputed: the changes of write i depend only on i. After a
// crash the state itself shows up to which write it holds, and if it is exactly that.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/wide_columns.h"
#include "varve/write_batch.h"

#include "tests/model/reference.h"

namespace varve::testing {

using Handles = std::map<std::string, ColumnFamilyHandle*>;

// Returns the changes of write i (from 1): every family gets the marker key "#" with the value i,
// and a few puts, deletions, an occasional range deletion, and merges if its name says so. In a
// family with timestamps all of them have timestamp i.
std::vector<Change> ChangesOf(uint64_t i, const std::vector<std::string>& families);

// Fills the batch of write i.
Status MakeNumbered(const Handles& handles, const std::vector<std::string>& families, uint64_t i,
                    WriteBatch* batch);
// Applies write i as one batch.
Status WriteNumbered(DB* db, const Handles& handles, const std::vector<std::string>& families,
                     uint64_t i, const WriteOptions& options);

// Raises the marks of families whose tables keep timestamps, unless they are already as high.
Status RaiseMarks(DB* db, const Handles& handles, uint64_t mark);

// Changes the state after writes 1..i-1 to that after 1..i.
void ApplyNumbered(uint64_t i, const std::vector<std::string>& families, ReferenceState* state);
// Returns the state after writes 1..n.
ReferenceState StateAfter(uint64_t n, const std::vector<std::string>& families);

// True if `columns` are those of this key with this value: the value alone where it is plain, else
// the columns of its entity. A plain read sees the same value.
bool AreColumnsOf(const std::string& family, const std::string& key, const std::string& value,
                  const WideColumns& columns);

// Scans and gets; returns "" or the first difference.
std::string CompareFamily(DB* db, ColumnFamilyHandle* handle, const ReadOptions& options,
                          const FamilyState& expected);

struct PrefixCheck {
  bool ok = false;
  uint64_t n = 0;              // The state is that after writes 1..n.
  uint64_t mark = UINT64_MAX;  // The lowest mark of the families with timestamps.
  std::string problem;         // Set if not ok.
};

// Reads everything, forwards and by key, and compares with the state after some n in [least, most];
// families with timestamps also as of earlier timestamps, from their marks on. With `per_family`
// each family may have its own n (writes without a log).
PrefixCheck CheckPrefix(DB* db, const Handles& handles, const std::vector<std::string>& families,
                        uint64_t least, uint64_t most, bool per_family = false);

// Opens with all families, each with the options that its name requires; fills *handles.
Status OpenWithFamilies(const DBOptions& db_options, const ColumnFamilyOptions& cf_options,
                        const std::string& name, const std::vector<std::string>& families,
                        std::unique_ptr<DB>* db, Handles* handles);
void CloseWithFamilies(std::unique_ptr<DB>* db, Handles* handles);

}  // namespace varve::testing
