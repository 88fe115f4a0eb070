// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_db.h"

#include <optional>
#include <utility>

#include "varve/comparator.h"

#include "db/ttl/ttl_batch.h"
#include "db/ttl/ttl_compaction_filter.h"
#include "db/ttl/ttl_iterator.h"
#include "db/ttl/ttl_merge_operator.h"
#include "db/ttl/ttl_stamp.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

Status NoIngestion(const char* call) {
  return Status::NotSupported(
      std::string("DBWithTTL::") + call,
      "values of files have no times of writing; GetBaseDB() takes files whose values have them");
}

}  // namespace

Status CheckTtlFamily(const ColumnFamilyDescriptor& family) {
  if (family.options.comparator != nullptr && family.options.comparator->timestamp_size() != 0) {
    return Status::NotSupported("DBWithTTL",
                                "column family " + family.name + " has user timestamps");
  }
  return Status::OK();
}

// Wraps the merge operator and the filter in those that know stamps; the wrappers share `state` and
// `family`.
ColumnFamilyOptions WithTtl(const ColumnFamilyOptions& options,
                            const std::shared_ptr<TtlState>& state,
                            const std::shared_ptr<TtlFamily>& family) {
  ColumnFamilyOptions result = options;
  // Options that come from GetOptions of a database with lifetimes are wrapped already. Those
  // wrappers use the clock and lifetimes of that opening, so the user's own objects are taken out.
  if (auto* merge = dynamic_cast<TtlMergeOperator*>(result.merge_operator.get())) {
    result.merge_operator = merge->user();
  }
  if (auto* filters =
          dynamic_cast<TtlCompactionFilterFactory*>(result.compaction_filter_factory.get())) {
    if (result.compaction_filter == nullptr) result.compaction_filter = filters->user_filter();
    result.compaction_filter_factory = std::shared_ptr(filters->user_factory());
  }
  // The filter has to know of the operator: with one, an expired value may still be the base of
  // live operands.
  const bool merges = result.merge_operator != nullptr;
  if (merges) {
    result.merge_operator = std::make_shared<TtlMergeOperator>(result.merge_operator, family);
  }
  result.compaction_filter_factory = std::make_shared<TtlCompactionFilterFactory>(
      result.compaction_filter, result.compaction_filter_factory, merges, state, family);
  result.compaction_filter = nullptr;
  return result;
}

TtlFamily* TtlDb::FamilyOf(ColumnFamilyHandle* handle, Status* s) const {
  TtlFamily* const family = handle == nullptr ? nullptr : state_->FindFamily(handle->GetID());
  *s = family != nullptr
           ? Status::OK()
           : Status::InvalidArgument(
                 "DBWithTTL: the column family handle is null, or was not made by it");
  return family;
}

// ---- Column families ----

// A call that creates a family sets the handle even after an error, if the family exists and only
// the OPTIONS file could not be written.
void TtlDb::NoteCreated(ColumnFamilyHandle* const* handle,
                        const std::shared_ptr<TtlFamily>& family) {
  if (handle != nullptr && *handle != nullptr) state_->AddFamily((*handle)->GetID(), family);
}

Status TtlDb::CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options, const std::string& name,
                                        ColumnFamilyHandle** handle, int ttl) try {
  VARVE_RETURN_IF_ERROR(CheckTtlFamily({name, options}));
  const auto family = std::make_shared<TtlFamily>(name, ttl);
  Status s = db_->CreateColumnFamily(WithTtl(options, state_, family), name, handle);
  NoteCreated(handle, family);
  return s;
} catch (...) {
  return CaughtException();
}

Status TtlDb::CreateColumnFamilies(const ColumnFamilyOptions& options,
                                   const std::vector<std::string>& names,
                                   std::vector<ColumnFamilyHandle*>* handles) try {
  std::vector<ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) families.emplace_back(name, options);
  return CreateColumnFamilies(families, handles);
} catch (...) {
  return CaughtException();
}

