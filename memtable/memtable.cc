// SPDX-License-Identifier: Apache-2.0

// Implements the memtable: point entries in one of several representations, range tombstones, an
// optional filter, and the accounting that tells when it is full.
//
//    Add  --> bloom            keys or prefixes, before the entry itself
//         --> rep              entries, sorted by internal key (skip list, vector, ...)
//         --> range_deletes    tombstones, in fragments for readers
//    Get  --> special          one load tells that nothing is left out, deleted or protected
//         --> bloom, rep
//
// All memory of entries is in one arena, which is freed as a whole; entries never move, so a
// reader may keep pointers to them as long as it holds the memtable.
//
// Invariants:
//
// 1. Insertions and reads run in any number of threads. What an insertion publishes, it publishes
//    last: its entry in the representation. The filter, tombstones and flags are set before.
// 2. The filter may say "perhaps" for a missing key, never "no" for one that is there: a key for
//    which the prefix extractor failed sets bloom_lacks_keys before its entry appears, and then the
//    filter is not asked.
// 3. An entry is never changed or removed. Writes that failed are left out by their sequence
//    numbers (left_out), which is set before kLeavesOut is.
// 4. Sizes are estimates that are read without order: they decide when to switch memtables, and
//    nothing else.
// 5. What is reported to the write buffer manager (charged) is given back when the memtable is
//    destroyed.

#include "memtable/memtable.h"

#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <utility>

#include "varve/slice_transform.h"
#include "varve/write_buffer_manager.h"

#include "memtable/dynamic_bloom.h"
#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/invalidated_sequences.h"
#include "memtable/memtable_rep.h"
#include "memtable/protected_entries.h"
#include "memtable/range_deletes.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"
#include "util/key/entry_limits.h"
#include "util/key/prefix_answer.h"

namespace varve {

namespace {

constexpr size_t kFirstBlockBytes = 16 << 10;
// A table that learns is asked for its common prefix once its memory has grown by this since its
// creation, or by an eighth of its budget if that is less.
constexpr size_t kLearnBytes = 128 << 10;
constexpr size_t kNeverLearns = SIZE_MAX;
constexpr size_t kMinBlockBytes = 4 << 10;

// Returns the size of the largest block: by default at most an eighth of the budget, so that the
// last one wastes little of it.
size_t LargestBlock(const MemTableOptions& options) {
  const size_t wanted =
      options.arena_block_bytes != 0 ? options.arena_block_bytes : options.write_buffer_bytes / 8;
  return std::bit_floor(std::clamp(wanted, kMinBlockBytes, kHugePageBytes));
}

Status CheckSize(const Slice& key, const Slice& value) {
  if (FitsAWrite(key.size(), value.size())) [[likely]]
    return Status::OK();
  return Status::InvalidArgument("memtable: an entry that is too large for a table");
}

Status NoMemory() {
  return Status::MemoryLimit("memtable: the system gave no memory");
}

Status UserCodeThrew() {
  return Status::Aborted("memtable: the comparator threw");
}

}  // namespace

// Everything of a memtable that its functions share. It is built at once, so that a memtable whose
// memory ran out never exists in part. The functions that add entries throw std::bad_alloc, and
// what the comparator throws.
struct MemTable::State {
  State(const InternalKeyComparator& comparator, const MemTableOptions& opts)
      : icmp(comparator),
        options(opts),
        arena(std::min(kFirstBlockBytes, LargestBlock(opts)), LargestBlock(opts)),
        write_buffer_bytes(opts.write_buffer_bytes),
        rep(opts.rep->make(
            {icmp, &arena, LargestBlock(opts), options.expected_prefix, &write_buffer_bytes})),
        range_deletes(comparator) {
    if (opts.protection_bytes != 0) special = kProtected;
    if (opts.prefix_bloom_size_ratio > 0) {
      // Equal keys with different bytes would have different hashes.
      filter_whole_keys = opts.whole_key_filtering &&
                          !comparator.user_comparator()->CanKeysWithDifferentByteContentsBeEqual();
      if (filter_whole_keys || opts.prefix_extractor != nullptr) {
        // No more than a quarter of the budget, as the option says, and at least one cache line.
        const double ratio = std::min(opts.prefix_bloom_size_ratio, 0.25);
        bloom.emplace(std::max<size_t>(
            64, static_cast<size_t>(ratio * static_cast<double>(opts.write_buffer_bytes))));
      }
    }
  }

