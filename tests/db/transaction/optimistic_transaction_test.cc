// SPDX-License-Identifier: Apache-2.0

// Goal: optimistic transactions commit if nothing they know has changed, and are Busy if it has,
// whatever changed it. Method: stories of a transaction and of writes beside it.

#include <gmock/gmock.h>

#include <cctype>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/write_batch_with_index.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class OptimisticTest : public Database {
 protected:
  ~OptimisticTest() override { CloseTransactions(); }
  void SetUp() override {
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    OptimisticTransactionDB* opened = nullptr;
    const Status s = OptimisticTransactionDB::Open(
        options_, OptimisticTransactionDBOptions(), kName,
        {{"default", options_}, {"other", options_}}, &handles_, &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    txn_db_.reset(opened);
  }
  void CloseTransactions() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    txn_db_.reset();
  }
  std::unique_ptr<Transaction> Begin(bool set_snapshot = false) {
    OptimisticTransactionOptions options;
    options.set_snapshot = set_snapshot;
    return std::unique_ptr<Transaction>(txn_db_->BeginTransaction(WriteOptions(), options));
  }
  void PutPlain(const std::string& key, const std::string& value) {
    ASSERT_TRUE(txn_db_->Put(WriteOptions(), key, value).ok());
  }
  std::string Committed(const std::string& key) {
    std::string value;
    const Status s = txn_db_->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }
  static std::string ReadForUpdate(Transaction* txn, const std::string& key) {
    std::string value;
    const Status s = txn->GetForUpdate(ReadOptions(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }

  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<OptimisticTransactionDB> txn_db_;
};

TEST_F(OptimisticTest, UpdatesAreSeenByTheTransactionThenByAll) {
  PutPlain("a", "1");
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "2").ok());
  ASSERT_TRUE(txn->Merge("m", "1").ok());
  ASSERT_TRUE(txn->Put(handles_[1], "a", "other's").ok());
  std::string value;
  EXPECT_TRUE(txn->Get(ReadOptions(), "a", &value).ok());
  EXPECT_EQ(value, "2");
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(txn->GetNumKeys(), 3u);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->GetState(), Transaction::COMMITTED);
  EXPECT_EQ(Committed("a"), "2");
  EXPECT_EQ(Committed("m"), "1");
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_TRUE(txn->Put("a", "3").IsInvalidArgument());
}

TEST_F(OptimisticTest, EveryKindOfChangeIsAConflict) {
  using Change = std::function<Status(DB*)>;
  const WriteOptions write;
  const std::vector<Change> changes = {[&](DB* db) { return db->Put(write, "k", "x"); },
                                       [&](DB* db) { return db->Delete(write, "k"); },
                                       [&](DB* db) { return db->SingleDelete(write, "k"); },
                                       [&](DB* db) { return db->Merge(write, "k", "x"); },
                                       [&](DB* db) { return db->DeleteRange(write, "j", "l"); },
                                       [&](DB* db) {
                                         WriteBatch batch;
                                         for (int i = 0; i < 100; i++) {
                                           Status s = batch.Put("many" + std::to_string(i), "x");
                                           if (!s.ok()) return s;
                                         }
                                         Status s = batch.Put("k", "x");
                                         return s.ok() ? db->Write(write, &batch) : s;
                                       }};
  for (size_t i = 0; i < changes.size(); i++) {
    for (const bool past : {false, true}) {
      for (const bool flushed : {false, true}) {
        SCOPED_TRACE(i);
        PutPlain("k", "1");
        const auto reader = Begin();
        const auto writer = Begin();
        const auto beside = Begin();
        EXPECT_EQ(ReadForUpdate(reader.get(), "k"), "1");
        ASSERT_TRUE(reader->Put("r", "1").ok());
        ASSERT_TRUE(writer->Put("k", "2").ok());
        ASSERT_TRUE(beside->Put("l", "2").ok());
        ASSERT_TRUE(changes[i](past ? txn_db_->GetBaseDB() : txn_db_.get()).ok());
        if (flushed) {
          ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
        }
        EXPECT_TRUE(reader->Commit().IsBusy());
        EXPECT_TRUE(writer->Commit().IsBusy());
        EXPECT_TRUE(beside->Commit().ok());
        EXPECT_EQ(writer->GetState(), Transaction::STARTED);
        EXPECT_TRUE(writer->Rollback().ok());
      }
    }
  }
}

