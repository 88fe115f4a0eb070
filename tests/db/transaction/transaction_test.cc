// SPDX-License-Identifier: Apache-2.0

// Goal: transactions of TransactionDB do what varve/utilities/transaction.h says, and end in the
// statuses it names. Method: stories of one or two transactions that never wait, told in one
// thread.

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>

#include "varve/merge_operator.h"
#include "varve/metadata.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/write_batch_with_index.h"

#include "tests/db/transaction/transaction_fixture.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;

class StoryTest : public TransactionTest {
 protected:
  void SetUp() override {
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    OpenTransactions();
  }
};

TEST_F(StoryTest, UpdatesAreSeenByTheTransactionThenByAll) {
  PutPlain("a", "old");
  PutPlain("b", "old");
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "new").ok());
  ASSERT_TRUE(txn->Delete("b").ok());
  ASSERT_TRUE(txn->Merge("m", "1").ok());
  ASSERT_TRUE(txn->Merge("m", "2").ok());
  ASSERT_TRUE(txn->Put(Other(), "a", "other's").ok());
  EXPECT_EQ(Read(txn.get(), "a"), "new");
  EXPECT_EQ(Read(txn.get(), "b"), "NOT_FOUND");
  EXPECT_EQ(Read(txn.get(), "m"), "1,2");
  EXPECT_EQ(ScanOf(txn.get()), "a=new m=1,2");
  EXPECT_EQ(Committed("a"), "old");
  EXPECT_EQ(Committed("m"), "NOT_FOUND");
  EXPECT_EQ(txn->GetNumPuts(), 2u);
  EXPECT_EQ(txn->GetNumDeletes(), 1u);
  EXPECT_EQ(txn->GetNumMerges(), 2u);
  EXPECT_EQ(txn->GetNumKeys(), 4u);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->GetState(), Transaction::COMMITTED);
  EXPECT_GT(txn->GetId(), 0u);
  EXPECT_EQ(Committed("a"), "new");
  EXPECT_EQ(Committed("b"), "NOT_FOUND");
  EXPECT_EQ(Committed("m"), "1,2");
  EXPECT_TRUE(txn_db_->GetLockStatusData().empty());
}

TEST_F(StoryTest, RollbackForgetsAndGivesLocksUp) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "new").ok());
  const auto other = Begin(Impatient());
  EXPECT_TRUE(other->Put("a", "too").IsTimedOut());
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  EXPECT_TRUE(other->Put("a", "too").ok());
}

TEST_F(StoryTest, WhatWasRolledBackMayGoOn) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->SetName("n").ok());
  txn->SetSnapshot();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Rollback().ok());
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_TRUE(txn->RollbackToSavePoint().IsNotFound());
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  EXPECT_EQ(txn_db_->GetTransactionByName("n"), txn.get());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  const auto other = Begin(Impatient());
  EXPECT_TRUE(other->Put("b", "too").IsTimedOut());
  ASSERT_TRUE(txn->Prepare().ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  EXPECT_EQ(Committed("b"), "2");
}

TEST_F(StoryTest, WhatHasEndedIsOver) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_TRUE(txn->Rollback().IsInvalidArgument());
  EXPECT_TRUE(txn->Put("b", "1").IsInvalidArgument());
  EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), "b", static_cast<std::string*>(nullptr))
                  .IsInvalidArgument());
  EXPECT_TRUE(txn->SetName("late").IsInvalidArgument());
  EXPECT_EQ(Committed("b"), "NOT_FOUND");
}

TEST_F(StoryTest, DeletedUnfinishedIsRolledBack) {
  { ASSERT_TRUE(Begin()->Put("a", "1").ok()); }
  EXPECT_TRUE(txn_db_->GetLockStatusData().empty());
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
}

