// SPDX-License-Identifier: Apache-2.0

// Implements what a database reports about itself: properties, sizes, metadata, files, streams of
// updates, checksums.
//
// Here are only the checks of arguments. The work is in db/observe and db/follow, and reads one
// pinned version or holds the DB mutex. Calls that return a bool return false for anything that
// prevents an answer, also for lack of memory, because they have no status.

#include "db/api/db_impl.h"
#include "db/api/stored_history.h"
#include "db/background/jobs.h"
#include "db/follow/change_stream.h"
#include "db/follow/update_iterator.h"
#include "db/observe/database_stats.h"
#include "db/observe/metadata.h"
#include "db/observe/number_properties.h"
#include "db/observe/properties.h"
#include "db/observe/verification.h"
#include "util/base/caught_exception.h"
#include "util/base/refused_call.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Runs `step`, the body of a call that returns no status. After an exception `clear` resets the
// call's results, and the exception is dropped. Only RefusedCall goes on to the caller: it says
// that the call comes from a callback, and would wait for itself (db/active_work.h).
template <typename Step, typename Clear>
void WithoutStatus(Step step, Clear clear) {
  try {
    step();
  } catch (const RefusedCall&) {
    throw;
  } catch (...) {
    clear();
  }
}

}  // namespace

// A closed database still answers.
bool DbImpl::GetProperty(ColumnFamilyHandle* handle, const Slice& property,
                         std::string* value) try {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family != nullptr && value != nullptr &&
         GetTextProperty(engine_.get(), family, property, value);
} catch (...) {
  // There was no memory, or the caller is a function that is called under the DB mutex
  // (RefusedCall).
  return false;
}

bool DbImpl::GetMapProperty(ColumnFamilyHandle* handle, const Slice& property,
                            std::map<std::string, std::string>* value) try {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family != nullptr && value != nullptr &&
         GetMapPropertyOf(engine_.get(), family, property, value);
} catch (...) {
  return false;  // As in GetProperty.
}

bool DbImpl::GetIntProperty(ColumnFamilyHandle* handle, const Slice& property,
                            uint64_t* value) try {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family != nullptr && value != nullptr &&
         GetNumberProperty(engine_.get(), family, property, value);
} catch (...) {
  return false;  // As in GetProperty.
}

bool DbImpl::GetAggregatedIntProperty(const Slice& property, uint64_t* value) try {
  return CheckNotForked().ok() && value != nullptr &&
         GetAggregatedNumberProperty(engine_.get(), property, value);
} catch (...) {
  return false;  // As in GetProperty.
}

Status DbImpl::GetStatsHistory(uint64_t start_time, uint64_t end_time,
                               std::unique_ptr<StatsHistoryIterator>* stats_iterator) try {
  if (stats_iterator == nullptr) return Status::InvalidArgument("GetStatsHistory: nullptr");
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  // The records are either in memory or in a column family, never in both: persist_stats_to_disk
  // decides at the opening.
  if (statistics_handle_ == nullptr) {
    *stats_iterator = engine_->history.Walk(start_time, end_time);
    return Status::OK();
  }
  std::unique_ptr<Iterator> entries(NewIterator(ReadOptions(), statistics_handle_.get()));
  VARVE_RETURN_IF_ERROR(entries->status());
  *stats_iterator = WalkStatisticsRecords(std::move(entries), start_time, end_time);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::StoreStatisticsRecord(uint64_t seconds, const StatisticsHistory::Counts& growth) {
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(AddStatisticsRecord(seconds, growth, statistics_handle_.get(), &batch));
  // The write fails when writes stall, so that its job never waits; the growth is then part of the
  // next record. With low_pri it delays no write of the user.
  WriteOptions options;
  options.no_slowdown = true;
  options.low_pri = true;
  return Write(options, &batch);
}

Status DbImpl::ResetStats() try {
  VARVE_RETURN_IF_ERROR(CheckNotForked());
  Engine& e = *engine_;
  DbLock lock(&e.state.mu);
  for (const auto& [id, family] : e.state.families.all()) {
    // Counters of the families start anew together with those of the database, in one hold, so that
    // sums over both agree.
    family->work = FamilyWork();
    family->table_cache()->ForgetReadLatencies();
  }
  ResetDatabaseStats(e);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetApproximateSizes(const SizeApproximationOptions& options,
                                   ColumnFamilyHandle* handle, const Range* ranges, int n,
                                   uint64_t* sizes) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family == nullptr ? s : ApproximateSizes(family, options, ranges, n, sizes);
} catch (...) {
  return CaughtException();
}

void DbImpl::GetApproximateMemTableStats(ColumnFamilyHandle* handle, const Range& range,
                                         uint64_t* count, uint64_t* size) {
  // The results are set before the checks, since the call has no status: a caller of a closed
  // database reads zeros and not what was there before.
  *count = 0;
  *size = 0;
  Status s = CheckOpen();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return;
  WithoutStatus(
      [&] {
        // One super-version pins the active memtable and the immutable ones of the same moment, so
        // no entry counts twice or not at all while a memtable is switched.
        ReadGuard super_version(family);
        uint64_t entries = 0;
        uint64_t bytes = 0;
        super_version->mem()->ApproximateStats(range.start, range.limit, count, size);
        for (const auto& mem : super_version->immutables()) {
          mem->ApproximateStats(range.start, range.limit, &entries, &bytes);
          *count += entries;
          *size += bytes;
        }
      },
      [&] { *count = *size = 0; });
}

Status DbImpl::GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                            bool flush_memtable) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  // The flush comes before the list, which thus has the tables of everything written before the
  // call. A database that only reads has nothing to flush.
  if (s.ok() && flush_memtable && !engine_->context.read_only()) {
    s = engine_->jobs->flush.FlushAll(FlushOptions(), FlushReason::kGetLiveFiles);
  }
  return s.ok() ? ListFilesForCopy(engine_.get(), &files, manifest_file_size) : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetSortedWalFiles(VectorLogPtr& files) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  return s.ok() ? ListLogs(engine_.get(), &files) : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetCurrentWalFile(std::unique_ptr<LogFile>* current_log_file) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  return s.ok() ? DescribeCurrentLog(engine_.get(), current_log_file) : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetCreationTimeOfOldestFile(uint64_t* creation_time) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  return s.ok() ? OldestCreationTime(engine_.get(), creation_time) : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetUpdatesSince(SequenceNumber seq, std::unique_ptr<TransactionLogIterator>* iter,
                               const TransactionLogIterator::ReadOptions&) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  if (iter == nullptr) return Status::InvalidArgument("GetUpdatesSince: the place is null");
  RecordTick(engine_->context.statistics(), GET_UPDATES_SINCE_CALLS);
  return NewUpdateIterator(engine_, seq, iter);
} catch (...) {
  return CaughtException();
}

