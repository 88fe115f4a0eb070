// SPDX-License-Identifier: Apache-2.0

// Goal: transactions over a column family with timestamps write all their keys with that of the
// commit, through crashes too, are checked against what they have read as of, and lock keys
// whatever their timestamps; snapshots with timestamps are in the order of what they show.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "varve/comparator.h"
#include "varve/utilities/merge_operators.h"

#include "tests/db/transaction/two_phase_fixture.h"
#include "util/coding/fixed.h"

namespace varve::testing {
namespace {

std::string Stamp(uint64_t timestamp) {
  std::string bytes;
  PutFixed64(&bytes, timestamp);
  return bytes;
}

// "other" has timestamps, the default family has none.
class TransactionTimestampsTest : public TwoPhaseFixture {
 protected:
  TransactionTimestampsTest() {
    other_options_ = ColumnFamilyOptions(options_);
    other_options_->comparator = BytewiseComparatorWithU64Ts();
    transaction_options_.default_lock_timeout = 1;
  }

  std::string CommittedAsOf(uint64_t timestamp, const std::string& key) {
    const std::string bytes = Stamp(timestamp);
    const Slice as_of = bytes;
    ReadOptions options;
    options.timestamp = &as_of;
    std::string value;
    const Status s = txn_db_->Get(options, Other(), key, &value);
    return Said(s, value);
  }
  std::string ReadAsOf(Transaction* txn, uint64_t timestamp, const std::string& key) {
    const std::string bytes = Stamp(timestamp);
    const Slice as_of = bytes;
    ReadOptions options;
    options.timestamp = &as_of;
    std::string value;
    const Status s = txn->Get(options, Other(), key, &value);
    return Said(s, value);
  }
  void PutAt(uint64_t timestamp, const std::string& key, const std::string& value) {
    const Status s = txn_db_->Put(WriteOptions(), Other(), key, Stamp(timestamp), value);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
};

// Below the kept history it is unknown whether there was something newer.
TEST_F(TransactionTimestampsTest, WhatWasReadAsOfATimeBelowTheHistoryIsBusy) {
  PutAt(100, "k", "10");
  auto early = Begin();
  ASSERT_TRUE(early->SetReadTimestampForValidation(105).ok());
  EXPECT_EQ(ReadAsOf(early.get(), 105, "k"), "10");
  auto late = Begin();
  ASSERT_TRUE(late->SetReadTimestampForValidation(120).ok());
  PutAt(110, "k", "999");
  ASSERT_TRUE(txn_db_->IncreaseFullHistoryTsLow(Other(), Stamp(120)).ok());
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(txn_db_->CompactRange(all, Other(), nullptr, nullptr).ok());
  EXPECT_TRUE(early->Put(Other(), "k", "11").IsBusy());
  EXPECT_TRUE(
      early->GetForUpdate(ReadOptions(), Other(), "other", static_cast<std::string*>(nullptr))
          .IsBusy());
  EXPECT_TRUE(late->Put(Other(), "k", "1000").ok());
  ASSERT_TRUE(late->SetCommitTimestamp(130).ok());
  EXPECT_TRUE(late->Commit().ok());
  EXPECT_EQ(CommittedAsOf(130, "k"), "1000");
}

TEST_F(TransactionTimestampsTest, CommitGivesAllKeysItsTimestamp) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put("plain", "p").ok());
  ASSERT_TRUE(txn->Put(Other(), "a", "1").ok());
  ASSERT_TRUE(txn->Merge(Other(), "m", "x").ok());
  txn->DisableIndexing();
  ASSERT_TRUE(txn->Put(Other(), "b", "2").ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument()) << "there is no timestamp";
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  EXPECT_EQ(txn->GetCommitTimestamp(), kMaxTxnTimestamp);
  ASSERT_TRUE(txn->SetCommitTimestamp(7).ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(10).ok());
  EXPECT_EQ(txn->GetCommitTimestamp(), 10u);
  const Status s = txn->Commit();
  ASSERT_TRUE(s.ok()) << s.ToString();
  for (const char* key : {"a", "b", "m"}) EXPECT_EQ(CommittedAsOf(9, key), "NOT_FOUND") << key;
  EXPECT_EQ(CommittedAsOf(10, "a") + CommittedAsOf(10, "b") + CommittedAsOf(99, "m"), "12x");
  EXPECT_EQ(Committed("plain"), "p");

