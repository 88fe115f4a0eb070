// SPDX-License-Identifier: Apache-2.0

// Implements appending, reading what was appended, and walking it in order.

#include "memtable/entry_vector.h"

#include <algorithm>
#include <new>
#include <utility>

#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

namespace {

// Numbers of places in blocks: small tables stay small, large ones have few blocks.
constexpr uint64_t kFirstPlaces = 256;
constexpr uint64_t kMostPlaces = 16 << 10;

// Walks the sorted array of the moment of its first seek; a later seek uses the same array, and
// does not see later additions.
//
// Thread safety: none. Lifetime: the vector outlives it.
class VectorIterator final : public InternalIterator {
 public:
  explicit VectorIterator(const EntryVector& vector) : vector_(vector) {}

  void SeekToFirst() override {
    if (Take()) To(0);
  }
  void SeekToLast() override {
    if (Take()) ToBefore(entries_->size());
  }
  void Seek(const Slice& target) override {
    if (Take()) To(entries_->CountBefore(ExtractUserKey(target), ExtractTrailer(target)));
  }
  void SeekForPrev(const Slice& target) override {
    if (Take()) ToBefore(entries_->CountThrough(ExtractUserKey(target), ExtractTrailer(target)));
  }
  void Next() override {
    Prefetch(at_ + kAhead);
    To(at_ + 1);
  }
  void Prev() override {
    if (at_ >= kAhead) Prefetch(at_ - kAhead);
    ToBefore(at_);
  }
  size_t NextBatch(BatchEntry* out, size_t max) override;
  Status status() const override { return status_; }
  bool IsValuePinned() const override { return true; }
  bool IsKeyPinned() const override { return true; }

 private:
  // Entries are prefetched this far ahead of the position.
  static constexpr size_t kAhead = 8;
  // The processor itself prefetches the lines of larger values.
  static constexpr size_t kFetchedBytesMax = 256;

  // Gets the sorted entries for a seek. Returns false, with an error in status_, if there is no
  // memory to sort them.
  bool Take() {
    valid_ = false;
    // Taken once: the reader's sequence number is older than its first seek, so nothing that is
    // added later is for it.
    if (entries_ == nullptr) entries_ = vector_.InOrder();
    status_ = entries_ != nullptr ? Status::OK()
                                  : Status::MemoryLimit("memtable: no memory to sort it in");
    return entries_ != nullptr;
  }
  // Goes to entry `at`, or beyond the end if there is none.
  void To(size_t at) {
    at_ = at;
    valid_ = at < entries_->size();
    if (valid_) key_ = (*entries_)[at]->internal_key(&value_);
  }
  // Goes to the entry before `end`, or beyond the beginning if there is none.
  void ToBefore(size_t end) {
    valid_ = end != 0;
    if (valid_) To(end - 1);
  }
  void Prefetch(size_t at) const {
    if (at >= entries_->size()) return;
    const char* const entry = reinterpret_cast<const char*>((*entries_)[at]);
    PrefetchLine(entry);
    PrefetchLine(entry + 64);
  }

  const EntryVector& vector_;
  std::shared_ptr<const SortedEntryArray> entries_;
  size_t at_ = 0;
  Status status_;
};

size_t VectorIterator::NextBatch(BatchEntry* out, size_t max) {
  const size_t n = std::min(max, entries_->size() - 1 - at_);
  for (size_t i = 0; i < n; i++) {
    at_++;
    Prefetch(at_ + kAhead);
    Slice value;
    const Slice key = (*entries_)[at_]->internal_key(&value);
    // A caller that takes a batch copies its values, which are as far apart as the keys.
    if (value.size() <= kFetchedBytesMax) PrefetchLine(value.data() + value.size());
    out[i].Set(key, value);
    if (entries_->DifferInPrefix(at_ - 1, at_)) out[i].same_key = SameKey::kNo;
  }
  valid_ = n != 0;
  if (valid_) PublishLast(out[n - 1]);
  return n;
}

}  // namespace

// A part of the vector: places for offsets, 0 until one is stored.
struct EntryVector::Block {
  Block(uint64_t entries_before, uint64_t places)
      : before(entries_before), size(places), offsets(std::make_unique<Place[]>(places)) {}

