// SPDX-License-Identifier: Apache-2.0

// The public face of the block cache. The high bits of a key's hash select a shard, which does the
// work (cache_shard.cc); figures are sums over the shards, each of one moment of its own. Methods
// beyond those of Cache serve tables, whose index entries refer to cached blocks directly
// (BlockSlot).

#include "table/cache/clock_cache.h"

#include <algorithm>
#include <cstdio>
#include <typeinfo>
#include <utility>

#include "util/base/assert.h"
#include "util/coding/hash.h"
#include "util/options/cache_text.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

constexpr int kShardBitsMax = 19;
constexpr int kAutomaticShardBitsMax = 6;
constexpr size_t kAutomaticShardBytesMin = 512 * 1024;

// Bytes of evicted blocks that may wait for readers, in all shards together.
constexpr size_t kWaitingBytes = 1024 * 1024;

// The seed is fixed: keys are hashes of file identities already, which no outsider chooses.
constexpr uint64_t kDefaultSeed = 0x5aa5d0c34b1e96f7;

// Returns the shard bits for a capacity: as many as leave each shard kAutomaticShardBytesMin, but
// no more than kAutomaticShardBitsMax.
int AutomaticShardBits(size_t capacity) {
  int bits = 0;
  for (size_t shards = capacity / kAutomaticShardBytesMin; shards > 1; shards /= 2) bits++;
  return std::min(bits, kAutomaticShardBitsMax);
}

bool IsRatio(double value) {
  return value >= 0.0 && value <= 1.0;
}

CacheEntry* EntryOf(Cache::Handle* handle) {
  return reinterpret_cast<CacheEntry*>(handle);
}
Cache::Handle* HandleOf(CacheEntry* entry) {
  return reinterpret_cast<Cache::Handle*>(entry);
}

// Returns null if the options are not valid.
std::shared_ptr<Cache> MakeCache(const LRUCacheOptions& options, size_t entry_charge,
                                 const char* name) {
  if (options.num_shard_bits > kShardBitsMax || options.secondary_cache != nullptr ||
      !IsRatio(options.high_pri_pool_ratio) || !IsRatio(options.low_pri_pool_ratio) ||
      options.high_pri_pool_ratio + options.low_pri_pool_ratio > 1.0) {
    return nullptr;
  }
  const int bits =
      options.num_shard_bits >= 0 ? options.num_shard_bits : AutomaticShardBits(options.capacity);
  return std::make_shared<ClockCache>(options, bits, entry_charge, name);
}

}  // namespace

ClockCache::ClockCache(const LRUCacheOptions& options, int shard_bits, size_t entry_charge,
                       const char* name)
    : Cache(options.memory_allocator),
      shard_bits_(shard_bits),
      shard_count_(size_t{1} << shard_bits),
      seed_(options.hash_seed >= 0 ? static_cast<uint64_t>(options.hash_seed) : kDefaultSeed),
      name_(name),
      high_ratio_(options.high_pri_pool_ratio),
      low_ratio_(options.low_pri_pool_ratio),
      shards_(new CacheShards(shard_count_, ShardOptions(options, entry_charge),
                              options.memory_allocator)),
      first_shard_(&(*shards_)[0]),
      capacity_(options.capacity),
      strict_(options.strict_capacity_limit) {}

ClockCache::~ClockCache() {
  if (!disowned_.load(std::memory_order_relaxed)) shards_->Close();
}

CacheShardOptions ClockCache::ShardOptions(const LRUCacheOptions& options,
                                           size_t entry_charge) const {
  CacheShardOptions shard;
  shard.capacity = ShareOf(options.capacity);
  shard.strict = options.strict_capacity_limit;
  shard.high_ratio = options.high_pri_pool_ratio;
  shard.low_ratio = options.low_pri_pool_ratio;
  shard.charge_metadata = options.metadata_charge_policy == kFullChargeCacheMetadata;
  shard.expected_entries = entry_charge == 0 ? 0 : shard.capacity / entry_charge;
  shard.waiting_bytes = kWaitingBytes / shard_count_;
  shard.allocator = options.memory_allocator.get();
  return shard;
}

ClockCache* ClockCache::From(Cache* cache) {
  return cache != nullptr && typeid(*cache) == typeid(ClockCache) ? static_cast<ClockCache*>(cache)
                                                                  : nullptr;
}

size_t ClockCache::ShareOf(size_t capacity) const {
  return capacity / shard_count_ + (capacity % shard_count_ != 0 ? 1 : 0);
}

