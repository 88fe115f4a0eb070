// SPDX-License-Identifier: Apache-2.0

// Every call that locks, tracks or writes follows the same pattern (Step in the header): it checks
// what can be checked without a change, uses the key, adds the update, and takes the use back if
// that fails. So a call that returns an error has changed nothing, and the transaction can go on.
//
// SetSnapshot and PutLogData have no status and cannot report a lack of memory. They remember it,
// and every later step fails until the user repeats the call or clears what is missing
// (CheckWhole).

#include "db/transaction/transaction_base.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "varve/iterator.h"

#include "db/read/family_iterators.h"
#include "db/write/batch_reader.h"
#include "util/base/canary.h"
#include "util/key/entity.h"

namespace varve {

namespace {

// Returns milliseconds of a clock that is read without a system call and without reading the
// hardware counter.
uint64_t CoarseMillis() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

// Returns the parts as one string: locks and the index need the key in one piece.
std::string Joined(const SliceParts& parts) {
  std::string joined;
  for (int i = 0; i < parts.num_parts; i++) {
    joined.append(parts.parts[i].data(), parts.parts[i].size());
  }
  return joined;
}

}  // namespace

TransactionBase::TransactionBase(DB* db, TransactionHost* host)
    : db_(db),
      default_family_(db->DefaultColumnFamily()),
      plain_order_(default_family_->GetComparator() == BytewiseComparator() ? BytewiseComparator()
                                                                            : nullptr),
      host_(host),
      families_(host),
      batch_(BytewiseComparator(), /*reserved_bytes=*/0, /*overwrite_key=*/true) {}

void TransactionBase::BeginBase(const WriteOptions& options, size_t max_batch_bytes) {
  ClearUpdates();
  ClearSnapshot();
  write_options_ = options;
  batch_.SetMaxBytes(max_batch_bytes);
  began_at_ = CoarseMillis();
}

void TransactionBase::ClearUpdates() {
  // A transaction that is begun again was usually cleared at its end.
  if (batch_.GetWriteBatch()->GetDataSize() != kBatchHeaderBytes || !save_points_.empty()) {
    batch_.Clear();
  }
  if (commit_time_batch_.GetDataSize() != kBatchHeaderBytes) commit_time_batch_.Clear();
  indexing_ = true;
  lacks_log_data_ = false;
  counts_ = Counts();
  save_points_.clear();
  families_.Clear();
  Charge(0);
}

uint64_t TransactionBase::GetElapsedTime() const {
  return CoarseMillis() - began_at_;
}

// ---- Snapshots ----

void TransactionBase::SetSnapshot() {
  ClearSnapshot();
  snapshot_ = NewSnapshot();
  lacks_snapshot_ = snapshot_ == nullptr;
}

// The deleter captures the database and not this object, as a program may keep the snapshot longer
// than the transaction.
std::shared_ptr<const Snapshot> TransactionBase::NewSnapshot() const noexcept {
  std::shared_ptr<const Snapshot> taken;
  BestEffort([&] {
    DB* const db = db_;
    const Snapshot* const snapshot = host_->CheckedSnapshot();
    if (snapshot == nullptr) return;
    taken = {snapshot, [db](const Snapshot* held) { db->ReleaseSnapshot(held); }};
  });
  return taken;
}

void TransactionBase::SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) {
  announced_ = true;
  notifier_ = std::move(notifier);
  lacks_snapshot_ = false;  // The operation that takes the snapshot reports a failure itself.
}

void TransactionBase::ClearSnapshot() {
  snapshot_.reset();
  lacks_snapshot_ = false;
  announced_ = false;
  notifier_.reset();
}

// The earlier snapshot is kept until the step has succeeded, since SettleSnapshot may have to
// restore it.
Status TransactionBase::TakeItNow() {
  std::shared_ptr<const Snapshot> taken = NewSnapshot();
  if (taken == nullptr) {
    return Status::MemoryLimit(
        "transaction: the snapshot of SetSnapshotOnNextOperation could not be taken; try again, or "
        "ClearSnapshot");
  }
  snapshot_before_ = std::exchange(snapshot_, std::move(taken));
  announced_ = false;
  untold_ = true;
  return Status::OK();
}

