// SPDX-License-Identifier: Apache-2.0

// Implements the public functions over a database's OPTIONS files.

#include "varve/utilities/options_util.h"

#include <map>

#include "varve/table.h"

#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// Returns the configuration of the forms without ConfigOptions. Objects that text cannot make are
// dropped: a program that opens a database sets its comparators and operators anyway.
ConfigOptions LenientConfig(Env* env, bool ignore_unknown_options) {
  ConfigOptions config;
  config.env = env;
  config.ignore_unknown_options = ignore_unknown_options;
  return config;
}

// Makes the family's block-based tables use the cache, unless they are to use none.
void UseCache(const std::shared_ptr<Cache>& cache, ColumnFamilyOptions* cf) {
  const auto* const options = cf->table_factory->GetOptions<BlockBasedTableOptions>();
  if (options == nullptr || options->no_block_cache) return;
  BlockBasedTableOptions changed = *options;
  changed.block_cache = cache;
  cf->table_factory.reset(NewBlockBasedTableFactory(changed));
}

}  // namespace

// Both results change together, after everything has succeeded.
Status LoadOptionsFromFile(const ConfigOptions& config_options,
                           const std::string& options_file_name, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache) {
  OptionsFileContents contents;
  VARVE_RETURN_IF_ERROR(ReadOptionsFile(config_options, config_options.env->GetFileSystem().get(),
                                        options_file_name, &contents));
  contents.db_options.env = config_options.env;
  if (cache != nullptr && *cache != nullptr) {
    for (ColumnFamilyDescriptor& family : contents.column_families) {
      UseCache(*cache, &family.options);
    }
  }
  *db_options = std::move(contents.db_options);
  *cf_descs = std::move(contents.column_families);
  return Status::OK();
}

Status LoadOptionsFromFile(const std::string& options_file_name, Env* env, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           bool ignore_unknown_options, std::shared_ptr<Cache>* cache) {
  return LoadOptionsFromFile(LenientConfig(env, ignore_unknown_options), options_file_name,
                             db_options, cf_descs, cache);
}

Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                std::string* options_file_name) {
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(ListOptionsFiles(env->GetFileSystem().get(), dbpath, &numbers));
  if (numbers.empty()) return Status::NotFound("no OPTIONS file in", dbpath);
  *options_file_name = OptionsFileBaseName(numbers.front());
  return Status::OK();
}

Status LoadLatestOptions(const ConfigOptions& config_options, const std::string& dbpath,
                         DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                         std::shared_ptr<Cache>* cache) {
  std::string name;
  VARVE_RETURN_IF_ERROR(GetLatestOptionsFileName(dbpath, config_options.env, &name));
  return LoadOptionsFromFile(config_options, dbpath + "/" + name, db_options, cf_descs, cache);
}

Status LoadLatestOptions(const std::string& dbpath, Env* env, DBOptions* db_options,
                         std::vector<ColumnFamilyDescriptor>* cf_descs, bool ignore_unknown_options,
                         std::shared_ptr<Cache>* cache) {
  return LoadLatestOptions(LenientConfig(env, ignore_unknown_options), dbpath, db_options, cf_descs,
                           cache);
}

// Compares what decides whether data can be read: the set of families and their comparators. Other
// differences are allowed, as opening applies the new options.
Status CheckOptionsCompatibility(const ConfigOptions& config_options, const std::string& dbpath,
                                 const DBOptions& /*db_options*/,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs) {
  if (config_options.sanity_level == ConfigOptions::kSanityLevelNone) return Status::OK();
  std::string name;
  VARVE_RETURN_IF_ERROR(GetLatestOptionsFileName(dbpath, config_options.env, &name));
  const std::string path = dbpath + "/" + name;
  OptionsFileContents stored;
  VARVE_RETURN_IF_ERROR(
      ReadOptionsFile(config_options, config_options.env->GetFileSystem().get(), path, &stored));
  std::map<std::string, const ColumnFamilyOptions*> given;
  for (const ColumnFamilyDescriptor& family : cf_descs) given[family.name] = &family.options;
  for (size_t i = 0; i < stored.column_families.size(); ++i) {
    const std::string& family = stored.column_families[i].name;
    const auto found = given.find(family);
    if (found == given.end()) {
      return Status::InvalidArgument(path, "column family is not listed: " + family);
    }
    const std::string& comparator = stored.comparator_names[i];
    if (!comparator.empty() && comparator != found->second->comparator->Name()) {
      return Status::InvalidArgument(path, "column family " + family + " has comparator " +
                                               comparator + ", not " +
                                               found->second->comparator->Name());
    }
  }
  if (given.size() != stored.column_families.size()) {
    return Status::InvalidArgument(path, "more column families are listed than it has");
  }
  return Status::OK();
}

Status CheckOptionsCompatibility(const std::string& dbpath, Env* env, const DBOptions& db_options,
                                 const std::vector<ColumnFamilyDescriptor>& cf_descs,
                                 bool ignore_unknown_options) {
  return CheckOptionsCompatibility(LenientConfig(env, ignore_unknown_options), dbpath, db_options,
                                   cf_descs);
}

}  // namespace varve
