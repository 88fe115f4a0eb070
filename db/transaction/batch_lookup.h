// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads one key from a batch: its newest update, with the merges above it, under the batch's range
// deletions.

#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/transaction/batch_index.h"
#include "util/key/entity.h"

namespace varve {

class ColumnFamilyHandle;
struct ColumnFamilyOptions;
class Logger;
class Statistics;

// Describes the updates that a batch has for one key: merge operands, and the base that they apply
// to. The slices point into the batch.
struct BatchAnswer {
  enum class Base : uint8_t {
    kUnknown,  // The batch does not determine it: the database has it.
    kAbsent,   // Deleted.
    kValue,
  };

  Base base = Base::kUnknown;
  Slice value;                         // Set with kValue.
  ValueForm form = ValueForm::kPlain;  // That of the value.
  std::vector<Slice> operands;         // Merged on top of the base, oldest first.

  // True if data beneath the batch does not affect the result.
  [[nodiscard]] bool IsComplete() const { return base != Base::kUnknown; }
};

// Sets *answer, which must be new, to what the batch has for the user key, given without timestamp.
// `newest` is the place of the key's newest entry in family->keys, or that of a later key if the
// key has none. Corruption: the batch's bytes are not those that were indexed.
Status LookUpInBatch(BatchIndex::Family* family, const Slice& key, KeyIndex::Place newest,
                     BatchAnswer* answer);

// Merges with the operator of a family, whose options are looked up when they are first needed.
//
// Thread safety: none.
class BatchMerger {
 public:
  // `column_family`, `logger` and `statistics` must outlive this object; each may be null.
  explicit BatchMerger(ColumnFamilyHandle* column_family, Logger* logger = nullptr,
                       Statistics* statistics = nullptr)
      : column_family_(column_family), logger_(logger), statistics_(statistics) {}

  // Merges the operands, oldest first, with `base`, which has the form *form; null: there is none.
  // Sets *form to that of *result, which points to one of the inputs or to *buffer. `key` has no
  // timestamp. InvalidArgument: the handle is null, or of no database. Otherwise errors as
  // MergeCaller::Full.
  Status Merge(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
               std::string* buffer, Slice* result, ValueForm* form);

 private:
  ColumnFamilyHandle* const column_family_;
  Logger* const logger_;
  Statistics* const statistics_;
  std::shared_ptr<const ColumnFamilyOptions> options_;  // Null: not looked up yet.
};

}  // namespace varve
