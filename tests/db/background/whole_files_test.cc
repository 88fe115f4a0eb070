// SPDX-License-Identifier: Apache-2.0

// Goal: PromoteL0 moves tables or says why not; Excise and ClipColumnFamily remove exactly what
// they say, at once for every reader and across every crash, and snapshots go on showing what they
// showed. Method: stories; every call to the file system fails once, and power goes at the end;
// random changes beside a map.

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/snapshot.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class WholeFilesTest : public Database {
 protected:
  WholeFilesTest() { options_.disable_auto_compactions = true; }

  Status Excise(const OptSlice& start, const OptSlice& limit) {
    return db()->Excise(db()->DefaultColumnFamily(), RangeOpt(start, limit));
  }
  Status Clip(const Slice& begin, const Slice& end) {
    return db()->ClipColumnFamily(db()->DefaultColumnFamily(), begin, end);
  }
  Status Promote(int level) { return db()->PromoteL0(db()->DefaultColumnFamily(), level); }
  std::string ScanAt(const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    return Scan(options);
  }
  // Tables with "a".."i", three keys in each, in the deepest level.
  void MakeThreeTables() {
    for (const char* keys : {"abc", "def", "ghi"}) {
      for (const char* key = keys; *key != '\0'; ++key) Put(std::string(1, *key), "1");
      Flush();
    }
    ASSERT_TRUE(Promote(6).ok());
  }
};

using PromoteTest = WholeFilesTest;

TEST_F(PromoteTest, MovesTablesThatDoNotOverlap) {
  Open();
  EXPECT_TRUE(Promote(1).ok()) << "there is nothing to move";
  MakeThreeTables();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,3");
  EXPECT_EQ(Scan(), "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1");
  Reopen();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,3");
  MakeTable({"b", "z"});
  ASSERT_TRUE(Promote(5).ok());
  EXPECT_EQ(Levels(), "0,0,0,0,0,1,3");
}

TEST_F(PromoteTest, SaysWhyNot) {
  Open();
  MakeTable({"a", "m"});
  for (const int level : {-1, 0, 7, 100}) {
    const Status s = Promote(level);
    EXPECT_TRUE(s.IsInvalidArgument()) << level;
    EXPECT_THAT(s.ToString(), HasSubstr("none of 1 to 6"));
  }
  MakeTable({"m", "z"});
  EXPECT_THAT(Promote(1).ToString(), HasSubstr("overlap"));
  EXPECT_EQ(Levels(), "2");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_EQ(Levels(), "0,0,0,0,0,0,1");
  MakeTable({"c"});
  const Status s = Promote(6);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("level 6 has tables"));
  EXPECT_TRUE(db()->PromoteL0(nullptr, 1).IsInvalidArgument());
}

using ExciseTest = WholeFilesTest;

TEST_F(ExciseTest, RemovesExactlyTheRange) {
  Open();
  MakeThreeTables();
  Put("e", "2");
  Put("ee", "2");
  ASSERT_TRUE(Excise("c", "h").ok());
  EXPECT_EQ(Scan(), "a=1 b=1 h=1 i=1");
  // The table that lies in the range is gone, without a compaction; those at the edges stay.
  EXPECT_EQ(Levels().back(), '2');
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=1 h=1 i=1");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "a=1 b=1 h=1 i=1");
}

// A removed table's value covers an older one beneath.
TEST_F(ExciseTest, NothingOlderReappears) {
  Open();
  for (const char* key : {"a", "d", "z"}) Put(key, "oldest");
  Flush();
  ASSERT_TRUE(Promote(6).ok());
  MakeTable({"d"});
  ASSERT_TRUE(Promote(5).ok());
  Delete("d");
  Flush();
  ASSERT_TRUE(Excise("c", "e").ok());
  EXPECT_EQ(Get("d"), "NOT_FOUND");
  EXPECT_EQ(Scan(), "a=oldest z=oldest");
}

TEST_F(ExciseTest, SnapshotsShowWhatTheyShowed) {
  Open();
  MakeThreeTables();
  const std::string all = Scan();
  const Snapshot* snapshot = db()->GetSnapshot();
  ASSERT_TRUE(Excise("a", "i").ok());
  EXPECT_EQ(Scan(), "i=1");
  EXPECT_EQ(ScanAt(snapshot), all);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(ScanAt(snapshot), all);
  db()->ReleaseSnapshot(snapshot);
  EXPECT_EQ(Scan(), "i=1");
}

TEST_F(ExciseTest, BoundsMayBeAbsent) {
  Open();
  EXPECT_TRUE(Excise(nullptr, nullptr).ok()) << "there is nothing";
  MakeThreeTables();
  Put("", "empty");
  Put("zz", "1");
  ASSERT_TRUE(Excise("zzz", nullptr).ok());
  ASSERT_TRUE(Excise(nullptr, "").ok());
  ASSERT_TRUE(Excise("d", "d").ok());
  EXPECT_TRUE(Excise("e", "d").IsInvalidArgument());
  EXPECT_EQ(Scan(), "=empty a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 zz=1");
  ASSERT_TRUE(Excise("h", nullptr).ok());
  EXPECT_EQ(Scan(), "=empty a=1 b=1 c=1 d=1 e=1 f=1 g=1");
  ASSERT_TRUE(Excise(nullptr, "b").ok());
  EXPECT_EQ(Scan(), "b=1 c=1 d=1 e=1 f=1 g=1");
  ASSERT_TRUE(Excise(nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "");
}

TEST_F(ExciseTest, UserTimestampsAreRefused) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  Open();
  EXPECT_TRUE(Excise("a", "b").IsNotSupported());
  EXPECT_TRUE(Clip("a", "b").IsNotSupported());
}

