// SPDX-License-Identifier: Apache-2.0

// A log has the timestamp sizes of the families when it was written. If a family's size has changed
// since, records are rewritten while they are replayed: timestamps are removed, or the smallest
// ones are added.

#include "db/recovery/timestamp_adapter.h"

#include <algorithm>

#include "db/column_family/column_family.h"
#include "db/write/batch_reader.h"
#include "db/write/record_encoder.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Returns true if the record has a key, and perhaps a range's end, that may have a timestamp.
bool HasKey(ValueType type) {
  return FamilyTag(type) != kTypeMax;
}

void AppendString(const Slice& string, std::string* out) {
  PutVarint32(out, static_cast<uint32_t>(string.size()));
  out->append(string.data(), string.size());
}

}  // namespace

std::map<uint32_t, FamilyTimestamps> TimestampsOf(const ColumnFamilySet& families) {
  std::map<uint32_t, FamilyTimestamps> result;
  for (const auto& [id, family] : families.all()) {
    result[id] = FamilyTimestamps{family->name(), family->icmp().timestamp_size(),
                                  family->versions()->persist_timestamps};
  }
  return result;
}

// A log of an older writer has no sizes at all, and treating them as 0 would be wrong for every
// family with timestamps. So a family that persists timestamps and has no size in the log is only
// checked for keys that are too short.
void TimestampAdapter::FindChanges(const wal::TimestampSizes& recorded) {
  recorded_count_ = recorded.size();
  changes_.clear();
  unrecorded_.clear();
  for (const auto& [id, family] : families_) {
    const auto found = recorded.find(id);
    const bool is_recorded = found != recorded.end() || VARVE_CANARY(kUnrecordedHasNone);
    if (!is_recorded && family.size != 0 && family.persisted) {
      unrecorded_.insert(id);
      continue;
    }
    const size_t size = found == recorded.end() ? 0 : found->second;
    if (size != family.size) changes_[id] = Change{size, family.size};
  }
}

Status TimestampAdapter::CheckUnrecorded(const BatchRecord& record) const {
  const FamilyTimestamps& family = families_.at(record.column_family);
  size_t bytes = record.key.size();
  if (record.type == kTypeRangeDeletion) bytes = std::min(bytes, record.value.size());
  if (bytes >= family.size) return Status::OK();
  return Status::InvalidArgument(
      "column family " + family.name + " has timestamps of " + std::to_string(family.size) +
      " bytes, and the log, which does not say how long they were when it was written, has a key "
      "of " +
      std::to_string(bytes) +
      " bytes; nothing was changed. Flush the database with the version that wrote it, then open "
      "it here");
}

// Most batches have no key of a changed family, which is determined without a copy.
Status TimestampAdapter::Adapt(const Slice& batch, const wal::TimestampSizes& recorded,
                               std::string* scratch, Slice* result) {
  *result = batch;
  // Sizes are only added while a log is read, so a changed number means that there are new ones.
  if (recorded.size() != recorded_count_) FindChanges(recorded);
  if (changes_.empty() && unrecorded_.empty()) return Status::OK();
  BatchReader reader(batch);
  BatchRecord record;
  bool any = false;
  while (reader.Next(&record)) {
    if (!HasKey(record.type)) continue;
    if (unrecorded_.contains(record.column_family)) VARVE_RETURN_IF_ERROR(CheckUnrecorded(record));
    any |= changes_.contains(record.column_family);
  }
  if (!any) return Status::OK();
  scratch->clear();
  VARVE_RETURN_IF_ERROR(Rewrite(batch, scratch));
  *result = *scratch;
  return Status::OK();
}

// Copies the batch record by record. The number of updates and their order do not change. `out` is
// undefined after an error.
Status TimestampAdapter::Rewrite(const Slice& batch, std::string* out) const {
  VARVE_ASSERT(out->empty() && batch.size() >= kBatchHeaderBytes);
  out->append(batch.data(), kBatchHeaderBytes);
  BatchReader reader(batch);
  BatchRecord record;
  for (size_t at = reader.offset(); reader.Next(&record); at = reader.offset()) {
    const auto found = changes_.find(record.column_family);
    if (!HasKey(record.type) || found == changes_.end()) {
      out->append(batch.data() + at, reader.offset() - at);
      continue;
    }
    const Change& change = found->second;
    if (change.from != 0 && change.to != 0) return Refusal(found->first, change);
    const bool range = record.type == kTypeRangeDeletion;
    const bool short_key = record.key.size() < change.from;
    if (short_key || (range && record.value.size() < change.from)) {
      const size_t bytes = short_key ? record.key.size() : record.value.size();
      return Status::Corruption("write batch: a key of " + std::to_string(bytes) +
                                " bytes in column family " + families_.at(found->first).name +
                                ", which has timestamps of " + std::to_string(change.from) +
                                " in the log");
    }
    std::string key;
    AppendChanged(record.key, change, &key);
    char start[kRecordStartMax];
    const char* const end = EncodeRecordStart(start, record.type, record.column_family,
                                              static_cast<uint32_t>(key.size()));
    out->append(start, static_cast<size_t>(end - start)).append(key);
    if (range) {
      key.clear();
      AppendChanged(record.value, change, &key);
      AppendString(key, out);
    } else if (RecordHasValue(record.type)) {
      AppendString(record.value, out);
    }
  }
  return reader.status();
}

void TimestampAdapter::AppendChanged(const Slice& key, const Change& change, std::string* out) {
  VARVE_ASSERT((change.from == 0) != (change.to == 0) && key.size() >= change.from);
  out->append(key.data(), key.size() - change.from).append(change.to, '\0');
}

Status TimestampAdapter::Refusal(uint32_t family, const Change& change) const {
  return Status::InvalidArgument("column family " + families_.at(family).name +
                                 " has timestamps of " + std::to_string(change.to) +
                                 " bytes, but was written with timestamps of " +
                                 std::to_string(change.from) + " bytes");
}

}  // namespace varve
