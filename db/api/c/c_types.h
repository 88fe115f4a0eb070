// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the opaque types of the C API, and how its functions call C++: no exception leaves them,
// no status is dropped if the caller gave a place for it, and a null handle is an error rather than
// a crash.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/c.h"
#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/filter_policy.h"
#include "varve/iterator.h"
#include "varve/merge_operator.h"
#include "varve/options.h"
#include "varve/perf_context.h"
#include "varve/rate_limiter.h"
#include "varve/slice.h"
#include "varve/slice_transform.h"
#include "varve/snapshot.h"
#include "varve/statistics.h"
#include "varve/status.h"
#include "varve/table.h"
#include "varve/write_batch.h"
#include "varve/write_buffer_manager.h"

#include "db/api/c/c_lacking.h"
#include "util/base/assert.h"
#include "util/sync/mutex.h"

namespace varve::c {

// Holds a copy of the caller's bytes, and the slice that options point to. It is shared with the
// iterators made from the options, so that these may be freed first.
struct OwnedKey {
  explicit OwnedKey(const Slice& key) : bytes(key.data(), key.size()), slice(bytes) {}
  OwnedKey(const OwnedKey&) = delete;
  OwnedKey& operator=(const OwnedKey&) = delete;

  const std::string bytes;
  const Slice slice;
};
using SharedKey = std::shared_ptr<const OwnedKey>;

}  // namespace varve::c

namespace varve::c {

class ResultSlab;
class SpareSlabs;
std::shared_ptr<SpareSlabs> MakeSpareSlabs();

// Holds objects that a database uses for as long as it exists.
//
// Thread safety: any.
class Kept {
 public:
  void Add(std::shared_ptr<const void> object) {
    if (object == nullptr) return;
    const MutexLock lock(&mu_);
    objects_.push_back(std::move(object));
  }

 private:
  Mutex mu_;  // A leaf: no other lock is taken under it.
  std::vector<std::shared_ptr<const void>> objects_ VARVE_GUARDED_BY(mu_);
};

// Owns the object of a handle that options take over: the handle lives until its giver has
// destroyed it or given it away, and nothing holds the object any more. A caller that gives it
// twice, or destroys it after having given it, does no harm as long as options or databases still
// hold it.
//
// Handle has a member `rep` of this type, and is made with new.
template <typename Handle, typename Object>
class Given {
 public:
  explicit Given(std::unique_ptr<Object> object) : object_(std::move(object)) {
    VARVE_ASSERT(object_ != nullptr);
  }

  Object* get() const { return object_.get(); }

  // Returns the reference that the options hold. Throws std::bad_alloc; the handle is then still
  // the giver's.
  static std::shared_ptr<Object> Share(Handle* handle) {
    std::shared_ptr<Object> shared = handle->rep.shared_.lock();
    VARVE_ASSERT(shared == nullptr || shared.get() == handle->rep.get());
    if (shared != nullptr) return shared;
    auto keeper = std::make_shared<std::unique_ptr<Handle>>();
    shared = std::shared_ptr<Object>(keeper, handle->rep.get());
    keeper->reset(handle);  // Nothing can fail from here on.
    handle->rep.shared_ = shared;
    return shared;
  }

  static void Destroy(Handle* handle) {
    if (handle != nullptr && handle->rep.shared_.expired()) delete handle;
  }

 private:
  std::unique_ptr<Object> object_;
  std::weak_ptr<Object> shared_;
};

}  // namespace varve::c

namespace varve::c {

// Options that Varve has, and fields of RocksDB's that it lacks.

struct FlushOptionsAndMore : FlushOptions {
  bool force_atomic_flush = false;
  bool listener_wait = false;
};

struct CompactRangeOptionsAndMore : CompactRangeOptions {
  int blob_garbage_collection_policy = 2;  // The family's value.
  double blob_garbage_collection_age_cutoff = -1;
};

struct SizeApproximationOptionsAndMore : SizeApproximationOptions {
  bool include_blob_files = false;
};

struct CompactionOptionsAndMore : CompactionOptions {
  int output_temperature_override = 0;
};

struct UniversalOptionsAndMore : CompactionOptionsUniversal {
  int max_read_amp = -1;
  bool reduce_file_locking = true;
};

struct FifoOptionsAndMore : CompactionOptionsFIFO {
  uint64_t age_for_warm = 0;
  bool allow_trivial_copy_when_change_temperature = false;
  uint64_t trivial_copy_buffer_size = 4096;
  uint64_t max_data_files_size = 0;
  bool use_kv_ratio_compaction = false;
};

}  // namespace varve::c

