// SPDX-License-Identifier: Apache-2.0

// The filter's decisions are final: the opening writes the remaining updates to tables, so that the
// logs are not replayed again.

#include "db/recovery/record_filter.h"

#include <map>

#include "varve/write_batch.h"

#include "db/write/write_batch_internal.h"

namespace varve {

// The maps are copied under the mutex, as user code must not be called under it.
void RecordFilter::Begin(DbState* state) {
  if (filter_ == nullptr) return;
  std::map<uint32_t, uint64_t> log_numbers;
  std::map<std::string, uint32_t> ids;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) {
      log_numbers[id] = family->versions()->log_number;
      ids[family->name()] = id;
    }
  }
  filter_->ColumnFamilyLogNumberMap(log_numbers, ids);
}

// Once the filter has ended the replay, all records are left out, and the filter is not called any
// more.
Status RecordFilter::Judge(uint64_t log, const std::string& path, const Slice& record,
                           Verdict* verdict, std::string* replacement) {
  *verdict = Verdict::kLeaveOut;
  if (stopped_) return Status::OK();
  using Answer = WalFilter::WalProcessingOption;
  const WriteBatch batch(record.ToString());
  WriteBatch changed;
  bool is_changed = false;
  switch (filter_->LogRecordFound(log, path, batch, &changed, &is_changed)) {
    case Answer::kContinueProcessing:
      break;
    case Answer::kIgnoreCurrentRecord:
      return Status::OK();
    case Answer::kStopReplay:
      stopped_ = true;
      return Status::OK();
    case Answer::kCorruptedRecord:
      *verdict = Verdict::kDamaged;
      return Status::OK();
    default:
      return Status::InvalidArgument("WalFilter " + std::string(filter_->Name()),
                                     "returned no WalProcessingOption");
  }
  *verdict = is_changed ? Verdict::kReplace : Verdict::kApply;
  if (!is_changed) return Status::OK();
  // All sequence numbers up to the next record are in use, so a replacement may have fewer updates,
  // but not more.
  if (changed.Count() > batch.Count()) {
    return Status::NotSupported("WalFilter " + std::string(filter_->Name()),
                                "made " + std::to_string(changed.Count()) + " updates of " +
                                    std::to_string(batch.Count()) +
                                    ": there are no sequence numbers for more");
  }
  WriteBatchInternal::SetSequence(&changed, WriteBatchInternal::Sequence(batch));
  *replacement = changed.Data();
  return Status::OK();
}

}  // namespace varve
