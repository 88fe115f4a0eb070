// SPDX-License-Identifier: Apache-2.0

// Goal: a database keeps the directories that it opened, wherever the process goes afterwards, and
// takes long paths. Method: relative names on the file system of the operating system, and chdir to
// a place with a database of the same name.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/utilities/repair.h"

namespace varve::testing {
namespace {

class PathsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ + "/here");
    std::filesystem::create_directories(root_ + "/there");
    options_.create_if_missing = true;
  }
  void TearDown() override {
    ASSERT_EQ(::chdir(before_.c_str()), 0);
    std::filesystem::remove_all(root_);
  }

  void Go(const char* where) { ASSERT_EQ(::chdir((root_ + "/" + where).c_str()), 0); }
  std::unique_ptr<DB> Open(const std::string& name) {
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options_, name, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return db;
  }
  // Names of all files below a directory, with their sizes.
  std::string Files(const char* where) {
    std::map<std::string, uint64_t> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ + "/" + where)) {
      if (entry.is_regular_file()) files[entry.path()] = entry.file_size();
    }
    std::string text;
    for (const auto& [path, size] : files) text += path + " " + std::to_string(size) + "\n";
    return text;
  }

  const std::string before_ = std::filesystem::current_path();
  const std::string root_ = "/tmp/varve_paths_test-" + std::to_string(::getpid());
  Options options_;
};

TEST_F(PathsTest, ADatabaseKeepsTheDirectoriesThatItOpened) {
  options_.wal_dir = "logs";
  options_.db_log_dir = "texts";
  options_.max_log_file_size = 1000;
  Go("there");
  {
    const std::unique_ptr<DB> db = Open("db");
    ASSERT_TRUE(db->Put(WriteOptions(), "k", "there").ok());
  }
  const std::string there = Files("there");
  Go("here");
  std::unique_ptr<DB> db = Open("db");
  EXPECT_EQ(db->GetName(), "db");
  EXPECT_EQ(db->GetDBOptions().wal_dir, "logs");
  Go("there");
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(db->Put(WriteOptions(), "k", "here").ok());
    ASSERT_TRUE(db->Put(WriteOptions(), std::to_string(i), "v").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }
  ASSERT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(db->SetOptions({{"write_buffer_size", "1M"}}).ok());
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options_, "f", &family).ok());
  ASSERT_TRUE(db->DropColumnFamily(family).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "logged", "here").ok());
  ASSERT_TRUE(db->Close().ok());
  db.reset();
  EXPECT_EQ(Files("there"), there);
  std::string value;
  db = Open("db");
  EXPECT_TRUE(db->Get(ReadOptions(), "k", &value).ok());
  EXPECT_EQ(value, "there");
  db.reset();
  Go("here");
  db = Open("db");
  EXPECT_TRUE(db->Get(ReadOptions(), "k", &value).ok());
  EXPECT_EQ(value, "here");
  EXPECT_TRUE(db->Get(ReadOptions(), "logged", &value).ok());
}

// Two spellings of one directory.
TEST_F(PathsTest, TheLogsMayLieInTheDatabasesDirectoryByAnotherName) {
  Go("here");
  options_.wal_dir = root_ + "/here/db";
  ASSERT_TRUE(Open("db")->Put(WriteOptions(), "k", "v").ok());
  std::string value;
  EXPECT_TRUE(Open("db")->Get(ReadOptions(), "k", &value).ok());
  ASSERT_TRUE(RepairDB("db", options_).ok());
  ASSERT_TRUE(DestroyDB("db", options_).ok());
  EXPECT_FALSE(std::filesystem::exists(root_ + "/here/db"));
}

// The directory has another name by a link, and its own name is among those of tables.
TEST_F(PathsTest, ARepairFindsTablesByWhicheverNameTheirDirectoryHas) {
  Go("here");
  std::filesystem::create_directories(root_ + "/here/db");
  std::filesystem::create_directory_symlink(root_ + "/here/db", root_ + "/here/link");
  options_.db_paths = {{root_ + "/here/db", uint64_t{1} << 40}, {"more", uint64_t{1} << 40}};
  {
    const std::unique_ptr<DB> db = Open("link");
    ASSERT_TRUE(db->Put(WriteOptions(), "k", "v").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }
  for (const bool healthy : {true, false}) {
    if (!healthy) std::filesystem::remove(root_ + "/here/db/CURRENT");
    const ColumnFamilyOptions families(options_);
    RepairReport report;
    const Status s = RepairDB("link", options_, {}, &families, RepairOptions(), &report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(report.healthy, healthy) << report.ToString();
    std::string value;
    EXPECT_TRUE(Open("link")->Get(ReadOptions(), "k", &value).ok());
  }
}

TEST_F(PathsTest, AManifestThatLostItsEndIsNoticedByWhicheverNameTheDirectoryHas) {
  Go("here");
  std::filesystem::create_directories("db");
  std::filesystem::create_directory_symlink(root_ + "/here/db", "link");
  options_.db_paths = {{root_ + "/here/db", uint64_t{1} << 40}};
  std::string manifest;
  {
    const std::unique_ptr<DB> db = Open("link");
    ASSERT_TRUE(db->Put(WriteOptions(), "k", "old").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    std::getline(std::ifstream("db/CURRENT"), manifest);
    std::filesystem::copy("db/" + manifest, "older");
    ASSERT_TRUE(db->Put(WriteOptions(), "k", "new").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }
  std::filesystem::rename("older", "db/" + manifest);
  std::filesystem::remove("db/1.dbtmp");  // where its length is
  for (const auto& entry : std::filesystem::directory_iterator("db")) {
    if (entry.path().extension() == ".log") std::filesystem::remove(entry.path());
  }
  for (const char* name : {"db", "link"}) {
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options_, name, &db);
    EXPECT_TRUE(s.IsCorruption()) << name << ": " << s.ToString();
  }
}

// Its path is too long for the name of a file.
TEST_F(PathsTest, ALongPathHasItsLogElsewhere) {
  const std::string deep = root_ + "/" + std::string(120, 'd') + "/" + std::string(120, 'e');
  std::filesystem::create_directories(deep);
  options_.db_log_dir = root_ + "/texts";
  options_.max_log_file_size = 1000;
  for (const char* name : {"/a", "/b"}) {
    for (int i = 0; i < 3; i++) {
      const std::unique_ptr<DB> db = Open(deep + name);
      ASSERT_TRUE(db->Put(WriteOptions(), "k", "v").ok());
    }
  }
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root_ + "/texts")) {
    const std::string file = entry.path().filename();
    if (file.ends_with("_LOG")) logs++;
    EXPECT_NE(file.find("_LOG"), std::string::npos);
  }
  EXPECT_EQ(logs, 2) << "each has its own";
}

}  // namespace
}  // namespace varve::testing
