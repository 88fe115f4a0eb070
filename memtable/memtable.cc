// SPDX-License-Identifier: Apache-2.0

// The memtable: a tree of point entries, an index over their keys, range tombstones beside them, an
// optional filter, and the accounting that says when it is full.

#include "memtable/memtable.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "varve/slice_transform.h"
#include "varve/write_buffer_manager.h"

#include "memtable/dynamic_bloom.h"
#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/key_tree.h"
#include "memtable/point_index.h"
#include "memtable/range_deletes.h"
#include "memtable/tree_iterator.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"

namespace varve {

namespace {

constexpr size_t kFirstBlockBytes = 16 << 10;
constexpr size_t kMinBlockBytes = 4 << 10;
// So many keys show what keys begin with; the last bytes that all share are not counted on, as keys
// that count upwards change them in the next table.
constexpr uint64_t kEntriesWithPrefix = 1000;
constexpr size_t kPrefixBytesLeft = 2;

// Blocks of an eighth of the budget at most, so that the last one wastes little of it.
size_t LargestBlock(const MemTableOptions& options) {
  const size_t wanted =
      options.arena_block_bytes != 0 ? options.arena_block_bytes : options.write_buffer_bytes / 8;
  return std::bit_floor(std::clamp(wanted, kMinBlockBytes, kHugePageBytes));
}

// Nodes of the tree are taken from the arena in runs, which must be small against a block.
uint32_t NodesAtOnce(size_t largest_block) {
  return static_cast<uint32_t>(std::clamp<size_t>(largest_block >> 16, 1, 16));
}

Status CheckSize(const Slice& key, const Slice& value) {
  constexpr size_t kBytesMax = std::numeric_limits<uint32_t>::max();
  if (key.size() > kBytesMax || value.size() > kBytesMax) [[unlikely]] {
    return Status::InvalidArgument("memtable: a key or value of 4 GiB or more");
  }
  return Status::OK();
}

Status NoMemory() {
  return Status::MemoryLimit("memtable: the system gave no memory");
}

Status IsThere() {
  return Status::TryAgain("memtable: the key is there with the same sequence number");
}

}  // namespace

static_assert(MemTable::kAddedTogether == KeyTree::kTogether);

struct MemTable::Rep {
  Rep(const InternalKeyComparator& comparator, const MemTableOptions& opts)
      : icmp(comparator),
        options(opts),
        largest_block(LargestBlock(opts)),
        arena(std::min(kFirstBlockBytes, largest_block), opts.block_pool, largest_block,
              opts.write_buffer_bytes),
        tree(comparator, &arena, NodesAtOnce(largest_block), opts.expected_prefix),
        index(tree, comparator),
        // By hash only the same bytes can be found again, and only without a timestamp.
        indexed(comparator.timestamp_size() == 0 &&
                !comparator.user_comparator()->CanKeysWithDifferentByteContentsBeEqual()),
        range_deletes(comparator),
        write_buffer_bytes(opts.write_buffer_bytes) {
    if (opts.prefix_bloom_size_ratio > 0) {
      // Equal keys with different bytes would hash apart.
      filter_whole_keys = opts.whole_key_filtering &&
                          !comparator.user_comparator()->CanKeysWithDifferentByteContentsBeEqual();
      if (filter_whole_keys || opts.prefix_extractor != nullptr) {
        const double ratio = std::min(opts.prefix_bloom_size_ratio, 0.25);
        bloom.emplace(std::max<size_t>(
            64, static_cast<size_t>(ratio * static_cast<double>(opts.write_buffer_bytes))));
      }
    }
  }

  Slice WithoutTimestamp(const Slice& user_key) const {
    return Slice(user_key.data(),
                 user_key.size() - std::min(user_key.size(), icmp.timestamp_size()));
  }
  void AddToFilter(const Slice& user_key);
  bool FilterExcludes(const PointLookup& lookup) const;
  size_t MemoryUsage() const {
    return arena.MemoryUsage() + index.MemoryUsage() + range_deletes.MemoryUsage() +
           (bloom.has_value() ? bloom->MemoryUsage() : 0) + sizeof(*this);
  }
  void Charge();
  void NoteFirst(SequenceNumber seq);
  // How many entries there will be when the table is full, as far as one can tell.
  uint64_t EntriesWhenFull() const;
  // In the arena, and nowhere else so far.
  KeyTree::Addition MakeEntry(SequenceNumber seq, ValueType type, const Slice& key,
                              const Slice& value);
  Status Link(const KeyTree::Addition& entry);
  // At most kAddedTogether.
  Status AddTogether(std::span<const MemTableEntry> entries);
  bool GetOlder(const Slice& internal_key, PointLookup* lookup) const;

