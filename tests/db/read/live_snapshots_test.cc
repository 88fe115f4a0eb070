// SPDX-License-Identifier: Apache-2.0
#include "db/read/live_snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "util/key/internal_key.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LiveSnapshotsTest, KnowsNoneAtFirst) {
  LiveSnapshots snapshots;
  EXPECT_EQ(0u, snapshots.count());
  EXPECT_EQ(kMaxSequenceNumber, snapshots.oldest());
  EXPECT_EQ(0, snapshots.oldest_unix_seconds());
  EXPECT_THAT(snapshots.Pinned(), IsEmpty());
  EXPECT_FALSE(snapshots.Release(nullptr));
}

TEST(LiveSnapshotsTest, PinsDistinctNumbersInOrder) {
  LiveSnapshots snapshots;
  const Snapshot* const late = snapshots.Acquire(20, 200);
  const Snapshot* const early = snapshots.Acquire(10, 100);
  const Snapshot* const again = snapshots.Acquire(20, 300);
  EXPECT_EQ(20u, late->GetSequenceNumber());
  EXPECT_EQ(200, late->GetUnixTime());
  EXPECT_EQ(UINT64_MAX, late->GetTimestamp());
  EXPECT_EQ(3u, snapshots.count());
  EXPECT_THAT(snapshots.Pinned(), ElementsAre(10, 20));
  EXPECT_EQ(10u, snapshots.oldest());
  EXPECT_EQ(100, snapshots.oldest_unix_seconds());
  EXPECT_TRUE(snapshots.Release(early));
  EXPECT_EQ(20u, snapshots.oldest());
  EXPECT_TRUE(snapshots.Release(late));
  EXPECT_THAT(snapshots.Pinned(), ElementsAre(20));
  EXPECT_TRUE(snapshots.Owns(again));
  EXPECT_EQ(300, snapshots.oldest_unix_seconds());
}

TEST(LiveSnapshotsTest, RefusesWhatItDoesNotHold) {
  LiveSnapshots snapshots;
  LiveSnapshots others;
  const Snapshot* const snapshot = snapshots.Acquire(1, 1);
  EXPECT_FALSE(others.Owns(snapshot));
  EXPECT_FALSE(others.Release(snapshot));
  EXPECT_TRUE(snapshots.Release(snapshot));
  EXPECT_FALSE(snapshots.Owns(snapshot));
  EXPECT_FALSE(snapshots.Release(snapshot));
}

TEST(LiveSnapshotsTest, KnowsThoseOfOwnersThatAreGone) {
  LiveSnapshots snapshots;
  const Snapshot* released = nullptr;
  const Snapshot* left = nullptr;
  {
    LiveSnapshots gone;
    released = gone.Acquire(1, 1);
    left = gone.Acquire(2, 2);
    EXPECT_TRUE(gone.Release(released));
  }
  for (const Snapshot* const snapshot : {released, left}) {
    EXPECT_FALSE(snapshots.Owns(snapshot));
    EXPECT_FALSE(snapshots.Release(snapshot));
  }
}

TEST(LiveSnapshotsTest, WhoeverAwaitsTheOldestIsToldOnce) {
  LiveSnapshots snapshots;
  EXPECT_TRUE(snapshots.AwaitOldest(100)) << "there is none";
  const Snapshot* const three = snapshots.Acquire(3, 0);
  const Snapshot* const five = snapshots.Acquire(5, 0);
  const Snapshot* const nine = snapshots.Acquire(9, 0);
  EXPECT_TRUE(snapshots.AwaitOldest(3));
  EXPECT_FALSE(snapshots.AwaitOldest(7));
  EXPECT_FALSE(snapshots.AwaitOldest(8)) << "the smallest counts";
  const auto told = [&](const Snapshot* snapshot) {
    bool awaited = false;
    EXPECT_TRUE(snapshots.Release(snapshot, &awaited));
    return awaited;
  };
  EXPECT_FALSE(told(five)) << "not the oldest";
  EXPECT_TRUE(told(three)) << "9 is the oldest now";
  EXPECT_FALSE(told(nine)) << "nobody has asked again";
}

