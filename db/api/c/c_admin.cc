// SPDX-License-Identifier: Apache-2.0
// Implements maintenance for the C API: flushes, compactions, changes of options, properties,
// sizes.
//
// Functions that have no `errptr` in RocksDB's ABI cannot report a failure: they do nothing for a
// null handle, and the result of the C++ call is dropped. What it would have said is in the LOG.
#include "varve/convenience.h"

#include "db/api/c/c_types.h"

using varve::ColumnFamilyHandle;
using varve::CompactRangeOptions;
using varve::DB;
using varve::FlushOptions;
using varve::Range;
using varve::Slice;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::CopyText;
using varve::c::Family;
using varve::c::NullArgument;
using varve::c::OptionalKey;
using varve::c::RunOnDb;
using varve::c::Try;
using varve::c::TryVoid;

namespace {

// Holds arrays that describe `count` ranges.
struct RangeArguments {
  int count;
  const char* const* starts;
  const size_t* start_sizes;
  const char* const* limits;
  const size_t* limit_sizes;
};

// Sets sizes[i] to the approximate bytes of the i-th range.
Status ApproximateSizes(DB* db, ColumnFamilyHandle* family,
                        const varve::SizeApproximationOptions& options, const RangeArguments& args,
                        uint64_t* sizes) {
  if (args.count < 0) return Status::InvalidArgument("C API: negative number of ranges");
  if (args.count == 0) return Status::OK();
  if (args.starts == nullptr || args.start_sizes == nullptr || args.limits == nullptr ||
      args.limit_sizes == nullptr || sizes == nullptr) {
    return NullArgument("range arrays or sizes");
  }
  std::vector<Range> ranges;
  // The arrays are parallel: key i of the one belongs to length i of the other.
  for (int i = 0; i < args.count; ++i) {
    ranges.emplace_back(Slice(args.starts[i], args.start_sizes[i]),
                        Slice(args.limits[i], args.limit_sizes[i]));
  }
  return db->GetApproximateSizes(options, family, ranges.data(), args.count, sizes);
}

// Runs DB::CompactRange. Its error is dropped, as these functions have no errptr; the LOG has it.
void Compact(rocksdb_t* db, const rocksdb_column_family_handle_t* family, bool is_default,
             const rocksdb_compactoptions_t* options, const OptionalKey& start,
             const OptionalKey& limit) {
  if (db == nullptr) return;
  TryVoid([&] {
    ColumnFamilyHandle* handle = is_default ? db->rep->DefaultColumnFamily() : Family(family);
    const CompactRangeOptions defaults;
    db->rep
        ->CompactRange(options == nullptr ? defaults : options->rep, handle, start.get(),
                       limit.get())
        .PermitUncheckedError();
  });
}

// Returns a malloc'ed copy of the property's text; null if it has none.
char* Property(rocksdb_t* db, ColumnFamilyHandle* family, const char* name) {
  if (db == nullptr || family == nullptr || name == nullptr) return nullptr;
  return Try([&]() -> char* {
    std::string value;
    return db->rep->GetProperty(family, name, &value) ? CopyText(value) : nullptr;
  });
}

int NumberProperty(rocksdb_t* db, ColumnFamilyHandle* family, const char* name, uint64_t* value) {
  if (db == nullptr || family == nullptr || name == nullptr || value == nullptr) return -1;
  return Try([&] { return db->rep->GetIntProperty(family, name, value) ? 0 : -1; }, -1);
}

ColumnFamilyHandle* DefaultFamily(rocksdb_t* db) {
  return db == nullptr ? nullptr : db->rep->DefaultColumnFamily();
}

}  // namespace

namespace {

using varve::c::FlushOptionsAndMore;

// Flags of RocksDB that would change which families are flushed are refused, not ignored.
Status CheckFlush(const FlushOptionsAndMore& options) {
  if (!options.force_atomic_flush) return Status::OK();
  return Status::NotSupported("C API: this engine does not have it", "force_atomic_flush");
}

}  // namespace

void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr) {
  RunOnDb(db, options, errptr, [](DB* d, const FlushOptionsAndMore& o) {
    const Status s = CheckFlush(o);
    return s.ok() ? d->Flush(o) : s;
  });
}

void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                      rocksdb_column_family_handle_t* family, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const FlushOptionsAndMore& o) {
    const Status s = CheckFlush(o);
    return s.ok() ? d->Flush(o, Family(family)) : s;
  });
}

void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                       rocksdb_column_family_handle_t** families, int num_families, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const FlushOptionsAndMore& o) -> Status {
    const Status s = CheckFlush(o);
    if (!s.ok()) return s;
    if (num_families < 0 || families == nullptr) return NullArgument("families");
    std::vector<ColumnFamilyHandle*> handles;
    for (int i = 0; i < num_families; ++i) handles.push_back(Family(families[i]));
    return d->Flush(o, handles);
  });
}

