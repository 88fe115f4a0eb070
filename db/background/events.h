// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells listeners what happened. A listener that throws is caught and logged.

#include "varve/listener.h"

#include "db/background/engine.h"

namespace varve::events {

// None may be called while the DB mutex is held.
void FlushBegin(const Engine& engine, const FlushJobInfo& info);
void FlushCompleted(const Engine& engine, const FlushJobInfo& info);
void CompactionBegin(const Engine& engine, const CompactionJobInfo& info);
void CompactionCompleted(const Engine& engine, const CompactionJobInfo& info);
void TableFileCreated(const Engine& engine, const TableFileCreationInfo& info);
void TableFileDeleted(const Engine& engine, const TableFileDeletionInfo& info);
void MemTableSealed(const Engine& engine, const MemTableInfo& info);
void StallConditionsChanged(const Engine& engine, const WriteStallInfo& info);
// A listener may set *error to OK to have the error ignored.
void BackgroundError(const Engine& engine, BackgroundErrorReason reason, Status* error);
void ErrorRecoveryBegin(const Engine& engine, BackgroundErrorReason reason, const Status& error,
                        bool* auto_recovery);
void ErrorRecoveryEnd(const Engine& engine, const Status& old_error, const Status& new_error);

void DatabaseRecovered(const Engine& engine);
// Damage that a pass over all tables met.
void DamageFound(const Engine& engine, const Status& damage, const std::string& path);

inline bool Wanted(const Engine& engine) {
  return !engine.options.listeners.empty();
}

}  // namespace varve::events