TEST_F(StoryTest, ATransactionIsUsedAgain) {
  Transaction* txn = txn_db_->BeginTransaction(WriteOptions());
  const TransactionID first = txn->GetID();
  ASSERT_TRUE(txn->SetName("name").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_EQ(txn_db_->BeginTransaction(WriteOptions(), Impatient(), txn), txn);
  EXPECT_NE(txn->GetID(), first);
  EXPECT_EQ(txn->GetName(), "");
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  EXPECT_EQ(Read(txn, "a"), "NOT_FOUND");
  ASSERT_TRUE(txn->Put("b", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  EXPECT_EQ(Committed("b"), "2");
  delete txn;
}

TEST_F(StoryTest, AReadForUpdateKeepsWritersOut) {
  PutPlain("a", "1");
  const auto reader = Begin();
  EXPECT_EQ(ReadForUpdate(reader.get(), "a", /*exclusive=*/false), "1");
  EXPECT_EQ(ReadForUpdate(reader.get(), "absent", false), "NOT_FOUND");
  const auto other = Begin(Impatient());
  EXPECT_EQ(ReadForUpdate(other.get(), "a", false), "1") << "shared";
  EXPECT_TRUE(other->Put("a", "2").IsTimedOut());
  EXPECT_TRUE(other->Put("absent", "2").IsTimedOut());
  ASSERT_TRUE(reader->Commit().ok());
  EXPECT_TRUE(other->Put("a", "2").ok()) << "the only reader may write";
}

TEST_F(StoryTest, ASnapshotMovesTheChecksNotTheReads) {
  PutPlain("a", "1");
  const auto txn = Begin(WithSnapshot());
  PutPlain("a", "2");
  EXPECT_EQ(Read(txn.get(), "a"), "2") << "the newest committed value";
  ReadOptions at_snapshot;
  at_snapshot.snapshot = txn->GetSnapshot();
  EXPECT_EQ(Read(txn.get(), "a", at_snapshot), "1");
  EXPECT_TRUE(txn->Put("a", "3").IsBusy());
  EXPECT_EQ(txn->GetNumKeys(), 0u) << "a lock that was of no use is given back";
  EXPECT_TRUE(txn->PutUntracked("a", "3").ok()) << "not checked";
  EXPECT_TRUE(txn->Put("b", "1").ok());
  txn->SetSnapshot();
  EXPECT_TRUE(txn->Put("a", "4").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "4");
}

TEST_F(StoryTest, EveryKindOfChangeIsSeenByTheChecks) {
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    for (const char* key : {"put", "deleted", "merged", "ranged", "same"}) PutPlain(key, "1");
    const auto txn = Begin(WithSnapshot());
    PutPlain("put", "2");
    ASSERT_TRUE(txn_db_->Delete(WriteOptions(), "deleted").ok());
    ASSERT_TRUE(txn_db_->Merge(WriteOptions(), "merged", "2").ok());
    ASSERT_TRUE(txn_db_->DeleteRange(WriteOptions(), "r", "s").ok());
    if (flushed) {
      ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
    }
    for (const char* key : {"put", "deleted", "merged", "ranged"}) {
      EXPECT_TRUE(txn->Put(key, "3").IsBusy()) << key;
      EXPECT_EQ(ReadForUpdate(txn.get(), key).substr(0, 13), "Resource busy") << key;
    }
    EXPECT_TRUE(txn->Put("same", "3").ok());
    EXPECT_TRUE(txn->Put("s", "3").ok()) << "behind the range";
  }
}

TEST_F(StoryTest, AnUpgradeThatIsRefusedKeepsTheSharedLock) {
  PutPlain("a", "1");
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(
      txn->GetForUpdate(ReadOptions(), "a", static_cast<std::string*>(nullptr), false).ok());
  txn->SetSnapshot();
  ASSERT_TRUE(txn_db_->GetBaseDB()->Put(WriteOptions(), "a", "past the locks").ok());
  EXPECT_TRUE(txn->Put("a", "2").IsBusy());
  const auto locks = txn_db_->GetLockStatusData();
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_FALSE(locks.begin()->second.exclusive);
}

class Notifier final : public TransactionNotifier {
 public:
  void SnapshotCreated(const Snapshot* snapshot) override {
    sequence = snapshot->GetSequenceNumber();
  }
  SequenceNumber sequence = 0;
};

TEST_F(StoryTest, AnAnnouncedSnapshotIsTakenByTheNextOperation) {
  PutPlain("a", "1");
  const auto txn = Begin(Impatient());
  const auto notifier = std::make_shared<Notifier>();
  txn->SetSnapshotOnNextOperation(notifier);
  EXPECT_EQ(txn->GetSnapshot(), nullptr);
  PutPlain("a", "2");
  EXPECT_EQ(Read(txn.get(), "a"), "2");
  EXPECT_EQ(txn->GetSnapshot(), nullptr) << "a plain read does not count";
  ASSERT_TRUE(txn->Put("b", "1").ok());
  ASSERT_NE(txn->GetSnapshot(), nullptr);
  EXPECT_EQ(notifier->sequence, txn->GetSnapshot()->GetSequenceNumber());
  PutPlain("c", "1");
  EXPECT_TRUE(txn->Put("c", "2").IsBusy());
  txn->ClearSnapshot();
  EXPECT_TRUE(txn->Put("c", "2").ok());
}

TEST_F(StoryTest, SavePointsRestoreUpdatesLocksAndSnapshot) {
  const auto txn = Begin(Impatient());
  EXPECT_TRUE(txn->RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(txn->PopSavePoint().IsNotFound());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(
      txn->GetForUpdate(ReadOptions(), "shared", static_cast<std::string*>(nullptr), false).ok());
  txn->SetSavePoint();
  txn->SetSnapshot();
  ASSERT_TRUE(txn->Put("a", "2").ok());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  ASSERT_TRUE(txn->Put("shared", "2").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->Put("c", "3").ok());
  ASSERT_TRUE(txn->PopSavePoint().ok());
  EXPECT_EQ(txn->GetNumKeys(), 4u);
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_EQ(txn->GetSnapshot(), nullptr);
  EXPECT_EQ(txn->GetNumPuts(), 1u);
  EXPECT_EQ(Read(txn.get(), "a"), "1");
  EXPECT_EQ(Read(txn.get(), "b"), "NOT_FOUND");
  const auto other = Begin(Impatient());
  EXPECT_TRUE(other->Put("a", "x").IsTimedOut()) << "locked before";
  EXPECT_TRUE(
      other->GetForUpdate(ReadOptions(), "shared", static_cast<std::string*>(nullptr), false)
          .IsTimedOut())
      << "it stays exclusive";
  EXPECT_TRUE(other->Put("b", "x").ok());
  EXPECT_TRUE(other->Put("c", "x").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
}

TEST_F(StoryTest, ReadsForUpdateAreTakenBackOneByOne) {
  const auto txn = Begin(Impatient());
  const auto other = Begin(Impatient());
  ReadForUpdate(txn.get(), "a");
  ReadForUpdate(txn.get(), "a");
  txn->UndoGetForUpdate("a");
  EXPECT_TRUE(other->Put("a", "x").IsTimedOut());
  txn->UndoGetForUpdate("a");
  EXPECT_TRUE(other->Put("a", "x").ok());
  ReadForUpdate(txn.get(), "b");
  ASSERT_TRUE(txn->Put("b", "1").ok());
  txn->UndoGetForUpdate("b");
  EXPECT_TRUE(other->Put("b", "x").IsTimedOut()) << "written";
  ReadForUpdate(txn.get(), "c");
  txn->SetSavePoint();
  ReadForUpdate(txn.get(), "c");
  txn->UndoGetForUpdate("c");
  txn->UndoGetForUpdate("c");
  EXPECT_TRUE(other->Put("c", "x").IsTimedOut()) << "read before the save point";
  ASSERT_TRUE(txn->PopSavePoint().ok());
  txn->UndoGetForUpdate("c");
  EXPECT_TRUE(other->Put("c", "x").ok());
  txn->UndoGetForUpdate("never");
}

TEST_F(StoryTest, AssumeTrackedIsChecked) {
  const auto txn = Begin(Impatient());
  ColumnFamilyHandle* const family = txn_db_->DefaultColumnFamily();
  EXPECT_TRUE(txn->Put(family, "a", "1", /*assume_tracked=*/true).IsInvalidArgument());
  ASSERT_EQ(ReadForUpdate(txn.get(), "a", /*exclusive=*/false), "NOT_FOUND");
  EXPECT_TRUE(txn->Put(family, "a", "1", true).IsInvalidArgument()) << "only shared";
  ASSERT_EQ(ReadForUpdate(txn.get(), "a"), "NOT_FOUND");
  EXPECT_TRUE(txn->Put(family, "a", "1", true).ok());
  EXPECT_EQ(Read(txn.get(), "a"), "1");
}

TEST_F(StoryTest, WhatIsNotIndexedIsWrittenOnly) {
  const auto txn = Begin();
  txn->DisableIndexing();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_EQ(Read(txn.get(), "a"), "NOT_FOUND");
  txn->EnableIndexing();
  ASSERT_TRUE(txn->Put("b", "1").ok());
  EXPECT_EQ(Read(txn.get(), "b"), "1");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(Committed("b"), "1");
}

TEST_F(StoryTest, WhatIteratorsShowedStaysWhenUpdatesAreNotIndexed) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "shown by the iterator").ok());
  const std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions()));
  it->SeekToFirst();
  const Slice value = it->value();
  const size_t bytes = txn->GetWriteBatch()->GetWriteBatch()->Data().capacity();
  txn->DisableIndexing();
  for (const char* key : {"b", "c", "d"}) ASSERT_TRUE(txn->Put(key, std::string(500, 'v')).ok());
  ASSERT_TRUE(txn->DeleteRange(nullptr, "a", "z").ok());
  std::vector<std::string> squatters;
  for (size_t more = 0; more < 64; more += 8) squatters.emplace_back(bytes + more, 'z');
  EXPECT_EQ(value, "shown by the iterator");
  EXPECT_EQ(it->value(), "shown by the iterator");
  EXPECT_EQ(Read(txn.get(), "a"), "shown by the iterator");
  it->Next();
  EXPECT_FALSE(it->Valid());
  txn->EnableIndexing();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "NOT_FOUND") << "the range came after it";
}

