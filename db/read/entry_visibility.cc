// SPDX-License-Identifier: Apache-2.0
#include "db/read/entry_visibility.h"

#include "varve/comparator.h"

namespace varve {

// With timestamps two questions are asked: is the entry of the reader's time, and does a tombstone
// of that time cover it?
bool EntryVisibility::IsVisibleInTime(const BatchEntry& entry, SequenceNumber sequence) const {
  return !IsOfLaterTime(entry) &&
         tombstones_->MaxCoveringSeq(icmp_->KeyOf(entry.key()), sequence_) <= sequence;
}

Status EntryVisibility::RefusalOf(uint64_t trailer) {
  return Status::Corruption("iterator: met an entry of unknown type " +
                            std::to_string(trailer & 0xff));
}

// A key's entries are ordered newest first, by timestamp and then by sequence number, so the
// target's two numbers say where among them a seek lands:
//
//      kFirst      before all of them            largest timestamp, largest number
//      kVisible    on the newest visible one     the reader's own
//      kLast       behind all of them            least timestamp, number 0
void EntryVisibility::SetTarget(const Slice& key, Place place, std::string* target) const {
  const Comparator& order = *icmp_->user_comparator();
  Slice timestamp;
  SequenceNumber sequence = 0;
  switch (place) {
    case Place::kFirst:
      if (has_timestamps()) timestamp = order.GetMaxTimestamp();
      sequence = kMaxSequenceNumber;
      break;
    case Place::kVisible:
      timestamp = as_of_;
      sequence = sequence_;
      break;
    case Place::kLast:
      if (has_timestamps()) timestamp = order.GetMinTimestamp();
      break;
  }
  target->assign(key.data(), key.size());
  AppendInternalKey(target, timestamp, sequence,
                    place == Place::kLast ? kValueTypeForSeekForPrev : kValueTypeForSeek);
}

}  // namespace varve
