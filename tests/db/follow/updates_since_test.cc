// SPDX-License-Identifier: Apache-2.0

// Goal: a reader of the logs gets every visible write, once, whole and in order, or is told which
// numbers are missing; nothing is skipped silently. Method: random histories of one and of several
// threads, over every kind of log and in every write mode, are compared with what was read beside
// them; then stories of each way in which something can be missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/change_stream.h"
#include "varve/db.h"
#include "varve/utilities/transaction_db.h"
#include "varve/wal_iterator.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

struct LogKind {
  const char* name;
  void (*tune)(DBOptions*);
};

constexpr LogKind kLogKinds[] = {
    {"mapped", [](DBOptions*) {}},
    {"written", [](DBOptions* db) { db->allow_fallocate = false; }},
    {"recycled", [](DBOptions* db) { db->recycle_log_file_num = 2; }},
    {"compressed", [](DBOptions* db) { db->wal_compression = kZSTD; }},
    {"buffered by the database", [](DBOptions* db) { db->manual_wal_flush = true; }},
    {"pipelined", [](DBOptions* db) { db->enable_pipelined_write = true; }},
    {"without order", [](DBOptions* db) { db->unordered_write = true; }},
};

class UpdatesSinceTest : public Database {
 protected:
  UpdatesSinceTest() { options_.write_buffer_size = 64 << 10; }

  std::unique_ptr<TransactionLogIterator> Since(SequenceNumber from) {
    std::unique_ptr<TransactionLogIterator> it;
    const Status s = db()->GetUpdatesSince(from, &it);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return it;
  }
  Status StatusSince(SequenceNumber from) {
    std::unique_ptr<TransactionLogIterator> it;
    return db()->GetUpdatesSince(from, &it);
  }
  void PutUnlogged(const std::string& key) {
    WriteOptions options;
    options.disableWAL = true;
    ASSERT_TRUE(db()->Put(options, key, "unlogged").ok());
  }
};

// Describes a batch in a line: "3:+a=1 -b".
class Lines final : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    text_ += Family(family) + "+" + key.ToString() + "=" + value.ToString() + " ";
    return Status::OK();
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    text_ += Family(family) + "-" + key.ToString() + " ";
    return Status::OK();
  }
  void LogData(const Slice& blob) override { text_ += "#" + blob.ToString() + " "; }
  static std::string Of(const WriteBatch& batch) {
    Lines lines;
    const Status s = batch.Iterate(&lines);
    return s.ok() ? lines.text_ : s.ToString();
  }

 private:
  static std::string Family(uint32_t family) {
    return family == 0 ? "" : std::to_string(family) + "/";
  }
  std::string text_;
};

// "1:+a=1 |2:+b=2 |" up to where the iterator is not valid.
std::string ReadAll(TransactionLogIterator* it) {
  std::string text;
  for (; it->Valid(); it->Next()) {
    const BatchResult batch = it->GetBatch();
    text += std::to_string(batch.sequence) + ":" + Lines::Of(*batch.writeBatchPtr) + "|";
  }
  return text;
}

// The updates that were read, and the numbers that were reported missing.
struct Story {
  std::map<SequenceNumber, std::pair<uint32_t, std::string>> batches;  // count, bytes
  uint64_t gaps = 0;
  uint64_t numbers_in_gaps = 0;
  SequenceNumber next = 1;
};

// Numbers of a gap from the status that tells of it.
void TakeGap(const Status& status, Story* story) {
  const std::string text = status.ToString();
  unsigned long long first = 0;
  unsigned long long last = 0;
  const size_t at = text.find("numbers, ");
  ASSERT_NE(at, std::string::npos) << text;
  ASSERT_EQ(std::sscanf(text.c_str() + at, "numbers, %llu to %llu", &first, &last), 2) << text;
  ASSERT_EQ(first, story->next);
  ASSERT_LE(first, last);
  story->gaps++;
  story->numbers_in_gaps += last - first + 1;
  story->next = last + 1;
}

