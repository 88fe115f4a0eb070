// SPDX-License-Identifier: Apache-2.0
#include "db/blob/blob_cache.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "varve/cleanable.h"
#include "varve/memory_allocator.h"

#include "db/blob/blob_cache_charge.h"
#include "table/cache/handle_guard.h"
#include "util/base/canary.h"
#include "util/coding/fixed.h"
#include "util/coding/hash.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// A cached value. Its bytes follow the object in the same allocation.
class KeptBlob {
 public:
  // Returns null if the allocation fails.
  static KeptBlob* Copy(const Slice& value, MemoryAllocator* allocator) {
    const size_t bytes = sizeof(KeptBlob) + value.size();
    void* const room =
        allocator != nullptr ? allocator->Allocate(bytes) : ::operator new(bytes, std::nothrow);
    if (room == nullptr) return nullptr;
    auto* const blob = new (room) KeptBlob(value.size());
    if (!value.empty()) memcpy(blob->bytes(), value.data(), value.size());
    return blob;
  }
  static void Free(Cache::ObjectPtr blob, MemoryAllocator* allocator) {
    if (allocator != nullptr) {
      allocator->Deallocate(blob);
    } else {
      ::operator delete(blob);
    }
  }

  [[nodiscard]] Slice value() const {
    return Slice(reinterpret_cast<const char*>(this + 1), size_);
  }
  [[nodiscard]] size_t charge() const { return sizeof(KeptBlob) + size_; }

 private:
  explicit KeptBlob(size_t size) : size_(size) {}
  char* bytes() { return reinterpret_cast<char*>(this + 1); }

  const size_t size_;
};

constexpr Cache::CacheItemHelper kBlobHelper(CacheEntryRole::kBlobValue, &KeptBlob::Free);

// The key of a value in the cache: a hash of everything that identifies it, long enough to be
// unique.
class BlobKey {
 public:
  BlobKey(uint64_t id, const Slice& user_key, const BlobReference& reference) {
    char rest[kRestBytes];
    // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
    EncodeFixed64(rest, VARVE_CANARY(kCachedBlobOfReusedNumber) ? 0 : id);
    EncodeFixed64(rest + 8, reference.file_number);
    EncodeFixed64(rest + 16, reference.offset);
    EncodeFixed64(rest + 24, reference.size);
    EncodeFixed64(rest + 32, static_cast<uint64_t>(reference.compression));
    const Hash128 hash =
        XXH3Hash128(user_key.data(), user_key.size(), XXH3Hash64(rest, sizeof(rest), kBlobSeed));
    EncodeFixed64(bytes_, hash.low);
    EncodeFixed64(bytes_ + 8, hash.high);
  }
  [[nodiscard]] Slice AsSlice() const { return Slice(bytes_, sizeof(bytes_)); }

 private:
  static constexpr size_t kRestBytes = 40;
  static constexpr uint64_t kBlobSeed = 0x626c6f62;

  char bytes_[16];
};

}  // namespace

BlobCache::BlobCache(std::shared_ptr<Cache> cache, std::shared_ptr<BlobCacheCharge> charge,
                     Statistics* statistics)
    : cache_(std::move(cache)),
      charge_(std::move(charge)),
      statistics_(statistics),
      id_(cache_->NewId()) {}

void BlobCache::Pin(Cache::Handle* handle, PinnableSlice* value) const {
  const auto* const blob = static_cast<const KeptBlob*>(cache_->Value(handle));
  Cleanable pin;
  MoveHandleTo(cache_, handle, &pin);
  value->Reset();
  value->PinSlice(blob->value(), &pin);
}

bool BlobCache::Find(const Slice& user_key, const BlobReference& reference,
                     PinnableSlice* value) const {
  Cache::Handle* const handle = cache_->Lookup(BlobKey(id_, user_key, reference).AsSlice());
  if (handle == nullptr) {
    RecordTick(statistics_, BLOB_DB_CACHE_MISS);
    return false;
  }
  const size_t charge = cache_->GetCharge(handle);
  RecordTick(statistics_, BLOB_DB_CACHE_HIT);
  RecordTick(statistics_, BLOB_DB_CACHE_BYTES_READ, charge);
  AddPerfCount<&PerfContext::blob_cache_hit_count>();
  AddPerfCount<&PerfContext::blob_cache_read_byte>(charge);
  Pin(handle, value);
  return true;
}

// Charges the block cache before the copy is made. A refusal by either cache and a failed
// allocation are only counted: the value is not cached.
Cache::Handle* BlobCache::Insert(const Slice& user_key, const BlobReference& reference,
                                 const Slice& value) const {
  MemoryAllocator* const allocator = cache_->memory_allocator();
  const size_t charge = sizeof(KeptBlob) + value.size();
  const bool has_room = charge_ == nullptr || charge_->MakeRoom(charge);
  KeptBlob* const blob = has_room ? KeptBlob::Copy(value, allocator) : nullptr;
  Cache::Handle* handle = nullptr;
  if (blob != nullptr && !cache_
                              ->Insert(BlobKey(id_, user_key, reference).AsSlice(), blob,
                                       &kBlobHelper, charge, &handle, Cache::Priority::BOTTOM)
                              .ok()) {
    KeptBlob::Free(blob, allocator);
    handle = nullptr;
  }
  if (handle == nullptr) {
    RecordTick(statistics_, BLOB_DB_CACHE_ADD_FAILURES);
    return nullptr;
  }
  RecordTick(statistics_, BLOB_DB_CACHE_ADD);
  RecordTick(statistics_, BLOB_DB_CACHE_BYTES_WRITE, charge);
  return handle;
}

void BlobCache::Keep(const Slice& user_key, const BlobReference& reference,
                     PinnableSlice* value) const {
  Cache::Handle* const handle = Insert(user_key, reference, *value);
  if (handle != nullptr) Pin(handle, value);
}

void BlobCache::KeepUnread(const Slice& user_key, const BlobReference& reference,
                           const Slice& value) const {
  Cache::Handle* const handle = Insert(user_key, reference, value);
  if (handle != nullptr) cache_->Release(handle);
}

}  // namespace varve
