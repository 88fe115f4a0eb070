// SPDX-License-Identifier: Apache-2.0

// Goal: lists of files have RocksDB's bytes, and hostile ones name nothing outside of their backup.
// Method: exact texts, those that RocksDB has written among them, and one wrong line at a time.

#include "db/backup/backup_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace varve {
namespace {

using ::testing::HasSubstr;

constexpr char kSession[] = "000009_sABCDEFGHIJKLMNOPQRST_1234.sst";

BackupFile FileAt(const std::string& path, BackupID id, uint32_t crc32c) {
  BackupFile file;
  file.path = path;
  EXPECT_TRUE(ParseBackupPath(path, id, &file.parsed)) << path;
  file.crc32c = crc32c;
  return file;
}

BackupMeta Sample() {
  BackupMeta meta;
  meta.id = 7;
  meta.timestamp = 1700000000;
  meta.sequence = 42;
  meta.app_metadata = std::string("hi\n\0x", 5);
  meta.files.push_back(FileAt("private/7/CURRENT", 7, 99));
  meta.files.push_back(FileAt(std::string("shared_checksum/") + kSession, 7, 4294967295u));
  meta.files[1].size = 1234;
  return meta;
}

Status Decode(const std::string& text, BackupMeta* meta) {
  return DecodeBackupMeta(text, 7, "meta/7", meta);
}

TEST(BackupMetaTest, SchemaOneHasTheseBytes) {
  EXPECT_EQ(EncodeBackupMeta(Sample(), 1),
            std::string("1700000000\n42\nmetadata 68690A0078\n2\nprivate/7/CURRENT crc32 99\n"
                        "shared_checksum/") +
                kSession + " crc32 4294967295\n");
}

TEST(BackupMetaTest, SchemaTwoHasTheseBytes) {
  BackupMeta meta = Sample();
  meta.files[1].temperature = Temperature::kWarm;
  meta.excluded.emplace_back("shared_checksum/000010_sABCDEFGHIJKLMNOPQRST_5.sst");
  const std::string text = EncodeBackupMeta(meta, 2);
  EXPECT_THAT(text, ::testing::StartsWith(
                        std::string("schema_version 2.1\n1700000000\n42\nmetadata 68690A0078\n2\n"
                                    "private/7/CURRENT crc32 99\nshared_checksum/") +
                        kSession +
                        " crc32 4294967295 temp kWarm size 1234\n"
                        "shared_checksum/000010_sABCDEFGHIJKLMNOPQRST_5.sst ni::excluded true\n"
                        "// FOOTER\ncrc32c "));
}

TEST(BackupMetaTest, WhatIsWrittenIsRead) {
  for (const int schema : {1, 2}) {
    const BackupMeta meta = Sample();
    BackupMeta read;
    const Status s = Decode(EncodeBackupMeta(meta, schema), &read);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(read.id, 7u);
    EXPECT_EQ(read.timestamp, meta.timestamp);
    EXPECT_EQ(read.sequence, meta.sequence);
    EXPECT_EQ(read.app_metadata, meta.app_metadata);
    ASSERT_EQ(read.files.size(), 2u);
    EXPECT_EQ(read.files[1].path, meta.files[1].path);
    EXPECT_EQ(read.files[1].crc32c, meta.files[1].crc32c);
    EXPECT_EQ(read.files[1].size.has_value(), schema == 2);
    EXPECT_EQ(read.files[1].parsed.db_name, "000009.sst");
    EXPECT_EQ(read.files[1].parsed.number, 9u);
  }
}

TEST(BackupMetaTest, FieldsOfLaterVersionsAreReadOver) {
  const std::string head = "schema_version 2.7\n1\n2\nsomething new\nmetadata 41\n1\n";
  const std::string file = "private/7/CURRENT crc32 5 later field temp kFrozen\n";
  BackupMeta meta;
  Status s = Decode(head + file + "// FOOTER\nsome field\n", &meta);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(meta.app_metadata, "A");
  s = Decode(head + "private/7/CURRENT crc32 5 ni::later field\n", &meta);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  s = Decode("schema_version 2.0\n1\n2\nni::later field\n0\n", &meta);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  s = Decode(head + file + "// FOOTER\nni::later field\n", &meta);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  s = Decode("schema_version 3\n1\n2\n0\n", &meta);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("meta/7"));
}

