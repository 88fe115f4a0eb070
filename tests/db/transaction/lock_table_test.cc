// SPDX-License-Identifier: Apache-2.0

// Goal: the lock table gives locks to those who may have them, in turn, and says why the others
// cannot. Method: stories of a few owners; one who waits is a thread, and the test goes on once the
// table says that it waits.

#include "db/transaction/lock_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/random.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr int64_t kForEver = -1;

LockPatience Patience(int64_t timeout_micros, bool detect = false) {
  return {timeout_micros, detect, 100, 50};
}

class LockTableTest : public ::testing::Test {
 protected:
  LockOwner* Owner(TransactionID id, uint64_t expires_at = 0) {
    auto& owner = owners_[id];
    if (owner == nullptr) owner = std::make_unique<LockOwner>();
    owner->Begin(id, expires_at);
    return owner.get();
  }

  // Returns the status of a request; the lock is remembered for Unlock.
  Status Lock(LockOwner* owner, const std::string& key, bool exclusive,
              const LockPatience& patience = Patience(0), uint32_t family = 0) {
    LockTable::Had had;
    Status s = table_->Lock(owner, LockTable::KeyOf(family, key), BytewiseComparator(), exclusive,
                            patience, &had);
    EXPECT_EQ(s.ok() && had.held == nullptr, false);
    return s;
  }
  std::future<Status> LockLater(LockOwner* owner, const std::string& key, bool exclusive,
                                const LockPatience& patience = Patience(kForEver)) {
    auto answer =
        std::async(std::launch::async, [=, this] { return Lock(owner, key, exclusive, patience); });
    AwaitWaiting(owner->id());
    return answer;
  }
  void AwaitWaiting(TransactionID id) {
    LockOwner::LastWait wait;
    while (!table_->WaitingFor(id, &wait)) std::this_thread::yield();
  }
  void Unlock(LockOwner* owner, const std::string& key, uint32_t family = 0) {
    HeldLock* const held = table_->Find(owner, LockTable::KeyOf(family, key), nullptr);
    ASSERT_NE(held, nullptr);
    table_->Unlock(held);
  }
  bool Holds(LockOwner* owner, const std::string& key) {
    return table_->Find(owner, LockTable::KeyOf(0, key), nullptr) != nullptr;
  }
  void Restart(const LockTable::Limits& limits) { table_ = std::make_unique<LockTable>(limits); }

  // Destroyed after the owners, whose records are unlinked from it, unless it is empty.
  std::map<TransactionID, std::unique_ptr<LockOwner>> owners_;
  std::unique_ptr<LockTable> table_ = std::make_unique<LockTable>(LockTable::Limits());
};

TEST_F(LockTableTest, SharedBesideSharedAndExclusiveAlone) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  EXPECT_TRUE(Lock(a, "k", false).ok());
  EXPECT_TRUE(Lock(b, "k", false).ok());
  const Status refused = Lock(Owner(3), "k", true);
  EXPECT_TRUE(refused.IsTimedOut());
  EXPECT_EQ(refused.subcode(), Status::kLockTimeout);
  EXPECT_TRUE(Lock(Owner(3), "k", true, Patience(0), /*family=*/1).ok());
  Unlock(a, "k");
  EXPECT_FALSE(Lock(Owner(4), "k", true).ok());
  Unlock(b, "k");
  EXPECT_TRUE(Lock(Owner(4), "k", true).ok());
  EXPECT_FALSE(Lock(a, "k", false).ok());
  EXPECT_TRUE(Lock(Owner(4), "k", true).ok()) << "its own lock";
}

TEST_F(LockTableTest, UpgradesAndDowngrades) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  ASSERT_TRUE(Lock(a, "k", false).ok());
  ASSERT_TRUE(Lock(a, "k", true).ok());
  EXPECT_FALSE(Lock(b, "k", false).ok());
  bool exclusive = false;
  HeldLock* const held = table_->Find(a, LockTable::KeyOf(0, "k"), &exclusive);
  EXPECT_TRUE(exclusive);
  table_->Downgrade(held);
  EXPECT_TRUE(Lock(b, "k", false).ok());
  EXPECT_FALSE(Lock(a, "k", true).ok()) << "somebody reads it";
  EXPECT_TRUE(Holds(a, "k"));
}

TEST_F(LockTableTest, AnUpgradeGoesBeforeThoseWhoHaveNothing) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  ASSERT_TRUE(Lock(a, "k", false).ok());
  ASSERT_TRUE(Lock(b, "k", false).ok());
  auto third = LockLater(Owner(3), "k", true);
  auto upgrade = LockLater(a, "k", true);
  Unlock(b, "k");
  EXPECT_TRUE(upgrade.get().ok());
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  Unlock(a, "k");
  EXPECT_TRUE(third.get().ok());
}

TEST_F(LockTableTest, SleepersAreNotPassedForEver) {
  LockOwner* const a = Owner(1);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  auto sleeper = LockLater(Owner(2), "k", true);
  // A running thread may take the lock several times, but not for ever.
  std::atomic<bool> refused = false;
  for (uint32_t i = 0; i < 4 * LockQueue::kPassesMax && !refused; i++) {
    Unlock(a, "k");
    refused = !Lock(a, "k", true).ok();
  }
  EXPECT_TRUE(sleeper.get().ok());
}

