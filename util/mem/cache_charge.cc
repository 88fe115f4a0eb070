// SPDX-License-Identifier: Apache-2.0
// Inserting and releasing the placeholders of CacheCharge.

#include "util/mem/cache_charge.h"

#include <algorithm>
#include <array>
#include <utility>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/coding/fixed.h"

namespace varve {

namespace {

template <size_t... kRoles>
constexpr std::array<Cache::CacheItemHelper, sizeof...(kRoles)> MakeHelpers(
    std::index_sequence<kRoles...> /*roles*/) {
  return {Cache::CacheItemHelper(static_cast<CacheEntryRole>(kRoles))...};
}

// Placeholders hold no object, so nothing has to be freed; one helper a role, living for ever.
constexpr auto kHelpers = MakeHelpers(std::make_index_sequence<kNumCacheEntryRoles>());

}  // namespace

CacheCharge::CacheCharge(std::shared_ptr<Cache> cache, CacheEntryRole role)
    : cache_(std::move(cache)),
      helper_(&kHelpers[static_cast<size_t>(role)]),
      id_(cache_->NewId()) {}

CacheCharge::~CacheCharge() {
  MutexLock lock(&mutex_);
  for (Cache::Handle* handle : handles_) cache_->Release(handle, /*erase_if_last_ref=*/true);
}

void CacheCharge::Add(size_t bytes) {
  MutexLock lock(&mutex_);
  bytes_ += bytes;
  Adjust();
}

void CacheCharge::Subtract(size_t bytes) {
  MutexLock lock(&mutex_);
  bytes_ -= std::min(bytes, bytes_);
  Adjust();
}

size_t CacheCharge::charged() const {
  MutexLock lock(&mutex_);
  return handles_.size() * kStepBytes;
}

void CacheCharge::Adjust() {
  while (handles_.size() * kStepBytes < bytes_) {
    char key[16];
    EncodeFixed64(key, id_);
    EncodeFixed64(key + 8, next_key_++);
    Cache::Handle* handle = nullptr;
    const Status status =
        cache_->Insert(Slice(key, sizeof(key)), nullptr, helper_, kStepBytes, &handle);
    if (!status.ok() || handle == nullptr) return;
    handles_.push_back(handle);
  }
  if (bytes_ >= handles_.size() * kStepBytes / 4 * 3) return;
  while (!handles_.empty() && (handles_.size() - 1) * kStepBytes >= bytes_) {
    cache_->Release(handles_.back(), /*erase_if_last_ref=*/true);
    handles_.pop_back();
  }
}

}  // namespace varve
