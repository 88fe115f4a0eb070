// SPDX-License-Identifier: Apache-2.0
// Goal: no function of the C API crashes on handles that are null, fresh, or of a closed database,
// and none keeps silent about a null handle or a feature that is not there if it can speak.
// And: an option that is a row of c_functions.inc returns what was set, and changes no other.
// Method: varve_c_api_writer makes the list of all functions, with their calls, from the headers.
// Each is called with arguments made from their types: handles that were just created, the key "k",
// the number 1; once so, once with nulls and zeros, once with each of its handles null in turn,
// and, if it takes a database, with one that was closed. An error must name the function.
// Sanitizers look for the rest. Usage: every_function_test <directory for files> [part of a name]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "varve/c.h"

// Results are freed in many ways and are left alone here: the other tests of the C API look for
// leaks.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace {

int g_failures = 0;

void Fail(const char* function, const char* what, const char* detail) {
  ++g_failures;
  std::fprintf(stderr, "%s: %s: %s\n", function, what, detail == nullptr ? "(nothing)" : detail);
}

enum class Mode { kNulls, kRight, kOneNull, kClosed };

class Call;

// A function of the C API. `parameters` has a letter for each: d is a database, h another handle, e
// the place of the error, which is last.
struct Function {
  const char* state;  // The mark of the declaration.
  const char* name;
  const char* parameters;
  void (*call)(Call*);

  bool CanReport() const {
    const size_t count = std::strlen(parameters);
    return count > 0 && parameters[count - 1] == 'e';
  }
};

// Callbacks that do nothing. Names and texts are not null, as no name is no argument.
template <typename R, typename... A>
R Nothing(A... /*unused*/) {
  if constexpr (std::is_same_v<R, const char*>) {
    return "test";
  } else if constexpr (!std::is_void_v<R>) {
    return R{};
  }
}

template <typename T>
struct NothingOf;
template <typename R, typename... A>
struct NothingOf<R (*)(A...)> {
  static constexpr R (*kFunction)(A...) = &Nothing<R, A...>;
};

// Makes handles for one call and frees them afterwards, in the reverse order.
class World {
 public:
  explicit World(bool closed) : closed_(closed) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (size_t i = frees_.size(); i-- > 0;) frees_[i]();
  }

  rocksdb_t* db() {
    if (db_ == nullptr) Open();
    return db_;
  }
  rocksdb_column_family_handle_t* family() {
    if (family_ == nullptr) MakeFamily();
    return family_;
  }
  rocksdb_options_t* options() {
    rocksdb_options_t* options = rocksdb_options_create();
    Own(options, rocksdb_options_destroy);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_env(options, env());
    return options;
  }

  // Puts "k" with the value "v".
  void PutKey() {
    rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
    rocksdb_put(db(), write, "k", 1, "v", 1, nullptr);
    rocksdb_writeoptions_destroy(write);
  }

  // Files in memory, which all worlds share.
  static rocksdb_env_t* env() {
    static rocksdb_env_t* const env = rocksdb_create_mem_env();
    return env;
  }

  // `free` runs unless the function that is called does it.
  void Later(std::function<void()> free) { frees_.push_back(std::move(free)); }
  template <typename Handle>
  Handle* Own(Handle* handle, void (*destroy)(Handle*)) {
    if (!consumed_) Later([=] { destroy(handle); });
    return handle;
  }
  // Sets whether the function frees the handles that it gets, or only iterators, and whether it
  // closes its database.
  void set_consumed(bool handles, bool iterator, bool db) {
    consumed_ = handles;
    takes_iterator_ = iterator;
    closed_by_call_ = db;
  }
  bool takes_iterator() const { return takes_iterator_; }

 private:
  void Open() {
    char* error = nullptr;
    rocksdb_options_t* options = this->options();
    static int number = 0;
    const std::string name = "db" + std::to_string(++number);
    db_ = rocksdb_open(options, name.c_str(), &error);
    if (error != nullptr) Fail("rocksdb_open", "fails", error);
    if (!closed_by_call_) Later([db = db_] { rocksdb_close(db); });
    if (closed_) Close();
  }

  void MakeFamily() {
    char* error = nullptr;
    // A closed database has no new families: its own one is as good.
    family_ = closed_ ? rocksdb_get_default_column_family_handle(db())
                      : rocksdb_create_column_family(db(), options(), "f", &error);
    if (error != nullptr) Fail("rocksdb_create_column_family", "fails", error);
    if (!consumed_) Later([family = family_] { rocksdb_column_family_handle_destroy(family); });
  }

  void Close() {
    char* error = nullptr;
    rocksdb_wait_for_compact_options_t* wait = rocksdb_wait_for_compact_options_create();
    rocksdb_wait_for_compact_options_set_close_db(wait, 1);
    rocksdb_wait_for_compact(db_, wait, &error);
    if (error != nullptr) Fail("rocksdb_wait_for_compact", "does not close", error);
    rocksdb_wait_for_compact_options_destroy(wait);
  }

  const bool closed_;
  bool consumed_ = false;
  bool takes_iterator_ = false;
  bool closed_by_call_ = false;
  rocksdb_t* db_ = nullptr;
  rocksdb_column_family_handle_t* family_ = nullptr;
  std::vector<std::function<void()>> frees_;
};

