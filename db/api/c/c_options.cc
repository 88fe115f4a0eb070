// SPDX-License-Identifier: Apache-2.0
// Implements options of databases and column families for the C API: making, copying, parsing, and
// the parts that are objects, text or lists. Plain fields are rows of c_functions.inc.
//
//       TakeOver    the option owns the object; the program has given it away (Given)
//       Share       the option holds a reference; the program keeps its own
//       set_comparator, set_compaction_filter   a bare pointer in C++: the handle keeps the object
//       set_env     a bare pointer, to an object that the program keeps
//
// A null handle clears an option where RocksDB does so. It may also be the result of a failed
// creation, which would then be ignored silently: opening refuses that (NoteHandle,
// StandsForFailure).
#include <algorithm>
#include <cstdlib>

#include "varve/convenience.h"
#include "varve/utilities/options_util.h"

#include "db/api/c/c_types.h"

using varve::Status;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::StandsForFailure;
using varve::c::StoreSize;
using varve::c::Try;
using varve::c::TryVoid;

namespace {

void SetText(std::string* option, const char* text) {
  TryVoid([&] { option->assign(text == nullptr ? "" : text); });
}

const char* GetText(const rocksdb_options_t* options, std::string varve::Options::*option,
                    size_t* size) {
  StoreSize(size, options == nullptr ? 0 : (options->rep.*option).size());
  return options == nullptr ? nullptr : (options->rep.*option).c_str();
}

// Null paths leave the option as it was, and an opening refuses it: they may stand for handles that
// could not be made.
void SetPaths(rocksdb_options_t* options, const char* function,
              std::vector<varve::DbPath> varve::Options::*option, const rocksdb_dbpath_t** paths,
              size_t count) {
  if (options == nullptr) return;
  TryVoid([&] {
    std::vector<varve::DbPath> all;
    const bool has_null = count != 0 && (paths == nullptr ||
                                         std::find(paths, paths + count, nullptr) != paths + count);
    options->lacking.NoteHandle(function, has_null);
    if (has_null) return;
    for (size_t i = 0; i < count; ++i) all.push_back(paths[i]->rep);
    options->rep.*option = std::move(all);
  });
}

// Gives the object of `handle` to an option. Programs clear it with a null handle.
template <typename Handle, typename Struct, typename Option>
void TakeOver(rocksdb_options_t* options, const char* function, Handle* handle,
              Option Struct::*option) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->lacking.NoteHandle(function, StandsForFailure(handle));
    if (handle == nullptr) {
      options->rep.*option = nullptr;
    } else {
      options->rep.*option = handle->rep.Share(handle);
    }
  });
}

// Makes an option share the object of `handle`. Like RocksDB, ignores a null handle.
template <typename Handle, typename Struct, typename Option>
void Share(rocksdb_options_t* options, const char* function, const Handle* handle,
           Option Struct::*option) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->lacking.NoteHandle(function, StandsForFailure(handle));
    if (handle != nullptr) options->rep.*option = handle->rep;
  });
}

// Handles for the options of a database and of its families, before they are passed to C.
struct LoadedOptions {
  std::unique_ptr<rocksdb_options_t> db;
  std::vector<std::unique_ptr<rocksdb_options_t>> families;
};

// Arrays of `count` + 1 elements, null at first, so that none is empty.
template <typename Element>
Element* NewList(size_t count) {
  return static_cast<Element*>(std::calloc(count + 1, sizeof(Element)));
}

// Passes loaded options to C, all of them or none.
Status GiveLoaded(LoadedOptions* loaded, const std::vector<varve::ColumnFamilyDescriptor>& families,
                  rocksdb_options_t** db_options, size_t* num_families, char*** names,
                  rocksdb_options_t*** family_options) {
  *names = NewList<char*>(families.size());
  *family_options = NewList<rocksdb_options_t*>(families.size());
  bool complete = *names != nullptr && *family_options != nullptr;
  for (size_t i = 0; complete && i < families.size(); ++i) {
    (*names)[i] = varve::c::CopyText(families[i].name);
    complete = (*names)[i] != nullptr;
  }
  if (!complete) {
    for (size_t i = 0; *names != nullptr && i < families.size(); ++i) std::free((*names)[i]);
    std::free(*names);
    std::free(*family_options);
    *names = nullptr;
    *family_options = nullptr;
    return Status::MemoryLimit();
  }
  for (size_t i = 0; i < families.size(); ++i) {
    // Nothing can fail from here on.
    (*family_options)[i] = loaded->families[i].release();
  }
  *db_options = loaded->db.release();
  *num_families = families.size();
  return Status::OK();
}

}  // namespace

rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options) {
  if (options == nullptr) return nullptr;
  return Try([&] { return new rocksdb_options_t(*options); });
}

void rocksdb_get_options_from_string(const rocksdb_options_t* base_options, const char* opts_str,
                                     rocksdb_options_t* new_options, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (base_options == nullptr || opts_str == nullptr || new_options == nullptr) {
      return NullArgument("base_options, opts_str or new_options");
    }
    Status s = varve::GetOptionsFromString(base_options->rep, opts_str, &new_options->rep);
    // The parsed options point to the base's comparator and filter, which the new handle keeps
    // alive as well.
    if (s.ok()) new_options->TakeCompanions(*base_options);
    return s;
  });
}

void rocksdb_load_latest_options(const char* db_path, rocksdb_env_t* env,
                                 bool ignore_unknown_options, rocksdb_cache_t* cache,
                                 rocksdb_options_t** db_options, size_t* num_families,
                                 char*** family_names, rocksdb_options_t*** family_options,
                                 char** errptr) {
  Run(errptr, [&]() -> Status {
    if (db_path == nullptr || db_options == nullptr || num_families == nullptr ||
        family_names == nullptr || family_options == nullptr) {
      return NullArgument("db_path or an output");
    }
    *db_options = nullptr;
    *num_families = 0;
    *family_names = nullptr;
    *family_options = nullptr;
    varve::DBOptions loaded_db;
    std::vector<varve::ColumnFamilyDescriptor> families;
    std::shared_ptr<varve::Cache> shared = cache == nullptr ? nullptr : cache->rep;
    Status s = varve::LoadLatestOptions(db_path, env == nullptr ? varve::Env::Default() : env->rep,
                                        &loaded_db, &families, ignore_unknown_options,
                                        cache == nullptr ? nullptr : &shared);
    if (!s.ok()) return s;
    LoadedOptions loaded;
    loaded.db = std::make_unique<rocksdb_options_t>();
    loaded.db->rep = varve::Options(loaded_db, varve::ColumnFamilyOptions());
    for (const varve::ColumnFamilyDescriptor& family : families) {
      loaded.families.push_back(std::make_unique<rocksdb_options_t>());
      loaded.families.back()->rep = varve::Options(varve::DBOptions(), family.options);
    }
    return GiveLoaded(&loaded, families, db_options, num_families, family_names, family_options);
  });
}

void rocksdb_load_latest_options_destroy(rocksdb_options_t* db_options, char** family_names,
                                         rocksdb_options_t** family_options, size_t num_families) {
  delete db_options;
  for (size_t i = 0; family_names != nullptr && i < num_families; ++i) std::free(family_names[i]);
  for (size_t i = 0; family_options != nullptr && i < num_families; ++i) delete family_options[i];
  std::free(family_names);
  std::free(family_options);
}

void rocksdb_options_increase_parallelism(rocksdb_options_t* options, int total_threads) {
  if (options != nullptr) TryVoid([&] { options->rep.IncreaseParallelism(total_threads); });
}

void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t* options,
                                               uint64_t block_cache_size_mb) {
  if (options == nullptr) return;
  TryVoid([&] { options->rep.OptimizeForPointLookup(block_cache_size_mb); });
}

void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t* options,
                                                     uint64_t memtable_memory_budget) {
  if (options == nullptr) return;
  TryVoid([&] { options->rep.OptimizeLevelStyleCompaction(memtable_memory_budget); });
}

void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options) {
  if (options != nullptr) TryVoid([&] { options->rep.PrepareForBulkLoad(); });
}

void rocksdb_options_set_compaction_filter_factory(rocksdb_options_t* options,
                                                   rocksdb_compactionfilterfactory_t* factory) {
  TakeOver(options, __func__, factory, &varve::Options::compaction_filter_factory);
}

