// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_iterator.h"

#include "db/ttl/ttl_stamp.h"

namespace varve {

void TtlIterator::Settle(Way way) {
  status_ = Status::OK();
  valid_ = false;
  const int32_t ttl = family_->ttl.load(std::memory_order_relaxed);
  while (base_->Valid()) {
    uint32_t stamp = 0;
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
  if (s.ok()) now_ = snapshot == nullptr ? state_->clock().Now() : state_->TimeOf(*snapshot);
  return s;
}

}  // namespace varve