TEST_F(StoryTest, RangesAreDeletedAndLocked) {
  for (const char* key : {"a", "b", "c", "d"}) PutPlain(key, "1");
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  ASSERT_TRUE(txn->DeleteRange(nullptr, "b", "d").ok());
  ASSERT_TRUE(txn->Put("bb", "2").ok());
  EXPECT_EQ(ScanOf(txn.get()), "a=1 bb=2 d=1");
  EXPECT_EQ(Read(txn.get(), "b"), "NOT_FOUND");
  const auto other = Begin(Impatient());
  EXPECT_TRUE(other->Put("c", "x").IsTimedOut());
  EXPECT_TRUE(other->Put("new in c", "x").ok());
  EXPECT_TRUE(other->Put("cc", "x").IsTimedOut()) << "a phantom";
  EXPECT_TRUE(other->Put("d", "x").ok());
  EXPECT_TRUE(txn->DeleteRange(nullptr, "d", "c").IsInvalidArgument());
  EXPECT_TRUE(txn->DeleteRange(nullptr, "c", "c").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("b"), "NOT_FOUND");
  EXPECT_EQ(Committed("bb"), "2");
  EXPECT_TRUE(other->Put("cc", "x").ok());
}

TEST_F(StoryTest, ARangeThatIsNotIndexedIsLockedAndWritten) {
  for (const char* key : {"a", "b", "c"}) PutPlain(key, "1");
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  txn->DisableIndexing();
  ASSERT_TRUE(txn->DeleteRange(nullptr, "a", "c").ok());
  txn->EnableIndexing();
  ASSERT_TRUE(txn->Put("a", "3").ok());
  EXPECT_EQ(ScanOf(txn.get()), "a=3 b=2 c=1") << "reads see nothing of the range";
  EXPECT_TRUE(Begin(Impatient())->Put("aa", "x").IsTimedOut());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "3");
  EXPECT_EQ(Committed("b"), "NOT_FOUND") << "the range came after it";
  EXPECT_EQ(Committed("c"), "1");
}