TEST_F(LockTableTest, ReadersWhoWaitComeInTogether) {
  LockOwner* const a = Owner(1);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  std::vector<std::future<Status>> readers;
  for (TransactionID id = 2; id < 8; id++) readers.push_back(LockLater(Owner(id), "k", false));
  auto writer = LockLater(Owner(9), "k", true);
  Unlock(a, "k");
  for (auto& reader : readers) EXPECT_TRUE(reader.get().ok());
  for (TransactionID id = 2; id < 8; id++) Unlock(owners_[id].get(), "k");
  EXPECT_TRUE(writer.get().ok());
}

TEST_F(LockTableTest, ATimeoutLeavesNothingBehind) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  EXPECT_TRUE(Lock(b, "k", true, Patience(2000)).IsTimedOut());
  EXPECT_EQ(b->last_wait().key, "k");
  EXPECT_THAT(b->last_wait().ids, ElementsAre(1));
  Unlock(a, "k");
  EXPECT_TRUE(table_->KeysLocked().empty());
  EXPECT_TRUE(Lock(a, "k", true).ok());
}

TEST_F(LockTableTest, ReadersGoOnWhenTheWriterBeforeThemGivesUp) {
  LockOwner* const a = Owner(1);
  ASSERT_TRUE(Lock(a, "k", false).ok());
  auto writer = LockLater(Owner(2), "k", true, Patience(50 * 1000));
  // Readers pass the waiting writer until no more may.
  TransactionID id = 10;
  while (Lock(Owner(id), "k", false).ok()) id++;
  auto reader = LockLater(Owner(3), "k", false);
  EXPECT_TRUE(writer.get().IsTimedOut());
  EXPECT_TRUE(reader.get().ok());
}

TEST_F(LockTableTest, WhoClosesACycleIsTold) {
  for (TransactionID id = 1; id <= 3; id++) {
    ASSERT_TRUE(Lock(Owner(id), "k" + std::to_string(id), true).ok());
  }
  auto first = LockLater(owners_[1].get(), "k2", true);
  auto second = LockLater(owners_[2].get(), "k3", true);
  const Status s = Lock(owners_[3].get(), "k1", true, Patience(kForEver, /*detect=*/true));
  EXPECT_TRUE(s.IsDeadlock()) << s.ToString();
  const std::vector<DeadlockPath> found = table_->deadlocks().NewestFirst();
  ASSERT_EQ(found.size(), 1u);
  std::vector<std::pair<TransactionID, std::string>> path;
  for (const DeadlockInfo& info : found[0].path) {
    path.emplace_back(info.m_txn_id, info.m_waiting_key);
    EXPECT_TRUE(info.m_exclusive);
  }
  using Step = std::pair<TransactionID, std::string>;
  EXPECT_THAT(path, ElementsAre(Step(1, "k2"), Step(2, "k3"), Step(3, "k1")));
  EXPECT_FALSE(found[0].limit_exceeded);
  EXPECT_GT(found[0].deadlock_time, 0);
  Unlock(owners_[3].get(), "k3");
  EXPECT_TRUE(second.get().ok());
  Unlock(owners_[2].get(), "k2");
  EXPECT_TRUE(first.get().ok());
}

TEST_F(LockTableTest, TwoUpgradesAreADeadlock) {
  ASSERT_TRUE(Lock(Owner(1), "k", false).ok());
  ASSERT_TRUE(Lock(Owner(2), "k", false).ok());
  auto first = LockLater(owners_[1].get(), "k", true);
  EXPECT_TRUE(Lock(owners_[2].get(), "k", true, Patience(kForEver, true)).IsDeadlock());
  EXPECT_TRUE(Holds(owners_[2].get(), "k")) << "the shared lock stays";
  Unlock(owners_[2].get(), "k");
  EXPECT_TRUE(first.get().ok());
}

TEST_F(LockTableTest, ASearchThatGoesTooFarAssumesADeadlock) {
  std::vector<std::future<Status>> chain;
  constexpr TransactionID kLast = 8;
  for (TransactionID id = 1; id <= kLast; id++) {
    ASSERT_TRUE(Lock(Owner(id), "k" + std::to_string(id), true).ok());
  }
  for (TransactionID id = 1; id < kLast; id++) {
    chain.push_back(LockLater(owners_[id].get(), "k" + std::to_string(id + 1), true));
  }
  LockPatience shallow = Patience(kForEver, true);
  shallow.detect_depth = 3;
  EXPECT_TRUE(Lock(Owner(20), "k1", true, shallow).IsDeadlock());
  const auto found = table_->deadlocks().NewestFirst();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].limit_exceeded);
  EXPECT_TRUE(found[0].path.empty());
  for (TransactionID id = kLast; id > 1; id--) {
    Unlock(owners_[id].get(), "k" + std::to_string(id));
    EXPECT_TRUE(chain[id - 2].get().ok());
  }
}

TEST_F(LockTableTest, LocksOfTheExpiredAreTaken) {
  LockOwner* const a = Owner(1, LockClockMicros() + 5000);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  ASSERT_TRUE(Lock(a, "other", true).ok());
  EXPECT_FALSE(Lock(Owner(2), "k", true).ok()) << "it has time left";
  EXPECT_TRUE(Lock(owners_[2].get(), "k", true, Patience(kForEver)).ok());
  EXPECT_EQ(a->state(), LockOwner::State::LOCKS_STOLEN);
  EXPECT_FALSE(Holds(a, "k"));
  EXPECT_TRUE(Holds(a, "other"));
  EXPECT_TRUE(Lock(Owner(3), "other", true).ok());
}

