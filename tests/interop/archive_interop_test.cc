// SPDX-License-Identifier: Apache-2.0

// Goal: each engine reads the other's logs, archived or not, as a stream of changes: RocksDB's
// GetUpdatesSince reads what Varve has archived and recovers from, and the reverse. Method: one
// writes over several logs of each kind and is closed; the other opens the directory, continues to
// write, and reads all of it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/wal_iterator.h"
#include "varve/write_batch.h"

#include "tests/harness/rocksdb_library.h"

namespace varve::testing {
namespace {

constexpr int kLogs = 4;
constexpr int kPutsInOne = 25;
constexpr uint64_t kPuts = kLogs * kPutsInOne;

class ArchiveInteropTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RocksDbLibrary::Get() == nullptr) GTEST_SKIP() << "there is no library of RocksDB";
    work_ = std::filesystem::temp_directory_path() / ("varve_archive_" + std::to_string(getpid()));
    std::filesystem::remove_all(work_);
    std::filesystem::create_directories(work_);
  }
  void TearDown() override { std::filesystem::remove_all(work_); }

  std::string Path() const { return (work_ / "db").string(); }
  static std::string KeyOf(uint64_t sequence) { return "key" + std::to_string(sequence); }

  // --- Varve
  Options OurOptions(bool mapped) const {
    Options options;
    options.create_if_missing = true;
    options.compression = kNoCompression;
    options.WAL_ttl_seconds = 10000;
    options.allow_fallocate = mapped;
    return options;
  }
  void WriteOurs(bool mapped) const {
    DB* raw = nullptr;
    ASSERT_TRUE(DB::Open(OurOptions(mapped), Path(), &raw).ok());
    const std::unique_ptr<DB> db(raw);
    for (uint64_t seq = 1; seq <= kPuts; seq++) {
      ASSERT_TRUE(db->Put(WriteOptions(), KeyOf(seq), std::string(seq * 100, 'v')).ok());
      const bool last = seq % kPutsInOne == 0;
      ASSERT_TRUE(!last || db->Flush(FlushOptions()).ok());
    }
  }
  // Counts the sequence numbers from `from` on, and checks the key of each.
  uint64_t CountOurs(uint64_t from) const {
    DB* raw = nullptr;
    const Status s = DB::Open(OurOptions(true), Path(), &raw);
    EXPECT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<DB> db(raw);
    const SequenceNumber next = db->GetLatestSequenceNumber() + 1;
    EXPECT_TRUE(db->Put(WriteOptions(), KeyOf(next), "last").ok());
    std::unique_ptr<WalIterator> it;
    const Status found = db->GetUpdatesSince(from, &it);
    EXPECT_TRUE(found.ok()) << found.ToString();
    uint64_t count = 0;
    for (; it != nullptr && it->Valid(); it->Next()) {
      const BatchResult batch = it->GetBatch();
      EXPECT_EQ(batch.sequence, from + count);
      EXPECT_NE(batch.writeBatchPtr->Data().find(KeyOf(batch.sequence)), std::string::npos);
      count++;
    }
    EXPECT_TRUE(it == nullptr || it->status().ok()) << it->status().ToString();
    return count;
  }

  // --- RocksDB
  void* OpenTheirs() const {
    void* const options = library().Call<void*>("options_create");
    library().Call<void>("options_set_create_if_missing", options, static_cast<unsigned char>(1));
    library().Call<void>("options_set_WAL_ttl_seconds", options, uint64_t{10000});
    library().Call<void>("options_set_compression", options, 0);
    std::string error;
    void* const db = library().Checked<void*>(&error, "open", options, Path().c_str());
    EXPECT_EQ(error, "");
    library().Call<void>("options_destroy", options);
    return db;
  }
  void PutTheirs(void* db, uint64_t seq) const {
    void* const options = library().Call<void*>("writeoptions_create");
    const std::string key = KeyOf(seq);
    const std::string value(seq * 100, 'v');
    std::string error;
    library().Checked<void>(&error, "put", db, options, key.data(), key.size(), value.data(),
                            value.size());
    EXPECT_EQ(error, "");
    library().Call<void>("writeoptions_destroy", options);
  }
  uint64_t CountTheirs(uint64_t from) const {
    void* const db = OpenTheirs();
    if (db == nullptr) return 0;
    PutTheirs(db, kPuts + 1);
    std::string error;
    void* const it = library().Checked<void*>(&error, "get_updates_since", db, from,
                                              static_cast<const void*>(nullptr));
    EXPECT_EQ(error, "");
    uint64_t count = 0;
    while (it != nullptr && library().Call<unsigned char>("wal_iter_valid", it) != 0) {
      uint64_t sequence = 0;
      void* const batch = library().Call<void*>("wal_iter_get_batch", it, &sequence);
      // A batch without updates begins a log of Varve.
      if (library().Call<int>("writebatch_count", batch) != 0) {
        EXPECT_EQ(sequence, from + count);
        count++;
      }
      library().Call<void>("writebatch_destroy", batch);
      library().Call<void>("wal_iter_next", it);
    }
    if (it != nullptr) library().Call<void>("wal_iter_destroy", it);
    library().Call<void>("close", db);
    return count;
  }

  static const RocksDbLibrary& library() { return *RocksDbLibrary::Get(); }

  std::filesystem::path work_;
};

TEST_F(ArchiveInteropTest, RocksDbReadsOurs) {
  for (const bool mapped : {true, false}) {
    for (const uint64_t from : {uint64_t{1}, uint64_t{kPutsInOne + 3}, kPuts}) {
      SCOPED_TRACE(from);
      std::filesystem::remove_all(Path());
      ASSERT_NO_FATAL_FAILURE(WriteOurs(mapped));
      EXPECT_EQ(CountTheirs(from), kPuts + 2 - from);
    }
  }
}

TEST_F(ArchiveInteropTest, VarveReadsTheirs) {
  void* const db = OpenTheirs();
  ASSERT_NE(db, nullptr);
  void* const options = library().Call<void*>("flushoptions_create");
  for (uint64_t seq = 1; seq <= kPuts; seq++) {
    PutTheirs(db, seq);
    std::string error;
    if (seq % kPutsInOne == 0) library().Checked<void>(&error, "flush", db, options);
    EXPECT_EQ(error, "");
  }
  library().Call<void>("flushoptions_destroy", options);
  library().Call<void>("close", db);
  EXPECT_EQ(CountOurs(1), kPuts + 1);
  EXPECT_EQ(CountOurs(kPutsInOne), kPuts + 3 - kPutsInOne);
}

}  // namespace
}  // namespace varve::testing