namespace varve::c {

// Keeps the first error of adding an update to a batch: writing then fails, unless it was rolled
// back.
class BatchFailure {
 public:
  const Status& status() const { return status_; }
  void Note(Status s) {
    if (s.ok() || !status_.ok()) return;
    status_ = std::move(s);
    since_ = save_points_;
  }
  void SavePointSet() { save_points_++; }
  void SavePointPopped() {
    if (save_points_ != 0) save_points_--;
    since_ = std::min(since_, save_points_);
  }
  void RolledBack() {
    // The failure is at the newest save point or after it.
    if (since_ == save_points_) status_ = Status::OK();
    SavePointPopped();
  }

 private:
  Status status_;
  size_t save_points_ = 0;
  size_t since_ = 0;  // Number of save points when it failed.
};

}  // namespace varve::c

// Every struct has one member `rep`, the C++ object, unless its comment says more.

struct rocksdb_t {
  // The first member, as in the handles of databases with transactions: the crate `rocksdb` drops
  // their families by functions of this one.
  std::unique_ptr<varve::DB> rep;
  varve::c::Kept kept;  // Used but not owned by the DB; freed after it.
  std::shared_ptr<varve::c::SpareSlabs> spare_slabs = varve::c::MakeSpareSlabs();

  ~rocksdb_t() { rep.reset(); }
};

struct rocksdb_column_family_handle_t {
  varve::ColumnFamilyHandle* rep;
  bool owned;  // False for the default family's, which the DB owns.
};

namespace varve::c {
// Stands for the default family in functions that take none; in the others a null handle is an
// error.
inline constexpr rocksdb_column_family_handle_t kDefaultFamily = {nullptr, false};
}  // namespace varve::c

struct rocksdb_snapshot_t {
  const varve::Snapshot* rep;
};

// One value of a slab, or of a SingleResult.
struct rocksdb_pinnableslice_t {
  varve::PinnableSlice* value;
  varve::c::ResultSlab* slab;  // Null: a SingleResult.
};

struct rocksdb_pinnable_handle_t {
  varve::PinnableSlice rep;
};

struct rocksdb_iterator_t {
  std::unique_ptr<varve::Iterator> rep;
  varve::c::SharedKey keys[4];  // The iterator's read options point here.
};

struct rocksdb_writebatch_t {
  varve::WriteBatch rep;
  varve::c::BatchFailure failure;
};

struct rocksdb_options_t {
  varve::Options rep;
  // Own rep.comparator and rep.compaction_filter if they are not the library's.
  std::shared_ptr<const varve::Comparator> comparator;
  std::shared_ptr<const varve::CompactionFilter> compaction_filter;
  varve::c::LackingOptions lacking;
  varve::c::LackingOptions table_lacking;  // For the table factory set last.
  std::string daily_offpeak_time_utc;
  std::shared_ptr<rocksdb_compactionservice_t> compaction_service;  // Never called.

  // Copies the members that belong to `rep`, which was copied from `other`'s.
  void TakeCompanions(const rocksdb_options_t& other) {
    comparator = other.comparator;
    compaction_filter = other.compaction_filter;
    lacking = other.lacking;
    table_lacking = other.table_lacking;
    daily_offpeak_time_utc = other.daily_offpeak_time_utc;
    compaction_service = other.compaction_service;
  }
  // Returns the error for the first option that was set and is not supported.
  varve::Status CheckLacking() const {
    varve::Status s = lacking.Check();
    return s.ok() ? table_lacking.Check() : s;
  }
  // Keeps the objects that a database opened with these options uses while it exists.
  void KeepFor(varve::c::Kept* kept) const {
    kept->Add(comparator);
    kept->Add(compaction_filter);
  }
};

struct rocksdb_readoptions_t {
  varve::ReadOptions rep;
  varve::c::SharedKey lower_bound;
  varve::c::SharedKey upper_bound;
  varve::c::SharedKey timestamp;
  varve::c::SharedKey iter_start_ts;
  std::unique_ptr<std::string> request_id;  // Never read.
};