TEST_F(LockTableTest, WhoCommitsKeepsItsLocks) {
  LockOwner* const a = Owner(1, LockClockMicros() + 1000);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  ASSERT_TRUE(a->MoveState(LockOwner::State::STARTED, LockOwner::State::AWAITING_COMMIT));
  EXPECT_TRUE(Lock(Owner(2), "k", true, Patience(20 * 1000)).IsTimedOut());
  EXPECT_TRUE(Holds(a, "k"));
}

// A transaction that expires while it commits keeps its locks, and its waiters continue when it is
// done.
TEST_F(LockTableTest, WhoWaitsForACommitOutlivesItsExpiry) {
  LockOwner* const a = Owner(1, LockClockMicros() + 10'000);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  ASSERT_TRUE(a->MoveState(LockOwner::State::STARTED, LockOwner::State::AWAITING_COMMIT));
  auto waits = LockLater(Owner(2), "k", true);
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  EXPECT_TRUE(Holds(a, "k"));
  Unlock(a, "k");
  EXPECT_TRUE(waits.get().ok());
  EXPECT_TRUE(Holds(owners_[2].get(), "k"));
}

TEST_F(LockTableTest, OnlySoManyKeysOfAFamily) {
  LockTable::Limits limits;
  limits.locks_per_family_max = 3;
  Restart(limits);
  LockOwner* const a = Owner(1);
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(Lock(a, key, true).ok());
  EXPECT_TRUE(Lock(a, "d", true).IsLockLimit());
  EXPECT_TRUE(Lock(a, "d", true, Patience(0), 1).ok()) << "another family";
  EXPECT_TRUE(Lock(a, "c", true).ok()) << "held already";
  Unlock(a, "b");
  EXPECT_TRUE(Lock(a, "d", false).ok());
  EXPECT_TRUE(Lock(Owner(2), "d", false).ok()) << "the key counts once";
}

TEST_F(LockTableTest, WhatIsAdoptedIsLockedWhateverElseIs) {
  LockTable::Limits limits;
  limits.locks_per_family_max = 2;
  Restart(limits);
  LockPatience adopts = Patience(0);
  adopts.adopts = true;
  for (const TransactionID id : {1, 2}) {
    for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(Lock(Owner(id), key, true, adopts).ok());
  }
  EXPECT_TRUE(Lock(Owner(3), "d", true).IsLockLimit());
  for (const char* key : {"a", "b", "c"}) Unlock(owners_[1].get(), key);
  EXPECT_TRUE(Lock(owners_[3].get(), "a", true).IsTimedOut()) << "the other still has it";
  EXPECT_TRUE(Lock(owners_[3].get(), "a", false).IsTimedOut());
  Unlock(owners_[2].get(), "b");
  EXPECT_TRUE(Lock(owners_[3].get(), "d", true).IsLockLimit()) << "as many as may be are left";
  Unlock(owners_[2].get(), "a");
  EXPECT_TRUE(Lock(owners_[3].get(), "d", true).ok());
}

TEST_F(LockTableTest, KeysLockedNamesKeysAndOwners) {
  ASSERT_TRUE(Lock(Owner(1), "r", false).ok());
  ASSERT_TRUE(Lock(Owner(2), "r", false).ok());
  ASSERT_TRUE(Lock(Owner(3), "w", true, Patience(0), 7).ok());
  const auto all = table_->KeysLocked();
  ASSERT_EQ(all.size(), 2u);
  const KeyLockInfo& read = all.find(0)->second;
  EXPECT_EQ(read.key, "r");
  EXPECT_FALSE(read.exclusive);
  EXPECT_THAT(read.ids, UnorderedElementsAre(1, 2));
  const KeyLockInfo& written = all.find(7)->second;
  EXPECT_EQ(written.key, "w");
  EXPECT_TRUE(written.exclusive);
  EXPECT_THAT(written.ids, ElementsAre(3));
}

TEST_F(LockTableTest, ManyKeysAndTheirEnds) {
  LockOwner* const a = Owner(1);
  for (int i = 0; i < 20000; i++) ASSERT_TRUE(Lock(a, std::to_string(i), true).ok());
  EXPECT_EQ(table_->KeysLocked().size(), 20000u);
  for (int i = 0; i < 20000; i++) Unlock(a, std::to_string(i));
  EXPECT_TRUE(table_->KeysLocked().empty());
}

// ---- Ranges

class LockRangeTest : public LockTableTest {
 protected:
  Status LockRange(HeldRange* range, LockOwner* owner, const std::string& begin,
                   const std::string& end, const LockPatience& patience = Patience(0),
                   RangeEnd::Place place = RangeEnd::Place::kBefore) {
    range->range = {0, BytewiseComparator(), {begin, RangeEnd::Place::kAt}, {end, place}};
    range->owner = owner;
    return table_->LockRange(range, patience);
  }
};

TEST_F(LockRangeTest, KeysAndRangesExcludeEachOther) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  HeldRange mine;
  ASSERT_TRUE(LockRange(&mine, a, "b", "d").ok());
  EXPECT_TRUE(Lock(b, "a", true).ok());
  EXPECT_TRUE(Lock(b, "b", false).IsTimedOut());
  EXPECT_TRUE(Lock(b, "c", true).IsTimedOut());
  EXPECT_TRUE(Lock(b, "d", true).ok()) << "the end is not in it";
  EXPECT_TRUE(Lock(b, "c", true, Patience(0), 1).ok()) << "another family";
  EXPECT_TRUE(Lock(a, "c", true).ok()) << "its own range";
  table_->UnlockRange(&mine);
  EXPECT_TRUE(Lock(b, "b", true).ok());
  EXPECT_TRUE(LockRange(&mine, a, "a", "b").IsTimedOut());
  EXPECT_TRUE(LockRange(&mine, a, "b", "c").IsTimedOut());
  EXPECT_TRUE(LockRange(&mine, a, "bb", "d").ok()) << "b's keys lie beside it, its own within";
  table_->UnlockRange(&mine);
  EXPECT_TRUE(LockRange(&mine, a, "c", "b").IsInvalidArgument());
}