// Spreads the seed over the bits: the high ones select the shard, the low ones the bucket.
uint64_t ClockCache::HashOf(const Slice& key) const {
  uint64_t hash = KeyHash64(key) ^ seed_;
  hash *= key_hash::kPrime64_1;
  return hash ^ hash >> 29;
}

Status ClockCache::Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper,
                          size_t charge, Handle** handle, Priority priority) {
  auto* const entry = new StandaloneEntry;
  entry->object = value;
  entry->helper = helper;
  entry->charge = charge;
  entry->SetPriority(priority);
  entry->hash = HashOf(key);
  return InsertEntry(entry, key, nullptr, handle);
}

// The caller can do without the insertion: if it would have to wait, nothing is inserted, *handle
// is null, and the caller keeps the entry.
Status ClockCache::InsertEmbedded(CacheEntry* entry, const Slice& key, BlockSlot* slot,
                                  Handle** handle) {
  VARVE_ASSERT(reinterpret_cast<uintptr_t>(entry) % alignof(CacheEntry) == 0);
  entry->hash = HashOf(key);
  if (!ShardOf(entry->hash).Welcomes(entry->charge)) {
    *handle = nullptr;
    return Status::OK();
  }
  entry->embedded = 1;
  return InsertEntry(entry, key, slot, handle);
}

bool ClockCache::Admits(const Slice& key, size_t charge) {
  const uint64_t hash = HashOf(key);
  CacheShard& shard = ShardOf(hash);
  if (!shard.Admits(hash, charge)) return false;
  shard.PrefetchVictim();
  return true;
}

Status ClockCache::InsertEntry(CacheEntry* entry, const Slice& key, BlockSlot* slot,
                               Handle** handle) {
  entry->SetKey(key);
  const Status status = ShardOf(entry->hash).Insert(entry, slot, handle != nullptr);
  if (!status.ok()) CacheShard::FreeEntryOnly(entry);
  if (handle != nullptr) *handle = status.ok() ? HandleOf(entry) : nullptr;
  return status;
}

bool ClockCache::TryRef(CacheEntry* entry, Handle** handle) {
  VARVE_ASSERT(Epoch::Inside());
  if (!entry->TryRef()) return false;
  *handle = HandleOf(entry);
  return true;
}

void ClockCache::Attach(Handle* handle, BlockSlot* slot) {
  CacheEntry* const entry = EntryOf(handle);
  ShardOf(entry->hash).Attach(entry, slot);
}

void ClockCache::MoveTo(Handle* handle, Cleanable* pin) {
  const auto release = [](void* shard, void* entry) {
    static_cast<CacheShard*>(shard)->Release(static_cast<CacheEntry*>(entry),
                                             /*erase_if_last_ref=*/false);
  };
  CacheEntry* const entry = EntryOf(handle);
  pin->RegisterCleanup(release, &ShardOf(entry->hash), entry);
}

void ClockCache::Detach(BlockSlot* slot) {
  const Epoch::Guard guard;
  CacheEntry* const entry = slot->load(std::memory_order_acquire);
  if (entry != nullptr) ShardOf(entry->hash).Detach(entry, slot);
}

void ClockCache::Drop(std::span<BlockSlot> slots) {
  for (BlockSlot& slot : slots) {
    const Epoch::Guard guard;
    CacheEntry* const entry = slot.load(std::memory_order_acquire);
    if (entry != nullptr) ShardOf(entry->hash).Drop(entry, &slot);
  }
  // An entry that a reader may still have is freed with later ones: waiting is impossible, as the
  // caller may hold locks that readers want.
  const uint64_t below = Epoch::FreeBelow();
  for (size_t i = 0; i < shard_count_; i++) first_shard_[i].FreeDropped(below);
}

Cache::Handle* ClockCache::Lookup(const Slice& key) {
  const uint64_t hash = HashOf(key);
  return HandleOf(ShardOf(hash).Lookup(key, hash));
}

bool ClockCache::Ref(Handle* handle) {
  [[maybe_unused]] const uint32_t before =
      EntryOf(handle)->state.fetch_add(1, std::memory_order_relaxed);
  VARVE_ASSERT((before & CacheEntry::kRefs) != 0);
  return true;
}

bool ClockCache::Release(Handle* handle, bool erase_if_last_ref) {
  if (handle == nullptr) return false;
  CacheEntry* const entry = EntryOf(handle);
  return ShardOf(entry->hash).Release(entry, erase_if_last_ref);
}

Cache::ObjectPtr ClockCache::Value(Handle* handle) {
  return EntryOf(handle)->value();
}

size_t ClockCache::GetCharge(Handle* handle) const {
  return EntryOf(handle)->charge;
}

void ClockCache::Erase(const Slice& key) {
  const uint64_t hash = HashOf(key);
  ShardOf(hash).Erase(key, hash);
}