// Is the last action of a step, because the notifier may call any method of the transaction, also
// one that ends it.
void TransactionBase::SettleSnapshot(bool keep) {
  untold_ = false;
  if (!keep) {
    snapshot_ = std::move(snapshot_before_);
    announced_ = true;
    return;
  }
  snapshot_before_.reset();
  const std::shared_ptr<TransactionNotifier> notifier = std::move(notifier_);
  const std::shared_ptr<const Snapshot> taken = snapshot_;
  // Exceptions of the notifier are ignored: the call has already done its work.
  if (notifier != nullptr) BestEffort([&] { notifier->SnapshotCreated(taken.get()); });
}

Status TransactionBase::WhatItLacks() const {
  if (lacks_snapshot_) {
    return Status::MemoryLimit(
        "transaction: SetSnapshot could not take a snapshot; SetSnapshot once more, or "
        "ClearSnapshot to go on without its checks");
  }
  return Status::MemoryLimit(
      "transaction: PutLogData had no room for its data; Rollback, or RollbackToSavePoint to one "
      "set before it");
}

// ---- Save points ----

void TransactionBase::SetSavePoint() {
  // Three stacks grow together: this one, that of uses, and that of the batch. If one of them
  // cannot grow, the others are restored, so that they never differ in height.
  save_points_.push_back(
      {{snapshot_, lacks_snapshot_, announced_, notifier_}, lacks_log_data_, counts_});
  try {
    PushUses();
    try {
      batch_.SetSavePoint();
    } catch (...) {
      PopUses();
      throw;
    }
  } catch (...) {
    save_points_.pop_back();
    throw;
  }
}

Status TransactionBase::RollbackToSavePoint() {
  VARVE_RETURN_IF_ERROR(CheckActive());
  if (save_points_.empty()) return Status::NotFound("transaction: there is no save point");
  // The batch comes first, because the other parts cannot fail.
  VARVE_RETURN_IF_ERROR(batch_.RollbackToSavePoint());
  RollbackUses();
  SavePoint& last = save_points_.back();
  snapshot_ = std::move(last.snapshot.snapshot);
  lacks_snapshot_ = last.snapshot.lacking;
  lacks_log_data_ = last.lacks_log_data;
  announced_ = last.snapshot.announced;
  notifier_ = std::move(last.snapshot.notifier);
  counts_ = last.counts;
  save_points_.pop_back();
  return Status::OK();
}

Status TransactionBase::PopSavePoint() {
  VARVE_RETURN_IF_ERROR(CheckActive());
  if (save_points_.empty()) return Status::NotFound("transaction: there is no save point");
  VARVE_RETURN_IF_ERROR(batch_.PopSavePoint());
  PopUses();
  save_points_.pop_back();
  return Status::OK();
}

// ---- Reads ----

Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, std::string* value) try {
  if (value == nullptr) return Status::InvalidArgument("get: the place for the value is null");
  PinnableSlice pinned(value);
  Status s = Get(options, family, key, &pinned);
  if (s.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return s;
} catch (...) {
  return CaughtException();
}

Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, PinnableSlice* value) {
  ColumnFamilyHandle* const of = FamilyOr(family);
  VARVE_RETURN_IF_ERROR(host_->CheckRead(options, of));
  return batch_.GetOver(db_, options, of, key, value);
}

void TransactionBase::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t n,
                               const Slice* keys, PinnableSlice* values, Status* statuses,
                               bool sorted_input) const {
  ColumnFamilyHandle* const of = FamilyOr(family);
  const Status s = host_->CheckRead(options, of);
  if (s.ok()) {
    batch_.MultiGetOver(db_, options, of, n, keys, values, statuses, sorted_input);
  } else {
    std::fill_n(statuses, n, s);
  }
}

Status TransactionBase::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family,
                                  const Slice& key, PinnableWideColumns* columns) {
  ColumnFamilyHandle* const of = FamilyOr(family);
  VARVE_RETURN_IF_ERROR(host_->CheckRead(options, of));
  return batch_.GetEntityOver(db_, options, of, key, columns);
}