  [[nodiscard]] size_t bytes() const { return sizeof(Block) + size * sizeof(Place); }
  // Returns the number of allocated places.
  [[nodiscard]] uint64_t Given() const {
    return std::min(size, used.load(std::memory_order_relaxed));
  }

  const uint64_t before;  // Number of places in the blocks before.
  const uint64_t size;
  const std::unique_ptr<Place[]> offsets;
  std::atomic<Block*> next{nullptr};
  // Grows past `size` when an Add finds too few places; 64 bits, so that it never wraps around.
  alignas(64) std::atomic<uint64_t> used{0};
};

EntryVector::EntryVector(const InternalKeyComparator& icmp, EntryArena* arena)
    : icmp_(icmp), arena_(arena) {
  const Block* const first = BlockAfter(nullptr);
  MutexLock lock(&mu_);
  cursor_.block = first;
}

EntryVector::~EntryVector() = default;

ArenaOffset EntryVector::Store(const MemTableEntry& entry, uint64_t trailer) {
  const EntryArena::Piece piece = arena_->Allocate(MemEntry::BytesFor(entry.key, entry.value));
  MemEntry::Write(piece.data, entry.key, trailer, entry.value);
  return piece.offset;
}

Status EntryVector::Add(std::span<const MemTableEntry> entries) {
  VARVE_ASSERT(!entries.empty() && entries.size() <= kAddedTogether);
  ArenaOffset offsets[kAddedTogether] = {};
  EntryTotals totals;
  // All entries are stored before a place is taken, so that no place stays empty if memory runs
  // out.
  for (size_t i = 0; i < entries.size(); i++) {
    const MemTableEntry& entry = entries[i];
    const uint64_t trailer = PackSequenceAndType(entry.seq, entry.type);
    offsets[i] = Store(entry, trailer);
    totals.Add(entry.key, trailer, entry.value.size());
  }
  Append(offsets, entries.size());
  Count(totals);
  return Status::OK();
}

// Takes places with one addition, in the current block and, if that is full, in the next ones. If
// there is no memory for a block, the entries that have places are in, and the rest is not.
void EntryVector::Append(const ArenaOffset* offsets, size_t n) {
  Block* block = current_.load(std::memory_order_acquire);
  for (;;) {
    // Relaxed: the add alone makes the places exclusive.
    const uint64_t at = block->used.fetch_add(n, std::memory_order_relaxed);
    const uint64_t here = at < block->size ? std::min<uint64_t>(n, block->size - at) : 0;
    for (uint64_t i = 0; i < here; i++) {
      VARVE_ASSERT(offsets[i] != 0 && block->offsets[at + i].load(std::memory_order_relaxed) == 0);
      // Release publishes the entry; until then the place is zero, and readers come back to it
      // (Cursor::unfilled).
      block->offsets[at + i].store(offsets[i], std::memory_order_release);
    }
    if (here == n) [[likely]]
      return;
    offsets += here;
    n -= here;
    block = BlockAfter(block);
  }
}

// Each block has twice the places of the one before, up to a limit, so that a small table costs
// little and a large one has few blocks.
EntryVector::Block* EntryVector::BlockAfter(Block* block) {
  VARVE_ASSERT(block == nullptr || block->Given() == block->size);
  MutexLock lock(&blocks_mu_);
  if (block != nullptr) {
    Block* const there = block->next.load(std::memory_order_relaxed);
    // Another thread has found the block full, too, and was faster.
    if (there != nullptr) return there;
  }
  blocks_.push_back(block == nullptr
                        ? std::make_unique<Block>(0, kFirstPlaces)
                        : std::make_unique<Block>(block->before + block->size,
                                                  std::min(block->size * 2, kMostPlaces)));
  Block* const made = blocks_.back().get();
  block_bytes_.fetch_add(made->bytes(), std::memory_order_relaxed);
  if (block != nullptr) block->next.store(made, std::memory_order_release);
  current_.store(made, std::memory_order_release);
  return made;
}

void EntryVector::Count(const EntryTotals& added) {
  bytes_.fetch_add(added.bytes, std::memory_order_relaxed);
  if (added.deletions != 0) deletions_.fetch_add(added.deletions, std::memory_order_relaxed);
}

