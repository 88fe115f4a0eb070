// SPDX-License-Identifier: Apache-2.0
#include "db/read/live_snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace varve
