// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies a user's batch with stamps behind its values and merge operands.

#include <cstdint>

#include "varve/status.h"
#include "varve/write_batch.h"

namespace varve {

// True if the batch has records that take a stamp.
inline bool NeedsStamps(const WriteBatch& batch) {
  return batch.HasPut() || batch.HasMerge();
}

// `dst` is empty. It keeps checksums of records if `batch` does.
Status StampBatch(const WriteBatch& batch, uint32_t stamp, WriteBatch* dst);

}  // namespace varve
