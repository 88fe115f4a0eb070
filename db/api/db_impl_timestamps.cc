// SPDX-License-Identifier: Apache-2.0

// Implements calls on the history of column families with timestamps: full_history_ts_low, below
// which versions need not be kept, the trimming of newer versions, and the newest timestamp.

#include "varve/comparator.h"

#include "db/api/db_impl.h"
#include "db/background/jobs.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

// Returns "column family NAME" for messages.
std::string Named(const ColumnFamily& family) {
  return "column family " + family.name();
}

Status CheckHasTimestamps(const char* call, const ColumnFamily& family) {
  if (family.icmp().timestamp_size() != 0) return Status::OK();
  return Status::InvalidArgument(call, Named(family) + " has no timestamps (0 bytes)");
}

Status CannotGoBack(const ColumnFamily& family, const std::string& from, const std::string& to) {
  return Status::InvalidArgument(
      "IncreaseFullHistoryTsLow",
      "full_history_ts_low of " + Named(family) + " cannot decrease from 0x" +
          Slice(from).ToString(/*hex=*/true) + " to 0x" + Slice(to).ToString(/*hex=*/true));
}

}  // namespace

Status DbImpl::IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle, std::string ts_low) try {
  Engine& e = *engine_;
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? e.state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  const size_t size = family->icmp().timestamp_size();
  if (size == 0 || ts_low.size() != size) {
    return Status::InvalidArgument("IncreaseFullHistoryTsLow",
                                   Named(*family) + " has timestamps of " + std::to_string(size) +
                                       " bytes, full_history_ts_low has " +
                                       std::to_string(ts_low.size()));
  }
  const Comparator& order = *family->user_comparator();
  DbLock lock(&e.state.mu);
  FamilyVersions* const versions = family->versions();
  const std::string before = versions->full_history_ts_low;
  // An equal value is no error and no change; a smaller one would promise history that compactions
  // may have dropped.
  const int change = before.empty() ? 1 : order.CompareTimestamp(ts_low, before);
  if (change < 0) return CannotGoBack(*family, before, ts_low);
  if (change == 0) return Status::OK();
  VersionEdit edit;
  edit.family.full_history_ts_low = ts_low;
  // The MANIFEST comes first: were the history dropped before the limit is stored, a crash would
  // bring an older limit back, and reads below the new one would be answered wrongly. The mutex is
  // released meanwhile.
  s = e.state.versions->LogAndApply({FamilyEdit{versions, {&edit}}}, e.context.directory());
  if (s.IsColumnFamilyDropped()) return s;
  if (!s.ok()) return e.errors.Reported(s, BackgroundErrorReason::kManifestWrite);
  // The change is in force whatever this returns: a failure for lack of memory was reported, and
  // recovery installs the super-version then.
  e.errors.InstallSuperVersion(family).PermitUncheckedError();
  // Another call may have raised it further while the mutex was free.
  if (order.CompareTimestamp(versions->full_history_ts_low, ts_low) > 0) {
    return Status::TryAgain("IncreaseFullHistoryTsLow", "full_history_ts_low of " + Named(*family) +
                                                            " has been raised beyond that");
  }
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::TrimHistory(ColumnFamilyHandle* handle, const std::string& trim_ts) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* const family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family == nullptr ? s : engine_->jobs->compaction.TrimHistory(family, trim_ts);
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) try {
  if (ts_low == nullptr) return Status::InvalidArgument("GetFullHistoryTsLow: ts_low is null");
  Status s = CheckOpen();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  s = CheckHasTimestamps("GetFullHistoryTsLow", *family);
  if (!s.ok()) return s;
  DbLock lock(&engine_->state.mu);
  *ts_low = family->versions()->full_history_ts_low;
  VARVE_ASSERT(ts_low->empty() || ts_low->size() == family->icmp().timestamp_size());
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetNewestUserDefinedTimestamp(ColumnFamilyHandle* handle,
                                             std::string* newest_timestamp) try {
  constexpr char kCall[] = "GetNewestUserDefinedTimestamp";
  if (newest_timestamp == nullptr) return Status::InvalidArgument(kCall, "the result is null");
  Status s = CheckOpen();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  s = CheckHasTimestamps(kCall, *family);
  if (!s.ok()) return s;
  if (family->options()->persist_user_defined_timestamps) {
    return Status::NotSupported(kCall, Named(*family) + " has persist_user_defined_timestamps");
  }
  std::string newest;
  // Memtables keep timestamps even if tables do not, so the newest one is in them, unless
  // everything has been flushed.
  const ReadGuard super_version(family);
  const std::string& low = super_version->full_history_ts_low();
  const bool has_tables = super_version->version().TotalBytes() > 0;
  s = super_version->mem()->RaiseToNewestTimestamp(&newest);
  for (const auto& mem : super_version->immutables()) {
    if (s.ok()) s = mem->RaiseToNewestTimestamp(&newest);
  }
  if (!s.ok()) return s;
  // Entries in tables have lost their timestamps, which were below full_history_ts_low: the largest
  // possible one is returned. Families that drop timestamps have timestamps of 64 bits.
  uint64_t ts_low_number = 0;
  if (newest.empty() && has_tables && DecodeU64Ts(low, &ts_low_number).ok() && ts_low_number > 0) {
    EncodeU64Ts(ts_low_number - 1, &newest);
  }
  *newest_timestamp = newest;
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
