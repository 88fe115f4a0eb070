// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts stored value types to the entry types that user code sees.

#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

// Returns the public type of an entry; kEntryOther for types that users cannot write.
[[nodiscard]] constexpr EntryType EntryTypeOf(ValueType type) {
  switch (type) {
    case kTypeValue:
      return kEntryPut;
    case kTypeDeletion:
      return kEntryDelete;
    case kTypeSingleDeletion:
      return kEntrySingleDelete;
    case kTypeMerge:
      return kEntryMerge;
    case kTypeRangeDeletion:
      return kEntryRangeDeletion;
    case kTypeBlobIndex:
      return kEntryBlobIndex;
    case kTypeDeletionWithTimestamp:
      return kEntryDeleteWithTimestamp;
    case kTypeWideColumnEntity:
      return kEntryWideColumnEntity;
    case kTypeValuePreferredSeqno:
      return kEntryTimedPut;
    default:
      return kEntryOther;
  }
}

}  // namespace varve
