// SPDX-License-Identifier: Apache-2.0

// Implements WriteBatchWithIndex by a plain batch and its index. A read combines two sources:
// LookUp answers from the batch (batch_lookup.h); if that leaves the value open, the database is
// read; and Combine merges the operands of the first with the value of the second. Values are
// passed on in stored form, plain or entity, and only at the end turned into what the call returns.
// Calls named ...Over are for callers that have checked the handle and the snapshot.

#include "varve/utilities/write_batch_with_index.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"
#include "varve/snapshot.h"

#include "db/transaction/base_delta_iterator.h"
#include "db/transaction/batch_index.h"
#include "db/transaction/batch_iterator.h"
#include "db/transaction/batch_lookup.h"
#include "db/transaction/transaction_host.h"
#include "db/write/entity_groups.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/key/entity.h"

namespace varve {

namespace {

// Offsets of records have 32 bits.
constexpr size_t kBatchBytesMax = UINT32_MAX;
// Upper bound of the bytes of a record besides key, value and timestamps.
constexpr size_t kRecordOverhead = 32;

// Returns the limit of a batch's bytes for a max_bytes of the user, where 0 means none.
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

// Returns OK if there are places for results, and a timestamp if the family's keys have one.
Status CheckRead(const ReadOptions& options, const void* results,
                 ColumnFamilyHandle* column_family) {
  if (results == nullptr)
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

Status AddStoredEntity(WriteBatch* batch, ColumnFamilyHandle* column_family, const Slice& key,
                       const Slice& entity) {
  return WriteBatchInternal::AddRecord(batch, kTypeWideColumnEntity,
                                       column_family == nullptr ? 0 : column_family->GetID(),
                                       SliceParts(&key, 1), SliceParts(&entity, 1));
}

// Returns `after`, unless both are OK: then `before`, as it may have a subcode.
Status Keep(const Status& before, const Status& after) {
  VARVE_ASSERT(before.ok());
  return after.ok() ? before : after;
}

// A value in its stored form. The place for its bytes is borrowed.
struct Stored {
  PinnableSlice* value;
  ValueForm form = ValueForm::kPlain;
};

// True if the columns are those of a plain value, whose bytes are the stored ones. An entity with
// the default column alone has more bytes.
bool IsPlain(const PinnableWideColumns& result) {
  const WideColumns& columns = result.columns();
  return columns.size() == 1 && columns.front().name() == kDefaultWideColumnName &&
         columns.front().value().size() == result.serialized_size();
}

// Stores columns that a database returned.
Status Store(const PinnableWideColumns& result, Stored* stored) {
  if (IsPlain(result)) {
    stored->value->PinSelf(result.columns().front().value());
    return Status::OK();
  }
  stored->form = ValueForm::kEntity;
  stored->value->GetSelf()->clear();
  VARVE_RETURN_IF_ERROR(EncodeEntity(result.columns(), stored->value->GetSelf()));
  stored->value->PinSelf();
  return Status::OK();
}

// Reads the base of a merge from the database. A database of a foreign class may lack entities:
// there the base is a plain value.
Status ReadBase(DB* db, const ReadOptions& options, ColumnFamilyHandle* column_family,
                const Slice& key, Stored* stored) {
  PinnableWideColumns columns;
  const Status s = db->GetEntity(options, column_family, key, &columns);
  if (s.IsNotSupported()) return db->Get(options, column_family, key, stored->value);
  return s.ok() ? Keep(s, Store(columns, stored)) : s;
}

// Replaces an entity by its default column.
Status ShowDefault(const Stored& stored) {
  if (stored.form == ValueForm::kPlain) return Status::OK();
  Slice column;
  VARVE_RETURN_IF_ERROR(DefaultColumnOf(*stored.value, &column));
  stored.value->PinSelf(column);
  return Status::OK();
}

// Moves a value in stored form into *columns.
Status ShowColumns(const Stored& stored, PinnableWideColumns* columns) {
  if (stored.form == ValueForm::kEntity) {
    return columns->SetWideColumnValue(std::move(*stored.value));
  }
  columns->SetPlainValue(std::move(*stored.value));
  return Status::OK();
}

// Combines the batch's answer with the database's: if that was read, `beneath` is its status and
// *stored its value. *stored becomes the combined value.
Status Combine(const Slice& key, const BatchAnswer& answer, Status beneath, BatchMerger* merger,
               Stored* stored) {
  const bool in_batch = answer.base == BatchAnswer::Base::kValue;
  if (answer.operands.empty()) {
    if (!answer.IsComplete()) return beneath;
    if (!in_batch) return Status::NotFound();
    stored->value->PinSelf(answer.value);
    stored->form = answer.form;
    return Status::OK();
  }
  if (!beneath.ok() && !beneath.IsNotFound()) return beneath;
  const bool in_db = !answer.IsComplete() && beneath.ok();
  const Slice base = in_batch ? answer.value : *stored->value;
  ValueForm form = in_batch ? answer.form : stored->form;
  std::string buffer;
  Slice result;
  VARVE_RETURN_IF_ERROR(merger->Merge(key, in_batch || in_db ? &base : nullptr, answer.operands,
                                      &buffer, &result, &form));
  if (result.data() != buffer.data()) buffer.assign(result.data(), result.size());
  stored->value->Reset();
  *stored->value->GetSelf() = std::move(buffer);
  stored->value->PinSelf();
  stored->form = form;
  return Status::OK();
}

// Keys of one call that the batch does not decide, and the values that the database has for them.
struct OpenKeys {
  std::vector<size_t> places;  // Indexes of the keys in the call.
  std::vector<Slice> keys;
  std::vector<PinnableSlice> values;
  std::vector<PinnableWideColumns> columns;  // Set instead of `values` if entities are whole.
  std::vector<Status> statuses;

  void Add(size_t place, const Slice& key) {
    places.push_back(place);
    keys.push_back(key);
  }
  // Reads all keys at one state. `whole`: entities are read with all of their columns, if the
  // database supports them.
  void Read(DB* db, const ReadOptions& options, ColumnFamilyHandle* column_family, bool whole,
            bool sorted_input) {
    values.resize(keys.size());
    statuses.resize(keys.size());
    if (keys.empty()) return;
    if (whole) {
      columns.resize(keys.size());
      db->MultiGetEntity(options, column_family, keys.size(), keys.data(), columns.data(),
                         statuses.data(), sorted_input);
      // A database without entities refuses all keys; a single refused key has its own reason.
      const auto refused = [](const Status& s) { return s.IsNotSupported(); };
      if (!std::ranges::all_of(statuses, refused)) return;
      columns.clear();
    }
    db->MultiGet(options, column_family, keys.size(), keys.data(), values.data(), statuses.data(),
                 sorted_input);
  }
  // If the key with index `place` of the call was read here, moves its value to *stored and sets
  // *beneath to its status. Must be called in ascending order of places.
  void Take(size_t place, Stored* stored, Status* beneath) {
    if (next_ == places.size() || places[next_] != place) return;
    *beneath = TakeOne(next_++, stored);
  }

 private:
  Status TakeOne(size_t i, Stored* stored) {
    if (!statuses[i].ok()) return statuses[i];
    if (!columns.empty()) return Keep(statuses[i], Store(columns[i], stored));
    Move(&values[i], stored->value);
    return Status::OK();
  }

  size_t next_ = 0;
};

// Provides read options with which several reads of a database show one state: if they name no
// snapshot, one is taken and held.
class OneState {
 public:
  // `several`: more than one read follows; a single one needs no snapshot.
  OneState(DB* db, const ReadOptions& options, bool several) : options_(options) {
    if (!several || options.snapshot != nullptr) return;
    held_ = std::make_unique<ManagedSnapshot>(db);
    options_.snapshot = held_->snapshot();
    failed_ = options_.snapshot == nullptr;
  }
  // True if no snapshot could be taken: then all keys must be read by one call.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const ReadOptions& options() const { return options_; }

 private:
  ReadOptions options_;
  std::unique_ptr<ManagedSnapshot> held_;
  bool failed_ = false;
};

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

  // Adds an update by add(batch); its keys, values and timestamps have about `bytes` bytes. Room is
  // made first, so that the batch's string does not move under iterators when the record is added;
  // the note for the index comes last and cannot fail.
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

  // Sets *answer to what the batch has for the key. May throw.
  Status LookUp(ColumnFamilyHandle* column_family, const Slice& key, BatchAnswer* answer) {
    BatchIndex::Family* const family = index.Get(column_family);
    return LookUpInBatch(family, key, family->keys.Find(key), answer);
  }

  // Large enough that the bytes never lie within the string object itself, with which they would
  // move when the batch gets another string.
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

Status WriteBatchWithIndex::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                                      const WideColumns& columns) {
  size_t bytes = key.size();
  for (const WideColumn& column : columns) {
    // The last term is more than the column's lengths take.
    bytes += column.name().size() + column.value().size() + 2 * kRecordOverhead;
  }
  return rep_->Add(column_family, bytes, [&](WriteBatch* batch) {
    return batch->PutEntity(column_family, key, columns);
  });
}

Status WriteBatchWithIndex::PutEntity(const Slice& key, const AttributeGroups& attribute_groups) {
  return PutEntityGroups(this, key, attribute_groups);
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

// Room is made as for an indexed update, because iterators may show other bytes of the batch. No
// note is made, so the record is never indexed.
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
    case kPutEntityRecord:
      return AddStoredEntity(batch, column_family, key, value);
    default:
      return Status::InvalidArgument("write batch: no such type of update");
  }
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::AddEntity(ColumnFamilyHandle* column_family, const Slice& key,
                                      const Slice& entity) {
  return rep_->Add(column_family, key.size() + entity.size(), [&](WriteBatch* batch) {
    return AddStoredEntity(batch, column_family, key, entity);
  });
}

// After a failed look-up the result is true: callers read the database alone only if it is certain
// that the batch has no update.
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
    // The index goes first, as it reads the records that the batch is about to cut off.
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
  if (!answer.IsComplete() && !answer.operands.empty()) return Status::MergeInProgress();
  BatchMerger merger(column_family, options.info_log.get(), options.statistics.get());
  PinnableSlice own(value);
  Stored stored{&own};
  VARVE_RETURN_IF_ERROR(Combine(key, answer, Status::NotFound(), &merger, &stored));
  return ShowDefault(stored);
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

// Looks into the batch first, and into the database only if the batch has no value or deletion of
// the key. With operands in the batch the base is read as an entity, as the merge operator gets all
// of its columns; without, Get suffices.
Status WriteBatchWithIndex::GetOver(DB* db, const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, const Slice& key,
                                    PinnableSlice* value) try {
  VARVE_RETURN_IF_ERROR(CheckRead(read_options, value, column_family));
  value->Reset();
  BatchAnswer answer;
  VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, key, &answer));
  Stored stored{value};
  Status beneath;
  if (!answer.IsComplete()) {
    beneath = answer.operands.empty() ? db->Get(read_options, column_family, key, value)
                                      : ReadBase(db, read_options, column_family, key, &stored);
  }
  BatchMerger merger(column_family);
  const Status s = Combine(key, answer, std::move(beneath), &merger, &stored);
  return s.ok() ? Keep(s, ShowDefault(stored)) : s;
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                                               PinnableWideColumns* columns) try {
  if (columns == nullptr) return Status::InvalidArgument("write batch: no place for columns");
  columns->Reset();
  if (column_family == nullptr) {
    return Status::InvalidArgument("write batch: a read of an entity needs its column family");
  }
  BatchAnswer answer;
  VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, key, &answer));
  if (!answer.IsComplete() && !answer.operands.empty()) return Status::MergeInProgress();
  BatchMerger merger(column_family);
  PinnableSlice value;
  Stored stored{&value};
  VARVE_RETURN_IF_ERROR(Combine(key, answer, Status::NotFound(), &merger, &stored));
  return ShowColumns(stored, columns);
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::GetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                    ColumnFamilyHandle* column_family,
                                                    const Slice& key,
                                                    PinnableWideColumns* columns) try {
  VARVE_RETURN_IF_ERROR(CheckOwner(db, read_options, &column_family));
  return GetEntityOver(db, read_options, column_family, key, columns);
} catch (...) {
  return CaughtException();
}

