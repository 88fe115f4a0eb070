// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_request.h"

#include <cassert>
#include <cstring>

#include "db/write/record_encoder.h"
#include "util/base/assert.h"

namespace varve {

// Encodes the header, the tag, the key and the value's length into one buffer, which is in the
// object unless the key is long. The value stays where the caller has it. update_ then points into
// the buffer, and has the type that a memtable takes.
WriteRequest::WriteRequest(Slice key, Slice value, ValueType type, uint32_t column_family,
                           const Slice& ts)
    : batch_(nullptr),
      has_update_(true),
      header_(inline_head_),
      ts_bytes_(static_cast<uint32_t>(ts.size())) {
  VARVE_ASSERT(RecordHasValue(type) || value.empty());
  VARVE_ASSERT(type != kTypeRangeDeletion || ts.empty());
  const size_t key_bytes = key.size() + ts.size();
  const size_t most = kBatchHeaderBytes + kRecordStartMax + key_bytes + kMaxVarint32Length;
  if (most > kInlineBytes) [[unlikely]] {
    long_head_ = std::make_unique_for_overwrite<char[]>(most);
    header_ = long_head_.get();
  }
  EncodeFixed64(header_, 0);
  EncodeFixed32(header_ + 8, count_);
  char* end = EncodeRecordStart(header_ + kBatchHeaderBytes, type, column_family,
                                static_cast<uint32_t>(key_bytes));
  update_.type = type;
  update_.column_family = column_family;
  update_.key = Slice(end, key_bytes);
  // Callers may pass a null pointer for an empty value; later code must not see one.
  if (!value.empty()) update_.value = value;
  if (!key.empty()) std::memcpy(end, key.data(), key.size());
  if (!ts.empty()) [[unlikely]] {
    std::memcpy(end + key.size(), ts.data(), ts.size());
    update_.type = TypeInMemTable(type, ts.size());
  }
  end += key_bytes;
  if (RecordHasValue(type)) end = EncodeVarint32(end, static_cast<uint32_t>(value.size()));
  head_ = Slice(header_, static_cast<size_t>(end - header_));
  VARVE_ASSERT(head_.size() <= most);
}

Status WriteRequest::Protect() {
  VARVE_ASSERT(batch_ != nullptr);
  return WriteBatchInternal::Protect(batch_);
}

}  // namespace varve
