// SPDX-License-Identifier: Apache-2.0
#pragma once

// What stands behind the opaque types of the C API, and how its functions reach C++: no exception
// leaves them, no status is dropped where the caller gave a place for it, and a null handle is an
// error rather than a crash.

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

namespace varve::c {

// Bytes of the caller's, copied, and the slice that options point at. Shared with the iterators
// that were made from the options, so these may go first.
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

}  // namespace varve::c

// Every struct has one member `rep`, the C++ object, unless it says more.

struct rocksdb_t {
  std::unique_ptr<varve::DB> rep;
  std::shared_ptr<varve::c::SpareSlabs> spare_slabs = varve::c::MakeSpareSlabs();
};

struct rocksdb_column_family_handle_t {
  varve::ColumnFamilyHandle* rep;
  bool owned;  // False for the default family's, which belongs to the DB.
};

struct rocksdb_snapshot_t {
  const varve::Snapshot* rep;
};

// One value of a slab, or alone in a SingleResult.
struct rocksdb_pinnableslice_t {
  varve::PinnableSlice* value;
  varve::c::ResultSlab* slab;  // null: a SingleResult
};

struct rocksdb_pinnable_handle_t {
  varve::PinnableSlice rep;
};

struct rocksdb_iterator_t {
  std::unique_ptr<varve::Iterator> rep;
  varve::c::SharedKey keys[4];  // What the iterator's read options point at.
};

struct rocksdb_writebatch_t {
  varve::WriteBatch rep;
  varve::Status failure;  // The first update that could not be added: writing then fails.
};

struct rocksdb_options_t {
  varve::Options rep;
};

struct rocksdb_readoptions_t {
  varve::ReadOptions rep;
  varve::c::SharedKey lower_bound;
  varve::c::SharedKey upper_bound;
  varve::c::SharedKey timestamp;
  varve::c::SharedKey iter_start_ts;
};

struct rocksdb_writeoptions_t {
  varve::WriteOptions rep;
};

struct rocksdb_flushoptions_t {
  varve::FlushOptions rep;
};

struct rocksdb_flushwaloptions_t {
  varve::FlushWALOptions rep;
};

struct rocksdb_compactoptions_t {
  varve::CompactRangeOptions rep;
  varve::c::SharedKey full_history_ts_low;
};

struct rocksdb_wait_for_compact_options_t {
  varve::WaitForCompactOptions rep;
};

struct rocksdb_size_approximation_options_t {
  varve::SizeApproximationOptions rep;
};

struct rocksdb_block_based_table_options_t {
  varve::BlockBasedTableOptions rep;
};

struct rocksdb_filterpolicy_t {
  std::unique_ptr<const varve::FilterPolicy> rep;
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
  std::unique_ptr<const varve::Comparator> rep;
};

struct rocksdb_compactionfilter_t {
  std::unique_ptr<varve::CompactionFilter> rep;
  bool* ignore_snapshots;  // Inside `rep`.
};

struct rocksdb_compactionfiltercontext_t {
  const varve::CompactionFilter::Context* rep;  // Lives for the callback.
};

struct rocksdb_compactionfilterfactory_t {
  std::unique_ptr<varve::CompactionFilterFactory> rep;
};

struct rocksdb_mergeoperator_t {
  std::unique_ptr<varve::MergeOperator> rep;
};

struct rocksdb_get_merge_operands_options_t {
  varve::GetMergeOperandsOptions rep;
};

// `values` are places for operands, of which the first `count` are taken.
struct rocksdb_merge_operands_t {
  std::vector<varve::PinnableSlice> values;
  size_t count = 0;
};

struct rocksdb_slicetransform_t {
  std::unique_ptr<const varve::SliceTransform> rep;
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
  varve::PerfContext* rep;  // The creating thread's.
};

struct rocksdb_statistics_histogram_data_t {
  varve::HistogramData rep;
};

namespace varve::c {

// Status of the exception being handled.
Status CaughtException() noexcept;

// Frees the text that *errptr holds and leaves that of `status` there. Null errptr: dropped.
void SetError(char** errptr, const Status& status) noexcept;

Status NullArgument(const char* name);

// malloc'ed copies, null when out of memory: of bytes, and of text with its terminator.
char* CopyBytes(const Slice& bytes) noexcept;
char* CopyText(const Slice& text) noexcept;

// Runs `body`, which returns a Status, and reports a failure. True if it succeeded.
template <typename Body>
bool Run(char** errptr, Body body) noexcept {
  try {
    const Status s = body();
    if (s.ok()) [[likely]] {
      return true;
    }
    SetError(errptr, s);
  } catch (...) {
    SetError(errptr, CaughtException());
  }
  return false;
}

// Runs `body`, which has nowhere to report to; `fallback` if it throws.
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
    return;  // The function has no way to tell, and nothing was changed half.
  }
}

// Run with a DB and an options object, neither of which may be null.
template <typename OptionsHandle, typename Body>
bool RunOnDb(rocksdb_t* db, const OptionsHandle* options, char** errptr, Body body) noexcept {
  return Run(errptr, [&]() -> Status {
    if (db == nullptr) return NullArgument("db");
    if (options == nullptr) return NullArgument("options");
    return body(db->rep.get(), options->rep);
  });
}

template <typename Body>
bool RunOnDb(rocksdb_t* db, char** errptr, Body body) noexcept {
  return Run(errptr, [&]() -> Status {
    if (db == nullptr) return NullArgument("db");
    return body(db->rep.get());
  });
}

// A new `Handle` from its members, or null when out of memory.
template <typename Handle, typename... Members>
Handle* Make(Members&&... members) noexcept {
  return Try([&] { return new Handle{std::forward<Members>(members)...}; });
}

// The C++ column family, null for null: the DB refuses that with a status.
inline ColumnFamilyHandle* Family(const rocksdb_column_family_handle_t* handle) {
  return handle == nullptr ? nullptr : handle->rep;
}

// A place for a length that the caller may not want.
inline void StoreSize(size_t* place, size_t size) {
  if (place != nullptr) *place = size;
}

// A key that limits a range, or null for none.
class OptionalKey {
 public:
  OptionalKey(const char* key, size_t size) : present_(key != nullptr), key_(key, size) {}
  const Slice* get() const { return present_ ? &key_ : nullptr; }

 private:
  const bool present_;
  const Slice key_;
};

// `count` names and values as a map. InvalidArgument for nulls.
Status ToMap(int count, const char* const* keys, const char* const* values,
             std::unordered_map<std::string, std::string>* map);

// Fields of C++ options seen from C: flags are 0 or 1, enums are ints. A number that the enum
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

// Defines a setter, a getter, or both, `function` being the C name: for the field rep.`member` of
// the struct behind `type`.
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
