// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notifies listeners of events. Exceptions of a listener are caught and logged.
//
// One function for each event. It calls all listeners of the options in their order, on the thread
// of the caller, which waits: a slow listener slows down the job that the event is about. A
// listener may call the database; a call that would wait for that job is refused
// (db/active_work.h).

#include <functional>
#include <string>
#include <vector>

#include "varve/listener.h"

#include "db/engine/context.h"
#include "db/version/version_edit.h"

namespace varve {
class ColumnFamily;
}

namespace varve::events {

// None may be called while the DB mutex is held.
void FlushBegin(const DbContext& context, const FlushJobInfo& info);
void FlushCompleted(const DbContext& context, const FlushJobInfo& info);
void CompactionBegin(const DbContext& context, const CompactionJobInfo& info);
void CompactionCompleted(const DbContext& context, const CompactionJobInfo& info);
// Returns a function that tells listeners of a table that is about to be created at `path`
// (TableOutputContext::on_create); null if there are no listeners. The context must outlive it.
std::function<void(const std::string& path)> TableFileCreationStarted(
    const DbContext& context, const std::string& family, int job_id,
    TableFileCreationReason reason);
void TableFileCreated(const DbContext& context, const TableFileCreationInfo& info);
// Returns the description of a new table for TableFileCreated.
TableFileCreationInfo DescribeNewTable(const DbContext& context, const ColumnFamily& family,
                                       int job_id, TableFileCreationReason reason,
                                       const NewFile& file, const TableProperties& properties);
// Does for blob files what the functions above do for tables.
std::function<void(const std::string& path)> BlobFileCreationStarted(const DbContext& context,
                                                                     const std::string& family,
                                                                     int job_id,
                                                                     BlobFileCreationReason reason);
void BlobFilesCreated(const DbContext& context, const ColumnFamily& family, int job_id,
                      BlobFileCreationReason reason, const std::vector<BlobFileFacts>& files);
// Return what FlushJobInfo and CompactionJobInfo say about blob files.
std::vector<BlobFileAdditionInfo> DescribeNewBlobFiles(const ColumnFamily& family,
                                                       const std::vector<BlobFileFacts>& files);
std::vector<BlobFileGarbageInfo> DescribeBlobGarbage(const ColumnFamily& family,
                                                     const std::vector<BlobGarbage>& garbage);
void SubcompactionBegin(const DbContext& context, const SubcompactionJobInfo& info);
void SubcompactionCompleted(const DbContext& context, const SubcompactionJobInfo& info);
void ColumnFamilyHandleDeletionStarted(const DbContext& context, ColumnFamilyHandle* handle);
void ManualFlushScheduled(const DbContext& context, const std::vector<ManualFlushInfo>& info);
// Reports the outcome of deleting a table or a blob file; `job` is the number of the job that
// deleted it.
void DataFileDeleted(const DbContext& context, DataFileKind kind, const std::string& path, int job,
                     const Status& outcome);
void ExternalFileIngested(const DbContext& context, const ExternalFileIngestionInfo& info);
void MemTableSealed(const DbContext& context, const MemTableInfo& info);
void StallConditionsChanged(const DbContext& context, const WriteStallInfo& info);
void JobPressureChanged(const DbContext& context, const BackgroundJobPressure& pressure);
// A listener may set *error to OK to have the error ignored.
void BackgroundError(const DbContext& context, BackgroundErrorReason reason, Status* error);
// A listener may set *auto_recovery to false: the error is then not retried without being asked.
void ErrorRecoveryBegin(const DbContext& context, BackgroundErrorReason reason, const Status& error,
                        bool* auto_recovery);
// `new_error` is OK if the database has recovered.
void ErrorRecoveryEnd(const DbContext& context, const Status& old_error, const Status& new_error);

// Reports a position whose logs are gone.
void ChangeStreamExpired(const DbContext& context, const ChangeStreamExpiryInfo& info);
void DataMoved(const DbContext& context, const DataMoveInfo& info);
void DatabaseRecovered(const DbContext& context, const RecoveryInfo& info);
// Reports damage that a pass over all tables met.
void DamageFound(const DbContext& context, const Status& damage, const std::string& path);

// True if there is a listener, so that descriptions need not be made in vain.
inline bool Wanted(const DbContext& context) {
  return !context.options().listeners.empty();
}

}  // namespace varve::events
