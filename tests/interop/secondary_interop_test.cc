// SPDX-License-Identifier: Apache-2.0

// Goal: a secondary of either library follows a primary of the other, through the log as it grows
// and through flushes. RocksDB's secondary steps over the rest of a block that ends with zeros, as
// the mapped logs of Varve do while they are written (the same bytes of its own it does not follow
// either): of those it has all once they are left, and of plain and recycled ones at each catch-up.
// Method: the primary writes rounds of puts, with a flush in between; after each the secondary
// catches up, and every key is read.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "varve/db.h"

#include "tests/harness/rocksdb_library.h"

namespace varve::testing {
namespace {

constexpr uint64_t kCatchUps = 6;
constexpr uint64_t kPutsBetween = 400;  // more than a block of the log

std::string FollowedKey(uint64_t number) {
  return "key" + std::to_string(number);
}
std::string FollowedValue(uint64_t number) {
  return std::to_string(number) + std::string(100, 'v');
}

enum class FollowedLogs { kMapped, kPlain, kRecycled };

class SecondaryInteropTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RocksDbLibrary::Get() == nullptr) GTEST_SKIP() << "there is no library of RocksDB";
    work_ = std::filesystem::temp_directory_path() / ("varve_second_" + std::to_string(getpid()));
    Renew();
  }
  void TearDown() override { std::filesystem::remove_all(work_); }

  void Renew() const {
    std::filesystem::remove_all(work_);
    std::filesystem::create_directories(work_);
  }
  std::string Path() const { return (work_ / "db").string(); }
  std::string Second() const { return (work_ / "second").string(); }
  static const RocksDbLibrary& library() { return *RocksDbLibrary::Get(); }

  // --- Varve
  std::unique_ptr<DB> OpenOurs(FollowedLogs log, bool second) const {
    Options options;
    options.create_if_missing = true;
    options.compression = kNoCompression;
    options.allow_fallocate = log != FollowedLogs::kPlain;
    options.recycle_log_file_num = log == FollowedLogs::kRecycled ? 2 : 0;
    DB* db = nullptr;
    const Status s = second ? DB::OpenAsSecondary(options, Path(), Second(), &db)
                            : DB::Open(options, Path(), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return std::unique_ptr<DB>(db);
  }
  static void PutOurs(DB* db, uint64_t from, uint64_t to) {
    for (uint64_t n = from; n < to; n++) {
      ASSERT_TRUE(db->Put(WriteOptions(), FollowedKey(n), FollowedValue(n)).ok());
    }
  }
  static uint64_t CountOurs(DB* db, uint64_t keys) {
    uint64_t found = 0;
    for (uint64_t n = 0; n < keys; n++) {
      std::string value;
      if (!db->Get(ReadOptions(), FollowedKey(n), &value).ok()) continue;
      EXPECT_EQ(value, FollowedValue(n));
      found++;
    }
    return found;
  }

  // --- RocksDB
  void* OpenTheirs(bool second) const {
    void* const options = library().Call<void*>("options_create");
    library().Call<void>("options_set_create_if_missing", options, static_cast<unsigned char>(1));
    library().Call<void>("options_set_max_open_files", options, -1);
    library().Call<void>("options_set_compression", options, 0);
    std::string error;
    void* const db = second ? library().Checked<void*>(&error, "open_as_secondary", options,
                                                       Path().c_str(), Second().c_str())
                            : library().Checked<void*>(&error, "open", options, Path().c_str());
    EXPECT_EQ(error, "");
    library().Call<void>("options_destroy", options);
    return db;
  }
  static void PutTheirs(void* db, uint64_t from, uint64_t to) {
    void* const options = library().Call<void*>("writeoptions_create");
    std::string error;
    for (uint64_t n = from; n < to && error.empty(); n++) {
      const std::string key = FollowedKey(n);
      const std::string value = FollowedValue(n);
      library().Checked<void>(&error, "put", db, options, key.data(), key.size(), value.data(),
                              value.size());
    }
    EXPECT_EQ(error, "");
    library().Call<void>("writeoptions_destroy", options);
  }
  static void FlushTheirs(void* db) {
    void* const options = library().Call<void*>("flushoptions_create");
    std::string error;
    library().Checked<void>(&error, "flush", db, options);
    EXPECT_EQ(error, "");
    library().Call<void>("flushoptions_destroy", options);
  }
  static uint64_t CountTheirs(void* db, uint64_t keys) {
    void* const options = library().Call<void*>("readoptions_create");
    uint64_t found = 0;
    for (uint64_t n = 0; n < keys; n++) {
      const std::string key = FollowedKey(n);
      std::string error;
      size_t size = 0;
      char* const value =
          library().Checked<char*>(&error, "get", db, options, key.data(), key.size(), &size);
      EXPECT_EQ(error, "");
      if (value == nullptr) continue;
      EXPECT_EQ(std::string(value, size), FollowedValue(n));
      library().Call<void>("free", value);
      found++;
    }
    library().Call<void>("readoptions_destroy", options);
    return found;
  }
  // Returns how many of the existing keys the secondary has. An error of the catch-up fails the
  // test, unless it is allowed.
  static uint64_t CatchUpTheirs(void* db, uint64_t keys, bool may_fail) {
    std::string error;
    library().Checked<void>(&error, "try_catch_up_with_primary", db);
    EXPECT_TRUE(may_fail || error.empty()) << error;
    return CountTheirs(db, keys);
  }

  std::filesystem::path work_;
};