// Returns a fresh handle, or null if there is no way to have one: handles of missing features, and
// those that only callbacks get.
template <typename Handle>
Handle* Fresh(World* /*world*/, const Handle* /*kind*/) {
  return nullptr;
}

#define VARVE_TEST_HANDLE(type, make, destroy)                                  \
  rocksdb_##type##_t* Fresh(World* world, const rocksdb_##type##_t* /*kind*/) { \
    return world->Own<rocksdb_##type##_t>(make, rocksdb_##destroy);             \
  }
#define VARVE_TEST_PLAIN(type) VARVE_TEST_HANDLE(type, rocksdb_##type##_create(), type##_destroy)

rocksdb_t* Fresh(World* world, const rocksdb_t* /*kind*/) {
  return world->db();
}
rocksdb_column_family_handle_t* Fresh(World* world, const rocksdb_column_family_handle_t* /*k*/) {
  return world->family();
}
rocksdb_options_t* Fresh(World* world, const rocksdb_options_t* /*kind*/) {
  return world->options();
}
rocksdb_snapshot_t* Fresh(World* world, const rocksdb_snapshot_t* /*kind*/) {
  rocksdb_t* const db = world->db();
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db);
  return const_cast<rocksdb_snapshot_t*>(snapshot);
}
rocksdb_iterator_t* Fresh(World* world, const rocksdb_iterator_t* /*kind*/) {
  rocksdb_readoptions_t* options = rocksdb_readoptions_create();
  world->Later([options] { rocksdb_readoptions_destroy(options); });
  world->PutKey();
  rocksdb_iterator_t* iterator = rocksdb_create_iterator(world->db(), options);
  rocksdb_iter_seek_to_first(iterator);
  return world->takes_iterator() ? iterator : world->Own(iterator, rocksdb_iter_destroy);
}
rocksdb_slicetransform_t* Fresh(World* world, const rocksdb_slicetransform_t* /*kind*/) {
  return world->Own(rocksdb_slicetransform_create_fixed_prefix(1), rocksdb_slicetransform_destroy);
}
rocksdb_compactionservice_t* Fresh(World* /*world*/, const rocksdb_compactionservice_t* /*kind*/) {
  return rocksdb_compactionservice_create(nullptr, nullptr, nullptr, "test", nullptr, nullptr,
                                          nullptr);
}
rocksdb_wal_files_t* Fresh(World* world, const rocksdb_wal_files_t* /*kind*/) {
  return world->Own(rocksdb_get_sorted_wal_files(world->db(), nullptr), rocksdb_wal_files_destroy);
}
rocksdb_wal_file_t* Fresh(World* world, const rocksdb_wal_file_t* /*kind*/) {
  return world->Own(rocksdb_get_current_wal_file(world->db(), nullptr), rocksdb_wal_file_destroy);
}
rocksdb_livefiles_t* Fresh(World* world, const rocksdb_livefiles_t* /*kind*/) {
  rocksdb_livefiles_t* const files = rocksdb_livefiles_create();
  world->Own<const rocksdb_livefiles_t>(files, rocksdb_livefiles_destroy);
  return files;
}

