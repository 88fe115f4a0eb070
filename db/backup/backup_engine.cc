// SPDX-License-Identifier: Apache-2.0

// Implements the public engines, which serialize calls by a mutex and notify listeners. Calls that
// only read share their store's mutex, calls that change the directory hold it exclusively, and
// StopBackup takes no lock, as it must interrupt a call that holds it. A restore also shares the
// mutexes of the alternate directories' stores, in the order of their addresses. The mutexes are
// held during I/O, possibly for minutes. A progress callback that calls the same engine would
// deadlock: such a call returns Busy (ActiveEngineCall::Refuse) or, if it returns no status, throws
// RefusedCall (ThrowIfItWouldDeadlock). Listeners are notified after the mutexes are released, and
// may call the engine.

#include "varve/utilities/backup_engine.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <utility>

#include "varve/db.h"
#include "varve/listener.h"
#include "varve/system_clock.h"

#include "db/active_work.h"
#include "db/backup/backup_store.h"
#include "db/backup/create_backup.h"
#include "db/backup/live_tables.h"
#include "db/backup/restore_backup.h"
#include "db/backup/verify_backup.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Holds a store and the mutex that orders calls to it. The mutex has no lock rank, since it is held
// during I/O and calls of user code.
struct GuardedStore {
  std::unique_ptr<BackupStore> store;
  std::shared_mutex mutex;
};
using GuardedStores = std::set<GuardedStore*>;

// Marks the current thread, and the threads that work for it, as running a call of this engine.
// While it exists, Refuse returns Busy to user code on those threads that calls the engine again,
// which would deadlock.
class ActiveEngineCall {
 public:
  explicit ActiveEngineCall(const GuardedStore* guarded)
      : active_work_(ActiveWork::kCall, guarded, "a call of the same backup engine,") {}
  static Status Refuse(const char* call, const GuardedStore* guarded) {
    return RefuseHeldUp(call, ActiveWork::kCall, guarded);
  }

 private:
  const ActiveWork active_work_;
};

// Gives access to the store behind an engine of RestoreOptions::alternate_dirs.
class HasStore {
 public:
  virtual ~HasStore() = default;
  virtual GuardedStore& guarded() const = 0;
};

IOStatus ToIoStatus(Status s) {
  return status_to_io_status(std::move(s));
}

class Stopwatch {
 public:
  Stopwatch() : clock_(SystemClock::Default()), begin_(clock_->NowNanos()) {}
  uint64_t Micros() const { return (clock_->NowNanos() - begin_) / 1000; }

 private:
  const std::shared_ptr<SystemClock> clock_;
  const uint64_t begin_;
};

void TellListeners(const std::vector<std::shared_ptr<EventListener>>& listeners, DB* db,
                   const DataMoveInfo& info) {
  for (const std::shared_ptr<EventListener>& listener : listeners) {
    BestEffort([&] { listener->OnDataMoved(db, info); });
  }
}

// Implements the calls that only read, for both kinds of engines. They may run concurrently with
// each other, but not with calls that change the directory.
template <typename Base>
class ReadCalls : public Base, public HasStore {
 public:
  explicit ReadCalls(std::unique_ptr<BackupStore> store) { guarded_.store = std::move(store); }

  GuardedStore& guarded() const override { return guarded_; }

  Status GetLatestBackupInfo(BackupInfo* info, bool details) const override {
    return Shared("GetLatestBackupInfo", [&]() -> Status {
      if (catalog().valid().empty()) return NoBackup();
      return Describe(*catalog().valid().rbegin()->second, details, info);
    });
  }
  Status GetBackupInfo(BackupID id, BackupInfo* info, bool details) const override {
    return Shared("GetBackupInfo", [&]() -> Status {
      std::shared_ptr<const BackupMeta> meta;
      VARVE_RETURN_IF_ERROR(catalog().Find(id, &meta));
      return Describe(*meta, details, info);
    });
  }
  void GetBackupInfo(std::vector<BackupInfo>* infos, bool details) const override {
    if (infos == nullptr) return;
    ThrowIfItWouldDeadlock("GetBackupInfo", ActiveWork::kCall, &guarded_);
    const std::shared_lock lock(guarded_.mutex);
    infos->clear();
    for (const auto& [id, meta] : catalog().valid()) {
      infos->emplace_back();
      FillBackupInfo(store(), *meta, details, &infos->back());
    }
  }
  void GetCorruptedBackups(std::vector<BackupID>* ids) const override {
    if (ids == nullptr) return;
    ThrowIfItWouldDeadlock("GetCorruptedBackups", ActiveWork::kCall, &guarded_);
    const std::shared_lock lock(guarded_.mutex);
    ids->clear();
    for (const auto& [id, invalid] : catalog().invalid()) ids->push_back(id);
  }