TEST_F(LockRangeTest, RangesExcludeEachOther) {
  HeldRange first;
  HeldRange second;
  ASSERT_TRUE(LockRange(&first, Owner(1), "b", "d").ok());
  EXPECT_TRUE(LockRange(&second, Owner(2), "a", "bb").IsTimedOut());
  EXPECT_TRUE(
      LockRange(&second, Owner(2), "a", "b", Patience(0), RangeEnd::Place::kAt).IsTimedOut());
  EXPECT_TRUE(LockRange(&second, Owner(2), "d", "e").ok()) << "they touch";
  HeldRange third;
  EXPECT_TRUE(LockRange(&third, owners_[1].get(), "b", "c").ok()) << "its own";
  table_->UnlockRange(&third);
  table_->UnlockRange(&first);
  EXPECT_TRUE(LockRange(&first, Owner(3), "a", "d").ok());
  table_->UnlockRange(&first);
  table_->UnlockRange(&second);
}

TEST_F(LockRangeTest, WhatOneHoldsTwiceIsHeldUntilBothGo) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  HeldRange left;
  HeldRange right;
  HeldRange again;
  ASSERT_TRUE(LockRange(&left, a, "b", "f").ok());
  ASSERT_TRUE(LockRange(&right, a, "d", "h").ok());
  ASSERT_TRUE(LockRange(&again, a, "b", "f").ok());
  table_->UnlockRange(&left);
  for (const char* key : {"c", "e", "g"}) EXPECT_TRUE(Lock(b, key, true).IsTimedOut()) << key;
  table_->UnlockRange(&again);
  EXPECT_TRUE(Lock(b, "c", true).ok());
  for (const char* key : {"e", "g"}) EXPECT_TRUE(Lock(b, key, true).IsTimedOut()) << key;
  table_->UnlockRange(&right);
  for (const char* key : {"e", "g"}) EXPECT_TRUE(Lock(b, key, true).ok()) << key;
}

TEST_F(LockRangeTest, AnEndAboveAPrefix) {
  HeldRange range;
  ASSERT_TRUE(
      LockRange(&range, Owner(1), "p", "p", Patience(0), RangeEnd::Place::kAboveAllWithPrefix)
          .ok());
  EXPECT_FALSE(Lock(Owner(2), "p", true).ok());
  EXPECT_FALSE(Lock(owners_[2].get(), "p\xff\xff", true).ok());
  EXPECT_TRUE(Lock(owners_[2].get(), "q", true).ok());
  EXPECT_TRUE(Lock(owners_[2].get(), "o\xff", true).ok());
  table_->UnlockRange(&range);
}

TEST_F(LockRangeTest, ARangeWaitsForKeysAndKeepsNewOnesOut) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  ASSERT_TRUE(Lock(a, "b", true).ok());
  HeldRange range;
  auto waits = std::async(std::launch::async,
                          [&] { return LockRange(&range, b, "a", "z", Patience(kForEver)); });
  AwaitWaiting(2);
  EXPECT_TRUE(Lock(Owner(3), "c", true).IsTimedOut()) << "the range is not overtaken";
  EXPECT_TRUE(Lock(a, "c", true).ok()) << "but whom it waits for must be able to go on";
  auto behind = LockLater(owners_[3].get(), "d", true);
  Unlock(a, "b");
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  Unlock(a, "c");
  EXPECT_TRUE(waits.get().ok());
  table_->UnlockRange(&range);
  EXPECT_TRUE(behind.get().ok());
}

// A key that several read: each of them must be able to go on, or the range waited for ever.
TEST_F(LockRangeTest, ARangeYieldsToAllHoldersOfAKey) {
  for (const TransactionID id : {1, 2, 3}) ASSERT_TRUE(Lock(Owner(id), "b", false).ok());
  HeldRange range;
  auto waits = std::async(std::launch::async, [&] {
    return LockRange(&range, Owner(9), "a", "z", Patience(kForEver));
  });
  AwaitWaiting(9);
  for (const TransactionID id : {1, 2, 3}) {
    EXPECT_TRUE(Lock(owners_[id].get(), "c" + std::to_string(id), true).ok()) << id;
    EXPECT_TRUE(Lock(owners_[id].get(), "shared", false).ok()) << id;
  }
  EXPECT_TRUE(Lock(Owner(4), "d", true).IsTimedOut());
  for (const TransactionID id : {1, 2, 3}) {
    for (const std::string& key :
         {std::string("b"), "c" + std::to_string(id), std::string("shared")}) {
      EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(2)), std::future_status::timeout);
      Unlock(owners_[id].get(), key);
    }
  }
  EXPECT_TRUE(waits.get().ok());
  EXPECT_TRUE(Lock(owners_[1].get(), "e", true).IsTimedOut()) << "it is held now";
  table_->UnlockRange(&range);
}