  txn.reset(txn_db_->BeginTransaction(WriteOptions(), TransactionOptions(), txn.release()));
  EXPECT_EQ(txn->GetCommitTimestamp(), kMaxTxnTimestamp) << "it is a new one";
  ASSERT_TRUE(txn->Put("plain", "q").ok());
  EXPECT_TRUE(txn->Commit().ok()) << "no key needs one";
}

TEST_F(TransactionTimestampsTest, ACommitThatFailedMayGetAnotherTimestamp) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put(Other(), "a", "1").ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(10).ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kWrite);
  rule.path_contains = ".log";
  rule.sticky = true;
  faults().Inject(rule);
  ASSERT_FALSE(txn->Commit().ok());
  faults().ClearFaults();
  ASSERT_TRUE(Eventually([&] { return txn_db_->Resume().ok(); }));
  ASSERT_TRUE(txn->Put(Other(), "b", "2").ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(20).ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(CommittedAsOf(19, "a"), "NOT_FOUND");
  EXPECT_EQ(CommittedAsOf(20, "a") + CommittedAsOf(20, "b"), "12");
}

TEST_F(TransactionTimestampsTest, OwnWritesAreSeenAsOfAnyTime) {
  PutAt(5, "a", "old");
  PutAt(5, "c", "old");
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put(Other(), "a", "own").ok());
  ASSERT_TRUE(txn->DeleteRange(Other(), "b", "d").ok());
  EXPECT_EQ(ReadAsOf(txn.get(), 1, "a") + ReadAsOf(txn.get(), 9, "a"), "ownown");
  EXPECT_EQ(ReadAsOf(txn.get(), 9, "c"), "NOT_FOUND");
  const std::string bytes = Stamp(9);
  const Slice as_of = bytes;
  ReadOptions options;
  options.timestamp = &as_of;
  const std::unique_ptr<Iterator> it(txn->GetIterator(options, Other()));
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "a=own");
  ASSERT_TRUE(txn->SetCommitTimestamp(8).ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(CommittedAsOf(7, "a") + CommittedAsOf(7, "c"), "oldold");
  EXPECT_EQ(CommittedAsOf(8, "a") + CommittedAsOf(8, "c"), "ownNOT_FOUND");
}

// Others' writes after the read timestamp conflict, in memtables and in tables.
TEST_F(TransactionTimestampsTest, WritesAreCheckedAgainstTheReadTimestamp) {
  PutAt(10, "older", "1");
  PutAt(10, "same", "1");
  PutAt(20, "newer", "1");
  PutAt(10, "deleted", "1");
  ASSERT_TRUE(txn_db_->Delete(WriteOptions(), Other(), "deleted", Stamp(20)).ok());
  PutAt(10, "range", "1");
  ASSERT_TRUE(txn_db_->DeleteRange(WriteOptions(), Other(), "r", "s", Stamp(20)).ok());
  PutAt(5, "gone", "1");
  ASSERT_TRUE(txn_db_->DeleteRange(WriteOptions(), Other(), "g", "h", Stamp(6)).ok());
  for (const bool flushed : {false, true}) {
    if (flushed) FlushAll();
    const auto txn = Begin(Impatient());
    ASSERT_TRUE(txn->SetReadTimestampForValidation(10).ok());
    for (const char* key : {"older", "same", "gone", "never"}) {
      const Status s = txn->Put(Other(), key, "2");
      EXPECT_TRUE(s.ok()) << key << flushed << ": " << s.ToString();
    }
    for (const char* key : {"newer", "deleted", "range"}) {
      EXPECT_TRUE(txn->Put(Other(), key, "2").IsBusy()) << key << flushed;
      EXPECT_TRUE(txn->PutUntracked(Other(), key, "2").ok()) << key << flushed;
    }
    ASSERT_TRUE(txn->Put("plain", "2").ok()) << "it has no timestamps";
  }
  transaction_options_.enable_udt_validation = false;
  ReopenTransactions();
  const auto txn = Begin();
  ASSERT_TRUE(txn->SetReadTimestampForValidation(10).ok());
  EXPECT_TRUE(txn->Put(Other(), "newer", "2").ok());
}

