// SPDX-License-Identifier: Apache-2.0

// Joins the parts of the usual memtable: entries in the arena, the list that orders them, a hash
// index of the newest entry of each key, and lists of merge operands.
//
//      Add   entry -> arena;  offset -> list;  offset -> index, once reads have asked for it
//      Get   index: the newest entry, if the reader sees it
//            list: otherwise
//            OlderVersionWalk: versions below a merge operand, or below what the reader sees
//
// The list comes before the index: a key that the index has can be found in the list, too.

#include <algorithm>
#include <exception>

#include "memtable/blocked_skip_list.h"
#include "memtable/blocked_skip_list_iterator.h"
#include "memtable/memtable_rep.h"
#include "memtable/older_version_walk.h"
#include "memtable/operand_cache.h"
#include "memtable/point_index.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Number of keys that determine the common prefix, and of its last bytes that are not used, because
// ascending keys change them in the next table.
constexpr uint64_t kEntriesWithPrefix = 256;
constexpr size_t kPrefixBytesLeft = 2;

// The operand cache takes at most this share of a full table's bytes.
constexpr size_t kOperandShare = 16;

// Returns the number of nodes taken from the arena together, which must be small compared with a
// block.
uint32_t NodesAtOnce(size_t largest_block) {
  return static_cast<uint32_t>(std::clamp<size_t>(largest_block >> 16, 1, 16));
}

class BlockedSkipListRep final : public MemTableRep {
 public:
  explicit BlockedSkipListRep(const MemTableRepContext& context)
      : icmp_(context.icmp),
        arena_(context.arena),
        write_buffer_bytes_(context.write_buffer_bytes),
        list_(icmp_, arena_, NodesAtOnce(context.largest_block), context.expected_prefix),
        index_(list_, icmp_),
        // A hash finds only keys with the same bytes.
        indexed_(BytesDecide(icmp_.order()) ||
                 (icmp_.timestamp_size() == 0 &&
                  !icmp_.user_comparator()->CanKeysWithDifferentByteContentsBeEqual())) {}

  Status Add(std::span<const MemTableEntry> entries) override {
    return entries.size() == 1 ? Link(Make(entries.front())) : AddTogether(entries);
  }
  bool Get(PointLookup* lookup) const override;
  void Prefetch(std::span<PointLookup* const> lookups) const override {
    if (indexed_) index_.Prefetch(lookups);
  }
  [[nodiscard]] std::unique_ptr<InternalIterator> NewIterator() const override {
    return std::make_unique<BlockedSkipListIterator>(list_);
  }
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const override {
    return list_.EstimateRank(user_key);
  }
  bool CommonPrefix(std::string* prefix) const override;
  [[nodiscard]] EntryTotals totals() const override { return list_.totals(); }
  [[nodiscard]] size_t MemoryUsage() const override {
    return sizeof(*this) + index_.MemoryUsage() + operand_cache_.MemoryUsage();
  }

 private:
  // Creates an entry in the arena, not yet linked.
  BlockedSkipList::Addition Make(const MemTableEntry& entry) {
    const EntryArena::Piece piece = arena_->Allocate(MemEntry::BytesFor(entry.key, entry.value));
    const uint64_t trailer = PackSequenceAndType(entry.seq, entry.type);
    MemEntry::Write(piece.data, entry.key, trailer, entry.value);
    return {list_.MakeTarget(entry.key, trailer), piece.offset, entry.value.size()};
  }
  // Adds one entry to the list, and then to the index. Returns TryAgain if its key is there.
  Status Link(const BlockedSkipList::Addition& entry) {
    if (!list_.Insert(entry.target, entry.offset, entry.value_bytes)) [[unlikely]] {
      return IsThere();
    }
    if (indexed_ && index_.InUse()) Index({&entry, 1});
    return Status::OK();
  }
  // Does what Add does, for several entries.
  Status AddTogether(std::span<const MemTableEntry> entries);
  // Adds entries that are in the list to the index.
  void Index(std::span<const BlockedSkipList::Addition> entries);
  // Estimates the number of entries when the table is full.
  [[nodiscard]] uint64_t EntriesWhenFull() const;
  // Offers the lookup the versions of its key that are older than `internal_key`. Returns what Get
  // returns.
  bool GetOlder(const Slice& internal_key, PointLookup* lookup) const;

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  const std::atomic<size_t>* const write_buffer_bytes_;
  BlockedSkipList list_;
  mutable PointIndex index_;
  mutable OperandCache operand_cache_;
  const bool indexed_;
};

uint64_t BlockedSkipListRep::EntriesWhenFull() const {
  const uint64_t held = arena_->UsedBytes();
  const uint64_t budget = write_buffer_bytes_->load(std::memory_order_relaxed);
  return static_cast<uint64_t>(static_cast<double>(list_.totals().entries) *
                               static_cast<double>(budget) / static_cast<double>(held));
}

void BlockedSkipListRep::Index(std::span<const BlockedSkipList::Addition> entries) {
  const uint64_t entries_at_most = EntriesWhenFull();
  for (const BlockedSkipList::Addition& entry : entries) {
    index_.Added(entry.target.user_key, entry.target.trailer, entry.offset, entries_at_most);
  }
}