Status DbImpl::OpenChangeStream(const ChangeStreamOptions& options,
                                std::unique_ptr<ChangeStream>* stream) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  // A stream's position is stored in the MANIFEST. In a callback of the thread that writes the
  // MANIFEST this call would wait for itself.
  VARVE_RETURN_IF_ERROR(
      RefuseHeldUp("OpenChangeStream", ActiveWork::kManifest, engine_->state.versions.get()));
  return OpenNamedStream(engine_, options, stream);
} catch (...) {
  return CaughtException();
}

Status DbImpl::DropChangeStream(const std::string& name) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  VARVE_RETURN_IF_ERROR(
      RefuseHeldUp("DropChangeStream", ActiveWork::kManifest, engine_->state.versions.get()));
  return DropNamedStream(engine_.get(), name);
} catch (...) {
  return CaughtException();
}

void DbImpl::GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) {
  metadata->clear();
  WithoutStatus(
      [&] {
        const OpenCall call = EnterCall();
        // For a closed database the result stays empty, as there is no status.
        if (call.inside()) ListLiveFiles(engine_.get(), metadata);
      },
      [&] { metadata->clear(); });
}

void DbImpl::GetColumnFamilyMetaData(ColumnFamilyHandle* handle, ColumnFamilyMetaData* metadata) {
  *metadata = ColumnFamilyMetaData();
  WithoutStatus(
      [&] {
        const OpenCall call = EnterCall();
        Status s = CheckOpen(call);
        ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
        if (family != nullptr) DescribeFamily(engine_.get(), family, metadata);
      },
      [&] { *metadata = ColumnFamilyMetaData(); });
}

void DbImpl::GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) {
  metadata->clear();
  WithoutStatus(
      [&] {
        const OpenCall call = EnterCall();
        if (call.inside()) DescribeAllFamilies(engine_.get(), metadata);
      },
      [&] { metadata->clear(); });
}

Status DbImpl::VerifyChecksum(const ReadOptions& options) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  return s.ok() ? VerifyTables(engine_->context, &engine_->state, engine_->lifecycle, options) : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::VerifyFileChecksums(const ReadOptions& options) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  return s.ok() ? VerifyTableFileChecksums(engine_->context, &engine_->state, engine_->lifecycle,
                                           options)
                : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetDbIdentity(std::string& identity) const try {
  identity = engine_->state.versions->db_id();
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetDbSessionId(std::string& session_id) const try {
  session_id = engine_->context.session_id();
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetPropertiesOfAllTables(ColumnFamilyHandle* handle,
                                        TablePropertiesCollection* props) {
  return GetPropertiesOfTablesInRange(handle, nullptr, 0, props);
}

Status DbImpl::GetPropertiesOfTablesInRange(ColumnFamilyHandle* handle, const Range* range,
                                            size_t n, TablePropertiesCollection* props) try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family == nullptr ? s : TablePropertiesInRanges(engine_.get(), family, range, n, props);
} catch (...) {
  return CaughtException();
}

}  // namespace varve