  const InternalKeyComparator icmp;
  const MemTableOptions options;
  const size_t largest_block;
  EntryArena arena;
  KeyTree tree;
  mutable PointIndex index;
  const bool indexed;
  RangeDeletes range_deletes;
  std::optional<DynamicBloom> bloom;
  bool filter_whole_keys = false;
  std::atomic<size_t> write_buffer_bytes;
  // Reported to the write buffer manager so far.
  std::atomic<size_t> charged{0};
  bool frozen = false;
  // Statistics and lower bounds; they publish nothing.
  std::atomic<SequenceNumber> first_seq{0};
  std::atomic<SequenceNumber> earliest_seq{0};
};

void MemTable::Rep::AddToFilter(const Slice& user_key) {
  const Slice key = WithoutTimestamp(user_key);
  if (filter_whole_keys) bloom->Add(KeyHash64(key));
  const SliceTransform* const extractor = options.prefix_extractor;
  if (extractor != nullptr && extractor->InDomain(key)) {
    bloom->Add(KeyHash64(extractor->Transform(key)));
  }
}

bool MemTable::Rep::FilterExcludes(const PointLookup& lookup) const {
  const Slice key = WithoutTimestamp(lookup.user_key());
  if (filter_whole_keys) {
    return !bloom->MayContain(icmp.timestamp_size() == 0 ? lookup.hash() : KeyHash64(key));
  }
  const SliceTransform& extractor = *options.prefix_extractor;
  return extractor.InDomain(key) && !bloom->MayContain(KeyHash64(extractor.Transform(key)));
}

void MemTable::Rep::Charge() {
  WriteBufferManager* const wbm = options.write_buffer_manager;
  if (wbm == nullptr) return;
  const size_t held = MemoryUsage();
  // Several threads may see the growth; the one that moves `charged` reports it.
  size_t before = charged.load(std::memory_order_relaxed);
  while (before < held) {
    if (charged.compare_exchange_weak(before, held, std::memory_order_relaxed)) {
      wbm->ReserveMem(held - before);
      return;
    }
  }
}

MemTable::MemTable(const InternalKeyComparator& icmp, const MemTableOptions& options, uint64_t id)
    : rep_(std::make_unique<Rep>(icmp, options)), id_(id) {
  rep_->Charge();
}

MemTable::~MemTable() {
  Freeze();
  WriteBufferManager* const wbm = rep_->options.write_buffer_manager;
  if (wbm != nullptr) wbm->FreeMem(rep_->charged.load(std::memory_order_relaxed));
}

void MemTable::Rep::NoteFirst(SequenceNumber seq) {
  if (first_seq.load(std::memory_order_relaxed) != 0) [[likely]]
    return;
  SequenceNumber none = 0;
  first_seq.compare_exchange_strong(none, seq, std::memory_order_relaxed);
}

uint64_t MemTable::Rep::EntriesWhenFull() const {
  const uint64_t held = arena.UsedBytes();
  const uint64_t budget = write_buffer_bytes.load(std::memory_order_relaxed);
  return static_cast<uint64_t>(static_cast<double>(tree.totals().entries) *
                               static_cast<double>(budget) / static_cast<double>(held));
}

KeyTree::Addition MemTable::Rep::MakeEntry(SequenceNumber seq, ValueType type, const Slice& key,
                                           const Slice& value) {
  const EntryArena::Piece piece = arena.Allocate(MemEntry::BytesFor(key, value));
  const uint64_t trailer = PackSequenceAndType(seq, type);
  MemEntry::Write(piece.data, key, trailer, value);
  return {tree.MakeTarget(key, trailer), piece.ref, value.size()};
}

Status MemTable::Rep::Link(const KeyTree::Addition& entry) {
  const Slice& key = entry.target.user_key;
  if (bloom.has_value()) AddToFilter(key);
  if (!tree.Insert(entry.target, entry.ref, entry.value_bytes)) [[unlikely]] {
    return IsThere();
  }
  if (indexed && index.InUse()) {
    index.Added(key, entry.target.trailer, entry.ref, EntriesWhenFull());
  }
  return Status::OK();
}

Status MemTable::Add(SequenceNumber seq, ValueType type, const Slice& key, const Slice& value) {
  Rep& rep = *rep_;
  VARVE_RETURN_IF_ERROR(CheckSize(key, value));
  rep.NoteFirst(seq);
  try {
    if (type == kTypeRangeDeletion) [[unlikely]] {
      rep.range_deletes.Add(key, value, seq);
    } else {
      VARVE_RETURN_IF_ERROR(rep.Link(rep.MakeEntry(seq, type, key, value)));
    }
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
  if (rep.options.write_buffer_manager != nullptr) rep.Charge();
  return Status::OK();
}

Status MemTable::Add(std::span<const MemTableEntry> entries) {
  if (entries.size() == 1) {
    const MemTableEntry& entry = entries.front();
    return Add(entry.seq, entry.type, entry.key, entry.value);
  }
  if (entries.empty()) return Status::OK();
  Rep& rep = *rep_;
  for (const MemTableEntry& entry : entries) {
    VARVE_RETURN_IF_ERROR(CheckSize(entry.key, entry.value));
  }
  rep.NoteFirst(entries.front().seq);
  try {
    for (size_t begin = 0; begin < entries.size(); begin += kAddedTogether) {
      const size_t n = std::min(kAddedTogether, entries.size() - begin);
      VARVE_RETURN_IF_ERROR(rep.AddTogether(entries.subspan(begin, n)));
    }
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
  if (rep.options.write_buffer_manager != nullptr) rep.Charge();
  return Status::OK();
}

Status MemTable::Rep::AddTogether(std::span<const MemTableEntry> entries) {
  KeyTree::Addition additions[kAddedTogether];
  size_t n = 0;
  bool ascending = true;  // so that no two are the same
  uint64_t last_trailer = 0;
  for (const MemTableEntry& entry : entries) {
    if (entry.type == kTypeRangeDeletion) [[unlikely]] {
      range_deletes.Add(entry.key, entry.value, entry.seq);
      continue;
    }
    additions[n] = MakeEntry(entry.seq, entry.type, entry.key, entry.value);
    const uint64_t trailer = additions[n++].target.trailer;
    ascending = ascending && (n == 1 || trailer > last_trailer);
    last_trailer = trailer;
  }
  if (!ascending) [[unlikely]] {
    for (size_t i = 0; i < n; i++) VARVE_RETURN_IF_ERROR(Link(additions[i]));
    return Status::OK();
  }
  if (n == 0) return Status::OK();
  // Neighbours find each other's leaves in the cache.
  std::sort(additions, additions + n,
            [](const auto& a, const auto& b) { return a.target.word < b.target.word; });
  if (bloom.has_value()) {
    for (size_t i = 0; i < n; i++) AddToFilter(additions[i].target.user_key);
  }
  size_t linked = 0;
  const KeyTree::InsertResult result = tree.Insert({additions, n}, &linked);
  if (indexed && index.InUse()) {
    const uint64_t entries_at_most = EntriesWhenFull();
    for (size_t i = 0; i < linked; i++) {
      const KeyTree::Target& target = additions[i].target;
      index.Added(target.user_key, target.trailer, additions[i].ref, entries_at_most);
    }
  }
  switch (result) {
    case KeyTree::InsertResult::kAll:
      break;
    case KeyTree::InsertResult::kIsThere:
      return IsThere();
    case KeyTree::InsertResult::kNoMemory:
      return NoMemory();
  }
  return Status::OK();
}

bool MemTable::Rep::GetOlder(const Slice& internal_key, PointLookup* lookup) const {
  KeyTreeIterator it(tree);
  it.Seek(internal_key);
  for (it.Next(); it.Valid(); it.Next()) {
    if (!icmp.EqualUserKey(ExtractUserKey(it.key()), lookup->user_key())) break;
    if (lookup->Offer(ExtractTrailer(it.key()), it.value(), nullptr)) return true;
  }
  // Whatever is older than this table is older than its tombstones as well.
  return lookup->EndIfCovered();
}

bool MemTable::Get(PointLookup* lookup) const {
  const Rep& rep = *rep_;
  if (rep.range_deletes.count() != 0) [[unlikely]] {
    lookup->CoverWith(
        rep.range_deletes.Fragments()->MaxCoveringSeq(lookup->user_key(), lookup->snapshot()));
  }
  if (rep.bloom.has_value() && rep.FilterExcludes(*lookup)) return lookup->EndIfCovered();
  const Slice user_key = lookup->user_key();
  const uint64_t trailer = ExtractTrailer(lookup->internal_key());
  const MemEntry* entry = nullptr;
  if (rep.indexed) {
    switch (rep.index.Find(*lookup, &entry)) {
      case PointIndex::Answer::kAbsent:
        return lookup->EndIfCovered();
      case PointIndex::Answer::kFound:
        // Newer than the snapshot: an older one is where the tree says.
        if (ExtractTrailer(entry->internal_key()) > trailer) entry = nullptr;
        break;
      case PointIndex::Answer::kUnknown:
        rep.index.Missed(rep.tree.totals().entries);
        break;
    }
  }
  if (entry == nullptr) entry = rep.tree.LowerBound(rep.tree.MakeTarget(user_key, trailer));
  if (entry == nullptr) return lookup->EndIfCovered();
  Slice value;
  const Slice key = entry->internal_key(&value);
  if (!rep.icmp.EqualUserKey(ExtractUserKey(key), user_key)) return lookup->EndIfCovered();
  if (lookup->Offer(ExtractTrailer(key), value, nullptr)) return true;
  return rep.GetOlder(key, lookup);
}

std::unique_ptr<InternalIterator> MemTable::NewIterator() const {
  return std::make_unique<KeyTreeIterator>(rep_->tree);
}

std::shared_ptr<const FragmentedTombstones> MemTable::RangeTombstones() const {
  return rep_->range_deletes.Fragments();
}

void MemTable::Freeze() {
  if (rep_->frozen) return;
  rep_->frozen = true;
  WriteBufferManager* const wbm = rep_->options.write_buffer_manager;
  if (wbm != nullptr) wbm->ScheduleFreeMem(rep_->charged.load(std::memory_order_relaxed));
}

bool MemTable::CommonPrefix(std::string* prefix) const {
  const Rep& rep = *rep_;
  if (rep.icmp.order() == KeyOrder::kCustom) return false;
  if (rep.tree.totals().entries < kEntriesWithPrefix) return false;
  KeyTree::LeafCopy first;
  KeyTree::LeafCopy last;
  rep.tree.CopyFirstLeaf(&first);
  rep.tree.CopyLastLeaf(&last);
  const Slice a = rep.tree.EntryAt(first.slots[0].ref)->user_key();
  const Slice b = rep.tree.EntryAt(last.slots[last.count - 1].ref)->user_key();
  const size_t common = a.difference_offset(b);
  prefix->assign(a.data(), common - std::min(common, kPrefixBytesLeft));
  return true;
}

uint64_t MemTable::entry_count() const {
  return rep_->tree.totals().entries + rep_->range_deletes.count();
}

uint64_t MemTable::deletion_count() const {
  return rep_->tree.totals().deletions;
}

uint64_t MemTable::range_deletion_count() const {
  return rep_->range_deletes.count();
}

uint64_t MemTable::data_bytes() const {
  return rep_->tree.totals().bytes + rep_->range_deletes.MemoryUsage();
}

size_t MemTable::MemoryUsage() const {
  return rep_->MemoryUsage();
}

bool MemTable::ShouldSwitch() const {
  const Rep& rep = *rep_;
  // The next table fills while this one is flushed: an eighth less here is more than that less in
  // both together.
  const size_t limit = rep.write_buffer_bytes.load(std::memory_order_relaxed);
  const size_t budget = limit - limit / 8;
  const size_t held = rep.MemoryUsage();
  if (rep.arena.NearlyOutOfNames()) [[unlikely]]
    return true;
  // Room for another whole block, as while a table is far from full.
  if (held + rep.largest_block <= budget) [[likely]]
    return false;
  if (Empty()) return false;
  const size_t unused = rep.arena.MemoryUsage() - rep.arena.UsedBytes();
  // The block under way is the last one that fits, and it is used up to an eighth; or it is more
  // than fits, and may not be filled beyond the budget.
  return held - unused >= budget || unused <= rep.largest_block / 8;
}

void MemTable::SetWriteBufferBytes(size_t bytes) {
  rep_->write_buffer_bytes.store(bytes, std::memory_order_relaxed);
}

SequenceNumber MemTable::first_seq() const {
  return rep_->first_seq.load(std::memory_order_relaxed);
}

SequenceNumber MemTable::earliest_seq() const {
  return rep_->earliest_seq.load(std::memory_order_relaxed);
}

void MemTable::set_earliest_seq(SequenceNumber seq) {
  rep_->earliest_seq.store(seq, std::memory_order_relaxed);
}

void MemTable::ApproximateStats(const Slice& begin, const Slice& end, uint64_t* entries,
                                uint64_t* bytes) const {
  const KeyTree::Totals totals = rep_->tree.totals();
  const uint64_t first = rep_->tree.EstimateRank(begin);
  const uint64_t last = rep_->tree.EstimateRank(end);
  *entries = last > first ? std::min(last - first, totals.entries) : 0;
  *bytes = totals.entries == 0 ? 0
                               : static_cast<uint64_t>(static_cast<double>(totals.bytes) *
                                                       static_cast<double>(*entries) /
                                                       static_cast<double>(totals.entries));
}

}  // namespace varve
