// SPDX-License-Identifier: Apache-2.0

// The keys of an optimistic transaction are kept in the order of their first use. The first few are
// searched one by one; then a table with open addressing is built, at most half full. Keys are
// never removed before Clear: the record of one that is not in use stays with counts of 0, and
// serves its next use.

#include "db/transaction/tracked_keys.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace varve {

TrackedKey* TrackedKeys::FindAny(uint32_t family, const Slice& key, uint64_t hash) const {
  const auto is_it = [&](const TrackedKey& tracked) {
    return tracked.hash == hash && tracked.family == family && tracked.key == key;
  };
  if (index_.empty()) {
    for (TrackedKey* tracked = first_; tracked != nullptr; tracked = tracked->next) {
      if (is_it(*tracked)) return tracked;
    }
    return nullptr;
  }
  const size_t mask = index_.size() - 1;
  for (size_t at = hash & mask; index_[at] != nullptr; at = (at + 1) & mask) {
    if (is_it(*index_[at])) return index_[at];
  }
  return nullptr;
}

TrackedKey* TrackedKeys::FindOrAdd(uint32_t family, const Slice& key, uint64_t hash,
                                   uint64_t bucket, bool* added) {
  if (TrackedKey* const found = FindAny(family, key, hash); found != nullptr) {
    *added = !found->in_use();
    return found;
  }
  // The table grows before the record is made, so a failure leaves no key that the table does not
  // have.
  if (2 * (count_ + 1) > std::max(index_.size(), 2 * kLookedThrough)) GrowIndex();
  const size_t bytes = sizeof(TrackedKey) + key.size();
  void* const place = memory_.allocate(bytes, alignof(TrackedKey));
  char* const copy = static_cast<char*>(place) + sizeof(TrackedKey);
  if (!key.empty()) std::memcpy(copy, key.data(), key.size());
  auto* const made = new (place)
      TrackedKey{.family = family, .hash = hash, .bucket = bucket, .key = Slice(copy, key.size())};
  (last_ == nullptr ? first_ : last_->next) = made;
  last_ = made;
  count_++;
  bytes_ += bytes;
  if (!index_.empty()) Index(made);
  *added = true;
  return made;
}

void TrackedKeys::Index(TrackedKey* key) {
  const size_t mask = index_.size() - 1;
  size_t at = key->hash & mask;
  while (index_[at] != nullptr) at = (at + 1) & mask;
  index_[at] = key;
}

void TrackedKeys::GrowIndex() {
  std::vector<TrackedKey*> larger(std::max(2 * index_.size(), 8 * kLookedThrough), nullptr);
  index_.swap(larger);
  for (TrackedKey* key = first_; key != nullptr; key = key->next) Index(key);
}

size_t TrackedKeys::CountInUse() const {
  size_t count = 0;
  for (const TrackedKey* key = first_; key != nullptr; key = key->next) count += key->in_use();
  return count;
}

void TrackedKeys::Clear() {
  if (first_ == nullptr) return;
  first_ = last_ = nullptr;
  count_ = 0;
  bytes_ = 0;
  index_.clear();
  memory_.release();
}

}  // namespace varve
