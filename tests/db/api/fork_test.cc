// SPDX-License-Identifier: Apache-2.0

// Goal: in a child that fork() makes, a database of the parent answers every call with
// InvalidArgument, at once, and touches no file, also when the child deletes it; the parent goes
// on; and the child may open databases of its own. Method: children that try everything while
// background work and writers run in the parent.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "varve/cache.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/filter_policy.h"
#include "varve/rate_limiter.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/write_buffer_manager.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer does not follow a process of several threads through fork()";
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
    GTEST_SKIP() << "AddressSanitizer's allocator may be locked by a thread that the child lacks";
#endif
#endif
    options_.create_if_missing = true;
    options_.info_log = SilentLogger();
    ASSERT_TRUE(DestroyDB(name_, options_).ok());
    ASSERT_TRUE(DB::Open(options_, name_, &db_).ok());
  }
  void TearDown() override {
    if (IsSkipped()) return;
    db_.reset();
    EXPECT_TRUE(DestroyDB(name_, options_).ok());
    EXPECT_TRUE(DestroyDB(name_ + "-child", options_).ok());
  }

  // Runs in the child. Returns 0, or the number of the call that failed.
  int TryEverything(ColumnFamilyHandle* handle, const Snapshot* snapshot) {
    std::string text;
    uint64_t number = 0;
    WriteBatch batch;
    batch.Put("k", "v").PermitUncheckedError();
    std::vector<std::string> files;
    DB* const db = db_.get();
    const std::function<Status()> calls[] = {
        [&] { return db->Put(WriteOptions(), "k", "v"); },
        [&] { return db->Delete(WriteOptions(), "k"); },
        [&] { return db->Write(WriteOptions(), &batch); },
        [&] { return db->Get(ReadOptions(), "k", &text); },
        [&] { return std::unique_ptr<Iterator>(db->NewIterator(ReadOptions()))->status(); },
        [&] { return db->Flush(FlushOptions()); },
        [&] { return db->SyncWAL(); },
        [&] { return db->LockWAL(); },
        [&] { return db->UnlockWAL(); },
        [&] { return db->CompactRange(CompactRangeOptions(), nullptr, nullptr); },
        [&] { return db->VerifyChecksum(); },
        [&] { return db->VerifyFileChecksums(ReadOptions()); },
        [&] { return db->GetLiveFiles(files, &number); },
        [&] {
          return db->SetDBOptions({{"max_background_jobs", "3"}});
        },
        [&] {
          return db->SetOptions({{"write_buffer_size", "1M"}});
        },
        [&] { return db->Resume(); },
        [&] { return db->ResetStats(); },
        [&] { return db->ContinueBackgroundWork(); },
        [&] { return db->DropColumnFamily(handle); },
        [&] { return db->DestroyColumnFamilyHandle(handle); },
        [&] { return db->Close(); },
    };
    int i = 0;
    for (const auto& call : calls) {
      i++;
      if (!call().IsInvalidArgument()) return i;
    }
    if (db->GetProperty("rocksdb.stats", &text)) return i + 1;
    if (db->GetIntProperty("rocksdb.estimate-num-keys", &number)) return i + 2;
    if (db->GetSnapshot() != nullptr) return i + 3;
    db->ReleaseSnapshot(snapshot);
    std::vector<LiveFileMetaData> metadata;
    db->GetLiveFilesMetaData(&metadata);
    db->NumberLevels();
    (void)db->GetOptions();
    db->CancelAllBackgroundWork(/*wait=*/true);
    db->DisableManualCompaction();
    db_.reset();
    return 0;
  }
  // Runs in the child. Returns 0, or the step of another database's life that went wrong.
  int UseAnother() {
    const std::string name = name_ + "-child";
    std::unique_ptr<DB> db;
    if (!DB::Open(options_, name, &db).ok()) return 1;
    for (int i = 0; i < 2000; i++) {
      if (!db->Put(WriteOptions(), std::to_string(i), "v").ok()) return 2;
      if (i % 500 == 0 && !db->Flush(FlushOptions()).ok()) return 3;
    }
    if (!db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok()) return 4;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    int n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) n++;
    if (n != 2000) return 5;
    std::string value;
    std::thread reader([&] { n = db->Get(ReadOptions(), "7", &value).ok() ? 0 : 6; });
    reader.join();
    return n;
  }
  // Blocks that are read for the first time come through rings, where the system has them: 0, or
  // which key was missed.
  static int ReadMany(DB* db, int first) {
    constexpr int kKeys = 64;
    std::vector<std::string> names;
    for (int i = 0; i < kKeys; i++) names.push_back(std::to_string(first + i * 29 % 1800));
    const std::vector<Slice> keys(names.begin(), names.end());
    std::vector<PinnableSlice> values(kKeys);
    std::vector<Status> statuses(kKeys);
    ReadOptions options;
    options.fill_cache = false;
    db->MultiGet(options, db->DefaultColumnFamily(), kKeys, keys.data(), values.data(),
                 statuses.data());
    for (int i = 0; i < kKeys; i++) {
      if (!statuses[i].ok() || values[i] != names[i] + std::string(100, 'v')) return i + 1;
    }
    return 0;
  }
  // Writes 2,000 keys into one table.
  static bool FillForReadMany(DB* db) {
    for (int i = 0; i < 2000; i++) {
      const std::string key = std::to_string(i);
      if (!db->Put(WriteOptions(), key, key + std::string(100, 'v')).ok()) return false;
    }
    return db->Flush(FlushOptions()).ok();
  }
  // The parent's database once more, with these options, which hold what two databases may share.
  void Reopen() {
    db_.reset();
    ASSERT_TRUE(DB::Open(options_, name_, &db_).ok());
  }
  int InChild(const std::function<int()>& run) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);  // a child that hangs
      ::_exit(run());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int RunChild(ColumnFamilyHandle* handle, const Snapshot* snapshot) {
    return InChild([&] { return TryEverything(handle, snapshot); });
  }
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    std::vector<std::string> entries;
    EXPECT_TRUE(Env::Default()->GetChildren(name_, &entries).ok());
    for (const std::string& entry : entries) {
      EXPECT_TRUE(ReadFileToString(Env::Default(), name_ + "/" + entry, &contents[entry]).ok());
    }
    return contents;
  }

  std::string name_ = "/tmp/varve_fork_test-" + std::to_string(::getpid());
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(ForkTest, TheChildsDatabaseIsDead) {
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), "l", "w").ok());
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "a", &handle).ok());
  const Snapshot* const snapshot = db_->GetSnapshot();
  const auto before = Contents();
  EXPECT_EQ(RunChild(handle, snapshot), 0);
  EXPECT_TRUE(Contents() == before) << "the child touched a file";
  db_->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "l", &value).ok());
  EXPECT_TRUE(db_->Put(WriteOptions(), "m", "x").ok());
  EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
  EXPECT_TRUE(db_->Close().ok());
}

