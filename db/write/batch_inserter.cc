// SPDX-License-Identifier: Apache-2.0

// Checks come first and cover everything that could make an insertion fail, because a write that
// has its place in the log must not fail for reasons of its own. Insertion then collects entries of
// one family and hands them to the memtable in groups. Two walks over a batch thus exist, and must
// agree: CheckBatch in the writer's thread, with its errors for the user; and
// BatchInserter::Insert, which also serves replay, where bytes come from a file and damage is
// Corruption. A batch of one update takes neither: CheckBatchRequest parses it once and keeps the
// record in the request.

#include "db/write/batch_inserter.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "db/write/batch_timestamps.h"
#include "db/write/record_encoder.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/key/entity.h"

namespace varve {

namespace {

// Returns OK for records that are inserted or skipped; otherwise an error that names the feature. A
// batch of a program may hold any bytes (WriteBatch(std::string)), and so may a log of another
// writer.
Status CheckType(ValueType type) {
  switch (type) {
    case kTypeDeletion:
    case kTypeValue:
    case kTypeSingleDeletion:
    case kTypeRangeDeletion:
    case kTypeLogData:
    case kTypeNoop:
    case kTypeMerge:
    case kTypeWideColumnEntity:
      return Status::OK();
    case kTypeBlobIndex:
      return Status::NotSupported(
          "write batch: a reference to a blob file, which only flushes and compactions make");
    case kTypeValuePreferredSeqno:
      return Status::NotSupported(
          "write batch: a put with a write time (TimedPut) is not supported");
    case kTypeBeginPrepareXID:
    case kTypeEndPrepareXID:
    case kTypeCommitXID:
    case kTypeRollbackXID:
    case kTypeBeginPersistedPrepareXID:
    case kTypeBeginUnprepareXID:
    case kTypeCommitXIDAndTimestamp:
      return Status::NotSupported(
          "write batch: a mark of two-phase commit; Transaction::Prepare and Commit write these");
    default:
      return Status::Corruption("write batch: a record of type " + std::to_string(type));
  }
}

Status CheckMissing(uint32_t family, const BatchCheckOptions& options) {
  if (options.ignore_missing_families) return Status::OK();
  return Status::InvalidArgument("write batch: no column family has the id " +
                                 std::to_string(family));
}

// Returns the size of the shortest key. Both ends of a range are keys.
size_t ShortestKey(const BatchRecord& record) {
  return record.type == kTypeRangeDeletion ? std::min(record.key.size(), record.value.size())
                                           : record.key.size();
}

Status CheckRange(const BatchRecord& record, const Comparator* comparator,
                  MemTableResolver* resolver) {
  VARVE_RETURN_IF_ERROR(resolver->CheckRangeDeletions(record.column_family));
  const bool reversed = comparator->timestamp_size() == 0
                            ? comparator->Compare(record.key, record.value) > 0
                            : comparator->CompareWithoutTimestamp(record.key, record.value) > 0;
  if (reversed) {
    return Status::InvalidArgument("write batch: a DeleteRange whose end is before its begin");
  }
  return Status::OK();
}

// Checks that keys which were added without a timestamp now have one.
Status CheckAllSet(const WriteBatch& batch, MemTableResolver* resolver) {
  uint32_t family = 0;
  size_t ts_size = 0;
  if (!WriteBatchInternal::HasUnsetTimestamps(batch, &family, &ts_size)) return Status::OK();
  Status s = TimestampSizeError(resolver->NameOf(family), 0, ts_size);
  return Status::CopyAppendMessage(s, "; ", "UpdateTimestamps was not called");
}

// Sets *ts_size to the timestamp size of the family's keys. For a missing family it is that in the
// batch.
Status CheckTimestampSize(uint32_t family, const Comparator* comparator, const WriteBatch* batch,
                          MemTableResolver* resolver, size_t* ts_size) {
  *ts_size = comparator == nullptr ? 0 : comparator->timestamp_size();
  if (batch == nullptr) return Status::OK();
  const size_t given = WriteBatchInternal::TimestampSizeUnless(*batch, family, *ts_size);
  if (comparator == nullptr) {
    *ts_size = given;
    return Status::OK();
  }
  if (given == *ts_size) return Status::OK();
  return TimestampSizeError(resolver->NameOf(family), given, *ts_size);
}

// Checks the key sizes, because adopted bytes, those of WriteBatch(std::string), may hold anything.
Status CheckTimestampedKeys(const BatchRecord& record, size_t ts_size, MemTableResolver* resolver) {
  const size_t shortest = ShortestKey(record);
  if (shortest >= ts_size) return Status::OK();
  return TimestampSizeError(resolver->NameOf(record.column_family), shortest, ts_size);
}

// Checks that no key of a family with timestamps, of which the batch holds `count`, was added
// without one, as by calls without a handle.
Status CheckNoneWithout(uint32_t count, const WriteBatch* batch, MemTableResolver* resolver) {
  if (batch == nullptr || WriteBatchInternal::IsAdopted(*batch) ||
      WriteBatchInternal::TimestampedCount(*batch) == count) {
    return Status::OK();
  }
  const Comparator* const of_default = resolver->ComparatorOf(0);
  Status s = TimestampSizeError(resolver->NameOf(0), 0,
                                of_default == nullptr ? 0 : of_default->timestamp_size());
  return Status::CopyAppendMessage(s, "; ", "without a handle WriteBatch needs default_cf_ts_sz");
}

// Refuses a merge that no operator could apply. As in RocksDB, the code is NotSupported for
// DB::Merge, and InvalidArgument for any batch.
Status CheckMerge(uint32_t family, bool in_batch, MemTableResolver* resolver) {
  if (resolver->HasMergeOperator(family)) return Status::OK();
  const std::string message =
      "write: a merge, and ColumnFamilyOptions::merge_operator of column family " +
      std::to_string(family) + " is not set: provide one when the database is opened";
  return in_batch ? Status::InvalidArgument(message) : Status::NotSupported(message);
}

// Checks an entity, which may come from adopted bytes.
Status CheckEntityOf(const BatchRecord& update, const Comparator* comparator) {
  if (comparator->timestamp_size() != 0) {
    return Status::InvalidArgument("write: an entity, and column family " +
                                   std::to_string(update.column_family) +
                                   " has user timestamps, with which there are no entities");
  }
  return CheckEntity(update.value);
}

// Checks an update of an open family.
Status CheckContent(const BatchRecord& update, bool in_batch, const Comparator* comparator,
                    MemTableResolver* resolver) {
  if (update.type == kTypeMerge) return CheckMerge(update.column_family, in_batch, resolver);
  if (update.type == kTypeWideColumnEntity) return CheckEntityOf(update, comparator);
  return update.type == kTypeRangeDeletion ? CheckRange(update, comparator, resolver)
                                           : Status::OK();
}

// True if a batch, which may hold anything, is one valid record that a memtable takes. Requires the
// header's count, the one record and the end of the bytes to agree, so that the fast way accepts
// nothing that CheckBatch would refuse. It leaves batches with timestamps, and those of unusual
// size, to CheckBatch.
bool IsOneUpdate(const WriteRequest& request, BatchRecord* update) {
  if (request.count() != 1) return false;
  if (request.bytes() < kBatchHeaderBytes || request.bytes() > kWriteBytesMax) return false;
  if (WriteBatchInternal::HasTimestamps(*request.batch())) return false;
  BatchReader reader(request.head(), kBatchHeaderBytes);
  if (!reader.Next(update) || reader.offset() != request.bytes()) return false;
  return update->counted && CheckType(update->type).ok();
}

// Adds the merge as an operand, or as the value that results from it.
Status AddMerge(const BatchRecord& merge, SequenceNumber sequence, MemTableResolver* resolver,
                MemTable* mem) {
  try {
    std::string folded;
    ValueForm form = ValueForm::kPlain;
    if (resolver->FoldMerge(merge.column_family, sequence, merge.key, merge.value, &folded,
                            &form)) {
      const ValueType type = form == ValueForm::kEntity ? kTypeWideColumnEntity : kTypeValue;
      Status s = mem->Add(sequence, type, merge.key, folded);
      // The folded value may be too large for a table although each operand fits, or there was no
      // memory for it; then the operand is added as if there were no folding.
      if (!s.IsInvalidArgument() && !s.IsMemoryLimit()) return s;
    }
  } catch (const std::bad_alloc&) {
    // The operand alone takes less space.
  }
  return mem->Add(sequence, kTypeMerge, merge.key, merge.value);
}

// Approximate limit of the pending bytes, so that a full memtable is noticed in time.
constexpr size_t kBytesTogether = 8 << 10;

}  // namespace

// Looks a family up only when it differs from that of the record before, as batches mostly have
// runs of one family. The comparator is null for a missing family that is ignored: its records are
// checked for structure, and nothing that needs the family.
Status CheckBatch(const Slice& rep, MemTableResolver* resolver, const BatchCheckOptions& options,
                  const WriteBatch* batch) {
  BatchReader reader(rep);
  BatchRecord record;
  bool known = false;  // True if comparator is that of family.
  bool may_merge = false;
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  size_t ts_size = 0;
  uint32_t timestamped = 0;
  const bool batch_has = batch != nullptr && WriteBatchInternal::HasTimestamps(*batch);
  // Only adopted bytes can be too large; added records were checked.
  const bool may_be_too_large = rep.size() > kWriteBytesMax;
  if (batch_has && !options.unset_timestamps) [[unlikely]]
    VARVE_RETURN_IF_ERROR(CheckAllSet(*batch, resolver));
  while (reader.Next(&record)) {
    if (record.type != kTypeValue && record.type != kTypeDeletion) {
      VARVE_RETURN_IF_ERROR(CheckType(record.type));
    }
    if (!record.counted) continue;
    if (may_be_too_large) [[unlikely]] {
      VARVE_RETURN_IF_ERROR(CheckRecordSizes(record.key.size(), record.value.size()));
    }
    if (!known || record.column_family != family) {
      known = true;
      may_merge = false;
      family = record.column_family;
      comparator = resolver->ComparatorOf(family);
      if (comparator == nullptr) VARVE_RETURN_IF_ERROR(CheckMissing(family, options));
      const bool family_has = comparator != nullptr && comparator->timestamp_size() != 0;
      ts_size = 0;
      if (batch_has || family_has) [[unlikely]] {
        VARVE_RETURN_IF_ERROR(CheckTimestampSize(family, comparator, batch, resolver, &ts_size));
      }
    }
    if (ts_size != 0) [[unlikely]] {
      timestamped++;
      VARVE_RETURN_IF_ERROR(CheckTimestampedKeys(record, ts_size, resolver));
    }
    if (record.type == kTypeRangeDeletion && comparator != nullptr) {
      VARVE_RETURN_IF_ERROR(CheckRange(record, comparator, resolver));
    }
    if (record.type == kTypeWideColumnEntity && comparator != nullptr) {
      VARVE_RETURN_IF_ERROR(CheckEntityOf(record, comparator));
    }
    if (record.type == kTypeMerge && comparator != nullptr && !may_merge) {
      VARVE_RETURN_IF_ERROR(CheckMerge(family, /*in_batch=*/true, resolver));
      may_merge = true;
    }
  }
  // The reader's own verdict comes first: after damage, `timestamped` counts only the records
  // before it.
  if (timestamped == 0) [[likely]]
    return reader.status();
  VARVE_RETURN_IF_ERROR(reader.status());
  return CheckNoneWithout(timestamped, batch, resolver);
}

Status CheckUpdate(const WriteRequest& request, MemTableResolver* resolver,
                   const BatchCheckOptions& options) {
  VARVE_ASSERT(request.update() != nullptr);
  const BatchRecord& update = *request.update();
  const Comparator* const comparator = resolver->ComparatorOf(update.column_family);
  if (comparator == nullptr) return CheckMissing(update.column_family, options);
  if (comparator->timestamp_size() != request.ts_bytes()) [[unlikely]] {
    return TimestampSizeError(resolver->NameOf(update.column_family), request.ts_bytes(),
                              comparator->timestamp_size());
  }
  return CheckContent(update, /*in_batch=*/false, comparator, resolver);
}

// The fast way is for a batch of one update; every other batch, and every doubt, takes CheckBatch.
Status CheckBatchRequest(WriteRequest* request, MemTableResolver* resolver,
                         const BatchCheckOptions& options) {
  BatchRecord update;
  if (IsOneUpdate(*request, &update)) {
    const Comparator* const comparator = resolver->ComparatorOf(update.column_family);
    if (comparator != nullptr && comparator->timestamp_size() == 0) {
      request->SetUpdate(update);
      return CheckContent(update, /*in_batch=*/true, comparator, resolver);
    }
  }
  return CheckBatch(request->head(), resolver, options, request->batch());
}

// Pending entries are slices into `rep`: no key or value is copied before the memtable's arena. The
// number of a record is used up before anything decides whether it is inserted, since replay must
// number the rest of the batch as the first write did, even if a family is gone.
Status BatchInserter::Insert(const Slice& rep, SequenceNumber sequence,
                             SequenceNumber* next_sequence) {
  BatchReader reader(rep);
  BatchRecord record;
  while (reader.Next(&record)) {
    if (!record.counted) {
      VARVE_RETURN_IF_ERROR(CheckType(record.type));
      continue;
    }
    const SequenceNumber own_sequence = sequence++;
    *next_sequence = sequence;
    if (size_ == MemTable::kAddedTogether || bytes_ >= kBytesTogether) {
      VARVE_RETURN_IF_ERROR(Flush());
    }
    // The pending entries are for the old memtable, so they go there before mem_ changes.
    if (!known_ || record.column_family != family_) {
      VARVE_RETURN_IF_ERROR(Flush());
      known_ = true;
      family_ = record.column_family;
      mem_ = resolver_->IsAlreadyInTables(family_) ? nullptr : resolver_->Find(family_);
      ts_size_ = mem_ != nullptr ? mem_->timestamp_size() : 0;
    }
    // The family was dropped, or its tables contain the record already.
    if (mem_ == nullptr) continue;
    if (record.type != kTypeValue && record.type != kTypeDeletion) {
      VARVE_RETURN_IF_ERROR(CheckType(record.type));
    }
    if (ts_size_ != 0 && ShortestKey(record) < ts_size_) [[unlikely]] {
      return Status::Corruption("write batch: a key of column family " +
                                resolver_->NameOf(family_) + " is shorter than its timestamp");
    }
    // Folding reads the key's newest value, which may still be pending here; so it is inserted
    // alone, after them.
    if (record.type == kTypeMerge && resolver_->FoldsMerges(family_)) {
      VARVE_RETURN_IF_ERROR(InsertMerge(record, own_sequence));
      continue;
    }
    VARVE_ASSERT(size_ < MemTable::kAddedTogether);
    const ValueType type = TypeInMemTable(record.type, ts_size_);
    std::construct_at(run_ + size_++, MemTableEntry{own_sequence, type, record.key, record.value});
    bytes_ += record.key.size() + record.value.size();
  }
  return reader.status();
}

Status BatchInserter::InsertMerge(const BatchRecord& record, SequenceNumber sequence) {
  VARVE_ASSERT(record.type == kTypeMerge && mem_ != nullptr);
  MemTable* const mem = mem_;
  VARVE_RETURN_IF_ERROR(Flush());
  VARVE_RETURN_IF_ERROR(AddMerge(record, sequence, resolver_, mem));
  inserted_++;
  return Status::OK();
}

Status BatchInserter::Flush() {
  known_ = false;
  if (size_ == 0) return Status::OK();
  VARVE_ASSERT(mem_ != nullptr);
  // The members say "nothing pending" before the call, whose error ends the batch.
  const std::span<const MemTableEntry> entries(run_, size_);
  size_ = 0;
  bytes_ = 0;
  VARVE_RETURN_IF_ERROR(mem_->Add(entries));
  inserted_ += entries.size();
  return Status::OK();
}

Status InsertBatch(const Slice& rep, SequenceNumber sequence, MemTableResolver* resolver,
                   BatchInsertResult* result) {
  BatchInserter inserter(resolver);
  result->next_sequence = sequence;
  Status s = inserter.Insert(rep, sequence, &result->next_sequence);
  // Records before the damage are inserted, as they are when a batch has more entries than can be
  // pending.
  Status flushed = inserter.Flush();
  result->inserted = inserter.inserted();
  return s.ok() ? flushed : s;
}

// An update of a family that does not exist any more uses its number and is skipped.
Status InsertUpdate(const BatchRecord& update, SequenceNumber sequence, MemTableResolver* resolver,
                    BatchInsertResult* result) {
  VARVE_ASSERT(update.counted);
  result->next_sequence = sequence + 1;
  result->inserted = 0;
  MemTable* const mem = resolver->Find(update.column_family);
  if (mem == nullptr) return Status::OK();
  VARVE_RETURN_IF_ERROR(update.type == kTypeMerge
                            ? AddMerge(update, sequence, resolver, mem)
                            : mem->Add(sequence, update.type, update.key, update.value));
  result->inserted = 1;
  return Status::OK();
}

}  // namespace varve