// Reads until `last` has been read, making new iterators after gaps.
void Follow(DB* db, const std::atomic<SequenceNumber>& last, Story* story) {
  std::unique_ptr<TransactionLogIterator> it;
  while (story->next <= last.load()) {
    if (it == nullptr) {
      if (db->GetLatestSequenceNumber() < story->next) {
        std::this_thread::yield();
        continue;
      }
      const Status s = db->GetUpdatesSince(story->next, &it);
      if (s.IsNotFound()) {
        ASSERT_NO_FATAL_FAILURE(TakeGap(s, story));
        continue;
      }
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    if (it->Valid()) {
      const BatchResult batch = it->GetBatch();
      const uint32_t count = batch.writeBatchPtr->Count();
      ASSERT_EQ(batch.sequence, story->next);
      story->batches[batch.sequence] = {count, batch.writeBatchPtr->Data().substr(12)};
      story->next += count;
    } else if (it->status().IsNotFound()) {
      ASSERT_NO_FATAL_FAILURE(TakeGap(it->status(), story));
      it.reset();
      continue;
    } else {
      ASSERT_TRUE(it->status().ok() || it->status().IsTryAgain()) << it->status().ToString();
      std::this_thread::yield();
    }
    it->Next();
  }
}

// The part of one writer in a history: batches, some of them not logged.
struct Written {
  std::vector<std::string> logged;  // bytes without header
  uint64_t unlogged_numbers = 0;
};

void WriteHistory(DB* db, int thread, int writes, bool all_logged, Written* written) {
  Random random(static_cast<uint64_t>(thread) * 77 + 5);
  for (int i = 0; i < writes; i++) {
    WriteBatch batch;
    const uint64_t updates = 1 + random.Below(4);
    for (uint64_t u = 0; u < updates; u++) {
      const std::string key =
          std::to_string(thread) + "-" + std::to_string(i) + "-" + std::to_string(u);
      const size_t bytes = random.OneIn(60) ? 70000 : random.Below(200);
      if (random.OneIn(5)) {
        ASSERT_TRUE(batch.Delete(key).ok());
      } else {
        ASSERT_TRUE(batch.Put(key, random.Text(bytes)).ok());
      }
    }
    WriteOptions options;
    options.disableWAL = !all_logged && random.OneIn(20);
    if (options.disableWAL) {
      written->unlogged_numbers += updates;
    } else {
      written->logged.push_back(batch.Data().substr(12));
    }
    const Status s = db->Write(options, &batch);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const Status flushed = random.OneIn(150) ? db->Flush(FlushOptions()) : Status::OK();
    const Status handed = random.OneIn(40) ? db->FlushWAL(false) : Status::OK();
    ASSERT_TRUE(flushed.ok() && handed.ok()) << flushed.ToString() << handed.ToString();
  }
}

TEST_F(UpdatesSinceTest, BesideWritersNothingIsMissedOrTwice) {
  const Options base = options_;
  for (const LogKind& kind : kLogKinds) {
    for (const bool all_logged : {true, false}) {
      // Recycled logs refuse writes that are not logged.
      if (!all_logged && kind.name == kLogKinds[2].name) continue;
      SCOPED_TRACE(std::string(kind.name) + (all_logged ? "" : ", some unlogged"));
      options_ = base;
      kind.tune(&options_);
      auto files = std::make_shared<MemFileSystem>();
      files->OfferMappedFiles();
      Remount(std::move(files));
      Open();
      const auto guard = Since(0);  // logs stay for the reader, between its iterators, too
      std::atomic<SequenceNumber> last{UINT64_MAX};
      Story story;
      std::thread reader([&] { Follow(db(), last, &story); });
      std::vector<Written> written(3);
      std::vector<std::thread> writers;
      for (int t = 0; t < 3; t++) {
        writers.emplace_back(
            [&, t] { WriteHistory(db(), t, 300, all_logged, &written[static_cast<size_t>(t)]); });
      }
      for (std::thread& thread : writers) thread.join();
      ASSERT_TRUE(db()->FlushWAL(false).ok());
      last.store(db()->GetLatestSequenceNumber());
      reader.join();
      if (HasFatalFailure()) return;
      EXPECT_EQ(story.next, last.load() + 1);
      std::vector<std::string> expected;
      uint64_t unlogged = 0;
      for (const Written& part : written) {
        expected.insert(expected.end(), part.logged.begin(), part.logged.end());
        unlogged += part.unlogged_numbers;
      }
      std::vector<std::string> delivered;
      for (const auto& [first, batch] : story.batches) delivered.push_back(batch.second);
      std::ranges::sort(expected);
      std::ranges::sort(delivered);
      EXPECT_TRUE(expected == delivered)
          << expected.size() << " batches were written, " << delivered.size() << " delivered";
      EXPECT_EQ(story.numbers_in_gaps, unlogged);
      EXPECT_EQ(story.gaps > 0, !all_logged);
      guard->Next();
      ASSERT_TRUE(Close().ok());
    }
  }
}

TEST_F(UpdatesSinceTest, AnEmptyDatabaseHasNothingToTell) {
  Open();
  auto it = Since(0);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  EXPECT_TRUE(StatusSince(1).IsNotFound());
  Put("a", "1");
  it->Next();
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |");
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(db()->GetUpdatesSince(0, nullptr).code(), Status::kInvalidArgument);
}

TEST_F(UpdatesSinceTest, BeginsWithTheBatchThatHasTheNumber) {
  Open();
  Put("a", "1");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.PutLogData("remark").ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  Put("c", "4");
  EXPECT_EQ(ReadAll(Since(0).get()), "1:+a=1 |2:+b=2 #remark -a |4:+c=4 |");
  EXPECT_EQ(ReadAll(Since(2).get()), "2:+b=2 #remark -a |4:+c=4 |");
  EXPECT_EQ(ReadAll(Since(3).get()), "2:+b=2 #remark -a |4:+c=4 |");
  EXPECT_EQ(ReadAll(Since(4).get()), "4:+c=4 |");
  EXPECT_TRUE(StatusSince(5).IsNotFound());
}

// A batch of nothing but log data takes no number; it comes before later writes.
TEST_F(UpdatesSinceTest, LogDataIsAmongTheBatches) {
  Open();
  Put("a", "1");
  WriteBatch remark;
  ASSERT_TRUE(remark.PutLogData("remark").ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &remark).ok());
  Put("b", "2");
  EXPECT_EQ(ReadAll(Since(2).get()), "2:+b=2 |");
  auto it = Since(1);
  Flush();
  Put("c", "3");  // in a log that begins with a mark, which is no batch of a user
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |2:#remark |2:+b=2 |3:+c=3 |");
}