void rocksdb_options_set_merge_operator(rocksdb_options_t* options,
                                        rocksdb_mergeoperator_t* merge_operator) {
  TakeOver(options, __func__, merge_operator, &varve::Options::merge_operator);
}

void rocksdb_options_set_prefix_extractor(rocksdb_options_t* options,
                                          rocksdb_slicetransform_t* transform) {
  TakeOver(options, __func__, transform, &varve::Options::prefix_extractor);
}

void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options) {
  if (options == nullptr) return;
  TryVoid([&] { options->rep.memtable_factory = std::make_shared<varve::VectorRepFactory>(); });
}

void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options, size_t bucket_count) {
  if (options == nullptr) return;
  TryVoid(
      [&] { options->rep.memtable_factory.reset(varve::NewHashLinkListRepFactory(bucket_count)); });
}

void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* options, size_t bucket_count,
                                            int32_t height, int32_t branching_factor) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->rep.memtable_factory.reset(
        varve::NewHashSkipListRepFactory(bucket_count, height, branching_factor));
  });
}

void rocksdb_options_set_comparator(rocksdb_options_t* options, rocksdb_comparator_t* comparator) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_comparator", comparator == nullptr);
    options->comparator = comparator == nullptr ? nullptr : comparator->rep;
    options->rep.comparator =
        comparator == nullptr ? varve::BytewiseComparator() : comparator->rep.get();
  });
}

void rocksdb_options_set_compaction_filter(rocksdb_options_t* options,
                                           rocksdb_compactionfilter_t* filter) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_compaction_filter", StandsForFailure(filter));
    options->compaction_filter = filter == nullptr ? nullptr : filter->rep;
    options->rep.compaction_filter = options->compaction_filter.get();
  });
}

void rocksdb_options_set_env(rocksdb_options_t* options, rocksdb_env_t* env) {
  if (options == nullptr) return;
  TryVoid([&] { options->rep.env = env == nullptr ? varve::Env::Default() : env->rep; });
}

void rocksdb_options_set_blob_cache(rocksdb_options_t* options, rocksdb_cache_t* blob_cache) {
  Share(options, __func__, blob_cache, &varve::Options::blob_cache);
}

void rocksdb_options_set_info_log(rocksdb_options_t* options, rocksdb_logger_t* logger) {
  Share(options, __func__, logger, &varve::Options::info_log);
}

void rocksdb_options_set_ratelimiter(rocksdb_options_t* options, rocksdb_ratelimiter_t* limiter) {
  Share(options, __func__, limiter, &varve::Options::rate_limiter);
}

void rocksdb_options_set_row_cache(rocksdb_options_t* options, rocksdb_cache_t* cache) {
  Share(options, __func__, cache, &varve::Options::row_cache);
}

void rocksdb_options_set_sst_partitioner_factory(rocksdb_options_t* options,
                                                 rocksdb_sst_partitioner_factory_t* factory) {
  Share(options, __func__, factory, &varve::Options::sst_partitioner_factory);
}

void rocksdb_options_set_sst_file_manager(rocksdb_options_t* options,
                                          rocksdb_sst_file_manager_t* manager) {
  Share(options, __func__, manager, &varve::Options::sst_file_manager);
}

void rocksdb_options_set_write_buffer_manager(rocksdb_options_t* options,
                                              rocksdb_write_buffer_manager_t* manager) {
  Share(options, __func__, manager, &varve::Options::write_buffer_manager);
}

rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options) {
  if (options == nullptr || options->rep.info_log == nullptr) return nullptr;
  return varve::c::Make<rocksdb_logger_t>(options->rep.info_log);
}

void rocksdb_options_set_db_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** paths,
                                  size_t num_paths) {
  SetPaths(options, __func__, &varve::Options::db_paths, paths, num_paths);
}

void rocksdb_options_set_cf_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** paths,
                                  size_t num_paths) {
  SetPaths(options, __func__, &varve::Options::cf_paths, paths, num_paths);
}

void rocksdb_options_set_db_log_dir(rocksdb_options_t* options, const char* dir) {
  if (options != nullptr) SetText(&options->rep.db_log_dir, dir);
}

const char* rocksdb_options_get_db_log_dir(rocksdb_options_t* options, size_t* size) {
  return GetText(options, &varve::Options::db_log_dir, size);
}