TEST_F(TransactionTimestampsTest, ASnapshotIsCheckedAsWell) {
  const auto txn = Begin(WithSnapshot());
  PutAt(3, "a", "1");
  ASSERT_TRUE(txn->SetReadTimestampForValidation(10).ok());
  EXPECT_TRUE(txn->Put(Other(), "a", "2").IsBusy());
}

TEST_F(TransactionTimestampsTest, TimestampsOfATransactionAreInOrder) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->SetReadTimestampForValidation(10).ok());
  EXPECT_TRUE(txn->SetReadTimestampForValidation(9).IsInvalidArgument());
  ASSERT_TRUE(txn->SetReadTimestampForValidation(11).ok());
  EXPECT_TRUE(txn->SetCommitTimestamp(11).IsInvalidArgument());
  ASSERT_TRUE(txn->SetCommitTimestamp(12).ok());
  EXPECT_TRUE(txn->SetReadTimestampForValidation(12).IsInvalidArgument());
}

TEST_F(TransactionTimestampsTest, ReadsForUpdateAreAsOfTheReadTimestamp) {
  PutAt(10, "a", "ten");
  PutAt(20, "b", "twenty");
  const auto txn = Begin(Impatient());
  std::string value;
  const auto get = [&](const std::string& key, bool validate, const Slice* as_of = nullptr) {
    ReadOptions options;
    options.timestamp = as_of;
    return txn->GetForUpdate(options, Other(), key, &value, /*exclusive=*/true, validate);
  };
  EXPECT_TRUE(get("a", true).IsInvalidArgument()) << "there is no read timestamp";
  ASSERT_TRUE(get("b", false).ok());
  EXPECT_EQ(value, "twenty") << "the newest";
  ASSERT_TRUE(txn->SetReadTimestampForValidation(15).ok());
  EXPECT_TRUE(get("a", false).IsInvalidArgument());
  const std::string other = Stamp(14);
  const Slice other_time = other;
  EXPECT_TRUE(get("a", true, &other_time).IsInvalidArgument());
  ASSERT_TRUE(get("a", true).ok());
  EXPECT_EQ(value, "ten");
  const std::string same = Stamp(15);
  const Slice same_time = same;
  EXPECT_TRUE(get("a", true, &same_time).ok());
  EXPECT_TRUE(get("b", true).IsBusy());

  std::vector<std::string> values;
  const std::vector<Status> statuses = txn->MultiGetForUpdate(
      ReadOptions(), {Other(), Other(), txn_db_->DefaultColumnFamily()}, {"a", "c", "a"}, &values);
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].ToString();
  EXPECT_TRUE(statuses[1].IsNotFound() && statuses[2].IsNotFound());
  EXPECT_EQ(values[0], "ten");
}

TEST_F(TransactionTimestampsTest, LocksKnowNoTimestamps) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put(Other(), "k", "1").ok());
  ASSERT_TRUE(txn->DeleteRange(Other(), "m", "p").ok());
  const auto second = Begin(Impatient());
  EXPECT_TRUE(second->Put(Other(), "k", "2").IsTimedOut());
  EXPECT_TRUE(second->Put(Other(), "n", "2").IsTimedOut());
  EXPECT_TRUE(second->Put(Other(), "p", "2").ok());
  EXPECT_TRUE(txn_db_->Put(WriteOptions(), Other(), "k", Stamp(1), "3").IsTimedOut());
  EXPECT_TRUE(txn_db_->Delete(WriteOptions(), Other(), "k", Stamp(1)).IsTimedOut());
  EXPECT_TRUE(txn_db_->SingleDelete(WriteOptions(), Other(), "k", Stamp(1)).IsTimedOut());
  EXPECT_TRUE(txn_db_->Merge(WriteOptions(), Other(), "k", Stamp(1), "3").IsTimedOut());
  EXPECT_TRUE(txn_db_->DeleteRange(WriteOptions(), Other(), "j", "l", Stamp(1)).IsTimedOut());
  EXPECT_TRUE(txn_db_->DeleteRange(WriteOptions(), Other(), "a", "b", Stamp(1)).ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(Other(), "k", Stamp(1), "3").ok());
  EXPECT_TRUE(txn_db_->Write(WriteOptions(), &batch).IsTimedOut());
  EXPECT_TRUE(txn_db_->Put(WriteOptions(), Other(), "z", "3").IsInvalidArgument());
}

