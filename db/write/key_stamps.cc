// SPDX-License-Identifier: Apache-2.0
#include "db/write/key_stamps.h"

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"
#include "util/coding/hash.h"

namespace varve {

uint64_t KeyStamps::HashOf(uint32_t column_family, const Slice& key) {
  return XXH3Hash64(key.data(), key.size(), column_family);
}

KeyHashes::KeyHashes(const WriteRequest& request) {
  const auto add = [this](const BatchRecord& record) {
    all_ = all_ || record.type == kTypeRangeDeletion || count_ == kKeysMax;
    if (!all_) hashes_[count_++] = KeyStamps::HashOf(record.column_family, record.key);
  };
  if (request.update() != nullptr) {
    add(*request.update());
    return;
  }
  BatchReader reader(WriteBatchInternal::Contents(*request.batch()));
  for (BatchRecord record; !all_ && reader.Next(&record);) {
    if (record.counted) add(record);
  }
}

}  // namespace varve
