// SPDX-License-Identifier: Apache-2.0

// Defines the plain memtable: a skip list of entries only. Reads by key search the list.

#include <algorithm>

#include "memtable/memtable_rep.h"
#include "memtable/skip_list.h"
#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

namespace {

// Shows the nodes in place: entries are never changed, and freed only with the arena, so key and
// value point into them. Nodes that are added ahead of a walk are met by it; the reader knows them
// by their sequence numbers.
//
// Thread safety: none. Lifetime: the list outlives it.
class SkipListIterator final : public InternalIterator {
 public:
  explicit SkipListIterator(const SkipList& list) : list_(list) {}

  void SeekToFirst() override { To(list_.First()); }
  void SeekToLast() override { To(list_.Last()); }
  void Seek(const Slice& target) override { To(list_.Find(TargetOf(target)).at); }
  void SeekForPrev(const Slice& target) override {
    const SkipList::Target to = TargetOf(target);
    const SkipList::Neighbours found = list_.Find(to);
    const bool equal = found.at != nullptr && list_.Compare(found.at, to) == 0;
    To(equal ? found.at : found.before);
  }
  void Next() override {
    VARVE_ASSERT(valid_);
    To(SkipList::Next(node_));
  }
  void Prev() override {
    VARVE_ASSERT(valid_);
    // Searched from the top: a node has links to the right only, because one swap cannot change a
    // link to the left as well.
    To(list_.Find(TargetOf(key_)).before);
  }
  size_t NextBatch(BatchEntry* out, size_t max) override;
  Status status() const override { return Status::OK(); }
  bool IsValuePinned() const override { return true; }
  bool IsKeyPinned() const override { return true; }

 private:
  static SkipList::Target TargetOf(const Slice& internal_key) {
    return {ExtractUserKey(internal_key), ExtractTrailer(internal_key)};
  }
  void To(const SkipList::Node* node) {
    node_ = node;
    valid_ = node != nullptr;
    if (!valid_) return;
    if (const SkipList::Node* const next = SkipList::Next(node)) PrefetchLine(next);
    key_ = SkipList::EntryOf(node)->internal_key(&value_);
  }

  const SkipList& list_;
  const SkipList::Node* node_ = nullptr;
};

// Returns fewer than `max` entries only at the end of the list. The node behind the next one is
// prefetched while that one is written.
size_t SkipListIterator::NextBatch(BatchEntry* out, size_t max) {
  VARVE_ASSERT(valid_ && max > 0);
  const SkipList::Node* next = SkipList::Next(node_);
  size_t n = 0;
  for (; n < max && next != nullptr; n++) {
    node_ = next;
    next = SkipList::Next(node_);
    if (next != nullptr) PrefetchLine(next);
    Slice value;
    const Slice key = SkipList::EntryOf(node_)->internal_key(&value);
    out[n].Set(key, value);
  }
  valid_ = n != 0;
  if (valid_) PublishLast(out[n - 1]);
  return n;
}

class SkipListRep final : public MemTableRep {
 public:
  explicit SkipListRep(const MemTableRepContext& context)
      : icmp_(context.icmp), list_(icmp_, context.arena) {}

  Status Add(std::span<const MemTableEntry> entries) override {
    VARVE_ASSERT(!entries.empty() && entries.size() <= kAddedTogether);
    SkipList::Addition additions[kAddedTogether];
    for (size_t i = 0; i < entries.size(); i++) additions[i] = list_.Make(entries[i]);
    // Ascending, so that each search goes on from the place of the previous one. An entry that the
    // list has already leaves its node unused in the arena.
    std::sort(additions, additions + entries.size(),
              [this](const auto& a, const auto& b) { return list_.IsBefore(a, b); });
    return list_.Insert({additions, entries.size()}) ? Status::OK() : IsThere();
  }
  bool Get(PointLookup* lookup) const override {
    const Slice target = lookup->internal_key();
    const SkipList::Node* node = list_.Find({ExtractUserKey(target), ExtractTrailer(target)}).at;
    // Versions of a key are neighbours on level 0, the newest first: no more searches are needed.
    return OfferVersions(icmp_, lookup, [&]() -> const MemEntry* {
      if (node == nullptr) return nullptr;
      const MemEntry* const entry = SkipList::EntryOf(node);
      node = SkipList::Next(node);
      return entry;
    });
  }
  [[nodiscard]] std::unique_ptr<InternalIterator> NewIterator() const override {
    return std::make_unique<SkipListIterator>(list_);
  }
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const override {
    return list_.EstimateRank(user_key);
  }
  [[nodiscard]] EntryTotals totals() const override { return list_.totals(); }
  [[nodiscard]] size_t MemoryUsage() const override { return sizeof(*this); }

 private:
  const InternalKeyComparator icmp_;
  SkipList list_;
};

}  // namespace

constinit const MemTableRepType kSkipListRep = {
    "plain_skip_list", [](const MemTableRepContext& context) -> std::unique_ptr<MemTableRep> {
      return std::make_unique<SkipListRep>(context);
    }};

}  // namespace varve
