// SPDX-License-Identifier: Apache-2.0

// Goal: flushes and compactions pause unless a thread waits for them, and all of it leaves the same
// data. Method: the counts of the property varve.background; the benefit of a pause is the
// scheduler's affair.

#include <thread>

#include "db/background/work_paces.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class BackgroundGiveWayTest : public Database {
 protected:
  BackgroundGiveWayTest() {
    options_.write_buffer_size = 4 << 20;
    options_.level0_file_num_compaction_trigger = 2;
  }
  std::string Field(const char* name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db()->GetMapProperty("varve.background", &map));
    return map[name];
  }
  uint64_t Pauses() { return std::stoull(Field("pauses")); }
  // Fills several memtables.
  void Fill() {
    for (int i = 0; i < 60'000; i++) Put("key" + std::to_string(i), std::string(200, 'v'));
  }
  void AwaitIdle() {
    EXPECT_TRUE(Eventually([&] {
      return Number("rocksdb.num-running-flushes") == 0 &&
             Number("rocksdb.num-running-compactions") == 0 &&
             Number("rocksdb.mem-table-flush-pending") == 0 &&
             Number("rocksdb.compaction-pending") == 0;
    }));
  }
};

TEST_F(BackgroundGiveWayTest, WorkThatNobodyWaitsForPauses) {
  Open();
  Fill();
  AwaitIdle();
  EXPECT_EQ(Field("gives-way"), "1");
  // They are counted after the work is seen to be over.
  EXPECT_TRUE(Eventually([&] { return Pauses() > 0; }));
  EXPECT_EQ(Get("key59999"), std::string(200, 'v'));
}

TEST_F(BackgroundGiveWayTest, TheOptionTurnsItOff) {
  options_.background_gives_way = false;
  Open();
  Fill();
  AwaitIdle();
  EXPECT_EQ(Field("gives-way"), "0");
  EXPECT_EQ(Pauses(), 0u);
}

TEST_F(BackgroundGiveWayTest, FlushesAndCompactionsThatAreAskedForDoNotPause) {
  options_.write_buffer_size = 64 << 20;
  options_.disable_auto_compactions = true;
  Open();
  Fill();
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  Fill();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Pauses(), 0u);
}

// Two databases share their threads: the one that is near a stall makes the other's compactions
// hurry.
TEST_F(BackgroundGiveWayTest, TheNearestStallOfTheProcessDecides) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 4;
  Open();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  EXPECT_EQ(Field("compactions"), "calm");
  SharedUrgency::Wish of_another(&SharedUrgency::OfCompactions());
  of_another.Set(Urgency::kHurry);
  EXPECT_EQ(Field("compactions"), "hurry");
  of_another.Set(Urgency::kCalm);
  EXPECT_EQ(Field("compactions"), "calm");
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
}

TEST(FlushPaceTest, TheWorkIsToBeDoneWhenHalfOfTheRoomIsTaken) {
  EXPECT_EQ(FlushPace::Judge(0, 0), Urgency::kSoon);
  EXPECT_EQ(FlushPace::Judge(0, 0.3), Urgency::kCalm);
  EXPECT_EQ(FlushPace::Judge(0.2, 0.7), Urgency::kCalm);
  EXPECT_EQ(FlushPace::Judge(0.2, 0.45), Urgency::kSoon);
  EXPECT_EQ(FlushPace::Judge(0.2, 0.35), Urgency::kHurry);
  EXPECT_EQ(FlushPace::Judge(0.5, 1), Urgency::kSoon);
  EXPECT_EQ(FlushPace::Judge(1, 0.9), Urgency::kHurry);
}

}  // namespace
}  // namespace varve::testing
