// SPDX-License-Identifier: Apache-2.0

// Goal: a prepared transaction is decided once, as requested, whatever happens in between; its
// states and statuses are those of varve/utilities/transaction.h. Method: stories of one thread,
// cut off by kills, power losses and failing files at their turning points.

#include <gmock/gmock.h>

#include "varve/write_batch.h"

#include "db/write/batch_reader.h"
#include "tests/db/transaction/two_phase_fixture.h"
#include "tests/harness/no_mappings.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class TwoPhaseTest : public TwoPhaseFixture {
 protected:
  // Everything that a transaction can do, in two families.
  void DoEverything(Transaction* txn) {
    ASSERT_TRUE(txn->Put("put", "new").ok());
    ASSERT_TRUE(txn->Delete("deleted").ok());
    ASSERT_TRUE(txn->SingleDelete("single").ok());
    ASSERT_TRUE(txn->Merge("merged", "new").ok());
    ASSERT_TRUE(txn->DeleteRange(txn_db_->DefaultColumnFamily(), "r", "s").ok());
    txn->PutLogData("a remark");
    ASSERT_TRUE(txn->Put(Other(), "o", "new").ok());
  }
  void PutOld() {
    for (const char* key : {"deleted", "merged", "put", "r1", "r2", "single"}) {
      PutPlain(key, "old");
    }
    ASSERT_TRUE(txn_db_->Put(WriteOptions(), Other(), "o", "old").ok());
  }
  static constexpr const char* kOld = "deleted=old merged=old put=old r1=old r2=old single=old";
  static constexpr const char* kNew = "merged=old,new put=new";
  void FailNext(FaultCall call) {
    FaultRule rule;
    rule.calls = Only(call);
    rule.path_contains = ".log";
    faults().Inject(rule);
  }
};

// A log that a recovery attempt has begun for prepared transactions also serves later attempts.
TEST_F(TwoPhaseTest, AttemptsToRecoverDoNotFillTheDiskWithLogs) {
  for (const bool decided : {false, true}) {
    SCOPED_TRACE(decided);
    const std::string name = decided ? "decided" : "open";
    auto txn = Prepared(name, name, "prepared");
    PutPlain("plain", "1");
    if (decided) {
      ASSERT_TRUE(txn->Commit().ok());
    }
    FaultRule rule;
    rule.calls = Only(FaultCall::kCreate);
    rule.path_contains = ".sst";
    rule.sticky = true;
    faults().Inject(rule);
    EXPECT_FALSE(txn_db_->Flush(FlushOptions()).ok());
    EXPECT_FALSE(txn_db_->Resume().ok());
    const std::vector<std::string> logs = Files(kWalFile);
    for (int i = 0; i < 5; i++) EXPECT_FALSE(txn_db_->Resume().ok());
    EXPECT_EQ(Files(kWalFile), logs);
    faults().ClearFaults();
    ASSERT_TRUE(txn_db_->Resume().ok());
    PutPlain("plain", "2");
    if (!decided) {
      ASSERT_TRUE(txn->Commit().ok());
    }
    EXPECT_EQ(Committed(name), "prepared");
  }
}

TEST_F(TwoPhaseTest, StatesFollowThePhases) {
  auto txn = Begin(Impatient());
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument()) << "no name";
  EXPECT_TRUE(txn->SetName("").IsInvalidArgument());
  EXPECT_TRUE(txn->SetName(std::string(513, 'n')).IsInvalidArgument());
  ASSERT_TRUE(txn->SetName("one").ok());
  EXPECT_TRUE(txn->SetName("two").IsInvalidArgument()) << "it has a name";
  EXPECT_TRUE(Begin()->SetName("one").IsInvalidArgument()) << "another has it";
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_EQ(txn->GetLogNumber(), 0u);
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_EQ(txn->GetState(), Transaction::PREPARED);
  EXPECT_GT(txn->GetLogNumber(), 0u);
  EXPECT_EQ(txn_db_->GetTransactionByName("one"), txn.get());
  EXPECT_EQ(NamesPrepared(), "one");
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument()) << "twice";
  EXPECT_TRUE(txn->Put("a", "2").IsInvalidArgument());
  EXPECT_TRUE(txn->SetName("three").IsInvalidArgument());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "1").ok());
  EXPECT_TRUE(txn->RebuildFromWriteBatch(&batch).IsInvalidArgument());
  EXPECT_TRUE(txn->RollbackToSavePoint().IsInvalidArgument());
  EXPECT_EQ(Read(txn.get(), "a"), "1");
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  EXPECT_TRUE(Begin(Impatient())->Put("a", "3").IsTimedOut()) << "it keeps its locks";
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->GetState(), Transaction::COMMITTED);
  EXPECT_GT(txn->GetId(), 0u);
  EXPECT_EQ(txn->GetLogNumber(), 0u);
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(NamesPrepared(), "");
  EXPECT_EQ(txn_db_->GetTransactionByName("one"), nullptr);
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_TRUE(txn->Prepare().IsInvalidArgument());
  EXPECT_TRUE(txn->Rollback().IsInvalidArgument());
}

