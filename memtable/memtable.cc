// SPDX-License-Identifier: Apache-2.0

// The memtable: a skip list of point entries, range tombstones beside it, an optional filter, and
// the accounting that says when it is full.

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
#include "memtable/range_deletes.h"
#include "memtable/skip_list.h"
#include "util/coding/hash.h"
#include "util/mem/arena.h"

namespace varve {

namespace {

constexpr size_t kFirstBlockBytes = 16 << 10;
constexpr size_t kMinBlockBytes = 4 << 10;

// Blocks of an eighth of the budget at most, so that the last one wastes little of it.
size_t LargestBlock(const MemTableOptions& options) {
  const size_t wanted =
      options.arena_block_bytes != 0 ? options.arena_block_bytes : options.write_buffer_bytes / 8;
  return std::bit_floor(std::clamp(wanted, kMinBlockBytes, kHugePageBytes));
}

}  // namespace

struct MemTable::Rep {
  Rep(const InternalKeyComparator& comparator, const MemTableOptions& opts)
      : icmp(comparator),
        options(opts),
        largest_block(LargestBlock(opts)),
        arena(std::min(kFirstBlockBytes, largest_block), opts.block_pool, largest_block),
        list(comparator, &arena),
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
    return arena.MemoryUsage() + range_deletes.MemoryUsage() +
           (bloom.has_value() ? bloom->MemoryUsage() : 0) + sizeof(*this);
  }
  void Charge();

  const InternalKeyComparator icmp;
  const MemTableOptions options;
  const size_t largest_block;
  ConcurrentArena arena;
  SkipList list;
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

Status MemTable::Add(SequenceNumber seq, ValueType type, const Slice& key, const Slice& value) {
  constexpr size_t kBytesMax = std::numeric_limits<uint32_t>::max();
  Rep& rep = *rep_;
  if (key.size() > kBytesMax || value.size() > kBytesMax) [[unlikely]] {
    return Status::InvalidArgument("memtable: a key or value of 4 GiB or more");
  }
  if (rep.first_seq.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    SequenceNumber none = 0;
    rep.first_seq.compare_exchange_strong(none, seq, std::memory_order_relaxed);
  }
  try {
    if (type == kTypeRangeDeletion) [[unlikely]] {
      rep.range_deletes.Add(key, value, seq);
    } else {
      if (rep.bloom.has_value()) rep.AddToFilter(key);
      if (!rep.list.Insert(key, PackSequenceAndType(seq, type), value)) [[unlikely]] {
        return Status::TryAgain("memtable: the key is there with the same sequence number");
      }
    }
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit("memtable: the system gave no memory");
  }
  if (rep.options.write_buffer_manager != nullptr) rep.Charge();
  return Status::OK();
}

bool MemTable::Get(PointLookup* lookup) const {
  const Rep& rep = *rep_;
  if (rep.range_deletes.count() != 0) [[unlikely]] {
    lookup->CoverWith(
        rep.range_deletes.Fragments()->MaxCoveringSeq(lookup->user_key(), lookup->snapshot()));
  }
  if (rep.bloom.has_value() && rep.FilterExcludes(*lookup)) return lookup->EndIfCovered();
  const Slice user_key = lookup->user_key();
  const SkipList::Node* node =
      rep.list.LowerBound(user_key, ExtractTrailer(lookup->internal_key()));
  for (; node != nullptr; node = node->Next()) {
    Slice value;
    const Slice key = node->internal_key(&value);
    if (!rep.icmp.EqualUserKey(ExtractUserKey(key), user_key)) break;
    if (lookup->Offer(ExtractTrailer(key), value, nullptr)) return true;
  }
  // Whatever is older than this table is older than its tombstones as well.
  return lookup->EndIfCovered();
}

namespace {

class ListIterator final : public InternalIterator {
 public:
  ListIterator(const SkipList& list, const InternalKeyComparator& icmp)
      : list_(list), icmp_(icmp) {}

  void SeekToFirst() override { Set(list_.First()); }
  void SeekToLast() override { Set(list_.Last()); }
  void Seek(const Slice& target) override {
    Set(list_.LowerBound(ExtractUserKey(target), ExtractTrailer(target)));
  }
  void SeekForPrev(const Slice& target) override {
    const Slice user_key = ExtractUserKey(target);
    const uint64_t trailer = ExtractTrailer(target);
    const SkipList::Node* const at = list_.LowerBound(user_key, trailer);
    if (at != nullptr && icmp_.Compare(at->internal_key(), target) == 0) return Set(at);
    Set(list_.Before(user_key, trailer));
  }
  void Next() override { Set(node_->Next()); }
  void Prev() override { Set(list_.Before(ExtractUserKey(key_), ExtractTrailer(key_))); }
  Status status() const override { return Status::OK(); }
  bool IsValuePinned() const override { return true; }
  bool IsKeyPinned() const override { return true; }

 private:
  void Set(const SkipList::Node* node) {
    node_ = node;
    valid_ = node != nullptr;
    if (!valid_) return;
    __builtin_prefetch(node->Next());
    key_ = node->internal_key(&value_);
  }

  const SkipList& list_;
  const InternalKeyComparator& icmp_;
  const SkipList::Node* node_ = nullptr;
};

}  // namespace

std::unique_ptr<InternalIterator> MemTable::NewIterator() const {
  return std::make_unique<ListIterator>(rep_->list, rep_->icmp);
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

uint64_t MemTable::entry_count() const {
  return rep_->list.totals().entries + rep_->range_deletes.count();
}

uint64_t MemTable::deletion_count() const {
  return rep_->list.totals().deletions;
}

uint64_t MemTable::range_deletion_count() const {
  return rep_->range_deletes.count();
}

uint64_t MemTable::data_bytes() const {
  return rep_->list.totals().bytes + rep_->range_deletes.MemoryUsage();
}

size_t MemTable::MemoryUsage() const {
  return rep_->MemoryUsage();
}

bool MemTable::ShouldSwitch() const {
  const Rep& rep = *rep_;
  const size_t budget = rep.write_buffer_bytes.load(std::memory_order_relaxed);
  const size_t held = rep.MemoryUsage();
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
  const SkipList::Totals totals = rep_->list.totals();
  const uint64_t first = rep_->list.EstimateRank(begin);
  const uint64_t last = rep_->list.EstimateRank(end);
  *entries = last > first ? std::min(last - first, totals.entries) : 0;
  *bytes = totals.entries == 0 ? 0
                               : static_cast<uint64_t>(static_cast<double>(totals.bytes) *
                                                       static_cast<double>(*entries) /
                                                       static_cast<double>(totals.entries));
}

}  // namespace varve