struct rocksdb_writeoptions_t {
  varve::WriteOptions rep;
};

struct rocksdb_flushoptions_t {
  varve::c::FlushOptionsAndMore rep;
};

struct rocksdb_flushwaloptions_t {
  varve::FlushWALOptions rep;
};

struct rocksdb_compactoptions_t {
  varve::c::CompactRangeOptionsAndMore rep;
  varve::c::SharedKey full_history_ts_low;
};

struct rocksdb_compaction_options_t {
  varve::c::CompactionOptionsAndMore rep;
};

struct rocksdb_ingestexternalfileoptions_t {
  varve::IngestExternalFileOptions rep;
};

struct rocksdb_wait_for_compact_options_t {
  varve::WaitForCompactOptions rep;
};

struct rocksdb_size_approximation_options_t {
  varve::c::SizeApproximationOptionsAndMore rep;
};

struct rocksdb_block_based_table_options_t {
  varve::BlockBasedTableOptions rep;
  varve::c::LackingOptions lacking;
};

struct rocksdb_filterpolicy_t {
  varve::c::Given<rocksdb_filterpolicy_t, const varve::FilterPolicy> rep;
};

struct rocksdb_cache_t {
  std::shared_ptr<varve::Cache> rep;
};

struct rocksdb_memory_allocator_t {
  std::shared_ptr<varve::MemoryAllocator> rep;
};

struct rocksdb_lru_cache_options_t {
  varve::LRUCacheOptions rep;
};

struct rocksdb_hyper_clock_cache_options_t {
  varve::HyperClockCacheOptions rep;
};

struct rocksdb_write_buffer_manager_t {
  std::shared_ptr<varve::WriteBufferManager> rep;
};

struct rocksdb_ratelimiter_t {
  std::shared_ptr<varve::RateLimiter> rep;
};

struct rocksdb_sst_file_manager_t {
  std::shared_ptr<varve::SstFileManager> rep;
};

struct rocksdb_envoptions_t {
  varve::EnvOptions rep;
};

struct rocksdb_env_t {
  varve::Env* rep;
  bool owned;  // False for Env::Default().
};

struct rocksdb_logger_t {
  std::shared_ptr<varve::Logger> rep;
};

struct rocksdb_dbpath_t {
  varve::DbPath rep;
};

struct rocksdb_comparator_t {
  std::shared_ptr<const varve::Comparator> rep;
};

struct rocksdb_compactionfilter_t {
  std::shared_ptr<varve::CompactionFilter> rep;
  bool* ignore_snapshots;  // Points into `rep`.
};

struct rocksdb_compactionfiltercontext_t {
  const varve::CompactionFilter::Context* rep;  // Valid during the callback.
};

struct rocksdb_compactionfilterfactory_t {
  varve::c::Given<rocksdb_compactionfilterfactory_t, varve::CompactionFilterFactory> rep;
};

struct rocksdb_sst_partitioner_factory_t {
  std::shared_ptr<varve::SstPartitionerFactory> rep;
};

struct rocksdb_mergeoperator_t {
  varve::c::Given<rocksdb_mergeoperator_t, varve::MergeOperator> rep;
};

struct rocksdb_get_merge_operands_options_t {
  varve::GetMergeOperandsOptions rep;
};

// `values` has places for operands, of which the first `count` are used.
struct rocksdb_merge_operands_t {
  std::vector<varve::PinnableSlice> values;
  size_t count = 0;
};

struct rocksdb_slicetransform_t {
  varve::c::Given<rocksdb_slicetransform_t, const varve::SliceTransform> rep;
};

struct rocksdb_universal_compaction_options_t {
  varve::c::UniversalOptionsAndMore rep;
};

struct rocksdb_fifo_compaction_options_t {
  varve::c::FifoOptionsAndMore rep;
};

struct rocksdb_livefiles_t {
  std::vector<varve::LiveFileMetaData> rep;
};

struct rocksdb_column_family_metadata_t {
  varve::ColumnFamilyMetaData rep;
};

// The next two point into the metadata above them.
struct rocksdb_level_metadata_t {
  const varve::LevelMetaData* rep;
};

