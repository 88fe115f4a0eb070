// SPDX-License-Identifier: Apache-2.0

// Keeps the tree and its index together.

#include "memtable/tree_order.h"

#include <algorithm>
#include <exception>

#include "memtable/older_versions.h"
#include "memtable/tree_iterator.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// So many keys show what keys begin with; the last bytes that all share are not counted on, as keys
// that count upwards change them in the next table.
constexpr uint64_t kEntriesWithPrefix = 1000;
constexpr size_t kPrefixBytesLeft = 2;

// Lists of operands take no more than this part of a full table's bytes.
constexpr size_t kListShare = 16;

}  // namespace

TreeOrder::TreeOrder(const InternalKeyComparator& icmp, EntryArena* arena, uint32_t nodes_at_once,
                     const std::string& expected_prefix, const std::atomic<size_t>* budget)
    : icmp_(icmp),
      arena_(arena),
      budget_(budget),
      tree_(icmp, arena, nodes_at_once, expected_prefix),
      index_(tree_, icmp),
      // By hash only the same bytes can be found again.
      indexed_(BytesDecide(icmp.order()) ||
               (icmp.timestamp_size() == 0 &&
                !icmp.user_comparator()->CanKeysWithDifferentByteContentsBeEqual())) {}

uint64_t TreeOrder::EntriesWhenFull() const {
  const uint64_t held = arena_->UsedBytes();
  const uint64_t budget = budget_->load(std::memory_order_relaxed);
  return static_cast<uint64_t>(static_cast<double>(tree_.totals().entries) *
                               static_cast<double>(budget) / static_cast<double>(held));
}

Status TreeOrder::IsThere() {
  return Status::TryAgain("memtable: the key is there with the same sequence number");
}

void TreeOrder::Index(std::span<const KeyTree::Addition> entries) {
  const uint64_t entries_at_most = EntriesWhenFull();
  for (const KeyTree::Addition& entry : entries) {
    index_.Added(entry.target.user_key, entry.target.trailer, entry.ref, entries_at_most);
  }
}

Status TreeOrder::AddTogether(std::span<const MemTableEntry> entries) {
  KeyTree::Addition additions[KeyTree::kTogether];
  const size_t n = entries.size();
  bool ascending = true;  // so that no two are the same
  for (size_t i = 0; i < n; i++) {
    additions[i] = Make(entries[i].seq, entries[i].type, entries[i].key, entries[i].value);
    ascending =
        ascending && (i == 0 || additions[i].target.trailer > additions[i - 1].target.trailer);
  }
  if (!ascending) [[unlikely]] {
    for (size_t i = 0; i < n; i++) VARVE_RETURN_IF_ERROR(Link(additions[i]));
    return Status::OK();
  }
  // Neighbours find each other's leaves in the cache.
  std::sort(additions, additions + n,
            [](const auto& a, const auto& b) { return a.target.word < b.target.word; });
  size_t linked = 0;
  std::exception_ptr thrown;
  const KeyTree::InsertResult result = tree_.Insert({additions, n}, &linked, &thrown);
  if (indexed_ && index_.InUse()) Index({additions, linked});
  switch (result) {
    case KeyTree::InsertResult::kAll:
      break;
    case KeyTree::InsertResult::kIsThere:
      return IsThere();
    case KeyTree::InsertResult::kThrew:
      std::rethrow_exception(thrown);
  }
  return Status::OK();
}

bool TreeOrder::Get(PointLookup* lookup) const {
  if (tree_.Empty()) return lookup->EndIfCovered();
  const Slice target = lookup->internal_key();
  const MemEntry* entry = nullptr;
  Slice key;
  Slice value;
  if (indexed_) {
    switch (index_.Find(*lookup, &entry)) {
      case PointIndex::Answer::kAbsent:
        return lookup->EndIfCovered();
      case PointIndex::Answer::kFound:
        // Newer than what the read sees: an older one is where the tree says.
        key = entry->internal_key(&value);
        if (lookup->Sees(ExtractUserKey(key), ExtractTrailer(key))) {
          return lookup->Offer(ExtractTrailer(key), value, nullptr) || GetOlder(key, lookup);
        }
        break;
      case PointIndex::Answer::kUnknown:
        index_.Missed(tree_.totals().entries);
        break;
    }
  }
  entry = tree_.LowerBound(tree_.MakeTarget(ExtractUserKey(target), ExtractTrailer(target)));
  if (entry == nullptr) return lookup->EndIfCovered();
  key = entry->internal_key(&value);
  if (!icmp_.EqualKey(icmp_.KeyOf(key), lookup->key())) return lookup->EndIfCovered();
  if (lookup->Sees(ExtractUserKey(key), ExtractTrailer(key)) &&
      lookup->Offer(ExtractTrailer(key), value, nullptr)) {
    return true;
  }
  return GetOlder(key, lookup);
}

bool TreeOrder::GetOlder(const Slice& internal_key, PointLookup* lookup) const {
  const size_t list_bytes_max = budget_->load(std::memory_order_relaxed) / kListShare;
  return OlderVersions(tree_, icmp_, &lists_, list_bytes_max, lookup).OfferBehind(internal_key);
}

std::unique_ptr<InternalIterator> TreeOrder::NewIterator() const {
  return std::make_unique<KeyTreeIterator>(tree_);
}

bool TreeOrder::CommonPrefix(std::string* prefix) const {
  if (!BytesDecide(icmp_.order())) return false;
  if (tree_.totals().entries < kEntriesWithPrefix) return false;
  KeyTree::LeafCopy first;
  KeyTree::LeafCopy last;
  tree_.CopyFirstLeaf(&first);
  tree_.CopyLastLeaf(&last);
  const Slice a = icmp_.KeyOf(tree_.EntryAt(first.slots[0].ref)->internal_key());
  const Slice b = icmp_.KeyOf(tree_.EntryAt(last.slots[last.count - 1].ref)->internal_key());
  const size_t common = a.difference_offset(b);
  prefix->assign(a.data(), common - std::min(common, kPrefixBytesLeft));
  return true;
}

}  // namespace varve
