// SPDX-License-Identifier: Apache-2.0
#include "db/background/events.h"

#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve::events {

namespace {

// Runs `call` on every listener. User code that throws must not unwind through the engine.
template <typename Call>
void ForEach(const Engine& engine, const char* event, Call call) {
  for (const auto& listener : engine.options.listeners) {
    try {
      call(listener.get());
    } catch (...) {
      // So may the logger.
      const Status s = CaughtException();
      BestEffort([&] {
        LogError(engine.info_log.get(), "a listener threw in %s: %s", event, s.ToString().c_str());
      });
    }
  }
}

}  // namespace

void FlushBegin(const Engine& engine, const FlushJobInfo& info) {
  ForEach(engine, "OnFlushBegin", [&](EventListener* l) { l->OnFlushBegin(engine.db, info); });
}

void FlushCompleted(const Engine& engine, const FlushJobInfo& info) {
  ForEach(engine, "OnFlushCompleted",
          [&](EventListener* l) { l->OnFlushCompleted(engine.db, info); });
}

void CompactionBegin(const Engine& engine, const CompactionJobInfo& info) {
  ForEach(engine, "OnCompactionBegin",
          [&](EventListener* l) { l->OnCompactionBegin(engine.db, info); });
}

void CompactionCompleted(const Engine& engine, const CompactionJobInfo& info) {
  ForEach(engine, "OnCompactionCompleted",
          [&](EventListener* l) { l->OnCompactionCompleted(engine.db, info); });
}

void TableFileCreated(const Engine& engine, const TableFileCreationInfo& info) {
  ForEach(engine, "OnTableFileCreated", [&](EventListener* l) { l->OnTableFileCreated(info); });
}

void TableFileDeleted(const Engine& engine, const TableFileDeletionInfo& info) {
  ForEach(engine, "OnTableFileDeleted", [&](EventListener* l) { l->OnTableFileDeleted(info); });
}

void MemTableSealed(const Engine& engine, const MemTableInfo& info) {
  ForEach(engine, "OnMemTableSealed", [&](EventListener* l) { l->OnMemTableSealed(info); });
}

void StallConditionsChanged(const Engine& engine, const WriteStallInfo& info) {
  ForEach(engine, "OnStallConditionsChanged",
          [&](EventListener* l) { l->OnStallConditionsChanged(info); });
}

void BackgroundError(const Engine& engine, BackgroundErrorReason reason, Status* error) {
  ForEach(engine, "OnBackgroundError",
          [&](EventListener* l) { l->OnBackgroundError(reason, error); });
}

void ErrorRecoveryBegin(const Engine& engine, BackgroundErrorReason reason, const Status& error,
                        bool* auto_recovery) {
  ForEach(engine, "OnErrorRecoveryBegin",
          [&](EventListener* l) { l->OnErrorRecoveryBegin(reason, error, auto_recovery); });
}

void ErrorRecoveryEnd(const Engine& engine, const Status& old_error, const Status& new_error) {
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = old_error;
  info.new_bg_error = new_error;
  ForEach(engine, "OnErrorRecoveryEnd", [&](EventListener* l) {
    if (new_error.ok()) l->OnErrorRecoveryCompleted(old_error);
    l->OnErrorRecoveryEnd(info);
  });
}

void DatabaseRecovered(const Engine& engine) {
  ForEach(engine, "OnDatabaseRecovered",
          [&](EventListener* l) { l->OnDatabaseRecovered(engine.recovery); });
}

void DamageFound(const Engine& engine, const Status& damage, const std::string& path) {
  const char* const state = damage.getState();
  const IOErrorInfo info(IOStatus::Corruption(state == nullptr ? path : state),
                         FileOperationType::kVerify, path, 0, 0);
  ForEach(engine, "OnIOError", [&](EventListener* l) { l->OnIOError(info); });
}

}  // namespace varve::events
