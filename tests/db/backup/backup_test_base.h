// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database in memory with a backup directory beside it.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/utilities/backup_engine.h"

#include "tests/harness/database.h"

namespace varve::testing {

class BackupTest : public Database {
 protected:
  static constexpr const char* kBackups = "/backups";

  BackupTest() { backup_options_.backup_env = nullptr; }
  ~BackupTest() override { engine_.reset(); }

  IOStatus TryOpenEngine() {
    engine_.reset();
    BackupEngine* engine = nullptr;
    IOStatus s = BackupEngine::Open(backup_options_, options_.env, &engine);
    EXPECT_EQ(engine == nullptr, !s.ok());
    engine_.reset(engine);
    return s;
  }
  void OpenEngine() {
    const IOStatus s = TryOpenEngine();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Returns the new backup's id, or 0 if the test has failed.
  BackupID Create(const CreateBackupOptions& options = CreateBackupOptions(),
                  const std::string& metadata = "") {
    BackupID id = 0;
    const IOStatus s = engine_->CreateNewBackupWithMetadata(options, db(), metadata, &id);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return id;
  }
  // Closes the database, restores one, opens it, and returns what it holds.
  std::string RestoredContent(BackupID id, const RestoreOptions& options = RestoreOptions()) {
    EXPECT_TRUE(Close().ok());
    const IOStatus s = engine_->RestoreDBFromBackup(options, id, kName, options_.wal_dir);
    EXPECT_TRUE(s.ok()) << s.ToString();
    Open();
    return Scan();
  }
  std::vector<std::string> Entries(const std::string& directory) {
    std::vector<std::string> entries;
    mem().GetChildren(directory, IOOptions(), &entries, nullptr).PermitUncheckedError();
    std::ranges::sort(entries);
    return entries;
  }
  bool Exists(const std::string& path) { return mem().FileExists(path, IOOptions(), nullptr).ok(); }
  std::vector<BackupID> Ids() {
    std::vector<BackupInfo> infos;
    engine_->GetBackupInfo(&infos);
    std::vector<BackupID> ids;
    for (const BackupInfo& info : infos) ids.push_back(info.backup_id);
    return ids;
  }
  std::vector<BackupID> BadIds() {
    std::vector<BackupID> ids;
    engine_->GetCorruptedBackups(&ids);
    return ids;
  }

  BackupEngineOptions backup_options_{kBackups};
  std::unique_ptr<BackupEngine> engine_;
};

}  // namespace varve::testing