TEST_F(StoryTest, RangesLockedTwiceAreGivenUpBySavePoints) {
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(txn->GetRangeLock(nullptr, Endpoint("b"), Endpoint("e")).ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->GetRangeLock(nullptr, Endpoint("d"), Endpoint("g")).ok());
  ASSERT_TRUE(txn->DeleteRange(nullptr, "c", "d").ok());
  const auto other = Begin(Impatient());
  EXPECT_TRUE(other->Put("f", "x").IsTimedOut());
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_TRUE(other->Put("f", "x").ok());
  for (const char* key : {"c", "cc", "d", "e"})
    EXPECT_TRUE(other->Put(key, "x").IsTimedOut()) << key;
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_TRUE(other->Put("c", "x").ok());
}

TEST_F(StoryTest, ALockedScanSeesNoPhantoms) {
  PutPlain("k1", "1");
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(txn->GetRangeLock(nullptr, Endpoint("k"), Endpoint("k", /*inf_suffix=*/true)).ok());
  EXPECT_EQ(ScanOf(txn.get()), "k1=1");
  const auto other = Begin(Impatient());
  EXPECT_TRUE(other->Put("k2", "x").IsTimedOut());
  EXPECT_TRUE(other->Put("l", "x").ok());
  txn->SetSavePoint();
  ASSERT_TRUE(txn->GetRangeLock(nullptr, Endpoint("x"), Endpoint("y")).ok());
  EXPECT_TRUE(other->Put("xx", "x").IsTimedOut());
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_TRUE(other->Put("xx", "x").ok());
  EXPECT_TRUE(txn->GetRangeLock(nullptr, Endpoint("b"), Endpoint("a")).IsInvalidArgument());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(other->Put("k2", "x").ok());
}

