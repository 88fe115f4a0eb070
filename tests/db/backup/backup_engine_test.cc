// SPDX-License-Identifier: Apache-2.0

// Goal: a backup is what the database was, costs what has changed, and goes with what no other has.
// Method: a database in memory, backed up under every option, with each file of the directory
// looked at, lists and files damaged by hand, and backups deleted in every order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "varve/file_checksum.h"
#include "varve/listener.h"
#include "varve/rate_limiter.h"
#include "varve/statistics.h"

#include "db/backup/backup_catalog.h"
#include "tests/db/backup/backup_test_base.h"
#include "util/env/file_names.h"

namespace varve {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class BackupEngineTest : public testing::BackupTest {};

class MoveListener final : public EventListener {
 public:
  void OnDataMoved(DB*, const DataMoveInfo& info) override { moves.push_back(info); }
  std::vector<DataMoveInfo> moves;
};

TEST_F(BackupEngineTest, BackupsShareTablesAndRestoreEachMoment) {
  const auto listener = std::make_shared<MoveListener>();
  options_.listeners.push_back(listener);
  Open();
  OpenEngine();
  MakeTable({"a", "b"});
  Put("c", "in the log");
  EXPECT_EQ(Create(CreateBackupOptions(), "first"), 1u);
  MakeTable({"d"});
  EXPECT_EQ(Create(), 2u);
  ASSERT_EQ(listener->moves.size(), 2u);
  EXPECT_EQ(listener->moves[0].kind, DataMoveInfo::Kind::kBackup);
  EXPECT_GT(listener->moves[0].bytes_copied, 0u);
  EXPECT_EQ(listener->moves[1].sequence, db()->GetLatestSequenceNumber());

  BackupInfo info;
  ASSERT_TRUE(engine_->GetBackupInfo(1, &info).ok());
  EXPECT_EQ(info.app_metadata, "first");
  EXPECT_GT(info.size, 0u);
  EXPECT_GT(info.timestamp, 1'600'000'000);
  EXPECT_EQ(RestoredContent(1), "a=of a b=of b c=in the log");
  EXPECT_EQ(RestoredContent(2), "a=of a b=of b c=in the log d=of d");
  EXPECT_EQ(Entries("/backups/shared_checksum").size(), 2u);
}

TEST_F(BackupEngineTest, FilesHaveRocksDbsNames) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Put("b", "1");
  Create();
  EXPECT_THAT(Entries(kBackups), ElementsAre("LOCK", "meta", "private", "shared_checksum"));
  EXPECT_THAT(Entries("/backups/meta"), ElementsAre("1"));
  EXPECT_THAT(Entries("/backups/shared_checksum"),
              ElementsAre(MatchesRegex("[0-9]+_s[0-9A-Z]{20}_[0-9]+\\.sst")));
  EXPECT_THAT(Entries("/backups/private/1"),
              ElementsAre(MatchesRegex("[0-9]+\\.log"), "CURRENT", MatchesRegex("MANIFEST-[0-9]+"),
                          MatchesRegex("OPTIONS-[0-9]+")));
  EXPECT_THAT(ReadFile("/backups/meta/1"),
              MatchesRegex("[0-9]+\n[0-9]+\n5\n((private/1/|shared_checksum/)[^ \n]+ crc32 "
                           "[0-9]+\n){5}"));
}

TEST_F(BackupEngineTest, EveryNamingRestores) {
  struct Case {
    bool share;
    bool with_checksum;
    uint32_t naming;
    const char* folder;
    const char* pattern;
  };
  const uint32_t sized = BackupEngineOptions::kUseDbSessionId |
                         static_cast<uint32_t>(BackupEngineOptions::kFlagIncludeFileSize);
  const Case cases[] = {
      {true, true, sized, "/shared_checksum", "[0-9]+_s[0-9A-Z]{20}_[0-9]+\\.sst"},
      {true, true, BackupEngineOptions::kUseDbSessionId, "/shared_checksum",
       "[0-9]+_s[0-9A-Z]{20}\\.sst"},
      {true, true, BackupEngineOptions::kLegacyCrc32cAndFileSize, "/shared_checksum",
       "[0-9]+_[0-9]+_[0-9]+\\.sst"},
      {true, false, sized, "/shared", "[0-9]+\\.sst"},
      {false, false, sized, "/private/1", "[0-9]+\\.sst"},
  };
  Open();
  MakeTable({"a"});
  int number = 0;
  for (const Case& c : cases) {
    for (const int schema : {1, 2}) {
      backup_options_.backup_dir = "/backups" + std::to_string(number++);
      SCOPED_TRACE(backup_options_.backup_dir);
      backup_options_.share_table_files = c.share;
      backup_options_.share_files_with_checksum = c.with_checksum;
      backup_options_.share_files_with_checksum_naming =
          static_cast<BackupEngineOptions::ShareFilesNaming>(c.naming);
      backup_options_.schema_version = schema;
      OpenEngine();
      EXPECT_EQ(Create(), 1u);
      EXPECT_EQ(Create(), 2u);
      EXPECT_THAT(Entries(backup_options_.backup_dir + c.folder),
                  Contains(MatchesRegex(c.pattern)));
      OpenEngine();  // reads the lists again
      EXPECT_THAT(Ids(), ElementsAre(1u, 2u));
      EXPECT_TRUE(engine_->VerifyBackup(2, true).ok());
      EXPECT_EQ(RestoredContent(2), "a=of a");
    }
  }
}

TEST_F(BackupEngineTest, TablesThatWereNotSyncedAreCopiedOnceMore) {
  const auto listener = std::make_shared<MoveListener>();
  options_.listeners.push_back(listener);
  Open();
  const auto create = [&](bool sync) {
    backup_options_.sync = sync;
    OpenEngine();
    Create();
    return listener->moves.back().files;
  };
  MakeTable({"a"});
  const uint64_t with_table = create(true);
  const uint64_t without = create(true);
  EXPECT_EQ(with_table, without + 1);
  MakeTable({"b"});
  MakeTable({"c"});
  EXPECT_EQ(create(false), without + 2);
  EXPECT_EQ(create(false), without);
  EXPECT_TRUE(Exists("/backups/meta/unsynced"));
  EXPECT_EQ(create(true), without + 2);
  EXPECT_FALSE(Exists("/backups/meta/unsynced"));
  EXPECT_EQ(create(true), without);
  MakeTable({"d"});
  create(false);
  ASSERT_TRUE(engine_->GarbageCollect().ok());
  EXPECT_TRUE(Exists("/backups/meta/unsynced"));
  // The name goes with the backup that has the file, when another one is made.
  EXPECT_TRUE(engine_->DeleteBackup(Ids().back()).ok());
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  create(true);
  EXPECT_FALSE(Exists("/backups/meta/unsynced"));
  for (const BackupID id : Ids()) EXPECT_TRUE(engine_->VerifyBackup(id, true).ok()) << id;
}

TEST_F(BackupEngineTest, NothingNewOpensNoTable) {
  Open();
  OpenEngine();
  for (int i = 0; i < 20; i++) MakeTable({"k" + std::to_string(i)});
  Create();
  // Backups are made by the same engine, by another one, and in another session of the database.
  for (BackupID id = 2; id <= 4; id++) {
    if (id == 3) OpenEngine();
    if (id == 4) Reopen();
    faults().ResetCounters();
    FaultRule rule;
    rule.path_contains = ".sst";
    rule.sticky = true;
    faults().Inject(rule);
    EXPECT_EQ(Create(), id);
    EXPECT_EQ(faults().strikes(), 0u);
    EXPECT_EQ(faults().calls(FaultCall::kStat), 1u);  // The private folder is checked.
    faults().ClearFaults();
    EXPECT_TRUE(engine_->VerifyBackup(id, true).ok());
  }
}

TEST_F(BackupEngineTest, WithoutLogsWhatIsNotFlushedIsNotThere) {
  backup_options_.backup_log_files = false;
  Open();
  OpenEngine();
  MakeTable({"a"});
  Put("b", "1");
  Create();
  CreateBackupOptions flushing;
  flushing.flush_before_backup = true;
  Create(flushing);
  EXPECT_EQ(RestoredContent(1), "a=of a");
  EXPECT_EQ(RestoredContent(2), "a=of a b=1");
}

TEST_F(BackupEngineTest, WhatIsWrittenWithoutALogIsFlushedFirst) {
  Open();
  OpenEngine();
  WriteOptions no_log;
  no_log.disableWAL = true;
  ASSERT_TRUE(db()->Put(no_log, "a", "1").ok());
  CreateBackupOptions flushing;
  flushing.flush_before_backup = true;
  flushing.atomic_flush = true;
  Create(flushing);
  EXPECT_EQ(RestoredContent(1), "a=1");
}

TEST_F(BackupEngineTest, WrongArgumentsChangeNothing) {
  Open();
  OpenEngine();
  const auto refused = [&](const IOStatus& s, const char* what) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(what));
    EXPECT_THAT(Entries("/backups/private"), IsEmpty());
  };
  CreateBackupOptions options;
  refused(engine_->CreateNewBackup(options, nullptr), "null");
  refused(engine_->CreateNewBackupWithMetadata(options, db(), std::string((1 << 20) + 1, 'x')),
          "1 MiB");
  options.exclude_files_callback = [](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) {};
  refused(engine_->CreateNewBackup(options, db()), "schema_version");

  backup_options_.backup_dir = "";
  refused(TryOpenEngine(), "backup_dir");
  backup_options_.backup_dir = "/other";
  const auto with = [&](auto change) {
    const BackupEngineOptions before = backup_options_;
    change(&backup_options_);
    IOStatus s = TryOpenEngine();
    backup_options_ = before;
    return s;
  };
  refused(with([](auto* o) { o->max_background_operations = 0; }), "max_background_operations");
  refused(with([](auto* o) { o->callback_trigger_interval_size = 0; }), "callback_trigger");
  refused(with([](auto* o) { o->schema_version = 0; }), "schema_version");
  refused(with([](auto* o) {
            o->share_files_with_checksum_naming =
                static_cast<BackupEngineOptions::ShareFilesNaming>(5);
          }),
          "naming");
  EXPECT_TRUE(with([](auto* o) { o->schema_version = 3; }).IsNotSupported());
  EXPECT_FALSE(Exists("/other"));
}