// A request that waits for an owner must not block that owner, or both wait for ever.
TEST_F(LockRangeTest, WhoHoldsARangeGoesOnInIt) {
  LockOwner* const a = Owner(1);
  HeldRange held;
  ASSERT_TRUE(LockRange(&held, a, "b", "f").ok());
  HeldRange waiting;
  auto waits = std::async(std::launch::async, [&] {
    return LockRange(&waiting, Owner(2), "c", "z", Patience(kForEver));
  });
  AwaitWaiting(2);
  EXPECT_TRUE(Lock(a, "d", true).ok()) << "in both";
  EXPECT_TRUE(Lock(a, "y", true).ok()) << "in what waits";
  HeldRange more;
  EXPECT_TRUE(LockRange(&more, a, "c", "e").ok());
  EXPECT_TRUE(Lock(Owner(3), "x", true).IsTimedOut()) << "others come after it";
  table_->UnlockRange(&held);
  EXPECT_TRUE(Lock(a, "w", true).ok()) << "there is another range";
  for (const char* key : {"d", "w"}) Unlock(a, key);
  table_->UnlockRange(&more);
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_TRUE(Lock(owners_[3].get(), "x", true).IsTimedOut());
  Unlock(a, "y");
  EXPECT_TRUE(waits.get().ok());
  EXPECT_TRUE(Lock(a, "d", true).IsTimedOut());
  table_->UnlockRange(&waiting);
}

TEST_F(LockRangeTest, WhoHasAKeyGoesOnWhileTheRangeWaitsForAnotherRange) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  HeldRange held;
  ASSERT_TRUE(LockRange(&held, a, "a", "c").ok());
  ASSERT_TRUE(Lock(b, "x", true).ok());
  HeldRange waiting;
  auto waits = std::async(std::launch::async, [&] {
    return LockRange(&waiting, Owner(3), "b", "z", Patience(kForEver));
  });
  AwaitWaiting(3);
  EXPECT_TRUE(Lock(b, "y", true, Patience(1'000'000)).ok());
  EXPECT_TRUE(Lock(Owner(4), "w", true).IsTimedOut());
  Unlock(b, "x");
  table_->UnlockRange(&held);
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  Unlock(b, "y");
  EXPECT_TRUE(waits.get().ok());
  table_->UnlockRange(&waiting);
}

TEST_F(LockRangeTest, WhatIsRefusedTakesNoMemory) {
  ASSERT_TRUE(Lock(Owner(1), "k", true).ok());
  HeldRange held;
  ASSERT_TRUE(LockRange(&held, owners_[1].get(), "p", "q").ok());
  LockOwner* const b = Owner(2);
  size_t bytes = 0;
  for (int i = 0; i < 100; i++) {
    EXPECT_TRUE(Lock(b, "k", true).IsTimedOut());
    EXPECT_TRUE(Lock(b, "k", true, Patience(1)).IsTimedOut());
    EXPECT_TRUE(Lock(b, "p", true).IsTimedOut());
    HeldRange refused;
    EXPECT_TRUE(LockRange(&refused, b, "a", "z").IsTimedOut());
    EXPECT_TRUE(LockRange(&refused, b, "a", "l").IsTimedOut());
    if (i == 0) bytes = b->lock_bytes();
  }
  EXPECT_EQ(b->lock_bytes(), bytes);
  table_->UnlockRange(&held);
}

TEST_F(LockRangeTest, ARangeAndAKeyInACycle) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  HeldRange range;
  ASSERT_TRUE(LockRange(&range, a, "a", "c").ok());
  ASSERT_TRUE(Lock(b, "x", true).ok());
  auto waits = LockLater(b, "b", true);
  EXPECT_TRUE(Lock(a, "x", true, Patience(kForEver, true)).IsDeadlock());
  table_->UnlockRange(&range);
  EXPECT_TRUE(waits.get().ok());
}

TEST_F(LockRangeTest, RangesOfTheExpiredAreTaken) {
  HeldRange range;
  ASSERT_TRUE(LockRange(&range, Owner(1, LockClockMicros() + 2000), "a", "c").ok());
  EXPECT_TRUE(Lock(Owner(2), "b", true, Patience(kForEver)).ok());
  EXPECT_EQ(owners_[1]->state(), LockOwner::State::LOCKS_STOLEN);
  table_->UnlockRange(&range);
}

