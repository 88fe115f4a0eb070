// SPDX-License-Identifier: Apache-2.0
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
    if (offset < covered_by || !keys.icmp().EqualKey(keys.KeyOf(offset), key)) break;
    BatchReader reader(keys.batch(), offset);
    BatchRecord record;
    if (!reader.Next(&record)) return reader.status();
    if (record.type == kTypeMerge) {
      answer->operands.push_back(record.value);
      continue;
    }
    const bool is_value = record.type == kTypeValue;
    answer->base = is_value ? BatchAnswer::Base::kValue : BatchAnswer::Base::kAbsent;
    answer->value = record.value;
    break;
  }
  std::reverse(answer->operands.begin(), answer->operands.end());
  return Status::OK();
}

Status BatchMerger::Merge(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
                          std::string* buffer, Slice* result) {
  if (column_family_ == nullptr) {
    return Status::InvalidArgument("write batch: merges need the handle of their column family");
  }
  if (options_ == nullptr) options_ = FamilyOptionsOf(column_family_);
  if (options_ == nullptr) {
    return Status::InvalidArgument("write batch: the column family handle is of no database");
  }
  return MergeCaller(options_->merge_operator.get(), logger_, statistics_)
      .Full(key, base, operands, buffer, result);
}

}  // namespace varve
