// SPDX-License-Identifier: Apache-2.0

// Tests which compactions garbage in blob files starts, that it stays within its bound, and that it
// is counted to the last value.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

#include "varve/convenience.h"
#include "varve/metadata.h"

#include "db/blob/blob_file_format.h"
#include "tests/db/api/blob_database.h"
#include "tests/harness/random.h"

namespace varve {
namespace {

using ::testing::SizeIs;

class BlobGarbageTest : public BlobDatabase {
 protected:
  // Returns the bytes that these values take in blob files.
  static double BytesOf(const std::map<std::string, std::string>& model) {
    double bytes = 0;
    for (const auto& [key, value] : model) {
      bytes += static_cast<double>(BlobRecordBytes(key.size(), value.size()));
    }
    return bytes;
  }
  // Returns the bytes of all values in blob files, those of garbage included.
  double BlobFileBytes() {
    ColumnFamilyMetaData metadata;
    db()->GetColumnFamilyMetaData(&metadata);
    double bytes = 0;
    for (const BlobMetaData& file : metadata.blob_files) {
      bytes += static_cast<double>(file.total_blob_bytes);
    }
    return bytes;
  }
};

// Garbage takes no more than its share, whatever is overwritten, and whenever the share changes.
TEST_F(BlobGarbageTest, GarbageStaysWithinItsBound) {
  constexpr int kKeys = 300;
  options_.disable_auto_compactions = false;
  options_.enable_blob_garbage_collection = true;
  options_.blob_file_size = 64 << 10;
  options_.target_file_size_base = 4 << 10;
  for (const double cutoff : {1.0, 0.25}) {
    SCOPED_TRACE(cutoff);
    options_.blob_garbage_collection_age_cutoff = cutoff;
    Open();
    testing::Random random(11);
    std::map<std::string, std::string> model;
    for (int round = 0; round < 60; ++round) {
      const double limit = round < 20 ? 0.2 : round < 40 ? 0.6 : 0.3;
      if (round % 20 == 0) {
        Set("blob_garbage_collection_force_threshold", std::to_string(limit));
      }
      for (int i = 0; i < 100; ++i) {
        const std::string key = Key(static_cast<int>(random.Below(random.OneIn(2) ? 20 : kKeys)));
        model[key] = random.Text(500 + random.Below(1000));
        Put(key, model[key]);
      }
      Flush();
      ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
      const double live = BytesOf(model);
      const double bytes = BlobFileBytes();
      const double most = cutoff == 1 ? limit : std::max(limit, 0.5);
      EXPECT_LE(bytes, live / (1 - most)) << round;
      EXPECT_GE(bytes, live) << round;
    }
    for (const auto& [key, value] : model) EXPECT_EQ(Get(key), value) << key;
    ASSERT_TRUE(db()->VerifyChecksum().ok());
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// With a cutoff of 0 no file counts as old, and no value is moved.
TEST_F(BlobGarbageTest, NothingIsCollectedIfNoFileIsOld) {
  options_.disable_auto_compactions = false;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 0;
  options_.blob_garbage_collection_force_threshold = 0.2;
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), Large('a'));
  Flush();
  for (int i = 0; i < 9; ++i) Put(Key(i), Large('b'));
  Flush();
  for (int i = 0; i < 8; ++i) Put(Key(i), Large('c'));
  Flush();
  Compact();
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  uint64_t garbage = 0;
  ASSERT_TRUE(db()->GetIntProperty(DB::Properties::kLiveBlobFileGarbageSize, &garbage));
  // 17 of the 27 values are garbage, but no file consists of garbage alone.
  EXPECT_EQ(garbage, 17 * BlobRecordBytes(Key(0).size(), Large('a').size()));
}

TEST_F(BlobGarbageTest, NoVictimIsChosenWithoutNeed) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 100;
  options_.blob_garbage_collection_age_cutoff = 1;
  options_.blob_garbage_collection_force_threshold = 0.4;
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), Large('a'));
  Flush();
  for (int i = 0; i < 5; ++i) Put(Key(i), Large('b'));
  Flush();
  const auto settle = [&] { ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok()); };
  settle();
  EXPECT_THAT(Files(kTableFile), SizeIs(2)) << "nothing collects garbage";
  Set("enable_blob_garbage_collection", "true");
  settle();
  EXPECT_THAT(Files(kTableFile), SizeIs(2)) << "at most a third is garbage";
  for (int i = 0; i < 5; ++i) Put(Key(i), Large('c'));
  Flush();
  settle();
  EXPECT_THAT(Files(kTableFile), SizeIs(1)) << "a half may be garbage, and is";
  uint64_t garbage = 0;
  ASSERT_TRUE(db()->GetIntProperty(DB::Properties::kLiveBlobFileGarbageSize, &garbage));
  uint64_t bytes = 0;
  ASSERT_TRUE(db()->GetIntProperty(DB::Properties::kLiveBlobFileSize, &bytes));
  EXPECT_LE(static_cast<double>(garbage), 0.4 * static_cast<double>(bytes));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(Key(i)), Large(i < 5 ? 'c' : 'a'));
}

// A table that is dropped unread makes garbage of exactly the values that it refers to.
TEST_F(BlobGarbageTest, TablesCountAllTheirReferences) {
  constexpr int kKeys = 1000;
  options_.compression = kNoCompression;
  options_.target_file_size_base = 4 << 10;
  Open();
  for (int i = 0; i < kKeys; ++i) Put(Key(i), Large('a'));
  Flush();
  Compact();
  const size_t tables = Files(kTableFile).size();
  const std::string end = Key(kKeys / 2);
  const Slice limit(end);
  const RangePtr first_half(nullptr, &limit);
  ASSERT_TRUE(DeleteFilesInRanges(db(), db()->DefaultColumnFamily(), &first_half, 1).ok());
  ASSERT_THAT(Files(kTableFile), SizeIs(::testing::Lt(tables))) << "the first table is dropped";
  uint64_t left = 0;
  for (int i = 0; i < kKeys; ++i) left += Get(Key(i)) == Large('a') ? 1 : 0;
  ASSERT_GE(left, static_cast<uint64_t>(kKeys) / 2);
  ColumnFamilyMetaData metadata;
  db()->GetColumnFamilyMetaData(&metadata);
  ASSERT_THAT(metadata.blob_files, SizeIs(1));
  const BlobMetaData& file = metadata.blob_files[0];
  EXPECT_EQ(file.total_blob_count - file.garbage_blob_count, left);
  EXPECT_EQ(file.total_blob_bytes - file.garbage_blob_bytes,
            left * BlobRecordBytes(Key(0).size(), Large('a').size()));
}

}  // namespace
}  // namespace varve