uint64_t ClockCache::NewId() {
  return next_id_.fetch_add(1, std::memory_order_relaxed);
}

void ClockCache::SetCapacity(size_t capacity) {
  capacity_.store(capacity, std::memory_order_relaxed);
  for (size_t i = 0; i < shard_count_; i++) first_shard_[i].SetCapacity(ShareOf(capacity));
}

void ClockCache::SetStrictCapacityLimit(bool strict_capacity_limit) {
  strict_.store(strict_capacity_limit, std::memory_order_relaxed);
  for (size_t i = 0; i < shard_count_; i++) first_shard_[i].SetStrict(strict_capacity_limit);
}

bool ClockCache::HasStrictCapacityLimit() const {
  return strict_.load(std::memory_order_relaxed);
}

size_t ClockCache::GetCapacity() const {
  return capacity_.load(std::memory_order_relaxed);
}

size_t ClockCache::GetUsage() const {
  size_t sum = 0;
  for (size_t i = 0; i < shard_count_; i++) sum += first_shard_[i].usage();
  return sum;
}

size_t ClockCache::GetUsage(Handle* handle) const {
  const CacheEntry* const entry = EntryOf(handle);
  return ShardOf(entry->hash).ChargeOf(*entry);
}

size_t ClockCache::GetPinnedUsage() const {
  size_t sum = 0;
  for (size_t i = 0; i < shard_count_; i++) sum += first_shard_[i].PinnedUsage();
  return sum;
}

size_t ClockCache::GetWaitingUsage() const {
  size_t sum = 0;
  for (size_t i = 0; i < shard_count_; i++) sum += first_shard_[i].retired_usage();
  return sum;
}

size_t ClockCache::GetOccupancyCount() const {
  size_t sum = 0;
  for (size_t i = 0; i < shard_count_; i++) sum += first_shard_[i].entry_count();
  return sum;
}

// Visits one shard at a time; ignores the options.
void ClockCache::ApplyToAllEntries(
    const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                             const CacheItemHelper* helper)>& callback,
    const ApplyToAllEntriesOptions& /*opts*/) {
  for (size_t i = 0; i < shard_count_; i++) {
    first_shard_[i].ForEach([&callback](CacheEntry* entry) {
      callback(entry->key(), entry->value(), entry->charge, entry->helper);
    });
  }
}

size_t ClockCache::GetTableAddressCount() const {
  size_t sum = 0;
  for (size_t i = 0; i < shard_count_; i++) sum += first_shard_[i].bucket_count();
  return sum;
}

void ClockCache::EraseUnRefEntries() {
  for (size_t i = 0; i < shard_count_; i++) first_shard_[i].EraseUnreferenced();
}

void ClockCache::DisownData() {
  disowned_.store(true, std::memory_order_relaxed);
}

std::string ClockCache::GetPrintableOptions() const {
  char text[256];
  snprintf(text, sizeof(text),
           "    capacity : %zu\n    num_shard_bits : %d\n    strict_capacity_limit : %d\n"
           "    high_pri_pool_ratio: %.3lf\n    low_pri_pool_ratio: %.3lf\n",
           GetCapacity(), shard_bits_, HasStrictCapacityLimit() ? 1 : 0, high_ratio_, low_ratio_);
  return text;
}

std::shared_ptr<Cache> LRUCacheOptions::MakeSharedCache() const {
  return MakeLruCache(*this);
}

std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options) {
  return MakeCache(options, 0, "LRUCache");
}

std::shared_ptr<Cache> HyperClockCacheOptions::MakeSharedCache() const {
  return MakeHyperClockCache(*this);
}

std::shared_ptr<Cache> MakeHyperClockCache(const HyperClockCacheOptions& options) {
  LRUCacheOptions same;
  static_cast<ShardedCacheOptions&>(same) = options;
  return MakeCache(same, options.estimated_entry_charge, "HyperClockCache");
}

std::shared_ptr<Cache> NewLRUCache(size_t capacity, int num_shard_bits, bool strict_capacity_limit,
                                   double high_pri_pool_ratio,
                                   std::shared_ptr<MemoryAllocator> memory_allocator,
                                   bool use_adaptive_mutex,
                                   CacheMetadataChargePolicy metadata_charge_policy,
                                   double low_pri_pool_ratio) {
  return LRUCacheOptions(capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio,
                         std::move(memory_allocator), use_adaptive_mutex, metadata_charge_policy,
                         low_pri_pool_ratio)
      .MakeSharedCache();
}

std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts) {
  return cache_opts.MakeSharedCache();
}

}  // namespace varve
