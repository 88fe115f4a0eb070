// SPDX-License-Identifier: Apache-2.0

// Keeps lists of merge operands for a few keys with many, by open addressing in a small table. Keys
// are never removed, and a list is never changed once it is published; so readers follow pointers
// without a lock. All of it is freed with the memtable.

#include "memtable/operand_cache.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "util/base/assert.h"

namespace varve {

const std::atomic<OperandCache::Key*>* OperandCache::PlaceOf(const Slice& user_key,
                                                             uint64_t hash) const {
  for (size_t i = 0; i < kProbes; i++) {
    const std::atomic<Key*>& place = places_[(hash + i) % kPlaces];
    const Key* const there = place.load(std::memory_order_acquire);
    if (there == nullptr || Slice(there->key) == user_key) return &place;
  }
  return nullptr;
}

const OperandList* OperandCache::Find(const Slice& user_key, uint64_t hash) const {
  const std::atomic<Key*>* const place = PlaceOf(user_key, hash);
  const Key* const there = place == nullptr ? nullptr : place->load(std::memory_order_acquire);
  return there == nullptr ? nullptr : there->head.load(std::memory_order_acquire);
}

void OperandCache::Extend(const Slice& user_key, uint64_t hash, const OperandList* head,
                          std::vector<std::unique_ptr<OperandList>> fresh,
                          size_t bytes_max) noexcept {
  const size_t bytes = fresh.size() * sizeof(OperandList);
  const MutexLock lock(&mu_);
  if (fresh.empty() || MemoryUsage() + bytes > bytes_max) return;
  try {
    if (Link(user_key, hash, head, &fresh)) bytes_.fetch_add(bytes, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    // Nothing is published yet: the next reader walks as this one did.
  }
}

// Everything that may fail comes before the lists are linked, and the key's head is stored last.
bool OperandCache::Link(const Slice& user_key, uint64_t hash, const OperandList* head,
                        std::vector<std::unique_ptr<OperandList>>* fresh) {
  auto* const place = const_cast<std::atomic<Key*>*>(PlaceOf(user_key, hash));
  // The table is full around this place: the key goes without.
  if (place == nullptr) return false;
  lists_.reserve(lists_.size() + fresh->size());
  Key* there = place->load(std::memory_order_relaxed);
  if (there == nullptr) {
    keys_.push_back(std::make_unique<Key>());
    there = keys_.back().get();
    there->key = user_key.ToString();
    place->store(there, std::memory_order_release);
  }
  // Another reader has added lists since this one began; its own would repeat them.
  if (there->head.load(std::memory_order_relaxed) != head) return false;
  VARVE_ASSERT(head == nullptr || fresh->back()->newest > head->newest);
  fresh->back()->older = head;
  for (size_t i = 0; i + 1 < fresh->size(); i++) (*fresh)[i]->older = (*fresh)[i + 1].get();
  // Published last: all lists are linked.
  there->head.store(fresh->front().get(), std::memory_order_release);
  std::move(fresh->begin(), fresh->end(), std::back_inserter(lists_));
  return true;
}

// Counts operands until they fill a list, which then copies the last of `values`.
bool OperandListBuilder::Passed(uint64_t trailer, std::span<const Slice> values) {
  if (passed_ == 0) newest_ = trailer;
  // Only full lists are kept, so that each is of one size.
  if (++passed_ < OperandList::kValues) return true;
  try {
    ready_.push_back(std::make_unique<OperandList>());
  } catch (const std::bad_alloc&) {
    return false;
  }
  VARVE_ASSERT(values.size() >= OperandList::kValues && newest_ >= trailer);
  OperandList& list = *ready_.back();
  list.newest = newest_;
  list.oldest = trailer;
  list.adjoins = true;  // to the list made next; Finish decides this for the last one
  std::ranges::copy(values.last(OperandList::kValues), list.values.begin());
  passed_ = 0;
  return true;
}

std::vector<std::unique_ptr<OperandList>> OperandListBuilder::Finish(const OperandList* reached) {
  if (!ready_.empty()) ready_.back()->adjoins = reached != nullptr && passed_ == 0;
  return std::move(ready_);
}

}  // namespace varve
