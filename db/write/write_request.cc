// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_request.h"

#include <cassert>
#include <cstring>

#include "db/write/record_encoder.h"

namespace varve {

WriteRequest::WriteRequest(const BatchRecord& update)
    : batch_(nullptr), update_(update), header_(inline_head_) {
  assert(RecordHasValue(update.type) || update.value.empty());
  const Slice& key = update.key;
  const size_t most = kBatchHeaderBytes + kRecordStartMax + key.size() + kMaxVarint32Length;
  if (most > kInlineBytes) [[unlikely]] {
    long_head_ = std::make_unique_for_overwrite<char[]>(most);
    header_ = long_head_.get();
  }
  EncodeFixed64(header_, 0);
  EncodeFixed32(header_ + 8, count_);
  char* end = EncodeRecordStart(header_ + kBatchHeaderBytes, update.type, update.column_family,
                                static_cast<uint32_t>(key.size()));
  if (!key.empty()) std::memcpy(end, key.data(), key.size());
  // Callers may have a null pointer where there are no bytes; nobody behind this does.
  update_.key = Slice(end, key.size());
  if (update.value.empty()) update_.value = Slice();
  end += key.size();
  if (RecordHasValue(update.type)) {
    end = EncodeVarint32(end, static_cast<uint32_t>(update.value.size()));
  }
  head_ = Slice(header_, static_cast<size_t>(end - header_));
}

Status WriteRequest::Protect() {
  assert(batch_ != nullptr);
  return WriteBatchInternal::Protect(batch_);
}

}  // namespace varve