  // Adds key and prefix to the filter, as the options ask. Requires a filter.
  void AddToFilter(const Slice& user_key);
  // True if the filter proves that no entry of the lookup's key is here. Requires a filter.
  bool FilterExcludes(const PointLookup& lookup) const;
  size_t MemoryUsage() const {
    return arena.MemoryUsage() + rep->MemoryUsage() + range_deletes.MemoryUsage() +
           (bloom.has_value() ? bloom->MemoryUsage() : 0) + sizeof(*this);
  }
  // Reports the growth of MemoryUsage to the write buffer manager, if there is one.
  void Charge();
  // Lowers first_seq to `seq`.
  void NoteFirst(SequenceNumber seq);
  void AddTombstone(const MemTableEntry& tombstone);
  // Returns an iterator that leaves out invalidated entries, and verifies and hides checksums.
  std::unique_ptr<InternalIterator> NewIterator() const;
  [[nodiscard]] bool LeavesOut() const {
    return (special.load(std::memory_order_acquire) & kLeavesOut) != 0;
  }
  // True if the representation's entries are what readers see.
  [[nodiscard]] bool ShowsAsStored() const { return !LeavesOut() && options.protection_bytes == 0; }
  // Does what Get of the representation does, but passes over entries that are left out, and
  // verifies checksums.
  bool GetByWalk(PointLookup* lookup) const;
  // True if a table that holds `held` bytes should be switched.
  [[nodiscard]] bool IsFull(size_t held) const;
  // Adds entries to the filter and the representation. Requires at most kAddedTogether entries,
  // none of them a range tombstone.
  Status AddPoints(std::span<const MemTableEntry> entries);
  // Adds entries to the representation, each with a checksum behind its value.
  Status AddProtected(std::span<const MemTableEntry> entries);
  // Adds points and range tombstones, any number of them.
  Status AddAll(std::span<const MemTableEntry> entries);