// A database of its own, whichever kind it is.
std::string NextName() {
  static int number = 0;
  return "transactions" + std::to_string(++number);
}
template <typename Open>
auto OpenAnother(World* world, Open open) {
  const std::string name = NextName();
  char* error = nullptr;
  auto* const db = open(world->options(), name.c_str(), &error);
  if (error != nullptr) Fail("opening for transactions", "fails", error);
  return db;
}
rocksdb_transactiondb_t* Fresh(World* world, const rocksdb_transactiondb_t* /*kind*/) {
  rocksdb_transactiondb_options_t* const options = rocksdb_transactiondb_options_create();
  rocksdb_transactiondb_t* const db =
      OpenAnother(world, [&](rocksdb_options_t* o, const char* name, char** error) {
        return rocksdb_transactiondb_open(o, options, name, error);
      });
  rocksdb_transactiondb_options_destroy(options);
  return world->Own(db, rocksdb_transactiondb_close);
}
rocksdb_optimistictransactiondb_t* Fresh(World* world,
                                         const rocksdb_optimistictransactiondb_t* /*kind*/) {
  return world->Own(OpenAnother(world, rocksdb_optimistictransactiondb_open),
                    rocksdb_optimistictransactiondb_close);
}
rocksdb_transaction_t* Fresh(World* world, const rocksdb_transaction_t* /*kind*/) {
  rocksdb_transaction_options_t* const options = rocksdb_transaction_options_create();
  rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
  rocksdb_transactiondb_t* const db = Fresh(world, static_cast<rocksdb_transactiondb_t*>(nullptr));
  rocksdb_transaction_t* const txn = rocksdb_transaction_begin(db, write, options, nullptr);
  rocksdb_writeoptions_destroy(write);
  rocksdb_transaction_options_destroy(options);
  return world->Own(txn, rocksdb_transaction_destroy);
}

rocksdb_backup_engine_t* Fresh(World* world, const rocksdb_backup_engine_t* /*kind*/) {
  static int number = 0;
  const std::string name = "backups" + std::to_string(++number);
  char* error = nullptr;
  rocksdb_backup_engine_t* const engine =
      rocksdb_backup_engine_open(world->options(), name.c_str(), &error);
  if (error != nullptr) Fail("rocksdb_backup_engine_open", "fails", error);
  return world->Own(engine, rocksdb_backup_engine_close);
}
rocksdb_copy_plan_t* Fresh(World* world, const rocksdb_copy_plan_t* /*kind*/) {
  static int number = 0;
  const std::string name = "plan" + std::to_string(++number);
  char* error = nullptr;
  rocksdb_copy_plan_options_t* const options = rocksdb_copy_plan_options_create();
  rocksdb_copy_plan_t* const plan =
      rocksdb_copy_plan_make(options, world->db(), name.c_str(), &error);
  rocksdb_copy_plan_options_destroy(options);
  if (error != nullptr) Fail("rocksdb_copy_plan_make", "fails", error);
  return world->Own(plan, rocksdb_copy_plan_destroy);
}
rocksdb_change_stream_t* Fresh(World* world, const rocksdb_change_stream_t* /*kind*/) {
  static int number = 0;
  const std::string name = "stream" + std::to_string(++number);
  char* error = nullptr;
  rocksdb_change_stream_options_t* const options = rocksdb_change_stream_options_create();
  rocksdb_change_stream_options_set_name(options, name.data(), name.size());
  rocksdb_change_stream_t* const stream = rocksdb_change_stream_open(world->db(), options, &error);
  rocksdb_change_stream_options_destroy(options);
  if (error != nullptr) Fail("rocksdb_change_stream_open", "fails", error);
  return world->Own(stream, rocksdb_change_stream_destroy);
}
rocksdb_backup_engine_info_t* Fresh(World* world, const rocksdb_backup_engine_info_t* /*kind*/) {
  rocksdb_backup_engine_t* const engine =
      rocksdb_backup_engine_open(world->options(), "backups", nullptr);
  const rocksdb_backup_engine_info_t* const info = rocksdb_backup_engine_get_backup_info(engine);
  rocksdb_backup_engine_close(engine);
  world->Own<const rocksdb_backup_engine_info_t>(info, rocksdb_backup_engine_info_destroy);
  return const_cast<rocksdb_backup_engine_info_t*>(info);
}

