// SPDX-License-Identifier: Apache-2.0

// A table of all tags says what follows each: a family's id or none, one string, two, or nothing,
// and whether the record counts in the header. So one switch over these forms parses every type. A
// tag that is not in the table, and a length that exceeds the bytes, end the walk with Corruption.

#include "db/write/batch_reader.h"

#include <string>

#include "util/coding/fixed.h"
#include "util/coding/varint.h"

namespace varve {

namespace {

// The payload after a tag.
enum Shape : uint8_t {
  kUnknown = 0,
  kKey,       // One string.
  kKeyValue,  // Two strings.
  kName,      // One string; uses no sequence number.
  kTwoNames,  // Two strings; uses no sequence number.
  kNothing,   // No payload, no sequence number.
};

struct Tag {
  Shape shape = kUnknown;
  bool has_family = false;
  ValueType folded = kTypeMax;  // Type of the record without its family.
};

struct TagTable {
  Tag tags[kTypeMaxValid];

  constexpr TagTable() {
    tags[kTypeDeletion] = {kKey, false, kTypeDeletion};
    tags[kTypeValue] = {kKeyValue, false, kTypeValue};
    tags[kTypeMerge] = {kKeyValue, false, kTypeMerge};
    tags[kTypeLogData] = {kName, false, kTypeLogData};
    tags[kTypeColumnFamilyDeletion] = {kKey, true, kTypeDeletion};
    tags[kTypeColumnFamilyValue] = {kKeyValue, true, kTypeValue};
    tags[kTypeColumnFamilyMerge] = {kKeyValue, true, kTypeMerge};
    tags[kTypeSingleDeletion] = {kKey, false, kTypeSingleDeletion};
    tags[kTypeColumnFamilySingleDeletion] = {kKey, true, kTypeSingleDeletion};
    tags[kTypeBeginPrepareXID] = {kNothing, false, kTypeBeginPrepareXID};
    tags[kTypeEndPrepareXID] = {kName, false, kTypeEndPrepareXID};
    tags[kTypeCommitXID] = {kName, false, kTypeCommitXID};
    tags[kTypeRollbackXID] = {kName, false, kTypeRollbackXID};
    tags[kTypeNoop] = {kNothing, false, kTypeNoop};
    tags[kTypeColumnFamilyRangeDeletion] = {kKeyValue, true, kTypeRangeDeletion};
    tags[kTypeRangeDeletion] = {kKeyValue, false, kTypeRangeDeletion};
    tags[kTypeColumnFamilyBlobIndex] = {kKeyValue, true, kTypeBlobIndex};
    tags[kTypeBlobIndex] = {kKeyValue, false, kTypeBlobIndex};
    tags[kTypeBeginPersistedPrepareXID] = {kNothing, false, kTypeBeginPersistedPrepareXID};
    tags[kTypeBeginUnprepareXID] = {kNothing, false, kTypeBeginUnprepareXID};
    tags[kTypeCommitXIDAndTimestamp] = {kTwoNames, false, kTypeCommitXIDAndTimestamp};
    tags[kTypeWideColumnEntity] = {kKeyValue, false, kTypeWideColumnEntity};
    tags[kTypeColumnFamilyWideColumnEntity] = {kKeyValue, true, kTypeWideColumnEntity};
    tags[kTypeValuePreferredSeqno] = {kKeyValue, false, kTypeValuePreferredSeqno};
    tags[kTypeColumnFamilyValuePreferredSeqno] = {kKeyValue, true, kTypeValuePreferredSeqno};
  }
};

constexpr TagTable kTags;

// Gets the string at `p` and returns its end; null if it does not end before `limit`.
const char* TakeString(const char* p, const char* limit, Slice* result) {
  uint32_t n = 0;
  p = GetVarint32Ptr(p, limit, &n);
  if (p == nullptr || n > static_cast<size_t>(limit - p)) return nullptr;
  *result = Slice(p, n);
  return p + n;
}

std::string At(const char* record, const char* begin) {
  return " at offset " + std::to_string(record - begin);
}

}  // namespace

BatchReader::BatchReader(const Slice& rep) : input_(rep), begin_(rep.data()) {
  if (rep.size() < kBatchHeaderBytes) {
    status_ = Status::Corruption("write batch: " + std::to_string(rep.size()) +
                                 " bytes, less than its header");
    input_.clear();
    return;
  }
  sequence_ = DecodeFixed64(begin_);
  count_ = DecodeFixed32(begin_ + 8);
  input_.remove_prefix(kBatchHeaderBytes);
}

// Parses one record by the shape of its tag. Every length is checked against the bytes that are
// left. After damage the input is empty, so later calls return false with the same status.
bool BatchReader::Next(BatchRecord* record) {
  if (input_.empty()) {
    if (seen_ != count_ && status_.ok()) {
      status_ = Status::Corruption("write batch: its header counts " + std::to_string(count_) +
                                   " updates, it holds " + std::to_string(seen_));
    }
    return false;
  }
  const char* const start = input_.data();
  const char* const limit = start + input_.size();
  const auto byte = static_cast<uint8_t>(*start);
  // A byte that is no tag has shape kUnknown in the table as well as above it.
  const Tag tag = byte < kTypeMaxValid ? kTags.tags[byte] : Tag{};
  const char* p = start + 1;
  record->type = tag.folded;
  record->column_family = 0;
  record->counted = tag.shape == kKey || tag.shape == kKeyValue;
  record->value = Slice();
  if (tag.has_family) p = GetVarint32Ptr(p, limit, &record->column_family);
  switch (tag.shape) {
    case kKeyValue:
    case kTwoNames:
      if (p != nullptr) p = TakeString(p, limit, &record->key);
      if (p != nullptr) p = TakeString(p, limit, &record->value);
      break;
    case kKey:
    case kName:
      if (p != nullptr) p = TakeString(p, limit, &record->key);
      break;
    case kNothing:
      record->key = Slice();
      break;
    case kUnknown:
      status_ = Status::Corruption("write batch: unknown tag " + std::to_string(byte) +
                                   At(start, begin_));
      input_.clear();
      return false;
  }
  if (p == nullptr) [[unlikely]] {
    status_ = Status::Corruption("write batch: a record of tag " + std::to_string(byte) +
                                 " does not fit" + At(start, begin_));
    input_.clear();
    return false;
  }
  seen_ += record->counted ? 1 : 0;
  input_ = Slice(p, static_cast<size_t>(limit - p));
  return true;
}

Status CheckBatchStructure(const Slice& rep, bool* has_marks) {
  BatchReader reader(rep);
  BatchRecord record;
  bool marks = false;
  bool ends_with_nothing = false;
  while (reader.Next(&record)) {
    if (!record.counted) marks |= IsTwoPhaseMark(record.type);
    // WRITE_PREPARED ends a plain batch with a no-op record (two_phase_records.cc), so such a batch
    // must be split, too.
    ends_with_nothing = record.type == kTypeNoop;
  }
  if (has_marks != nullptr) *has_marks = marks || (ends_with_nothing && reader.count() != 0);
  return reader.status();
}

}  // namespace varve
