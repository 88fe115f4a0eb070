// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notifies listeners of events. Exceptions of a listener are caught and logged.

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
// Returns null if there are no listeners. Must not outlive the context.
std::function<void(const std::string& path)> TableFileCreationStarted(
    const DbContext& context, const std::string& family, int job_id,
    TableFileCreationReason reason);
void TableFileCreated(const DbContext& context, const TableFileCreationInfo& info);
TableFileCreationInfo DescribeNewTable(const DbContext& context, const ColumnFamily& family,
                                       int job_id, TableFileCreationReason reason,
                                       const NewFile& file, const TableProperties& properties);
void SubcompactionBegin(const DbContext& context, const SubcompactionJobInfo& info);
void SubcompactionCompleted(const DbContext& context, const SubcompactionJobInfo& info);
void ColumnFamilyHandleDeletionStarted(const DbContext& context, ColumnFamilyHandle* handle);
void ManualFlushScheduled(const DbContext& context, const std::vector<ManualFlushInfo>& info);
void TableFileDeleted(const DbContext& context, const TableFileDeletionInfo& info);
void ExternalFileIngested(const DbContext& context, const ExternalFileIngestionInfo& info);
void MemTableSealed(const DbContext& context, const MemTableInfo& info);
void StallConditionsChanged(const DbContext& context, const WriteStallInfo& info);
void JobPressureChanged(const DbContext& context, const BackgroundJobPressure& pressure);
// A listener may set *error to OK to have the error ignored.
void BackgroundError(const DbContext& context, BackgroundErrorReason reason, Status* error);
void ErrorRecoveryBegin(const DbContext& context, BackgroundErrorReason reason, const Status& error,
                        bool* auto_recovery);
void ErrorRecoveryEnd(const DbContext& context, const Status& old_error, const Status& new_error);

void ChangeStreamExpired(const DbContext& context, const ChangeStreamExpiryInfo& info);
void DataMoved(const DbContext& context, const DataMoveInfo& info);
void DatabaseRecovered(const DbContext& context, const RecoveryInfo& info);
// Reports damage that a pass over all tables met.
void DamageFound(const DbContext& context, const Status& damage, const std::string& path);

inline bool Wanted(const DbContext& context) {
  return !context.options().listeners.empty();
}

}  // namespace varve::events