TEST(LiveSnapshotsTest, MayBeAskedWhileOthersComeAndGo) {
  LiveSnapshots snapshots;
  const Snapshot* const mine = snapshots.Acquire(5, 5);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (SequenceNumber seq = 6; !stop.load(); seq++) {
      const Snapshot* const snapshot = snapshots.Acquire(seq, 0);
      EXPECT_EQ(snapshot->GetSequenceNumber(), seq);
      EXPECT_TRUE(snapshots.Release(snapshot));
      EXPECT_FALSE(snapshots.Owns(snapshot));
    }
  });
  for (int i = 0; i < 100000; i++) {
    ASSERT_TRUE(snapshots.Owns(mine));
    ASSERT_EQ(mine->GetSequenceNumber(), 5u);
  }
  stop.store(true);
  other.join();
}

// A hold keeps what a snapshot of that number would, without being one.
TEST(LiveSnapshotsTest, TheOldestHoldOfTracesIsPinned) {
  LiveSnapshots snapshots;
  const Snapshot* const snapshot = snapshots.Acquire(20, 200);
  const int holders[2] = {};
  EvidenceHolds::Slot* const late = snapshots.HoldEvidence(30, &holders[0]);
  ASSERT_NE(late, nullptr);
  EXPECT_THAT(snapshots.Pinned(), ElementsAre(20, 30));
  EvidenceHolds::Slot* const early = snapshots.HoldEvidence(10, &holders[1]);
  ASSERT_NE(early, nullptr);
  EXPECT_THAT(snapshots.Pinned(), ElementsAre(10, 20));
  EXPECT_EQ(20u, snapshots.oldest());
  EXPECT_EQ(10u, snapshots.OldestHeld());
  EXPECT_EQ(1u, snapshots.count());
  bool awaited = false;
  snapshots.ReleaseEvidence(early, &awaited);
  EXPECT_THAT(snapshots.Pinned(), ElementsAre(20, 30));
  EXPECT_TRUE(snapshots.Release(snapshot));
  snapshots.ReleaseEvidence(late, &awaited);
  EXPECT_THAT(snapshots.Pinned(), IsEmpty());
  EXPECT_FALSE(awaited);
}

TEST(LiveSnapshotsTest, WhoAwaitsIsToldByTheLastHoldOrSnapshot) {
  LiveSnapshots snapshots;
  const int holder = 0;
  EvidenceHolds::Slot* const slot = snapshots.HoldEvidence(10, &holder);
  const Snapshot* const snapshot = snapshots.Acquire(12, 1);
  EXPECT_FALSE(snapshots.AwaitOldest(15));
  bool awaited = false;
  snapshots.ReleaseEvidence(slot, &awaited);
  EXPECT_FALSE(awaited);
  EXPECT_TRUE(snapshots.Release(snapshot, &awaited));
  EXPECT_TRUE(awaited);

  EvidenceHolds::Slot* const last = snapshots.HoldEvidence(10, &holder);
  EXPECT_FALSE(snapshots.AwaitOldest(15));
  EXPECT_TRUE(snapshots.AwaitOldest(10));
  awaited = false;
  snapshots.ReleaseEvidence(last, &awaited);
  EXPECT_TRUE(awaited);
}

TEST(LiveSnapshotsTest, HoldsOfTracesAreFew) {
  LiveSnapshots snapshots;
  const int holder = 0;
  std::vector<EvidenceHolds::Slot*> slots;
  while (EvidenceHolds::Slot* const slot = snapshots.HoldEvidence(5, &holder))
    slots.push_back(slot);
  EXPECT_GT(slots.size(), 1u);
  EXPECT_LE(slots.size(), 64u);
  bool awaited = false;
  for (EvidenceHolds::Slot* const slot : slots) snapshots.ReleaseEvidence(slot, &awaited);
  EvidenceHolds::Slot* const again = snapshots.HoldEvidence(6, &holder);
  ASSERT_NE(again, nullptr);
  EXPECT_THAT(snapshots.Pinned(), ElementsAre(6));
  snapshots.ReleaseEvidence(again, &awaited);
}

}  // namespace
}  // namespace varve