  const InternalKeyComparator icmp;
  const MemTableOptions options;
  EntryArena arena;
  std::atomic<size_t> write_buffer_bytes;
  std::atomic<size_t> learn_at{kNeverLearns};  // Bytes held; publishes nothing.
  const std::unique_ptr<MemTableRep> rep;
  RangeDeletes range_deletes;
  // Flags for what point reads must check besides the representation: one load tells that there is
  // nothing.
  static constexpr unsigned kHasTombstones = 1;
  static constexpr unsigned kLeavesOut = 2;
  static constexpr unsigned kProtected = 4;  // Set at construction.
  std::atomic<unsigned> special{0};
  // Written before kLeavesOut is set, which publishes it.
  std::shared_ptr<const InvalidatedSequences> left_out;
  std::optional<DynamicBloom> bloom;
  bool filter_whole_keys = false;
  // The prefix extractor failed for a key. Set before its entry is inserted, which publishes it.
  std::atomic<bool> bloom_lacks_keys{false};
  // Bytes reported to the write buffer manager so far.
  std::atomic<size_t> charged{0};
  bool frozen = false;
  // Statistics and lower bounds; they publish nothing.
  std::atomic<SequenceNumber> first_seq{0};
  std::atomic<SequenceNumber> earliest_seq{0};
};

void MemTable::State::AddToFilter(const Slice& user_key) {
  const Slice key = icmp.WithoutTimestamp(user_key);
  if (filter_whole_keys) bloom->Add(KeyHash64(key));
  const SliceTransform* const extractor = options.prefix_extractor.get();
  if (extractor == nullptr) return;
  Slice prefix;
  const PrefixAnswer answer = AskPrefix(*extractor, key, &prefix);
  if (answer == PrefixAnswer::kPrefix) bloom->Add(KeyHash64(prefix));
  if (answer == PrefixAnswer::kThrew) bloom_lacks_keys.store(true, std::memory_order_relaxed);
}

bool MemTable::State::FilterExcludes(const PointLookup& lookup) const {
  if (filter_whole_keys) return !bloom->MayContain(lookup.hash());
  if (bloom_lacks_keys.load(std::memory_order_relaxed)) return false;
  const Slice key = lookup.key();
  Slice prefix;
  return AskPrefix(*options.prefix_extractor, key, &prefix) == PrefixAnswer::kPrefix &&
         !bloom->MayContain(KeyHash64(prefix));
}

void MemTable::State::Charge() {
  WriteBufferManager* const wbm = options.write_buffer_manager.get();
  if (wbm == nullptr) return;
  const size_t held = MemoryUsage();
  // Several threads may see the growth; the one that changes `charged` reports it.
  size_t before = charged.load(std::memory_order_relaxed);
  while (before < held) {
    if (charged.compare_exchange_weak(before, held, std::memory_order_relaxed)) {
      wbm->ReserveMem(held - before);
      return;
    }
  }
}

MemTable::MemTable(const InternalKeyComparator& icmp, const MemTableOptions& options, uint64_t id)
    : state_(std::make_unique<State>(icmp, options)),
      id_(id),
      timestamp_size_(icmp.timestamp_size()) {
  if (options.learns_prefix) {
    state_->learn_at =
        state_->MemoryUsage() + std::min(kLearnBytes, options.write_buffer_bytes / 8);
  }
  state_->Charge();
}

MemTable::~MemTable() {
  Freeze();
  WriteBufferManager* const wbm = state_->options.write_buffer_manager.get();
  if (wbm != nullptr) wbm->FreeMem(state_->charged.load(std::memory_order_relaxed));
}

void MemTable::State::NoteFirst(SequenceNumber seq) {
  SequenceNumber seen = first_seq.load(std::memory_order_relaxed);
  while (seen == 0 || seq < seen) [[unlikely]] {
      if (first_seq.compare_exchange_weak(seen, seq, std::memory_order_relaxed)) return;
    }
}

Status MemTable::Add(SequenceNumber seq, ValueType type, const Slice& user_key,
                     const Slice& value) {
  State& state = *state_;
  VARVE_RETURN_IF_ERROR(CheckSize(user_key, value));
  // Noted before the entry is in, so that the bound holds for every thread that sees the entry.
  state.NoteFirst(seq);
  try {
    if (type == kTypeRangeDeletion) [[unlikely]] {
      state.AddTombstone({seq, type, user_key, value});
    } else {
      const MemTableEntry entry{seq, type, user_key, value};
      VARVE_RETURN_IF_ERROR(state.AddPoints({&entry, 1}));
    }
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (...) {
    return UserCodeThrew();
  }
  if (state.options.write_buffer_manager != nullptr) state.Charge();
  return Status::OK();
}

// All sizes are checked before the first entry is added, so that InvalidArgument means that nothing
// was.
Status MemTable::Add(std::span<const MemTableEntry> entries) {
  if (entries.size() == 1) {
    const MemTableEntry& entry = entries.front();
    return Add(entry.seq, entry.type, entry.key, entry.value);
  }
  if (entries.empty()) return Status::OK();
  State& state = *state_;
  for (const MemTableEntry& entry : entries) {
    VARVE_RETURN_IF_ERROR(CheckSize(entry.key, entry.value));
  }
  // The numbers of a batch do not descend, so the first is its smallest.
  state.NoteFirst(entries.front().seq);
  try {
    VARVE_RETURN_IF_ERROR(state.AddAll(entries));
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (...) {
    return UserCodeThrew();
  }
  if (state.options.write_buffer_manager != nullptr) state.Charge();
  return Status::OK();
}

// Cuts the batch into runs of points, of which each is added together, and single range tombstones.
Status MemTable::State::AddAll(std::span<const MemTableEntry> entries) {
  while (!entries.empty()) {
    size_t n = 0;
    while (n < std::min(kAddedTogether, entries.size()) && entries[n].type != kTypeRangeDeletion) {
      n++;
    }
    // Range tombstones lie apart from points; the order within a batch is kept by sequence numbers.
    if (n == 0) [[unlikely]] {
      AddTombstone(entries[n++]);
    } else {
      VARVE_RETURN_IF_ERROR(AddPoints(entries.first(n)));
    }
    entries = entries.subspan(n);
  }
  return Status::OK();
}

void MemTable::State::AddTombstone(const MemTableEntry& tombstone) {
  range_deletes.Add(tombstone.key, tombstone.value, tombstone.seq);
  // Set after the tombstone is there, and before its write is published: a reader of that write
  // sees the flag.
  if ((special.load(std::memory_order_relaxed) & kHasTombstones) == 0) {
    special.fetch_or(kHasTombstones, std::memory_order_release);
  }
}

Status MemTable::State::AddPoints(std::span<const MemTableEntry> entries) {
  if (bloom.has_value()) {
    // The filter comes first: an entry that can be found must not be excluded by it.
    for (const MemTableEntry& entry : entries) AddToFilter(entry.key);
  }
  if (options.protection_bytes != 0) [[unlikely]]
    return AddProtected(entries);
  return rep->Add(entries);
}

Status MemTable::State::AddProtected(std::span<const MemTableEntry> entries) {
  std::string values[kAddedTogether];
  MemTableEntry stored[kAddedTogether];
  for (size_t i = 0; i < entries.size(); i++) {
    AppendProtected(entries[i], options.protection_bytes, &values[i]);
    stored[i] = entries[i];
    stored[i].value = values[i];
  }
  return rep->Add({stored, entries.size()});
}

void MemTable::LeaveOut(const std::shared_ptr<const InvalidatedSequences>& invalidated) {
  State& state = *state_;
  VARVE_ASSERT(!state.LeavesOut() || state.left_out == invalidated);
  const bool empty = Empty();
  state.range_deletes.LeaveOut(invalidated);
  // An empty table has none of these entries, and none will be added. A table with an object is not
  // empty, so it is switched before there can be another object.
  if (state.LeavesOut() || empty) return;
  state.left_out = invalidated;
  state.special.fetch_or(State::kLeavesOut, std::memory_order_release);
}

bool MemTable::Empty() const {
  return entry_count() == 0 && !state_->LeavesOut();
}

Status MemTable::CountLeftOut(uint64_t* count) const {
  *count = 0;
  if (!state_->LeavesOut()) return Status::OK();
  const auto it = state_->rep->NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (state_->left_out->Contains(UnpackSequence(ExtractTrailer(it->key())))) ++*count;
  }
  return it->status();
}

std::unique_ptr<InternalIterator> MemTable::State::NewIterator() const {
  auto walk = rep->NewIterator();
  if (options.protection_bytes != 0) {
    walk = NewProtectedIterator(std::move(walk), options.protection_bytes);
  }
  return LeavesOut() ? NewIteratorWithout(std::move(walk), left_out) : std::move(walk);
}

// Searches by a walk: neither the index nor lists of operands handle left-out entries or checksums.
bool MemTable::State::GetByWalk(PointLookup* lookup) const try {
  const std::unique_ptr<InternalIterator> it = NewIterator();
  for (it->Seek(lookup->internal_key()); it->Valid(); it->Next()) {
    if (!icmp.EqualKey(icmp.KeyOf(it->key()), lookup->key())) break;
    const uint64_t trailer = ExtractTrailer(it->key());
    if (!lookup->Sees(ExtractUserKey(it->key()), trailer)) continue;
    if (lookup->Offer(trailer, it->value(), nullptr)) return true;
  }
  if (it->status().ok()) return lookup->EndIfCovered();
  lookup->Fail(it->status());
  return true;
} catch (const std::bad_alloc&) {
  lookup->Fail(NoMemory());
  return true;
}

bool MemTable::Get(PointLookup* lookup) const {
  const State& state = *state_;
  // One load tells of everything that makes a look-up more than a search.
  if (state.special.load(std::memory_order_acquire) != 0) [[unlikely]] {
    state.range_deletes.Cover(lookup);
    if (!state.ShowsAsStored()) return state.GetByWalk(lookup);
  }
  if (state.bloom.has_value() && state.FilterExcludes(*lookup)) return lookup->EndIfCovered();
  return state_->rep->Get(lookup);
}

size_t MemTable::CountMerges(const Slice& user_key, SequenceNumber snapshot, size_t most) const {
  const InternalKeyComparator& icmp = state_->icmp;
  std::string target;
  AppendInternalKey(&target, user_key, snapshot, kValueTypeForSeek);
  const std::unique_ptr<InternalIterator> it = NewIterator();
  size_t n = 0;
  for (it->Seek(target); n < most && it->Valid(); it->Next()) {
    if (!icmp.EqualKey(icmp.KeyOf(it->key()), icmp.WithoutTimestamp(user_key))) break;
    if (UnpackType(ExtractTrailer(it->key())) != kTypeMerge) break;
    n++;
  }
  return n;
}

void MemTable::Prefetch(std::span<PointLookup* const> lookups) const {
  state_->rep->Prefetch(lookups);
}

std::unique_ptr<InternalIterator> MemTable::NewIterator() const {
  return state_->NewIterator();
}

bool MemTable::IteratorsSeeAdditions() const {
  return !IsSortedByReads() && !state_->LeavesOut();
}

std::vector<std::shared_ptr<const FragmentedTombstones>> MemTable::RangeTombstones() const {
  return state_->range_deletes.Lists();
}

// Entries are in no order of timestamps, except among the versions of one key, so all are visited.
Status MemTable::RaiseToNewestTimestamp(std::string* newest) const {
  const InternalKeyComparator& icmp = state_->icmp;
  const auto raise = [&icmp, newest](const Slice& timestamp) {
    if (newest->empty() || icmp.CompareTimestamp(timestamp, *newest) > 0) {
      newest->assign(timestamp.data(), timestamp.size());
    }
  };
  const std::unique_ptr<InternalIterator> entries = NewIterator();
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    raise(icmp.TimestampOf(ExtractUserKey(entries->key())));
  }
  for (const auto& list : RangeTombstones()) {
    for (size_t i = 0; i < list->tombstone_count(); i++) raise(list->tombstone(i).timestamp);
  }
  return entries->status();
}

bool MemTable::IsSortedByReads() const {
  return state_->rep->IsSortedByReads();
}

void MemTable::Freeze() {
  if (state_->frozen) return;
  state_->frozen = true;
  WriteBufferManager* const wbm = state_->options.write_buffer_manager.get();
  if (wbm != nullptr) wbm->ScheduleFreeMem(state_->charged.load(std::memory_order_relaxed));
}

// Entries come in the order of keys and are added one by one. With an error `other` has a part of
// them, and must not be used.
Status MemTable::CopyTo(MemTable* other, bool* copied) const {
  *copied = false;
  const unsigned special = state_->special.load(std::memory_order_acquire);
  if ((special & (State::kHasTombstones | State::kLeavesOut)) != 0) return Status::OK();
  // Entries are copied by key, not in the order in which they were added.
  other->state_->NoteFirst(first_seq());
  if (has_unlogged()) other->NoteUnlogged();
  const std::unique_ptr<InternalIterator> it = NewIterator();
  it->SeekToFirst();
  if (VARVE_CANARY(kLoseWhileLearning) && it->Valid()) it->Next();
  for (; it->Valid(); it->Next()) {
    const Slice key = it->key();
    const uint64_t trailer = ExtractTrailer(key);
    VARVE_RETURN_IF_ERROR(
        other->Add(UnpackSequence(trailer), UnpackType(trailer), ExtractUserKey(key), it->value()));
  }
  *copied = it->status().ok();
  return it->status();
}

bool MemTable::CommonPrefix(std::string* prefix) const {
  return state_->rep->CommonPrefix(prefix);
}

uint64_t MemTable::entry_count() const {
  return state_->rep->totals().entries + state_->range_deletes.count();
}

uint64_t MemTable::deletion_count() const {
  return state_->rep->totals().deletions;
}

uint64_t MemTable::range_deletion_count() const {
  return state_->range_deletes.count();
}

uint64_t MemTable::data_bytes() const {
  const EntryTotals totals = state_->rep->totals();
  return totals.bytes - totals.entries * state_->options.protection_bytes +
         state_->range_deletes.MemoryUsage();
}

size_t MemTable::MemoryUsage() const {
  return state_->MemoryUsage();
}

uint64_t MemTable::UsedBytes() const {
  const size_t unused = state_->arena.MemoryUsage() - state_->arena.UsedBytes();
  return state_->MemoryUsage() - unused;
}

bool MemTable::ShouldSwitch() const {
  return state_->IsFull(state_->MemoryUsage()) && !Empty();
}

bool MemTable::ShouldTellPrefix() const {
  return state_->MemoryUsage() >= state_->learn_at.load(std::memory_order_relaxed);
}

void MemTable::StopLearning() {
  state_->learn_at.store(kNeverLearns, std::memory_order_relaxed);
}

void MemTable::LearnLater() {
  // A prefix that is not known now may be with twice the data; near the end it would no longer pay.
  const size_t later = 2 * state_->MemoryUsage();
  const bool full = later > state_->write_buffer_bytes.load(std::memory_order_relaxed) / 2;
  state_->learn_at.store(full ? kNeverLearns : later, std::memory_order_relaxed);
}

bool MemTable::NeedsAttention() const {
  const size_t held = state_->MemoryUsage();
  return held >= state_->learn_at.load(std::memory_order_relaxed) ||
         (state_->IsFull(held) && !Empty());
}

// Compares what the table has taken from the system with its budget. Memory comes in blocks, so the
// question is whether one more block would fit, and if not, whether the current one is used up. The
// budget is used in full, as each flush costs work whatever its size: runs of L0 are counted, not
// measured, and a compaction of as many larger runs writes less for each of their bytes.
bool MemTable::State::IsFull(size_t held) const {
  const size_t budget = write_buffer_bytes.load(std::memory_order_relaxed);
  const size_t largest_block = arena.LargestBlock();
  // There is room for another whole block, which is usual while a table is far from full.
  if (held + largest_block <= budget) [[likely]]
    return false;
  const size_t unused = arena.MemoryUsage() - arena.UsedBytes();
  // The used memory reaches the budget, because the current block is larger than what was left of
  // it; or the current block is the last one that fits, and has at most an eighth of a block left.
  return held - unused >= budget || unused <= largest_block / 8;
}

void MemTable::SetWriteBufferBytes(size_t bytes) {
  state_->write_buffer_bytes.store(bytes, std::memory_order_relaxed);
}

SequenceNumber MemTable::first_seq() const {
  return state_->first_seq.load(std::memory_order_relaxed);
}

SequenceNumber MemTable::earliest_seq() const {
  return state_->earliest_seq.load(std::memory_order_relaxed);
}

void MemTable::set_earliest_seq(SequenceNumber seq) {
  state_->earliest_seq.store(seq, std::memory_order_relaxed);
}

// Bytes are estimated as if all entries were of the average size.
void MemTable::ApproximateStats(const Slice& begin, const Slice& end, uint64_t* entries,
                                uint64_t* bytes) const {
  const EntryTotals totals = state_->rep->totals();
  const auto rank = [this](const Slice& key) {
    const std::string user_key = state_->icmp.FirstUserKey(key);
    return state_->rep->EstimateRank(user_key);
  };
  const uint64_t first = rank(begin);
  const uint64_t last = rank(end);
  *entries = last > first ? std::min(last - first, totals.entries) : 0;
  *bytes = totals.entries == 0 ? 0
                               : static_cast<uint64_t>(static_cast<double>(totals.bytes) *
                                                       static_cast<double>(*entries) /
                                                       static_cast<double>(totals.entries));
}

}  // namespace varve
