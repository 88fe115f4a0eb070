// SPDX-License-Identifier: Apache-2.0

// Goal: backups of either engine are verified, restored and added to by the other. Method: a
// database that is backed up by both in turn, into one directory, under every naming and schema;
// every backup is then restored by both, and what it holds compared.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/utilities/backup_engine.h"

#include "tests/harness/environment.h"
#include "tests/interop/programs.h"

namespace varve::testing {
namespace {

namespace fs = std::filesystem;

class BackupInteropTest : public ::testing::Test {
 protected:
  BackupInteropTest()
      : root_(fs::temp_directory_path() / ("varve_backup_interop_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~BackupInteropTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return root_ / name; }

  void RunTheirs(const std::string& arguments) {
    int exit_code = 0;
    const std::string output =
        RunProgram(std::string(ROCKSDB_BACKUP_DRIVER) + " " + arguments, &exit_code);
    EXPECT_EQ(exit_code, 0) << arguments << ": " << output;
  }

  std::unique_ptr<DB> OpenDatabase(const std::string& name) {
    Options options;
    options.create_if_missing = true;
    DB* db = nullptr;
    const Status s = DB::Open(options, Path(name), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return std::unique_ptr<DB>(db);
  }
  std::string Content(const std::string& name) {
    const std::unique_ptr<DB> db = OpenDatabase(name);
    std::string text;
    if (db == nullptr) return "(not opened)";
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    EXPECT_TRUE(it->status().ok());
    return text;
  }
  // Adds a table with one key, and one key in the log.
  void Grow(int round) {
    const std::unique_ptr<DB> db = OpenDatabase("db");
    const std::string key = "k" + std::to_string(round);
    ASSERT_TRUE(db->Put(WriteOptions(), key, "in a table").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    ASSERT_TRUE(db->Put(WriteOptions(), key + "l", "in the log").ok());
  }

  const fs::path root_;
};

TEST_F(BackupInteropTest, BothEnginesUseOneDirectory) {
  const uint32_t sized = BackupEngineOptions::kUseDbSessionId |
                         static_cast<uint32_t>(BackupEngineOptions::kFlagIncludeFileSize);
  uint64_t run = 0;
  for (const int schema : {1, 2}) {
    for (const uint32_t naming : {sized, uint32_t{BackupEngineOptions::kUseDbSessionId},
                                  uint32_t{BackupEngineOptions::kLegacyCrc32cAndFileSize}}) {
      SCOPED_TRACE("schema " + std::to_string(schema) + ", naming " + std::to_string(naming));
      if (++run % SampleStep() != FirstSample()) continue;
      fs::remove_all(root_ / "db");
      fs::remove_all(root_ / "backups");
      BackupEngineOptions options(Path("backups"));
      options.schema_version = schema;
      options.share_files_with_checksum_naming =
          static_cast<BackupEngineOptions::ShareFilesNaming>(naming);
      std::vector<std::string> contents = {""};
      for (int round = 1; round <= 4; round++) {
        Grow(round);
        contents.push_back(Content("db"));
        if (round % 2 == 0) {
          RunTheirs("create " + Path("backups") + " " + std::to_string(schema) + " " +
                    std::to_string(naming) + " " + Path("db"));
          continue;
        }
        BackupEngine* engine = nullptr;
        ASSERT_TRUE(BackupEngine::Open(options, Env::Default(), &engine).ok());
        const std::unique_ptr<BackupEngine> owner(engine);
        const std::unique_ptr<DB> db = OpenDatabase("db");
        const IOStatus s = engine->CreateNewBackup(db.get());
        ASSERT_TRUE(s.ok()) << s.ToString();
      }
      BackupEngineReadOnly* reader = nullptr;
      ASSERT_TRUE(BackupEngineReadOnly::Open(options, Env::Default(), &reader).ok());
      const std::unique_ptr<BackupEngineReadOnly> owner(reader);
      std::vector<BackupID> bad;
      reader->GetCorruptedBackups(&bad);
      EXPECT_TRUE(bad.empty());
      for (int id = 1; id <= 4; id++) {
        const std::string number = std::to_string(id);
        IOStatus s = reader->VerifyBackup(static_cast<BackupID>(id), true);
        EXPECT_TRUE(s.ok()) << s.ToString();
        s = reader->RestoreDBFromBackup(static_cast<BackupID>(id), Path("restored"), "");
        EXPECT_TRUE(s.ok()) << s.ToString();
        EXPECT_EQ(Content("restored"), contents[static_cast<size_t>(id)]);
        RunTheirs("verify " + Path("backups") + " " + number);
        fs::remove_all(root_ / "theirs");
        RunTheirs("restore " + Path("backups") + " " + number + " " + Path("theirs"));
        EXPECT_EQ(Content("theirs"), contents[static_cast<size_t>(id)]);
      }
      // A table that both engines have backed up exists once.
      EXPECT_EQ(FilesNamed(Path("backups") + "/shared_checksum", ".sst").size(),
                FilesNamed(Path("db"), ".sst").size());
    }
  }
}

TEST_F(BackupInteropTest, TheirToolRestoresOurs) {
  if (!ProgramExists("ldb")) GTEST_SKIP() << "ldb is not here";
  Grow(1);
  const std::string content = Content("db");
  BackupEngine* engine = nullptr;
  ASSERT_TRUE(
      BackupEngine::Open(BackupEngineOptions(Path("backups")), Env::Default(), &engine).ok());
  std::unique_ptr<BackupEngine> owner(engine);
  {
    const std::unique_ptr<DB> db = OpenDatabase("db");
    ASSERT_TRUE(engine->CreateNewBackup(db.get()).ok());
  }
  int exit_code = 0;
  const std::string output = RunProgram(
      "ldb restore --db=" + Path("theirs") + " --backup_dir=" + Path("backups"), &exit_code);
  EXPECT_EQ(exit_code, 0) << output;
  EXPECT_EQ(Content("theirs"), content);
}

}  // namespace
}  // namespace varve::testing