  using Base::RestoreDBFromBackup;
  IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID id,
                               const std::string& db_dir,
                               const std::string& wal_dir) const override {
    return ToIoStatus(Restoring("RestoreDBFromBackup", options, db_dir, [&](Restored* restored) {
      restored->id = id;
      return Restore(options, db_dir, wal_dir, restored);
    }));
  }
  using Base::RestoreDBFromLatestBackup;
  IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& db_dir,
                                     const std::string& wal_dir) const override {
    const auto step = [&](Restored* restored) -> Status {
      if (catalog().valid().empty()) return NoBackup();
      restored->id = catalog().valid().rbegin()->first;
      return Restore(options, db_dir, wal_dir, restored);
    };
    return ToIoStatus(Restoring("RestoreDBFromLatestBackup", options, db_dir, step));
  }
  IOStatus VerifyBackup(BackupID id, bool with_checksum) const override {
    return ToIoStatus(
        Shared("VerifyBackup", [&] { return VerifyBackupFiles(store(), id, with_checksum); }));
  }
  BackupEngine* AsBackupEngine() override { return nullptr; }

 protected:
  const BackupStore& store() const { return *guarded_.store; }
  const BackupCatalog& catalog() const { return store().catalog(); }

  mutable GuardedStore guarded_;

 private:
  // Describes a restore to the listeners.
  struct Restored {
    std::optional<BackupID> id;  // Unset: no restore has begun.
    DataMoveInfo moved;
  };

  // Runs `step` under the shared lock. Busy: this thread already works for a call of this engine.
  template <typename Step>
  Status Shared(const char* call, Step step) const {
    VARVE_RETURN_IF_ERROR(ActiveEngineCall::Refuse(call, &guarded_));
    const std::shared_lock lock(guarded_.mutex);
    const ActiveEngineCall active(&guarded_);
    return Guarded(step);
  }
  // Runs a restore, which may also read from other engines, and notifies listeners after all locks
  // are released. Busy: this thread works for a call of one of the engines; that is checked before
  // any lock is taken.
  template <typename Step>
  Status Restoring(const char* call, const RestoreOptions& options, const std::string& db_dir,
                   const Step& step) const {
    for (BackupEngineReadOnlyBase* const other : options.alternate_dirs) {
      auto* const engine = dynamic_cast<HasStore*>(other);
      if (engine == nullptr) continue;
      VARVE_RETURN_IF_ERROR(ActiveEngineCall::Refuse(call, &engine->guarded()));
    }
    const Stopwatch watch;
    Restored restored;
    DataMoveInfo& moved = restored.moved;
    moved.kind = DataMoveInfo::Kind::kRestore;
    moved.path = db_dir;
    moved.status = Shared(call, [&] { return step(&restored); });
    if (!restored.id.has_value()) return moved.status;
    moved.micros = watch.Micros();
    TellListeners(store().options().listeners, nullptr, moved);
    BestEffort([&] {
      store().Note("backup " + std::to_string(*restored.id) + " restored to " + db_dir + ": " +
                   moved.status.ToString());
    });
    return moved.status;
  }
  Status NoBackup() const { return Status::NotFound(store().directory(), "has no valid backup"); }

  Status Describe(const BackupMeta& meta, bool details, BackupInfo* info) const {
    if (info == nullptr) return Status::InvalidArgument("GetBackupInfo: the place is null");
    FillBackupInfo(store(), meta, details, info);
    return Status::OK();
  }

  // Runs `step` with the mutexes of the engines [next, end) held as shared, locked in that order.
  template <typename Step>
  static Status Holding(GuardedStores::const_iterator next, GuardedStores::const_iterator end,
                        const Step& step) {
    if (next == end) return step();
    const std::shared_lock lock((*next)->mutex);
    const ActiveEngineCall active(*next);
    return Holding(std::next(next), end, step);
  }

  // Restores restored->id while the locks of the alternate engines are held as shared.
  Status Restore(const RestoreOptions& options, const std::string& db_dir,
                 const std::string& wal_dir, Restored* restored) const {
    std::vector<const BackupStore*> stores;
    GuardedStores others;
    for (BackupEngineReadOnlyBase* const other : options.alternate_dirs) {
      auto* const engine = dynamic_cast<HasStore*>(other);
      if (engine == nullptr) {
        return Status::InvalidArgument("RestoreOptions::alternate_dirs",
                                       "has an engine that is null or not Varve's");
      }
      stores.push_back(engine->guarded().store.get());
      // This engine's own lock is held already. The others are taken in the order of their
      // addresses by every thread, so that two restores cannot deadlock.
      if (&engine->guarded() == &guarded_) continue;
      others.insert(&engine->guarded());
    }
    return Holding(others.begin(), others.end(), [&] {
      return RestoreBackup(store(), stores, options, *restored->id, db_dir, wal_dir,
                           &restored->moved);
    });
  }
};

class BackupEngineImpl final : public ReadCalls<BackupEngine> {
 public:
  using ReadCalls::ReadCalls;