TEST_F(StoryTest, ExpirationEndsIt) {
  TransactionOptions options = Impatient();
  options.expiration = 20;
  const auto txn = Begin(options);
  ASSERT_TRUE(txn->Put("a", "1").ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  EXPECT_TRUE(txn->Put("b", "1").IsExpired());
  EXPECT_TRUE(txn->Commit().IsExpired());
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  const auto other = Begin(Impatient());
  ASSERT_TRUE(other->Put("a", "2").ok()) << "the lock is taken";
  EXPECT_EQ(txn->GetState(), Transaction::LOCKS_STOLEN);
  EXPECT_TRUE(txn->Commit().IsExpired());
  EXPECT_TRUE(txn->Rollback().ok());
  ASSERT_TRUE(other->Commit().ok());
  EXPECT_EQ(Committed("a"), "2");
}

TEST_F(StoryTest, NamesAreUnique) {
  const auto txn = Begin();
  const auto other = Begin();
  EXPECT_TRUE(txn->SetName("").IsInvalidArgument());
  EXPECT_TRUE(txn->SetName(std::string(513, 'n')).IsInvalidArgument());
  ASSERT_TRUE(txn->SetName("n").ok());
  EXPECT_TRUE(txn->SetName("m").IsInvalidArgument());
  EXPECT_TRUE(other->SetName("n").IsInvalidArgument());
  EXPECT_EQ(txn_db_->GetTransactionByName("n"), txn.get());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn_db_->GetTransactionByName("n"), nullptr);
  EXPECT_TRUE(other->SetName("n").ok());
}

TEST_F(StoryTest, LimitsAreKept) {
  TransactionOptions options;
  options.max_write_batch_size = 60;
  auto txn = Begin(options);
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_TRUE(txn->Put("b", std::string(100, 'v')).IsMemoryLimit());
  EXPECT_EQ(Read(txn.get(), "a"), "1");
  EXPECT_EQ(Read(txn.get(), "b"), "NOT_FOUND");
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  CloseTransactions();
  TransactionDBOptions few;
  few.max_num_locks = 2;
  OpenTransactions(few);
  const auto second = Begin();
  ASSERT_TRUE(second->Put("a", "1").ok());
  ASSERT_TRUE(second->Put("b", "1").ok());
  EXPECT_TRUE(second->Put("c", "1").IsLockLimit());
  EXPECT_TRUE(second->Commit().ok());
}