// Programs for RocksDB keep backups beside the files of the database.
TEST_F(BackupEngineTest, ADatabaseKeepsItsBackups) {
  backup_options_.backup_dir = kName;
  Open();
  Put("a", "1");
  OpenEngine();
  const std::unique_ptr<BackupEngine> first = std::move(engine_);
  EXPECT_TRUE(TryOpenEngine().IsIOError());
  engine_ = nullptr;
  ASSERT_TRUE(first->CreateNewBackup(db()).ok());
  Put("b", "2");
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=2");
  EXPECT_TRUE(first->RestoreDBFromBackup(1, "/restored", "/restored").ok());
  EXPECT_TRUE(Exists("/restored/CURRENT"));
  const IOStatus s = first->RestoreDBFromBackup(1, kName, kName);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
}

TEST_F(BackupEngineTest, ABackupThatIsNotThereIsNotFound) {
  Open();
  OpenEngine();
  BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(1, &info).IsNotFound());
  EXPECT_TRUE(engine_->GetLatestBackupInfo(&info).IsNotFound());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsNotFound());
  EXPECT_TRUE(engine_->DeleteBackup(1).IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/restored", "").IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup("/restored", "").IsNotFound());
  EXPECT_FALSE(Exists("/restored"));
  Create();
  EXPECT_TRUE(engine_->GetLatestBackupInfo(&info).ok());
  EXPECT_EQ(info.backup_id, 1u);
  EXPECT_TRUE(engine_->GetBackupInfo(2, &info).IsNotFound());
}

