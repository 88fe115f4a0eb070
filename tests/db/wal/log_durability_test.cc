// SPDX-License-Identifier: Apache-2.0

// Goal: no write with `sync`, and no SyncWAL, returns OK unless a sync of its log that began when
// the record was there has ended well; many writers share syncs all the same; and a kill is never
// taken for a loss of what was synced. Method: several threads write over every kind of log and in
// every write mode, a file system keeps a ledger of syncs, and afterwards each acknowledgement is
// looked up there; databases that a kill left with such marks are opened.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/write_batch.h"

#include "tests/db/wal/sync_ledger.h"
#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

constexpr const char* kName = "/db";

struct DurableLog {
  const char* name;
  bool mapped;
  void (*tune)(DBOptions*);
};

constexpr DurableLog kLogKinds[] = {
    {"mapped", true, [](DBOptions*) {}},
    {"buffered", false, [](DBOptions*) {}},
    {"compressed", false, [](DBOptions* db) { db->wal_compression = kZSTD; }},
    {"recycled", false, [](DBOptions* db) { db->recycle_log_file_num = 2; }},
    {"manual", false, [](DBOptions* db) { db->manual_wal_flush = true; }},
    {"rate-limited", false, [](DBOptions* db) { db->wal_bytes_per_sync = 4096; }},
};

struct CommitKind {
  const char* name;
  void (*tune)(DBOptions*);
};

constexpr CommitKind kCommitKinds[] = {
    {"ordered", [](DBOptions*) {}},
    {"pipelined", [](DBOptions* db) { db->enable_pipelined_write = true; }},
    {"unordered", [](DBOptions* db) { db->unordered_write = true; }},
};

// A promise of durability that was made.
struct Ack {
  std::string key;
  SyncLedger::Moment at;
};

// Finds the first key that the writer of a batch put.
class FirstKey final : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t, const Slice& key, const Slice&) override {
    key_ = key.ToString();
    return Status::OK();
  }
  static std::string Of(const std::string& record) {
    FirstKey key;
    const WriteBatch batch(record);
    return batch.Iterate(&key).ok() ? key.key_ : "";
  }

 private:
  std::string key_;
};

