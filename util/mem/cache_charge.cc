// SPDX-License-Identifier: Apache-2.0
// Implements inserting and releasing the placeholders of CacheCharge, and checking the options for
// it.

#include "util/mem/cache_charge.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/coding/fixed.h"
#include "util/sync/lock_ranks.h"

namespace varve {

namespace {

template <size_t... kRoles>
constexpr std::array<Cache::CacheItemHelper, sizeof...(kRoles)> MakeHelpers(
    std::index_sequence<kRoles...> /*roles*/) {
  return {Cache::CacheItemHelper(static_cast<CacheEntryRole>(kRoles))...};
}

// Placeholders hold no object, so nothing has to be freed; there is one helper a role, which lives
// until the process ends.
constexpr auto kHelpers = MakeHelpers(std::make_index_sequence<kNumCacheEntryRoles>());

// True if cache_usage_options may name the role. Write buffers are charged by their
// WriteBufferManager.
bool MayBeCharged(CacheEntryRole role) {
  switch (role) {
    case CacheEntryRole::kCompressionDictionaryBuildingBuffer:
    case CacheEntryRole::kFilterConstruction:
    case CacheEntryRole::kBlockBasedTableReader:
    case CacheEntryRole::kFileMetadata:
    case CacheEntryRole::kBlobCache:
      return true;
    default:
      return false;
  }
}

}  // namespace

CacheCharge::CacheCharge(std::shared_ptr<Cache> cache, CacheEntryRole role)
    : cache_(std::move(cache)),
      helper_(&kHelpers[static_cast<size_t>(role)]),
      id_(cache_->NewId()) {}

CacheCharge::~CacheCharge() {
  MutexLock lock(&mutex_);
  while (!handles_.empty()) GiveOneBack();
}

void CacheCharge::Add(size_t bytes) {
  MutexLock lock(&mutex_);
  bytes_ += bytes;
  Cover().PermitUncheckedError();
}

void CacheCharge::Subtract(size_t bytes) {
  MutexLock lock(&mutex_);
  bytes_ -= std::min(bytes, bytes_);
  // A charge that was refused before may find room now.
  Cover().PermitUncheckedError();
  Trim();
}

void CacheCharge::StartAnewInChild() {
  if (mutex_.TryLock()) {
    bytes_ = 0;
    mutex_.Unlock();
    return;
  }
  // Another thread of the parent was at work: the placeholders it had inserted are lost.
  std::construct_at(&mutex_, lock_ranks::kCacheCharge);
  bytes_ = 0;
  std::construct_at(&handles_);
  charged_.store(0, std::memory_order_relaxed);
}

Status CacheCharge::TryAdd(size_t bytes) {
  MutexLock lock(&mutex_);
  const size_t held = handles_.size();
  bytes_ += bytes;
  Status s = Cover();
  if (s.ok()) return s;
  bytes_ -= bytes;
  while (handles_.size() > held) GiveOneBack();
  return s;
}

Status CacheCharge::Cover() {
  while (handles_.size() * kStepBytes < bytes_) {
    char key[16];
    EncodeFixed64(key, id_);
    EncodeFixed64(key + 8, next_key_++);
    Cache::Handle* handle = nullptr;
    Status s = cache_->Insert(Slice(key, sizeof(key)), nullptr, helper_, kStepBytes, &handle);
    if (!s.ok() || handle == nullptr) {
      return Status::MemoryLimit("block cache has no room to charge",
                                 GetCacheEntryRoleName(helper_->role));
    }
    handles_.push_back(handle);
    charged_.store(handles_.size() * kStepBytes, std::memory_order_relaxed);
  }
  return Status::OK();
}

// Waits until a quarter of the charge is not needed, so that a sum which goes up and down a little
// does not insert and erase placeholders each time.
void CacheCharge::Trim() {
  if (bytes_ >= handles_.size() * kStepBytes / 4 * 3) return;
  while (!handles_.empty() && (handles_.size() - 1) * kStepBytes >= bytes_) GiveOneBack();
}

void CacheCharge::GiveOneBack() {
  cache_->Release(handles_.back(), /*erase_if_last_ref=*/true);
  handles_.pop_back();
  charged_.store(handles_.size() * kStepBytes, std::memory_order_relaxed);
}

void ChargedBytes::Set(size_t bytes) {
  if (charge_ != nullptr && bytes > bytes_) charge_->Add(bytes - bytes_);
  if (charge_ != nullptr && bytes < bytes_) charge_->Subtract(bytes_ - bytes);
  bytes_ = bytes;
}

Status ChargedBytes::TrySet(size_t bytes) {
  if (charge_ != nullptr && bytes > bytes_) {
    Status s = charge_->TryAdd(bytes - bytes_);
    if (!s.ok()) return s;
    bytes_ = bytes;
  }
  Set(bytes);
  return Status::OK();
}

bool IsCharged(const BlockBasedTableOptions& table, CacheEntryRole role) {
  using Decision = CacheEntryRoleOptions::Decision;
  if (!MayBeCharged(role)) return false;
  const CacheUsageOptions& usage = table.cache_usage_options;
  Decision decision = Decision::kFallback;
  const auto it = usage.options_overrides.find(role);
  if (it != usage.options_overrides.end()) decision = it->second.charged;
  if (decision == Decision::kFallback) decision = usage.options.charged;
  // Where the user has decided nothing, RocksDB charges this role only.
  if (decision == Decision::kFallback) {
    return role == CacheEntryRole::kCompressionDictionaryBuildingBuffer;
  }
  return decision == Decision::kEnabled;
}

std::shared_ptr<CacheCharge> NewCacheCharge(const BlockBasedTableOptions& table,
                                            CacheEntryRole role) {
  if (table.no_block_cache || table.block_cache == nullptr || !IsCharged(table, role)) {
    return nullptr;
  }
  return std::make_shared<CacheCharge>(table.block_cache, role);
}

Status CheckCacheUsage(const BlockBasedTableOptions& table) {
  using Decision = CacheEntryRoleOptions::Decision;
  const std::string name = "BlockBasedTableOptions::cache_usage_options: ";
  const CacheUsageOptions& usage = table.cache_usage_options;
  if (table.no_block_cache && usage.options.charged == Decision::kEnabled) {
    return Status::InvalidArgument(name + "there is no block cache to charge");
  }
  for (const auto& [role, options] : usage.options_overrides) {
    if (options.charged == Decision::kFallback) continue;
    if (!MayBeCharged(role)) {
      return Status::NotSupported(name + "memory of role", GetCacheEntryRoleName(role));
    }
    if (table.no_block_cache && options.charged == Decision::kEnabled) {
      return Status::InvalidArgument(name + "there is no block cache to charge",
                                     GetCacheEntryRoleName(role));
    }
  }
  return Status::OK();
}

}  // namespace varve
