// SPDX-License-Identifier: Apache-2.0
#include "db/read/newer_writes.h"

namespace varve {

namespace {

// Entries looked at; a seek in all runs costs about as much.
constexpr int kEntriesMost = 16;

bool IsNewer(const Slice& internal_key, const NewerWrites::Since& since) {
  const SequenceNumber sequence = ExtractSequence(internal_key);
  return sequence > since.old && sequence <= since.now;
}

}  // namespace

std::unique_ptr<NewerWrites> NewerWrites::Watch(const MemTable& mem,
                                                const InternalKeyComparator& icmp) {
  if (!mem.IteratorsSeeAdditions() || icmp.timestamp_size() != 0) return nullptr;
  return std::unique_ptr<NewerWrites>(new NewerWrites(mem, icmp));
}

// Looks at all versions, as a newer one lies before an older one of its key, and one write is
// enough. After a few entries it gives up and says yes, which costs the caller a seek and nothing
// else.
bool NewerWrites::AnyBehind(const Slice& after, const Slice* last, const Since& since) {
  // All versions of `after` sort before this target, as 0 and kTypeDeletion are the smallest number
  // and type.
  target_.clear();
  AppendInternalKey(&target_, after, 0, kTypeDeletion);
  entries_->Seek(target_);
  for (int looked_at = 0; entries_->Valid(); entries_->Next(), looked_at++) {
    const Slice key = entries_->key();
    if (last != nullptr && icmp_.CompareKey(ExtractUserKey(key), *last) > 0) return false;
    if (looked_at == kEntriesMost || IsNewer(key, since)) return true;
  }
  return !entries_->status().ok();
}

// Walks forward, too, from the lower end of the range, and gives up as AnyBehind does.
bool NewerWrites::AnyBefore(const Slice& before, const Slice* first, const Since& since) {
  if (first != nullptr) {
    target_.clear();
    AppendInternalKey(&target_, *first, kMaxSequenceNumber, kValueTypeForSeek);
    entries_->Seek(target_);
  } else {
    entries_->SeekToFirst();
  }
  for (int looked_at = 0; entries_->Valid(); entries_->Next(), looked_at++) {
    const Slice key = entries_->key();
    if (icmp_.CompareKey(ExtractUserKey(key), before) >= 0) return false;
    if (looked_at == kEntriesMost || IsNewer(key, since)) return true;
  }
  return !entries_->status().ok();
}

}  // namespace varve
