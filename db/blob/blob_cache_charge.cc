// SPDX-License-Identifier: Apache-2.0
#include "db/blob/blob_cache_charge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "util/sync/fork_watch.h"

namespace varve {

namespace {

// The charges of this process, by cache of values and block cache.
class ChargesOfProcess final : private ForkWatch {
 public:
  static ChargesOfProcess* Get() {
    static auto* const only = new ChargesOfProcess;
    return only;
  }

  // Returns the charge of this pair of caches. Adds `made` if there is none.
  std::shared_ptr<BlobCacheCharge> FindOrAdd(const Cache* values, const Cache* blocks,
                                             std::shared_ptr<BlobCacheCharge> made) {
    MutexLock lock(&mutex_);
    std::erase_if(charges_, [](const auto& charge) { return charge.second.expired(); });
    std::weak_ptr<BlobCacheCharge>& known = charges_[{values, blocks}];
    std::shared_ptr<BlobCacheCharge> found = known.lock();
    if (found != nullptr) return found;
    known = made;
    return made;
  }

 private:
  ChargesOfProcess() { Watch(&mutex_); }

  Mutex mutex_;
  std::map<std::pair<const Cache*, const Cache*>, std::weak_ptr<BlobCacheCharge>> charges_
      VARVE_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<BlobCacheCharge> BlobCacheCharge::Of(const std::shared_ptr<Cache>& values,
                                                     const BlockBasedTableOptions& table) {
  if (values == nullptr || values == table.block_cache) return nullptr;
  std::shared_ptr<CacheCharge> charge = NewCacheCharge(table, CacheEntryRole::kBlobCache);
  if (charge == nullptr || values->GetCapacity() > table.block_cache->GetCapacity()) return nullptr;
  std::shared_ptr<BlobCacheCharge> made(new BlobCacheCharge(values, std::move(charge)));
  return ChargesOfProcess::Get()->FindOrAdd(values.get(), table.block_cache.get(), std::move(made));
}

BlobCacheCharge::BlobCacheCharge(std::shared_ptr<Cache> values, std::shared_ptr<CacheCharge> charge)
    : values_(std::move(values)), bytes_(std::move(charge)) {}

bool BlobCacheCharge::MakeRoom(size_t bytes) {
  MutexLock lock(&mutex_);
  const size_t held = values_->GetUsage() + bytes;
  return bytes_.TrySet(std::min(held, values_->GetCapacity())).ok();
}

}  // namespace varve