TEST_F(UpdatesSinceTest, WhatIsReadStaysAndGoesAfterwards) {
  Open();
  Put("a", "1");
  auto it = Since(1);
  for (int i = 0; i < 4; i++) {
    Put("b", std::to_string(i));
    Flush();
  }
  EXPECT_GE(Files(kWalFile).size(), 4u);
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |2:+b=0 |3:+b=1 |4:+b=2 |5:+b=3 |");
  EXPECT_TRUE(it->status().ok());
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
  it.reset();
  const Status s = StatusSince(1);
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  EXPECT_NE(s.ToString().find("numbers, 1 to 5"), std::string::npos) << s.ToString();
}

TEST_F(UpdatesSinceTest, NumbersThatNoLogHasAreAGap) {
  Open();
  Put("a", "1");
  PutUnlogged("b");
  PutUnlogged("c");
  auto it = Since(1);
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |");
  EXPECT_TRUE(it->status().IsNotFound());
  EXPECT_NE(it->status().ToString().find("numbers, 2 to 3"), std::string::npos);
  Put("d", "4");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsNotFound());
  EXPECT_TRUE(StatusSince(2).IsNotFound());
  EXPECT_EQ(ReadAll(Since(4).get()), "4:+d=4 |");
}

TEST_F(UpdatesSinceTest, WhatTheDatabaseHoldsBackComesLater) {
  options_.manual_wal_flush = true;
  Open();
  Put("a", "1");
  auto it = Since(1);
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsTryAgain()) << it->status().ToString();
  ASSERT_TRUE(db()->FlushWAL(false).ok());
  it->Next();
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |");
  EXPECT_TRUE(it->status().ok());
}

