// SPDX-License-Identifier: Apache-2.0

// Goal: a process that is killed while it makes, deletes or restores backups leaves every backup
// that it has reported whole, none that is broken, and of the restored database the old state or a
// new one; and the next calls take away what is left. Method: a child writes one number after the
// other under all keys, backs each up, deletes old backups, and restores one now and then, until it
// is killed at a random moment; another child verifies and restores what it finds.
// VARVE_BACKUP_KILLS sets the number of rounds.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/utilities/backup_engine.h"

#include "tests/harness/environment.h"
#include "tests/harness/killed_child.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

constexpr int kBackedUpKeys = 40;
constexpr uint32_t kBackupsKept = 3;

// Reports from a child, which survive its death.
struct BackupProgress {
  std::atomic<int> begun;     // numbers written
  std::atomic<int> acked;     // the newest that was backed up
  std::atomic<int> restored;  // the newest whose restore has returned
  std::atomic<int> backups;   // that the checker found
};

class BackupKillTest : public ::testing::Test {
 protected:
  static Status OpenDb(const std::string& path, bool create, std::unique_ptr<DB>* db) {
    Options options;
    options.create_if_missing = create;
    options.level0_file_num_compaction_trigger = 3;
    DB* raw = nullptr;
    const Status s = DB::Open(options, path, &raw);
    db->reset(raw);
    return s;
  }
  IOStatus OpenEngine() {
    BackupEngineOptions options(root_ / "backups");
    options.max_background_operations = 2;
    BackupEngine* raw = nullptr;
    IOStatus s = BackupEngine::Open(options, Env::Default(), &raw);
    engine_.reset(raw);
    return s;
  }