VARVE_TEST_HANDLE(env, rocksdb_create_mem_env(), env_destroy)
rocksdb_widecolumns_t* Fresh(World* world, const rocksdb_widecolumns_t* /*kind*/) {
  rocksdb_readoptions_t* const options = rocksdb_readoptions_create();
  world->PutKey();
  rocksdb_widecolumns_t* const columns = rocksdb_get_entity(world->db(), options, "k", 1, nullptr);
  rocksdb_readoptions_destroy(options);
  return world->Own(columns, rocksdb_widecolumns_destroy);
}

VARVE_TEST_HANDLE(cache, rocksdb_cache_create_lru(1 << 20), cache_destroy)
VARVE_TEST_HANDLE(block_based_table_options, rocksdb_block_based_options_create(),
                  block_based_options_destroy)
VARVE_TEST_HANDLE(cuckoo_table_options, rocksdb_cuckoo_options_create(), cuckoo_options_destroy)
VARVE_TEST_HANDLE(filterpolicy, rocksdb_filterpolicy_create_bloom(10), filterpolicy_destroy)
VARVE_TEST_HANDLE(write_buffer_manager, rocksdb_write_buffer_manager_create(1 << 20, false),
                  write_buffer_manager_destroy)
VARVE_TEST_HANDLE(ratelimiter, rocksdb_ratelimiter_create(1 << 20, 1000, 1), ratelimiter_destroy)
VARVE_TEST_HANDLE(logger, rocksdb_logger_create_stderr_logger(5, "test"), logger_destroy)
VARVE_TEST_HANDLE(dbpath, rocksdb_dbpath_create("path", 1), dbpath_destroy)
VARVE_TEST_HANDLE(comparator,
                  rocksdb_comparator_create(
                      nullptr, nullptr,
                      [](void*, const char*, size_t, const char*, size_t) { return 0; },
                      [](void*) { return "test"; }),
                  comparator_destroy)
VARVE_TEST_HANDLE(compactionfilter,
                  rocksdb_compactionfilter_create(
                      nullptr, nullptr,
                      [](void*, int, const char*, size_t, const char*, size_t, char**, size_t*,
                         unsigned char*) -> unsigned char { return 0; },
                      [](void*) { return "test"; }),
                  compactionfilter_destroy)
VARVE_TEST_HANDLE(compactionfilterfactory,
                  rocksdb_compactionfilterfactory_create(
                      nullptr, nullptr,
                      [](void*, rocksdb_compactionfiltercontext_t*) {
                        return static_cast<rocksdb_compactionfilter_t*>(nullptr);
                      },
                      [](void*) { return "test"; }),
                  compactionfilterfactory_destroy)
VARVE_TEST_HANDLE(mergeoperator,
                  rocksdb_mergeoperator_create(
                      nullptr, nullptr,
                      [](void*, const char*, size_t, const char*, size_t, const char* const*,
                         const size_t*, int, unsigned char*,
                         size_t*) { return static_cast<char*>(nullptr); },
                      nullptr, nullptr, [](void*) { return "test"; }),
                  mergeoperator_destroy)
VARVE_TEST_HANDLE(walfilter, rocksdb_walfilter_create(nullptr, nullptr, nullptr, nullptr, nullptr),
                  walfilter_destroy)
VARVE_TEST_HANDLE(eventlistener,
                  rocksdb_eventlistener_create(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                               nullptr, nullptr, nullptr, nullptr, nullptr,
                                               nullptr),
                  eventlistener_destroy)
VARVE_TEST_HANDLE(file_checksum_gen_factory, rocksdb_file_checksum_gen_crc32c_factory_create(),
                  file_checksum_gen_factory_destroy)
VARVE_TEST_HANDLE(sst_partitioner_factory, rocksdb_sst_partitioner_fixed_prefix_factory_create(1),
                  sst_partitioner_factory_destroy)
VARVE_TEST_HANDLE(sstfilewriter, rocksdb_sstfilewriter_create(nullptr, nullptr),
                  sstfilewriter_destroy)
VARVE_TEST_HANDLE(sst_file_manager, rocksdb_sst_file_manager_create(World::env()),
                  sst_file_manager_destroy)
VARVE_TEST_HANDLE(writebatch_wi, rocksdb_writebatch_wi_create(0, 1), writebatch_wi_destroy)
VARVE_TEST_HANDLE(perfcontext, rocksdb_perfcontext_create(), perfcontext_destroy)
VARVE_TEST_HANDLE(memory_consumers, rocksdb_memory_consumers_create(), memory_consumers_destroy)
VARVE_TEST_HANDLE(memory_usage,
                  rocksdb_approximate_memory_usage_create(rocksdb_memory_consumers_create(),
                                                          nullptr),
                  approximate_memory_usage_destroy)
