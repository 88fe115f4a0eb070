// SPDX-License-Identifier: Apache-2.0
//
// Names of database files, in both directions.

#include "util/env/file_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve {
namespace {

struct Accepted {
  const char* name;
  uint64_t number;
  FileType type;
};

const Accepted kAccepted[] = {
    {"CURRENT", 0, kCurrentFile},
    {"LOCK", 0, kDBLockFile},
    {"IDENTITY", 0, kIdentityFile},
    {"LOG", 0, kInfoLogFile},
    {"LOG.old.1700000000000000", 1700000000000000, kInfoLogFile},
    {"MANIFEST-000005", 5, kDescriptorFile},
    {"MANIFEST-7", 7, kDescriptorFile},
    {"OPTIONS-000009", 9, kOptionsFile},
    {"OPTIONS-000009.dbtmp", 9, kTempFile},
    {"000012.log", 12, kWalFile},
    {"12.log", 12, kWalFile},
    {"000013.sst", 13, kTableFile},
    {"000013.ldb", 13, kTableFile},
    {"1234567890123.sst", 1234567890123, kTableFile},
    {"000014.blob", 14, kBlobFile},
    {"000000.dbtmp", 0, kTempFile},
    {"18446744073709551615.sst", 18446744073709551615u, kTableFile},
    {"METADB-3", 3, kMetaDatabase},
    {"COMPACTION_PROGRESS-17", 17, kCompactionProgressFile},
};

TEST(FileNamesTest, NamesOfTheGrammarAreTakenApart) {
  for (const Accepted& c : kAccepted) {
    SCOPED_TRACE(c.name);
    uint64_t number = 99;
    FileType type = kTempFile;
    ASSERT_TRUE(ParseFileName(c.name, &number, &type));
    EXPECT_EQ(number, c.number);
    EXPECT_EQ(type, c.type);
  }
}

TEST(FileNamesTest, EverythingElseIsLeftAlone) {
  std::string long_name(100000, '9');
  long_name += ".sst";
  const std::vector<std::string> refused = {
      "",
      ".",
      "..",
      "foo",
      "foo-dx-100.log",
      ".log",
      ".sst",
      "log",
      "100",
      "100.",
      "100.lop",
      "100.log.trash",
      "-1.sst",
      "+1.sst",
      " 1.sst",
      "1 .sst",
      "0x10.sst",
      "1.sst ",
      "CURRENT2",
      "CURREN",
      "current",
      "LOCKED",
      "LOGX",
      "LOG.old",
      "LOG.old.",
      "LOG.old.x",
      "LOG.old.-5",
      "MANIFEST",
      "MANIFEST-",
      "MANIFEST-x",
      "MANIFEST-3x",
      "MANIFEST--3",
      "XMANIFEST-3",
      "OPTIONS-",
      "OPTIONS-5.tmp",
      "OPTIONS-.dbtmp",
      "18446744073709551616.log",
      "184467440737095516150.log",
      "MANIFEST-18446744073709551616",
      "../000001.sst",
      "archive/000001.log",
      "/000001.sst",
      std::string("000001\0.sst", 11),
      std::string("000001.sst\0", 11),
      std::string("CURRENT\0", 8),
      "000001.SST",
      long_name,
      "\xff\xfe.sst",
  };
  for (const std::string& name : refused) {
    SCOPED_TRACE(name.substr(0, 60));
    uint64_t number = 0;
    FileType type = kTempFile;
    EXPECT_FALSE(ParseFileName(name, &number, &type));
  }
}

TEST(FileNamesTest, TablesThatWaitForTheirDeletionAreTemporary) {
  for (const std::string& name : {std::string("100.sst"), std::string("100.ldb")}) {
    uint64_t number = 0;
    FileType type = kTableFile;
    ASSERT_TRUE(ParseFileName(name + kTrashSuffix, &number, &type));
    EXPECT_EQ(number, 100u);
    EXPECT_EQ(type, kTempFile);
  }
}

TEST(FileNamesTest, WhatIsComposedIsParsedBack) {
  using Compose = std::string (*)(const std::string&, uint64_t);
  const struct {
    Compose compose;
    FileType type;
    const char* example;
  } kCases[] = {
      {LogFileName, kWalFile, "db/000042.log"},
      {TableFileName, kTableFile, "db/000042.sst"},
      {LevelDbTableFileName, kTableFile, "db/000042.ldb"},
      {DescriptorFileName, kDescriptorFile, "db/MANIFEST-000042"},
      {TempFileName, kTempFile, "db/000042.dbtmp"},
      {OptionsFileName, kOptionsFile, "db/OPTIONS-000042"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.example);
    EXPECT_EQ(c.compose("db", 42), c.example);
    for (const uint64_t n : {uint64_t{0}, uint64_t{999999}, uint64_t{1000000}, ~uint64_t{0}}) {
      uint64_t number = 1;
      FileType type = kCurrentFile;
      ASSERT_TRUE(ParseFileName(c.compose("db", n).substr(3), &number, &type));
      EXPECT_EQ(number, n);
      EXPECT_EQ(type, c.type);
    }
  }
  EXPECT_EQ(CurrentFileName("db"), "db/CURRENT");
  EXPECT_EQ(LockFileName("db"), "db/LOCK");
  EXPECT_EQ(IdentityFileName("db"), "db/IDENTITY");
  EXPECT_EQ(ArchivalDirectory("db"), "db/archive");
}

TEST(FileNamesTest, LogsInACommonDirectoryCarryTheDatabasesPath) {
  EXPECT_EQ(InfoLogFileName("/data/db 1"), "/data/db 1/LOG");
  EXPECT_EQ(InfoLogFileName("/data/db 1", "/data/db 1", "/logs"), "/logs/data_db_1_LOG");
  EXPECT_EQ(OldInfoLogFileName("/d", 5, "/d", "/logs"), "/logs/d_LOG.old.5");
  // File systems take names of 255 bytes.
  const std::string deep = "/" + std::string(300, 'd');
  const std::string longest = OldInfoLogFileName(deep + "/a", UINT64_MAX, deep + "/a", "/l");
  EXPECT_LE(longest.size(), 255u + 3);
  EXPECT_EQ(longest.substr(0, 103), "/l/" + std::string(100, 'd'));
  EXPECT_NE(longest, OldInfoLogFileName(deep + "/b", UINT64_MAX, deep + "/b", "/l"));
  uint64_t number = 0;
  FileType type = kTempFile;
  ASSERT_TRUE(ParseFileName("d_LOG.old.5", "d_LOG", &number, &type));
  EXPECT_EQ(number, 5u);
  EXPECT_EQ(type, kInfoLogFile);
  EXPECT_FALSE(ParseFileName("e_LOG.old.5", "d_LOG", &number, &type));
}

TEST(FileNamesTest, FilesAmongEntriesKeepTheirOrder) {
  const std::vector<std::string> entries = {"000007.sst", "notes.txt", "000003.log", "CURRENT",
                                            "000005.sst"};
  std::string all;
  for (const auto& [name, number, type] : FilesAmong(entries)) {
    all += name + "=" + std::to_string(number) + " ";
  }
  EXPECT_EQ(all, "000007.sst=7 000003.log=3 CURRENT=0 000005.sst=5 ");
  std::string tables;
  for (const auto& [name, number, type] : FilesAmong(entries, kTableFile)) {
    EXPECT_EQ(type, kTableFile);
    tables += std::to_string(number) + " ";
  }
  EXPECT_EQ(tables, "7 5 ");
}

}  // namespace
}  // namespace varve