TEST_F(SecondaryInteropTest, TheirsFollowsOurs) {
  for (const FollowedLogs log :
       {FollowedLogs::kPlain, FollowedLogs::kRecycled, FollowedLogs::kMapped}) {
    SCOPED_TRACE(static_cast<int>(log));
    Renew();
    const std::unique_ptr<DB> db = OpenOurs(log, /*second=*/false);
    ASSERT_NE(db, nullptr);
    PutOurs(db.get(), 0, 10);
    void* const second = OpenTheirs(/*second=*/true);
    ASSERT_NE(second, nullptr);
    uint64_t keys = 10;
    for (uint64_t round = 0; round < kCatchUps; round++) {
      PutOurs(db.get(), keys, keys + kPutsBetween);
      keys += kPutsBetween;
      const bool left = round % 3 == 2;
      ASSERT_TRUE(!left || db->Flush(FlushOptions()).ok());
      const bool tailed = log != FollowedLogs::kMapped || left;
      const uint64_t found = CatchUpTheirs(second, keys, /*may_fail=*/!tailed);
      EXPECT_TRUE(!tailed || found == keys) << found << " of " << keys;
    }
    library().Call<void>("close", second);
  }
}

TEST_F(SecondaryInteropTest, OursFollowsTheirs) {
  void* const db = OpenTheirs(/*second=*/false);
  ASSERT_NE(db, nullptr);
  PutTheirs(db, 0, 10);
  const std::unique_ptr<DB> second = OpenOurs(FollowedLogs::kMapped, /*second=*/true);
  ASSERT_NE(second, nullptr);
  uint64_t keys = 10;
  for (uint64_t round = 0; round < kCatchUps; round++) {
    PutTheirs(db, keys, keys + kPutsBetween);
    keys += kPutsBetween;
    if (round % 3 == 2) FlushTheirs(db);
    const Status s = second->TryCatchUpWithPrimary();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(CountOurs(second.get(), keys), keys);
  }
  library().Call<void>("close", db);
}

TEST_F(SecondaryInteropTest, TheirsFollowsTheirs) {
  void* const db = OpenTheirs(/*second=*/false);
  ASSERT_NE(db, nullptr);
  void* const second = OpenTheirs(/*second=*/true);
  ASSERT_NE(second, nullptr);
  for (uint64_t keys = 0; keys < kCatchUps * kPutsBetween; keys += kPutsBetween) {
    PutTheirs(db, keys, keys + kPutsBetween);
    EXPECT_EQ(CatchUpTheirs(second, keys + kPutsBetween, /*may_fail=*/false), keys + kPutsBetween);
  }
  library().Call<void>("close", second);
  library().Call<void>("close", db);
}

}  // namespace
}  // namespace varve::testing
