// SPDX-License-Identifier: Apache-2.0

// Goal: a database with lifetimes goes back and forth between the engines: each reads, merges and
// expires what the other one has written. Method: RocksDB's library in this process, by its C API,
// on a directory on disk, with the machine's clock.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/db/ttl/ttl_fixture.h"
#include "tests/harness/rocksdb_library.h"

namespace varve::testing {
namespace {

struct rocksdb_t;

class TtlInteropTest : public ::testing::Test {
 protected:
  TtlInteropTest() : library_(RocksDbLibrary::Get()) {
    directory_ =
        std::filesystem::temp_directory_path() / ("varve_ttl_interop_" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
  }
  ~TtlInteropTest() override { std::filesystem::remove_all(directory_); }

  // Opens with RocksDB, lets `body` work, and closes.
  template <typename Body>
  void WithTheirs(int ttl, Body body) {
    void* options = library_->Call<void*>("options_create");
    library_->Call<void>("options_set_create_if_missing", options, static_cast<unsigned char>(1));
    std::string error;
    void* db = library_->Checked<void*>(&error, "open_with_ttl", static_cast<const void*>(options),
                                        directory_.c_str(), ttl);
    ASSERT_EQ(error, "");
    body(db);
    library_->Call<void>("close", db);
    library_->Call<void>("options_destroy", options);
  }
  std::string TheirGet(void* db, const std::string& key) {
    void* options = library_->Call<void*>("readoptions_create");
    size_t size = 0;
    std::string error;
    char* value = library_->Checked<char*>(&error, "get", db, static_cast<const void*>(options),
                                           key.data(), key.size(), &size);
    library_->Call<void>("readoptions_destroy", options);
    if (!error.empty()) return error;
    if (value == nullptr) return "NOT_FOUND";
    std::string result(value, size);
    library_->Call<void>("free", static_cast<void*>(value));
    return result;
  }
  void TheirPut(void* db, const std::string& key, const std::string& value) {
    void* options = library_->Call<void*>("writeoptions_create");
    std::string error;
    library_->Checked<void>(&error, "put", db, static_cast<const void*>(options), key.data(),
                            key.size(), value.data(), value.size());
    EXPECT_EQ(error, "");
    library_->Call<void>("writeoptions_destroy", options);
  }
  void TheirCompaction(void* db) {
    library_->Call<void>("compact_range", db, static_cast<const char*>(nullptr), size_t{0},
                         static_cast<const char*>(nullptr), size_t{0});
  }

  template <typename Body>
  void WithOurs(int ttl, Body body) {
    Options options;
    options.create_if_missing = true;
    DBWithTTL* db = nullptr;
    const Status s = DBWithTTL::Open(options, directory_, &db, ttl);
    ASSERT_TRUE(s.ok()) << s.ToString();
    body(db);
    ASSERT_TRUE(db->Close().ok());
    delete db;
  }
  static std::string OurGet(DB* db, const std::string& key) {
    std::string value;
    const Status s = db->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }

  RocksDbLibrary* const library_;
  std::string directory_;
};

TEST_F(TtlInteropTest, EachReadsAndExpiresWhatTheOtherHasWritten) {
  if (library_ == nullptr) GTEST_SKIP() << "RocksDB's library is not here";
  WithOurs(100000, [](DBWithTTL* db) {
    ASSERT_TRUE(db->Put(WriteOptions(), "ours", "1").ok());
    ASSERT_TRUE(db->PutWithTtl(WriteOptions(), "brief", "2", 1).ok());
  });
  WithTheirs(100000, [this](void* db) {
    EXPECT_EQ(TheirGet(db, "ours"), "1");
    EXPECT_EQ(TheirGet(db, "brief"), "2");
    TheirPut(db, "theirs", "3");
  });
  sleep(3);
  WithTheirs(100000, [this](void* db) {
    TheirCompaction(db);
    EXPECT_EQ(TheirGet(db, "ours"), "1");
    EXPECT_EQ(TheirGet(db, "brief"), "NOT_FOUND");
  });
  WithOurs(1, [](DBWithTTL* db) {
    EXPECT_EQ(OurGet(db, "theirs"), "NOT_FOUND");
    db->SetTtl(100000);
    EXPECT_EQ(OurGet(db, "ours"), "1");
    EXPECT_EQ(OurGet(db, "theirs"), "3");
    EXPECT_EQ(OurGet(db, "brief"), "NOT_FOUND");
    ASSERT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  });
  WithTheirs(100000, [this](void* db) { EXPECT_EQ(TheirGet(db, "theirs"), "3"); });
}

}  // namespace
}  // namespace varve::testing
