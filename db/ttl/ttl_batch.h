// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies a user's batch with stamps behind its values and merge operands.

#include <cstdint>

#include "varve/status.h"
#include "varve/write_batch.h"

namespace varve {

// True if the batch must go through StampBatch: it has values or merge operands, or entities, which
// StampBatch refuses.
inline bool NeedsStamps(const WriteBatch& batch) {
  return batch.HasPut() || batch.HasMerge() || batch.HasPutEntity();
}

// Appends the records of `batch` to `dst`, which must be empty, with the stamp behind each value
// and operand. `stamp` is in seconds since 1970. `dst` gets checksums of its records if `batch` has
// them. NotSupported: a record cannot have a lifetime. InvalidArgument: keys have user timestamps.
// Corruption: the bytes of `batch` are damaged. `dst` is undefined after an error.
Status StampBatch(const WriteBatch& batch, uint32_t stamp, WriteBatch* dst);

}  // namespace varve