Status WriteBatchWithIndex::GetEntityOver(DB* db, const ReadOptions& read_options,
                                          ColumnFamilyHandle* column_family, const Slice& key,
                                          PinnableWideColumns* columns) try {
  PinnableSlice value;
  VARVE_RETURN_IF_ERROR(CheckRead(read_options, columns, column_family));
  columns->Reset();
  BatchAnswer answer;
  VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, key, &answer));
  if (!answer.IsComplete() && answer.operands.empty()) {
    return db->GetEntity(read_options, column_family, key, columns);
  }
  Stored stored{&value};
  Status beneath;
  if (!answer.IsComplete()) beneath = ReadBase(db, read_options, column_family, key, &stored);
  BatchMerger merger(column_family);
  const Status s = Combine(key, answer, std::move(beneath), &merger, &stored);
  return s.ok() ? Keep(s, ShowColumns(stored, columns)) : s;
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
    size_t read = 0;
    size_t merged = 0;  // Number of keys among those with operands in the batch.
    for (size_t i = 0; i < num_keys; i++) {
      values[i].Reset();
      VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, keys[i], &answers[i]));
      if (answers[i].IsComplete()) continue;
      read++;
      merged += answers[i].operands.empty() ? 0 : 1;
    }
    // Only when both kinds of reads follow are there two calls that a snapshot must hold together.
    const OneState state(db, read_options, merged != 0 && merged != read);
    OpenKeys whole;  // Keys whose base is merged, for which all columns are needed.
    OpenKeys plain;
    for (size_t i = 0; i < num_keys; i++) {
      if (answers[i].IsComplete()) continue;
      (state.failed() || !answers[i].operands.empty() ? whole : plain).Add(i, keys[i]);
    }
    whole.Read(db, state.options(), column_family, /*whole=*/true, sorted_input);
    plain.Read(db, state.options(), column_family, /*whole=*/false, sorted_input);
    BatchMerger merger(column_family);
    for (size_t i = 0; i < num_keys; i++) {
      Stored stored{&values[i]};
      Status beneath;
      whole.Take(i, &stored, &beneath);
      plain.Take(i, &stored, &beneath);
      statuses[i] = Combine(keys[i], answers[i], std::move(beneath), &merger, &stored);
      if (statuses[i].ok()) statuses[i] = Keep(statuses[i], ShowDefault(stored));
    }
    return Status::OK();
  });
  if (!s.ok()) std::fill_n(statuses, num_keys, s);
}