void rocksdb_options_set_wal_dir(rocksdb_options_t* options, const char* dir) {
  if (options != nullptr) SetText(&options->rep.wal_dir, dir);
}

const char* rocksdb_options_get_wal_dir(rocksdb_options_t* options, size_t* size) {
  return GetText(options, &varve::Options::wal_dir, size);
}

void rocksdb_options_set_db_host_id(rocksdb_options_t* options, const char* id) {
  if (options != nullptr) SetText(&options->rep.db_host_id, id);
}

const char* rocksdb_options_get_db_host_id(rocksdb_options_t* options, size_t* size) {
  return GetText(options, &varve::Options::db_host_id, size);
}

void rocksdb_options_set_compression_per_level(rocksdb_options_t* options, const int* level_values,
                                               size_t num_levels) {
  if (options == nullptr || (level_values == nullptr && num_levels != 0)) return;
  TryVoid([&] {
    std::vector<varve::CompressionType> types(num_levels);
    for (size_t i = 0; i < num_levels; ++i) varve::c::StoreField(&types[i], level_values[i]);
    options->rep.compression_per_level = std::move(types);
  });
}

void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options, int level) {
  if (options == nullptr || level < 0 || level > options->rep.num_levels) return;
  TryVoid([&] {
    std::vector<varve::CompressionType> types(static_cast<size_t>(options->rep.num_levels),
                                              options->rep.compression);
    // Levels above this one are not compressed; the others have the compression that is set at the
    // moment of this call.
    for (int i = 0; i < level; ++i) types[static_cast<size_t>(i)] = varve::kNoCompression;
    options->rep.compression_per_level = std::move(types);
  });
}

void rocksdb_options_set_compression_options(rocksdb_options_t* options, int window_bits, int level,
                                             int strategy, int max_dict_bytes) {
  if (options == nullptr) return;
  varve::CompressionOptions& compression = options->rep.compression_opts;
  compression.window_bits = window_bits;
  compression.level = level;
  compression.strategy = strategy;
  compression.max_dict_bytes = static_cast<uint32_t>(max_dict_bytes);
}

void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t* options, int window_bits,
                                                        int level, int strategy, int max_dict_bytes,
                                                        unsigned char enabled) {
  if (options == nullptr) return;
  varve::CompressionOptions& compression = options->rep.bottommost_compression_opts;
  compression.window_bits = window_bits;
  compression.level = level;
  compression.strategy = strategy;
  compression.max_dict_bytes = static_cast<uint32_t>(max_dict_bytes);
  compression.enabled = enabled != 0;
}

void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int zstd_max_train_bytes, unsigned char enabled) {
  if (options == nullptr) return;
  varve::CompressionOptions& compression = options->rep.bottommost_compression_opts;
  compression.zstd_max_train_bytes = static_cast<uint32_t>(zstd_max_train_bytes);
  compression.enabled = enabled != 0;
}

void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char use_zstd_dict_trainer, unsigned char enabled) {
  if (options == nullptr) return;
  varve::CompressionOptions& compression = options->rep.bottommost_compression_opts;
  compression.use_zstd_dict_trainer = use_zstd_dict_trainer != 0;
  compression.enabled = enabled != 0;
}

void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t max_dict_buffer_bytes, unsigned char enabled) {
  if (options == nullptr) return;
  varve::CompressionOptions& compression = options->rep.bottommost_compression_opts;
  compression.max_dict_buffer_bytes = max_dict_buffer_bytes;
  compression.enabled = enabled != 0;
}

void rocksdb_options_set_max_bytes_for_level_multiplier_additional(rocksdb_options_t* options,
                                                                   int* level_values,
                                                                   size_t num_levels) {
  if (options == nullptr || (level_values == nullptr && num_levels != 0)) return;
  TryVoid([&] {
    options->rep.max_bytes_for_level_multiplier_additional.assign(level_values,
                                                                  level_values + num_levels);
  });
}

void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_universal_compaction_options",
                                universal == nullptr);
  });
  if (universal != nullptr) options->rep.compaction_options_universal = universal->rep;
}

void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* options,
                                                 rocksdb_fifo_compaction_options_t* fifo) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_fifo_compaction_options", fifo == nullptr);
  });
  if (fifo != nullptr) options->rep.compaction_options_fifo = fifo->rep;
}