TEST_F(BackupEngineTest, OneEngineWrites) {
  Open();
  OpenEngine();
  BackupEngine* second = nullptr;
  IOStatus s = BackupEngine::Open(backup_options_, options_.env, &second);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_EQ(second, nullptr);
  BackupEngineReadOnly* reader = nullptr;
  s = BackupEngineReadOnly::Open(backup_options_, options_.env, &reader);
  EXPECT_TRUE(s.ok()) << s.ToString();
  delete reader;
  engine_.reset();
  s = BackupEngine::Open(options_.env, backup_options_, &second);  // the other order of arguments
  EXPECT_TRUE(s.ok()) << s.ToString();
  delete second;
}

TEST_F(BackupEngineTest, DeletionTakesWhatNoOtherHas) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  MakeTable({"b"});
  Create();
  ASSERT_EQ(Entries("/backups/shared_checksum").size(), 2u);
  EXPECT_TRUE(engine_->DeleteBackup(1).ok());
  EXPECT_EQ(Entries("/backups/shared_checksum").size(), 2u);
  EXPECT_THAT(Entries("/backups/private"), ElementsAre("2"));
  EXPECT_EQ(Create(), 3u);
  EXPECT_TRUE(engine_->DeleteBackup(3).ok());
  EXPECT_TRUE(engine_->VerifyBackup(2, true).ok());
  EXPECT_TRUE(engine_->DeleteBackup(2).ok());
  EXPECT_THAT(Entries("/backups/shared_checksum"), IsEmpty());
  EXPECT_THAT(Entries("/backups/private"), IsEmpty());
  EXPECT_THAT(Entries("/backups/meta"), IsEmpty());
  EXPECT_EQ(Create(), 4u);
}

