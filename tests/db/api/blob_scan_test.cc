// SPDX-License-Identifier: Apache-2.0

// Tests how many reads of blob files a scan takes, and how far it reads ahead.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "varve/iterator.h"
#include "varve/perf_context.h"
#include "varve/perf_level.h"
#include "varve/statistics.h"

#include "tests/db/api/blob_database.h"

namespace varve {
namespace {

class BlobScanTest : public BlobDatabase {
 protected:
  void Fill() {
    options_.statistics = CreateDBStatistics();
    Open();
    for (int i = 0; i < 100; ++i) Put(Key(i), Value(i));
    Flush();
    // Some lie elsewhere, some are gone, some are small.
    for (int i = 0; i < 100; i += 10) Put(Key(i), Value(i));
    for (int i = 5; i < 100; i += 20) Delete(Key(i));
    for (int i = 7; i < 100; i += 20) Put(Key(i), "small");
    Flush();
  }
  static std::string Value(int i) { return Large(static_cast<char>('a' + i % 26), 1000); }
  static bool Exists(int i) { return i % 20 != 5; }
  static std::string Expected(int i) { return i % 20 == 7 ? "small" : Value(i); }
  // Counts reads of files while the database is used.
  uint64_t Reads() {
    HistogramData data;
    options_.statistics->histogramData(BLOB_DB_BLOB_FILE_READ_MICROS, &data);
    return data.count;
  }
  uint64_t Bytes() { return options_.statistics->getTickerCount(BLOB_DB_BLOB_FILE_BYTES_READ); }
};

TEST_F(BlobScanTest, AScanReadsManyValuesAtOnce) {
  Fill();
  EXPECT_EQ(Get(Key(1)), Value(1));
  EXPECT_EQ(Get(Key(0)), Value(0));
  for (const bool forward : {true, false}) {
    const uint64_t before = Reads();
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    int found = 0;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forward ? it->Next() : it->Prev()) {
      const int i = std::stoi(it->key().ToString().substr(3)) - 1000;
      EXPECT_TRUE(Exists(i)) << i;
      EXPECT_TRUE(it->value() == Expected(i)) << i;
      found++;
    }
    EXPECT_TRUE(it->status().ok());
    EXPECT_EQ(found, 95);
    EXPECT_LE(Reads() - before, 25u) << "90 values were read";
    EXPECT_GE(Reads() - before, 3u);
  }
}

TEST_F(BlobScanTest, ReadsAheadNoFurtherThanItsBound) {
  Fill();
  const std::string end = Key(24);
  const Slice bound = end;
  ReadOptions options;
  options.iterate_upper_bound = &bound;
  const uint64_t before = Bytes();
  std::unique_ptr<Iterator> it(db()->NewIterator(options));
  int found = 0;
  for (it->Seek(Key(0)); it->Valid(); it->Next()) found++;
  EXPECT_EQ(found, 23);
  EXPECT_LT(Bytes() - before, 26'000u);
  // A short scan reads about twice as much as it shows at most.
  it.reset(db()->NewIterator(ReadOptions()));
  const uint64_t start = Bytes();
  it->Seek(Key(40));
  for (int i = 0; i < 10; ++i) it->Next();
  EXPECT_LT(Bytes() - start, 24'000u);
  it->Seek(Key(40));
  EXPECT_TRUE(it->value() == Expected(40));
}

TEST_F(BlobScanTest, WalksOverKeysReadNoValue) {
  Fill();
  ReadOptions options;
  options.allow_unprepared_value = true;
  const uint64_t before = Reads();
  const std::unique_ptr<Iterator> it(db()->NewIterator(options));
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) found++;
  EXPECT_EQ(found, 95);
  EXPECT_EQ(Reads(), before);
  found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ASSERT_TRUE(it->PrepareValue());
    const int i = std::stoi(it->key().ToString().substr(3)) - 1000;
    EXPECT_TRUE(it->value() == Expected(i)) << i;
    // Skips some without their values.
    if (++found % 7 == 0) it->Next();
    if (!it->Valid()) break;
  }
  EXPECT_TRUE(it->status().ok());
  EXPECT_LE(Reads() - before, 30u);
}

TEST_F(BlobScanTest, ADamagedValueFailsWhereItIs) {
  Open();
  for (int i = 0; i < 60; ++i) Put(Key(i), Value(i));
  Flush();
  ASSERT_TRUE(Close().ok());
  const std::string path = std::string(kName) + "/" + Blobs()[0];
  std::string bytes;
  ASSERT_TRUE(ReadFileToString(options_.env, path, &bytes).ok());
  bytes[bytes.find(Value(20)) + 500] ^= 1;
  ASSERT_TRUE(WriteStringToFile(options_.env, bytes, path, true).ok());
  Open();
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  SetPerfLevel(kEnableCount);
  uint64_t before_last_step = 0;
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_TRUE(it->value() == Value(found)) << found;
    found++;
    before_last_step = get_perf_context()->blob_read_count;
  }
  SetPerfLevel(kDisable);
  EXPECT_EQ(found, 20);
  EXPECT_EQ(get_perf_context()->blob_read_count - before_last_step, 1u)
      << "either alone once more, or for the first time, with those that follow";
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

}  // namespace
}  // namespace varve