// All or nothing, whichever call of the file system fails, and with what power loss leaves.
TEST_F(ExciseTest, IsAllOrNothing) {
  const std::string before = "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1";
  const std::string after = "a=1 b=1 h=1 i=1";
  int refused = 0;
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    MakeThreeTables();
    FaultRule rule;
    rule.calls = kMutatingFaultCalls;
    rule.nth = nth;
    rule.sticky = true;
    faults().Inject(rule);
    const Status s = Excise("c", "h");
    faults().ClearFaults();
    refused += s.ok() ? 0 : 1;
    const auto left = mem().CrashClone(CrashPolicy::kAdversarial, nth);
    Kill();
    Remount(left);
    Open();
    const std::string found = Scan();
    EXPECT_TRUE(found == after || (!s.ok() && found == before))
        << found << " after " << s.ToString();
    ASSERT_TRUE(Close().ok());
    if (s.ok()) break;
    ASSERT_LT(nth, 300U);
  }
  EXPECT_GT(refused, 3);
}

TEST_F(ExciseTest, RandomOnesAgreeWithAMap) {
  std::mt19937 random(11);
  std::map<std::string, std::string> model;
  Open();
  const Snapshot* snapshot = nullptr;
  std::string at_snapshot;
  const auto key = [&] { return "k" + std::to_string(random() % 40 + 10); };
  for (int step = 0; step < 1500; ++step) {
    switch (random() % 10) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const std::string k = key();
        Put(k, std::to_string(step));
        model[k] = std::to_string(step);
        break;
      }
      case 4: {
        std::string a = key();
        std::string b = key();
        if (a > b) std::swap(a, b);
        const bool open_start = random() % 6 == 0;
        const bool open_limit = random() % 6 == 0;
        ASSERT_TRUE(
            Excise(open_start ? OptSlice() : OptSlice(a), open_limit ? OptSlice() : OptSlice(b))
                .ok());
        model.erase(open_start ? model.begin() : model.lower_bound(a),
                    open_limit ? model.end() : model.lower_bound(b));
        break;
      }
      case 5:
        Flush();
        break;
      case 6:
        Promote(static_cast<int>(random() % 6 + 1)).PermitUncheckedError();
        break;
      case 7:
        if (random() % 4 == 0) {
          ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
        }
        break;
      case 8:
        if (snapshot != nullptr) {
          ASSERT_EQ(ScanAt(snapshot), at_snapshot) << step;
          db()->ReleaseSnapshot(snapshot);
          snapshot = nullptr;
        } else {
          snapshot = db()->GetSnapshot();
          at_snapshot = Scan();
        }
        break;
      default:
        std::string expected;
        for (const auto& [k, v] : model) {
          expected.append(expected.empty() ? "" : " ").append(k).append("=").append(v);
        }
        ASSERT_EQ(Scan(), expected) << step;
    }
  }
  if (snapshot != nullptr) db()->ReleaseSnapshot(snapshot);
}

using ClipTest = WholeFilesTest;

TEST_F(ClipTest, NeedsNoManualCompaction) {
  Open();
  for (const char* key : {"a", "c", "e", "g"}) Put(key, "v");
  db()->DisableManualCompaction();
  const Status s = Clip("c", "g");
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Scan(), "c=v e=v");
  db()->EnableManualCompaction();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "c=v e=v");
}

TEST_F(ClipTest, RemovesWhatIsOutside) {
  Open();
  EXPECT_TRUE(Clip("a", "b").ok()) << "there is nothing";
  MakeThreeTables();
  Put("", "empty");
  Put("zz", "largest");
  EXPECT_TRUE(Clip("h", "c").IsInvalidArgument());
  ASSERT_TRUE(Clip("", "zzz").ok());
  EXPECT_THAT(Scan(), HasSubstr("zz=largest"));
  ASSERT_TRUE(Clip("c", "h").ok());
  EXPECT_EQ(Scan(), "c=1 d=1 e=1 f=1 g=1");
  Reopen();
  EXPECT_EQ(Scan(), "c=1 d=1 e=1 f=1 g=1");
  EXPECT_EQ(Number("rocksdb.estimate-num-keys"), 5U);
  ASSERT_TRUE(Clip("c", "g").ok());  // the largest key alone
  EXPECT_EQ(Scan(), "c=1 d=1 e=1 f=1");
  ASSERT_TRUE(Clip("d", "d").ok());
  EXPECT_EQ(Scan(), "");
  EXPECT_EQ(Levels(), "");
}

}  // namespace
}  // namespace varve::testing
