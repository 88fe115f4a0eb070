// SPDX-License-Identifier: Apache-2.0
#include "db/read/seek_progress.h"

#include <gtest/gtest.h>

#include <string>

#include "varve/comparator.h"

namespace varve {
namespace {

class SeekProgressTest : public ::testing::Test {
 protected:
  SeekProgressTest() { progress_.Init(&icmp_); }

  static std::string Target(const std::string& key) {
    std::string target = key;
    AppendInternalKey(&target, Slice(), 5, kTypeValue);
    return target;
  }
  bool Seek(const std::string& key, bool backward) { return progress_.Seek(Target(key), backward); }
  bool Leap(const std::string& key, bool backward) { return progress_.Leap(Target(key), backward); }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  SeekProgress progress_;
};

TEST_F(SeekProgressTest, ForwardEachSeekGoesBeyondTheLast) {
  EXPECT_TRUE(Seek("c", false));
  EXPECT_FALSE(Seek("c", false));
  EXPECT_FALSE(Seek("b", false));
  EXPECT_TRUE(Seek("d", false));
  progress_.Forget();
  EXPECT_TRUE(Seek("a", false));
}

TEST_F(SeekProgressTest, BackwardASeekMayBeRepeatedAtTheSameKey) {
  EXPECT_TRUE(Seek("c", true));
  EXPECT_TRUE(Seek("c", true));
  EXPECT_FALSE(Seek("d", true));
  progress_.PassKey();
  EXPECT_FALSE(Seek("c", true));
  EXPECT_TRUE(Seek("b", true));
}

TEST_F(SeekProgressTest, LeapsGoOnwardBetweenTwoSeeks) {
  EXPECT_TRUE(Leap("m", false));
  EXPECT_FALSE(Leap("m", false));
  EXPECT_FALSE(Leap("c", false));
  EXPECT_TRUE(Leap("n", false));
  EXPECT_TRUE(Seek("a", false));
  EXPECT_TRUE(Leap("c", false));
  progress_.Forget();
  EXPECT_TRUE(Leap("c", true));
  EXPECT_FALSE(Leap("c", true));
  EXPECT_FALSE(Leap("d", true));
  EXPECT_TRUE(Leap("b", true));
}

}  // namespace
}  // namespace varve