TEST_F(BackupEngineTest, PurgeKeepsTheNewest) {
  Open();
  OpenEngine();
  for (int i = 0; i < 5; i++) {
    MakeTable({"k" + std::to_string(i)});
    Create();
  }
  EXPECT_TRUE(engine_->PurgeOldBackups(2).ok());
  EXPECT_THAT(Ids(), ElementsAre(4u, 5u));
  EXPECT_TRUE(engine_->PurgeOldBackups(0).ok());
  EXPECT_THAT(Entries("/backups/shared_checksum"), IsEmpty());
}

TEST_F(BackupEngineTest, GarbageGoesAndWhatIsNotUnderstoodStays) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  MakeTable({"b"});
  Create();
  engine_.reset();
  const std::string list = ReadFile("/backups/meta/2");
  WriteFile("/backups/meta/2", "schema_version 9\n");
  WriteFile("/backups/meta/.3.tmp", "half");
  WriteFile("/backups/shared_checksum/.000099_sX_1.sst.tmp", "half");
  WriteFile("/backups/shared_checksum/000098_sABC_4.sst", "nobo");
  ASSERT_TRUE(mem().CreateDir("/backups/private/9", IOOptions(), nullptr).ok());
  WriteFile("/backups/private/9/CURRENT", "x");
  OpenEngine();
  EXPECT_THAT(Ids(), ElementsAre(1u));
  EXPECT_THAT(BadIds(), ElementsAre(2u));
  BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(2, &info).IsNotSupported());
  ASSERT_TRUE(engine_->GarbageCollect().ok());
  EXPECT_THAT(Entries("/backups/meta"), ElementsAre("1", "2"));
  EXPECT_THAT(Entries("/backups/private"), ElementsAre("1", "2"));
  // Files that no readable list names may be the second backup's.
  EXPECT_EQ(Entries("/backups/shared_checksum").size(), 3u);
  engine_.reset();
  WriteFile("/backups/meta/2", list);
  OpenEngine();
  EXPECT_TRUE(engine_->VerifyBackup(2, true).ok());
  ASSERT_TRUE(engine_->GarbageCollect().ok());
  EXPECT_EQ(Entries("/backups/shared_checksum").size(), 2u);
  EXPECT_EQ(RestoredContent(2), "a=of a b=of b");
}

TEST_F(BackupEngineTest, DeletionSparesTheTablesOfABackupThatIsNotUnderstood) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  for (BackupID id = 1; id <= 3; id++) Create();
  engine_.reset();
  const std::string list = ReadFile("/backups/meta/1");
  WriteFile("/backups/meta/1", "schema_version 9\n");
  OpenEngine();
  EXPECT_TRUE(engine_->DeleteBackup(2).ok());
  EXPECT_TRUE(engine_->PurgeOldBackups(0).ok());
  EXPECT_THAT(Entries("/backups/private"), ElementsAre("1"));
  EXPECT_EQ(Entries("/backups/shared_checksum").size(), 1u);
  engine_.reset();
  WriteFile("/backups/meta/1", list);
  OpenEngine();
  EXPECT_TRUE(engine_->VerifyBackup(1, true).ok());
  EXPECT_EQ(RestoredContent(1), "a=of a");

  // Nothing needs the table once that backup is deleted.
  engine_.reset();
  WriteFile("/backups/meta/1", "schema_version 9\n");
  OpenEngine();
  EXPECT_TRUE(engine_->DeleteBackup(1).ok());
  EXPECT_TRUE(engine_->PurgeOldBackups(0).ok());
  EXPECT_THAT(Entries("/backups/shared_checksum"), IsEmpty());
}