TEST_F(UpdatesSinceTest, AClosedDatabaseIsReadNoMore) {
  Open();
  Put("a", "1");
  auto it = Since(1);
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |");
  ASSERT_TRUE(Close().ok());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_FALSE(it->status().ok());
}

TEST_F(UpdatesSinceTest, AReadOnlyDatabaseTellsWhatItHasReplayed) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Kill();
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(ReadAll(Since(2).get()), "2:+b=2 |");
  EXPECT_TRUE(StatusSince(1).IsNotFound());
  EXPECT_TRUE(StatusSince(3).IsNotFound());
}

// Its write failed, and a log that has it must not tell of it.
TEST_F(UpdatesSinceTest, AWriteThatFailedIsNotTold) {
  options_.max_bgerror_resume_count = 0;
  Open();
  Put("a", "1");
  auto it = Since(1);
  EXPECT_EQ(ReadAll(it.get()), "1:+a=1 |");
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.path_contains = ".log";
  faults().Inject(rule);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_FALSE(db()->Put(sync, "b", "failed").ok());
  faults().ClearFaults();
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsTryAgain()) << it->status().ToString();
  ASSERT_TRUE(db()->Resume().ok());
  Put("c", "3");
  const SequenceNumber last = db()->GetLatestSequenceNumber();
  it->Next();
  EXPECT_EQ(ReadAll(it.get()), "");
  EXPECT_TRUE(it->status().IsNotFound()) << it->status().ToString();
  EXPECT_EQ(ReadAll(Since(last).get()), std::to_string(last) + ":+c=3 |");
}

TEST_F(UpdatesSinceTest, DamageIsToldAndNotPassedOver) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Put("c", "3");
  const std::string path = std::string(kName) + "/" + Files(kWalFile).back();
  std::string bytes = ReadFile(path);
  const size_t at = bytes.find(
      "b\x01"
      "2");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 2] = 'x';
  WriteFile(path, bytes);
  std::unique_ptr<TransactionLogIterator> it;
  Status s = db()->GetUpdatesSince(1, &it);
  ASSERT_TRUE(s.ok()) << s.ToString();
  for (int i = 0; i < 5; i++) it->Next();  // it might have been a record on its way
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
  EXPECT_NE(it->status().ToString().find(".log"), std::string::npos);
}

// ---- Two-phase commit ----

class TwoPhaseUpdatesTest : public UpdatesSinceTest {
 protected:
  void OpenTransactions() {
    TransactionDB* opened = nullptr;
    const Status s = TransactionDB::Open(options_, TransactionDBOptions(), kName, &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    transactions_.reset(opened);
  }
  void TearDown() override { transactions_.reset(); }
  DB* base() { return transactions_.get(); }

  std::unique_ptr<Transaction> Prepared(const std::string& name, const std::string& key) {
    std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(WriteOptions()));
    EXPECT_TRUE(txn->SetName(name).ok());
    EXPECT_TRUE(txn->Put(key, name).ok());
    EXPECT_TRUE(txn->Delete(key + key).ok());
    EXPECT_TRUE(txn->Prepare().ok());
    return txn;
  }
  std::string ReadSince(SequenceNumber from) {
    std::unique_ptr<TransactionLogIterator> it;
    const Status s = base()->GetUpdatesSince(from, &it);
    return s.ok() ? ReadAll(it.get()) + (it->status().ok() ? "" : it->status().ToString())
                  : s.ToString();
  }
  void PutPlain(const std::string& key) {
    ASSERT_TRUE(transactions_->Put(WriteOptions(), key, "plain").ok());
  }