VARVE_TEST_HANDLE(column_family_metadata, rocksdb_get_column_family_metadata(world->db()),
                  column_family_metadata_destroy)
VARVE_TEST_HANDLE(checkpoint, rocksdb_checkpoint_object_create(world->db(), nullptr),
                  checkpoint_object_destroy)
VARVE_TEST_HANDLE(livefiles_storage_info,
                  rocksdb_get_livefiles_storage_info(
                      world->db(), rocksdb_livefiles_storage_info_options_create(), nullptr),
                  livefiles_storage_info_destroy)
VARVE_TEST_HANDLE(change_stream_options, rocksdb_change_stream_options_create(),
                  change_stream_options_destroy)
VARVE_TEST_HANDLE(copy_plan_options, rocksdb_copy_plan_options_create(), copy_plan_options_destroy)
VARVE_TEST_HANDLE(backup_engine_options, rocksdb_backup_engine_options_create("backup"),
                  backup_engine_options_destroy)
VARVE_TEST_HANDLE(compactionservice_scheduleresponse,
                  rocksdb_compactionservice_scheduleresponse_create("id", 0, nullptr),
                  compactionservice_scheduleresponse_t_destroy)
VARVE_TEST_HANDLE(optimistictransactiondb_lock_buckets,
                  rocksdb_optimistictransactiondb_lock_buckets_create(1, 0),
                  optimistictransactiondb_lock_buckets_destroy)
VARVE_TEST_PLAIN(block_cache_trace_options)
VARVE_TEST_PLAIN(block_cache_trace_writer_options)
VARVE_TEST_PLAIN(column_family_metadata_options)
VARVE_TEST_PLAIN(compaction_options)
VARVE_TEST_PLAIN(compaction_service_options_override)
VARVE_TEST_PLAIN(compactionjobinfo)
VARVE_TEST_PLAIN(compactoptions)
VARVE_TEST_PLAIN(create_backup_options)
VARVE_TEST_PLAIN(envoptions)
VARVE_TEST_PLAIN(export_import_files_metadata)
VARVE_TEST_PLAIN(fifo_compaction_options)
VARVE_TEST_PLAIN(flushoptions)
VARVE_TEST_PLAIN(flushwaloptions)
VARVE_TEST_PLAIN(get_merge_operands_options)
VARVE_TEST_PLAIN(import_column_family_options)
VARVE_TEST_PLAIN(ingestexternalfileoptions)
VARVE_TEST_PLAIN(livefile)
VARVE_TEST_PLAIN(livefiles_storage_info_options)
VARVE_TEST_PLAIN(lru_cache_options)
VARVE_TEST_PLAIN(merge_operands)
VARVE_TEST_PLAIN(open_and_compact_options)
VARVE_TEST_PLAIN(optimistictransaction_options)
VARVE_TEST_PLAIN(optimistictransactiondb_options)
VARVE_TEST_PLAIN(readoptions)
VARVE_TEST_PLAIN(replay_options)
VARVE_TEST_PLAIN(restore_options)
VARVE_TEST_PLAIN(size_approximation_options)
VARVE_TEST_PLAIN(statistics_histogram_data)
VARVE_TEST_PLAIN(trace_options)
VARVE_TEST_PLAIN(transaction_options)
VARVE_TEST_PLAIN(transactiondb_options)
VARVE_TEST_PLAIN(universal_compaction_options)
VARVE_TEST_PLAIN(wait_for_compact_options)
VARVE_TEST_PLAIN(wal_readoptions)
VARVE_TEST_PLAIN(writebatch)
VARVE_TEST_PLAIN(writeoptions)

// Places for the results and the lists of one call: four of each, which is more than any asks for.
struct Places {
  char* texts[4] = {};
  char** lists[4] = {};
  const char* keys[4] = {"k", "k", "k", "k"};
  char bytes[4][8] = {"k", "k", "k", "k"};
  size_t sizes[4] = {1, 1, 1, 1};
  uint64_t longs[4] = {1, 1, 1, 1};
  uint32_t ints32[4] = {1, 1, 1, 1};
  int ints[4] = {1, 1, 1, 1};
  rocksdb_slice_t slices[4] = {{"k", 1}, {"k", 1}, {"k", 1}, {"k", 1}};
};