// The pools of the default Env have threads by now, which the child has not.
TEST_F(ForkTest, AChildMayHaveADatabaseOfItsOwn) {
  ASSERT_TRUE(db_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  for (int round = 0; round < 5; round++) {
    EXPECT_EQ(InChild([&] { return UseAnother(); }), 0);
  }
  EXPECT_TRUE(db_->Put(WriteOptions(), "l", "w").ok());
  EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
}

TEST_F(ForkTest, InTheMiddleOfWriting) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; t++) {
    writers.emplace_back([&, t] {
      for (int i = 0; !stop.load(); i++) {
        EXPECT_TRUE(db_->Put(WriteOptions(), std::to_string(t * 1000 + i % 1000), "v").ok());
        if (i % 5000 == 0) {
          EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
        }
      }
    });
  }
  for (int round = 0; round < 20; round++) {
    EXPECT_EQ(RunChild(db_->DefaultColumnFamily(), nullptr), 0);
    EXPECT_EQ(InChild([&] { return UseAnother(); }), 0);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(ForkTest, BothReadManyKeysAtOnce) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Reopen();
  ASSERT_TRUE(FillForReadMany(db_.get()));
  std::atomic<bool> stop{false};
  std::atomic<int> missed{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; t++) {
    readers.emplace_back([&] {
      for (int i = 0; !stop.load(); i++) missed += ReadMany(db_.get(), i % 200) == 0 ? 0 : 1;
    });
  }
  for (int round = 0; round < 5; round++) {
    EXPECT_EQ(InChild([&] {
                std::unique_ptr<DB> db;
                if (!DB::Open(options_, name_ + "-child", &db).ok()) return 100;
                if (!FillForReadMany(db.get())) return 101;
                for (int i = 0; i < 100; i++) {
                  if (const int key = ReadMany(db.get(), i); key != 0) return key;
                }
                return 0;
              }),
              0);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(missed.load(), 0);
}

// Threads of the parent use the options' objects when it forks.
TEST_F(ForkTest, WhatDatabasesShareIsWholeInTheChild) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(1 << 20, 1);
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.statistics = CreateDBStatistics();
  options_.rate_limiter.reset(NewGenericRateLimiter(20 << 20, 1000));
  options_.write_buffer_manager =
      std::make_shared<WriteBufferManager>(8 << 20, table.block_cache, /*allow_stall=*/true);
  ASSERT_TRUE(CreateLoggerFromOptions(name_, options_, &options_.info_log).ok());
  Reopen();
  ASSERT_TRUE(FillForReadMany(db_.get()));
  std::atomic<bool> stop{false};
  std::vector<std::thread> users;
  for (int t = 0; t < 2; t++) {
    users.emplace_back([&, t] {
      std::string value;
      for (int i = 0; !stop.load(); i++) {
        const std::string key = std::to_string(i * 7 % 2000);
        EXPECT_TRUE(db_->Get(ReadOptions(), key, &value).ok());
        EXPECT_TRUE(db_->Put(WriteOptions(), key, key + std::string(100, 'v')).ok());
        options_.statistics->setTickerCount(NUMBER_KEYS_WRITTEN, 0);
        if (i % 8 == 0) Log(options_.info_log, "thread %d, %d", t, i);
      }
    });
  }
  for (int round = 0; round < 10; round++) {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    PinnableSlice pinned;
    EXPECT_TRUE(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "7", &pinned).ok());
    EXPECT_EQ(InChild([&] {
                it.reset();
                pinned.Reset();
                const int wrong = UseAnother();
                Log(options_.info_log, "child");
                options_.statistics->ToString();
                return wrong;
              }),
              0);
  }
  stop = true;
  for (std::thread& user : users) user.join();
}

// The child has a copy of it.
TEST_F(ForkTest, AChildMayUseAnEnvInMemory) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  const std::string name = std::exchange(name_, "/db");
  const Options before = options_;
  options_.env = env.get();
  Reopen();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop.load(); i++) {
      EXPECT_TRUE(db_->Put(WriteOptions(), std::to_string(i % 1000), "v").ok());
      if (i % 1000 == 0) {
        EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
      }
    }
  });
  for (int round = 0; round < 5; round++) {
    EXPECT_EQ(InChild([&] { return UseAnother(); }), 0);
  }
  stop = true;
  writer.join();
  db_.reset();
  options_ = before;
  name_ = name;
}

TEST_F(ForkTest, AChildDoesNotWaitForThreadsOfItsParent) {
  Env* const env = Env::Default();
  std::atomic<bool> stop{false};
  const auto wait = [](void* flag) {
    while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
  };
  env->StartThread(wait, &stop);
  EXPECT_EQ(InChild([&] {
              env->WaitForJoin();
              return 0;
            }),
            0);
  stop = true;
  env->WaitForJoin();
}

}  // namespace
}  // namespace varve::testing