  // Puts the number under all keys, in one batch.
  static Status WriteNumber(DB* db, int number) {
    WriteBatch batch;
    for (int i = 0; i < kBackedUpKeys; i++) {
      const Status s = batch.Put(std::to_string(100 + i), std::to_string(number));
      if (!s.ok()) return s;
    }
    return db->Write(WriteOptions(), &batch);
  }
  // Returns the number that a database has, or -1 if that state never existed.
  static int NumberIn(DB* db) {
    int number = -1;
    int keys = 0;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next(), keys++) {
      const int found = std::stoi(it->value().ToString());
      if (keys > 0 && found != number) return -1;
      number = found;
    }
    return it->status().ok() && keys == kBackedUpKeys ? number : -1;
  }

  [[noreturn]] void Child(int first, uint64_t seed) {
    Random random(seed);
    std::unique_ptr<DB> db;
    ExitUnlessOk(OpenDb(root_ / "db", true, &db), "child: open");
    ExitUnlessOk(OpenEngine(), "child: open backups");
    for (int number = first;; number++) {
      shared_->begun.store(number, std::memory_order_release);
      ExitUnlessOk(WriteNumber(db.get(), number), "child: write");
      if (random.OneIn(2)) ExitUnlessOk(db->Flush(FlushOptions()), "child: flush");
      CreateBackupOptions options;
      options.flush_before_backup = random.OneIn(3);
      ExitUnlessOk(engine_->CreateNewBackupWithMetadata(options, db.get(), std::to_string(number)),
                   "child: backup");
      shared_->acked.store(number, std::memory_order_release);
      if (random.OneIn(2)) ExitUnlessOk(engine_->PurgeOldBackups(kBackupsKept), "child: purge");
      if (random.OneIn(4)) ExitUnlessOk(engine_->GarbageCollect(), "child: sweep");
      if (!random.OneIn(2)) continue;
      RestoreOptions restore;
      if (random.OneIn(2)) restore.mode = RestoreOptions::kKeepLatestDbSessionIdFiles;
      ExitUnlessOk(
          engine_->RestoreDBFromLatestBackup(restore, root_ / "restored", root_ / "restored"),
          "child: restore");
      shared_->restored.store(number, std::memory_order_release);
    }
  }

  // Checks the restored database, which may have been restored never, or just when the child died.
  void CheckRestored(int begun, int restored) {
    std::unique_ptr<DB> db;
    const Status s = OpenDb(root_ / "restored", false, &db);
    EXPECT_TRUE(s.ok() || restored == 0) << s.ToString();
    if (!s.ok()) return;
    const int number = NumberIn(db.get());
    EXPECT_GE(number, std::max(restored, 1));
    EXPECT_LE(number, begun);
    EXPECT_FALSE(std::filesystem::exists(root_ / "restored" / "restore.tmp"));
  }
  void CheckBackups(int begun, int acked) {
    std::vector<BackupID> corrupted;
    engine_->GetCorruptedBackups(&corrupted);
    EXPECT_TRUE(corrupted.empty());
    std::vector<BackupInfo> infos;
    engine_->GetBackupInfo(&infos);
    shared_->backups.store(static_cast<int>(infos.size()));
    int newest = 0;
    for (const BackupInfo& info : infos) {
      const IOStatus verified = engine_->VerifyBackup(info.backup_id, true);
      EXPECT_TRUE(verified.ok()) << verified.ToString();
      newest = std::max(newest, std::stoi(info.app_metadata));
    }
    EXPECT_GE(newest, acked);
    EXPECT_LE(newest, begun);
    if (infos.empty()) return;
    const BackupInfo& some = infos[static_cast<size_t>(begun) % infos.size()];
    EXPECT_EQ(Restored(some.backup_id), std::stoi(some.app_metadata));
    EXPECT_EQ(Restored(infos.back().backup_id), newest);
  }
  int Restored(BackupID id) {
    const IOStatus s = engine_->RestoreDBFromBackup(id, root_ / "checked", root_ / "checked");
    EXPECT_TRUE(s.ok()) << s.ToString();
    std::unique_ptr<DB> db;
    const Status opened = OpenDb(root_ / "checked", false, &db);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return opened.ok() ? NumberIn(db.get()) : -1;
  }
  // Checks that a sweep leaves the files of backups and nothing else.
  void CheckSwept() {
    ASSERT_TRUE(engine_->GarbageCollect().ok());
    std::vector<BackupInfo> infos;
    engine_->GetBackupInfo(&infos);
    size_t private_folders = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root_ / "backups" / "private")) {
      private_folders++;
      const std::string name = entry.path().filename();
      EXPECT_TRUE(std::ranges::any_of(infos, [&](const BackupInfo& info) {
        return std::to_string(info.backup_id) == name;
      })) << name;
    }
    EXPECT_EQ(private_folders, infos.size());
    for (const char* const folder : {"shared_checksum", "meta"}) {
      for (const auto& entry : std::filesystem::directory_iterator(root_ / "backups" / folder)) {
        EXPECT_FALSE(entry.path().filename().string().ends_with(".tmp")) << entry.path();
      }
    }
  }

  void Check(int begun) {
    CheckRestored(begun, shared_->restored.load(std::memory_order_acquire));
    const IOStatus s = OpenEngine();
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (s.ok()) {
      CheckBackups(begun, shared_->acked.load(std::memory_order_acquire));
      CheckSwept();
    }
    engine_.reset();
  }

  const FreshDirectory directory_{"backup-kill"};
  const std::filesystem::path root_{directory_.path()};
  const SharedWithChildren<BackupProgress> shared_;
  std::unique_ptr<BackupEngine> engine_;
};

TEST_F(BackupKillTest, BackupsAreWholeOrNotThere) {
  const uint64_t rounds = NumberFromEnvironment("VARVE_BACKUP_KILLS", 12);
  const uint64_t seed = NumberFromEnvironment("VARVE_SEED", 7) + Rotation();
  Random random(seed);
  int next = 1;
  int undone = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const int begun = next + static_cast<int>(random.Below(4));
    ASSERT_TRUE(RunUntilKilled([&] { Child(next, seed + round); }, random.Below(30'000),
                               [&] { return shared_->begun.load() >= begun; }))
        << "the child met a problem";
    const int last = shared_->begun.load(std::memory_order_acquire);
    ASSERT_TRUE(HoldsInChild([&] { Check(last); })) << "see above";
    if (shared_->acked.load() < last) undone++;
    next = last + 1;
  }
  printf("RESULT backup_kills cases=%llu backups=%d cut_off=%d wrong=0 lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(rounds), shared_->acked.load(), undone);
  EXPECT_GT(shared_->acked.load(), static_cast<int>(rounds / 2)) << "too few were made";
  EXPECT_GT(shared_->restored.load(), 0) << "none was restored";
  EXPECT_GT(undone, 0) << "none was cut off";
}

}  // namespace
}  // namespace varve::testing
