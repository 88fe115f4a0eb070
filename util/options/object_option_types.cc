// SPDX-License-Identifier: Apache-2.0

// Defines option types that are objects: code that text can at best name, and shared resources.

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/concurrent_task_limiter.h"
#include "varve/convenience.h"
#include "varve/filter_policy.h"
#include "varve/flush_block_policy.h"
#include "varve/memtablerep.h"
#include "varve/merge_operator.h"
#include "varve/options.h"
#include "varve/slice_transform.h"
#include "varve/sst_file_manager.h"
#include "varve/sst_partitioner.h"
#include "varve/table.h"
#include "varve/wal_filter.h"

#include "util/base/registered_object.h"
#include "util/base/status_macros.h"
#include "util/options/memtable_factories.h"
#include "util/options/option_schema.h"
#include "util/options/option_text.h"
#include "util/options/option_types.h"
#include "util/options/table_kinds.h"

namespace varve {

namespace {

Status CannotBeMade(const std::string& id) {
  return Status::NotSupported("cannot be made from its name, set the object instead",
                              id.substr(0, 60));
}

template <typename T>
bool SameObject(const void* a, const void* b) {
  return *static_cast<const T*>(a) == *static_cast<const T*>(b);
}

// The class of the objects that a T, which is some pointer, points to.
template <typename T>
using ClassOf = std::remove_const_t<typename std::pointer_traits<T>::element_type>;

// True if the class creates objects from their names.
template <typename T>
concept Named = requires(const ConfigOptions& config, T* made) {
  ClassOf<T>::CreateFromString(config, std::string(), made);
};

// Parses an object whose class reads the whole text.
template <typename T>
Status ParseByClass(const ConfigOptions& config, std::string_view text, void* field) {
  return ClassOf<T>::CreateFromString(config, std::string(text), static_cast<T*>(field));
}

// Parses an object that text can set to null, and, for some classes, create. An Env is neither made
// nor set to null: text in a file must not take away the Env that the program has given.
template <typename T>
Status ParseOpaque(const ConfigOptions& config, std::string_view text, void* field) {
  std::string id;
  VARVE_RETURN_IF_ERROR(ObjectId(text, &id));
  if (!id.empty()) {
    if constexpr (!std::is_same_v<T, Env*> && Named<T>) {
      const bool has_options = text.find('=') != std::string_view::npos;
      return ParseByClass<T>(config, has_options ? text : id, field);
    }
    return CannotBeMade(id);
  }
  if constexpr (!std::is_same_v<T, Env*>) *static_cast<T*>(field) = T();
  return Status::OK();
}

template <typename T>
std::string PrintName(const OptionPrintStyle&, const void* field) {
  const auto& object = *static_cast<const T*>(field);
  return object == nullptr ? "nullptr" : object->Name();
}

// Prints an object with its options, if it has any.
template <typename T>
std::string PrintObject(const OptionPrintStyle&, const void* field) {
  const auto& object = *static_cast<const T*>(field);
  return object == nullptr ? "nullptr" : object->ToString(ConfigOptions());
}

// Returns a type without a print function: the option is in no text and no OPTIONS file, and
// equality is identity.
template <typename T>
OptionType OpaqueType() {
  return {"object", &ParseOpaque<T>, nullptr, &SameObject<T>};
}

// Returns a type that is printed with its options, but compared by identity: two objects of the
// program with one name may do different things.
template <typename T>
OptionType NamedType() {
  return {"object name", &ParseOpaque<T>, &PrintObject<T>, &SameObject<T>};
}

// ---- Objects that text can create ----

Status ParseComparator(const ConfigOptions& config, std::string_view text, void* field) {
  std::string id;
  Status s = ObjectId(text, &id);
  if (!s.ok()) return s;
  const Comparator* made = nullptr;
  s = Comparator::CreateFromString(config, id, &made);
  if (!s.ok()) return s;
  if (made == nullptr) return Status::InvalidArgument("a comparator is needed");
  *static_cast<const Comparator**>(field) = made;
  return Status::OK();
}

// Completes the id of a braced form such as {id=rocksdb.FixedPrefix;length=8}, which has the length
// of the prefix apart. Other ids stay as they are: those with a length, such as
// rocksdb.FixedPrefix.8, and those of a program's own classes.
Status AppendPrefixLength(std::string_view text, std::string* id) {
  constexpr std::string_view kMaker = "rocksdb.";
  std::string whole = id->starts_with(kMaker) ? *id : std::string(kMaker) + *id;
  if (whole != "rocksdb.FixedPrefix" && whole != "rocksdb.CappedPrefix") return Status::OK();
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(text, &pairs));
  const auto length = std::ranges::find(pairs, "length", &OptionPairs::value_type::first);
  if (length != pairs.end()) *id = std::move(whole) + "." + length->second;
  return Status::OK();
}

Status ParsePrefixExtractor(const ConfigOptions& config, std::string_view text, void* field) {
  std::string id;
  Status s = ObjectId(text, &id);
  if (s.ok() && IsBraced(TrimOptionText(text))) s = AppendPrefixLength(text, &id);
  if (!s.ok()) return s;
  return ParseByClass<std::shared_ptr<const SliceTransform>>(config, id, field);
}

Status ParseFilterPolicy(const ConfigOptions& config, std::string_view text, void* field) {
  std::string id;
  VARVE_RETURN_IF_ERROR(ObjectId(text, &id));
  return ParseByClass<std::shared_ptr<const FilterPolicy>>(config, id, field);
}

template <typename T>
std::string PrintId(const OptionPrintStyle&, const void* field) {
  const auto& object = *static_cast<const std::shared_ptr<T>*>(field);
  return object == nullptr ? "nullptr" : object->GetId();
}

// True if both have one id: such built-in objects are interchangeable, for instance two Bloom
// filter policies with the same bits.
template <typename T>
bool SameId(const void* a, const void* b) {
  const auto& left = *static_cast<const std::shared_ptr<T>*>(a);
  const auto& right = *static_cast<const std::shared_ptr<T>*>(b);
  if (left == nullptr || right == nullptr) return left == right;
  return left->GetId() == right->GetId();
}

// Blocks also end by size with nullptr, so nullptr and that policy's name mean the same.
Status ParseFlushBlockPolicy(const ConfigOptions& config, std::string_view text, void* field) {
  if (TrimOptionText(text) == FlushBlockBySizePolicyFactory::kClassName()) text = "nullptr";
  return ParseOpaque<std::shared_ptr<FlushBlockPolicyFactory>>(config, text, field);
}

Status ParseTableFactory(const ConfigOptions& config, std::string_view text, void* field) {
  text = TrimOptionText(text);
  if (text.empty() || text == "nullptr") return Status::InvalidArgument("a factory is needed");
  return ParseByClass<std::shared_ptr<TableFactory>>(config, text, field);
}

std::string PrintTableFactory(const OptionPrintStyle& style, const void* field) {
  const auto& factory = *static_cast<const std::shared_ptr<TableFactory>*>(field);
  if (factory == nullptr) return "nullptr";
  const TableKind* const kind = TableKindOf(factory.get());
  if (kind == nullptr || !style.detailed) return factory->Name();
  OptionPrintStyle inner = style;
  inner.delimiter = ";";
  return std::string("{id=") + factory->Name() + ";" +
         PrintOptions(kind->schema(), inner, kind->OptionsOf(*factory)) + "}";
}

// Sets an option in a new factory, which shares with the previous one what that points to.
Status SetTableOption(const ConfigOptions& config, std::string_view name, std::string_view value,
                      bool dynamic_only, void* field) {
  auto& factory = *static_cast<std::shared_ptr<TableFactory>*>(field);
  const TableKind* const kind = TableKindOf(factory.get());
  if (kind == nullptr) {
    return Status::InvalidArgument("the table factory has no such option", std::string(name));
  }
  std::shared_ptr<TableFactory> changed = kind->make(kind->OptionsOf(*factory));
  const OptionPairs one = {{std::string(name), std::string(value)}};
  VARVE_RETURN_IF_ERROR(ApplyOptions(kind->schema(), config, one,
                                     dynamic_only ? OptionScope::kDynamicOnly : OptionScope::kAll,
                                     kind->OptionsOf(changed.get())));
  factory = std::move(changed);
  return Status::OK();
}

bool EqualTableFactories(const void* a, const void* b) {
  const auto& left = *static_cast<const std::shared_ptr<TableFactory>*>(a);
  const auto& right = *static_cast<const std::shared_ptr<TableFactory>*>(b);
  if (left == nullptr || right == nullptr) return left == right;
  const TableKind* const kind = TableKindOf(left.get());
  if (kind == nullptr || kind != TableKindOf(right.get())) return left == right;
  return EqualOptions(kind->schema(), kind->OptionsOf(*left), kind->OptionsOf(*right));
}

bool EqualPaths(const void* a, const void* b) {
  const auto& left = *static_cast<const std::vector<DbPath>*>(a);
  const auto& right = *static_cast<const std::vector<DbPath>*>(b);
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].path != right[i].path || left[i].target_size != right[i].target_size) return false;
  }
  return true;
}