// Makes an argument of type T, with what it points at in `places` or, arrays of handles, leaked.
template <typename T>
T Argument([[maybe_unused]] World* world, [[maybe_unused]] Places* places) {
  using Pointee = std::remove_pointer_t<T>;
  using Plain = std::remove_cv_t<Pointee>;
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(1);
  } else if constexpr (std::is_same_v<T, rocksdb_slice_t>) {
    return {"k", 1};
  } else if constexpr (std::is_function_v<Pointee>) {
    return NothingOf<T>::kFunction;
  } else if constexpr (std::is_void_v<Plain>) {
    return nullptr;
  } else if constexpr (std::is_same_v<T, const char*>) {
    return "k";
  } else if constexpr (std::is_same_v<T, char*>) {
    return places->bytes[0];
  } else if constexpr (std::is_same_v<T, unsigned char*>) {
    return rocksdb_compaction_options_canceled_create();
  } else if constexpr (std::is_same_v<T, char**>) {
    return places->texts;
  } else if constexpr (std::is_same_v<T, char***>) {
    return places->lists;
  } else if constexpr (std::is_same_v<Plain, const char*>) {
    return places->keys;
  } else if constexpr (std::is_same_v<Plain, size_t>) {
    return places->sizes;
  } else if constexpr (std::is_same_v<Plain, uint64_t>) {
    return places->longs;
  } else if constexpr (std::is_same_v<Plain, uint32_t>) {
    return places->ints32;
  } else if constexpr (std::is_same_v<Plain, int>) {
    return places->ints;
  } else if constexpr (std::is_same_v<Plain, rocksdb_slice_t>) {
    return places->slices;
  } else if constexpr (std::is_pointer_v<Pointee>) {
    using Handle = std::remove_cv_t<std::remove_pointer_t<Plain>>;
    if constexpr (std::is_pointer_v<Handle>) {
      return static_cast<T>(std::calloc(4, sizeof(void*)));
    } else {
      auto** const list = static_cast<Handle**>(std::calloc(4, sizeof(Handle*)));
      // Lists of these are results.
      if constexpr (!std::is_same_v<Handle, rocksdb_iterator_t> &&
                    !std::is_same_v<Handle, rocksdb_pinnableslice_t> &&
                    !std::is_same_v<Handle, rocksdb_widecolumns_t>) {
        list[0] = Fresh(world, static_cast<const Handle*>(nullptr));
      }
      return static_cast<T>(static_cast<void*>(list));
    }
  } else {
    return Fresh(world, static_cast<const Plain*>(nullptr));
  }
}

// A result that uses its database is freed before that.
template <typename R>
void Discard(World* /*world*/, R /*result*/) {}
void Discard(World* /*world*/, rocksdb_iterator_t* result) {
  rocksdb_iter_destroy(result);
}
void Discard(World* /*world*/, rocksdb_column_family_handle_t* result) {
  rocksdb_column_family_handle_destroy(result);
}
void Discard(World* /*world*/, rocksdb_pinnableslice_t* result) {
  rocksdb_pinnableslice_destroy(result);
}
void Discard(World* /*world*/, rocksdb_widecolumns_t* result) {
  rocksdb_widecolumns_destroy(result);
}
void Discard(World* /*world*/, rocksdb_pinnable_handle_t* result) {
  rocksdb_pinnable_handle_destroy(result);
}
void Discard(World* world, const rocksdb_snapshot_t* result) {
  if (result != nullptr) rocksdb_release_snapshot(world->db(), result);
}
void Discard(World* /*world*/, rocksdb_t* result) {
  rocksdb_close(result);
}
void Discard(World* /*world*/, rocksdb_backup_engine_t* result) {
  rocksdb_backup_engine_close(result);
}
void Discard(World* /*world*/, rocksdb_change_stream_t* result) {
  rocksdb_change_stream_destroy(result);
}
void Discard(World* /*world*/, rocksdb_copy_plan_t* result) {
  rocksdb_copy_plan_destroy(result);
}
void Discard(World* /*world*/, const rocksdb_backup_engine_info_t* result) {
  rocksdb_backup_engine_info_destroy(result);
}