// A key that came and went leaves no trace once everything is compacted.
TEST_F(OptimisticTest, ConflictsAreSeenAfterCompactions) {
  for (const bool exists : {true, false}) {
    SCOPED_TRACE(exists);
    if (exists) PutPlain("k", "1");
    PutPlain("beside", "1");
    const auto early = Begin();
    EXPECT_EQ(ReadForUpdate(early.get(), "beside"), "1");
    ASSERT_TRUE(early->Put("r", "1").ok());
    PutPlain("k", "2");
    EXPECT_EQ(ReadForUpdate(early.get(), "k"), "2");
    ASSERT_TRUE(txn_db_->Delete(WriteOptions(), "k").ok());
    ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
    ASSERT_TRUE(txn_db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_TRUE(early->Commit().IsBusy());
  }
  // Unchanged keys are not taken for changed ones.
  const auto txn = Begin();
  EXPECT_EQ(ReadForUpdate(txn.get(), "beside"), "1");
  ASSERT_TRUE(txn->Put("new", "1").ok());
  WriteBatch batch;
  for (int i = 0; i < 100; i++) ASSERT_TRUE(batch.Put("many" + std::to_string(i), "x").ok());
  ASSERT_TRUE(txn_db_->Write(WriteOptions(), &batch).ok());
  ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(txn_db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_TRUE(txn->Commit().ok());
}

// There are so many transactions that all cheap holds of evidence are taken: the rest hold
// snapshots.
TEST_F(OptimisticTest, ManyTransactionsHoldEvidenceAtOnce) {
  PutPlain("beside", "1");
  std::vector<std::unique_ptr<Transaction>> txns;
  for (int i = 0; i < 200; i++) {
    txns.push_back(Begin());
    ASSERT_TRUE(txns.back()->Put("k", std::to_string(i)).ok());
  }
  PutPlain("k", "x");
  ASSERT_TRUE(txn_db_->Delete(WriteOptions(), "k").ok());
  ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(txn_db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  for (const auto& txn : txns) EXPECT_TRUE(txn->Commit().IsBusy());
  for (const auto& txn : txns) ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(Committed("k"), "NOT_FOUND");
  EXPECT_TRUE(txns.back()->Put("k", "last").ok());
  EXPECT_TRUE(txns.back()->Commit().ok());
}

// A rollback restores an older snapshot: keys checked against it need evidence from then on, though
// the transaction already holds a younger state, and gives the snapshot up meanwhile.
TEST_F(OptimisticTest, EvidenceIsAsOldAsTheSnapshot) {
  PutPlain("k", "1");
  PutPlain("beside", "1");
  const auto txn = Begin(/*set_snapshot=*/true);
  txn->SetSavePoint();
  txn->ClearSnapshot();
  PutPlain("k", "2");
  EXPECT_EQ(ReadForUpdate(txn.get(), "beside"), "1");
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  ASSERT_TRUE(txn->Put("k", "3").ok());
  txn->ClearSnapshot();
  ASSERT_TRUE(txn_db_->Delete(WriteOptions(), "k").ok());
  ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(txn_db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_TRUE(txn->Commit().IsBusy());
  EXPECT_EQ(Committed("k"), "NOT_FOUND");
}

TEST_F(OptimisticTest, WhoCommitsFirstWins) {
  const auto a = Begin();
  const auto b = Begin();
  ASSERT_TRUE(a->Put("k", "a").ok());
  ASSERT_TRUE(b->Put("k", "b").ok());
  ASSERT_TRUE(b->Commit().ok());
  EXPECT_TRUE(a->Commit().IsBusy());
  EXPECT_EQ(Committed("k"), "b");
}

TEST_F(OptimisticTest, ASnapshotIsWhereItCounts) {
  PutPlain("k", "1");
  const auto early = Begin(/*set_snapshot=*/true);
  const auto late = Begin();
  PutPlain("k", "2");
  ASSERT_TRUE(early->Put("k", "3").ok());
  ASSERT_TRUE(late->Put("k", "3").ok());
  EXPECT_TRUE(early->Commit().IsBusy());
  EXPECT_TRUE(late->Commit().ok());
}

TEST_F(OptimisticTest, WhatIsNotTrackedIsNotChecked) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->PutUntracked("k", "2").ok());
  std::string value;
  EXPECT_TRUE(
      txn->GetForUpdate(ReadOptions(), "j", &value, true, /*do_validate=*/false).IsNotFound());
  EXPECT_EQ(ReadForUpdate(txn.get(), "undone"), "NOT_FOUND");
  txn->UndoGetForUpdate("undone");
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  for (const char* key : {"j", "k", "undone"}) PutPlain(key, "1");
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "2");
}

TEST_F(OptimisticTest, ReadsAloneAreChecked) {
  PutPlain("k", "1");
  const auto txn = Begin();
  EXPECT_EQ(ReadForUpdate(txn.get(), "k"), "1");
  PutPlain("k", "2");
  EXPECT_TRUE(txn->Commit().IsBusy());
  const auto other = Begin();
  EXPECT_EQ(ReadForUpdate(other.get(), "k"), "2");
  PutPlain("j", "2");
  EXPECT_TRUE(other->Commit().ok());
}

TEST_F(OptimisticTest, SavePointsForgetWhatCameAfter) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Put("a", "2").ok());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_EQ(txn->GetNumKeys(), 1u);
  PutPlain("b", "x");
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(Committed("b"), "x");
}