TEST_F(StoryTest, PlainWritesLockToo) {
  CloseTransactions();
  TransactionDBOptions options;
  options.default_lock_timeout = 0;
  OpenTransactions(options);
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("b", "1").ok());
  const WriteOptions write;
  EXPECT_TRUE(txn_db_->Put(write, "b", "2").IsTimedOut());
  EXPECT_TRUE(txn_db_->Delete(write, "b").IsTimedOut());
  EXPECT_TRUE(txn_db_->SingleDelete(write, "b").IsTimedOut());
  EXPECT_TRUE(txn_db_->Merge(write, "b", "2").IsTimedOut());
  EXPECT_TRUE(txn_db_->DeleteRange(write, "a", "c").IsTimedOut());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "2").ok());
  ASSERT_TRUE(batch.SingleDelete("b").ok());
  EXPECT_TRUE(txn_db_->Write(write, &batch).IsTimedOut());
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  TransactionDBWriteOptimizations without_locks;
  without_locks.skip_concurrency_control = true;
  EXPECT_TRUE(txn_db_->Write(write, without_locks, &batch).ok());
  EXPECT_TRUE(txn_db_->Put(write, Other(), "b", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(txn_db_->DeleteRange(write, "a", "c").ok());
  EXPECT_EQ(Committed("b"), "NOT_FOUND");
  EXPECT_TRUE(txn_db_->GetLockStatusData().empty());
}

TEST_F(StoryTest, ManyKeysAtOnce) {
  PutPlain("a", "1");
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(txn->Put("b", "2").ok());
  std::vector<std::string> values;
  auto statuses = txn->MultiGet(ReadOptions(), {"a", "b", "c"}, &values);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].ok() && statuses[2].IsNotFound());
  EXPECT_THAT(values, ElementsAre("1", "2", ""));
  const Slice keys[] = {"a", "b", "c"};
  PinnableSlice pinned[3];
  Status of_keys[3];
  txn->MultiGet(ReadOptions(), txn_db_->DefaultColumnFamily(), 3, keys, pinned, of_keys);
  EXPECT_EQ(pinned[0], Slice("1"));
  EXPECT_EQ(pinned[1], Slice("2"));
  EXPECT_TRUE(of_keys[2].IsNotFound());
  statuses = txn->MultiGetForUpdate(ReadOptions(), {"a", "c"}, &values);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].IsNotFound());
  const auto other = Begin(Impatient());
  statuses = other->MultiGetForUpdate(ReadOptions(), {"x", "c"}, &values);
  EXPECT_TRUE(statuses[0].IsTimedOut() && statuses[1].IsTimedOut());
  EXPECT_EQ(other->GetNumKeys(), 0u) << "all of them or none";
}

TEST_F(StoryTest, ABatchBecomesATransaction) {
  PutPlain("r", "1");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Merge("m", "1").ok());
  ASSERT_TRUE(batch.Put(Other(), "o", "1").ok());
  ASSERT_TRUE(batch.DeleteRange("r", "s").ok());
  const auto txn = Begin();
  ASSERT_TRUE(txn->RebuildFromWriteBatch(&batch).ok());
  EXPECT_EQ(txn->GetNumKeys(), 3u);
  EXPECT_EQ(ScanOf(txn.get()), "a=1 m=1");
  ASSERT_TRUE(txn->Commit().ok());
  std::string value;
  EXPECT_TRUE(txn_db_->Get(ReadOptions(), Other(), "o", &value).ok());
  EXPECT_TRUE(txn->RebuildFromWriteBatch(nullptr).IsInvalidArgument());
}

TEST_F(StoryTest, TheWaitedForAreNamed) {
  const auto holder = Begin();
  ASSERT_TRUE(holder->Put("a", "1").ok());
  TransactionOptions options;
  options.lock_timeout = 20;
  const auto txn = Begin(options);
  EXPECT_TRUE(txn->Put("a", "2").IsTimedOut());
  uint32_t family = 99;
  std::string key;
  EXPECT_THAT(txn->GetWaitingTxns(&family, &key), ElementsAre(holder->GetID()));
  EXPECT_EQ(family, 0u);
  EXPECT_EQ(key, "a");
}

TEST_F(StoryTest, DeadlocksAreToldAndRemembered) {
  TransactionOptions options;
  options.deadlock_detect = true;
  options.deadlock_timeout_us = 100;
  const auto a = Begin(options);
  const auto b = Begin(options);
  a->SetLockTimeout(-1);
  b->SetLockTimeout(-1);
  ASSERT_TRUE(a->Put("a", "1").ok());
  ASSERT_TRUE(b->Put("b", "1").ok());
  // A transaction that is told of the deadlock releases its locks.
  const auto put_or_give_up = [](Transaction* txn, const char* key) {
    Status s = txn->Put(key, "2");
    if (s.IsDeadlock()) (void)txn->Rollback();
    return s;
  };
  auto waits = std::async(std::launch::async, put_or_give_up, a.get(), "b");
  while (a->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
  const Status of_b = put_or_give_up(b.get(), "a");
  const Status of_a = waits.get();
  EXPECT_TRUE(of_a.IsDeadlock() ? of_b.ok() : of_a.ok() && of_b.IsDeadlock());
  const auto found = txn_db_->GetDeadlockInfoBuffer();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path.size(), 2u);
  txn_db_->SetDeadlockInfoBufferSize(0);
  EXPECT_TRUE(txn_db_->GetDeadlockInfoBuffer().empty());
}