TEST_F(TwoPhaseTest, NamesAndSequencesAreFreeAgain) {
  PutPlain("z", "1");
  const SequenceNumber before = txn_db_->GetLatestSequenceNumber();
  auto first = Prepared("name", "a", "1");
  EXPECT_EQ(txn_db_->GetLatestSequenceNumber(), before) << "preparing takes none";
  ASSERT_TRUE(first->Rollback().ok());
  EXPECT_EQ(first->GetState(), Transaction::ROLLEDBACK);
  EXPECT_EQ(txn_db_->GetLatestSequenceNumber(), before);
  auto second = Prepared("name", "a", "2");
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_EQ(second->GetId(), before + 1);
  EXPECT_EQ(txn_db_->GetLatestSequenceNumber(), before + 1);
  auto third = Prepared("name", "a", "3");
  third.reset();
  GoOnWith(Left());
  OpenTransactions();
  EXPECT_EQ(Committed("a"), "2");
  EXPECT_EQ(NamesPrepared(), "name");
}

TEST_F(TwoPhaseTest, WithoutPrepareWhereItIsAskedFor) {
  TransactionOptions options;
  options.skip_prepare = false;
  auto txn = Begin(options);
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_TRUE(txn->Commit().IsTxnNotPrepared());
  ASSERT_TRUE(txn->SetName("n").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
}

TEST_F(TwoPhaseTest, PreparingEndsExpiration) {
  TransactionOptions options = Impatient();
  options.expiration = 1;
  auto late = Begin(options);
  ASSERT_TRUE(late->SetName("late").ok());
  (void)late->Put("b", "1");
  options.expiration = 200;
  auto txn = Begin(options);
  ASSERT_TRUE(txn->SetName("n").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  ASSERT_TRUE(Eventually([&] { return txn->GetElapsedTime() > 250; }));
  EXPECT_TRUE(late->Prepare().IsExpired());
  EXPECT_TRUE(Begin(Impatient())->Put("a", "2").IsTimedOut());
  EXPECT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
}

TEST_F(TwoPhaseTest, WithoutLogItIsPreparedInIt) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  std::unique_ptr<Transaction> txn(txn_db_->BeginTransaction(unlogged));
  ASSERT_TRUE(txn->SetName("n").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
  EXPECT_EQ(txn->GetState(), Transaction::PREPARED);
  const auto left = Left();
  txn->SetWriteOptions(WriteOptions());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
  GoOnWith(left);
  OpenTransactions();
  EXPECT_EQ(NamesPrepared(), "n");
}

TEST_F(TwoPhaseTest, WhatComesWithTheCommitIsWrittenBeforeAllElse) {
  auto txn = Prepared("n", "a", "1");
  ASSERT_TRUE(txn->GetCommitTimeWriteBatch()->Put("a", "of the commit").ok());
  ASSERT_TRUE(txn->GetCommitTimeWriteBatch()->Put("b", "of the commit").ok());
  const SequenceNumber before = txn_db_->GetLatestSequenceNumber();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn_db_->GetLatestSequenceNumber(), before + 3);
  EXPECT_EQ(ScanAll(), "a=1 b=of the commit");
  txn.reset();
  GoOnWith(Left());
  OpenTransactions();
  EXPECT_EQ(ScanAll(), "a=1 b=of the commit");
  EXPECT_EQ(txn_db_->GetLatestSequenceNumber(), before + 3);
}

TEST_F(TwoPhaseTest, AKillLosesNothingThatIsPrepared) {
  PutOld();
  auto txn = Named("xid");
  DoEverything(txn.get());
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_EQ(ScanAll(), kOld);
  const auto prepared = Left();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(ScanAll(), kNew);
  EXPECT_EQ(ScanAll(Other()), "o=new");
  const auto committed = Left();
  txn.reset();

  for (const bool commit : {true, false}) {
    GoOnWith(prepared->CrashClone(CrashPolicy::kKill, 1));
    for (int crash = 0; crash < 3; crash++) {
      OpenTransactions();
      EXPECT_EQ(NamesPrepared(), "xid");
      EXPECT_EQ(ScanAll(), kOld);
      GoOnWith(Left());
    }
    OpenTransactions();
    EXPECT_THAT(TextOf("varve.recovery"), HasSubstr("prepared=xid"));
    auto again = TakePrepared().at("xid").release();
    EXPECT_EQ(again->GetState(), Transaction::PREPARED);
    EXPECT_EQ(ScanOf(again), kNew);
    for (const char* key : {"put", "deleted", "merged", "single", "r1"}) {
      EXPECT_TRUE(Begin(Impatient())->Put(key, "x").IsTimedOut()) << key;
    }
    ASSERT_TRUE((commit ? again->Commit() : again->Rollback()).ok());
    delete again;
    for (int crash = 0; crash < 3; crash++) {
      EXPECT_EQ(NamesPrepared(), "");
      EXPECT_EQ(ScanAll(), commit ? kNew : kOld);
      EXPECT_EQ(ScanAll(Other()), commit ? "o=new" : "o=old");
      if (crash == 1) FlushAll();
      GoOnWith(Left());
      OpenTransactions();
    }
  }
  GoOnWith(committed);
  OpenTransactions();
  EXPECT_EQ(NamesPrepared(), "");
  EXPECT_EQ(ScanAll(), kNew);
  EXPECT_EQ(ScanAll(Other()), "o=new");
}

TEST_F(TwoPhaseTest, WhatIsDeletedUndecidedStaysSo) {
  Prepared("n", "a", "1").reset();
  EXPECT_EQ(NamesPrepared(), "");
  EXPECT_THAT(TextOf("varve.prepared-transactions"), HasSubstr("'n'"));
  EXPECT_THAT(TextOf("varve.prepared-transactions"), HasSubstr("without a transaction"));
  EXPECT_TRUE(Begin()->SetName("n").IsInvalidArgument()) << "it would be found twice";
  EXPECT_EQ(Committed("a"), "NOT_FOUND");
  ReopenTransactions();
  EXPECT_EQ(NamesPrepared(), "n");
  auto txn = std::move(TakePrepared().at("n"));
  // When it is used again, it leaves its prepared updates.
  ASSERT_EQ(txn_db_->BeginTransaction(WriteOptions(), TransactionOptions(), txn.get()), txn.get());
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  txn.reset();
  ReopenTransactions();
  ASSERT_TRUE(TakePrepared().at("n")->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
}

// Deleting the transaction object does not give up its prepared updates.
TEST_F(TwoPhaseTest, WhatIsUndecidedStaysLocked) {
  for (const bool used_again : {false, true}) {
    for (const bool recovered : {false, true}) {
      SCOPED_TRACE(std::string(used_again ? "used again" : "deleted") +
                   (recovered ? ", after an opening" : ""));
      CloseTransactions();
      Remount(std::make_shared<MemFileSystem>());
      options_.create_if_missing = options_.create_missing_column_families = true;
      transaction_options_.default_lock_timeout = 0;
      OpenTransactions();
      PutPlain("r5", "old");
      auto txn = Named("n");
      ASSERT_TRUE(txn->Put("a", "prepared").ok());
      ASSERT_TRUE(txn->Put(Other(), "o", "prepared").ok());
      ASSERT_TRUE(txn->DeleteRange(txn_db_->DefaultColumnFamily(), "r", "s").ok());
      ASSERT_TRUE(txn->Prepare().ok());
      if (recovered) {
        txn.reset();
        ReopenTransactions();
        txn = std::move(TakePrepared().at("n"));
      }
      const TransactionID id = txn->GetID();
      if (used_again) {
        ASSERT_EQ(txn_db_->BeginTransaction(WriteOptions(), Impatient(), txn.get()), txn.get());
        EXPECT_NE(txn->GetID(), id);
        EXPECT_EQ(txn->GetState(), Transaction::STARTED);
        EXPECT_EQ(txn->GetNumKeys(), 0u);
        EXPECT_TRUE(txn->Put("a", "again").IsTimedOut()) << "it is another transaction";
        EXPECT_TRUE(txn->Put("r7", "again").IsTimedOut());
        ASSERT_TRUE(txn->Put("b", "again").ok());
        ASSERT_TRUE(txn->Commit().ok());
      } else {
        txn.reset();
      }
      EXPECT_TRUE(txn_db_->Put(WriteOptions(), "a", "plain").IsTimedOut());
      EXPECT_TRUE(txn_db_->Put(WriteOptions(), Other(), "o", "plain").IsTimedOut());
      EXPECT_TRUE(txn_db_->Put(WriteOptions(), "r5", "plain").IsTimedOut());
      const auto locked = txn_db_->GetLockStatusData();
      ASSERT_EQ(locked.size(), 2u);
      EXPECT_EQ(locked.find(0)->second.ids, std::vector<TransactionID>{id});
      txn.reset();
      ReopenTransactions();
      ASSERT_TRUE(TakePrepared().at("n")->Commit().ok());
      EXPECT_EQ(ScanAll(), used_again ? "a=prepared b=again" : "a=prepared");
      EXPECT_EQ(ScanAll(Other()), "o=prepared");
      PutPlain("a", "plain");
      PutPlain("r5", "plain");
    }
  }
}

// No limit keeps an opening from locking prepared keys, and others respect all of these locks.
TEST_F(TwoPhaseTest, LimitsDoNotUnlockWhatIsPrepared) {
  for (const char* name : {"one", "two"}) {
    auto txn = Named(name);
    for (int i = 0; i < 4; i++) {
      ASSERT_TRUE(txn->Put(std::string(name) + std::to_string(i), name).ok());
    }
    ASSERT_TRUE(txn->DeleteRange(txn_db_->DefaultColumnFamily(), std::string(name) + "r",
                                 std::string(name) + "s")
                    .ok());
    ASSERT_TRUE(txn->Prepare().ok());
  }
  for (const int64_t limit : {1, 4, 10, 11}) {
    SCOPED_TRACE(limit);
    transaction_options_.max_num_locks = limit;
    transaction_options_.default_lock_timeout = 0;
    const auto left = Left();
    GoOnWith(left);
    OpenTransactions();
    if (HasFatalFailure()) return;
    EXPECT_EQ(NamesPrepared(), "one two");
    Transactions all = TakePrepared();
    const auto expect_locked = [&](const std::string& name, bool is) {
      for (const std::string end : {"0", "1", "2", "3", "rr"}) {
        const Status s = txn_db_->Put(WriteOptions(), name + end, "plain");
        EXPECT_EQ(is ? s.IsTimedOut() || s.IsLockLimit() : s.ok(), true)
            << name << end << ": " << s.ToString();
      }
    };
    expect_locked("one", true);
    expect_locked("two", true);
    EXPECT_EQ(txn_db_->GetLockStatusData().size(), 8u);
    EXPECT_EQ(txn_db_->Put(WriteOptions(), "free", "plain").IsLockLimit(), limit <= 10);
    const auto before = Left();
    ASSERT_TRUE(all["one"]->Rollback().ok());
    expect_locked("two", true);
    if (limit > 5) expect_locked("one", false);
    ASSERT_TRUE(all["two"]->Commit().ok());
    EXPECT_EQ(Committed("two3"), "two");
    expect_locked("two", false);
    all.clear();
    GoOnWith(before);
    OpenTransactions();
  }
}

TEST_F(TwoPhaseTest, ThoseWithoutLocksAreFoundWithThem) {
  TransactionOptions no_locks;
  no_locks.skip_concurrency_control = true;
  for (const char* name : {"one", "two"}) {
    auto txn = Begin(no_locks);
    ASSERT_TRUE(txn->SetName(name).ok());
    ASSERT_TRUE(txn->Put("a", name).ok());
    ASSERT_TRUE(txn->Prepare().ok());
  }
  ReopenTransactions();
  EXPECT_EQ(NamesPrepared(), "one two");
  Transactions all = TakePrepared();
  EXPECT_TRUE(Begin(Impatient())->Put("a", "x").IsTimedOut());
  ASSERT_TRUE(all["two"]->Commit().ok());
  EXPECT_TRUE(Begin(Impatient())->Put("a", "x").IsTimedOut()) << "both have the lock";
  ASSERT_TRUE(all["one"]->Commit().ok());
  EXPECT_EQ(Committed("a"), "one");
  PutPlain("a", "x");
}

TEST_F(TwoPhaseTest, OpenersThatKnowNothingOfItLoseNothing) {
  PutPlain("a", "old");
  auto decided = Prepared("decided", "b", "1");
  ASSERT_TRUE(decided->Commit().ok());
  decided.reset();
  Prepared("first", "a", "new").reset();
  Prepared("second", "c", "new").reset();
  CloseTransactions();
  const std::vector<std::string> families = {"default", "other"};
  for (int i = 0; i < 2; i++) {
    const Status s = TryOpen(families);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("'first'"));
    EXPECT_THAT(s.ToString(), HasSubstr("'second'"));
    ASSERT_TRUE(TryOpenReadOnly(families).ok());
    EXPECT_EQ(Scan(), "a=old b=1");
    ASSERT_TRUE(Close().ok());
  }
  options_.allow_2pc = true;
  ASSERT_TRUE(TryOpen(families).ok());
  EXPECT_EQ(Scan(), "a=old b=1");
  Put("d", "plain");
  Flush();
  ASSERT_TRUE(Close().ok());
  options_.allow_2pc = false;
  OpenTransactions();
  EXPECT_EQ(NamesPrepared(), "first second");
  Transactions all = TakePrepared();
  ASSERT_TRUE(all["first"]->Commit().ok());
  ASSERT_TRUE(all["second"]->Rollback().ok());
  all.clear();
  CloseTransactions();
  ASSERT_TRUE(TryOpen(families).ok()) << "all is decided";
  EXPECT_EQ(Scan(), "a=new b=1 d=plain");
}

TEST_F(TwoPhaseTest, WrappedDatabasesNeedTheOption) {
  CloseTransactions();
  for (const bool prepared : {false, true}) {
    DBOptions db_options = options_;
    std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"other", options_}};
    std::vector<size_t> indices;
    if (prepared) TransactionDB::PrepareWrap(&db_options, &families, &indices);
    DB* plain = nullptr;
    ASSERT_TRUE(DB::Open(db_options, kName, families, &handles_, &plain).ok());
    TransactionDB* wrapped = nullptr;
    ASSERT_TRUE(
        TransactionDB::WrapDB(plain, TransactionDBOptions(), indices, handles_, &wrapped).ok());
    txn_db_.reset(wrapped);
    auto txn = Named("n");
    ASSERT_TRUE(txn->Put("a", "1").ok());
    EXPECT_EQ(txn->Prepare().IsInvalidArgument(), !prepared);
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(Committed("a"), "1");
    txn.reset();
    CloseTransactions();
  }
}