void TransactionBase::MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* family,
                                     size_t n, const Slice* keys, PinnableWideColumns* results,
                                     Status* statuses, bool sorted_input) {
  ColumnFamilyHandle* const of = FamilyOr(family);
  const Status s = host_->CheckRead(options, of);
  if (s.ok()) {
    batch_.MultiGetEntityOver(db_, options, of, n, keys, results, statuses, sorted_input);
  } else {
    std::fill_n(statuses, n, s);
  }
}

// The vector form names a family for each key, so it makes several reads; a snapshot lets all of
// them see one state.
std::vector<Status> TransactionBase::MultiGet(const ReadOptions& options,
                                              const std::vector<ColumnFamilyHandle*>& families,
                                              const std::vector<Slice>& keys,
                                              std::vector<std::string>* values) {
  const size_t n = keys.size();
  values->assign(n, std::string());
  if (families.size() != n) {
    return std::vector<Status>(
        n, Status::InvalidArgument("MultiGet: one column family per key needed"));
  }
  // Reads all keys, of all families, at one state.
  ReadOptions at_one_state = options;
  std::unique_ptr<ManagedSnapshot> held;
  if (options.snapshot == nullptr && n > 1) {
    held = std::make_unique<ManagedSnapshot>(db_);
    at_one_state.snapshot = held->snapshot();
    if (held->snapshot() == nullptr) {
      Status s = host_->CheckRead(options, default_family_);
      if (s.ok())
        s = Status::MemoryLimit("MultiGet: no snapshot to read all keys at could be taken");
      return std::vector<Status>(n, s);
    }
  }
  std::vector<Status> statuses;
  statuses.reserve(n);
  for (size_t i = 0; i < n; i++) {
    statuses.push_back(Get(at_one_state, families[i], keys[i], &(*values)[i]));
  }
  return statuses;
}

Iterator* TransactionBase::GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  ColumnFamilyHandle* const of = FamilyOr(family);
  const Status s = host_->CheckRead(options, of);
  if (!s.ok()) return NewErrorIterator(s);
  return batch_.NewIteratorWithBase(of, db_->NewIterator(options, of), &options);
}

// The base iterators are made together, so that all families are seen at one state. Those that are
// put over them own them, and show a failure in their status.
Status TransactionBase::MakeFamilyIterators(const ReadOptions& options,
                                            const std::vector<ColumnFamilyHandle*>& families,
                                            std::vector<Iterator*>* iterators) {
  for (ColumnFamilyHandle* const family : families) {
    VARVE_RETURN_IF_ERROR(host_->CheckRead(options, family));
  }
  VARVE_RETURN_IF_ERROR(db_->NewIterators(options, families, iterators));
  for (size_t i = 0; i < families.size(); i++) {
    (*iterators)[i] = batch_.NewIteratorWithBase(families[i], (*iterators)[i], &options);
  }
  return Status::OK();
}

std::unique_ptr<Iterator> TransactionBase::GetCoalescingIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  return MakeCoalescingIterator(
      [&](std::vector<Iterator*>* made) { return MakeFamilyIterators(options, families, made); },
      families);
}

std::unique_ptr<AttributeGroupIterator> TransactionBase::GetAttributeGroupIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  return MakeAttributeGroupIterator(
      [&](std::vector<Iterator*>* made) { return MakeFamilyIterators(options, families, made); },
      families);
}

Status TransactionBase::CheckForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                       bool do_validate) const {
  if (!do_validate && options.snapshot != nullptr) {
    return Status::InvalidArgument("GetForUpdate: a snapshot to read, and do_validate is false");
  }
  if (options.snapshot != nullptr) VARVE_RETURN_IF_ERROR(host_->CheckRead(options, family));
  if (IsPlain(family) || family->GetComparator()->timestamp_size() == 0) [[likely]]
    return Status::OK();
  std::string timestamp;  // only the error is wanted here; ReadUsed asks again
  return TimestampForUpdate(options, do_validate, &timestamp);
}