bool EqualCacheUsage(const void* a, const void* b) {
  const auto& left = *static_cast<const CacheUsageOptions*>(a);
  const auto& right = *static_cast<const CacheUsageOptions*>(b);
  return left.options == right.options && left.options_overrides == right.options_overrides;
}

Status ParseNoText(const ConfigOptions&, std::string_view text, void*) {
  if (WithoutBraces(text).empty()) return Status::OK();
  return Status::NotSupported("has no text form");
}

}  // namespace

VARVE_OPTION_TYPE(Env*, OpaqueType<Env*>())
VARVE_OPTION_TYPE(WalFilter*, OpaqueType<WalFilter*>())
VARVE_OPTION_TYPE(std::shared_ptr<RateLimiter>, OpaqueType<std::shared_ptr<RateLimiter>>())
VARVE_OPTION_TYPE(std::shared_ptr<SstFileManager>, OpaqueType<std::shared_ptr<SstFileManager>>())
VARVE_OPTION_TYPE(std::shared_ptr<ConcurrentTaskLimiter>,
                  OpaqueType<std::shared_ptr<ConcurrentTaskLimiter>>())
VARVE_OPTION_TYPE(std::shared_ptr<FileChecksumGenFactory>,
                  OpaqueType<std::shared_ptr<FileChecksumGenFactory>>())
