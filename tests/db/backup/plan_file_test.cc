// SPDX-License-Identifier: Apache-2.0

// Goal: the file of a plan says what was written, and bytes from elsewhere are refused.
// Method: exact bytes, each cut and each flipped byte, and wrong contents under a right checksum.

#include "db/backup/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/coding/crc32c.h"

namespace varve {
namespace {

using ::testing::HasSubstr;

BackupFile PlannedFile(const std::string& path, uint32_t crc32c, uint64_t size) {
  BackupFile file;
  file.path = path;
  EXPECT_TRUE(ParseBackupPath(path, 7, &file.parsed)) << path;
  file.crc32c = crc32c;
  file.size = size;
  return file;
}

PlanContents SamplePlan() {
  PlanContents contents;
  contents.meta.id = 7;
  contents.meta.timestamp = 1700000000;
  contents.meta.sequence = 42;
  contents.meta.files.push_back(
      PlannedFile("shared_checksum/000009_sABCDEFGHIJKLMNOPQRST_1234.sst", 5, 1234));
  contents.meta.files.push_back(
      PlannedFile("shared_checksum/000010_sABCDEFGHIJKLMNOPQRST_12.sst", 6, 12));
  contents.meta.files.push_back(PlannedFile("private/7/CURRENT", 99, 16));
  contents.brought = {1, 2};
  contents.catalog_bytes = EncodeBackupMeta(contents.meta, 2);
  return contents;
}

std::string Sealed(const std::string& body) {
  return body + "crc32c " + std::to_string(crc32c::Value(body.data(), body.size())) + "\n";
}

Status ReadPlan(const std::string& text, PlanContents* contents) {
  return DecodePlan(text, "/plan/PLAN", contents);
}

TEST(PlanFileTest, HasTheseBytes) {
  const PlanContents sample = SamplePlan();
  const std::string text = EncodePlan(sample);
  EXPECT_EQ(text, Sealed("varve_copy_plan 1\n7\n2\n000010.sst\nCURRENT\n" + sample.catalog_bytes));
  PlanContents read;
  ASSERT_TRUE(ReadPlan(text, &read).ok());
  EXPECT_EQ(read.brought, sample.brought);
  EXPECT_EQ(read.catalog_bytes, sample.catalog_bytes);
  EXPECT_EQ(read.meta.id, 7u);
  ASSERT_EQ(read.meta.files.size(), 3u);
  EXPECT_EQ(read.meta.files[1].crc32c, 6u);
}

TEST(PlanFileTest, EveryCutAndEveryFlippedByteIsRefused) {
  const std::string text = EncodePlan(SamplePlan());
  PlanContents read;
  for (size_t i = 0; i < text.size(); i++) {
    const Status cut = ReadPlan(text.substr(0, i), &read);
    EXPECT_TRUE(cut.IsCorruption()) << i << ": " << cut.ToString();
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    const Status s = ReadPlan(flipped, &read);
    EXPECT_TRUE(s.IsCorruption() || s.IsNotSupported()) << i << ": " << s.ToString();
  }
}

TEST(PlanFileTest, ContentsThatNoPlanHasAreRefused) {
  const PlanContents sample = SamplePlan();
  const std::string& catalog = sample.catalog_bytes;
  const auto why = [](const std::string& text) {
    PlanContents read;
    const Status s = DecodePlan(text, "/plan/PLAN", &read);
    return s.ToString();
  };
  EXPECT_THAT(why("varve_copy_plan 2\nanything"), HasSubstr("later version"));
  EXPECT_THAT(why(Sealed("copy\n7\n0\n" + catalog)), HasSubstr("does not begin as a plan"));
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n07\n0\n" + catalog)), HasSubstr("no id"));
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n7\n-1\n" + catalog)), HasSubstr("no number of files"));
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n7\n18446744073709551615\nCURRENT\n")),
              HasSubstr("middle of a line"));
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n7\n2\nCURRENT\nCURRENT\n" + catalog)),
              HasSubstr("twice"));
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n7\n2\nCURRENT\n../x.sst\n" + catalog)),
              HasSubstr("its catalog does not"));
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n7\n1\n000010.sst\n" + catalog)),
              HasSubstr("lacks private/7/CURRENT"));
  // The catalog is another backup's.
  EXPECT_THAT(why(Sealed("varve_copy_plan 1\n8\n1\nCURRENT\n" + catalog)), HasSubstr("no path"));
  PlanContents excluding = sample;
  excluding.meta.excluded.emplace_back("shared_checksum/000012_sABCDEFGHIJKLMNOPQRST_5.sst");
  excluding.catalog_bytes = EncodeBackupMeta(excluding.meta, 2);
  EXPECT_THAT(why(EncodePlan(excluding)), HasSubstr("leaves files out"));
  PlanContents unsized = sample;
  unsized.catalog_bytes = EncodeBackupMeta(unsized.meta, 1);
  EXPECT_THAT(why(EncodePlan(unsized)), HasSubstr("no size"));
}

}  // namespace
}  // namespace varve