// File systems without locks let another engine write at the same time.
TEST_F(BackupEngineTest, ABackupThatNobodyKnewGetsAnIdOfItsOwn) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  std::string list = ReadFile("/backups/meta/1");
  for (size_t at = 0; (at = list.find("private/1/")) != std::string::npos;) list[at + 8] = '2';
  ASSERT_TRUE(mem().CreateDir("/backups/private/2", IOOptions(), nullptr).ok());
  for (const std::string& name : Entries("/backups/private/1")) {
    WriteFile("/backups/private/2/" + name, ReadFile("/backups/private/1/" + name));
  }
  WriteFile("/backups/meta/2", list);
  EXPECT_EQ(Create(), 3u);
  EXPECT_THAT(Ids(), ElementsAre(1u, 2u, 3u));
  for (const BackupID id : {1u, 2u, 3u}) EXPECT_TRUE(engine_->VerifyBackup(id, true).ok()) << id;
}

TEST_F(BackupEngineTest, ABackupThatLacksAFileIsNotValid) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  const std::string table = "/backups/shared_checksum/" + Entries("/backups/shared_checksum")[0];
  const std::string bytes = ReadFile(table);
  ASSERT_TRUE(mem().DeleteFile(table, IOOptions(), nullptr).ok());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsNotFound());
  OpenEngine();
  EXPECT_THAT(BadIds(), ElementsAre(1u));
  const IOStatus s = engine_->RestoreDBFromBackup(1, "/restored", "");
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  // The next backup has the table again.
  EXPECT_EQ(Create(), 2u);
  EXPECT_EQ(ReadFile(table), bytes);
  EXPECT_TRUE(engine_->DeleteBackup(1).ok());
  EXPECT_TRUE(engine_->VerifyBackup(2, true).ok());
  EXPECT_THAT(BadIds(), IsEmpty());
}

// The table is whole, but no valid backup says so once the second one is deleted.
TEST_F(BackupEngineTest, AFileThatOnlyAnInvalidBackupListsIsNotUsable) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  Create();
  ASSERT_TRUE(mem().DeleteFile("/backups/private/1/CURRENT", IOOptions(), nullptr).ok());
  BackupCatalog catalog(&mem(), kBackups);
  ASSERT_TRUE(catalog.Load().ok());
  ASSERT_TRUE(catalog.invalid().contains(1));
  std::shared_ptr<const BackupMeta> second;
  ASSERT_TRUE(catalog.Find(2, &second).ok());
  const std::string table = "shared_checksum/" + Entries("/backups/shared_checksum")[0];
  EXPECT_TRUE(catalog.shared().at(table).usable());
  catalog.Remove(2);
  EXPECT_EQ(catalog.shared().at(table).backups, 1u);
  EXPECT_FALSE(catalog.shared().at(table).usable());
  catalog.Add(second);
  EXPECT_TRUE(catalog.shared().at(table).usable());
  catalog.Remove(1);
  EXPECT_TRUE(catalog.shared().at(table).usable());
}

TEST_F(BackupEngineTest, VerificationFindsRot) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  const std::string table = "/backups/shared_checksum/" + Entries("/backups/shared_checksum")[0];
  std::string bytes = ReadFile(table);
  bytes[bytes.size() / 2] ^= 1;
  WriteFile(table, bytes);
  EXPECT_TRUE(engine_->VerifyBackup(1).ok());
  IOStatus s = engine_->VerifyBackup(1, true);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(table));
  WriteFile(table, bytes + "x");
  s = engine_->VerifyBackup(1);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(BackupEngineTest, AWholeFileThatNoListNamesIsCopiedAnew) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  const std::string table = "/backups/shared_checksum/" + Entries("/backups/shared_checksum")[0];
  const std::string bytes = ReadFile(table);
  ASSERT_TRUE(engine_->DeleteBackup(1).ok());
  WriteFile(table, std::string(bytes.size(), 'x'));
  Create();
  EXPECT_EQ(ReadFile(table), bytes);
}