  std::unique_ptr<TransactionDB> transactions_;
};

TEST_F(TwoPhaseUpdatesTest, ATransactionIsOneBatchWhereItWasCommitted) {
  ASSERT_NO_FATAL_FAILURE(OpenTransactions());
  PutPlain("a");
  auto first = Prepared("first", "f");
  auto second = Prepared("second", "s");
  auto third = Prepared("third", "t");
  PutPlain("b");
  ASSERT_TRUE(second->Commit().ok());
  ASSERT_TRUE(third->Rollback().ok());
  PutPlain("c");
  ASSERT_TRUE(first->GetCommitTimeWriteBatch()->Put("with", "it").ok());
  ASSERT_TRUE(first->Commit().ok());
  PutPlain("d");
  EXPECT_EQ(ReadSince(1),
            "1:+a=plain |2:+b=plain |3:+s=second -ss |5:+c=plain |"
            "6:+with=it +f=first -ff |9:+d=plain |");
  EXPECT_EQ(ReadSince(4), "3:+s=second -ss |5:+c=plain |6:+with=it +f=first -ff |9:+d=plain |");
  EXPECT_EQ(ReadSince(9), "9:+d=plain |");
}

// A transaction that an opening finds prepared is one batch where it is committed.
TEST_F(TwoPhaseUpdatesTest, AStreamGoesOnWithWhatAnOpeningFindsPrepared) {
  options_.allow_2pc = true;
  ASSERT_NO_FATAL_FAILURE(OpenTransactions());
  ChangeStreamOptions wanted;
  wanted.name = "s";
  std::unique_ptr<ChangeStream> stream;
  ASSERT_TRUE(base()->OpenChangeStream(wanted, &stream).ok());
  const auto read = [&]() -> std::string {
    std::string text;
    ChangeRecord record;
    while (stream->Next(&record).ok() && record.kind == ChangeRecord::Kind::kBatch) {
      text += std::to_string(record.first) + "-" + std::to_string(record.last) + " ";
    }
    return text;
  };
  auto txn = Prepared("txn", "t");
  PutPlain("a");
  EXPECT_EQ(read(), "1-1 ");
  stream.reset();
  txn.reset();
  transactions_.reset();
  ASSERT_NO_FATAL_FAILURE(OpenTransactions());
  ASSERT_TRUE(base()->OpenChangeStream(wanted, &stream).ok());
  std::vector<Transaction*> prepared;
  transactions_->GetAllPreparedTransactions(&prepared);
  ASSERT_EQ(prepared.size(), 1u);
  txn.reset(prepared[0]);
  EXPECT_EQ(read(), "1-1 ");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(read(), "2-3 ");
  stream.reset();
  txn.reset();
}

// The prepared transaction is in a log before that of the position.
TEST_F(TwoPhaseUpdatesTest, APreparedTransactionIsFoundInAnEarlierLog) {
  for (const bool decided_before : {false, true}) {
    SCOPED_TRACE(decided_before);
    transactions_.reset();
    Remount(std::make_shared<MemFileSystem>());
    ASSERT_NO_FATAL_FAILURE(OpenTransactions());
    PutPlain("a");
    auto txn = Prepared("txn", "t");
    ASSERT_TRUE(transactions_->Flush(FlushOptions()).ok());
    PutPlain("b");
    std::unique_ptr<TransactionLogIterator> it;
    if (!decided_before) {
      ASSERT_TRUE(base()->GetUpdatesSince(2, &it).ok());
    }
    ASSERT_TRUE(txn->Commit().ok());
    PutPlain("c");
    if (decided_before) {
      ASSERT_TRUE(base()->GetUpdatesSince(2, &it).ok());
    }
    EXPECT_EQ(ReadAll(it.get()), "2:+b=plain |3:+t=txn -tt |5:+c=plain |");
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    it.reset();
  }
}

}  // namespace
}  // namespace varve::testing