TEST_F(TransactionTimestampsTest, WhatIsPreparedGetsTheTimestampOfItsCommit) {
  for (const bool flush : {false, true}) {
    PutAt(3, "n", "old");
    {
      const auto txn = Prepared("x" + std::to_string(flush), "plain", "p");
      const auto timed = Named("t" + std::to_string(flush));
      ASSERT_TRUE(timed->Put(Other(), "k", "1").ok());
      ASSERT_TRUE(timed->DeleteRange(Other(), "m", "p").ok());
      ASSERT_TRUE(timed->Prepare().ok());
      EXPECT_TRUE(timed->Commit().IsInvalidArgument());
      EXPECT_EQ(timed->GetState(), Transaction::PREPARED);
      if (flush) FlushAll();
    }
    GoOnWith(Left());
    OpenTransactions();
    {
      Transactions found = TakePrepared();
      ASSERT_EQ(found.size(), 2u);
      Transaction* const timed = found["t" + std::to_string(flush)].get();
      EXPECT_EQ(ReadAsOf(timed, 1, "k"), "1");
      EXPECT_TRUE(txn_db_->Put(WriteOptions(), Other(), "k", Stamp(1), "3").IsTimedOut());
      EXPECT_TRUE(timed->Commit().IsInvalidArgument());
      ASSERT_TRUE(timed->SetCommitTimestamp(10).ok());
      ASSERT_TRUE(timed->Commit().ok());
      ASSERT_TRUE(found["x" + std::to_string(flush)]->Rollback().ok());
    }
    for (const bool crashed : {false, true}) {
      if (crashed) {
        GoOnWith(Left());
        OpenTransactions();
        EXPECT_EQ(NamesPrepared(), "");
      }
      EXPECT_EQ(CommittedAsOf(9, "k") + CommittedAsOf(10, "k"), "NOT_FOUND1") << flush << crashed;
      EXPECT_EQ(CommittedAsOf(9, "n") + CommittedAsOf(10, "n"), "oldNOT_FOUND");
      EXPECT_EQ(Committed("plain"), "NOT_FOUND");
    }
    CloseTransactions();
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    OpenTransactions();
  }
}