Status TtlDb::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                                   std::vector<ColumnFamilyHandle*>* handles) try {
  if (handles == nullptr) return Status::InvalidArgument("CreateColumnFamilies: handles is null");
  handles->clear();
  handles->reserve(families.size());
  for (const ColumnFamilyDescriptor& family : families) {
    ColumnFamilyHandle* handle = nullptr;
    const Status s = CreateColumnFamily(family.options, family.name, &handle);
    // The family may exist although its options could not be written down.
    if (handle != nullptr) handles->push_back(handle);
    VARVE_RETURN_IF_ERROR(s);
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status TtlDb::CreateColumnFamilyWithImport(
    const ColumnFamilyOptions& options, const std::string& name,
    const ImportColumnFamilyOptions& import_options,
    const std::vector<const ExportImportFilesMetaData*>& metadatas,
    ColumnFamilyHandle** handle) try {
  VARVE_RETURN_IF_ERROR(CheckTtlFamily({name, options}));
  const auto family = std::make_shared<TtlFamily>(name, 0);
  Status s = db_->CreateColumnFamilyWithImport(WithTtl(options, state_, family), name,
                                               import_options, metadatas, handle);
  NoteCreated(handle, family);
  return s;
} catch (...) {
  return CaughtException();
}

void TtlDb::SetTtl(ColumnFamilyHandle* column_family, int32_t ttl) {
  Status s;
  TtlFamily* const family = FamilyOf(column_family, &s);
  if (family != nullptr) family->ttl.store(ttl, std::memory_order_relaxed);
}

Status TtlDb::GetTtl(ColumnFamilyHandle* column_family, int32_t* ttl) {
  if (ttl == nullptr) return Status::InvalidArgument("DBWithTTL::GetTtl: ttl is null");
  Status s;
  TtlFamily* const family = FamilyOf(column_family, &s);
  if (family != nullptr) *ttl = family->ttl.load(std::memory_order_relaxed);
  return s;
}

// ---- Writes ----

Status TtlDb::Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  const Slice& value) try {
  Status s;
  if (FamilyOf(column_family, &s) == nullptr) return s;
  const StampedValue stamped(value, state_->clock().ForStamps());
  return db_->Put(options, column_family, key, stamped.slice());
} catch (...) {
  return CaughtException();
}

// Stores the lifetime in the stamp, and refuses what no stamp can express.
Status TtlDb::PutWithTtl(const WriteOptions& options, ColumnFamilyHandle* column_family,
                         const Slice& key, const Slice& value, int32_t ttl) try {
  Status s;
  const TtlFamily* const family = FamilyOf(column_family, &s);
  if (family == nullptr) return s;
  const int32_t common = family->ttl.load(std::memory_order_relaxed);
  if (ttl <= 0 || common <= 0) {
    return Status::InvalidArgument(
        "DBWithTTL::PutWithTtl", "a lifetime of " + std::to_string(ttl) + " s in column family " +
                                     family->name + ", which has one of " + std::to_string(common) +
                                     " s: both must be positive");
  }
  // There is no room for a lifetime beside the stamp. The stamp is set so that stamp + the family's
  // lifetime is the moment that was asked for; it moves with later changes of that lifetime.
  const int64_t stamp = int64_t{state_->clock().ForStamps()} + ttl - common;
  if (stamp < kEarliestStamp || stamp > UINT32_MAX) {
    return Status::InvalidArgument(
        "DBWithTTL::PutWithTtl",
        "a lifetime of " + std::to_string(ttl) + " s is too far from the " +
            std::to_string(common) + " s of column family " + family->name +
            ": it would be stored as written at second " + std::to_string(stamp) +
            ", and what can be stored is " + std::to_string(kEarliestStamp) + " to " +
            std::to_string(UINT32_MAX));
  }
  const StampedValue stamped(value, static_cast<uint32_t>(stamp));
  return db_->Put(options, column_family, key, stamped.slice());
} catch (...) {
  return CaughtException();
}

Status TtlDb::Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                    const Slice& key, const Slice& value) try {
  Status s;
  if (FamilyOf(column_family, &s) == nullptr) return s;
  // The time is held before the stamp is made, so that it is not later than the stamp.
  const TtlHold hold(state_.get());
  const StampedValue stamped(value, state_->clock().ForStamps());
  return db_->Merge(options, column_family, key, stamped.slice());
} catch (...) {
  return CaughtException();
}

// Writes a copy of the batch that has stamps; the caller's batch stays as it is.
Status TtlDb::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                UserWriteCallback* callback) try {
  const auto write = [&](WriteBatch* batch) {
    return callback == nullptr ? db_->Write(options, batch)
                               : db_->WriteWithCallback(options, batch, callback);
  };
  if (updates == nullptr || !NeedsStamps(*updates)) return write(updates);
  std::optional<TtlHold> hold;
  // The hold keeps compactions from dropping the base between the time of the stamp and the
  // insertion: by the stamp it may still be alive.
  if (updates->HasMerge()) hold.emplace(state_.get());
  const uint32_t stamp = state_->clock().ForStamps();
  // The room is for a stamp of each value, and for one more byte of its length.
  WriteBatch stamped(updates->GetDataSize() + size_t{updates->Count()} * (kStampBytes + 1));
  VARVE_RETURN_IF_ERROR(StampBatch(*updates, stamp, &stamped));
  return write(&stamped);
} catch (...) {
  return CaughtException();
}

