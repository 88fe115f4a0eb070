// SPDX-License-Identifier: Apache-2.0

// Implements CreateFromString of the classes that have at most one or two built-in kinds.

#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "varve/compaction_filter.h"
#include "varve/customizable.h"
#include "varve/env.h"
#include "varve/file_checksum.h"
#include "varve/file_system.h"
#include "varve/flush_block_policy.h"
#include "varve/listener.h"
#include "varve/memory_allocator.h"
#include "varve/sst_partitioner.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"
#include "varve/table_properties.h"
#include "varve/utilities/object_registry.h"

#include "util/base/caught_exception.h"
#include "util/base/registered_object.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

using ObjectOptions = std::unordered_map<std::string, std::string>;

template <typename Pointer>
Status NotKnown(const std::string& id) {
  return Status::NotSupported(std::string(std::pointer_traits<Pointer>::element_type::Type()) +
                                  ": no such name is built in or registered",
                              id.substr(0, 60));
}

// Options are applied to new objects only; an object that may have been in use accepts none.
template <typename Pointer>
Status ConfigureMade(const ConfigOptions& config, const ObjectOptions& options,
                     const Pointer& made) {
  if constexpr (std::is_const_v<typename std::pointer_traits<Pointer>::element_type>) {
    if (options.empty()) return Status::OK();
    return Status::InvalidArgument("the object is constant: no such option",
                                   options.begin()->first);
  } else {
    return Customizable::ConfigureNewObject(config, &*made, options);
  }
}

// Creates a registered object, or else what `builtin` makes of the id (null if nothing). Without an
// id, sets null.
template <typename Pointer, typename Builtin>
Status CreateObject(const ConfigOptions& config, const std::string& value, Builtin builtin,
                    Pointer* result) {
  std::string id;
  ObjectOptions options;
  VARVE_RETURN_IF_ERROR(Customizable::GetOptionsMap(value, "", &id, &options));
  Pointer made = nullptr;
  if (!id.empty()) {
    Status s = NewRegisteredObject(config, id, &made);
    if (s.IsNotFound()) {
      made = builtin(id);
      if (made == nullptr) return NotKnown<Pointer>(id);
    } else if (!s.ok()) {
      return s;
    }
    VARVE_RETURN_IF_ERROR(ConfigureMade(config, options, made));
  }
  *result = std::move(made);
  return Status::OK();
}

// Used where nothing is built in.
std::nullptr_t None(const std::string& /*id*/) {
  return nullptr;
}

// Used where one object is built in, which `make` returns.
template <typename Maker>
auto Only(Maker make) {
  return [make](const std::string& id) {
    auto made = make();
    return made->IsInstanceOf(id) ? made : nullptr;
  };
}

}  // namespace

// ---- Objects of column families ----

Status CompactionFilter::CreateFromString(const ConfigOptions& config_options,
                                          const std::string& value,
                                          const CompactionFilter** result) {
  return CreateObject(config_options, value, &None, result);
}

Status CompactionFilterFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& value,
                                                 std::shared_ptr<CompactionFilterFactory>* result) {
  return CreateObject(config_options, value, &None, result);
}

Status FlushBlockPolicyFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& value,
                                                 std::shared_ptr<FlushBlockPolicyFactory>* result) {
  // Null means "by size" to the table builder, so the built-in policy needs no object.
  const bool by_size = value == FlushBlockBySizePolicyFactory::kClassName();
  return CreateObject(config_options, by_size ? "" : value, &None, result);
}

Status SstPartitionerFactory::CreateFromString(const ConfigOptions& config_options,
                                               const std::string& value,
                                               std::shared_ptr<SstPartitionerFactory>* result) {
  const auto make = [] { return NewSstPartitionerFixedPrefixFactory(0); };
  return CreateObject(config_options, value, Only(make), result);
}

Status TablePropertiesCollectorFactory::CreateFromString(
    const ConfigOptions& config_options, const std::string& value,
    std::shared_ptr<TablePropertiesCollectorFactory>* result) {
  return CreateObject(config_options, value, &None, result);
}

// ---- Objects of databases ----

Status EventListener::CreateFromString(const ConfigOptions& config_options,
                                       const std::string& value,
                                       std::shared_ptr<EventListener>* result) {
  return CreateObject(config_options, value, &None, result);
}

Status FileChecksumGenFactory::CreateFromString(const ConfigOptions& config_options,
                                                const std::string& value,
                                                std::shared_ptr<FileChecksumGenFactory>* result) {
  const auto builtin = [](const std::string& id) {
    std::shared_ptr<FileChecksumGenFactory> crc32c = GetFileChecksumGenCrc32cFactory();
    const bool known = crc32c->IsInstanceOf(id) || id == kStandardDbFileChecksumFuncName;
    return known ? crc32c : nullptr;
  };
  return CreateObject(config_options, value, builtin, result);
}

Status MemoryAllocator::CreateFromString(const ConfigOptions& config_options,
                                         const std::string& value,
                                         std::shared_ptr<MemoryAllocator>* result) {
  return CreateObject(config_options, value, &None, result);
}

// An empty text makes statistics, where an empty text for most classes makes null: a program that
// asks for statistics without a name wants some.
Status Statistics::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                    std::shared_ptr<Statistics>* result) {
  if (!value.empty()) {
    return CreateObject(config_options, value, Only(&CreateDBStatistics), result);
  }
  *result = CreateDBStatistics();
  return Status::OK();
}

// ---- Objects of the system ----

Status FileSystem::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                    std::shared_ptr<FileSystem>* result) {
  return CreateObject(config_options, value, Only(&FileSystem::Default), result);
}

Status SystemClock::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                     std::shared_ptr<SystemClock>* result) {
  return CreateObject(config_options, value, Only(&SystemClock::Default), result);
}

Status Env::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                             Env** result) {
  if (!value.empty()) return CreateObject(config_options, value, Only(&Env::Default), result);
  *result = Env::Default();
  return Status::OK();
}

Status Env::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                             Env** result, std::shared_ptr<Env>* guard) {
  std::string id;
  ObjectOptions options;
  VARVE_RETURN_IF_ERROR(Customizable::GetOptionsMap(value, "", &id, &options));
  Env* env = nullptr;
  std::unique_ptr<Env> owned;
  // A registered factory may give a new Env, which *guard then owns, or a shared one, for which the
  // guard stays empty. The built-in Envs live for ever.
  if (config_options.registry != nullptr && config_options.registry->GetFactory<Env>(id)) {
    VARVE_RETURN_IF_ERROR(
        Guarded([&] { return config_options.registry->NewObject(id, &env, &owned); }));
    VARVE_RETURN_IF_ERROR(ConfigureMade(config_options, options, env));
  } else {
    VARVE_RETURN_IF_ERROR(CreateFromString(config_options, value, &env));
  }
  *result = env;
  *guard = std::move(owned);
  return Status::OK();
}

}  // namespace varve
