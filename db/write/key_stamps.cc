// SPDX-License-Identifier: Apache-2.0
#include "db/write/key_stamps.h"

#include "db/write/batch_reader.h"
#include "db/write/commit_path.h"
#include "db/write/write_batch_internal.h"
#include "util/coding/hash.h"

namespace varve {

uint64_t KeyStamps::HashOf(uint32_t column_family, const Slice& key, bool bytes_decide) {
  return XXH3Hash64(key.data(), bytes_decide ? key.size() : 0, column_family);
}

// Stops at the record that makes a list useless: one key too many, or a range.
KeyHashes::KeyHashes(const WriteRequest& request, CommitHost* host) {
  uint32_t family = 0;
  // The property is asked for once for each change of family, as batches mostly have one.
  bool bytes_decide = host->BytesDecideIn(family);
  const auto add = [&](const BatchRecord& record) {
    all_ = all_ || record.type == kTypeRangeDeletion || count_ == kKeysMax;
    if (all_) return;
    if (record.column_family != family) {
      family = record.column_family;
      bytes_decide = host->BytesDecideIn(family);
    }
    hashes_[count_++] = KeyStamps::HashOf(family, record.key, bytes_decide);
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
