// SPDX-License-Identifier: Apache-2.0

// Looks a key up in the batch, from its newest update down: operands are collected until a value,
// a deletion or a covering range ends the search. Without such an end the answer is incomplete, and
// the database is asked for what lies beneath.
//
//      newest   merge c | merge b | put a        answer: operands b, c over the value a: complete
//      newest   merge c | merge b                answer: operands b, c: the database has the base
//      newest   merge c | range deletion         answer: operand c over nothing: complete

#include "db/transaction/batch_lookup.h"

#include <algorithm>

#include "db/transaction/family_options.h"
#include "db/write/batch_reader.h"
#include "util/base/status_macros.h"
#include "util/key/merge_caller.h"

namespace varve {

Status LookUpInBatch(BatchIndex::Family* family, const Slice& key, KeyIndex::Place newest,
                     BatchAnswer* answer) {
  const KeyIndex& keys = family->keys;
  const uint32_t covered_by = family->ranges.empty() ? 0 : family->ranges.CoverOf(key).offset;
  if (covered_by != 0) answer->base = BatchAnswer::Base::kAbsent;
  for (KeyIndex::Place at = newest; !keys.AtEnd(at); keys.Next(&at)) {
    const uint32_t offset = keys.OffsetAt(at);
    // Older records of the key are deleted by the range; a record of another key ends its entries.
    if (offset < covered_by || !keys.icmp().EqualKey(keys.KeyOf(offset), key)) break;
    BatchReader reader(keys.batch(), offset);
    BatchRecord record;
    if (!reader.Next(&record)) return reader.status();
    if (record.type == kTypeMerge) {
      answer->operands.push_back(record.value);
      continue;
    }
    const bool is_entity = record.type == kTypeWideColumnEntity;
    const bool is_value = record.type == kTypeValue || is_entity;
    answer->base = is_value ? BatchAnswer::Base::kValue : BatchAnswer::Base::kAbsent;
    answer->form = is_entity ? ValueForm::kEntity : ValueForm::kPlain;
    answer->value = record.value;
    break;
  }
  std::reverse(answer->operands.begin(), answer->operands.end());
  return Status::OK();
}

Status BatchMerger::Merge(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
                          std::string* buffer, Slice* result, ValueForm* form) {
  if (column_family_ == nullptr) {
    return Status::InvalidArgument("write batch: merges need the handle of their column family");
  }
  if (options_ == nullptr) options_ = FamilyOptionsOf(column_family_);
  if (options_ == nullptr) {
    return Status::InvalidArgument("write batch: the column family handle is of no database");
  }
  return MergeCaller(options_->merge_operator.get(), logger_, statistics_)
      .Full(key, base, operands, buffer, result, form);
}

}  // namespace varve
