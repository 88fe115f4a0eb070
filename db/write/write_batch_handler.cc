// SPDX-License-Identifier: Apache-2.0

// Iterates over a batch: the default methods of Handler, and the call for each record.

#include <string>

#include "varve/write_batch.h"

#include "db/write/write_batch_internal.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

Status NoFamilies(const char* call) {
  return Status::InvalidArgument(
      "batch handler: an update of another column family than the default one, and no", call);
}

Status NotHandled(const char* call) {
  return Status::InvalidArgument("batch handler: does not implement", call);
}

}  // namespace

WriteBatch::Handler::~Handler() = default;

// RocksDB's defaults: a handler that overrides only the calls without a family works for batches of
// the default one, and fails loudly at the first update of another.
Status WriteBatch::Handler::PutCF(uint32_t column_family_id, const Slice& key, const Slice& value) {
  if (column_family_id != 0) return NoFamilies("PutCF");
  Put(key, value);
  return Status::OK();
}

Status WriteBatch::Handler::DeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return NoFamilies("DeleteCF");
  Delete(key);
  return Status::OK();
}

Status WriteBatch::Handler::SingleDeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return NoFamilies("SingleDeleteCF");
  SingleDelete(key);
  return Status::OK();
}

Status WriteBatch::Handler::MergeCF(uint32_t column_family_id, const Slice& key,
                                    const Slice& value) {
  if (column_family_id != 0) return NoFamilies("MergeCF");
  Merge(key, value);
  return Status::OK();
}

void WriteBatch::Handler::Put(const Slice& /*key*/, const Slice& /*value*/) {}
void WriteBatch::Handler::Delete(const Slice& /*key*/) {}
void WriteBatch::Handler::SingleDelete(const Slice& /*key*/) {}
void WriteBatch::Handler::Merge(const Slice& /*key*/, const Slice& /*value*/) {}
void WriteBatch::Handler::LogData(const Slice& /*blob*/) {}
bool WriteBatch::Handler::Continue() {
  return true;
}

Status WriteBatch::Handler::DeleteRangeCF(uint32_t /*column_family_id*/, const Slice& /*begin_key*/,
                                          const Slice& /*end_key*/) {
  return NotHandled("DeleteRangeCF");
}

Status WriteBatch::Handler::PutBlobIndexCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                                           const Slice& /*value*/) {
  return NotHandled("PutBlobIndexCF");
}

Status WriteBatch::Handler::PutEntityCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                                        const Slice& /*entity*/) {
  return Status::NotSupported("batch handler: does not implement", "PutEntityCF");
}

Status WriteBatch::Handler::TimedPutCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                                       const Slice& /*value*/, uint64_t /*write_time*/) {
  return Status::NotSupported("batch handler: does not implement", "TimedPutCF");
}

Status WriteBatch::Handler::MarkBeginPrepare(bool /*unprepared*/) {
  return NotHandled("MarkBeginPrepare");
}

Status WriteBatch::Handler::MarkEndPrepare(const Slice& /*xid*/) {
  return NotHandled("MarkEndPrepare");
}

Status WriteBatch::Handler::MarkNoop(bool /*empty_batch*/) {
  return NotHandled("MarkNoop");
}

Status WriteBatch::Handler::MarkRollback(const Slice& /*xid*/) {
  return NotHandled("MarkRollback");
}

Status WriteBatch::Handler::MarkCommit(const Slice& /*xid*/) {
  return NotHandled("MarkCommit");
}

Status WriteBatch::Handler::MarkCommitWithTimestamp(const Slice& /*xid*/,
                                                    const Slice& /*commit_ts*/) {
  return NotHandled("MarkCommitWithTimestamp");
}

namespace {

// The value of such a record ends with the write time, of eight bytes.
Status HandleTimedPut(const BatchRecord& record, WriteBatch::Handler* handler) {
  if (record.value.size() < sizeof(uint64_t)) {
    return Status::Corruption("write batch: a put with a write time that lacks it");
  }
  const Slice value(record.value.data(), record.value.size() - sizeof(uint64_t));
  return handler->TimedPutCF(record.column_family, record.key, value,
                             DecodeFixed64(value.data() + value.size()));
}

// `empty`: no counted update stands between the last mark of two-phase commit, or the batch's
// start, and this record.
Status Handle(const BatchRecord& record, bool empty, WriteBatch::Handler* handler) {
  const uint32_t family = record.column_family;
  switch (record.type) {
    case kTypeValue:
      return handler->PutCF(family, record.key, record.value);
    case kTypeDeletion:
      return handler->DeleteCF(family, record.key);
    case kTypeSingleDeletion:
      return handler->SingleDeleteCF(family, record.key);
    case kTypeRangeDeletion:
      return handler->DeleteRangeCF(family, record.key, record.value);
    case kTypeMerge:
      return handler->MergeCF(family, record.key, record.value);
    case kTypeBlobIndex:
      return handler->PutBlobIndexCF(family, record.key, record.value);
    case kTypeWideColumnEntity:
      return handler->PutEntityCF(family, record.key, record.value);
    case kTypeValuePreferredSeqno:
      return HandleTimedPut(record, handler);
    case kTypeLogData:
      handler->LogData(record.key);
      return Status::OK();
    case kTypeBeginPrepareXID:
    case kTypeBeginPersistedPrepareXID:
      return handler->MarkBeginPrepare(/*unprepared=*/false);
    case kTypeBeginUnprepareXID:
      return handler->MarkBeginPrepare(/*unprepared=*/true);
    case kTypeEndPrepareXID:
      return handler->MarkEndPrepare(record.key);
    case kTypeCommitXID:
      return handler->MarkCommit(record.key);
    case kTypeCommitXIDAndTimestamp:
      // The timestamp comes first in the record (two_phase_records.cc).
      return handler->MarkCommitWithTimestamp(record.value, record.key);
    case kTypeRollbackXID:
      return handler->MarkRollback(record.key);
    case kTypeNoop:
      return handler->MarkNoop(empty);
    default:
      return Status::Corruption("write batch: a record of type " + std::to_string(record.type));
  }
}

}  // namespace

// Ends early, with OK, when the handler does not want to continue: what follows is then not
// checked.
Status WriteBatch::Iterate(Handler* handler) const {
  BatchReader reader(rep_);
  BatchRecord record;
  bool empty = true;
  while (handler->Continue()) {
    if (!reader.Next(&record)) return reader.status();
    VARVE_RETURN_IF_ERROR(Handle(record, empty, handler));
    // Log data leaves the count as it is. Any other uncounted record starts it anew.
    if (record.type != kTypeLogData) empty = !record.counted;
  }
  return Status::OK();
}

}  // namespace varve