// ---- Reads ----

uint32_t TtlDb::TimeOf(const ReadOptions& options) {
  return options.snapshot == nullptr ? state_->clock().Now() : state_->TimeOf(*options.snapshot);
}

Status TtlDb::Show(const TtlFamily& family, uint32_t now, PinnableSlice* value) {
  Slice plain;
  uint32_t stamp = 0;
  if (!SplitStamp(*value, &plain, &stamp)) {
    value->Reset();
    return NoStamp(family.name);
  }
  if (IsExpired(stamp, family.ttl.load(std::memory_order_relaxed), now)) {
    value->Reset();
    return Status::NotFound();
  }
  value->remove_suffix(kStampBytes);
  return Status::OK();
}

Status TtlDb::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  PinnableSlice* value, std::string* timestamp) {
  Status s;
  const TtlFamily* const family = FamilyOf(column_family, &s);
  if (family == nullptr) return s;
  s = db_->Get(options, column_family, key, value, timestamp);
  // The time is read after the value. A compaction drops a value only at a time by which it is
  // expired, and every later reading of the clock is not before that: a reader that finds the value
  // judges it like one that comes after the compaction.
  return s.ok() ? Show(*family, TimeOf(options), value) : s;
}

void TtlDb::MultiGet(const ReadOptions& options, size_t num_keys,
                     ColumnFamilyHandle** column_families, const Slice* keys, PinnableSlice* values,
                     std::string* timestamps, Status* statuses, bool sorted_input) {
  db_->MultiGet(options, num_keys, column_families, keys, values, timestamps, statuses,
                sorted_input);
  uint32_t now = 0;
  for (size_t i = 0; i < num_keys; ++i) {
    if (!statuses[i].ok()) continue;
    // One time judges all keys, and is read only if there is something to judge.
    if (now == 0) now = TimeOf(options);
    const TtlFamily* const family = FamilyOf(column_families[i], &statuses[i]);
    if (family != nullptr) statuses[i] = Show(*family, now, &values[i]);
  }
}

void TtlDb::MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                     const Slice* keys, PinnableSlice* values, std::string* timestamps,
                     Status* statuses, bool sorted_input) {
  db_->MultiGet(options, column_family, num_keys, keys, values, timestamps, statuses, sorted_input);
  uint32_t now = 0;
  for (size_t i = 0; i < num_keys; ++i) {
    if (!statuses[i].ok()) continue;
    if (now == 0) now = TimeOf(options);
    const TtlFamily* const family = FamilyOf(column_family, &statuses[i]);
    if (family != nullptr) statuses[i] = Show(*family, now, &values[i]);
  }
}

// If something is unknown, or fails, the answer is that the key may exist.
bool TtlDb::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, std::string* value, std::string* timestamp,
                        bool* value_found) try {
  if (value_found != nullptr) *value_found = false;
  Status s;
  const TtlFamily* const family = FamilyOf(column_family, &s);
  std::string stored;
  bool found = false;
  // The stored value is always asked for, as the stamp is in it.
  if (!db_->KeyMayExist(options, column_family, key, &stored, timestamp, &found)) return false;
  Slice plain;
  uint32_t stamp = 0;
  if (!found || family == nullptr || !SplitStamp(stored, &plain, &stamp)) return true;
  if (IsExpired(stamp, family->ttl.load(std::memory_order_relaxed), TimeOf(options))) return false;
  if (value != nullptr) {
    value->assign(plain.data(), plain.size());
    if (value_found != nullptr) *value_found = true;
  }
  return true;
} catch (...) {
  return true;
}

Status TtlDb::ShowOperands(const TtlFamily& family, uint32_t now, PinnableSlice* operands,
                           int* count) {
  const int32_t ttl = family.ttl.load(std::memory_order_relaxed);
  const int found = *count;
  TtlChain chain(ttl);
  Status s;
  for (int i = 0; i < found && s.ok(); ++i) {
    if (!chain.Add(operands[i])) s = NoStamp(family.name);
  }
  if (s.ok() && IsExpired(chain.stamp(), ttl, now)) s = Status::NotFound();
  // After an error all operands are released, as if none had been found.
  const int first = s.ok() ? static_cast<int>(chain.first()) : found;
  for (int i = first; i < found; ++i) {
    // Operands before the first live one are left out, and the others move to the front.
    if (first != 0) operands[i - first] = std::move(operands[i]);
    operands[i - first].remove_suffix(kStampBytes);
  }
  for (int i = found - first; i < found; ++i) operands[i].Reset();
  *count = found - first;
  return s;
}