TEST_F(LockRangeTest, ARangeCountsAsAKey) {
  LockTable::Limits limits;
  limits.locks_per_family_max = 2;
  Restart(limits);
  HeldRange first;
  HeldRange second;
  ASSERT_TRUE(LockRange(&first, Owner(1), "b", "d").ok());
  ASSERT_TRUE(Lock(Owner(2), "x", true).ok());
  EXPECT_TRUE(LockRange(&second, owners_[1].get(), "e", "f").IsLockLimit());
  EXPECT_TRUE(Lock(owners_[2].get(), "y", true).IsLockLimit());
  Unlock(owners_[2].get(), "x");
  EXPECT_TRUE(LockRange(&second, Owner(3), "a", "c").IsTimedOut());
  EXPECT_TRUE(LockRange(&second, Owner(3), "e", "f").ok()) << "the refused one does not count";
  table_->UnlockRange(&first);
  table_->UnlockRange(&second);
  EXPECT_TRUE(Lock(owners_[2].get(), "y", true).ok());
}

// Its owner's time is over while it waits for a key, and another takes a key in it.
TEST_F(LockRangeTest, APendingRangeThatIsTakenIsNotHad) {
  ASSERT_TRUE(Lock(Owner(2), "b", true).ok());
  HeldRange range;
  LockOwner* const late = Owner(1, LockClockMicros() + 5000);
  auto waits = std::async(std::launch::async,
                          [&] { return LockRange(&range, late, "a", "d", Patience(kForEver)); });
  AwaitWaiting(1);
  ASSERT_TRUE(Lock(Owner(3), "c", true, Patience(kForEver)).ok());
  EXPECT_EQ(late->state(), LockOwner::State::LOCKS_STOLEN);
  Unlock(owners_[2].get(), "b");
  EXPECT_TRUE(waits.get().IsExpired());
  EXPECT_TRUE(Lock(owners_[2].get(), "b", true).ok()) << "nothing is left of it";
}

// ---- What ranges cost

// The order of bytes, and how often it is asked.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    asked++;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

  mutable std::atomic<uint64_t> asked = 0;
};

class LockRangeCostTest : public LockTableTest {
 protected:
  static constexpr int kRanges = 2000;
  static constexpr uint64_t kStepsMax = 500;  // steps of one call: so many times log2(kRanges)

  static std::string KeyAt(int i) {
    char key[16];
    std::snprintf(key, sizeof(key), "%08d", i);
    return key;
  }
  Status LockRange(LockOwner* owner, int begin, int end) {
    HeldRange& range = ranges_.emplace_back();
    range.range = {
        0, &order_, {KeyAt(begin), RangeEnd::Place::kAt}, {KeyAt(end), RangeEnd::Place::kBefore}};
    range.owner = owner;
    return table_->LockRange(&range, Patience(0));
  }
  Status LockKey(LockOwner* owner, int i) {
    LockTable::Had had;
    return table_->Lock(owner, LockTable::KeyOf(0, KeyAt(i)), &order_, true, Patience(0), &had);
  }
  // Runs `step` for each of kRanges, and fails if it has asked too often.
  template <typename Step>
  void Count(const char* what, Step step) {
    const uint64_t before = order_.asked;
    for (int i = 0; i < kRanges; i++) ASSERT_TRUE(step(i)) << what << " " << i;
    EXPECT_LE((order_.asked - before) / kRanges, kStepsMax) << what;
  }
  void UnlockRanges() {
    Count("unlock", [&](int i) {
      // They are unlocked in another order than they were locked.
      auto it = i % 2 == 0 ? ranges_.begin() : std::prev(ranges_.end());
      table_->UnlockRange(&*it);
      ranges_.erase(it);
      return true;
    });
    EXPECT_TRUE(ranges_.empty());
  }

  CountingComparator order_;
  std::list<HeldRange> ranges_;
};

TEST_F(LockRangeCostTest, DisjointOnes) {
  LockOwner* const a = Owner(1);
  Count("ascending", [&](int i) { return LockRange(a, 10 * i, 10 * i + 5).ok(); });
  Count("keys beside", [&](int i) { return LockKey(Owner(2), 10 * i + 7).ok(); });
  Count("keys within", [&](int i) { return LockKey(owners_[2].get(), 10 * i + 2).IsTimedOut(); });
  UnlockRanges();
}

