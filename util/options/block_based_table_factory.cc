// SPDX-License-Identifier: Apache-2.0

// Checks and prepares the options of block-based tables.

#include "util/options/block_based_table_factory.h"

#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/table.h"

#include "util/options/cache_text.h"
#include "util/options/validate_options.h"
#include "util/sync/fork_watch.h"

namespace varve {

// Defined in a higher layer: a program without caches has none here, either.
[[gnu::weak]] std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options);

namespace {

constexpr size_t kDefaultBlockCacheBytes = 32 << 20;

// Serializes the preparation of factories.
class PreparationMutex final : private ForkWatch {
 public:
  static Mutex* Get() {
    static auto* const only = new PreparationMutex;
    return &only->mu_;
  }

 private:
  PreparationMutex() { Watch(&mu_); }

  Mutex mu_;
};

}  // namespace

std::string TableFactoryField(const std::string& name) {
  constexpr std::string_view kPrefix = "block_based_table_factory.";
  return name.starts_with(kPrefix) ? "table_factory." + name.substr(kPrefix.size()) : "";
}

const void* BlockBasedTableFactory::GetOptionsPtr(const std::string& name) const {
  return name == kBlockCacheOpts() ? options_.block_cache.get() : SchemaObject::GetOptionsPtr(name);
}

Status BlockBasedTableFactory::ValidateOptions(const DBOptions& db,
                                               const ColumnFamilyOptions& cf) const {
  ColumnFamilyOptions with_these = cf;
  with_these.table_factory = std::make_shared<BlockBasedTableFactory>(options_);
  return varve::ValidateOptions(db, with_these);
}

// Factories are shared by families, databases and threads that open them at once, so that one
// default cache serves all. The cache is made between two holds of the mutex: creating it may take
// long, and two threads may make one each. The first to come back wins; the other's cache is freed
// after the mutex, because `other` was declared before the lock.
Status BlockBasedTableFactory::PrepareOptions(const ConfigOptions& /*config*/) {
  std::shared_ptr<Cache>& cache = options_.block_cache;
  std::shared_ptr<Cache> other;  // Created and freed without the mutex.
  const auto needs_cache = [&] { return cache == nullptr && !options_.no_block_cache; };
  {
    MutexLock lock(PreparationMutex::Get());
    // no_block_cache was set after an earlier preparation, whose default cache is taken away. The
    // field is written only where it must change: users of the factory read it beside this.
    if (options_.no_block_cache && cache != nullptr && cache == default_cache_) {
      cache.swap(other);
    }
    if (!needs_cache()) return Status::OK();
    cache = default_cache_;
    if (!needs_cache() || MakeLruCache == nullptr) return Status::OK();
  }
  LRUCacheOptions options;
  options.capacity = kDefaultBlockCacheBytes;
  other = MakeLruCache(options);
  MutexLock lock(PreparationMutex::Get());
  if (default_cache_ == nullptr) default_cache_ = other;
  if (needs_cache()) cache = default_cache_;
  return Status::OK();
}

}  // namespace varve
