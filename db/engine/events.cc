// SPDX-License-Identifier: Apache-2.0

// Calls listeners, one after the other, always without the DB mutex. They are user code: they may
// throw, take long, or call the database. CallOut names the call, so that a call from within that
// would wait for ever can say where it came from.

#include "db/engine/events.h"

#include "db/active_work.h"
#include "db/column_family/column_family.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve::events {

namespace {

// Calls `call` for every listener. Exceptions of user code must not unwind through the engine.
template <typename Call>
void ForEach(const DbContext& context, const char* event, Call call) {
  for (const auto& listener : context.options().listeners) {
    try {
      const CallOut out(event);
      call(listener.get());
    } catch (...) {
      // The logger may throw, too.
      const Status s = CaughtException();
      BestEffort([&] {
        LogError(context.info_log(), "a listener threw in %s: %s", event, s.ToString().c_str());
      });
    }
  }
}

}  // namespace

void FlushBegin(const DbContext& context, const FlushJobInfo& info) {
  ForEach(context, "OnFlushBegin", [&](EventListener* l) { l->OnFlushBegin(context.db(), info); });
}

void FlushCompleted(const DbContext& context, const FlushJobInfo& info) {
  ForEach(context, "OnFlushCompleted",
          [&](EventListener* l) { l->OnFlushCompleted(context.db(), info); });
}

void CompactionBegin(const DbContext& context, const CompactionJobInfo& info) {
  ForEach(context, "OnCompactionBegin",
          [&](EventListener* l) { l->OnCompactionBegin(context.db(), info); });
}

void CompactionCompleted(const DbContext& context, const CompactionJobInfo& info) {
  ForEach(context, "OnCompactionCompleted",
          [&](EventListener* l) { l->OnCompactionCompleted(context.db(), info); });
}

void TableFileCreated(const DbContext& context, const TableFileCreationInfo& info) {
  ForEach(context, "OnTableFileCreated", [&](EventListener* l) { l->OnTableFileCreated(info); });
}

// Returns the function that a job calls before it makes a table; the function refers to `context`.
std::function<void(const std::string& path)> TableFileCreationStarted(
    const DbContext& context, const std::string& family, int job_id,
    TableFileCreationReason reason) {
  // A null function spares the table builder the copy of the names, as long as there are no
  // listeners.
  if (!Wanted(context)) return nullptr;
  TableFileCreationBriefInfo info;
  info.db_name = context.given_name();
  info.cf_name = family;
  info.job_id = job_id;
  info.reason = reason;
  return [&context, info](const std::string& path) {
    ForEach(context, "OnTableFileCreationStarted", [&](EventListener* l) {
      // The path is known only when the file is about to be made, and a job may make several files
      // at once; so each call fills in a copy.
      TableFileCreationBriefInfo of_file = info;
      of_file.file_path = path;
      l->OnTableFileCreationStarted(of_file);
    });
  };
}

TableFileCreationInfo DescribeNewTable(const DbContext& context, const ColumnFamily& family,
                                       int job_id, TableFileCreationReason reason,
                                       const NewFile& file, const TableProperties& properties) {
  TableFileCreationInfo info;
  info.db_name = context.given_name();
  info.cf_name = family.name();
  info.file_path = family.table_paths().FileName(file);
  info.job_id = job_id;
  info.reason = reason;
  info.file_size = file.size;
  info.file_checksum = file.checksum.value;
  info.file_checksum_func_name = file.checksum.function;
  info.table_properties = properties;
  return info;
}

std::function<void(const std::string& path)> BlobFileCreationStarted(
    const DbContext& context, const std::string& family, int job_id,
    BlobFileCreationReason reason) {
  if (!Wanted(context)) return nullptr;
  BlobFileCreationBriefInfo info;
  info.db_name = context.given_name();
  info.cf_name = family;
  info.job_id = job_id;
  info.reason = reason;
  return [&context, info](const std::string& path) {
    ForEach(context, "OnBlobFileCreationStarted", [&](EventListener* l) {
      BlobFileCreationBriefInfo of_file = info;
      of_file.file_path = path;
      l->OnBlobFileCreationStarted(of_file);
    });
  };
}

void BlobFilesCreated(const DbContext& context, const ColumnFamily& family, int job_id,
                      BlobFileCreationReason reason, const std::vector<BlobFileFacts>& files) {
  for (const BlobFileFacts& file : files) {
    BlobFileCreationInfo info;
    info.db_name = context.given_name();
    info.cf_name = family.name();
    info.file_path = family.table_paths().BlobFileName(file.number);
    info.job_id = job_id;
    info.reason = reason;
    info.total_blob_count = file.count;
    info.total_blob_bytes = file.bytes;
    info.file_checksum = file.checksum.value;
    info.file_checksum_func_name = file.checksum.function;
    ForEach(context, "OnBlobFileCreated", [&](EventListener* l) { l->OnBlobFileCreated(info); });
  }
}

std::vector<BlobFileAdditionInfo> DescribeNewBlobFiles(const ColumnFamily& family,
                                                       const std::vector<BlobFileFacts>& files) {
  std::vector<BlobFileAdditionInfo> infos;
  for (const BlobFileFacts& file : files) {
    infos.emplace_back(family.table_paths().BlobFileName(file.number), file.number, file.count,
                       file.bytes);
  }
  return infos;
}

