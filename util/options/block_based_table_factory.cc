// SPDX-License-Identifier: Apache-2.0

// Accesses the options of a block-based table factory, through their rows in the schema.

#include "util/options/block_based_table_factory.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "varve/convenience.h"
#include "varve/table.h"

#include "util/base/registered_object.h"
#include "util/base/status_macros.h"
#include "util/options/cache_text.h"
#include "util/options/option_schema.h"
#include "util/options/option_text.h"
#include "util/options/table_kinds.h"
#include "util/options/validate_options.h"
#include "util/sync/fork_watch.h"

namespace varve {

// Defined in a higher layer: a program without caches has none here, either.
[[gnu::weak]] std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options);

namespace {

// Restores the braces of a struct, or of an object with options, that StringToMap has removed.
// ConfigureOptions gets a map whose values have lost their outer braces, while the parsers of
// structs and objects expect them.
std::string InBraces(const std::string& value) {
  return value.find('=') == std::string::npos || IsBraced(value) ? value : "{" + value + "}";
}

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
  if (name == BlockBasedTableOptions::kName()) return &table_options_;
  if (name == kBlockCacheOpts()) return table_options_.block_cache.get();
  return nullptr;
}

// Applies to a copy, so that an error in any option, also one that only the base class knows,
// leaves the factory as it was. The map has no order; no option may depend on another one being set
// first.
Status BlockBasedTableFactory::ConfigureOptions(
    const ConfigOptions& config, const std::unordered_map<std::string, std::string>& map,
    std::unordered_map<std::string, std::string>* unused) {
  BlockBasedTableOptions changed = table_options_;
  std::unordered_map<std::string, std::string> others;
  for (const auto& [name, value] : map) {
    bool found = false;
    const Status s = ApplyOption(BlockBasedTableOptionTable(), config, name, InBraces(value),
                                 OptionScope::kAll, &changed, &found);
    if (!found) {
      others.emplace(name, value);
    } else if (!s.ok()) {
      return s;
    }
  }
  VARVE_RETURN_IF_ERROR(TableFactory::ConfigureOptions(config, others, unused));
  table_options_ = std::move(changed);
  return Status::OK();
}

std::string BlockBasedTableFactory::PrintOptions(const ConfigOptions& config) const {
  const OptionPrintStyle style = {.detailed = config.IsDetailed(),
                                  .dynamic_only = config.mutable_options_only};
  return varve::PrintOptions(BlockBasedTableOptionTable(), style, &table_options_);
}

Status BlockBasedTableFactory::GetOption(const ConfigOptions& config, const std::string& name,
                                         std::string* value) const {
  const OptionRow* const row = BlockBasedTableOptionTable().Find(name);
  // Distinguishes an option that exists but cannot be printed, such as block_cache, from a wrong
  // name.
  if (row == nullptr || row->HasText()) return TableFactory::GetOption(config, name, value);
  return Status::NotSupported("has no text form", name);
}

std::string BlockBasedTableFactory::GetPrintableOptions() const {
  std::string text;
  for (const OptionRow& row : BlockBasedTableOptionTable().rows()) {
    if (!row.HasText()) continue;
    text.append("  ").append(row.name).append(": ");
    text.append(row.type().print({}, row.Field(&table_options_))).append("\n");
  }
  return text;
}

Status BlockBasedTableFactory::ValidateOptions(const DBOptions& db,
                                               const ColumnFamilyOptions& cf) const {
  ColumnFamilyOptions with_these = cf;
  with_these.table_factory = std::make_shared<BlockBasedTableFactory>(table_options_);
  return varve::ValidateOptions(db, with_these);
}

// Factories are shared by families, databases and threads that open them at once, so that one
// default cache serves all. The cache is made between two holds of the mutex: creating it may take
// long, and two threads may make one each. The first to come back wins; the other's cache is freed
// after the mutex, because `other` was declared before the lock.
Status BlockBasedTableFactory::PrepareOptions(const ConfigOptions& /*config*/) {
  std::shared_ptr<Cache>& cache = table_options_.block_cache;
  std::shared_ptr<Cache> other;  // Created and freed without the mutex.
  const auto needs_cache = [&] { return cache == nullptr && !table_options_.no_block_cache; };
  {
    MutexLock lock(PreparationMutex::Get());
    // Only an earlier preparation can have set it together with no_block_cache. Where there is
    // nothing to take away nothing is written: users of the factory read the field beside this.
    if (table_options_.no_block_cache && cache != nullptr && cache == default_cache_) {
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

// An existing factory keeps all options that the text does not name, also those without a text
// form.
Status TableFactory::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                      std::shared_ptr<TableFactory>* result) {
  std::string id;
  std::unordered_map<std::string, std::string> options;
  VARVE_RETURN_IF_ERROR(Customizable::GetOptionsMap(value, kBlockBasedTableName(), &id, &options));
  std::shared_ptr<TableFactory> made;
  if (!id.empty()) {
    Status s = NewRegisteredObject(config_options, id, &made);
    const TableKind* const kind = s.IsNotFound() ? FindTableKind(id) : nullptr;
    // A registered class of the user goes before a built-in one of the same name, and gets no copy
    // of the previous options, as nothing is known of its own.
    if (kind != nullptr) {
      const void* const current = *result == nullptr ? nullptr : kind->options_of(**result);
      made = kind->make(kind->copy(current).get());
    } else if (!s.ok()) {
      return s.IsNotFound() ? Status::NotSupported("no table factory of that name", id) : s;
    }
    VARVE_RETURN_IF_ERROR(ConfigureNewObject(config_options, made.get(), options));
  }
  *result = std::move(made);
  return Status::OK();
}

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return std::make_unique<BlockBasedTableFactory>(table_options).release();
}

}  // namespace varve