TEST_F(OptimisticTest, ATransactionIsUsedAgain) {
  Transaction* txn = txn_db_->BeginTransaction(WriteOptions());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_EQ(txn_db_->BeginTransaction(WriteOptions(), OptimisticTransactionOptions(), txn), txn);
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  ASSERT_TRUE(txn->Put("b", "1").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  delete txn;
}

// It is no read, so what others have written there meanwhile is deleted with the rest.
TEST_F(OptimisticTest, RangesAreDeletedUnchecked) {
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(txn_db_->Put(WriteOptions(), key, "old").ok());
  }
  const auto txn = Begin();
  EXPECT_TRUE(txn->DeleteRange(nullptr, "c", "a").IsInvalidArgument());
  ASSERT_TRUE(txn->DeleteRange(nullptr, "a", "a").ok());
  ASSERT_TRUE(txn->DeleteRange(nullptr, "a", "c").ok());
  ASSERT_TRUE(txn->Put("aa", "own").ok());
  std::string value;
  EXPECT_TRUE(txn->Get(ReadOptions(), "a", &value).IsNotFound());
  ASSERT_TRUE(txn_db_->Put(WriteOptions(), "b", "new").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a") + Committed("b"), "NOT_FOUNDNOT_FOUND");
  EXPECT_EQ(Committed("aa") + Committed("c"), "ownold");
  EXPECT_TRUE(txn->DeleteRange(nullptr, "a", "c").IsInvalidArgument()) << "it has ended";
}

TEST_F(OptimisticTest, WhatWasRolledBackMayGoOn) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  std::string value;
  EXPECT_TRUE(txn->Get(ReadOptions(), "a", &value).IsNotFound());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(txn_db_->Get(ReadOptions(), "a", &value).IsNotFound());
  ASSERT_TRUE(txn_db_->Get(ReadOptions(), "b", &value).ok());
  EXPECT_TRUE(txn->Rollback().IsInvalidArgument()) << "it has been committed";
}

TEST_F(OptimisticTest, WhatThereIsNotIsRefused) {
  const auto txn = Begin();
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument());
  EXPECT_TRUE(txn->SetName("n").IsInvalidArgument());
  EXPECT_TRUE(txn->SetCommitTimestamp(1).IsNotSupported());
  EXPECT_TRUE(txn->SetReadTimestampForValidation(1).IsNotSupported());
  EXPECT_TRUE(txn->CommitAndTryCreateSnapshot(nullptr, 1).IsNotSupported());
  EXPECT_TRUE(txn->GetRangeLock(nullptr, Endpoint("a"), Endpoint("b")).IsNotSupported());
  EXPECT_EQ(txn->GetID(), 0u);
  options_.unordered_write = true;
  OptimisticTransactionDB* opened = nullptr;
  EXPECT_TRUE(OptimisticTransactionDB::Open(options_, "/second", &opened).IsNotSupported());
  EXPECT_EQ(opened, nullptr);
}

