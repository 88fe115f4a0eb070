// SPDX-License-Identifier: Apache-2.0

// The public class: a plain batch and its index.

#include "varve/utilities/write_batch_with_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"

#include "db/transaction/base_delta_iterator.h"
#include "db/transaction/batch_index.h"
#include "db/transaction/batch_iterator.h"
#include "db/transaction/batch_lookup.h"
#include "db/transaction/transaction_host.h"
#include "db/write/write_batch_internal.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Offsets of records have 32 bits.
constexpr size_t kBatchBytesMax = UINT32_MAX;
// Exceeds the bytes of a record besides key, value and timestamps.
constexpr size_t kRecordOverhead = 32;

size_t Limit(size_t max_bytes) {
  return max_bytes == 0 ? kBatchBytesMax : std::min(max_bytes, kBatchBytesMax);
}

// Checks that the handle and the snapshot are the database's; a null handle is replaced by that of
// the default family. A database class of the program itself is checked by the read instead.
Status CheckOwner(DB* db, const ReadOptions& options, ColumnFamilyHandle** column_family) {
  if (db == nullptr) return Status::InvalidArgument("write batch: a read needs a database");
  ColumnFamilyHandle* const of_default = db->DefaultColumnFamily();
  if (*column_family == nullptr) *column_family = of_default;
  if (*column_family == of_default && options.snapshot == nullptr) return Status::OK();
  const auto* const host = dynamic_cast<const TransactionHost*>(db->GetRootDB());
  return host == nullptr ? Status::OK() : host->CheckRead(options, *column_family);
}

Status CheckRead(const ReadOptions& options, const PinnableSlice* values,
                 ColumnFamilyHandle* column_family) {
  if (values == nullptr)
    return Status::InvalidArgument("write batch: a read needs places for values");
  const Comparator* const comparator = column_family->GetComparator();
  if (comparator->timestamp_size() != 0 && options.timestamp == nullptr) {
    return Status::InvalidArgument(
        "write batch: a read of a column family with timestamps has none");
  }
  return Status::OK();
}

// Moves the value, reusing the buffer of *to.
void Move(PinnableSlice* from, PinnableSlice* to) {
  if (from->IsPinned()) {
    to->PinSlice(*from, from);
  } else {
    to->PinSelf(*from);
  }
}

// Combines the batch's answer with the database's: if that was read, `beneath` is its status and
// *value its value. *value becomes the combined value.
Status Combine(const Slice& key, const BatchAnswer& answer, Status beneath, BatchMerger* merger,
               PinnableSlice* value) {
  const bool in_batch = answer.base == BatchAnswer::Base::kValue;
  if (answer.operands.empty()) {
    if (!answer.IsComplete()) return beneath;
    if (!in_batch) return Status::NotFound();
    value->PinSelf(answer.value);
    return Status::OK();
  }
  if (!beneath.ok() && !beneath.IsNotFound()) return beneath;
  const bool in_db = !answer.IsComplete() && beneath.ok();
  const Slice base = in_batch ? answer.value : *value;
  std::string buffer;
  Slice result;
  VARVE_RETURN_IF_ERROR(
      merger->Merge(key, in_batch || in_db ? &base : nullptr, answer.operands, &buffer, &result));
  if (result.data() != buffer.data()) buffer.assign(result.data(), result.size());
  value->Reset();
  *value->GetSelf() = std::move(buffer);
  value->PinSelf();
  return Status::OK();
}

// Returned instead of an iterator that could not be made.
class FailedBatchIterator final : public WBWIIterator {
 public:
  explicit FailedBatchIterator(Status status) : status_(std::move(status)) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice& /*key*/) override {}
  void SeekForPrev(const Slice& /*key*/) override {}
  void Next() override {}
  void Prev() override {}
  WriteEntry Entry() const override { return {}; }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

struct WriteBatchWithIndex::Rep {
  Rep(const Comparator* backup, size_t reserved_bytes, bool overwrites, size_t max_bytes,
      size_t protection_bytes_per_key)
      : batch(std::max(reserved_bytes, kReservedMin), Limit(max_bytes), protection_bytes_per_key,
              backup == nullptr ? 0 : backup->timestamp_size()),
        overwrite_key(overwrites),
        index(WriteBatchInternal::Rep(&batch), backup) {}