class LogDurabilityTest : public ::testing::Test {
 protected:
  void Open(const DurableLog& log, const CommitKind& commit, std::chrono::microseconds sync_takes,
            WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery) {
    auto mem = std::make_shared<MemFileSystem>();
    if (log.mapped) mem->OfferMappedFiles();
    ledger_ = std::make_shared<SyncLedger>(mem, sync_takes);
    env_ = NewCompositeEnv(ledger_);
    options_ = Options();
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.info_log = SilentLogger();
    options_.compression = kNoCompression;
    options_.write_buffer_size = one_log_ ? 64 << 20 : 64 << 10;
    options_.wal_recovery_mode = mode;
    log.tune(&options_);
    commit.tune(&options_);
    const Status s = DB::Open(options_, kName, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  // Runs one of several writers: synced writes, plain ones, and plain ones that SyncWAL follows.
  // (Where logs become obsolete, SyncWAL may have nothing to sync: the entry is in a table.)
  void Write(int thread, int writes, std::vector<Ack>* acks) {
    Random random(static_cast<uint64_t>(thread) + 1);
    for (int i = 0; i < writes; i++) {
      Ack ack{std::to_string(thread) + "-" + std::to_string(i), 0};
      const bool plain = random.OneIn(4);
      WriteOptions options;
      options.sync = !plain;
      const size_t bytes = random.OneIn(4) ? 6000 : random.Below(300);
      const std::string value = random.OneIn(2) ? random.Text(bytes) : std::string(bytes, 'r');
      Status s = db_->Put(options, ack.key, value);
      const bool promised = !plain || (one_log_ && random.OneIn(2));
      if (s.ok() && plain && promised) s = db_->SyncWAL();
      if (promised) acks->push_back({ack.key, ledger_->Now()});
      EXPECT_TRUE(s.ok()) << s.ToString();
    }
  }

  std::vector<Ack> WriteInThreads(int threads, int writes) {
    std::vector<std::vector<Ack>> acks(static_cast<size_t>(threads));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; t++) {
      running.emplace_back([&, t] { Write(t, writes, &acks[static_cast<size_t>(t)]); });
    }
    for (std::thread& thread : running) thread.join();
    std::vector<Ack> all;
    for (const auto& some : acks) all.insert(all.end(), some.begin(), some.end());
    return all;
  }

  // Returns the number of promises that were not true when they were made.
  size_t BrokenPromises(const std::vector<Ack>& acks) {
    std::map<std::string, SyncLedger::Moment> durable;
    for (const auto& [number, bytes] : ledger_->Logs(kName)) {
      const LogContents log = ReadLogBytes(bytes, WALRecoveryMode::kPointInTimeRecovery, number);
      for (size_t i = 0; i < log.records.size(); i++) {
        durable[FirstKey::Of(log.records[i])] = ledger_->DurableSince(number, log.ends[i]);
      }
    }
    return static_cast<size_t>(std::ranges::count_if(acks, [&](const Ack& ack) {
      const auto at = durable.find(ack.key);
      return at == durable.end() || at->second > ack.at;
    }));
  }

  // Checks that the files a kill left can be opened, and that nothing is reported as lost.
  void OpenKilled(const std::shared_ptr<MemFileSystem>& files) {
    const std::unique_ptr<Env> env = NewCompositeEnv(files);
    Options options = options_;
    options.env = env.get();
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options, kName, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::map<std::string, std::string> report;
    ASSERT_TRUE(db->GetMapProperty("varve.recovery", &report));
    EXPECT_EQ(report["synced_bytes_lost"], "0") << report["reason"];
    EXPECT_EQ(report["set_aside"].find(".log"), std::string::npos) << report["set_aside"];
  }

  // Returns true if the call ends before syncs are released. It releases them.
  bool EndsWhileSyncsAreHeld(const std::function<void()>& call) {
    const std::future<void> ended = std::async(std::launch::async, call);
    const bool soon = ended.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
    ledger_->LetSyncsGo();
    return soon;
  }

  bool one_log_ = false;  // no memtable is ever full
  std::shared_ptr<SyncLedger> ledger_;
  std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(LogDurabilityTest, NoAckComesBeforeASyncThatBeganBehindItsRecord) {
  constexpr int kThreads = 4;
  constexpr int kWrites = 50;
  for (const DurableLog& log : kLogKinds) {
    for (const CommitKind& commit : kCommitKinds) {
      SCOPED_TRACE(std::string(log.name) + ", " + commit.name);
      one_log_ = !one_log_;
      Open(log, commit, std::chrono::microseconds(100));
      const std::vector<Ack> acks = WriteInThreads(kThreads, kWrites);
      ASSERT_TRUE(db_->Close().ok());
      db_.reset();
      ASSERT_GT(acks.size(), size_t{kThreads} * kWrites / 2);
      EXPECT_EQ(BrokenPromises(acks), 0u) << "of " << acks.size();
    }
  }
}

TEST_F(LogDurabilityTest, ManyWritersShareASyncOfABufferedLog) {
  constexpr int kThreads = 8;
  constexpr int kWrites = 20;
  Open(kLogKinds[1], kCommitKinds[0], std::chrono::milliseconds(2));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      WriteOptions options;
      options.sync = true;
      for (int i = 0; i < kWrites; i++) {
        EXPECT_TRUE(db_->Put(options, std::to_string(t * kWrites + i), "value").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(ledger_->syncs(), uint64_t{kThreads} * kWrites / 2);
}

TEST_F(LogDurabilityTest, AKillIsNeverTakenForALoss) {
  constexpr size_t kKills = 8;
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kTolerateCorruptedTailRecords}) {
    for (const DurableLog& log : kLogKinds) {
      if (log.mapped) continue;  // a copy of what others store into is no moment of it
      SCOPED_TRACE(std::string(log.name) + ", mode " + std::to_string(static_cast<int>(mode)));
      Open(log, kCommitKinds[0], std::chrono::microseconds(20), mode);
      ledger_->KillAtMarks(/*one_in=*/3, kKills);
      WriteInThreads(/*threads=*/3, /*writes=*/60);
      ASSERT_TRUE(db_->Close().ok());
      db_.reset();
      EXPECT_EQ(ledger_->killed().size(), kKills);
      for (const auto& files : ledger_->killed()) OpenKilled(files);
    }
  }
}

TEST_F(LogDurabilityTest, NobodyWaitsForSyncWalThatDoesNotAskForIt) {
  for (const DurableLog& log : kLogKinds) {
    SCOPED_TRACE(log.name);
    Open(log, kCommitKinds[0], std::chrono::microseconds(0));
    ASSERT_TRUE(db_->Put(WriteOptions(), "a", "1").ok());
    ledger_->HoldSyncs();
    std::future<Status> sync = std::async(std::launch::async, [&] { return db_->SyncWAL(); });
    ledger_->AwaitHeldSync();
    EXPECT_TRUE(EndsWhileSyncsAreHeld([&] {
      EXPECT_TRUE(db_->Put(WriteOptions(), "b", "2").ok());
      EXPECT_TRUE(db_->FlushWAL(/*sync=*/false).ok());
      // A log is left, and becomes obsolete, while it is synced.
      EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
      EXPECT_TRUE(db_->Put(WriteOptions(), "c", "3").ok());
      db_->ReleaseSnapshot(db_->GetSnapshot());
    }));
    EXPECT_TRUE(sync.get().ok());
    EXPECT_TRUE(db_->SyncWAL().ok());
    db_.reset();
  }
}

// A single unflushed key keeps all logs.
TEST_F(LogDurabilityTest, LogsThatAreKeptAreNotKeptOpen) {
  for (const DurableLog& log : kLogKinds) {
    SCOPED_TRACE(log.name);
    Open(log, kCommitKinds[0], std::chrono::microseconds(0));
    ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(options_, "other", &other).ok());
    ASSERT_TRUE(db_->Put(WriteOptions(), other, "unflushed", "value").ok());
    int most = 0;
    for (int i = 0; i < 30; i++) {
      ASSERT_TRUE(db_->Put(WriteOptions(), std::to_string(i), "value").ok());
      ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
      most = std::max(most, ledger_->open_logs());
    }
    VectorLogPtr logs;
    ASSERT_TRUE(db_->GetSortedWalFiles(logs).ok());
    EXPECT_GE(logs.size(), 30u);
    EXPECT_LE(most, 3);
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
  }
}

TEST_F(LogDurabilityTest, ObsoleteLogsThatMayNotBeDeletedAreNotKeptOpen) {
  Open(kLogKinds[0], kCommitKinds[0], std::chrono::microseconds(0));
  ASSERT_TRUE(db_->DisableFileDeletions().ok());
  for (int i = 0; i < 30; i++) {
    ASSERT_TRUE(db_->Put(WriteOptions(), std::to_string(i), "value").ok());
    ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  }
  EXPECT_TRUE(Eventually([&] { return ledger_->open_logs() <= 2; })) << ledger_->open_logs();
  ASSERT_TRUE(db_->EnableFileDeletions().ok());
}

}  // namespace
}  // namespace varve::testing
