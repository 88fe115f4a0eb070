// SPDX-License-Identifier: Apache-2.0

// Every move of the base is followed by Settle, which skips expired entries.

#include "db/ttl/ttl_iterator.h"

#include "db/ttl/ttl_stamp.h"

namespace varve {

void TtlIterator::Settle(Way way) {
  status_ = Status::OK();
  valid_ = false;
  const int32_t ttl = family_->ttl.load(std::memory_order_relaxed);
  while (base_->Valid()) {
    uint32_t stamp = 0;
    // An entry without a stamp ends the walk: to skip it would hide lost data.
    if (!SplitStamp(base_->value(), &value_, &stamp)) {
      status_ = NoStamp(family_->name);
      return;
    }
    if (!IsExpired(stamp, ttl, now_)) {
      valid_ = true;
      return;
    }
    if (way == Way::kForward) {
      base_->Next();
    } else {
      base_->Prev();
    }
  }
}

Status TtlIterator::Refresh(const Snapshot* snapshot) {
  valid_ = false;
  status_ = Status::OK();
  Status s = base_->Refresh(snapshot);
  // After a refresh the iterator judges by the time of its new view.
  if (s.ok()) now_ = snapshot == nullptr ? state_->clock().Now() : state_->TimeOf(*snapshot);
  return s;
}

}  // namespace varve