  using BackupEngine::CreateNewBackup;
  using BackupEngine::CreateNewBackupWithMetadata;
  IOStatus CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                       const std::string& app_metadata,
                                       BackupID* new_backup_id) override {
    if (db == nullptr) return IOStatus::InvalidArgument("CreateNewBackup: the database is null");
    const Stopwatch watch;
    DataMoveInfo moved;
    moved.kind = DataMoveInfo::Kind::kBackup;
    moved.path = store().directory();
    BackupID id = 0;
    {
      VARVE_RETURN_IF_ERROR(ToIoStatus(ActiveEngineCall::Refuse("CreateNewBackup", &guarded_)));
      const std::unique_lock lock(guarded_.mutex);
      const ActiveEngineCall active(&guarded_);
      moved.status = Guarded([&] {
        return CreateBackup(guarded_.store.get(), &tables_, options, db, app_metadata, &id, &moved);
      });
    }
    moved.micros = watch.Micros();
    BestEffort([&] { TellListeners(db->GetDBOptions().listeners, db, moved); });
    BestEffort([&] {
      store().Note("backup " + std::to_string(id) + " of " + db->GetName() + ": " +
                   moved.status.ToString());
    });
    if (moved.status.ok() && new_backup_id != nullptr) *new_backup_id = id;
    return ToIoStatus(std::move(moved.status));
  }

  // The flag stays set: a stopped engine makes no more backups until it is opened anew.
  void StopBackup() override { guarded_.store->stop().store(true, std::memory_order_relaxed); }

  IOStatus GarbageCollect() override {
    return Alone("GarbageCollect", [this] { return guarded_.store->CollectGarbage(); });
  }
  IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) override {
    return Alone("PurgeOldBackups", [&] { return guarded_.store->Purge(num_backups_to_keep); });
  }
  IOStatus DeleteBackup(BackupID backup_id) override {
    return Alone("DeleteBackup", [&] { return guarded_.store->Delete(backup_id); });
  }
  BackupEngine* AsBackupEngine() override { return this; }

 private:
  // Runs `step` under the exclusive lock. Busy: this thread works for a call of this engine.
  template <typename Step>
  IOStatus Alone(const char* call, Step step) {
    VARVE_RETURN_IF_ERROR(ToIoStatus(ActiveEngineCall::Refuse(call, &guarded_)));
    const std::unique_lock lock(guarded_.mutex);
    const ActiveEngineCall active(&guarded_);
    return ToIoStatus(Guarded(step));
  }

  LiveTables tables_;  // Guarded by the mutex.
};

class BackupEngineReadOnlyImpl final : public ReadCalls<BackupEngineReadOnly> {
 public:
  using ReadCalls::ReadCalls;
};

template <typename Impl, typename Interface>
Status OpenBackups(const BackupEngineOptions& options, Env* db_env, bool read_only,
                   Interface** result) {
  if (result == nullptr) return Status::InvalidArgument("BackupEngine::Open: the place is null");
  *result = nullptr;
  return Guarded([&]() -> Status {
    std::unique_ptr<BackupStore> store;
    VARVE_RETURN_IF_ERROR(BackupStore::Open(options, db_env, read_only, &store));
    *result = std::make_unique<Impl>(std::move(store)).release();
    return Status::OK();
  });
}

}  // namespace

IOStatus BackupEngine::Open(const BackupEngineOptions& options, Env* db_env,
                            BackupEngine** backup_engine_ptr) {
  return ToIoStatus(OpenBackups<BackupEngineImpl>(options, db_env, false, backup_engine_ptr));
}

IOStatus BackupEngineReadOnly::Open(const BackupEngineOptions& options, Env* db_env,
                                    BackupEngineReadOnly** backup_engine_ptr) {
  return ToIoStatus(
      OpenBackups<BackupEngineReadOnlyImpl>(options, db_env, true, backup_engine_ptr));
}

void BackupEngineOptions::Dump(Logger* logger) const {
  const auto line = [logger](const char* name, const std::string& value) {
    Header(logger, "BackupEngineOptions.%s: %s", name, value.c_str());
  };
  line("backup_dir", backup_dir);
  line("share_table_files", std::to_string(static_cast<int>(share_table_files)));
  line("sync", std::to_string(static_cast<int>(sync)));
  line("destroy_old_data", std::to_string(static_cast<int>(destroy_old_data)));
  line("backup_log_files", std::to_string(static_cast<int>(backup_log_files)));
  line("backup_rate_limit", std::to_string(backup_rate_limit));
  line("restore_rate_limit", std::to_string(restore_rate_limit));
  line("share_files_with_checksum", std::to_string(static_cast<int>(share_files_with_checksum)));
  line("max_background_operations", std::to_string(max_background_operations));
  line("callback_trigger_interval_size", std::to_string(callback_trigger_interval_size));
  line("max_valid_backups_to_open", std::to_string(max_valid_backups_to_open));
  line("share_files_with_checksum_naming",
       std::to_string(static_cast<uint32_t>(share_files_with_checksum_naming)));
  line("schema_version", std::to_string(schema_version));
  line("io_buffer_size", std::to_string(io_buffer_size));
}

std::string BackupStatistics::ToString() const {
  return "# success backup: " + std::to_string(number_success_backup) +
         ", # fail backup: " + std::to_string(number_fail_backup);
}

}  // namespace varve