TEST_F(StoryTest, WithoutConcurrencyControlThereAreNoLocks) {
  TransactionOptions options = WithSnapshot();
  options.skip_concurrency_control = true;
  const auto txn = Begin(options);
  PutPlain("a", "1");
  ASSERT_TRUE(txn->Put("a", "2").ok());
  EXPECT_TRUE(txn_db_->GetLockStatusData().empty());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "2");
}

// The property has it in steps of 16 KiB.
TEST_F(StoryTest, WhatTransactionsHoldIsToldAndEnds) {
  const auto held = [&] {
    std::map<std::string, std::string> owners;
    EXPECT_TRUE(txn_db_->GetMapProperty("varve.memory", &owners));
    return std::stoull(owners["transactions"]);
  };
  EXPECT_EQ(held(), 0u);
  auto txn = Begin();
  const std::string value(1000, 'v');
  for (int i = 0; i < 100; i++) ASSERT_TRUE(txn->Put("w" + std::to_string(i), value).ok());
  EXPECT_GE(held(), 90'000u);
  EXPECT_LE(held(), 150'000u);
  const auto reader = Begin();
  for (int i = 0; i < 1000; i++) {
    ASSERT_TRUE(reader
                    ->GetForUpdate(ReadOptions(), "r" + std::to_string(i),
                                   static_cast<std::string*>(nullptr))
                    .ok());
  }
  const uint64_t both = held();
  EXPECT_GE(both, 180'000u) << "locks are held, too";
  ASSERT_TRUE(txn->SetName("n").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_GE(held(), both + 100'000) << "what is prepared is a copy";
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_LE(held(), both - 90'000);
  ASSERT_TRUE(reader->Rollback().ok());
  EXPECT_EQ(held(), 0u);
}

TEST_F(StoryTest, WhatIsMissingIsRefusedByName) {
  auto txn = Begin();
  ASSERT_TRUE(txn->GetCommitTimeWriteBatch()->Put("a", "1").ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  TransactionOptions with_prepare;
  with_prepare.skip_prepare = false;
  EXPECT_TRUE(Begin(with_prepare)->Commit().IsTxnNotPrepared());
  txn.reset();
  CloseTransactions();
  TransactionDBOptions options;
  options.write_policy = WRITE_UNPREPARED;
  Status s = TryOpenTransactions(options);
  EXPECT_TRUE(s.IsNotSupported() && s.ToString().find("write_policy") != std::string::npos);
  options = TransactionDBOptions();
  options_.unordered_write = true;
  s = TryOpenTransactions(options);
  EXPECT_TRUE(s.IsNotSupported() && s.ToString().find("unordered_write") != std::string::npos);
  EXPECT_EQ(txn_db_, nullptr);
}

TEST_F(StoryTest, WritePreparedIsToBeHadWithAndWithoutOrder) {
  for (const bool unordered : {false, true}) {
    CloseTransactions();
    options_.unordered_write = unordered;
    TransactionDBOptions options;
    options.write_policy = WRITE_PREPARED;
    OpenTransactions(options);
    auto txn = Begin(WithSnapshot());
    ASSERT_TRUE(txn->Put("a", "1").ok());
    EXPECT_EQ(Committed("a"), unordered ? "1" : "NOT_FOUND");
    ASSERT_TRUE(txn->SetName("n").ok());
    ASSERT_TRUE(txn->Put("a", "2").ok());
    ASSERT_TRUE(txn->Prepare().ok());
    EXPECT_EQ(Committed("a"), unordered ? "1" : "NOT_FOUND") << "it is prepared, not committed";
    ASSERT_TRUE((unordered ? txn->Rollback() : txn->Commit()).ok());
    EXPECT_EQ(Committed("a"), unordered ? "1" : "2");
    if (!unordered) PutPlain("a", "1");
  }
}

TEST_F(StoryTest, AFailedWriteLeavesTheTransaction) {
  const auto txn = Begin(Impatient());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->GetWriteOptions()->sync = true;
  txn->GetWriteOptions()->disableWAL = true;
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  EXPECT_EQ(Read(txn.get(), "a"), "1");
  EXPECT_TRUE(Begin(Impatient())->Put("a", "2").IsTimedOut());
  txn->SetWriteOptions(WriteOptions());
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
}

TEST_F(StoryTest, AnotherDatabasesTransactionIsRefused) {
  const auto txn = Begin();
  std::unique_ptr<DB> plain;
  options_.create_if_missing = true;
  ASSERT_TRUE(DB::Open(options_, "/second", &plain).ok());
  TransactionDB* wrapped = nullptr;
  ASSERT_TRUE(TransactionDB::WrapDB(plain.get(), TransactionDBOptions(), {}, {}, &wrapped).ok());
  (void)plain.release();
  const std::unique_ptr<TransactionDB> second(wrapped);
  EXPECT_EQ(second->BeginTransaction(WriteOptions(), TransactionOptions(), txn.get()), nullptr);
  const std::unique_ptr<Transaction> own(second->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(own->Put("a", "1").ok());
  ASSERT_TRUE(own->Commit().ok());
}

TEST_F(TransactionTest, BusyWhereAValueCameAndWentAfterTheSnapshot) {
  OpenTransactions();
  const auto txn = Begin(WithSnapshot());
  ASSERT_TRUE(txn_db_->Put(WriteOptions(), "k", "1").ok());
  ASSERT_TRUE(txn_db_->SingleDelete(WriteOptions(), "k").ok());
  ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
  EXPECT_TRUE(txn->Put("k", "2").IsBusy());
}

// An older value that comes to light again is no sign that there was no newer one.
TEST_F(TransactionTest, BusyWhereAChangeWentWithItsFile) {
  options_.disable_auto_compactions = true;
  OpenTransactions();
  const auto move_to = [&](int level) {
    ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
    std::vector<LiveFileMetaData> files;
    txn_db_->GetLiveFilesMetaData(&files);
    for (const LiveFileMetaData& file : files) {
      if (file.level != 0) continue;
      ASSERT_TRUE(txn_db_->CompactFiles(CompactionOptions(), {file.name}, level).ok());
    }
  };
  for (const char* const key : {"a", "k", "z"}) {
    ASSERT_TRUE(txn_db_->Put(WriteOptions(), key, "old").ok());
  }
  move_to(6);
  const auto txn = Begin(WithSnapshot());
  ASSERT_TRUE(txn_db_->Put(WriteOptions(), "k", "new").ok());
  move_to(5);
  const Slice begin("j");
  const Slice end("l");
  const RangePtr range(&begin, &end);
  ASSERT_TRUE(txn_db_->DeleteFilesInRanges(txn_db_->DefaultColumnFamily(), &range, 1).ok());
  EXPECT_EQ(Committed("k"), "old");
  EXPECT_TRUE(txn->Put("k", "2").IsBusy());
  EXPECT_TRUE(Begin(WithSnapshot())->Put("k", "2").ok()) << "one that came later";
}

TEST_F(TransactionTest, ATransactionThatHasEndedKeepsNoFamily) {
  OpenTransactions();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(txn_db_->CreateColumnFamily(options_, "more", &family).ok());
  ASSERT_TRUE(txn_db_->Put(WriteOptions(), family, "a", "1").ok());
  ASSERT_TRUE(txn_db_->Flush(FlushOptions(), family).ok());
  const auto txn = Begin();
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(family, "b", "1").ok());
  ASSERT_TRUE(txn->RebuildFromWriteBatch(&batch).ok());
  ASSERT_TRUE(txn->Commit().ok());
  ASSERT_TRUE(txn_db_->DropColumnFamily(family).ok());
  ASSERT_TRUE(txn_db_->DestroyColumnFamilyHandle(family).ok());
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).empty(); }));
}

// Each waits for what the other has locked, and neither may wait for ever.
TEST_F(TransactionTest, PlainBatchesWithRangesDoNotWaitInACycle) {
  transaction_options_.default_lock_timeout = 60'000;
  OpenTransactions();
  const auto write = [&](const char* key, const char* begin, const char* end) {
    for (int i = 0; i < 500; i++) {
      WriteBatch batch;
      ASSERT_TRUE(batch.Put(key, "1").ok());
      ASSERT_TRUE(batch.DeleteRange(begin, end).ok());
      const Status s = txn_db_->Write(WriteOptions(), &batch);
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  };
  std::thread first([&] { write("b", "a", "z"); });
  std::thread second([&] { write("y", "b", "zz"); });
  first.join();
  second.join();
}

}  // namespace
}  // namespace varve::testing