  // Makes room before `bytes` bytes of keys and values are added.
  void MakeRoom(ColumnFamilyHandle* column_family, size_t bytes) {
    // An update that is too large will be refused, and needs no room.
    const bool fits = bytes <= kBatchBytesMax - batch.GetDataSize();
    index.BeforeAdding(fits ? bytes + kRecordOverhead : 0, column_family);
  }

  // Adds the update that `add` puts into the batch, of about `bytes` bytes.
  template <typename AddUpdate>
  Status Add(ColumnFamilyHandle* column_family, size_t bytes, const AddUpdate& add) try {
    const size_t from = batch.GetDataSize();
    MakeRoom(column_family, bytes);
    VARVE_RETURN_IF_ERROR(add(&batch));
    index.NoteAdded(from);
    return Status::OK();
  } catch (...) {
    return CaughtException();
  }

  Status LookUp(ColumnFamilyHandle* column_family, const Slice& key, BatchAnswer* answer) {
    BatchIndex::Family* const family = index.Get(column_family);
    return LookUpInBatch(family, key, family->keys.Find(key), answer);
  }

  // Large enough that the bytes never lie in the string object itself, where they could not be
  // kept.
  static constexpr size_t kReservedMin = 256;

  WriteBatch batch;
  const bool overwrite_key;
  BatchIndex index;
  std::vector<size_t> save_points;  // Sizes of the batch.
  std::unordered_map<uint32_t, CFStat> stats;
};

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* backup_index_comparator,
                                         size_t reserved_bytes, bool overwrite_key,
                                         size_t max_bytes, size_t protection_bytes_per_key)
    : rep_(std::make_unique<Rep>(backup_index_comparator, reserved_bytes, overwrite_key, max_bytes,
                                 protection_bytes_per_key)) {}

WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) noexcept = default;

Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) {
  return rep_->Add(column_family, key.size() + value.size(),
                   [&](WriteBatch* batch) { return batch->Put(column_family, key, value); });
}

Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& ts, const Slice& value) {
  return rep_->Add(column_family, key.size() + ts.size() + value.size(),
                   [&](WriteBatch* batch) { return batch->Put(column_family, key, ts, value); });
}

Status WriteBatchWithIndex::Merge(ColumnFamilyHandle* column_family, const Slice& key,
                                  const Slice& value) {
  return rep_->Add(column_family, key.size() + value.size(),
                   [&](WriteBatch* batch) { return batch->Merge(column_family, key, value); });
}

Status WriteBatchWithIndex::Merge(ColumnFamilyHandle* column_family, const Slice& key,
                                  const Slice& ts, const Slice& value) {
  return rep_->Add(column_family, key.size() + ts.size() + value.size(),
                   [&](WriteBatch* batch) { return batch->Merge(column_family, key, ts, value); });
}

Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return rep_->Add(column_family, key.size(),
                   [&](WriteBatch* batch) { return batch->Delete(column_family, key); });
}

Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice& key,
                                   const Slice& ts) {
  return rep_->Add(column_family, key.size() + ts.size(),
                   [&](WriteBatch* batch) { return batch->Delete(column_family, key, ts); });
}

Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return rep_->Add(column_family, key.size(),
                   [&](WriteBatch* batch) { return batch->SingleDelete(column_family, key); });
}

Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                                         const Slice& ts) {
  return rep_->Add(column_family, key.size() + ts.size(),
                   [&](WriteBatch* batch) { return batch->SingleDelete(column_family, key, ts); });
}

Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                                        const Slice& end_key) {
  return rep_->Add(column_family, begin_key.size() + end_key.size(), [&](WriteBatch* batch) {
    return batch->DeleteRange(column_family, begin_key, end_key);
  });
}

Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                                        const Slice& end_key, const Slice& ts) {
  return rep_->Add(
      column_family, begin_key.size() + end_key.size() + 2 * ts.size(),
      [&](WriteBatch* batch) { return batch->DeleteRange(column_family, begin_key, end_key, ts); });
}

Status WriteBatchWithIndex::PutLogData(const Slice& blob) {
  return rep_->Add(nullptr, blob.size(),
                   [&](WriteBatch* batch) { return batch->PutLogData(blob); });
}