TEST_F(LockRangeCostTest, OnesThatOverlap) {
  LockOwner* const a = Owner(1);
  ASSERT_TRUE(LockKey(Owner(2), 100'000).ok());
  Count("the same", [&](int) { return LockRange(a, 0, 50'000).ok(); });
  UnlockRanges();
  Count("nested", [&](int i) { return LockRange(a, i, 90'000 - i).ok(); });
  Count("a key in all", [&](int) { return LockKey(owners_[2].get(), 45'000).IsTimedOut(); });
  UnlockRanges();
}

TEST_F(LockRangeCostTest, OwnersInTurn) {
  Count("in turn", [&](int i) {
    const auto id = static_cast<TransactionID>(1 + i % 50);
    return LockRange(Owner(id), 10 * i, 10 * i + 5).ok();
  });
  Count("across", [&](int i) {
    HeldRange wide;
    wide.range = {0,
                  &order_,
                  {KeyAt(10 * i), RangeEnd::Place::kAt},
                  {KeyAt(100'000), RangeEnd::Place::kBefore}};
    wide.owner = owners_[1].get();
    const Status s = table_->LockRange(&wide, Patience(0));
    table_->UnlockRange(&wide);
    return i < kRanges - 50 ? s.IsTimedOut() : s.ok() || s.IsTimedOut();
  });
  UnlockRanges();
}

// A transaction with many keys and many ranges, beside others with many keys.
TEST_F(LockRangeCostTest, AmongManyKeys) {
  LockOwner* const a = Owner(1);
  LockOwner* const b = Owner(2);
  for (int i = 0; i < kRanges; i++) ASSERT_TRUE(LockKey(b, 10 * i + 9).ok());
  Count("keys and ranges", [&](int i) {
    return LockKey(a, 10 * i + 1).ok() && LockRange(a, 10 * i, 10 * i + 5).ok();
  });
  EXPECT_TRUE(LockRange(a, 0, 20'000).IsTimedOut()) << "there are keys of another";
  ranges_.pop_back();
  Count("others' keys", [&](int i) { return LockKey(Owner(3), 10 * i + 8).ok(); });
  UnlockRanges();
}

// Keys that an expired owner lost are not looked at any more where keys are in order.
TEST_F(LockRangeCostTest, KeysThatWereTaken) {
  LockOwner* const a = Owner(1);
  for (int i = 0; i < 10; i++) ASSERT_TRUE(LockRange(a, 1000 + 2 * i, 1001 + 2 * i).ok());
  LockOwner* const late = Owner(2, LockClockMicros() + 1000);
  ASSERT_TRUE(LockKey(late, 5).ok());
  ASSERT_TRUE(LockKey(late, 6).ok());
  LockTable::Had had;
  for (int i : {5, 6}) {
    ASSERT_TRUE(table_
                    ->Lock(Owner(3), LockTable::KeyOf(0, KeyAt(i)), &order_, false,
                           Patience(kForEver), &had)
                    .ok());
    ASSERT_TRUE(
        table_->Lock(Owner(4), LockTable::KeyOf(0, KeyAt(i)), &order_, false, Patience(0), &had)
            .ok());
  }
  EXPECT_EQ(late->state(), LockOwner::State::LOCKS_STOLEN);
  for (const TransactionID id : {3, 4}) {
    EXPECT_TRUE(LockRange(a, 0, 10).IsTimedOut()) << id;
    ranges_.pop_back();
    for (int i : {5, 6}) Unlock(owners_[id].get(), KeyAt(i));
  }
  EXPECT_TRUE(LockRange(a, 0, 10).ok());
  for (HeldRange& range : ranges_) table_->UnlockRange(&range);
}

// ---- Ranges beside a plain list of them

class LockRangeModelTest : public LockRangeCostTest, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int kKeys = 400;

  struct Known {
    int begin;
    int end;  // not in it
    TransactionID owner;
    std::list<HeldRange>::iterator held;
  };

  int Roll(int n) { return static_cast<int>(random_.Below(static_cast<uint64_t>(n))); }
  void LockSomeRange() {
    const TransactionID id = static_cast<TransactionID>(1 + Roll(4));
    const int begin = Roll(kKeys);
    const int end = begin + 1 + Roll(Roll(10) == 0 ? 60 : 3);
    bool free = true;
    for (const Known& known : known_) {
      free &= known.owner == id || known.end <= begin || end <= known.begin;
    }
    for (const auto& [key, owner] : keys_) free &= owner == id || key < begin || key >= end;
    const Status s = LockRange(owners_[id].get(), begin, end);
    ASSERT_EQ(s.ok(), free) << begin << " " << end << " of " << id << ": " << s.ToString();
    if (s.ok()) {
      known_.push_back({begin, end, id, std::prev(ranges_.end())});
    } else {
      ranges_.pop_back();
    }
  }
  void LockSomeKey() {
    const TransactionID id = static_cast<TransactionID>(1 + Roll(4));
    const int key = Roll(kKeys);
    bool free = !keys_.contains(key) || keys_[key] == id;
    for (const Known& known : known_) {
      free &= known.owner == id || key < known.begin || key >= known.end;
    }
    const Status s = LockKey(owners_[id].get(), key);
    ASSERT_EQ(s.ok(), free) << key << " of " << id << ": " << s.ToString();
    if (s.ok()) keys_[key] = id;
  }
  void UnlockSomeRange() {
    if (known_.empty()) return;
    const auto at = known_.begin() + Roll(static_cast<int>(known_.size()));
    table_->UnlockRange(&*at->held);
    ranges_.erase(at->held);
    known_.erase(at);
  }
  void UnlockSomeKey() {
    if (keys_.empty()) return;
    const auto at = std::next(keys_.begin(), Roll(static_cast<int>(keys_.size())));
    Unlock(owners_[at->second].get(), KeyAt(at->first));
    keys_.erase(at);
  }

  testing::Random random_{static_cast<uint64_t>(GetParam())};
  std::vector<Known> known_;
  std::map<int, TransactionID> keys_;
};

TEST_P(LockRangeModelTest, AsAListSays) {
  for (const TransactionID id : {1, 2, 3, 4}) Owner(id);
  // Many at some times, none at others.
  for (int step = 0; step < 4000 && !HasFatalFailure(); step++) {
    const int growth = (step / 500) % 2 == 0 ? 7 : 3;
    const bool grows = Roll(10) < growth;
    if (Roll(3) == 0) {
      grows ? LockSomeKey() : UnlockSomeKey();
    } else {
      grows ? LockSomeRange() : UnlockSomeRange();
    }
  }
  while (!known_.empty()) UnlockSomeRange();
  while (!keys_.empty()) UnlockSomeKey();
  EXPECT_TRUE(table_->KeysLocked().empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, LockRangeModelTest, ::testing::Range(0, 6));

// ---- Mutexes of the program

class CountingFactory final : public TransactionDBMutexFactory {
 public:
  class Counted final : public TransactionDBMutex {
   public:
    explicit Counted(CountingFactory* factory) : factory_(factory) {}
    Status Lock() override { return TryLockFor(-1); }
    Status TryLockFor(int64_t /*timeout_time*/) override {
      if (factory_->broken) return Status::TimedOut(Status::kMutexTimeout);
      mu_.lock();
      factory_->locked++;
      return Status::OK();
    }
    void UnLock() override { mu_.unlock(); }

   private:
    CountingFactory* const factory_;
    std::mutex mu_;
  };
  class Polling final : public TransactionDBCondVar {
   public:
    Status Wait(std::shared_ptr<TransactionDBMutex> mutex) override {
      mutex->UnLock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return mutex->Lock();
    }
    Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t /*timeout_time*/) override {
      return Wait(std::move(mutex));
    }
    void Notify() override {}
    void NotifyAll() override {}
  };
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<Counted>(this);
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<Polling>();
  }

  std::atomic<int> locked = 0;
  std::atomic<bool> broken = false;
};

TEST_F(LockTableTest, WaitsWithTheProgramsMutexes) {
  const auto factory = std::make_shared<CountingFactory>();
  LockTable::Limits limits;
  limits.mutexes = factory;
  Restart(limits);
  LockOwner* const a = Owner(1);
  ASSERT_TRUE(Lock(a, "k", true).ok());
  auto waits = LockLater(Owner(2), "k", true);
  Unlock(a, "k");
  EXPECT_TRUE(waits.get().ok());
  EXPECT_GT(factory->locked, 0);
  factory->broken = true;
  const Status s = Lock(Owner(3), "k", true, Patience(kForEver));
  EXPECT_TRUE(s.IsTimedOut());
  EXPECT_EQ(s.subcode(), Status::kMutexTimeout);
}

// Condition variables whose waits fail, with the mutex held or not.
class FailingFactory final : public TransactionDBMutexFactory {
 public:
  class Word final : public TransactionDBMutex {
   public:
    explicit Word(FailingFactory* factory) : factory_(factory) { factory_->alive++; }
    ~Word() override { factory_->alive--; }
    Status Lock() override { return TryLockFor(-1); }
    Status TryLockFor(int64_t /*timeout_time*/) override {
      if (failed) factory_->touched = true;
      bool free = false;
      while (!failed && !held.compare_exchange_weak(free, true)) free = false;
      return failed ? Status::IOError("used again") : Status::OK();
    }
    void UnLock() override {
      if (failed) factory_->touched = true;
      held = false;
    }

    std::atomic<bool> held = false;
    std::atomic<bool> failed = false;

   private:
    FailingFactory* const factory_;
  };
  class Failing final : public TransactionDBCondVar {
   public:
    explicit Failing(FailingFactory* factory) : factory_(factory) {}
    Status Wait(std::shared_ptr<TransactionDBMutex> mutex) override {
      return WaitFor(std::move(mutex), -1);
    }
    Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t /*timeout_time*/) override {
      auto* const word = static_cast<Word*>(mutex.get());
      word->held = false;
      std::this_thread::yield();
      if (!factory_->fails) return mutex->Lock();
      word->held = factory_->holds_when_it_fails;
      word->failed = true;
      return Status::IOError("the wait was cancelled");
    }
    void Notify() override {}
    void NotifyAll() override {}

   private:
    FailingFactory* const factory_;
  };
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<Word>(this);
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<Failing>(this);
  }

  bool holds_when_it_fails = false;
  std::atomic<bool> fails = false;
  std::atomic<bool> touched = false;
  std::atomic<int> alive = 0;
};

TEST_F(LockTableTest, WhatAWaitFailedWithIsNotUsedAgain) {
  for (const bool held : {true, false}) {
    owners_.clear();
    const auto factory = std::make_shared<FailingFactory>();
    factory->holds_when_it_fails = held;
    LockTable::Limits limits;
    limits.mutexes = factory;
    Restart(limits);
    LockOwner* const a = Owner(1);
    ASSERT_TRUE(Lock(a, "k", true).ok());
    factory->fails = true;
    for (int i = 0; i < 50; i++) {
      const Status s = Lock(Owner(2), "k", true, Patience(kForEver));
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      HeldRange range;
      range.range = FamilyRange::OfKey(0, BytewiseComparator(), "k");
      range.owner = owners_[2].get();
      EXPECT_TRUE(table_->LockRange(&range, Patience(kForEver)).IsIOError());
    }
    ASSERT_FALSE(factory->touched);
    EXPECT_LE(factory->alive, 1) << "what has failed is gone";
    factory->fails = false;
    auto waits = LockLater(Owner(3), "k", true);
    Unlock(a, "k");
    EXPECT_TRUE(waits.get().ok());
    EXPECT_FALSE(factory->touched);
    Unlock(owners_[3].get(), "k");
  }
}

}  // namespace
}  // namespace varve
