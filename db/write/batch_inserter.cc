// SPDX-License-Identifier: Apache-2.0
#include "db/write/batch_inserter.h"

#include <string>

#include "util/base/status_macros.h"

namespace varve {

namespace {

// OK for records that are inserted or skipped; else what is missing.
Status CheckType(ValueType type) {
  switch (type) {
    case kTypeDeletion:
    case kTypeValue:
    case kTypeSingleDeletion:
    case kTypeRangeDeletion:
    case kTypeLogData:
    case kTypeNoop:
      return Status::OK();
    case kTypeMerge:
      return Status::NotSupported(
          "write batch: a merge, and merge_operator is not supported by this version");
    case kTypeBlobIndex:
      return Status::NotSupported(
          "write batch: a blob reference, and enable_blob_files is not supported");
    case kTypeWideColumnEntity:
      return Status::NotSupported("write batch: a wide-column entity (PutEntity) is not supported");
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
          "write batch: a mark of two-phase commit, and allow_2pc is not supported");
    default:
      return Status::Corruption("write batch: a record of type " + std::to_string(type));
  }
}

}  // namespace

Status CheckBatch(const Slice& rep, MemTableResolver* resolver, const BatchCheckOptions& options) {
  BatchReader reader(rep);
  BatchRecord record;
  bool known = false;  // whether `comparator` is that of `family`
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  while (reader.Next(&record)) {
    if (record.type != kTypeValue && record.type != kTypeDeletion) {
      VARVE_RETURN_IF_ERROR(CheckType(record.type));
    }
    if (!record.counted) continue;
    if (!known || record.column_family != family) {
      known = true;
      family = record.column_family;
      comparator = resolver->ComparatorOf(family);
      if (comparator == nullptr && !options.ignore_missing_families) {
        return Status::InvalidArgument("write batch: no column family has the id " +
                                       std::to_string(family));
      }
    }
    if (record.type == kTypeRangeDeletion && comparator != nullptr &&
        comparator->Compare(record.key, record.value) > 0) {
      return Status::InvalidArgument("write batch: a DeleteRange whose end is before its begin");
    }
  }
  return reader.status();
}

Status InsertBatch(const Slice& rep, SequenceNumber sequence, MemTableResolver* resolver,
                   BatchInsertResult* result) {
  BatchReader reader(rep);
  BatchRecord record;
  bool known = false;  // whether `mem` is that of `family`
  uint32_t family = 0;
  MemTable* mem = nullptr;
  uint64_t inserted = 0;
  while (reader.Next(&record)) {
    if (!record.counted) {
      VARVE_RETURN_IF_ERROR(CheckType(record.type));
      continue;
    }
    const SequenceNumber own_sequence = sequence++;
    if (!known || record.column_family != family) {
      known = true;
      family = record.column_family;
      mem = resolver->IsAlreadyInTables(family) ? nullptr : resolver->Find(family);
    }
    if (mem == nullptr) continue;
    if (record.type != kTypeValue && record.type != kTypeDeletion) {
      VARVE_RETURN_IF_ERROR(CheckType(record.type));
    }
    VARVE_RETURN_IF_ERROR(mem->Add(own_sequence, record.type, record.key, record.value));
    inserted++;
  }
  result->next_sequence = sequence;
  result->inserted = inserted;
  return reader.status();
}

}  // namespace varve