// A family with timestamps is read at the transaction's read timestamp, unless the options name
// one.
template <typename Value>
Status TransactionBase::ReadUsed(const ReadOptions& options, ColumnFamilyHandle* family,
                                 const Slice& key, Value* value, bool do_validate) {
  Status s;
  if (family->GetComparator()->timestamp_size() == 0) [[likely]] {
    s = Get(options, family, key, value);
  } else {
    std::string bytes;
    VARVE_RETURN_IF_ERROR(TimestampForUpdate(options, do_validate, &bytes));
    const Slice timestamp = bytes;
    ReadOptions as_of = options;
    as_of.timestamp = &timestamp;
    s = Get(as_of, family, key, value);
  }
  if (s.ok()) NoteFound(family, key);
  return s;
}

template <typename Value>
Status TransactionBase::ReadForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                      const Slice& key, Value* value, bool exclusive,
                                      bool do_validate) {
  return Step(family, [&](ColumnFamilyHandle* of) -> Status {
    VARVE_RETURN_IF_ERROR(CheckForUpdate(options, of, do_validate));
    UseNote note;
    VARVE_RETURN_IF_ERROR(
        Use(of, key, {.write = false, .exclusive = exclusive, .validate = do_validate}, &note));
    if (value == nullptr) return Status::OK();
    Status s = Guarded([&] { return ReadUsed(options, of, key, value, do_validate); });
    if (!s.ok() && !s.IsNotFound()) TakeBack(note);
    return s;
  });
}

Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, std::string* value, bool exclusive,
                                     bool do_validate) {
  return ReadForUpdate(options, family, key, value, exclusive, do_validate);
}

Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, PinnableSlice* value, bool exclusive,
                                     bool do_validate) {
  return ReadForUpdate(options, family, key, value, exclusive, do_validate);
}

Status TransactionBase::GetEntityForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                           const Slice& key, PinnableWideColumns* columns,
                                           bool exclusive, bool do_validate) {
  return ReadForUpdate(options, family, key, columns, exclusive, do_validate);
}

std::vector<Status> TransactionBase::MultiGetForUpdate(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values) {
  Status s;
  if (families.size() != keys.size()) {
    s = Status::InvalidArgument("MultiGetForUpdate: one column family per key needed");
  }
  for (size_t i = 0; s.ok() && i < keys.size(); i++) s = CheckFamily(FamilyOr(families[i]));
  if (s.ok()) {
    s = Step(nullptr, [&](ColumnFamilyHandle* /*of*/) { return UseAll(options, families, keys); });
  }
  if (!s.ok()) {
    values->assign(keys.size(), std::string());
    return std::vector<Status>(keys.size(), s);
  }
  return ReadAllUsed(options, families, keys, values);
}

// All keys are used before the first is read, and after an error none stays used: the caller can
// repeat the whole call.
Status TransactionBase::UseAll(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys) {
  std::vector<UseNote> notes(keys.size());
  Status s;
  size_t used = 0;
  for (; s.ok() && used < keys.size(); used++) {
    ColumnFamilyHandle* const of = FamilyOr(families[used]);
    s = Guarded([&] {
      VARVE_RETURN_IF_ERROR(CheckForUpdate(options, of, /*do_validate=*/true));
      return Use(of, keys[used], {.write = false, .exclusive = true, .validate = true},
                 &notes[used]);
    });
  }
  // The refused use has changed nothing, so its note has no record.
  for (; !s.ok() && used > 0; used--) TakeBack(notes[used - 1]);
  return s;
}

// The keys stay used even if a read fails; the error is the status of its key alone.
std::vector<Status> TransactionBase::ReadAllUsed(const ReadOptions& options,
                                                 const std::vector<ColumnFamilyHandle*>& families,
                                                 const std::vector<Slice>& keys,
                                                 std::vector<std::string>* values) {
  const bool any_timestamps = std::ranges::any_of(families, [this](ColumnFamilyHandle* family) {
    return FamilyOr(family)->GetComparator()->timestamp_size() != 0;
  });
  if (!any_timestamps) {
    const std::vector<Status> statuses = MultiGet(options, families, keys, values);
    for (size_t i = 0; i < keys.size(); i++) {
      if (statuses[i].ok()) NoteFound(FamilyOr(families[i]), keys[i]);
    }
    return statuses;
  }
  std::vector<Status> statuses(keys.size());
  values->assign(keys.size(), std::string());
  for (size_t i = 0; i < keys.size(); i++) {
    statuses[i] = ReadUsed(options, FamilyOr(families[i]), keys[i], &(*values)[i], true);
  }
  return statuses;
}