EntryTotals EntryVector::totals() const {
  const Block* const block = current_.load(std::memory_order_acquire);
  return {block->before + block->Given(), deletions_.load(std::memory_order_relaxed),
          bytes_.load(std::memory_order_relaxed)};
}

// A place may be taken right after the answer: its Add is in progress, and no reader need see it.
bool EntryVector::AtEnd(const Cursor& cursor) {
  return cursor.unfilled.empty() && cursor.through == cursor.block->Given() &&
         (cursor.through < cursor.block->size ||
          cursor.block->next.load(std::memory_order_acquire) == nullptr);
}

// Returns the offsets that were stored since the cursor's last use, and moves the cursor to the
// end. A place that was taken but not filled yet is noted, and looked at again the next time.
std::vector<ArenaOffset> EntryVector::ReadOn(Cursor* cursor) {
  std::vector<ArenaOffset> offsets;
  std::vector<const Place*> unfilled;
  const auto read = [&](const Place* place) {
    const ArenaOffset offset = place->load(std::memory_order_acquire);
    if (offset == 0) {
      unfilled.push_back(place);
    } else {
      offsets.push_back(offset);
    }
  };
  // Places that were empty the last time come first; those that still are stay on the list.
  std::for_each(cursor->unfilled.begin(), cursor->unfilled.end(), read);
  for (;;) {
    const Block& block = *cursor->block;
    for (const uint64_t end = block.Given(); cursor->through < end; cursor->through++) {
      read(&block.offsets[cursor->through]);
    }
    const Block* const next = block.next.load(std::memory_order_acquire);
    // The block was not read to its end: everything after that was added since.
    if (next == nullptr || cursor->through < block.size) break;
    VARVE_ASSERT(next->before == block.before + block.size);
    cursor->block = next;
    cursor->through = 0;
  }
  cursor->unfilled = std::move(unfilled);
  return offsets;
}

// Returns all entries in order: the last array if nothing was added since, or a new one. Returns
// null if memory is out, and then keeps what it had.
std::shared_ptr<const SortedEntryArray> EntryVector::InOrder() const {
  MutexLock lock(&mu_);
  // Nothing was added since the last sort.
  if (sorted_ != nullptr && AtEnd(cursor_)) return sorted_;
  try {
    // This is a copy, so that no place is skipped if there is no memory for the rest.
    Cursor cursor = cursor_;
    const std::vector<ArenaOffset> added = ReadOn(&cursor);
    // There may be new places, all of which are still empty.
    if (sorted_ == nullptr || !added.empty()) {
      sorted_ = SortedEntryArray::Merge(sorted_.get(), added, icmp_, *arena_);
      sorted_bytes_.store(sorted_->MemoryUsage(), std::memory_order_relaxed);
    }
    cursor_ = std::move(cursor);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return sorted_;
}

bool EntryVector::Get(PointLookup* lookup) const {
  if (totals().entries == 0) return lookup->EndIfCovered();
  const std::shared_ptr<const SortedEntryArray> entries = InOrder();
  if (entries == nullptr) {
    lookup->Fail(Status::MemoryLimit("memtable: no memory to sort it in"));
    return true;
  }
  const Slice target = lookup->internal_key();
  size_t i = entries->CountBefore(ExtractUserKey(target), ExtractTrailer(target));
  return OfferVersions(icmp_, lookup,
                       [&] { return i < entries->size() ? (*entries)[i++] : nullptr; });
}

std::unique_ptr<InternalIterator> EntryVector::NewIterator() const {
  return std::make_unique<VectorIterator>(*this);
}

uint64_t EntryVector::EstimateRank(const Slice& user_key) const {
  const std::shared_ptr<const SortedEntryArray> entries = InOrder();
  return entries == nullptr ? 0 : entries->CountBefore(user_key, ~uint64_t{0});
}

constinit const MemTableRepType kVectorRep = {
    "vector", [](const MemTableRepContext& context) -> std::unique_ptr<MemTableRep> {
      return std::make_unique<EntryVector>(context.icmp, context.arena);
    }};

}  // namespace varve