TEST_F(BackupEngineTest, ChecksumsOfTheManifestAreCompared) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  OpenEngine();
  MakeTable({"a"});
  const std::string table = std::string(kName) + "/" + Files(kTableFile)[0];
  const std::string bytes = ReadFile(table);
  std::string rotten = bytes;
  rotten[rotten.size() / 2] ^= 1;
  // The file is changed in place, as rot does: the database has it open.
  std::unique_ptr<FSRandomRWFile> file;
  ASSERT_TRUE(mem().NewRandomRWFile(table, FileOptions(), &file, nullptr).ok());
  ASSERT_TRUE(file->Write(0, rotten, IOOptions(), nullptr).ok());
  const IOStatus s = engine_->CreateNewBackup(db());
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_THAT(Entries("/backups/shared_checksum"), IsEmpty());
  ASSERT_TRUE(file->Write(0, bytes, IOOptions(), nullptr).ok());
  Create();
}

TEST_F(BackupEngineTest, CallbacksAreCalledAndMayThrow) {
  backup_options_.callback_trigger_interval_size = 1;
  Open();
  OpenEngine();
  MakeTable({"a"});
  std::atomic<int> calls{0};
  CreateBackupOptions options;
  options.progress_callback = [&] { calls++; };
  Create(options);
  EXPECT_GE(calls, 4);
  MakeTable({"b"});
  options.progress_callback = [] { throw std::runtime_error("enough"); };
  const IOStatus s = engine_->CreateNewBackup(options, db());
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  EXPECT_THAT(Ids(), ElementsAre(1u));
  EXPECT_THAT(Entries("/backups/private"), ElementsAre("1"));
  EXPECT_EQ(Create(), 2u);
}

// They would wait for the call that they are made in.
TEST_F(BackupEngineTest, CallsOfTheEngineInItsCallbacksAreRefused) {
  backup_options_.callback_trigger_interval_size = 1;
  backup_options_.max_background_operations = 2;
  backup_options_.schema_version = 2;
  Open();
  OpenEngine();
  MakeTable({"a"});
  MakeTable({"b"});
  std::atomic<int> refused{0};
  const auto ask = [&] {
    BackupInfo info;
    const Status all[] = {
        engine_->CreateNewBackup(db()),
        engine_->DeleteBackup(1),
        engine_->PurgeOldBackups(1),
        engine_->GarbageCollect(),
        engine_->VerifyBackup(1),
        engine_->GetBackupInfo(1, &info),
        engine_->GetLatestBackupInfo(&info),
        engine_->RestoreDBFromLatestBackup("/else", "/else"),
        engine_->RestoreDBFromBackup(1, "/else", "/else"),
    };
    for (const Status& s : all) {
      EXPECT_TRUE(s.IsBusy()) << s.ToString();
      EXPECT_THAT(s.ToString(), HasSubstr("_callback"));
    }
    std::vector<BackupID> ids;
    EXPECT_ANY_THROW(engine_->GetCorruptedBackups(&ids));
    refused++;
  };
  CreateBackupOptions options;
  options.progress_callback = ask;
  options.exclude_files_callback = [&](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) { ask(); };
  Create(options);
  EXPECT_GE(refused, 6);
  EXPECT_THAT(Ids(), ElementsAre(1u));
}