Status WriteBatchWithIndex::AddUnindexed(WriteType type, ColumnFamilyHandle* column_family,
                                         const Slice& key, const Slice& value) try {
  rep_->MakeRoom(column_family, key.size() + value.size());
  WriteBatch* const batch = &rep_->batch;
  switch (type) {
    case kPutRecord:
      return batch->Put(column_family, key, value);
    case kMergeRecord:
      return batch->Merge(column_family, key, value);
    case kDeleteRecord:
      return batch->Delete(column_family, key);
    case kSingleDeleteRecord:
      return batch->SingleDelete(column_family, key);
    case kDeleteRangeRecord:
      return batch->DeleteRange(column_family, key, value);
    default:
      return Status::InvalidArgument("write batch: no such type of update");
  }
} catch (...) {
  return CaughtException();
}

bool WriteBatchWithIndex::HasUpdate(ColumnFamilyHandle* column_family, const Slice& key) {
  BatchAnswer answer;
  const Status s = Guarded([&] { return rep_->LookUp(column_family, key, &answer); });
  return !s.ok() || answer.IsComplete() || !answer.operands.empty();
}

void WriteBatchWithIndex::Clear() {
  rep_->index.RollBack(0);
  rep_->batch.Clear();
  rep_->save_points.clear();
}

WriteBatch* WriteBatchWithIndex::GetWriteBatch() {
  return &rep_->batch;
}

void WriteBatchWithIndex::SetSavePoint() {
  rep_->save_points.push_back(rep_->batch.GetDataSize());
  try {
    rep_->batch.SetSavePoint();
  } catch (...) {
    rep_->save_points.pop_back();
    throw;
  }
}

Status WriteBatchWithIndex::RollbackToSavePoint() {
  if (!rep_->save_points.empty()) {
    rep_->index.RollBack(rep_->save_points.back());
    rep_->save_points.pop_back();
  }
  return rep_->batch.RollbackToSavePoint();
}

Status WriteBatchWithIndex::PopSavePoint() {
  if (!rep_->save_points.empty()) rep_->save_points.pop_back();
  return rep_->batch.PopSavePoint();
}

void WriteBatchWithIndex::SetMaxBytes(size_t max_bytes) {
  rep_->batch.SetMaxBytes(Limit(max_bytes));
}

size_t WriteBatchWithIndex::GetDataSize() const {
  return rep_->batch.GetDataSize();
}

bool WriteBatchWithIndex::GetOverwriteKey() const {
  return rep_->overwrite_key;
}

size_t WriteBatchWithIndex::GetWBWIOpCount() const {
  return rep_->batch.Count();
}

const std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat>& WriteBatchWithIndex::GetCFStats()
    const {
  rep_->stats.clear();
  BestEffort([this] {
    rep_->index.ForEachFamily([this](uint32_t id, BatchIndex::Family& family) {
      CFStat stat;
      BatchIterator it(&rep_->index, &family, rep_->overwrite_key);
      Slice key;
      for (it.SeekToFirst(); it.Valid(); it.Next()) {
        const Slice of_entry = it.Entry().key;
        const bool newest = stat.entry_count++ == 0 || !family.icmp().EqualKey(of_entry, key);
        if (newest) stat.overwritten_sd_count += it.CountOverwrittenSingleDeletes();
        key = of_entry;
      }
      if (stat.entry_count != 0) rep_->stats.emplace(id, stat);
    });
  });
  return rep_->stats;
}

WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* column_family) try {
  return new BatchIterator(&rep_->index, rep_->index.Get(column_family), rep_->overwrite_key);
} catch (...) {
  return new FailedBatchIterator(CaughtException());
}

Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle* column_family,
                                                   Iterator* base_iterator,
                                                   const ReadOptions* opts) {
  std::unique_ptr<Iterator> base(base_iterator);
  if (base == nullptr) {
    return NewErrorIterator(Status::InvalidArgument("write batch: an iterator without a base"));
  }
  try {
    BatchIndex::Family* const family = rep_->index.Get(column_family);
    return new BaseDeltaIterator(&rep_->index, family, std::move(base), column_family, opts);
  } catch (...) {
    return NewErrorIterator(CaughtException());
  }
}

Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle* column_family,
                                         const DBOptions& options, const Slice& key,
                                         std::string* value) try {
  if (value == nullptr) return Status::InvalidArgument("write batch: no place for a value");
  BatchAnswer answer;
  VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, key, &answer));
  if (answer.operands.empty()) {
    if (answer.base != BatchAnswer::Base::kValue) return Status::NotFound();
    value->assign(answer.value.data(), answer.value.size());
    return Status::OK();
  }
  if (!answer.IsComplete()) return Status::MergeInProgress();
  BatchMerger merger(column_family, options.info_log.get(), options.statistics.get());
  const bool has_base = answer.base == BatchAnswer::Base::kValue;
  std::string buffer;
  Slice result;
  VARVE_RETURN_IF_ERROR(
      merger.Merge(key, has_base ? &answer.value : nullptr, answer.operands, &buffer, &result));
  value->assign(result.data(), result.size());
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, std::string* value) {
  return GetFromBatchAndDB(db, read_options, nullptr, key, value);
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, PinnableSlice* value) {
  return GetFromBatchAndDB(db, read_options, nullptr, key, value);
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              std::string* value) try {
  if (value == nullptr) return Status::InvalidArgument("write batch: no place for a value");
  PinnableSlice pinned(value);
  VARVE_RETURN_IF_ERROR(GetFromBatchAndDB(db, read_options, column_family, key, &pinned));
  if (pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              PinnableSlice* value) try {
  VARVE_RETURN_IF_ERROR(CheckOwner(db, read_options, &column_family));
  return GetOver(db, read_options, column_family, key, value);
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::GetOver(DB* db, const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, const Slice& key,
                                    PinnableSlice* value) try {
  VARVE_RETURN_IF_ERROR(CheckRead(read_options, value, column_family));
  value->Reset();
  BatchAnswer answer;
  VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, key, &answer));
  Status beneath;
  if (!answer.IsComplete()) beneath = db->Get(read_options, column_family, key, value);
  BatchMerger merger(column_family);
  return Combine(key, answer, std::move(beneath), &merger, value);
} catch (...) {
  return CaughtException();
}

void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                 ColumnFamilyHandle* column_family, size_t num_keys,
                                                 const Slice* keys, PinnableSlice* values,
                                                 Status* statuses, bool sorted_input) {
  const Status s = Guarded([&] { return CheckOwner(db, read_options, &column_family); });
  if (s.ok()) {
    MultiGetOver(db, read_options, column_family, num_keys, keys, values, statuses, sorted_input);
  } else {
    std::fill_n(statuses, num_keys, s);
  }
}

void WriteBatchWithIndex::MultiGetOver(DB* db, const ReadOptions& read_options,
                                       ColumnFamilyHandle* column_family, size_t num_keys,
                                       const Slice* keys, PinnableSlice* values, Status* statuses,
                                       bool sorted_input) {
  if (num_keys == 0) return;
  const Status s = Guarded([&] {
    VARVE_RETURN_IF_ERROR(CheckRead(read_options, values, column_family));
    std::vector<BatchAnswer> answers(num_keys);
    std::vector<size_t> open;  // Keys to read in the database.
    std::vector<Slice> open_keys;
    for (size_t i = 0; i < num_keys; i++) {
      values[i].Reset();
      VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, keys[i], &answers[i]));
      if (answers[i].IsComplete()) continue;
      open.push_back(i);
      open_keys.push_back(keys[i]);
    }
    std::vector<PinnableSlice> open_values(open.size());
    std::vector<Status> beneath(open.size());
    if (!open.empty()) {
      db->MultiGet(read_options, column_family, open.size(), open_keys.data(), open_values.data(),
                   beneath.data(), sorted_input);
    }
    BatchMerger merger(column_family);
    for (size_t i = 0, next = 0; i < num_keys; i++) {
      const bool is_open = next < open.size() && open[next] == i;
      if (is_open) Move(&open_values[next], &values[i]);
      statuses[i] = Combine(keys[i], answers[i], is_open ? std::move(beneath[next]) : Status::OK(),
                            &merger, &values[i]);
      next += is_open ? 1 : 0;
    }
    return Status::OK();
  });
  if (!s.ok()) std::fill_n(statuses, num_keys, s);
}

}  // namespace varve
