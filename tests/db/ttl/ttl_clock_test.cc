// SPDX-License-Identifier: Apache-2.0

// Goal: an entry that was expired once stays so, though the clock goes back, the process is killed
// or the MANIFEST cannot be written; a glitch of the clock expires nothing. Method: as ttl_test.cc,
// and faults of the file system.

#include "db/ttl/ttl_clock.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "varve/utilities/repair.h"

#include "db/ttl/ttl_stamp.h"
#include "tests/db/ttl/ttl_fixture.h"
#include "util/coding/fixed.h"

namespace varve::testing {
namespace {

class TtlClockTest : public TtlDatabase {
 protected:
  ~TtlClockTest() override {
    clock_->fails = false;
    faults().ClearFaults();
  }
  // Seconds that a new entry is written at.
  uint32_t Stamp() {
    Put("stamp", "");
    std::string stored;
    EXPECT_TRUE(ttl_->GetBaseDB()->Get(ReadOptions(), "stamp", &stored).ok());
    return DecodeFixed<uint32_t>(stored.data());
  }
  // Expects that time is at `seconds`, or at most a grant ahead: the MANIFEST did not say it
  // exactly.
  void ExpectGrantedSince(uint32_t seconds) {
    const uint32_t stamp = Stamp();
    EXPECT_GE(stamp, seconds);
    EXPECT_LE(stamp, seconds + TtlClock::kGrantSeconds);
  }
};

// A database whose saving of the time runs a function meanwhile.
class SlowHost final : public TtlHost {
 public:
  uint64_t SavedTtlClock() const override { return saved; }
  Status SaveTtlClock(uint64_t seconds) override {
    if (meanwhile != nullptr) std::thread(meanwhile).join();
    saved = seconds;
    return Status::OK();
  }
  std::unique_ptr<ColumnFamilyHandle> OpenFamily(uint32_t) override { return nullptr; }

  std::atomic<uint64_t> saved{0};
  std::function<void()> meanwhile;
};

// A new database, or one that was idle for long: other threads come while the first saves the time.
TEST(TtlClock, StampsAreOfTheWallClockWhileATimeIsSaved) {
  SetClock wall;
  TtlClock clock(&wall);
  SlowHost host;
  clock.Start(&host, /*read_only=*/false, nullptr);
  uint32_t stood_at = 0;
  uint32_t stamp = 0;
  host.meanwhile = [&] {
    stood_at = clock.Now();
    stamp = clock.ForStamps();
  };
  EXPECT_EQ(clock.ForStamps(), 1'700'000'000U);
  EXPECT_EQ(stood_at, kEarliestStamp);
  EXPECT_EQ(stamp, 1'700'000'000U);
  wall.now += 90 * 86400;
  EXPECT_EQ(clock.Now(), 1'700'000'000U + 90 * 86400);
  EXPECT_EQ(stood_at, 1'700'000'000U + TtlClock::kGrantSeconds) << "the time that was granted";
  EXPECT_EQ(stamp, 1'700'000'000U + 90 * 86400);
  wall.now -= 1000;
  EXPECT_EQ(clock.ForStamps(), 1'700'000'000U + 90 * 86400);
  clock.Stop();
}

// Times that readers use while the database is being closed are saved, too.
TEST(TtlClock, NoTimeIsUsedBeyondTheSavedOneWhileItSettles) {
  SetClock wall;
  TtlClock clock(&wall);
  SlowHost host;
  clock.Start(&host, /*read_only=*/false, nullptr);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) clock.Now();
  });
  int unsaved = 0;
  for (int i = 0; i < 300000; ++i) {
    wall.now++;
    clock.Now();  // may be granted a minute
    wall.now++;
    clock.Settle();
    // Gives the reader the time to use what it was granted before.
    for (int k = 0; k < 20; ++k) {
      const uint32_t used = clock.Last();
      if (used > host.saved) unsaved++;
    }
  }
  done = true;
  reader.join();
  EXPECT_EQ(unsaved, 0);
  clock.Stop();
}

TEST_F(TtlClockTest, DoesNotGoBackWithinAnOpening) {
  OpenTtl(10);
  Put("k", "v");
  Pass(11);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  Pass(-11);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_EQ(Stamp(), 1'700'000'011U);
}

TEST_F(TtlClockTest, DoesNotGoBackAcrossOpenings) {
  OpenTtl(10);
  Put("k", "v");
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  Pass(11);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  CloseTtl();
  Pass(-1000);
  for (const bool read_only : {false, true}) {
    OpenTtl(10, read_only);
    EXPECT_EQ(Get("k"), "NOT_FOUND");
  }
  OpenTtl(10);
  EXPECT_EQ(Stamp(), 1'700'000'011U);  // exactly where it was when the database was closed
  // An opening without lifetimes, which writes a MANIFEST anew, keeps the time.
  CloseTtl();
  Open();
  ASSERT_TRUE(Close().ok());
  OpenTtl(10);
  EXPECT_EQ(Stamp(), 1'700'000'011U);
}

TEST_F(TtlClockTest, DoesNotGoBackInARepair) {
  OpenTtl(10);
  Put("k", "v");
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  Put("gone", "v");
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  Pass(11);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  CloseTtl();
  ASSERT_TRUE(
      mem()
          .DeleteFile(std::string(kName) + "/" + Files(kTableFile).back(), IOOptions(), nullptr)
          .ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Pass(-1000);
  OpenTtl(10);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  ExpectGrantedSince(1'700'000'011U);
}

TEST_F(TtlClockTest, DoesNotGoBackAfterAKill) {
  OpenTtl(10);
  Put("k", "v");
  Pass(11);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  KillTtl();
  Pass(-1000);
  OpenTtl(10);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  ExpectGrantedSince(1'700'000'011U);
}

TEST_F(TtlClockTest, AJumpIsBelievedWhenTheNextReadingConfirmsIt) {
  OpenTtl(10);
  Put("k", "v");
  clock_->glitch = 4'000'000'000;
  EXPECT_EQ(Get("k"), "v");
  EXPECT_EQ(Stamp(), 1'700'000'000U);
  Pass(86400);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
}

TEST_F(TtlClockTest, AClockThatFailsOrIsBefore2013Stands) {
  OpenTtl(10);
  Put("k", "v");
  clock_->fails = true;
  Pass(100);
  EXPECT_EQ(Get("k"), "v");
  clock_->fails = false;
  CloseTtl();
  clock_->now = 5;
  OpenTtl(10);
  EXPECT_EQ(Get("k"), "v");
  CloseTtl();
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  OpenTtl(10);
  Put("k", "v");
  EXPECT_EQ(Get("k"), "v");  // the earliest time there is
}

TEST_F(TtlClockTest, GoesOnWhereItCannotBeSaved) {
  OpenTtl(10);
  Put("k", "v");
  FaultRule rule;
  rule.calls = Only(FaultCall::kWrite) | Only(FaultCall::kCreate);
  rule.path_contains = "MANIFEST";
  rule.sticky = true;
  rule.effect = FaultEffect::kNoSpace;
  faults().Inject(rule);
  Pass(1000);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  Pass(-1000);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  faults().ClearFaults();
}

}  // namespace
}  // namespace varve::testing