// The operands come with their stamps from the database, and lose them in ShowOperands.
Status TtlDb::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                               const Slice& key, PinnableSlice* operands,
                               GetMergeOperandsOptions* operand_options, int* count) try {
  Status s;
  const TtlFamily* const family = FamilyOf(column_family, &s);
  if (family == nullptr) return s;
  GetMergeOperandsOptions inner;
  GetMergeOperandsOptions* used = operand_options;
  if (operand_options != nullptr && operand_options->continue_cb != nullptr) {
    inner = *operand_options;
    // The callback decides by operands as the program wrote them.
    inner.continue_cb = [&](const Slice& stored) {
      Slice plain;
      uint32_t stamp = 0;
      return operand_options->continue_cb(SplitStamp(stored, &plain, &stamp) ? plain : stored);
    };
    used = &inner;
  }
  s = db_->GetMergeOperands(options, column_family, key, operands, used, count);
  return s.ok() ? ShowOperands(*family, TimeOf(options), operands, count) : s;
} catch (...) {
  return CaughtException();
}

Iterator* TtlDb::NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) try {
  std::vector<Iterator*> iterators;
  const Status s = NewIterators(options, {column_family}, &iterators);
  return s.ok() ? iterators.front() : NewErrorIterator(s);
} catch (...) {
  return NewErrorIterator(CaughtException());
}

// After an error *iterators is unchanged, and the iterators that were made are gone.
Status TtlDb::NewIterators(const ReadOptions& options,
                           const std::vector<ColumnFamilyHandle*>& column_families,
                           std::vector<Iterator*>* iterators) try {
  Status s;
  std::vector<const TtlFamily*> families;
  for (ColumnFamilyHandle* handle : column_families) {
    families.push_back(FamilyOf(handle, &s));
    if (families.back() == nullptr) return s;
  }
  // Stamps are in the values, so values must be loaded.
  ReadOptions loading = options;
  loading.allow_unprepared_value = false;
  std::vector<Iterator*> raw;
  s = db_->NewIterators(loading, column_families, iterators == nullptr ? nullptr : &raw);
  std::vector<std::unique_ptr<Iterator>> bases(raw.begin(), raw.end());
  if (!s.ok()) return s;
  // One time for all iterators of the call.
  const uint32_t now = TimeOf(options);
  std::vector<std::unique_ptr<Iterator>> made;
  for (size_t i = 0; i < bases.size(); ++i) {
    made.push_back(std::make_unique<TtlIterator>(std::move(bases[i]), state_, families[i], now));
  }
  iterators->reserve(made.size());  // nothing can fail after this
  iterators->clear();
  for (std::unique_ptr<Iterator>& iterator : made) iterators->push_back(iterator.release());
  return s;
} catch (...) {
  return CaughtException();
}

// The time is held (TtlState::Hold) before the snapshot is taken, so that no compaction drops
// entries that the snapshot shows. Returns null if the database does, or if there is no memory.
const Snapshot* TtlDb::GetSnapshot() try {
  const TtlState::Holds::iterator hold = state_->Hold();
  const Snapshot* snapshot = nullptr;
  try {
    snapshot = db_->GetSnapshot();
    if (snapshot != nullptr) {
      state_->NoteSnapshot(snapshot, hold);
      return snapshot;
    }
  } catch (...) {
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
  }
  state_->Release(hold);
  return nullptr;
} catch (...) {
  return nullptr;
}

void TtlDb::ReleaseSnapshot(const Snapshot* snapshot) {
  // The hold of the time ends first. Between the two calls a compaction may drop what only this
  // snapshot showed, and the caller has given it up already.
  state_->ForgetSnapshot(snapshot);
  db_->ReleaseSnapshot(snapshot);
}

// ---- Files ----

Status TtlDb::IngestExternalFile(ColumnFamilyHandle* /*column_family*/,
                                 const std::vector<std::string>& /*external_files*/,
                                 const IngestExternalFileOptions& /*options*/) {
  return NoIngestion("IngestExternalFile");
}

Status TtlDb::IngestExternalFiles(const std::vector<IngestExternalFileArg>& /*args*/) {
  return NoIngestion("IngestExternalFiles");
}

Status TtlDb::PrepareFileIngestion(const std::vector<IngestExternalFileArg>& /*args*/,
                                   std::unique_ptr<FileIngestionHandle>* /*handle*/) {
  return NoIngestion("PrepareFileIngestion");
}

}  // namespace varve