void WriteBatchWithIndex::MultiGetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                       ColumnFamilyHandle* column_family,
                                                       size_t num_keys, const Slice* keys,
                                                       PinnableWideColumns* results,
                                                       Status* statuses, bool sorted_input) {
  const Status s = Guarded([&] { return CheckOwner(db, read_options, &column_family); });
  if (s.ok()) {
    MultiGetEntityOver(db, read_options, column_family, num_keys, keys, results, statuses,
                       sorted_input);
  } else {
    std::fill_n(statuses, num_keys, s);
  }
}

void WriteBatchWithIndex::MultiGetEntityOver(DB* db, const ReadOptions& read_options,
                                             ColumnFamilyHandle* column_family, size_t num_keys,
                                             const Slice* keys, PinnableWideColumns* results,
                                             Status* statuses, bool sorted_input) {
  if (num_keys == 0) return;
  const Status s = Guarded([&] {
    VARVE_RETURN_IF_ERROR(CheckRead(read_options, results, column_family));
    std::vector<BatchAnswer> answers(num_keys);
    OpenKeys open;
    for (size_t i = 0; i < num_keys; i++) {
      results[i].Reset();
      VARVE_RETURN_IF_ERROR(rep_->LookUp(column_family, keys[i], &answers[i]));
      if (!answers[i].IsComplete()) open.Add(i, keys[i]);
    }
    open.Read(db, read_options, column_family, /*whole=*/true, sorted_input);
    BatchMerger merger(column_family);
    for (size_t i = 0; i < num_keys; i++) {
      PinnableSlice value;
      Stored stored{&value};
      Status beneath;
      open.Take(i, &stored, &beneath);
      statuses[i] = Combine(keys[i], answers[i], std::move(beneath), &merger, &stored);
      if (statuses[i].ok()) statuses[i] = Keep(statuses[i], ShowColumns(stored, &results[i]));
    }
    return Status::OK();
  });
  if (!s.ok()) std::fill_n(statuses, num_keys, s);
}

}  // namespace varve
