// SPDX-License-Identifier: Apache-2.0

// Creates caches from text: a capacity, or the options of a cache.

#include "util/options/cache_text.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "varve/cache.h"
#include "varve/convenience.h"

#include "util/base/status_macros.h"
#include "util/options/option_schema.h"
#include "util/options/option_text.h"
#include "util/options/option_types.h"

namespace varve {

// Defined in a higher layer. A program without caches, such as util's own tests, creates none from
// text either.
[[gnu::weak]] std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options);
[[gnu::weak]] std::shared_ptr<Cache> MakeHyperClockCache(const HyperClockCacheOptions& options);

namespace {

constexpr char kLru[] = "LRUCache";
constexpr std::string_view kHyperClockNames[] = {"HyperClockCache", "AutoHyperClockCache",
                                                 "FixedHyperClockCache"};

// The kinds of caches share these fields, but each in a struct of its own, and a row knows its
// struct; hence a macro over the struct.
#define VARVE_SHARED_ROWS(T)                                                                      \
  MakeOptionRow<T, &T::capacity>("capacity", "bytes over all shards"),                            \
      MakeOptionRow<T, &T::num_shard_bits>("num_shard_bits", "2^this shards").Between(-1, 19),    \
      MakeOptionRow<T, &T::strict_capacity_limit>("strict_capacity_limit", "refuse, not exceed"), \
      MakeOptionRow<T, &T::hash_seed>("hash_seed", "of the places of entries").AtLeast(-2)

constexpr OptionRow kLruRows[] = {
    VARVE_SHARED_ROWS(LRUCacheOptions),
    MakeOptionRow<LRUCacheOptions, &LRUCacheOptions::high_pri_pool_ratio>(
        "high_pri_pool_ratio", "share for entries of high priority")
        .Between(0, 1),
    MakeOptionRow<LRUCacheOptions, &LRUCacheOptions::low_pri_pool_ratio>(
        "low_pri_pool_ratio", "share for entries of low priority")
        .Between(0, 1),
};

constexpr OptionRow kHyperClockRows[] = {
    VARVE_SHARED_ROWS(HyperClockCacheOptions),
    MakeOptionRow<HyperClockCacheOptions, &HyperClockCacheOptions::estimated_entry_charge>(
        "estimated_entry_charge", "bytes of a typical entry"),
    MakeOptionRow<HyperClockCacheOptions, &HyperClockCacheOptions::min_avg_entry_charge>(
        "min_avg_entry_charge", "bytes of the smallest usual entry"),
};

#undef VARVE_SHARED_ROWS

const OptionTable& LruOptionTable() {
  static const auto table = OptionTable::Of<LRUCacheOptions>("LRUCacheOptions", kLruRows);
  return table;
}

const OptionTable& HyperClockOptionTable() {
  static const auto table =
      OptionTable::Of<HyperClockCacheOptions, 0, 0>("HyperClockCacheOptions", kHyperClockRows);
  return table;
}

// `make` is null where the weak symbol above has no definition, in programs that link only the
// lower layers.
template <typename T>
Status Make(std::shared_ptr<Cache> (*make)(const T&), const T& options,
            std::shared_ptr<Cache>* result) {
  if (make == nullptr) return Status::NotSupported("this program has no caches");
  std::shared_ptr<Cache> made = make(options);
  if (made == nullptr) return Status::InvalidArgument("no cache has such options");
  *result = std::move(made);
  return Status::OK();
}

template <typename T>
Status Read(const OptionTable& table, const ConfigOptions& config, const OptionPairs& settings,
            T* options) {
  Status s = ApplyOptions(table, config, settings, OptionScope::kAll, options);
  return s.ok() ? CheckOptions(table, "", options) : s;
}

// Makes a cache of the named kind with these settings. Returns NotSupported for an unknown kind.
Status MakeOfKind(const ConfigOptions& config, const std::string& kind, const OptionPairs& settings,
                  std::shared_ptr<Cache>* result) {
  if (kind == kLru) {
    LRUCacheOptions options;
    const Status s = Read(LruOptionTable(), config, settings, &options);
    return s.ok() ? Make(&MakeLruCache, options, result) : s;
  }
  for (const std::string_view name : kHyperClockNames) {
    if (kind != name) continue;
    HyperClockCacheOptions options(0, 0);
    const Status s = Read(HyperClockOptionTable(), config, settings, &options);
    return s.ok() ? Make(&MakeHyperClockCache, options, result) : s;
  }
  return Status::NotSupported("no cache of that name", kind.substr(0, 60));
}

// True for digits with an optional sign before them and an optional unit behind them.
bool LooksLikeSize(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0 && text.size() <= 1 && std::string_view("KMGTkmgt").find(text) != text.npos;
}

}  // namespace

// Accepts, in this order:
//
//   "", "null", "nullptr", "{}"       no cache
//   "64M"                             an LRU cache of that capacity
//   "HyperClockCache"                 a kind with default options
//   "capacity=64M;num_shard_bits=4"   an LRU cache with options
//   "id=HyperClockCache;capacity=.."  a kind with options
Status Cache::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                               std::shared_ptr<Cache>* result) {
  const std::string_view text = TrimOptionText(value);
  if (text.empty() || text == "null" || text == "nullptr" || WithoutBraces(text).empty()) {
    result->reset();
    return Status::OK();
  }
  if (text.find('=') == std::string_view::npos) {
    uint64_t capacity = 0;
    if (!ParseUnsigned(WithoutBraces(text), SIZE_MAX, &capacity)) {
      if (LooksLikeSize(WithoutBraces(text))) {
        return Status::InvalidArgument("no cache has such a capacity", value.substr(0, 60));
      }
      return MakeOfKind(config_options, std::string(WithoutBraces(text)), {}, result);
    }
    LRUCacheOptions options;
    options.capacity = static_cast<size_t>(capacity);
    return Make(&MakeLruCache, options, result);
  }
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(text, &pairs));
  std::string kind = kLru;
  TakeId(&pairs, &kind);
  return MakeOfKind(config_options, kind, pairs, result);
}

}  // namespace varve
