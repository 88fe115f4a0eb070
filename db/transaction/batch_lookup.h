// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a batch says of one key: its newest update, with the merges above it, under the batch's
// range deletions.

#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/transaction/batch_index.h"

namespace varve {

class ColumnFamilyHandle;
struct ColumnFamilyOptions;
class Logger;
class Statistics;

// Slices point into the batch.
struct BatchAnswer {
  enum class Base : uint8_t {
    kUnknown,  // the batch does not say: what is beneath it counts
    kAbsent,   // deleted
    kValue,
  };

  Base base = Base::kUnknown;
  Slice value;                  // with kValue
  std::vector<Slice> operands;  // to be merged on top of it, oldest first

  // Whether what is beneath the batch has no part in the result.
  [[nodiscard]] bool IsComplete() const { return base != Base::kUnknown; }
};

// `newest`: the first entry of the key in family.keys, or of a later key if there is none.
// Corruption if the batch's bytes are not what was indexed.
Status LookUpInBatch(BatchIndex::Family* family, const Slice& key, KeyIndex::Place newest,
                     BatchAnswer* answer);

// The operator of a family, found out when it is first needed.
class BatchMerger {
 public:
  // `column_family` outlives it, if not null; so do the other two, of which either may be null.
  explicit BatchMerger(ColumnFamilyHandle* column_family, Logger* logger = nullptr,
                       Statistics* statistics = nullptr)
      : column_family_(column_family), logger_(logger), statistics_(statistics) {}

  // As MergeCaller::Full: *result is one of the inputs, or *buffer. `base` is null for none.
  Status Merge(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
               std::string* buffer, Slice* result);

 private:
  ColumnFamilyHandle* const column_family_;
  Logger* const logger_;
  Statistics* const statistics_;
  std::shared_ptr<const ColumnFamilyOptions> options_;  // null: not asked yet
};

}  // namespace varve