void Discard(World* /*world*/, rocksdb_transaction_t* result) {
  rocksdb_transaction_destroy(result);
}
void Discard(World* /*world*/, rocksdb_transactiondb_t* result) {
  rocksdb_transactiondb_close(result);
}
void Discard(World* /*world*/, rocksdb_optimistictransactiondb_t* result) {
  rocksdb_optimistictransactiondb_close(result);
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Functions that free their handles.
bool Consumes(const std::string& name) {
  return (Contains(name, "_destroy") && name != "rocksdb_destroy_db") ||
         Contains(name, "transactiondb_close") || Contains(name, "backup_engine_close");
}

// Frees what only another function makes, makes what only another frees, or needs keys with
// timestamps: other tests call it so.
bool NeedsMore(const std::string& name) {
  return Contains(name, "list_column_families_destroy") ||
         Contains(name, "output_file_names_destroy") ||
         Contains(name, "load_latest_options_destroy") ||
         Contains(name, "create_column_families_destroy") || name == "rocksdb_release_snapshot" ||
         Contains(name, "base_db") || name == "rocksdb_transaction_get_snapshot" ||
         Contains(name, "iter_timestamp");
}

// Nulls that are no error: nothing to do, or a default.
bool MayBeNull(const std::string& name) {
  return Contains(name, "multi_get") || name ==
                                            "rocksdb_compactionservice_scheduleresponse_create_"
                                            "with_status";
}

// Calls one function once, and judges what it reports. The code of the call gets its arguments one
// by one and hands over the result.
class Call {
 public:
  Call(const Function& function, Mode mode, size_t null)
      : function_(function), mode_(mode), null_(null), world_(mode == Mode::kClosed) {
    const std::string name = function.name;
    world_.set_consumed(Consumes(name), Contains(name, "create_iterator_with_base"),
                        name == "rocksdb_close");
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void Run() {
    function_.call(this);
    // An object that a call has put into a list is freed before its database.
    if (iterators_ != nullptr) rocksdb_iter_destroy(iterators_[0]);
    if (slices_ != nullptr) rocksdb_pinnableslice_destroy(slices_[0]);
    if (columns_ != nullptr) rocksdb_widecolumns_destroy(columns_[0]);
    Judge();
    for (char* const text : places_.texts) std::free(text);
  }

  // Returns the argument at `index`.
  template <typename T>
  T Get(size_t index) {
    const bool is_error = function_.parameters[index] == 'e';
    if (mode_ == Mode::kNulls && !is_error) return T{};
    if (mode_ == Mode::kOneNull && index == null_) return T{};
    const T argument = Argument<T>(&world_, &places_);
    if constexpr (std::is_same_v<T, rocksdb_iterator_t**>) iterators_ = argument;
    if constexpr (std::is_same_v<T, rocksdb_pinnableslice_t**>) slices_ = argument;
    if constexpr (std::is_same_v<T, rocksdb_widecolumns_t**>) columns_ = argument;
    return argument;
  }

  template <typename R>
  void Take(R result) {
    Discard(&world_, result);
  }

 private:
  void Judge() const {
    if (!function_.CanReport()) return;
    const std::string name = function_.name;
    const bool refused = std::strcmp(function_.state, "REFUSED") == 0;
    const char* const error = places_.texts[0];
    const bool must_fail =
        (mode_ == Mode::kNulls && !MayBeNull(name)) || (mode_ == Mode::kRight && refused);
    if (!must_fail) return;
    if (error == nullptr) {
      Fail(function_.name, "should report",
           mode_ == Mode::kNulls ? "a null" : "that it is not there");
      return;
    }
    // Refusals by the database itself have its own words.
    if (!Contains(error, function_.name) && !(refused && Contains(error, "Not implemented"))) {
      Fail(function_.name, "should be named in", error);
    }
  }

  const Function& function_;
  const Mode mode_;
  const size_t null_;
  Places places_;
  World world_;
  rocksdb_iterator_t** iterators_ = nullptr;
  rocksdb_pinnableslice_t** slices_ = nullptr;
  rocksdb_widecolumns_t** columns_ = nullptr;
};

const Function kFunctions[] = {
#include <every_c_function.inc>
};

void CallAll(const Function& function) {
  const std::string parameters = function.parameters;
  Call(function, Mode::kNulls, 0).Run();
  if (NeedsMore(function.name)) return;
  Call(function, Mode::kRight, 0).Run();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == 'd' || parameters[i] == 'h') Call(function, Mode::kOneNull, i).Run();
  }
  if (parameters.starts_with('d')) Call(function, Mode::kClosed, 0).Run();
}