struct rocksdb_sst_file_metadata_t {
  const varve::SstFileMetaData* rep;
};

struct rocksdb_perfcontext_t {
  varve::PerfContext* rep;  // Belongs to the creating thread.
};

struct rocksdb_statistics_histogram_data_t {
  varve::HistogramData rep;
};

namespace varve::c {

// Returns the status of the exception being handled.
Status CaughtException() noexcept;

// Frees the text in *errptr and replaces it by that of `status`, which is dropped if errptr is
// null. `call` replaces "C API" in the message, which marks errors of this API itself.
void SetError(char** errptr, const Status& status,
              const char* call = __builtin_FUNCTION()) noexcept;

Status NullArgument(const char* name);

// Keeps the objects that `options` points to for as long as the iterator.
void HoldKeys(rocksdb_iterator_t* iter, const rocksdb_readoptions_t* options);

// Converts a number from C, where a batch keeps 0 or 8 bytes a key: any other number means 8.
inline size_t BatchProtection(size_t bytes_per_key) {
  return bytes_per_key == 0 ? 0 : 8;
}

// Return malloc'ed copies, of bytes, and of text with its terminator; null when out of memory.
char* CopyBytes(const Slice& bytes) noexcept;
char* CopyText(const Slice& text) noexcept;

// Runs `body`, which returns a Status, and reports a failure. Returns true if it succeeded.
template <typename Body>
bool Run(char** errptr, Body body, const char* call = __builtin_FUNCTION()) noexcept {
  try {
    const Status s = body();
    if (s.ok()) [[likely]] {
      return true;
    }
    SetError(errptr, s, call);
  } catch (...) {
    SetError(errptr, CaughtException(), call);
  }
  return false;
}

// Runs `body`, which cannot report errors; returns `fallback` if it throws.
template <typename Body, typename Result = std::invoke_result_t<Body>>
Result Try(Body body, Result fallback = Result()) noexcept {
  try {
    return body();
  } catch (...) {
    return fallback;
  }
}

template <typename Body>
void TryVoid(Body body) noexcept {
  try {
    body();
  } catch (...) {
    return;  // The error cannot be reported, and nothing is half changed.
  }
}

// Run `body` with a DB and an options object, neither of which may be null.
template <typename OptionsHandle, typename Body>
bool RunOnDb(rocksdb_t* db, const OptionsHandle* options, char** errptr, Body body,
             const char* call = __builtin_FUNCTION()) noexcept {
  const auto checked = [&]() -> Status {
    if (db == nullptr) return NullArgument("db");
    if (options == nullptr) return NullArgument("options");
    return body(db->rep.get(), options->rep);
  };
  return Run(errptr, checked, call);
}

template <typename Body>
bool RunOnDb(rocksdb_t* db, char** errptr, Body body,
             const char* call = __builtin_FUNCTION()) noexcept {
  const auto checked = [&]() -> Status {
    if (db == nullptr) return NullArgument("db");
    return body(db->rep.get());
  };
  return Run(errptr, checked, call);
}

// Returns a new `Handle` made from its members, or null when out of memory.
template <typename Handle, typename... Members>
Handle* Make(Members&&... members) noexcept {
  return Try([&] { return new Handle{std::forward<Members>(members)...}; });
}

// Programs clear an option with a null handle, and a handle that could not be made is null, too. So
// each thread remembers, for each kind, that its last attempt to make one failed, until it passes
// null to a setter: opening names that setter.
template <typename Handle>
inline thread_local bool could_not_make = false;
template <typename Handle>
Handle* CouldNotMake() noexcept {
  could_not_make<Handle> = true;
  return nullptr;
}
template <typename Handle>
bool StandsForFailure(const Handle* handle) noexcept {
  return handle == nullptr && std::exchange(could_not_make<Handle>, false);
}

// Returns the C++ column family, null for null, which the DB refuses with a status.
inline ColumnFamilyHandle* Family(const rocksdb_column_family_handle_t* handle) {
  return handle == nullptr ? nullptr : handle->rep;
}

// Stores a length, unless the caller does not want it.
inline void StoreSize(size_t* place, size_t size) {
  if (place != nullptr) *place = size;
}

// Holds a key that limits a range, or null for none.
class OptionalKey {
 public:
  OptionalKey(const char* key, size_t size) : present_(key != nullptr), key_(key, size) {}
  const Slice* get() const { return present_ ? &key_ : nullptr; }