std::vector<BlobFileGarbageInfo> DescribeBlobGarbage(const ColumnFamily& family,
                                                     const std::vector<BlobGarbage>& garbage) {
  std::vector<BlobFileGarbageInfo> infos;
  for (const BlobGarbage& file : garbage) {
    infos.emplace_back(family.table_paths().BlobFileName(file.number), file.number, file.count,
                       file.bytes);
  }
  return infos;
}

void SubcompactionBegin(const DbContext& context, const SubcompactionJobInfo& info) {
  ForEach(context, "OnSubcompactionBegin",
          [&](EventListener* l) { l->OnSubcompactionBegin(info); });
}

void SubcompactionCompleted(const DbContext& context, const SubcompactionJobInfo& info) {
  ForEach(context, "OnSubcompactionCompleted",
          [&](EventListener* l) { l->OnSubcompactionCompleted(info); });
}

void ColumnFamilyHandleDeletionStarted(const DbContext& context, ColumnFamilyHandle* handle) {
  ForEach(context, "OnColumnFamilyHandleDeletionStarted",
          [&](EventListener* l) { l->OnColumnFamilyHandleDeletionStarted(handle); });
}

void ManualFlushScheduled(const DbContext& context, const std::vector<ManualFlushInfo>& info) {
  ForEach(context, "OnManualFlushScheduled",
          [&](EventListener* l) { l->OnManualFlushScheduled(context.db(), info); });
}

void DataFileDeleted(const DbContext& context, DataFileKind kind, const std::string& path, int job,
                     const Status& outcome) {
  if (!Wanted(context)) return;
  const auto fill = [&](FileDeletionInfo* info) {
    info->db_name = context.given_name();
    info->file_path = path;
    info->job_id = job;
    info->status = outcome;
  };
  if (kind == DataFileKind::kBlobs) {
    BlobFileDeletionInfo info;
    fill(&info);
    ForEach(context, "OnBlobFileDeleted", [&](EventListener* l) { l->OnBlobFileDeleted(info); });
  } else {
    TableFileDeletionInfo info;
    fill(&info);
    ForEach(context, "OnTableFileDeleted", [&](EventListener* l) { l->OnTableFileDeleted(info); });
  }
}

void ExternalFileIngested(const DbContext& context, const ExternalFileIngestionInfo& info) {
  ForEach(context, "OnExternalFileIngested",
          [&](EventListener* l) { l->OnExternalFileIngested(context.db(), info); });
}

void MemTableSealed(const DbContext& context, const MemTableInfo& info) {
  ForEach(context, "OnMemTableSealed", [&](EventListener* l) { l->OnMemTableSealed(info); });
}

void StallConditionsChanged(const DbContext& context, const WriteStallInfo& info) {
  ForEach(context, "OnStallConditionsChanged",
          [&](EventListener* l) { l->OnStallConditionsChanged(info); });
}

void JobPressureChanged(const DbContext& context, const BackgroundJobPressure& pressure) {
  ForEach(context, "OnBackgroundJobPressureChanged",
          [&](EventListener* l) { l->OnBackgroundJobPressureChanged(context.db(), pressure); });
}

void BackgroundError(const DbContext& context, BackgroundErrorReason reason, Status* error) {
  ForEach(context, "OnBackgroundError",
          [&](EventListener* l) { l->OnBackgroundError(reason, error); });
}

void ErrorRecoveryBegin(const DbContext& context, BackgroundErrorReason reason, const Status& error,
                        bool* auto_recovery) {
  ForEach(context, "OnErrorRecoveryBegin",
          [&](EventListener* l) { l->OnErrorRecoveryBegin(reason, error, auto_recovery); });
}

void ErrorRecoveryEnd(const DbContext& context, const Status& old_error, const Status& new_error) {
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = old_error;
  info.new_bg_error = new_error;
  ForEach(context, "OnErrorRecoveryEnd", [&](EventListener* l) {
    // Listeners written for older releases know only this first call, which comes after a success.
    if (new_error.ok()) {
      const CallOut out("OnErrorRecoveryCompleted");
      l->OnErrorRecoveryCompleted(old_error);
    }
    l->OnErrorRecoveryEnd(info);
  });
}

void DataMoved(const DbContext& context, const DataMoveInfo& info) {
  ForEach(context, "OnDataMoved", [&](EventListener* l) { l->OnDataMoved(context.db(), info); });
}

void DatabaseRecovered(const DbContext& context, const RecoveryInfo& info) {
  ForEach(context, "OnDatabaseRecovered", [&](EventListener* l) { l->OnDatabaseRecovered(info); });
}

void ChangeStreamExpired(const DbContext& context, const ChangeStreamExpiryInfo& info) {
  ForEach(context, "OnChangeStreamExpired",
          [&](EventListener* l) { l->OnChangeStreamExpired(context.db(), info); });
}

void DamageFound(const DbContext& context, const Status& damage, const std::string& path) {
  // Damage that a scrub or a check has found is told through the call for I/O errors, since there
  // is none of its own.
  const char* const state = damage.getState();
  const IOErrorInfo info(IOStatus::Corruption(state == nullptr ? path : state),
                         FileOperationType::kVerify, path, 0, 0);
  ForEach(context, "OnIOError", [&](EventListener* l) { l->OnIOError(info); });
}

}  // namespace varve::events
