// SPDX-License-Identifier: Apache-2.0
#include "db/read/tombstone_run_watch.h"

#include <gtest/gtest.h>

#include <string>

#include "varve/comparator.h"

namespace varve {
namespace {

constexpr SequenceNumber kReader = 7;

class TombstoneRunWatchTest : public ::testing::Test {
 protected:
  TombstoneRunWatchTest() { watch_.Use(&runs_, /*super_version=*/1); }

  // Returns "begin-end" of the known run around the key, or "none".
  std::string Find(const std::string& key) const {
    std::string begin;
    std::string end;
    return watch_.Find(key, kReader, &begin, &end) ? begin + "-" + end : "none";
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  TombstoneRuns runs_{&icmp_};
  IteratorCounters counters_;
  TombstoneRunWatch watch_;
};

TEST_F(TombstoneRunWatchTest, ALongRunIsRememberedFromItsFirstKey) {
  EXPECT_FALSE(watch_.measuring());
  watch_.Begin("b", counters_);
  EXPECT_TRUE(watch_.measuring());
  counters_.deleted += 512;
  watch_.Begin("c", counters_);
  counters_.hidden += 512;
  watch_.End("f", /*backward=*/false, kReader, counters_);
  EXPECT_FALSE(watch_.measuring());
  EXPECT_EQ(Find("d"), "b-f");
}

TEST_F(TombstoneRunWatchTest, BackwardTheRunEndsAtItsSmallestKey) {
  watch_.Begin("f", counters_);
  counters_.deleted += 1024;
  watch_.End("b", /*backward=*/true, kReader, counters_);
  EXPECT_EQ(Find("d"), "b-f");
}

TEST_F(TombstoneRunWatchTest, AShortRunIsNotRemembered) {
  counters_.deleted = 5000;
  watch_.Begin("b", counters_);
  counters_.deleted += 1023;
  watch_.End("f", /*backward=*/false, kReader, counters_);
  EXPECT_EQ(Find("d"), "none");
}

TEST_F(TombstoneRunWatchTest, ARunWithEntriesThatAreTooNewOrUnseenIsNotRemembered) {
  watch_.Begin("b", counters_);
  counters_.deleted += 2000;
  counters_.recent++;
  watch_.End("f", /*backward=*/false, kReader, counters_);
  EXPECT_EQ(Find("d"), "none");
  watch_.Begin("b", counters_);
  counters_.deleted += 2000;
  watch_.MissEntries();
  watch_.End("f", /*backward=*/false, kReader, counters_);
  EXPECT_EQ(Find("d"), "none");
  watch_.Begin("b", counters_);
  counters_.deleted += 2000;
  watch_.End("f", /*backward=*/false, kReader, counters_);
  EXPECT_EQ(Find("d"), "b-f");
}

TEST_F(TombstoneRunWatchTest, AForgottenRunBeginsAnew) {
  watch_.Forget();
  watch_.Begin("b", counters_);
  counters_.deleted += 2000;
  watch_.Forget();
  EXPECT_FALSE(watch_.measuring());
  watch_.Begin("d", counters_);
  counters_.deleted += 10;
  watch_.End("f", /*backward=*/false, kReader, counters_);
  EXPECT_EQ(Find("e"), "none");
}

}  // namespace
}  // namespace varve