 private:
  const bool present_;
  const Slice key_;
};

// Sets *map to `count` names and values. InvalidArgument for nulls.
Status ToMap(int count, const char* const* keys, const char* const* values,
             std::unordered_map<std::string, std::string>* map);

// Convert fields of C++ options to and from C: flags are 0 or 1, enums are ints. A number that the
// enum cannot hold becomes one that no enumerator has, so that opening refuses it.
template <typename Field, typename Value>
void StoreField(Field* field, Value value) {
  if constexpr (std::is_same_v<Field, bool>) {
    *field = value != 0;
  } else if constexpr (std::is_enum_v<Field>) {
    using Number = std::underlying_type_t<Field>;
    constexpr int64_t kLowest = std::numeric_limits<Number>::min();
    constexpr int64_t kHighest = std::numeric_limits<Number>::max();
    const bool fits = int64_t{value} >= kLowest && int64_t{value} <= kHighest;
    *field =
        static_cast<Field>(fits ? static_cast<Number>(value) : static_cast<Number>(kHighest - 1));
  } else {
    *field = static_cast<Field>(value);
  }
}

}  // namespace varve::c

// Defines a setter, a getter, or both, named `function`, for the field rep.`member` of the struct
// behind `type`. If its declaration suffices, tools/cmake/VarveCFields.cmake writes the line.
#define VARVE_C_SETTER(type, function, c_type, member)                       \
  void function(type* handle, c_type value) {                                \
    if (handle != nullptr) varve::c::StoreField(&handle->rep.member, value); \
  }                                                                          \
  static_assert(true)
#define VARVE_C_GETTER(type, function, c_type, member)                                           \
  c_type function(type* handle) {                                                                \
    return static_cast<c_type>(handle == nullptr ? 0 : static_cast<c_type>(handle->rep.member)); \
  }                                                                                              \
  static_assert(true)

// Defines the setter and the getter of a field `name` of the struct behind rocksdb_`object`_t.
#define VARVE_C_FIELD(object, name, c_type)                                          \
  VARVE_C_SETTER(rocksdb_##object##_t, rocksdb_##object##_set_##name, c_type, name); \
  VARVE_C_GETTER(rocksdb_##object##_t, rocksdb_##object##_get_##name, c_type, name)

// Define how a handle without arguments is made and freed.
#define VARVE_C_CREATE(type, function) \
  type* function() {                   \
    return varve::c::Make<type>();     \
  }                                    \
  static_assert(true)
#define VARVE_C_DESTROY(type, function) \
  void function(type* handle) {         \
    delete handle;                      \
  }                                     \
  static_assert(true)
#define VARVE_C_HANDLE(object)                                     \
  VARVE_C_CREATE(rocksdb_##object##_t, rocksdb_##object##_create); \
  VARVE_C_DESTROY(rocksdb_##object##_t, rocksdb_##object##_destroy)

// Defines a function of an unsupported feature, of whose `parameters` only errptr has a name: it
// reports `status`, a function, and returns nothing, null or 0.
#define VARVE_C_REFUSES(type, function, status, parameters) \
  type function parameters {                                \
    varve::c::Run(errptr, status);                          \
    return static_cast<type>(0);                            \
  }                                                         \
  static_assert(true)
// Like the macro above, for a function that returns a value, whose length is the parameter size.
#define VARVE_C_REFUSES_VALUE(type, function, status, parameters) \
  type function parameters {                                      \
    varve::c::StoreSize(size, 0);                                 \
    varve::c::Run(errptr, status);                                \
    return nullptr;                                               \
  }                                                               \
  static_assert(true)
// Like the macro above, for a function that returns a value and cannot report.
#define VARVE_C_GIVES_NOTHING(type, function, parameters) \
  type function parameters {                              \
    varve::c::StoreSize(size, 0);                         \
    return static_cast<type>(0);                          \
  }                                                       \
  static_assert(true)
// Like the macro above, for a function that cannot report. `parameters` have no names.
#define VARVE_C_DOES_NOTHING(type, function, parameters) \
  type function parameters {                             \
    return static_cast<type>(0);                         \
  }                                                      \
  static_assert(true)
