// SPDX-License-Identifier: Apache-2.0

// Damages, truncates and empties tables on disk while they are open and blocks are copied out of
// their mappings: every answer is right or an error, and the process goes on.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/cache.h"
#include "varve/db.h"
#include "varve/table.h"

#include "tests/harness/random.h"

namespace varve {
namespace {

constexpr int kKeys = 3000;
constexpr int kReadsOfWarmUp = 20000;

std::string KeyOf(int i) {
  return "key" + std::to_string(100000 + i);
}
std::string ValueOf(int i) {
  return std::string(100, static_cast<char>('a' + i % 26)) + std::to_string(i);
}

class MappedDamage : public ::testing::TestWithParam<CompressionType> {
 protected:
  // Takes SIGBUS back from other tests of this program, whose handler would keep files from being
  // mapped.
  static void SetUpTestSuite() { (void)::signal(SIGBUS, SIG_DFL); }
  MappedDamage() {
    path_ = "/tmp/varve_mapped_damage-" + std::to_string(::getpid());
    EXPECT_TRUE(DestroyDB(path_, Options()).ok());
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(20000, 0);
    options_.create_if_missing = true;
    options_.compression = GetParam();
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    DB* db = nullptr;
    EXPECT_TRUE(DB::Open(options_, path_, &db).ok());
    db_.reset(db);
    for (int i = 0; i < kKeys; i++) EXPECT_TRUE(db_->Put({}, KeyOf(i), ValueOf(i)).ok());
    EXPECT_TRUE(db_->Flush({}).ok());
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    EXPECT_EQ(files.size(), 1u);
    table_ = path_ + files[0].name;
    size_ = files[0].size;
  }
  ~MappedDamage() override {
    db_.reset();
    EXPECT_TRUE(DestroyDB(path_, options_).ok());
  }
  // Reads until the table is mapped. Returns false if this build or machine does not map.
  bool Warm() {
    testing::Random random(1);
    for (int i = 0; i < kReadsOfWarmUp; i++) {
      std::string value;
      const int key = static_cast<int>(random.Below(kKeys));
      EXPECT_TRUE(db_->Get({}, KeyOf(key), &value).ok());
    }
    std::map<std::string, std::string> memory;
    EXPECT_TRUE(db_->GetMapProperty(db_->DefaultColumnFamily(), "varve.memory", &memory));
    return std::stoull(memory.at("mapped_files")) >= size_;
  }
  // Reads in all ways. Returns the number of errors.
  int Read(uint64_t seed, int reads) {
    int errors = 0;
    testing::Random random(seed);
    const auto judge = [&errors](const Status& s, int key, const std::string& value) {
      if (s.ok()) {
        EXPECT_EQ(value, ValueOf(key));
      } else {
        EXPECT_TRUE(s.IsCorruption() || s.IsIOError()) << s.ToString();
        errors++;
      }
    };
    for (int i = 0; i < reads; i++) {
      const int key = static_cast<int>(random.Below(kKeys));
      std::string value;
      judge(db_->Get({}, KeyOf(key), &value), key, value);
    }
    constexpr size_t kBatch = 16;
    std::array<std::string, kBatch> keys;
    std::array<Slice, kBatch> slices;
    std::array<PinnableSlice, kBatch> values;
    std::array<Status, kBatch> statuses;
    std::array<int, kBatch> numbers{};
    for (size_t i = 0; i < kBatch; i++) {
      numbers[i] = static_cast<int>(random.Below(kKeys));
      keys[i] = KeyOf(numbers[i]);
      slices[i] = keys[i];
    }
    db_->MultiGet({}, db_->DefaultColumnFamily(), kBatch, slices.data(), values.data(),
                  statuses.data());
    for (size_t i = 0; i < kBatch; i++) judge(statuses[i], numbers[i], values[i].ToString());
    const std::unique_ptr<Iterator> iter(db_->NewIterator({}));
    int at = static_cast<int>(random.Below(kKeys));
    for (iter->Seek(KeyOf(at)); iter->Valid(); iter->Next(), at++) {
      EXPECT_EQ(iter->key().ToString(), KeyOf(at));
      EXPECT_EQ(iter->value().ToString(), ValueOf(at));
    }
    if (iter->status().ok()) {
      EXPECT_EQ(at, kKeys) << "a walk that ended early must say so";
    } else {
      errors++;
    }
    return errors;
  }

  std::string path_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::string table_;
  uint64_t size_ = 0;
};

TEST_P(MappedDamage, FlippedBytesAreNeverAnAnswer) {
  if (!Warm()) GTEST_SKIP() << "files are not mapped here";
  const int fd = ::open(table_.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  testing::Random random(2);
  int errors = 0;
  constexpr int kFlips = 40;
  for (int i = 0; i < kFlips; i++) {
    const auto at = static_cast<off_t>(random.Below(size_));
    char byte = 0;
    ASSERT_EQ(::pread(fd, &byte, 1, at), 1);
    const char flipped = static_cast<char>(byte ^ 1 << random.Below(8));
    ASSERT_EQ(::pwrite(fd, &flipped, 1, at), 1);
    errors += Read(static_cast<uint64_t>(i), 300);
    ASSERT_EQ(::pwrite(fd, &byte, 1, at), 1);
  }
  EXPECT_GT(errors, 0);
  EXPECT_EQ(Read(99, 3000), 0) << "the table is whole again";
  (void)::close(fd);
}

TEST_P(MappedDamage, ATruncatedTableGivesErrorsAndNoSignal) {
  if (!Warm()) GTEST_SKIP() << "files are not mapped here";
  std::vector<std::thread> readers;
  std::array<int, 2> errors{};
  for (size_t t = 0; t < errors.size(); t++) {
    readers.emplace_back([this, &errors, t] {
      for (int i = 0; i < 20; i++) errors[t] += Read(t * 100 + static_cast<uint64_t>(i), 500);
    });
  }
  for (const uint64_t left : {size_ - 1, size_ / 2, size_ / 2 - 4096, uint64_t{100}, uint64_t{0}}) {
    ASSERT_EQ(::truncate(table_.c_str(), static_cast<off_t>(left)), 0);
    (void)Read(left, 500);
  }
  EXPECT_GT(Read(7, 3000), 0);
  for (std::thread& reader : readers) reader.join();
}

INSTANTIATE_TEST_SUITE_P(PlainAndCompressed, MappedDamage,
                         ::testing::Values(kNoCompression, kSnappyCompression));

}  // namespace
}  // namespace varve
