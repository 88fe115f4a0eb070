// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds the attribute groups of one key to a batch of either kind.

#include "varve/attribute_groups.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/write_batch_base.h"

#include "util/base/caught_exception.h"

namespace varve {

// Puts each group into its column family. If the batch refuses a group, the earlier ones are
// removed again, and its error is returned. Returns InvalidArgument if there is no group.
inline Status PutEntityGroups(WriteBatchBase* batch, const Slice& key,
                              const AttributeGroups& attribute_groups) try {
  if (attribute_groups.empty()) {
    return Status::InvalidArgument("write batch: PutEntity without attribute groups");
  }
  batch->SetSavePoint();
  for (const AttributeGroup& group : attribute_groups) {
    const Status s = batch->PutEntity(group.column_family(), key, group.columns());
    if (s.ok()) continue;
    batch->RollbackToSavePoint().PermitUncheckedError();
    return s;
  }
  return batch->PopSavePoint();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
