// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the opaque types of the C API, and how its functions call C++: no exception leaves them,
// no status is dropped if the caller gave a place for it, and a null handle is an error rather than
// a crash.
//
//      rocksdb_put(db, options, key, ...)            C, in rocksdb/c.h
//        RunOnDb(db, options, errptr, body)          checks the handles
//          body(DB*, const WriteOptions&) -> Status  C++
//        errptr: a copy of the message, made with malloc; the program frees it
//
// A handle is a struct with the C++ object as `rep`. Handles own their objects unless a comment
// says otherwise. Objects that a database goes on using after the program has freed their handle
// (comparators, filters, environments) are shared: the database keeps a reference in `kept`.

#include <algorithm>
#include <atomic>
#include <bitset>
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
  // Copies the bytes.
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
  // Keeps the object; null is ignored.
  void Add(std::shared_ptr<const void> object) {
    if (object == nullptr) return;
    const MutexLock lock(&mu_);
    objects_.push_back(std::move(object));
  }

 private:
  Mutex mu_;  // A leaf: no other lock is taken under it.
  std::vector<std::shared_ptr<const void>> objects_ VARVE_GUARDED_BY(mu_);
};

// Owns the object of a handle that options take over. The handle lives until its giver has
// destroyed the handle or given it away, and no options or database hold the object any more. While
// some do, a giver does no harm by giving the handle again, or by destroying it.
//
// Handle has a member `rep` of this type, and is made with new.
template <typename Handle, typename Object>
class Given {
 public:
  explicit Given(std::unique_ptr<Object> object) : object_(std::move(object)) {
    VARVE_ASSERT(object_ != nullptr);
  }

  // Returns the object, which the handle owns until it is given away.
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

  // Destroys a handle that was never given away, or that nothing holds any more.
  static void Destroy(Handle* handle) {
    if (handle != nullptr && handle->rep.shared_.expired()) delete handle;
  }

 private:
  std::unique_ptr<Object> object_;
  // The reference that options hold; expired: there is none.
  std::weak_ptr<Object> shared_;
};

}  // namespace varve::c

namespace varve::c {

// Options that Varve has, and fields of RocksDB's that it lacks.

struct FlushOptionsAndMore : FlushOptions {
  bool force_atomic_flush = false;
  bool listener_wait = false;
};

struct SizeApproximationOptionsAndMore : SizeApproximationOptions {
  bool include_blob_files = false;
};

}  // namespace varve::c

namespace varve::c {

// Keeps the first error of adding an update to a batch: writing then fails, unless it was rolled
// back.
class BatchFailure {
 public:
  // Returns the first error, or OK.
  const Status& status() const { return status_; }
  // Keeps `s` if it is the first error.
  void Note(Status s) {
    if (s.ok() || !status_.ok()) return;
    status_ = std::move(s);
    since_ = save_points_;
  }
  // These three must be called with each change of the batch's save points.
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

// A column family; the program destroys the handle before the database.
struct rocksdb_column_family_handle_t {
  varve::ColumnFamilyHandle* rep;
  bool owned;  // False for the default family's, which the DB owns.
};

namespace varve::c {
// Stands for the default family in functions that take none; in the others a null handle is an
// error.
inline constexpr rocksdb_column_family_handle_t kDefaultFamily = {nullptr, false};
}  // namespace varve::c

// A snapshot; released by the function that takes the database, too.
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
  // Is replaced by one with an error when a call throws, also a call that takes a const handle.
  mutable std::unique_ptr<varve::Iterator> rep;
  // True if values are read when they are asked for (allow_unprepared_value).
  bool lazy = false;
  varve::c::SharedKey keys[4];  // The iterator's read options point here.
};

// A batch, and the first error of building it, which the write reports.
struct rocksdb_writebatch_t {
  varve::WriteBatch rep;
  varve::c::BatchFailure failure;
};

// Options of a database and of one family, with what C++ options only point to.
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
  varve::CompactRangeOptions rep;
  varve::c::SharedKey full_history_ts_low;
};

struct rocksdb_compaction_options_t {
  varve::CompactionOptions rep;
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

// Shares a cache with the options that were given it.
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
  varve::CompactionOptionsUniversal rep;
};

struct rocksdb_fifo_compaction_options_t {
  varve::CompactionOptionsFIFO rep;
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

// Returns InvalidArgument for an argument that must not be null.
Status NullArgument(const char* name);

// Keeps the objects that `options` points to for as long as the iterator, and notes whether values
// are read only when they are asked for.
void HoldOptions(rocksdb_iterator_t* iter, const rocksdb_readoptions_t* options);
// Reads the value of the entry if the iterator has left it out. Returns false if it cannot be read:
// then the iterator is not valid, and has the error. Requires a valid iterator.
bool PrepareValue(const rocksdb_iterator_t& iter) noexcept;

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

// Programs clear an option with a null handle, and a handle that could not be made is null, too. So
// each thread remembers, for each kind, that its last attempt to make one failed, until it passes
// null to a setter: opening names that setter.
//
// A thread has few bits for that, as storage of threads is scarce in a library that is loaded
// later. Kinds are numbered when the library is loaded, and two of them may share a bit: a null
// that means to clear an option is then refused after a failure to make a handle of the other kind.
inline constexpr size_t kKindsOfHandles = 64;
inline constinit thread_local std::bitset<kKindsOfHandles> could_not_make;
inline size_t NextKindOfHandle() noexcept {
  static std::atomic<size_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed) % kKindsOfHandles;
}
template <typename Handle>
inline const size_t kind_of_handle = NextKindOfHandle();

// Runs `body`, which cannot report errors; returns `fallback` if it throws, and remembers the
// failure if the result is a handle.
template <typename Body, typename Result = std::invoke_result_t<Body>>
Result Try(Body body, Result fallback = Result()) noexcept {
  try {
    return body();
  } catch (...) {
    using Pointee = std::remove_pointer_t<Result>;
    if constexpr (std::is_pointer_v<Result> && std::is_class_v<Pointee>) {
      could_not_make.set(kind_of_handle<Pointee>);
    }
    return fallback;
  }
}

// Runs `body`, which has no result and cannot report errors; ignores exceptions.
template <typename Body>
void TryVoid(Body body) noexcept {
  try {
    body();
  } catch (...) {
    return;  // The error cannot be reported, and nothing is half changed.
  }
}

// Run body(DB, options) or body(DB), and report its failure, or a null handle, through errptr.
// Return true if it succeeded.
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

// Remembers that a handle could not be made, for StandsForFailure, and returns null.
template <typename Handle>
Handle* CouldNotMake() noexcept {
  could_not_make.set(kind_of_handle<Handle>);
  return nullptr;
}
// True if the handle is null and the last attempt of this thread to make one of its kind has
// failed, which is forgotten then.
template <typename Handle>
bool StandsForFailure(const Handle* handle) noexcept {
  if (handle != nullptr || !could_not_make.test(kind_of_handle<Handle>)) return false;
  could_not_make.reset(kind_of_handle<Handle>);
  return true;
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
  // Returns the key, or null for no limit.
  const Slice* get() const { return present_ ? &key_ : nullptr; }

 private:
  const bool present_;
  const Slice key_;
};

// Sets *map to `count` names and values. InvalidArgument for nulls.
Status ToMap(int count, const char* const* keys, const char* const* values,
             std::unordered_map<std::string, std::string>* map);

// Converts fields of C++ options from C: flags are 0 or 1, enums are ints. A number that the enum
// cannot hold becomes one that no enumerator has, so that opening refuses it.
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