// A change and its undoing that compactions take out together, or with their files.
TEST_F(OptimisticTest, BusyWhereAValueCameAndWent) {
  const std::vector<std::function<void()>> undo = {
      [&] { ASSERT_TRUE(txn_db_->SingleDelete(WriteOptions(), "k").ok()); },
      [&] { ASSERT_TRUE(txn_db_->Delete(WriteOptions(), "k").ok()); },
      [&] {
        ASSERT_TRUE(
            txn_db_->DeleteRange(WriteOptions(), txn_db_->DefaultColumnFamily(), "k", "l").ok());
      },
      [&] {
        PutPlain("k", "200");
        ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
        CompactRangeOptions options;
        options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
        ASSERT_TRUE(txn_db_->CompactRange(options, nullptr, nullptr).ok());
        ASSERT_TRUE(
            DeleteFilesInRange(txn_db_.get(), txn_db_->DefaultColumnFamily(), nullptr, nullptr)
                .ok());
      },
  };
  for (size_t i = 0; i < undo.size(); i++) {
    for (const bool set_snapshot : {false, true}) {
      SCOPED_TRACE(::testing::Message() << i << (set_snapshot ? " with a snapshot" : ""));
      const auto txn = Begin(set_snapshot);
      ASSERT_TRUE(txn->Put("other", "1").ok());
      if (set_snapshot) {
        EXPECT_EQ(ReadForUpdate(txn.get(), "k"), "NOT_FOUND");
      }
      PutPlain("k", "100");
      if (!set_snapshot) {
        ASSERT_TRUE(txn->Put("k", "101").ok());
      }
      undo[i]();
      ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
      EXPECT_EQ(Committed("k"), "NOT_FOUND");
      EXPECT_TRUE(txn->Commit().IsBusy());
    }
  }
}

TEST_F(OptimisticTest, CommitTakesASnapshotThatWasAnnounced) {
  struct Listener final : TransactionNotifier {
    void SnapshotCreated(const Snapshot* snapshot) override { told = snapshot != nullptr; }
    bool told = false;
  };
  const auto listener = std::make_shared<Listener>();
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->SetSnapshotOnNextOperation(listener);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(listener->told);
}

// Reading one's own update says nothing of what the database has.
TEST_F(OptimisticTest, WhatTheTransactionItselfHasWrittenIsNotReadFromTheDatabase) {
  for (const bool in_batch : {false, true}) {
    const auto txn = Begin();
    if (in_batch) {
      ASSERT_TRUE(txn->GetWriteBatch()->Put("k", "own").ok());
    } else {
      ASSERT_TRUE(txn->PutUntracked("k", "own").ok());
    }
    EXPECT_EQ(ReadForUpdate(txn.get(), "k"), "own");
    WriteBatch many;  // so many that every key may be among them
    for (int i = 0; i < 100; i++) ASSERT_TRUE(many.Put("z" + std::to_string(i), "1").ok());
    ASSERT_TRUE(txn_db_->Write(WriteOptions(), &many).ok());
    EXPECT_TRUE(txn->Commit().ok());
    ASSERT_TRUE(txn_db_->Delete(WriteOptions(), "k").ok());
  }
}

// Upper and lower case are the same.
class CaselessOrder final : public Comparator {
 public:
  const char* Name() const override { return "CaselessOrder"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return Slice(Lower(a)).compare(Lower(b));
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static std::string Lower(const Slice& s) {
    std::string lower = s.ToString();
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
  }
};

class CaselessOptimisticTest : public OptimisticTest {
 protected:
  CaselessOptimisticTest() { options_.comparator = &order_; }
  ~CaselessOptimisticTest() override { CloseTransactions(); }
  const CaselessOrder order_;
};

TEST_F(CaselessOptimisticTest, BusyIfAnEqualKeyOfOtherBytesHasChanged) {
  PutPlain("k", "100");
  for (const char* const other : {"K", "k"}) {
    const auto txn = Begin();
    EXPECT_EQ(ReadForUpdate(txn.get(), "k"), "100");
    ASSERT_TRUE(txn->Put("k", "101").ok());
    PutPlain(other, "100");
    EXPECT_TRUE(txn->Commit().IsBusy());
  }
  const auto txn = Begin();
  EXPECT_EQ(ReadForUpdate(txn.get(), "k"), "100");
  ASSERT_TRUE(txn->Put("k", "101").ok());
  PutPlain("other", "1");
  EXPECT_TRUE(txn->Commit().ok());
}

}  // namespace
}  // namespace varve::testing