// Entries are written to the arena in the order of the batch, and then linked in the order of their
// key prefixes. Those that were made and not linked, after a failure, stay in the arena unused.
Status BlockedSkipListRep::AddTogether(std::span<const MemTableEntry> entries) {
  const size_t n = entries.size();
  VARVE_ASSERT(n >= 1 && n <= BlockedSkipList::kTogether);
  BlockedSkipList::Addition additions[BlockedSkipList::kTogether];
  bool ascending = true;  // Strictly, so that all differ.
  for (size_t i = 0; i < n; i++) {
    additions[i] = Make(entries[i]);
    ascending =
        ascending && (i == 0 || additions[i].target.trailer > additions[i - 1].target.trailer);
  }
  // Equal entries may be among them, which only the list's own check finds one by one.
  if (!ascending) [[unlikely]] {
    for (size_t i = 0; i < n; i++) VARVE_RETURN_IF_ERROR(Link(additions[i]));
    return Status::OK();
  }
  // Neighbours find each other's leaves in the cache.
  std::sort(additions, additions + n,
            [](const auto& a, const auto& b) { return a.target.prefix < b.target.prefix; });
  size_t linked = 0;
  std::exception_ptr thrown;
  const BlockedSkipList::InsertResult result = list_.Insert({additions, n}, &linked, &thrown);
  // Entries that were linked before a failure stay in the list, so the index must have them.
  if (indexed_ && index_.InUse()) Index({additions, linked});
  switch (result) {
    case BlockedSkipList::InsertResult::kAll:
      break;
    case BlockedSkipList::InsertResult::kIsThere:
      return IsThere();
    case BlockedSkipList::InsertResult::kThrew:
      std::rethrow_exception(thrown);
  }
  return Status::OK();
}

// Asks the index for the newest entry of the key, and the list if the index does not know, or if
// that entry is too new for the reader. Older versions are only in the list (GetOlder).
bool BlockedSkipListRep::Get(PointLookup* lookup) const {
  if (list_.Empty()) return lookup->EndIfCovered();
  const Slice target = lookup->internal_key();
  const MemEntry* entry = nullptr;
  Slice key;
  Slice value;
  if (indexed_) {
    switch (index_.Find(*lookup, &entry)) {
      case PointIndex::Answer::kAbsent:
        return lookup->EndIfCovered();
      case PointIndex::Answer::kFound:
        // If it is newer than the read's snapshot, the list has the older one.
        key = entry->internal_key(&value);
        if (lookup->Sees(ExtractUserKey(key), ExtractTrailer(key))) {
          return lookup->Offer(ExtractTrailer(key), value, nullptr) || GetOlder(key, lookup);
        }
        break;
      case PointIndex::Answer::kUnknown:
        index_.Missed(list_.totals().entries);
        break;
    }
  }
  entry = list_.LowerBound(list_.MakeTarget(ExtractUserKey(target), ExtractTrailer(target)));
  if (entry == nullptr) return lookup->EndIfCovered();
  key = entry->internal_key(&value);
  if (!icmp_.EqualKey(icmp_.KeyOf(key), lookup->key())) return lookup->EndIfCovered();
  if (lookup->Sees(ExtractUserKey(key), ExtractTrailer(key)) &&
      lookup->Offer(ExtractTrailer(key), value, nullptr)) {
    return true;
  }
  return GetOlder(key, lookup);
}

bool BlockedSkipListRep::GetOlder(const Slice& internal_key, PointLookup* lookup) const {
  const size_t bytes_max = write_buffer_bytes_->load(std::memory_order_relaxed) / kOperandShare;
  return OlderVersionWalk(list_, icmp_, &operand_cache_, bytes_max, lookup)
      .OfferAfter(internal_key);
}

bool BlockedSkipListRep::CommonPrefix(std::string* prefix) const {
  if (!BytesDecide(icmp_.order())) return false;
  // A few keys may share a long prefix by chance.
  if (list_.totals().entries < kEntriesWithPrefix) return false;
  BlockedSkipList::LeafCopy first;
  BlockedSkipList::LeafCopy last;
  list_.CopyFirstLeaf(&first);
  list_.CopyLastLeaf(&last);
  VARVE_ASSERT(first.count > 0 && last.count > 0);
  const Slice a = icmp_.KeyOf(list_.EntryAt(first.slots[0].offset)->internal_key());
  const Slice b = icmp_.KeyOf(list_.EntryAt(last.slots[last.count - 1].offset)->internal_key());
  const size_t common = a.difference_offset(b);
  prefix->assign(a.data(), common - std::min(common, kPrefixBytesLeft));
  return true;
}

}  // namespace

static_assert(MemTableRep::kAddedTogether == BlockedSkipList::kTogether);

constinit const MemTableRepType kBlockedSkipListRep = {
    "skip_list",
    [](const MemTableRepContext& context) -> std::unique_ptr<MemTableRep> {
      return std::make_unique<BlockedSkipListRep>(context);
    },
    /*tells_prefix=*/true};

}  // namespace varve