// Restores from another engine that would read from the one whose call it is made in.
TEST_F(BackupEngineTest, ARestoreFromAnEngineInItsCallbacksIsRefused) {
  backup_options_.callback_trigger_interval_size = 1;
  Open();
  MakeTable({"a"});
  OpenEngine();
  Create();
  const std::unique_ptr<BackupEngine> other = std::move(engine_);
  backup_options_.backup_dir = "/second";
  OpenEngine();
  RestoreOptions from_both;
  from_both.alternate_dirs.push_front(engine_.get());
  int refused = 0;
  CreateBackupOptions options;
  options.progress_callback = [&] {
    const IOStatus s = other->RestoreDBFromLatestBackup(from_both, "/else", "/else");
    EXPECT_TRUE(s.IsBusy()) << s.ToString();
    EXPECT_FALSE(Exists("/else"));
    refused++;
  };
  Create(options);
  EXPECT_GE(refused, 1);
  const IOStatus s = other->RestoreDBFromLatestBackup(from_both, "/else", "/else");
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// Listeners are told when no lock is held any more.
TEST_F(BackupEngineTest, ListenersMayCallTheEngine) {
  class Asking final : public EventListener {
   public:
    void OnDataMoved(DB*, const DataMoveInfo& info) override {
      moves.push_back(info);
      BackupInfo found;
      const Status s = engine->GetLatestBackupInfo(&found);
      EXPECT_TRUE(s.ok()) << s.ToString();
      EXPECT_TRUE(engine->GarbageCollect().ok());
    }
    BackupEngine* engine = nullptr;
    std::vector<DataMoveInfo> moves;
  };
  const auto listener = std::make_shared<Asking>();
  options_.listeners.push_back(listener);
  backup_options_.listeners.push_back(listener);
  Open();
  OpenEngine();
  listener->engine = engine_.get();
  MakeTable({"a"});
  Create();
  ASSERT_TRUE(engine_->RestoreDBFromLatestBackup("/else", "/else").ok());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(9, "/else", "/else").IsNotFound());
  ASSERT_EQ(listener->moves.size(), 3u);
  EXPECT_EQ(listener->moves[0].kind, DataMoveInfo::Kind::kBackup);
  EXPECT_EQ(listener->moves[1].kind, DataMoveInfo::Kind::kRestore);
  EXPECT_EQ(listener->moves[1].path, "/else");
  EXPECT_TRUE(listener->moves[1].status.ok());
  EXPECT_GT(listener->moves[1].bytes_copied, 0u);
  EXPECT_TRUE(listener->moves[2].status.IsNotFound());
}

TEST_F(BackupEngineTest, StopIsForEver) {
  backup_options_.callback_trigger_interval_size = 1;
  Open();
  OpenEngine();
  MakeTable({"a"});
  CreateBackupOptions options;
  options.progress_callback = [&] { engine_->StopBackup(); };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db()).IsIncomplete());
  EXPECT_TRUE(engine_->CreateNewBackup(db()).IsIncomplete());
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_THAT(Entries("/backups/private"), IsEmpty());
  OpenEngine();
  EXPECT_EQ(Create(), 1u);
}

TEST_F(BackupEngineTest, LimitsThreadsAndPrioritiesAreUsed) {
  options_.statistics = CreateDBStatistics();
  backup_options_.max_background_operations = 3;
  backup_options_.backup_rate_limiter.reset(NewGenericRateLimiter(int64_t{1} << 40));
  backup_options_.restore_rate_limit = uint64_t{1} << 40;
  Open();
  OpenEngine();
  for (int i = 0; i < 10; i++) MakeTable({"k" + std::to_string(i)});
  const std::string content = Scan();
  CreateBackupOptions options;
  options.decrease_background_thread_cpu_priority = true;
  options.background_thread_cpu_priority = CpuPriority::kLow;
  Create(options);
  BackupInfo info;
  ASSERT_TRUE(engine_->GetLatestBackupInfo(&info).ok());
  EXPECT_EQ(backup_options_.backup_rate_limiter->GetTotalBytesThrough(),
            static_cast<int64_t>(info.size));
  EXPECT_EQ(options_.statistics->getTickerCount(BACKUP_WRITE_BYTES), info.size);
  EXPECT_GT(options_.statistics->getTickerCount(BACKUP_READ_BYTES), 0u);
  EXPECT_EQ(RestoredContent(1), content);
}

