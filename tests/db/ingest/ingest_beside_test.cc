// SPDX-License-Identifier: Apache-2.0

// Goal: whatever goes on beside ingestions, readers see all of one or nothing, snapshots do not
// change, no write is lost or overtaken, and Close waits. Method: threads that write into the
// ranges that are ingested, that read, that compact, that take snapshots; each ingestion writes its
// own number to a set of keys in two families.

#include <atomic>
#include <set>
#include <thread>

#include "varve/external_file.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction.h"

#include "tests/db/ingest/ingest_fixture.h"
#include "tests/harness/environment.h"

namespace varve::testing {
namespace {

constexpr int kSharedKeys = 20;

std::string SharedKey(int i) {
  return "k" + std::to_string(100 + i);
}

class IngestBesideTest : public IngestTest {
 protected:
  static int Rounds() { return static_cast<int>(NumberFromEnvironment("VARVE_INGEST_ROUNDS", 40)); }

  // Each family in two files that do not overlap.
  Status IngestNumber(int number) {
    ExternalFile low;
    ExternalFile high;
    for (int i = 0; i < kSharedKeys; i++) {
      (i < kSharedKeys / 2 ? low : high).Put(SharedKey(i), std::to_string(number));
    }
    std::vector<IngestExternalFileArg> args;
    for (const char* family : {"default", "other"}) {
      IngestExternalFileArg arg;
      arg.column_family = Handle(family);
      arg.external_files = {Make(low), Make(high)};
      arg.options.move_files = true;
      args.push_back(arg);
    }
    return db()->IngestExternalFiles(args);
  }
  // The numbers that the keys have, of both families at one moment; -1: a key is missing.
  std::set<int> Numbers(const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::vector<Iterator*> iterators;
    EXPECT_TRUE(db()->NewIterators(options, {Handle("default"), Handle("other")}, &iterators).ok());
    std::set<int> numbers;
    for (Iterator* it : iterators) {
      int keys = 0;
      for (it->Seek("k"); it->Valid() && it->key().starts_with("k"); it->Next()) {
        if (it->key().size() != 4) continue;
        numbers.insert(std::stoi(it->value().ToString()));
        keys++;
      }
      EXPECT_TRUE(it->status().ok());
      if (keys != kSharedKeys) numbers.insert(-1);
      delete it;
    }
    return numbers;
  }
};

TEST_F(IngestBesideTest, NobodySeesAHalf) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 3;
  options_.write_buffer_size = 256 << 10;
  Open({"default", "other"});
  ASSERT_EQ(IngestNumber(0).ToString(), "OK");
  std::atomic<bool> stop{false};
  std::atomic<int> acknowledged{0};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; writer++) {
    threads.emplace_back([&, writer] {
      // Writes keys between the shared ones, so that each overlaps the ingested tables.
      for (int i = 0; !stop; i++) {
        const std::string key =
            SharedKey(i % kSharedKeys) + "w" + std::to_string(writer) + std::to_string(i % 50);
        ColumnFamilyHandle* const family = Handle(i % 2 == 0 ? "default" : "other");
        ASSERT_TRUE(db()->Put(WriteOptions(), family, key, std::to_string(i)).ok());
        std::string value;
        ASSERT_TRUE(db()->Get(ReadOptions(), family, key, &value).ok());
        ASSERT_EQ(value, std::to_string(i));
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      const int least = acknowledged;
      const std::set<int> numbers = Numbers(nullptr);
      ASSERT_EQ(numbers.size(), 1u);
      ASSERT_GE(*numbers.begin(), least);
    }
  });
  threads.emplace_back([&] {
    while (!stop) {
      const Snapshot* const snapshot = db()->GetSnapshot();
      ASSERT_NE(snapshot, nullptr);
      const std::set<int> first = Numbers(snapshot);
      ASSERT_EQ(first.size(), 1u);
      for (int i = 0; i < 10; i++) ASSERT_EQ(Numbers(snapshot), first);
      db()->ReleaseSnapshot(snapshot);
    }
  });
  for (int i = 1; i <= Rounds(); i++) {
    ASSERT_EQ(IngestNumber(i).ToString(), "OK");
    acknowledged = i;
    if (i % 8 == 0) {
      ASSERT_TRUE(
          db()->CompactRange(CompactRangeOptions(), Handle("default"), nullptr, nullptr).ok());
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Numbers(nullptr), std::set<int>{Rounds()});
  Reopen();
  EXPECT_EQ(Numbers(nullptr), std::set<int>{Rounds()});
}

TEST_F(IngestBesideTest, CloseWaits) {
  for (int round = 0; round < 10; round++) {
    Open({"default", "other"});
    std::atomic<int> done{-1};
    std::atomic<bool> begun{false};
    std::thread ingests([&] {
      for (int i = round * 1000;; i++) {
        begun = true;
        const Status s = IngestNumber(i);
        if (!s.ok()) {
          EXPECT_TRUE(s.IsShutdownInProgress()) << s.ToString();
          return;
        }
        done = i;
      }
    });
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * round));
    ASSERT_TRUE(db()->Close().ok());
    ingests.join();
    ASSERT_TRUE(Close().ok());
    if (done < 0) continue;
    Open({"default", "other"});
    EXPECT_EQ(Numbers(nullptr), std::set<int>{done});
    EXPECT_EQ(StagedFiles(), 0u);
    ASSERT_TRUE(Close().ok());
  }
}

// Reads of an optimistic transaction are checked against tables ingested since, also if a table has
// no sequence number.
TEST_F(IngestBesideTest, TransactionsNotice) {
  Options options = options_;
  options.env = nullptr;
  const std::unique_ptr<Env> env = NewCompositeEnv(file_system());
  options.env = env.get();
  OptimisticTransactionDB* opened = nullptr;
  ASSERT_TRUE(OptimisticTransactionDB::Open(options, kName, &opened).ok());
  const std::unique_ptr<OptimisticTransactionDB> owner(opened);
  for (const bool overlaps : {false, true}) {
    if (overlaps) {
      ASSERT_TRUE(owner->Put(WriteOptions(), "k", "0").ok());
    }
    const std::unique_ptr<Transaction> txn(owner->BeginTransaction(WriteOptions()));
    const std::unique_ptr<Transaction> other(owner->BeginTransaction(WriteOptions()));
    std::string value;
    txn->GetForUpdate(ReadOptions(), "k", &value).PermitUncheckedError();
    other->GetForUpdate(ReadOptions(), "z", &value).PermitUncheckedError();
    ASSERT_EQ(
        owner->IngestExternalFile({Make(ExternalFile().Put("k", "1"))}, IngestExternalFileOptions())
            .ToString(),
        "OK");
    ASSERT_TRUE(txn->Put("x", "2").ok());
    EXPECT_TRUE(txn->Commit().IsBusy());
    ASSERT_TRUE(other->Put("y", "2").ok());
    EXPECT_EQ(other->Commit().ToString(), "OK");
    const std::unique_ptr<Transaction> later(owner->BeginTransaction(WriteOptions()));
    ASSERT_TRUE(later->GetForUpdate(ReadOptions(), "k", &value).ok());
    EXPECT_EQ(value, "1");
    ASSERT_TRUE(later->Put("k", "3").ok());
    EXPECT_EQ(later->Commit().ToString(), "OK");
  }
}

}  // namespace
}  // namespace varve::testing