TEST_F(TransactionTimestampsTest, OtherSizesAreRefused) {
  CloseTransactions();
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  class FourBytes final : public Comparator {
   public:
    FourBytes() : Comparator(4) {}
    const char* Name() const override { return "four"; }
    int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
    void FindShortestSeparator(std::string*, const Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
    using Comparator::CompareWithoutTimestamp;
    int CompareWithoutTimestamp(const Slice& a, bool, const Slice& b, bool) const override {
      return a.compare(b);
    }
    int CompareTimestamp(const Slice& a, const Slice& b) const override { return a.compare(b); }
  };
  static const FourBytes four;
  other_options_->comparator = &four;
  OpenTransactions();
  const auto txn = Begin();
  EXPECT_TRUE(txn->Put(Other(), "a", "1").IsNotSupported());
  EXPECT_TRUE(txn->Put("a", "1").ok());
}

// ---- Snapshots ----

TEST_F(TransactionTimestampsTest, SnapshotsAreInTheOrderOfTheirTimestamps) {
  PutPlain("a", "1");
  EXPECT_EQ(txn_db_->GetLatestTimestampedSnapshot(), nullptr);
  EXPECT_TRUE(txn_db_->CreateTimestampedSnapshot(kMaxTxnTimestamp).first.IsInvalidArgument());
  auto [s, first] = txn_db_->CreateTimestampedSnapshot(10);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(first->GetTimestamp(), 10u);
  EXPECT_EQ(txn_db_->CreateTimestampedSnapshot(10).second, first) << "nothing has changed";
  EXPECT_TRUE(txn_db_->CreateTimestampedSnapshot(9).first.IsInvalidArgument());
  PutPlain("a", "2");
  EXPECT_TRUE(txn_db_->CreateTimestampedSnapshot(10).first.IsInvalidArgument());
  ASSERT_TRUE(txn_db_->CreateTimestampedSnapshot(20).first.ok());
  PutPlain("a", "3");
  EXPECT_EQ(txn_db_->GetTimestampedSnapshot(15), nullptr);
  EXPECT_EQ(txn_db_->GetLatestTimestampedSnapshot()->GetTimestamp(), 20u);
  ReadOptions options;
  options.snapshot = first.get();
  std::string value;
  ASSERT_TRUE(txn_db_->Get(options, "a", &value).ok());
  EXPECT_EQ(value, "1");
  std::vector<std::shared_ptr<const Snapshot>> all;
  ASSERT_TRUE(txn_db_->GetAllTimestampedSnapshots(all).ok());
  EXPECT_EQ(all.size(), 2u);
  ASSERT_TRUE(txn_db_->GetTimestampedSnapshots(10, 20, all).ok());
  EXPECT_EQ(all.size(), 1u);
  EXPECT_TRUE(txn_db_->GetTimestampedSnapshots(20, 20, all).IsInvalidArgument());
  txn_db_->ReleaseTimestampedSnapshotsOlderThan(20);
  EXPECT_EQ(txn_db_->GetTimestampedSnapshot(10), nullptr);
  EXPECT_NE(txn_db_->GetTimestampedSnapshot(20), nullptr);
  ASSERT_TRUE(txn_db_->Get(options, "a", &value).ok()) << "the one that is held stays";
  std::unique_ptr<ManagedSnapshot> plain = std::make_unique<ManagedSnapshot>(txn_db_.get());
  EXPECT_EQ(plain->snapshot()->GetTimestamp(), UINT64_MAX);
}

TEST_F(TransactionTimestampsTest, ACommitMayLeaveASnapshot) {
  std::shared_ptr<const Snapshot> snapshot;
  auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  EXPECT_TRUE(
      txn->CommitAndTryCreateSnapshot(nullptr, kMaxTxnTimestamp, &snapshot).IsInvalidArgument());
  ASSERT_TRUE(txn->CommitAndTryCreateSnapshot(nullptr, 10, &snapshot).ok());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->GetTimestamp(), 10u);
  EXPECT_EQ(txn_db_->GetTimestampedSnapshot(10), snapshot);
  PutPlain("a", "2");
  ReadOptions options;
  options.snapshot = snapshot.get();
  std::string value;
  ASSERT_TRUE(txn_db_->Get(options, "a", &value).ok());
  EXPECT_EQ(value, "1");
  txn = Begin();
  ASSERT_TRUE(txn->Put(Other(), "a", "1").ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(5).ok());
  EXPECT_TRUE(txn->CommitAndTryCreateSnapshot(nullptr, 6, &snapshot).IsInvalidArgument());
  ASSERT_TRUE(txn->CommitAndTryCreateSnapshot(nullptr, 5, &snapshot).ok());
  EXPECT_EQ(snapshot, nullptr) << "there is a later one";
  EXPECT_EQ(CommittedAsOf(5, "a"), "1");
  ASSERT_TRUE(Begin()->CommitAndTryCreateSnapshot().ok());
}

TEST_F(TransactionTimestampsTest, TheNotifierIsToldOfTheCommitsSnapshot) {
  struct Listener final : TransactionNotifier {
    void SnapshotCreated(const Snapshot* snapshot) override {
      told = snapshot;
      throw std::runtime_error("the commit is done all the same");
    }
    const Snapshot* told = nullptr;
  };
  const auto notifier = std::make_shared<Listener>();
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  std::shared_ptr<const Snapshot> snapshot;
  ASSERT_TRUE(txn->CommitAndTryCreateSnapshot(notifier, 10, &snapshot).ok());
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(notifier->told, snapshot.get());
}

// Writes after a rollback must not get the timestamp from before it.
TEST_F(TransactionTimestampsTest, RollbackForgetsTimestamps) {
  const auto txn = Begin();
  ASSERT_TRUE(txn->Put(Other(), "a", "1").ok());
  ASSERT_TRUE(txn->SetCommitTimestamp(5).ok());
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(txn->GetCommitTimestamp(), kMaxTxnTimestamp);
  ASSERT_TRUE(txn->Put(Other(), "a", "2").ok());
  EXPECT_TRUE(txn->Commit().IsInvalidArgument());
}

}  // namespace
}  // namespace varve::testing