void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) { return d->FlushWAL(sync != 0); });
}

void rocksdb_flush_wal_with_options(rocksdb_t* db, const rocksdb_flushwaloptions_t* options,
                                    char** errptr) {
  RunOnDb(db, options, errptr,
          [](DB* d, const varve::FlushWALOptions& o) { return d->FlushWAL(o); });
}

void rocksdb_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_len,
                           const char* limit_key, size_t limit_key_len) {
  Compact(db, nullptr, true, nullptr, OptionalKey(start_key, start_key_len),
          OptionalKey(limit_key, limit_key_len));
}

void rocksdb_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                              const char* start_key, size_t start_key_len, const char* limit_key,
                              size_t limit_key_len) {
  Compact(db, family, false, nullptr, OptionalKey(start_key, start_key_len),
          OptionalKey(limit_key, limit_key_len));
}

void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* options,
                               const char* start_key, size_t start_key_len, const char* limit_key,
                               size_t limit_key_len) {
  Compact(db, nullptr, true, options, OptionalKey(start_key, start_key_len),
          OptionalKey(limit_key, limit_key_len));
}

void rocksdb_compact_range_cf_opt(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                  rocksdb_compactoptions_t* options, const char* start_key,
                                  size_t start_key_len, const char* limit_key,
                                  size_t limit_key_len) {
  Compact(db, family, false, options, OptionalKey(start_key, start_key_len),
          OptionalKey(limit_key, limit_key_len));
}

void rocksdb_suggest_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_len,
                                   const char* limit_key, size_t limit_key_len, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return d->SuggestCompactRange(d->DefaultColumnFamily(),
                                  OptionalKey(start_key, start_key_len).get(),
                                  OptionalKey(limit_key, limit_key_len).get());
  });
}

void rocksdb_suggest_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                      const char* start_key, size_t start_key_len,
                                      const char* limit_key, size_t limit_key_len, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return d->SuggestCompactRange(Family(family), OptionalKey(start_key, start_key_len).get(),
                                  OptionalKey(limit_key, limit_key_len).get());
  });
}

void rocksdb_delete_file_in_range(rocksdb_t* db, const char* start_key, size_t start_key_len,
                                  const char* limit_key, size_t limit_key_len, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return varve::DeleteFilesInRange(d, d->DefaultColumnFamily(),
                                     OptionalKey(start_key, start_key_len).get(),
                                     OptionalKey(limit_key, limit_key_len).get());
  });
}

void rocksdb_delete_file_in_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                     const char* start_key, size_t start_key_len,
                                     const char* limit_key, size_t limit_key_len, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return varve::DeleteFilesInRange(d, Family(family), OptionalKey(start_key, start_key_len).get(),
                                     OptionalKey(limit_key, limit_key_len).get());
  });
}

void rocksdb_wait_for_compact(rocksdb_t* db, rocksdb_wait_for_compact_options_t* options,
                              char** errptr) {
  RunOnDb(db, options, errptr,
          [](DB* d, const varve::WaitForCompactOptions& o) { return d->WaitForCompact(o); });
}

void rocksdb_pause_background_work(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->PauseBackgroundWork(); });
}

void rocksdb_continue_background_work(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->ContinueBackgroundWork(); });
}

void rocksdb_cancel_all_background_work(rocksdb_t* db, unsigned char wait) {
  if (db != nullptr) TryVoid([&] { varve::CancelAllBackgroundWork(db->rep.get(), wait != 0); });
}

void rocksdb_disable_manual_compaction(rocksdb_t* db) {
  if (db != nullptr) TryVoid([&] { db->rep->DisableManualCompaction(); });
}

void rocksdb_enable_manual_compaction(rocksdb_t* db) {
  if (db != nullptr) TryVoid([&] { db->rep->EnableManualCompaction(); });
}

void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->DisableFileDeletions(); });
}

void rocksdb_enable_file_deletions(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->EnableFileDeletions(); });
}

void rocksdb_verify_checksum(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->VerifyChecksum(); });
}

void rocksdb_verify_checksum_with_options(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                          char** errptr) {
  RunOnDb(db, options, errptr,
          [](DB* d, const varve::ReadOptions& o) { return d->VerifyChecksum(o); });
}

void rocksdb_verify_file_checksums(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->VerifyFileChecksums(varve::ReadOptions()); });
}

void rocksdb_verify_file_checksums_with_options(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                                char** errptr) {
  RunOnDb(db, options, errptr,
          [](DB* d, const varve::ReadOptions& o) { return d->VerifyFileChecksums(o); });
}

char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_len) {
  varve::c::StoreSize(id_len, 0);
  if (db == nullptr) return nullptr;
  return Try([&]() -> char* {
    std::string identity;
    if (!db->rep->GetDbIdentity(identity).ok()) return nullptr;
    varve::c::StoreSize(id_len, identity.size());
    return CopyBytes(identity);
  });
}

uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db) {
  return db == nullptr ? 0 : db->rep->GetLatestSequenceNumber();
}

void rocksdb_increase_full_history_ts_low(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                          const char* ts_low, size_t ts_lowlen, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return d->IncreaseFullHistoryTsLow(Family(family), Slice(ts_low, ts_lowlen).ToString());
  });
}

char* rocksdb_get_full_history_ts_low(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                      size_t* ts_lowlen, char** errptr) {
  varve::c::StoreSize(ts_lowlen, 0);
  char* result = nullptr;
  RunOnDb(db, errptr, [&](DB* d) {
    std::string ts_low;
    Status s = d->GetFullHistoryTsLow(Family(family), &ts_low);
    if (!s.ok()) return s;
    // An empty value is a copy of no bytes, which has an address: null means an error.
    result = CopyBytes(ts_low);
    varve::c::StoreSize(ts_lowlen, result == nullptr ? 0 : ts_low.size());
    return result == nullptr ? Status::MemoryLimit() : s;
  });
  return result;
}

void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[],
                         const char* const values[], char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    std::unordered_map<std::string, std::string> changes;
    Status s = varve::c::ToMap(count, keys, values, &changes);
    return s.ok() ? d->SetOptions(changes) : s;
  });
}

void rocksdb_set_options_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, int count,
                            const char* const keys[], const char* const values[], char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    std::unordered_map<std::string, std::string> changes;
    Status s = varve::c::ToMap(count, keys, values, &changes);
    return s.ok() ? d->SetOptions(Family(family), changes) : s;
  });
}

void rocksdb_set_db_options(rocksdb_t* db, int count, const char* const keys[],
                            const char* const values[], char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    std::unordered_map<std::string, std::string> changes;
    Status s = varve::c::ToMap(count, keys, values, &changes);
    return s.ok() ? d->SetDBOptions(changes) : s;
  });
}

char* rocksdb_property_value(rocksdb_t* db, const char* propname) {
  return Property(db, DefaultFamily(db), propname);
}

char* rocksdb_property_value_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                const char* propname) {
  return Property(db, Family(family), propname);
}

int rocksdb_property_int(rocksdb_t* db, const char* propname, uint64_t* out_val) {
  return NumberProperty(db, DefaultFamily(db), propname, out_val);
}

int rocksdb_property_int_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                            const char* propname, uint64_t* out_val) {
  return NumberProperty(db, Family(family), propname, out_val);
}

void rocksdb_approximate_sizes(rocksdb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len,
                               const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes, char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return ApproximateSizes(
        d, d->DefaultColumnFamily(), {},
        {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
        sizes);
  });
}

void rocksdb_approximate_sizes_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                  int num_ranges, const char* const* range_start_key,
                                  const size_t* range_start_key_len,
                                  const char* const* range_limit_key,
                                  const size_t* range_limit_key_len, uint64_t* sizes,
                                  char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return ApproximateSizes(
        d, Family(family), {},
        {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
        sizes);
  });
}

void rocksdb_approximate_sizes_cf_with_flags(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                             int num_ranges, const char* const* range_start_key,
                                             const size_t* range_start_key_len,
                                             const char* const* range_limit_key,
                                             const size_t* range_limit_key_len,
                                             uint8_t include_flags, uint64_t* sizes,
                                             char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    varve::SizeApproximationOptions options;
    options.include_memtables =
        (include_flags & rocksdb_size_approximation_flags_include_memtable) != 0;
    options.include_files = (include_flags & rocksdb_size_approximation_flags_include_files) != 0;
    return ApproximateSizes(
        d, Family(family), options,
        {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
        sizes);
  });
}

void rocksdb_approximate_sizes_with_options(rocksdb_t* db,
                                            const rocksdb_size_approximation_options_t* options,
                                            int num_ranges, const char* const* range_start_key,
                                            const size_t* range_start_key_len,
                                            const char* const* range_limit_key,
                                            const size_t* range_limit_key_len, uint64_t* sizes,
                                            char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const varve::SizeApproximationOptions& o) {
    return ApproximateSizes(
        d, d->DefaultColumnFamily(), o,
        {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
        sizes);
  });
}

void rocksdb_approximate_sizes_cf_with_options(rocksdb_t* db,
                                               rocksdb_column_family_handle_t* family,
                                               const rocksdb_size_approximation_options_t* options,
                                               int num_ranges, const char* const* range_start_key,
                                               const size_t* range_start_key_len,
                                               const char* const* range_limit_key,
                                               const size_t* range_limit_key_len, uint64_t* sizes,
                                               char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const varve::SizeApproximationOptions& o) {
    return ApproximateSizes(
        d, Family(family), o,
        {num_ranges, range_start_key, range_start_key_len, range_limit_key, range_limit_key_len},
        sizes);
  });
}