TEST_F(BackupEngineTest, ReadersReadAndChangeNothing) {
  BackupEngineReadOnly* made = nullptr;
  EXPECT_TRUE(BackupEngineReadOnly::Open(backup_options_, options_.env, &made).IsNotFound());
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  Create();
  backup_options_.destroy_old_data = true;
  EXPECT_TRUE(BackupEngineReadOnly::Open(backup_options_, options_.env, &made).IsInvalidArgument());
  backup_options_.destroy_old_data = false;
  backup_options_.max_valid_backups_to_open = 1;
  const uint64_t calls = mem().call_count();
  ASSERT_TRUE(BackupEngineReadOnly::Open(backup_options_, options_.env, &made).ok());
  const std::unique_ptr<BackupEngineReadOnly> reader(made);
  std::vector<BackupInfo> infos;
  reader->GetBackupInfo(&infos, true);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0].backup_id, 2u);
  EXPECT_EQ(infos[0].file_details.size(), infos[0].number_files);
  EXPECT_TRUE(reader->VerifyBackup(2, true).ok());
  EXPECT_EQ(reader->AsBackupEngine(), nullptr);
  EXPECT_EQ(mem().call_count(), calls);
  EXPECT_EQ(engine_->AsBackupEngine(), engine_.get());

  // The backup opens where it is.
  ASSERT_TRUE(Close().ok());
  Options options;
  options.env = infos[0].env_for_open.get();
  options.info_log = testing::SilentLogger();
  DB* opened = nullptr;
  Status s = DB::OpenForReadOnly(options, infos[0].name_for_open, &opened);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::string value;
  EXPECT_TRUE(opened->Get(ReadOptions(), "a", &value).ok());
  EXPECT_EQ(value, "of a");
  delete opened;
  s = DB::Open(options, infos[0].name_for_open, &opened);
  EXPECT_FALSE(s.ok());
  EXPECT_TRUE(engine_->VerifyBackup(2, true).ok());
}

TEST_F(BackupEngineTest, OldDataGoesWhenAsked) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  backup_options_.destroy_old_data = true;
  OpenEngine();
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_THAT(Entries("/backups/shared_checksum"), IsEmpty());
  EXPECT_EQ(Create(), 1u);
}

TEST_F(BackupEngineTest, BackupsRunBesideWriters) {
  options_.write_buffer_size = 64 << 10;
  Open();
  OpenEngine();
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; !stop; i++) {
      ASSERT_TRUE(
          db()->Put(WriteOptions(), "k" + std::to_string(1'000'000 + i), std::string(100, 'v'))
              .ok());
      written = i + 1;
    }
  });
  std::vector<int> at_least;
  for (int i = 0; i < 8; i++) {
    at_least.push_back(written);
    EXPECT_EQ(Create(), static_cast<BackupID>(i + 1));
  }
  stop = true;
  writer.join();
  ASSERT_TRUE(Close().ok());
  for (BackupID id = 1; id <= 8; id++) {
    const IOStatus s = engine_->RestoreDBFromBackup(id, kName, "");
    ASSERT_TRUE(s.ok()) << s.ToString();
    options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
    Open();
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), count++) {
      ASSERT_EQ(it->key().ToString(), "k" + std::to_string(1'000'000 + count));
    }
    EXPECT_GE(count, at_least[id - 1]);
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(BackupEngineTest, AFullDiskLeavesNoBackup) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  for (int i = 0; i < 5; i++) MakeTable({"k" + std::to_string(i)});
  faults().SetByteQuota(2000);
  const IOStatus s = engine_->CreateNewBackup(db());
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  faults().ReleaseQuota();
  EXPECT_THAT(Ids(), ElementsAre(1u));
  EXPECT_THAT(Entries("/backups/private"), ElementsAre("1"));
  EXPECT_EQ(Entries("/backups/shared_checksum").size(), 1u);
  EXPECT_EQ(Create(), 2u);
  EXPECT_TRUE(engine_->VerifyBackup(2, true).ok());
}

TEST_F(BackupEngineTest, StatisticsCount) {
  BackupStatistics statistics(1, 2);
  statistics.IncrementNumberSuccessBackup();
  statistics.IncrementNumberFailBackup();
  EXPECT_EQ(statistics.GetNumberSuccessBackup(), 2u);
  EXPECT_EQ(statistics.GetNumberFailBackup(), 3u);
  EXPECT_EQ(statistics.ToString(), "# success backup: 2, # fail backup: 3");
}

}  // namespace
}  // namespace varve
