// SPDX-License-Identifier: Apache-2.0

// Goal: under many threads on few keys no lock is had by two, none is left, no thread sleeps for
// ever, and a thread that is told of a deadlock was in one. Method: threads lock keys in random
// order, shared, exclusively, and one after the other, and ranges over them; each key guards a
// plain counter, and a ledger beside the table records the locks. The cycle that a deadlock names
// is checked against it: each member waits for a lock that the next one had, or waits for as well.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/transaction/lock_table.h"
#include "tests/harness/random.h"

namespace varve {
namespace {

constexpr int kThreads = 8;
constexpr int kKeys = 6;
constexpr int kRounds = 400;

std::string KeyName(uint64_t i) {
  return std::string(1, static_cast<char>('a' + i));
}

// Records what every transaction has locked, as its own thread says. Entries stay when the
// transaction ends, as another cycle may have ended it.
class Ledger {
 public:
  void Holds(TransactionID id, const std::string& key) {
    std::lock_guard<std::mutex> lock(mu_);
    held_[id].insert(key);
  }
  // Returns true if the next one holds `waiter`'s key, or waits for it as well.
  bool IsEdge(const DeadlockInfo& waiter, const DeadlockInfo& next) {
    std::lock_guard<std::mutex> lock(mu_);
    if (held_[next.m_txn_id].contains(waiter.m_waiting_key)) return true;
    return next.m_waiting_key == waiter.m_waiting_key;
  }

 private:
  std::mutex mu_;
  std::map<TransactionID, std::set<std::string>> held_;
};

class Storm {
 public:
  explicit Storm(bool with_ranges, bool with_many = false)
      : with_ranges_(with_ranges), with_many_(with_many) {}

  void Run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++) threads.emplace_back([this, i] { Work(i); });
    std::thread many([this] { LockMany(); });
    for (std::thread& thread : threads) thread.join();
    over_ = true;
    many.join();
  }

  uint64_t increments() const { return increments_; }
  uint64_t deadlocks() const { return deadlocks_; }
  uint64_t counted() const {
    uint64_t sum = 0;
    for (const uint64_t n : counters_) sum += n;
    return sum;
  }
  LockTable& table() { return table_; }

 private:
  static LockTable::Limits Limits() {
    LockTable::Limits limits;
    limits.deadlocks_remembered = 256;
    return limits;
  }

  void Work(int thread) {
    testing::Random random(static_cast<uint64_t>(thread) + 1);
    LockOwner owner;
    for (int round = 0; round < kRounds; round++) {
      owner.Begin(++ids_, 0);
      std::vector<HeldLock*> held;
      HeldRange range;
      const bool with_range = with_ranges_ && random.OneIn(10);
      bool ok = !with_range || LockRange(&owner, &range, &random);
      for (uint64_t n = random.Below(4) + 1; ok && n > 0; n--) {
        ok = LockOne(&owner, &held, &random);
      }
      if (with_range) table_.UnlockRange(&range);
      for (HeldLock* lock : held) table_.Unlock(lock);
      owner.ForgetLocks();
    }
  }

  // Locks so many ranges elsewhere that keys are kept in order, and then none again.
  void LockMany() {
    LockOwner owner;
    while (with_many_ && !over_) {
      owner.Begin(++ids_, 0);
      std::vector<HeldRange> ranges(LockRanges::kRangesUnordered);
      for (HeldRange& range : ranges) {
        range.owner = &owner;
        range.range = FamilyRange::OfKey(0, BytewiseComparator(), "z");
        EXPECT_TRUE(table_.LockRange(&range, kPatience).ok());
      }
      for (int i = 0; i < 20; i++) std::this_thread::yield();
      for (HeldRange& range : ranges) table_.UnlockRange(&range);
    }
  }

  bool LockRange(LockOwner* owner, HeldRange* range, testing::Random* random) {
    const uint64_t first = random->Below(kKeys);
    range->owner = owner;
    range->range = {0,
                    BytewiseComparator(),
                    {KeyName(first), RangeEnd::Place::kAt},
                    {KeyName(first + 2), RangeEnd::Place::kBefore}};
    return Had(owner, table_.LockRange(range, kPatience));
  }

  bool LockOne(LockOwner* owner, std::vector<HeldLock*>* held, testing::Random* random) {
    const uint64_t i = random->Below(kKeys);
    const bool exclusive = random->Below(2) == 0;
    const std::string name = KeyName(i);
    LockTable::Had had;
    if (!Had(owner, table_.Lock(owner, LockTable::KeyOf(0, name), BytewiseComparator(), exclusive,
                                kPatience, &had))) {
      return false;
    }
    if (had.added) held->push_back(had.held);
    ledger_.Holds(owner->id(), name);
    bool is_exclusive = false;
    EXPECT_EQ(table_.Find(owner, LockTable::KeyOf(0, name), &is_exclusive), had.held);
    if (exclusive) {
      EXPECT_TRUE(is_exclusive);
      counters_[i]++;
      increments_++;
    } else {
      seen_ += counters_[i] != UINT64_MAX;
    }
    if (random->Below(4) == 0) std::this_thread::yield();
    return true;
  }

  bool Had(LockOwner* owner, const Status& s) {
    if (s.ok()) return true;
    EXPECT_TRUE(s.IsDeadlock()) << s.ToString();
    deadlocks_++;
    CheckCycle(owner->id());
    return false;
  }

  void CheckCycle(TransactionID victim) {
    for (const DeadlockPath& found : table_.deadlocks().NewestFirst()) {
      if (found.path.empty() || found.path.back().m_txn_id != victim) continue;
      for (size_t i = 0; i < found.path.size(); i++) {
        const DeadlockInfo& waiter = found.path[i];
        const DeadlockInfo& next = found.path[(i + 1) % found.path.size()];
        EXPECT_TRUE(with_ranges_ || ledger_.IsEdge(waiter, next))
            << waiter.m_txn_id << " does not wait for " << next.m_txn_id;
      }
      return;
    }
    ADD_FAILURE() << "no cycle ends with " << victim;
  }

  static constexpr LockPatience kPatience = {60 * 1000 * 1000, true, 50, 1000};

  const bool with_ranges_;
  const bool with_many_;
  std::atomic<bool> over_ = false;
  LockTable table_{Limits()};
  Ledger ledger_;
  std::array<uint64_t, kKeys> counters_ = {};  // each under its key
  std::atomic<TransactionID> ids_{0};
  std::atomic<uint64_t> increments_{0};
  std::atomic<uint64_t> deadlocks_{0};
  std::atomic<uint64_t> seen_{0};
};

TEST(LockStormTest, Keys) {
  Storm storm(/*with_ranges=*/false);
  storm.Run();
  EXPECT_EQ(storm.counted(), storm.increments());
  EXPECT_GT(storm.increments(), 1000u);
  EXPECT_GT(storm.deadlocks(), 10u);
  EXPECT_TRUE(storm.table().KeysLocked().empty());
}

TEST(LockStormTest, KeysAndRanges) {
  Storm storm(/*with_ranges=*/true);
  storm.Run();
  EXPECT_EQ(storm.counted(), storm.increments());
  EXPECT_GT(storm.increments(), 1000u);
  EXPECT_TRUE(storm.table().KeysLocked().empty());
}

TEST(LockStormTest, KeysInOrderAndNot) {
  Storm storm(/*with_ranges=*/true, /*with_many=*/true);
  storm.Run();
  EXPECT_EQ(storm.counted(), storm.increments());
  EXPECT_GT(storm.increments(), 1000u);
  EXPECT_TRUE(storm.table().KeysLocked().empty());
}

}  // namespace
}  // namespace varve