// ---- Writes ----

Status TransactionBase::CheckTimestampSize(size_t /*timestamp_size*/) const {
  return Status::NotSupported(
      "transaction: only TransactionDB's go with column families that have timestamps");
}

Status TransactionBase::TimestampForUpdate(const ReadOptions& /*options*/, bool /*do_validate*/,
                                           std::string* /*timestamp*/) const {
  return CheckTimestampSize(0);  // NotSupported, as CheckFamily returns for such families
}

Status TransactionBase::AddToBatch(WriteType type, ColumnFamilyHandle* family, const Slice& key,
                                   const Slice& value) {
  // A null handle means the default family, ordered by the batch's backup comparator.
  if (IsPlain(family)) family = nullptr;
  if (!indexing_) return batch_.AddUnindexed(type, family, key, value);
  switch (type) {
    case kPutRecord:
      return batch_.Put(family, key, value);
    case kMergeRecord:
      return batch_.Merge(family, key, value);
    case kDeleteRecord:
      return batch_.Delete(family, key);
    case kDeleteRangeRecord:
      return batch_.DeleteRange(family, key, value);
    case kPutEntityRecord:
      return batch_.AddEntity(family, key, value);
    default:
      return batch_.SingleDelete(family, key);
  }
}

Status TransactionBase::Update(WriteType type, ColumnFamilyHandle* family, const Slice& key,
                               const Slice& value, const KeyUse& use) {
  return Step(family, [&](ColumnFamilyHandle* of) -> Status {
    UseNote note;
    VARVE_RETURN_IF_ERROR(Use(of, key, use, &note));
    Status s = AddToBatch(type, of, key, value);
    if (!s.ok()) {
      if (!VARVE_CANARY(kKeepRefusedLock)) TakeBack(note);
      return s;
    }
    uint64_t& count = type == kPutRecord         ? counts_.puts
                      : type == kPutEntityRecord ? counts_.entities
                      : type == kMergeRecord     ? counts_.merges
                                                 : counts_.deletes;
    count++;
    return s;
  });
}

Status TransactionBase::UpdateEntity(ColumnFamilyHandle* family, const Slice& key,
                                     const WideColumns& columns, const KeyUse& use) try {
  if (family == nullptr) {
    return Status::InvalidArgument("transaction: PutEntity needs the handle of a column family");
  }
  if (family->GetComparator()->timestamp_size() != 0) {
    return Status::InvalidArgument("transaction: PutEntity, and column family " +
                                   family->GetName() +
                                   " has user timestamps, with which there are no entities");
  }
  std::string entity;
  VARVE_RETURN_IF_ERROR(EncodeEntity(columns, &entity));
  return Update(kPutEntityRecord, family, key, entity, use);
} catch (...) {
  return CaughtException();
}

void TransactionBase::PutLogData(const Slice& blob) {
  if (!CheckActive().ok()) return;  // A transaction that has ended logs nothing.
  const Status s = Settled(batch_.PutLogData(blob));
  if (!s.ok()) lacks_log_data_ = true;
}

Status TransactionBase::UpdateParts(WriteType type, ColumnFamilyHandle* family,
                                    const SliceParts& key, const SliceParts& value,
                                    const KeyUse& use) try {
  return Update(type, family, Joined(key), Joined(value), use);
} catch (...) {
  return CaughtException();
}

// Each update is made by a call of this transaction, with locks or tracking; those before one that
// fails stay.
Status TransactionBase::RebuildFromWriteBatch(WriteBatch* src_batch) try {
  if (src_batch == nullptr) return Status::InvalidArgument("transaction: the batch is null");
  BatchReplay replay(this, &families_);
  return src_batch->Iterate(&replay);
} catch (...) {
  return CaughtException();
}

}  // namespace varve
