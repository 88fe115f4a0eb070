// SPDX-License-Identifier: Apache-2.0

// Goal: a checkpoint is a directory that RocksDB opens, with all families or some, and with what
// only the logs have. Method: RocksDB's own library, over its C API, counts and reads what is in
// checkpoints on disk, and Varve reads them again after it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "varve/db.h"
#include "varve/utilities/checkpoint.h"

#include "tests/harness/rocksdb_library.h"

namespace varve::testing {
namespace {

class CheckpointInteropTest : public ::testing::Test {
 protected:
  CheckpointInteropTest() : root_(::testing::TempDir() + "varve_checkpoint_interop") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directory(root_);
    options_.create_if_missing = true;
  }
  ~CheckpointInteropTest() override { std::filesystem::remove_all(root_); }

  // Returns the number of entries of each family, "default=3 a=2", or RocksDB's error.
  static std::string CountByRocksDb(const std::string& directory,
                                    const std::vector<const char*>& families) {
    RocksDbLibrary& rocksdb = *RocksDbLibrary::Get();
    void* const options = rocksdb.Call<void*>("options_create");
    const std::vector<const void*> all_options(families.size(), options);
    std::vector<void*> handles(families.size());
    std::string error;
    void* const db = rocksdb.Checked<void*>(&error, "open_column_families", options,
                                            directory.c_str(), static_cast<int>(families.size()),
                                            families.data(), all_options.data(), handles.data());
    rocksdb.Call<void>("options_destroy", options);
    if (!error.empty()) return error;
    std::string text;
    void* const reads = rocksdb.Call<void*>("readoptions_create");
    for (size_t i = 0; i < families.size(); i++) {
      void* const it = rocksdb.Call<void*>("create_iterator_cf", db, reads, handles[i]);
      int entries = 0;
      rocksdb.Call<void>("iter_seek_to_first", it);
      for (; rocksdb.Call<unsigned char>("iter_valid", it) != 0; entries++) {
        rocksdb.Call<void>("iter_next", it);
      }
      rocksdb.Call<void>("iter_destroy", it);
      text += (text.empty() ? "" : " ") + std::string(families[i]) + "=" + std::to_string(entries);
    }
    rocksdb.Call<void>("readoptions_destroy", reads);
    for (void* handle : handles) rocksdb.Call<void>("column_family_handle_destroy", handle);
    rocksdb.Call<void>("close", db);
    return text;
  }

  const std::string root_;
  Options options_;
};

TEST_F(CheckpointInteropTest, RocksDbOpensACheckpoint) {
  if (RocksDbLibrary::Get() == nullptr) GTEST_SKIP() << "there is no RocksDB";
  DB* raw = nullptr;
  ASSERT_TRUE(DB::Open(options_, root_ + "/db", &raw).ok());
  const std::unique_ptr<DB> db(raw);
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(ColumnFamilyOptions(), "a", &made).ok());
  const std::unique_ptr<ColumnFamilyHandle> a(made);
  for (int i = 0; i < 1000; i++) {
    const std::string key = std::to_string(i);
    ASSERT_TRUE(db->Put(WriteOptions(), key, std::string(100, 'v')).ok());
    if (i % 2 == 0) {
      ASSERT_TRUE(db->Put(WriteOptions(), a.get(), key, "v").ok());
    }
    if (i == 500) {
      ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    }
  }
  Checkpoint* checkpoint_raw = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db.get(), &checkpoint_raw).ok());
  const std::unique_ptr<Checkpoint> checkpoint(checkpoint_raw);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(root_ + "/all", UINT64_MAX).ok());
  ASSERT_TRUE(checkpoint->CreateCheckpoint(root_ + "/flushed").ok());
  ASSERT_TRUE(
      checkpoint->CreateCheckpoint(root_ + "/some", {db->DefaultColumnFamily()}, UINT64_MAX).ok());
  EXPECT_EQ(CountByRocksDb(root_ + "/all", {"default", "a"}), "default=1000 a=500");
  EXPECT_EQ(CountByRocksDb(root_ + "/flushed", {"default", "a"}), "default=1000 a=500");
  EXPECT_EQ(CountByRocksDb(root_ + "/some", {"default"}), "default=1000");
  options_.create_if_missing = false;
  ASSERT_TRUE(DB::Open(options_, root_ + "/some", &raw).ok());
  const std::unique_ptr<DB> back(raw);
  std::string value;
  EXPECT_TRUE(back->Get(ReadOptions(), "999", &value).ok());
}

}  // namespace
}  // namespace varve::testing
