// SPDX-License-Identifier: Apache-2.0
#pragma once

// A batch of a user's with stamps behind its values and merge operands.

#include <cstdint>

#include "varve/status.h"
#include "varve/write_batch.h"

namespace varve {

// Whether it has anything that takes a stamp.
inline bool NeedsStamps(const WriteBatch& batch) {
  return batch.HasPut() || batch.HasMerge();
}

// `dst` is empty. Checksums of records are kept up, as `batch` has them.
Status StampBatch(const WriteBatch& batch, uint32_t stamp, WriteBatch* dst);

}  // namespace varve