// ---- Options ----

#define HANDLE(object, type) using rocksdb_##object##_t = type;
#include "db/api/c/c_functions.inc"

// Sets and reads one option. Numbers of all types fit into doubles as far as this test needs.
struct Option {
  const char* object;
  const char* name;
  const char* type;
  bool lacking;  // Varve has no field for it.
  void* (*make)(World*);
  void (*set)(void*, double);
  double (*get)(void*);
};

const Option kOptions[] = {
#define OPTION(object, name, type, lacking)                                          \
  {#object,                                                                          \
   #name,                                                                            \
   #type,                                                                            \
   lacking,                                                                          \
   [](World* world) -> void* {                                                       \
     return Fresh(world, static_cast<const rocksdb_##object##_t*>(nullptr));         \
   },                                                                                \
   [](void* handle, double value) {                                                  \
     rocksdb_##object##_set_##name(static_cast<rocksdb_##object##_t*>(handle),       \
                                   static_cast<type>(value));                        \
   },                                                                                \
   [](void* handle) {                                                                \
     return static_cast<double>(                                                     \
         rocksdb_##object##_get_##name(static_cast<rocksdb_##object##_t*>(handle))); \
   }},
#define FIELD(state, object, name, type) OPTION(object, name, type, false)
#define FIELD_AS(state, object, name, type, member) OPTION(object, name, type, false)
#define LACKING(struct_name, name, type, default_value) OPTION(options, name, type, true)
#include "db/api/c/c_functions.inc"
};

// Sets the option to `value`: it must return `expected` then, and all others what they returned
// before.
void RoundTrip(const Option& option, void* handle, double value, double expected) {
  std::vector<double> before;
  const auto same_object = [&](const Option& other) {
    return std::strcmp(other.object, option.object) == 0;
  };
  for (const Option& other : kOptions) {
    before.push_back(same_object(other) ? other.get(handle) : 0);
  }
  option.set(handle, value);
  const std::string name = std::string(option.object) + "." + option.name;
  size_t i = 0;
  for (const Option& other : kOptions) {
    const double was = before[i++];
    if (!same_object(other)) continue;
    const double wanted = &other == &option ? expected : was;
    if (other.get(handle) != wanted) Fail(name.c_str(), "was set and changes", other.name);
  }
}

// Returns how many options there are.
int RoundTripAll() {
  World world(false);
  for (const Option& option : kOptions) {
    void* const handle = option.make(&world);
    const std::string type = option.type;
    const std::string name = option.name;
    if (type == "unsigned char" || name == "use_fsync") {
      RoundTrip(option, handle, 1, 1);
      RoundTrip(option, handle, 0, 0);
      // Any value but 0 sets a flag; a number is kept, and so is an option without a field.
      const bool kept = option.lacking || name == "bottommost_level_compaction";
      RoundTrip(option, handle, 200, kept ? 200 : 1);
    } else if (type == "double") {
      RoundTrip(option, handle, 0.625, 0.625);
    } else {
      RoundTrip(option, handle, 3, 3);
      RoundTrip(option, handle, 5, 5);
      const bool wide = type == "uint64_t" || type == "int64_t" || type == "size_t";
      constexpr double kWide = 5.0 * (uint64_t{1} << 32);
      if (wide) RoundTrip(option, handle, kWide, kWide);
    }
  }
  return static_cast<int>(std::size(kOptions));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string part = argc > 2 ? argv[2] : "";
  std::filesystem::create_directories(argv[1]);
  if (chdir(argv[1]) != 0) return 2;
  int called = 0;
  for (const Function& function : kFunctions) {
    if (!Contains(function.name, part.c_str())) continue;
    ++called;
    if (!part.empty()) std::fprintf(stderr, "%s\n", function.name);
    CallAll(function);
  }
  const int options = part.empty() ? RoundTripAll() : 0;
  std::printf("%d functions called, %d options set, %d failures\n", called, options, g_failures);
  return g_failures == 0 ? 0 : 1;
}
