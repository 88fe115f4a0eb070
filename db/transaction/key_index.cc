// SPDX-License-Identifier: Apache-2.0

// The index grows in two ways. Few new records are inserted one by one: a search in the directory,
// one in a leaf, and a move within the leaf, which is split when it is full. Many new records are
// sorted, merged with the old entries, and cut into new leaves (Rebuild), at which time the common
// prefix of all keys is computed again. An index that has grown much through single insertions is
// rebuilt too, since its common prefix may have become useless.

#include "db/transaction/key_index.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "util/base/assert.h"
#include "util/key/prefix_sort.h"

namespace varve {

namespace {

// Returns how many of the ascending `prefixes` are below `prefix`. The loop has no branch on data,
// because that could not be predicted.
size_t CountBelow(const uint64_t* prefixes, size_t n, uint64_t prefix) {
  const uint64_t* first = prefixes;
  while (n > 1) {
    const size_t half = n / 2;
    first += half & -static_cast<size_t>(first[half - 1] < prefix);
    n -= half;
  }
  return static_cast<size_t>(first - prefixes) + (n == 1 && *first < prefix ? 1 : 0);
}

// Returns the index of the first of `n` entries that is not before the key that is searched for,
// whose prefix is `prefix`; is_before(i) says so of entries with an equal prefix.
template <typename IsBefore>
size_t Partition(const uint64_t* prefixes, size_t n, uint64_t prefix, const IsBefore& is_before) {
  size_t low = CountBelow(prefixes, n, prefix);
  if (low == n || prefixes[low] != prefix || !is_before(low)) return low;
  size_t high = n;
  low++;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (prefixes[middle] == prefix && is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

// Returns eight bytes behind the common ones, as a number that ascends with the keys; equal
// prefixes leave the decision to the comparator. A comparator that is none of the known bytewise
// ones gets 0 for all keys, so it always decides.
uint64_t KeyIndex::PrefixOf(const Slice& key) const {
  if (!BytesDecide(icmp_.order())) return 0;
  uint64_t prefix = 0;
  if (key.starts_with(common_)) {
    prefix = KeyPrefix(key, common_.size());
  } else {
    // Keys without the common bytes get the least or the largest prefix.
    prefix = CompareBytes(key, common_) < 0 ? 0 : UINT64_MAX;
  }
  // For descending orders the complement ascends with the keys.
  return IsForward(icmp_.order()) ? prefix : ~prefix;
}

bool KeyIndex::IsBefore(const Entry& a, const Entry& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = icmp_.CompareKey(KeyOf(a.offset), KeyOf(b.offset));
  return order != 0 ? order < 0 : a.offset > b.offset;
}

// Searches two arrays of prefixes: that of the leaves' first entries, and that of one leaf. Keys
// are read from the batch only among equal prefixes. Entries of one key lie newest first, so those
// newer than `newest` are skipped.
//
//      first_prefixes_   [ 12 | 40 | 77 ]                     one per leaf
//      leaves_[1]        prefixes [ 40 41 41 58 ]             offsets [ 310 96 24 180 ]
KeyIndex::Place KeyIndex::Find(const Slice& key, uint32_t newest) const {
  if (leaves_.empty()) return End();
  const uint64_t prefix = PrefixOf(key);
  const auto is_before = [&](uint32_t offset) {
    const int order = icmp_.CompareKey(KeyOf(offset), key);
    return order != 0 ? order < 0 : offset > newest;
  };
  const size_t behind = Partition(first_prefixes_.data(), first_prefixes_.size(), prefix,
                                  [&](size_t i) { return is_before(leaves_[i]->offsets[0]); });
  Place place;
  place.leaf = behind == 0 ? 0 : behind - 1;
  const Leaf& leaf = *leaves_[place.leaf];
  place.at = Partition(leaf.prefixes, leaf.count, prefix,
                       [&](size_t i) { return is_before(leaf.offsets[i]); });
  if (place.at == leaf.count) place = {place.leaf + 1, 0};
  return place;
}

void KeyIndex::Next(Place* place) const {
  VARVE_ASSERT(!AtEnd(*place));
  if (++place->at == leaves_[place->leaf]->count) *place = {place->leaf + 1, 0};
}

void KeyIndex::Prev(Place* place) const {
  VARVE_ASSERT(!AtBegin(*place));
  if (place->at == 0) {
    place->leaf--;
    place->at = leaves_[place->leaf]->count;
  }
  place->at--;
}

void KeyIndex::InsertAll(const std::vector<uint32_t>& offsets) {
  if (offsets.size() > std::max(kSortMin, size_ / 4)) {
    Rebuild(offsets);
  } else {
    for (const uint32_t offset : offsets) Insert(offset);
  }
}

void KeyIndex::Insert(uint32_t offset) {
  if (size_ >= rebuild_at_) {
    Rebuild({offset});
    return;
  }
  if (leaves_.empty()) {
    SetEntries({{PrefixOf(KeyOf(offset)), offset}});
    return;
  }
  const Slice key = KeyOf(offset);
  const uint64_t prefix = PrefixOf(key);
  Place place = Find(key);
  // Inserts at the end of the previous leaf rather than the begin of this one, so that the
  // directory's prefixes stay valid.
  if (place.at == 0 && place.leaf != 0) place = {place.leaf - 1, leaves_[place.leaf - 1]->count};
  VARVE_ASSERT(place.at == leaves_[place.leaf]->count ||
               leaves_[place.leaf]->offsets[place.at] < offset ||
               !icmp_.EqualKey(KeyAt(place), key));
  if (leaves_[place.leaf]->count == kLeafEntries) Split(&place);
  Leaf& leaf = *leaves_[place.leaf];
  const size_t behind = leaf.count - place.at;
  std::memmove(leaf.prefixes + place.at + 1, leaf.prefixes + place.at, behind * sizeof(uint64_t));
  std::memmove(leaf.offsets + place.at + 1, leaf.offsets + place.at, behind * sizeof(uint32_t));
  leaf.prefixes[place.at] = prefix;
  leaf.offsets[place.at] = offset;
  leaf.count++;
  if (place.at == 0) first_prefixes_[place.leaf] = prefix;
  size_++;
}

void KeyIndex::Split(Place* place) {
  Leaf& full = *leaves_[place->leaf];
  VARVE_ASSERT(full.count == kLeafEntries);
  // For ascending insertions the leaf keeps all entries but one, so that leaves are left full.
  const bool appends = place->at == kLeafEntries && place->leaf + 1 == leaves_.size();
  const size_t kept = appends ? kLeafEntries - 1 : kLeafEntries / 2;
  std::unique_ptr<Leaf> other = NewLeaf();
  other->count = kLeafEntries - kept;
  std::memcpy(other->prefixes, full.prefixes + kept, other->count * sizeof(uint64_t));
  std::memcpy(other->offsets, full.offsets + kept, other->count * sizeof(uint32_t));
  // Everything that may throw comes before the directory changes: the leaf, this room, which
  // doubles so that many splits stay cheap, and the insertion into first_prefixes_.
  leaves_.reserve(leaves_.size() + 1 > leaves_.capacity() ? 2 * leaves_.size() + 1
                                                          : leaves_.capacity());
  const auto at = static_cast<ptrdiff_t>(place->leaf + 1);
  first_prefixes_.insert(first_prefixes_.begin() + at, other->prefixes[0]);
  leaves_.insert(leaves_.begin() + at, std::move(other));
  full.count = kept;
  if (place->at > kept) *place = {place->leaf + 1, place->at - kept};
}

// The record is the newest of its key, so Find without a limit returns it. Empty leaves are
// removed; small ones are not joined, as a rollback is usually followed by more additions.
void KeyIndex::Remove(uint32_t offset) {
  const Place place = Find(KeyOf(offset));
  VARVE_ASSERT(!AtEnd(place) && OffsetAt(place) == offset);
  Leaf& leaf = *leaves_[place.leaf];
  leaf.count--;
  size_--;
  const size_t behind = leaf.count - place.at;
  std::memmove(leaf.prefixes + place.at, leaf.prefixes + place.at + 1, behind * sizeof(uint64_t));
  std::memmove(leaf.offsets + place.at, leaf.offsets + place.at + 1, behind * sizeof(uint32_t));
  if (leaf.count == 0) {
    const auto at = static_cast<ptrdiff_t>(place.leaf);
    leaves_.erase(leaves_.begin() + at);
    first_prefixes_.erase(first_prefixes_.begin() + at);
  } else if (place.at == 0) {
    first_prefixes_[place.leaf] = leaf.prefixes[0];
  }
}

void KeyIndex::Clear() noexcept {
  leaves_.clear();
  first_prefixes_.clear();
  common_.clear();
  rebuild_at_ = kLeafEntries;
  size_ = 0;
}

void KeyIndex::Rebuild(const std::vector<uint32_t>& added) {
  std::vector<Entry> entries;
  entries.reserve(size_ + added.size());
  for (const uint32_t offset : added) entries.push_back({0, offset});
  for (const auto& leaf : leaves_) {
    for (size_t i = 0; i < leaf->count; i++) entries.push_back({0, leaf->offsets[i]});
  }
  FindCommonPrefix(entries);
  for (Entry& entry : entries) entry.prefix = PrefixOf(KeyOf(entry.offset));
  const auto is_before = [this](const Entry& a, const Entry& b) { return IsBefore(a, b); };
  // The old entries are sorted already, so only the added ones are sorted, and then both are
  // merged.
  const std::vector<Entry> old(entries.begin() + static_cast<ptrdiff_t>(added.size()),
                               entries.end());
  entries.resize(added.size());
  if (!std::ranges::is_sorted(entries, is_before)) SortByPrefix(&entries, is_before);
  if (!old.empty()) {
    const std::vector<Entry> fresh = std::move(entries);
    entries.clear();
    entries.reserve(old.size() + fresh.size());
    std::ranges::merge(old, fresh, std::back_inserter(entries), is_before);
  }
  SetEntries(entries);
}

// Sets common_, and the size at which it is to be found anew.
void KeyIndex::FindCommonPrefix(const std::vector<Entry>& entries) {
  common_.clear();
  rebuild_at_ = std::max(kLeafEntries, kGrowth * entries.size());
  // The common bytes of a few keys would be too long: most later keys would not have them.
  if (entries.size() <= kSortMin || !BytesDecide(icmp_.order())) return;
  Slice common = KeyOf(entries[0].offset);
  for (const Entry& entry : entries) {
    const Slice key = KeyOf(entry.offset);
    if (key.starts_with(common)) continue;
    common = Slice(common.data(), common.difference_offset(key));
  }
  common_.assign(common.data(), common.size());
}

void KeyIndex::SetEntries(const std::vector<Entry>& entries) {
  std::vector<std::unique_ptr<Leaf>> leaves;
  std::vector<uint64_t> first_prefixes;
  const size_t count = (entries.size() + kLeafFill - 1) / kLeafFill;
  leaves.reserve(count);
  first_prefixes.reserve(count);
  for (size_t i = 0; i < entries.size();) {
    std::unique_ptr<Leaf> leaf = NewLeaf();
    for (; leaf->count < kLeafFill && i < entries.size(); i++, leaf->count++) {
      leaf->prefixes[leaf->count] = entries[i].prefix;
      leaf->offsets[leaf->count] = entries[i].offset;
    }
    first_prefixes.push_back(leaf->prefixes[0]);
    leaves.push_back(std::move(leaf));
  }
  leaves_ = std::move(leaves);
  first_prefixes_ = std::move(first_prefixes);
  size_ = entries.size();
}

std::unique_ptr<KeyIndex::Leaf> KeyIndex::NewLeaf() {
  return std::make_unique_for_overwrite<Leaf>();
}

}  // namespace varve
