// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_batch.h"

#include "db/ttl/ttl_stamp.h"
#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Appends one record to `dst`, with the stamp behind its value if it has a lifetime.
Status AddStamped(const BatchRecord& record, const Slice& stamp, WriteBatch* dst) {
  const Slice value[] = {record.value, stamp};
  switch (record.type) {
    // Values and merge operands get a stamp. Deletions need none, as they do not expire.
    case kTypeValue:
    case kTypeMerge:
      return WriteBatchInternal::AddRecord(dst, record.type, record.column_family,
                                           SliceParts(&record.key, 1), SliceParts(value, 2));
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeRangeDeletion:
      return WriteBatchInternal::AddRecord(dst, record.type, record.column_family,
                                           SliceParts(&record.key, 1),
                                           SliceParts(&record.value, 1));
    case kTypeLogData:
      return dst->PutLogData(record.key);
    case kTypeNoop:
      return Status::OK();
    default:
      return Status::NotSupported("DBWithTTL::Write",
                                  "a batch with records of type " +
                                      std::to_string(static_cast<int>(record.type)) +
                                      ": lifetimes are of plain values and merge operands");
  }
}

}  // namespace

// The copy is made record by record, since the stamps make the values longer. A batch that is
// refused has changed nothing but `dst`.
Status StampBatch(const WriteBatch& batch, uint32_t stamp, WriteBatch* dst) {
  if (WriteBatchInternal::HasTimestamps(batch)) {
    return Status::InvalidArgument("DBWithTTL::Write",
                                   "the batch has keys with user timestamps, which no column "
                                   "family of a database with lifetimes has");
  }
  // The whole batch is checked before its first record is copied: bytes may come from outside (a
  // batch that was made from a string).
  VARVE_RETURN_IF_ERROR(CheckBatchStructure(batch.Data()));
  // The records of the copy differ from those that were protected, so they get checksums of their
  // own.
  if (WriteBatchInternal::HasChecksums(batch)) {
    VARVE_RETURN_IF_ERROR(WriteBatchInternal::Protect(dst));
  }
  char bytes[kStampBytes];
  EncodeFixed<uint32_t>(bytes, stamp);
  BatchReader reader(batch.Data());
  BatchRecord record;
  while (reader.Next(&record)) {
    VARVE_RETURN_IF_ERROR(AddStamped(record, Slice(bytes, sizeof(bytes)), dst));
  }
  return reader.status();
}

}  // namespace varve