TEST_F(TwoPhaseTest, LogsStayAsLongAsTheyAreNeeded) {
  auto txn = Prepared("holds", "a", "1");
  const uint64_t held = txn->GetLogNumber();
  for (int i = 0; i < 3; i++) {
    PutPlain("k" + std::to_string(i), "v");
    FlushAll();
  }
  const auto has_log = [&] {
    return mem().FileExists(LogFileName(kName, held), IOOptions(), nullptr).ok();
  };
  EXPECT_TRUE(has_log());
  EXPECT_THAT(TextOf("varve.prepared-transactions"), HasSubstr("undecided=1 log_bytes_kept="));
  EXPECT_THAT(TextOf("varve.prepared-transactions"),
              HasSubstr("log=" + std::to_string(held) + "\n"));
  uint64_t kept = 0;
  ASSERT_TRUE(txn_db_->GetIntProperty(DB::Properties::kMinLogNumberToKeep, &kept));
  EXPECT_EQ(kept, held);
  const auto undecided = Left();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_THAT(TextOf("varve.prepared-transactions"), HasSubstr("undecided=0"));
  PutPlain("later", "v");
  EXPECT_TRUE(has_log()) << "the commit is in no table yet";
  const auto committed = Left();
  FlushAll();
  ASSERT_TRUE(Eventually([&] { return !has_log(); }));
  EXPECT_THAT(TextOf("varve.prepared-transactions"), HasSubstr("undecided=0 log_bytes_kept=0"));
  const auto flushed = Left(CrashPolicy::kSyncedOnly);
  txn.reset();
  GoOnWith(undecided);
  OpenTransactions();
  EXPECT_EQ(ScanAll(), "k0=v k1=v k2=v");
  EXPECT_EQ(NamesPrepared(), "holds");
  for (const auto& left : {committed, flushed}) {
    GoOnWith(left);
    OpenTransactions();
    EXPECT_EQ(ScanAll(), "a=1 k0=v k1=v k2=v later=v");
    EXPECT_EQ(NamesPrepared(), "");
  }
}