TEST(BackupMetaTest, DamageIsFound) {
  const std::string good = "1\n2\n1\nprivate/7/CURRENT crc32 5\n";
  BackupMeta meta;
  ASSERT_TRUE(Decode(good, &meta).ok());
  const std::vector<std::string> bad = {
      "",
      "1",
      "1\n2\n",
      "x\n2\n0\n",
      "-1\n2\n0\n",
      "1\n18446744073709551616\n0\n",
      "9223372036854775808\n2\n0\n",
      "1\n2\nmetadata 4\n0\n",
      "1\n2\nmetadata 4G\n0\n",
      "1\n2\nother field\n0\n",
      "1\n2\n1\n",
      "1\n2\n2\nprivate/7/CURRENT crc32 5\n",
      "1\n2\n0\nprivate/7/CURRENT crc32 5\n",
      "1\n2\n1\nprivate/7/CURRENT crc32 5",
      "1\n2\n1\nprivate/7/CURRENT crc32\n",
      "1\n2\n1\nprivate/7/CURRENT\n",
      "1\n2\n1\nprivate/7/CURRENT crc32 4294967296\n",
      "1\n2\n1\nprivate/7/CURRENT crc32 5 size 3\n",
      "1\n2\n2\nprivate/7/CURRENT crc32 5\nprivate/7/CURRENT crc32 5\n",
      "schema_version 2.1\n1\n2\n0\nprivate/7/CURRENT ni::excluded true\n",
      "schema_version 2.1\n1\n2\n1\nprivate/7/CURRENT ni::excluded perhaps crc32 1\n",
      "schema_version 2.1\n1\n2\n1\nprivate/7/CURRENT crc32 5 size x\n",
      "schema_version 2.1\n1\n2\n1\nprivate/7/CURRENT crc32 5\n// FOOTER\ncrc32c 1\n",
  };
  for (const std::string& text : bad) {
    const Status s = Decode(text, &meta);
    EXPECT_TRUE(s.IsCorruption()) << text << ": " << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("line "));
  }
}

// The number of files does not count those that are left out.
TEST(BackupMetaTest, AListThatEndsTooEarlyIsDamaged) {
  BackupMeta meta = Sample();
  meta.files[0].size = 16;
  meta.excluded.emplace_back("shared_checksum/000010_sABCDEFGHIJKLMNOPQRST_5.sst");
  meta.excluded.emplace_back("shared_checksum/000011_sABCDEFGHIJKLMNOPQRST_5.sst");
  const std::string text = EncodeBackupMeta(meta, 2);
  BackupMeta read;
  ASSERT_TRUE(Decode(text, &read).ok());
  EXPECT_EQ(read.excluded, meta.excluded);
  for (size_t size = 0; size < text.size(); size++) {
    const Status s = Decode(text.substr(0, size), &read);
    EXPECT_TRUE(s.IsCorruption()) << size << ": " << s.ToString();
  }
}

TEST(BackupMetaTest, PathsLeadNowhereElse) {
  for (const std::string& path : {std::string("../000009.sst"),
                                  std::string("shared/../private/8/CURRENT"),
                                  std::string("private/8/CURRENT"),
                                  std::string("private/7/../8/CURRENT"),
                                  std::string("private/7/.."),
                                  std::string("private/7/"),
                                  std::string("private/07/CURRENT"),
                                  std::string("/etc/passwd"),
                                  std::string("CURRENT"),
                                  std::string("shared/CURRENT"),
                                  std::string("shared/MANIFEST-000001"),
                                  std::string("shared_checksum/000009.sst"),
                                  std::string("shared_checksum/.000009_s_1.sst.tmp"),
                                  std::string("shared_checksum/000009_s../x_1.sst"),
                                  std::string("shared/000009_s..x_1.sst"),
                                  std::string("shared_checksum/000009_s\\x_1.sst"),
                                  std::string("private/7/LOCK"),
                                  std::string("private/7/1.dbtmp"),
                                  std::string("meta/7"),
                                  std::string("private/7/LOG"),
                                  std::string("private/7/CURRENT\0x", 19),
                                  std::string("shared_checksum/_9.sst")}) {
    BackupPath parsed;
    EXPECT_FALSE(ParseBackupPath(path, 7, &parsed)) << path;
    BackupMeta meta;
    EXPECT_TRUE(Decode("1\n2\n1\n" + path + " crc32 5\n", &meta).IsCorruption()) << path;
  }
}

TEST(BackupNamesTest, NamesSayWhatTheyAreMadeOf) {
  EXPECT_EQ(SessionName("000009.sst", "ABC", 77), "000009_sABC_77.sst");
  EXPECT_EQ(SessionName("000009.sst", "ABC", std::nullopt), "000009_sABC.sst");
  EXPECT_EQ(LegacyName("000009.sst", 4294967295u, 77), "000009_4294967295_77.sst");
  EXPECT_EQ(SizeInSharedName("000009_sABC_77.sst"), 77u);
  EXPECT_EQ(SizeInSharedName("000009_4294967295_77.sst"), 77u);
  EXPECT_EQ(SizeInSharedName("000009_sABC.sst"), std::nullopt);
  EXPECT_EQ(SizeInSharedName("000009.sst"), std::nullopt);
  EXPECT_EQ(SizeInSharedName("000009_sABC_99999999999999999999.sst"), std::nullopt);
  EXPECT_EQ(SessionInSharedName("shared_checksum/000009_sABC_77.sst"), "ABC");
  EXPECT_EQ(SessionInSharedName("000009_sABC.sst"), "ABC");
  EXPECT_EQ(SessionInSharedName("shared_checksum/000009_4294967295_77.sst"), "");
  EXPECT_EQ(ParseBackupId("12"), 12u);
  for (const char* const name : {"", "0", "01", "1x", ".1.tmp", "4294967296"}) {
    EXPECT_EQ(ParseBackupId(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace varve
