// SPDX-License-Identifier: Apache-2.0

// Goal: the rules of db/transaction are asserted in the code, and a program that breaks one is
// stopped. Method: a table of ways to break one, each in a process of its own.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "varve/comparator.h"

#include "db/transaction/lock_part.h"
#include "db/transaction/lock_ranges.h"
#include "db/transaction/lock_table.h"
#include "db/write/key_stamps.h"
#include "util/base/assert.h"

namespace varve {
namespace {

// Has one key, an owner of it, and a waiter.
struct Scene {
  Scene() {
    holder.Begin(1, 0);
    other.Begin(2, 0);
    held = holder.NewLock(key);
    wanted = other.NewLock(key);
    queue.Begin(held->key);
    waiter.record = wanted;
    waiter.exclusive = true;
    waiter.sleeper = sleeper.get();
    range.owner = &holder;
    range.range = FamilyRange::OfKey(0, BytewiseComparator(), "k");
  }

  const LockKey key = LockTable::KeyOf(0, "k");
  LockOwner holder;
  LockOwner other;
  LockSleepers sleepers{nullptr};
  std::unique_ptr<LockSleeper> sleeper = sleepers.Borrow();
  WakeList wakes;
  LockQueue queue;
  HeldLock* held;
  HeldLock* wanted;
  LockWaiter waiter;
  LockPart part;
  LockRanges ranges;
  HeldRange range;
};

struct BrokenRule {
  const char* message;
  std::function<void(Scene*)> breaks;
};

TEST(TransactionRulesDeathTest, BrokenRulesStop) {
  if (!kAssertions) GTEST_SKIP() << "a release build checks nothing";
  const std::vector<BrokenRule> rules = {
      {"record->held", [](Scene* s) { s->queue.Release(s->held, &s->wakes); }},
      {"record->held && record->exclusive",
       [](Scene* s) {
         (void)s->queue.TryTake(s->held, /*exclusive=*/false);
         s->queue.Downgrade(s->held, &s->wakes);
       }},
      {"!record->held \\|\\| exclusive",
       [](Scene* s) {
         (void)s->queue.TryTake(s->held, false);
         (void)s->queue.TryTake(s->held, false);
       }},
      {"sleeper != nullptr",
       [](Scene* s) {
         s->waiter.sleeper = nullptr;
         s->queue.Enqueue(&s->waiter);
       }},
      {"state == WaitState::kWaiting",
       [](Scene* s) {
         s->waiter.state = WaitState::kWoken;
         s->queue.Enqueue(&s->waiter);
       }},
      {"waiter->upgrade == waiter->record->held",
       [](Scene* s) {
         s->waiter.upgrade = true;
         s->queue.Enqueue(&s->waiter);
       }},
      {"state != WaitState::kGranted",
       [](Scene* s) {
         s->queue.Enqueue(&s->waiter);
         s->waiter.state = WaitState::kGranted;
         (void)s->queue.TryTake(&s->waiter, &s->wakes);
       }},
      {"state != WaitState::kGranted",
       [](Scene* s) {
         s->queue.Enqueue(&s->waiter);
         s->waiter.state = WaitState::kGranted;
         s->queue.Leave(&s->waiter, &s->wakes);
       }},
      {"first_ != nullptr", [](Scene* s) { s->queue.Leave(&s->waiter, &s->wakes); }},
      {"Find\\(key\\) == nullptr",
       [](Scene* s) {
         const LatchGuard latch(&s->part.latch);
         s->part.Add(s->key);
         s->part.Add(s->key);
       }},
      {"queue->unused",
       [](Scene* s) {
         const LatchGuard latch(&s->part.latch);
         LockQueue* const queue = s->part.Add(s->key);
         (void)queue->TryTake(s->held, true);
         s->part.Remove(queue);
       }},
      {"used_ > 0",
       [](Scene* s) {
         const LatchGuard latch(&s->part.latch);
         s->part.Remove(&s->queue);
       }},
      {"!range->linked",
       [](Scene* s) {
         s->ranges.Add(&s->range);
         s->ranges.Add(&s->range);
       }},
      {"range->owner != nullptr",
       [](Scene* s) {
         s->range.owner = nullptr;
         s->ranges.Add(&s->range);
       }},
      {"lent_ > 0",
       [](Scene* s) {
         s->sleepers.Return(std::move(s->sleeper));
         s->sleepers.Return(nullptr);
       }},
      {"timeout_micros != 0",
       [](Scene* /*s*/) {
         const LockPatience none;
         LockClock(none).BeginWait();
       }},
      {"comparator != nullptr",
       [](Scene* s) {
         s->range.range.comparator = nullptr;
         (void)LockTable(LockTable::Limits()).LockRange(&s->range, LockPatience());
       }},
      {"sequence >= floor_", [](Scene* /*s*/) { KeyStamps(7).RaiseAll(6); }},
  };
  for (size_t i = 0; i < rules.size(); i++) {
    SCOPED_TRACE(i);
    EXPECT_DEATH(
        {
          Scene scene;
          rules[i].breaks(&scene);
        },
        std::string("broken: .*") + rules[i].message);
  }
}

}  // namespace
}  // namespace varve