VARVE_OPTION_TYPE(InplaceCallback, OpaqueType<InplaceCallback>())
VARVE_OPTION_TYPE(std::shared_ptr<Logger>, OpaqueType<std::shared_ptr<Logger>>())
VARVE_OPTION_TYPE(std::shared_ptr<Statistics>, OpaqueType<std::shared_ptr<Statistics>>())
VARVE_OPTION_TYPE(std::vector<std::shared_ptr<EventListener>>,
                  OpaqueType<std::vector<std::shared_ptr<EventListener>>>())
VARVE_OPTION_TYPE(std::shared_ptr<WriteBufferManager>,
                  OpaqueType<std::shared_ptr<WriteBufferManager>>())
VARVE_OPTION_TYPE(std::shared_ptr<Cache>, {"cache", &ParseByClass<std::shared_ptr<Cache>>, nullptr,
                                           &SameObject<std::shared_ptr<Cache>>})
VARVE_OPTION_TYPE(std::shared_ptr<PersistentCache>, OpaqueType<std::shared_ptr<PersistentCache>>())
VARVE_OPTION_TYPE(std::shared_ptr<UserDefinedIndexFactory>,
                  OpaqueType<std::shared_ptr<UserDefinedIndexFactory>>())
VARVE_OPTION_TYPE(std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>,
                  OpaqueType<std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>>())

VARVE_OPTION_TYPE(const CompactionFilter*, NamedType<const CompactionFilter*>())
VARVE_OPTION_TYPE(std::shared_ptr<CompactionFilterFactory>,
                  NamedType<std::shared_ptr<CompactionFilterFactory>>())
VARVE_OPTION_TYPE(std::shared_ptr<SstPartitionerFactory>,
                  NamedType<std::shared_ptr<SstPartitionerFactory>>())

VARVE_OPTION_TYPE(const Comparator*,
                  {"comparator name", &ParseComparator, &PrintName<const Comparator*>,
                   &SameObject<const Comparator*>})
VARVE_OPTION_TYPE(std::shared_ptr<const SliceTransform>,
                  {"prefix extractor", &ParsePrefixExtractor, &PrintId<const SliceTransform>,
                   &SameId<const SliceTransform>})
VARVE_OPTION_TYPE(std::shared_ptr<const FilterPolicy>,
                  {"filter policy", &ParseFilterPolicy, &PrintId<const FilterPolicy>,
                   &SameId<const FilterPolicy>})
VARVE_OPTION_TYPE(std::shared_ptr<MergeOperator>,
                  {"merge operator", &ParseByClass<std::shared_ptr<MergeOperator>>,
                   &PrintId<MergeOperator>, &SameId<MergeOperator>})
VARVE_OPTION_TYPE(std::shared_ptr<FlushBlockPolicyFactory>,
                  {"object", &ParseFlushBlockPolicy, nullptr,
                   &SameObject<std::shared_ptr<FlushBlockPolicyFactory>>})
VARVE_OPTION_TYPE(std::shared_ptr<MemTableRepFactory>,
                  {"memtable factory", &ParseByClass<std::shared_ptr<MemTableRepFactory>>,
                   &PrintId<MemTableRepFactory>, &SameId<MemTableRepFactory>})
VARVE_OPTION_TYPE(std::shared_ptr<TableFactory>,
                  {"table factory", &ParseTableFactory, &PrintTableFactory, &EqualTableFactories,
                   nullptr, nullptr, &SetTableOption})
VARVE_OPTION_TYPE(std::vector<DbPath>, {"paths", &ParseNoText, nullptr, &EqualPaths})
VARVE_OPTION_TYPE(CacheUsageOptions, {"struct", &ParseNoText, nullptr, &EqualCacheUsage})

}  // namespace varve