TEST_F(TwoPhaseTest, LogsOfNothingGoOn) {
  CloseTransactions();
  options_.max_total_wal_size = 1 << 20;
  OpenTransactions();
  const std::string value(100'000, 'v');
  const auto log_bytes = [&] {
    uint64_t bytes = 0;
    for (const std::string& name : Files(kWalFile)) bytes += ReadFile(kName + ("/" + name)).size();
    return bytes;
  };
  for (int i = 0; i < 100; i++) {
    ASSERT_TRUE(Prepared("n", "a", value)->Rollback().ok());
  }
  EXPECT_TRUE(Eventually([&] { return log_bytes() < 4 << 20; })) << log_bytes();
  auto holds = Prepared("holds", "h", "1");
  for (int i = 0; i < 30; i++) {
    ASSERT_TRUE(Prepared("n", "a", value)->Rollback().ok());
  }
  EXPECT_EQ(NamesPrepared(), "holds");
  const auto left = Left();
  ASSERT_TRUE(holds->Commit().ok());
  holds.reset();
  GoOnWith(left);
  OpenTransactions();
  EXPECT_EQ(NamesPrepared(), "holds");
  EXPECT_EQ(ScanAll(), "");
}

TEST_F(TwoPhaseTest, AFamilyThatIsFlushedAloneKeepsTheOthersLogs) {
  auto txn = Named("both");
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Put(Other(), "o", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  PutPlain("x", "1");
  FlushAll();
  ASSERT_TRUE(txn->Commit().ok());
  ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
  PutPlain("y", "1");
  ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
  txn.reset();
  for (const CrashPolicy policy : {CrashPolicy::kKill, CrashPolicy::kSyncedOnly}) {
    GoOnWith(Left(policy));
    OpenTransactions();
    EXPECT_EQ(ScanAll(), "a=1 x=1 y=1");
    EXPECT_EQ(ScanAll(Other()), "o=1");
    EXPECT_EQ(NamesPrepared(), "");
  }
}

// The tables that a flush made are durable; decisions that came before it must be, too.
TEST_F(TwoPhaseTest, AFlushDoesNotOutliveDecisionsBeforeIt) {
  CloseTransactions();
  TransactionDB* opened = nullptr;
  Options options = options_;
  options.create_if_missing = true;
  for (const bool commit : {true, false}) {
    Remount(std::make_shared<MemFileSystem>());
    options.env = options_.env;
    ASSERT_TRUE(TransactionDB::Open(options, TransactionDBOptions(), kName, &opened).ok());
    txn_db_.reset(opened);
    auto holds = Prepared("holds", "h", "1", /*sync=*/true);
    auto txn = Prepared("decided", "a", "1", /*sync=*/true);
    txn->SetWriteOptions(WriteOptions());
    ASSERT_TRUE((commit ? txn->Commit() : txn->Rollback()).ok());
    PutPlain("x", "1");
    ASSERT_TRUE(txn_db_->Flush(FlushOptions()).ok());
    holds.reset();
    txn.reset();
    GoOnWith(Left(CrashPolicy::kSyncedOnly));
    options.env = options_.env;
    ASSERT_TRUE(TransactionDB::Open(options, TransactionDBOptions(), kName, &opened).ok());
    txn_db_.reset(opened);
    EXPECT_EQ(ScanAll(), commit ? "a=1 x=1" : "x=1");
    EXPECT_EQ(NamesPrepared(), "holds");
    CloseTransactions();
  }
}

// A rollback takes no sequence number: that numbers go on in the next log does not say that it is
// there.
TEST_F(TwoPhaseTest, WhatFollowsALostRollbackIsLeftOut) {
  constexpr size_t kHeaders = 7 + kBatchHeaderBytes;  // headers: log record, batch
  for (const size_t cut : {kHeaders, size_t{0}}) {    // the whole record, or from its mark on
    CloseTransactions();
    Remount(std::make_shared<MemFileSystem>());
    OpenTransactions();
    PutPlain("x", "1");
    auto txn = Prepared("decided", "a", "1");
    ASSERT_TRUE(txn->Rollback().ok());
    ASSERT_TRUE(txn_db_->PauseBackgroundWork().ok());
    FlushOptions no_wait;
    no_wait.wait = false;
    ASSERT_TRUE(txn_db_->Flush(no_wait).ok());
    PutPlain("a", "2");
    const auto left = Left();
    ASSERT_TRUE(txn_db_->ContinueBackgroundWork().ok());
    txn.reset();
    GoOnWith(left);
    ASSERT_EQ(Files(kWalFile).size(), 2u);
    const std::string log = std::string(kName) + "/" + Files(kWalFile)[0];
    const std::string bytes = ReadFile(log);
    const size_t mark = bytes.find(std::string("\x0c\x07") + "decided");
    ASSERT_NE(mark, std::string::npos);
    WriteFile(log, bytes.substr(0, mark - cut));
    OpenTransactions();
    EXPECT_EQ(NamesPrepared(), "decided");
    EXPECT_EQ(ScanAll(), "x=1");
    EXPECT_EQ(Files(kWalFile, std::string(kName) + "/lost").size(), 1u);
  }
}

TEST_F(TwoPhaseTest, AStepThatFailsCanBeTakenAgain) {
  options_.create_if_missing = options_.create_missing_column_families = true;
  for (const FaultCall call : {FaultCall::kWrite, FaultCall::kSync}) {
    for (const char* step : {"prepare", "commit", "rollback"}) {
      for (const bool resumed : {true, false}) {
        SCOPED_TRACE(std::string(step) + (resumed ? " resumed" : "") +
                     (call == FaultCall::kSync ? " sync" : " write"));
        CloseTransactions();
        Remount(std::make_shared<MemFileSystem>());
        OpenTransactions();
        auto holds = Prepared("holds", "h", "1");
        PutPlain("x", "1");
        FlushAll();
        auto txn = Named("n", /*sync=*/true);
        ASSERT_TRUE(txn->Put("a", "1").ok());
        const std::string which = step;
        if (which != "prepare") {
          ASSERT_TRUE(txn->Prepare().ok());
        }
        FailNext(call);
        const auto take = [&] {
          return which == "prepare" ? txn->Prepare()
                                    : (which == "commit" ? txn->Commit() : txn->Rollback());
        };
        EXPECT_FALSE(take().ok());
        faults().ClearFaults();
        EXPECT_EQ(txn->GetState(),
                  which == "prepare" ? Transaction::STARTED : Transaction::PREPARED);
        EXPECT_EQ(Committed("a"), "NOT_FOUND");
        if (!resumed) {
          txn.reset();
          holds.reset();
          GoOnWith(Left());
          OpenTransactions();
          const std::string names = NamesPrepared();
          EXPECT_THAT(names, HasSubstr("holds"));
          const bool prepared = names == "holds n";
          if (which == "commit") {
            EXPECT_NE(prepared, Committed("a") == "1");
          }
          if (which != "commit") {
            EXPECT_EQ(Committed("a"), "NOT_FOUND");
          }
          continue;
        }
        ASSERT_TRUE(txn_db_->Resume().ok());
        EXPECT_EQ(NamesPrepared(), which == "prepare" ? "holds" : "holds n");
        const auto left = Left(CrashPolicy::kSyncedOnly);
        ASSERT_TRUE(take().ok());
        if (which == "prepare") {
          ASSERT_TRUE(txn->Commit().ok());
        }
        const auto after = Left(CrashPolicy::kSyncedOnly);
        txn.reset();
        holds.reset();
        GoOnWith(left);
        OpenTransactions();
        EXPECT_EQ(NamesPrepared(), which == "prepare" ? "holds" : "holds n");
        EXPECT_EQ(ScanAll(), "x=1");
        GoOnWith(after);
        OpenTransactions();
        EXPECT_EQ(NamesPrepared(), "holds");
        EXPECT_EQ(ScanAll(), which == "rollback" ? "x=1" : "a=1 x=1");
      }
    }
  }
}

TEST_F(TwoPhaseTest, ACommitWithoutMemoryIsNowhereAndCanBeTakenAgain) {
  PutPlain("a", "old");
  auto txn = Named("n");
  ASSERT_TRUE(txn->Put("a", "new").ok());
  ASSERT_TRUE(txn->Put("zhuge", std::string(9 << 20, 'h')).ok());
  ASSERT_TRUE(txn->Prepare().ok());
  {
    const NoMappings no_memory;
    EXPECT_TRUE(txn->Commit().IsMemoryLimit());
  }
  EXPECT_EQ(txn->GetState(), Transaction::PREPARED);
  EXPECT_EQ(ScanAll(), "a=old");
  ASSERT_TRUE(txn_db_->Resume().ok());
  EXPECT_EQ(ScanAll(), "a=old");
  const auto left = Left();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "new");
  const auto committed = Left();
  txn.reset();
  GoOnWith(left);
  OpenTransactions();
  EXPECT_EQ(ScanAll(), "a=old");
  EXPECT_EQ(NamesPrepared(), "n");
  ASSERT_TRUE(TakePrepared().at("n")->Rollback().ok());
  GoOnWith(committed);
  OpenTransactions();
  EXPECT_EQ(Committed("a"), "new");
  EXPECT_EQ(NamesPrepared(), "");
}

TEST_F(TwoPhaseTest, ADroppedFamilyTakesItsUpdatesAlong) {
  auto txn = Named("n");
  ASSERT_TRUE(txn->Put("a", "1").ok());
  ASSERT_TRUE(txn->Put(Other(), "o", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  ASSERT_TRUE(txn_db_->DropColumnFamily(Other()).ok());
  const auto left = Left();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
  txn.reset();
  GoOnWith(left);
  options_.create_missing_column_families = true;
  OpenTransactions();
  ASSERT_TRUE(TakePrepared().at("n")->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(ScanAll(Other()), "");
}

TEST_F(TwoPhaseTest, ARepairKeepsWhatIsPrepared) {
  const std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"other", options_}};
  for (const bool damaged : {false, true}) {
    SCOPED_TRACE(damaged ? "no MANIFEST" : "healthy");
    CloseTransactions();
    Remount(std::make_shared<MemFileSystem>());
    options_.create_if_missing = options_.create_missing_column_families = true;
    OpenTransactions();
    PutPlain("a", "old");
    ASSERT_TRUE(txn_db_->Put(WriteOptions(), Other(), "o", "old").ok());
    FlushAll();
    auto txn = Named("n");
    ASSERT_TRUE(txn->Put("a", "new").ok());
    ASSERT_TRUE(txn->Put(Other(), "o", "new").ok());
    ASSERT_TRUE(txn->Prepare().ok());
    PutPlain("b", "1");
    FlushAll();
    txn.reset();
    CloseTransactions();
    if (damaged) {
      for (const std::string& name : Files(kDescriptorFile)) {
        WriteFile(std::string(kName) + "/" + name, "");
      }
    }
    const Status s = RepairDB(kName, options_, families);
    ASSERT_TRUE(s.ok()) << s.ToString();
    options_.create_if_missing = options_.create_missing_column_families = false;
    OpenTransactions();
    EXPECT_EQ(ScanAll(), "a=old b=1");
    EXPECT_EQ(NamesPrepared(), "n");
    ASSERT_TRUE(TakePrepared().at("n")->Commit().ok());
    EXPECT_EQ(ScanAll(), "a=new b=1");
    EXPECT_EQ(ScanAll(Other()), "o=new");
  }
}

TEST_F(TwoPhaseTest, RecoveredDataCanNotStayInMemoryWithoutItsPrepareRecord) {
  options_.avoid_flush_during_recovery = true;
  auto txn = Prepared("n", "a", "1");
  PutPlain("x", "1");
  FlushAll();
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  for (int i = 0; i < 3; i++) {
    GoOnWith(Left());
    OpenTransactions();
    EXPECT_EQ(ScanAll(), "a=1 x=1") << i;
  }
}

}  // namespace
}  // namespace varve::testing
