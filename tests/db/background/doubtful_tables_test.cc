// SPDX-License-Identifier: Apache-2.0

// Goal: while the MANIFEST cannot be written, retries leave no tables behind but those that it may
// name; these go when a new MANIFEST is in force, and nothing that is in force ever goes. Method:
// each kind of work that makes tables, over each step of writing a MANIFEST that can fail.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

enum class Work { kFlush, kAutomaticCompaction, kManualCompaction };

struct ManifestFailure {
  const char* name;
  FaultCalls calls;
  const char* path;
  bool rotates;     // each edit begins a new MANIFEST
  bool each_stays;  // and an opening may read any of them: each call leaves one
};

const ManifestFailure kManifestFailures[] = {
    {"Append", Only(FaultCall::kWrite) | Only(FaultCall::kCreate), "MANIFEST", false, false},
    {"Sync", Only(FaultCall::kSync) | Only(FaultCall::kCreate), "MANIFEST", false, false},
    {"Create", Only(FaultCall::kCreate), "MANIFEST", true, false},
    {"SyncOfANewOne", Only(FaultCall::kSync), "MANIFEST", true, false},
    {"NewOneThatStays", Only(FaultCall::kSync) | Only(FaultCall::kDelete), "MANIFEST", true, true},
    {"Current", Only(FaultCall::kRename), "", true, false},
    {"NamesOfCurrent", Only(FaultCall::kRename) | Only(FaultCall::kOpenRead), "", true, true},
    {"TextOfCurrent", Only(FaultCall::kCreate) | Only(FaultCall::kWrite), ".dbtmp", true, false},
};

class DoubtfulTablesTest : public Database,
                           public ::testing::WithParamInterface<std::tuple<Work, ManifestFailure>> {
 protected:
  static constexpr int kRetries = 4;

  DoubtfulTablesTest() {
    options_.disable_auto_compactions = true;
    options_.level0_file_num_compaction_trigger = 2;
    options_.bgerror_resume_retry_interval = 1000;
    if (failure().rotates) options_.max_manifest_file_size = 1;
  }
  static Work work() { return std::get<0>(GetParam()); }
  static const ManifestFailure& failure() { return std::get<1>(GetParam()); }

  // Two tables that overlap, over one in the last level, and what a flush has to write.
  void Fill() {
    MakeTable({"a", "z"});
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    MakeTable({"a", "m"});
    MakeTable({"m", "z"});
    if (work() == Work::kFlush) Put("in memory", "m");
    if (work() == Work::kAutomaticCompaction) {
      ASSERT_TRUE(db()->PauseBackgroundWork().ok());
      ASSERT_TRUE(db()->EnableAutoCompaction({db()->DefaultColumnFamily()}).ok());
    }
  }
  void Break() {
    FaultRule rule;
    rule.calls = failure().calls;
    rule.path_contains = failure().path;
    rule.sticky = true;
    faults().Inject(rule);
  }
  // Waits until the MANIFEST has failed the work some times.
  void FailSomeTimes() {
    if (work() == Work::kAutomaticCompaction) {
      ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
    } else if (work() == Work::kFlush) {
      EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
    }
    for (int i = 0; i < kRetries && work() == Work::kManualCompaction; i++) {
      EXPECT_FALSE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    }
    EXPECT_TRUE(Eventually([&] { return faults().strikes() >= kRetries; }));
  }
  std::set<std::string> Live() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::set<std::string> names;
    for (const LiveFileMetaData& file : files) names.insert(file.relative_filename);
    return names;
  }
  std::set<std::string> OnDisk() {
    const std::vector<std::string> names = Files(kTableFile);
    return {names.begin(), names.end()};
  }
  void ExpectAllThere() {
    EXPECT_EQ(Get("a"), "of a");
    EXPECT_EQ(Get("m"), "of m");
    EXPECT_EQ(Get("z"), "of z");
    EXPECT_EQ(Get("in memory"), work() == Work::kFlush ? "m" : "NOT_FOUND");
  }
};

TEST_P(DoubtfulTablesTest, GoOnceANewManifestIsInForce) {
  Open();
  Fill();
  Break();
  FailSomeTimes();
  ExpectAllThere();
  faults().ClearFaults();
  EXPECT_TRUE(Eventually([&] { return db()->Put(WriteOptions(), "probe", "p").ok(); }));
  Flush();
  db()->WaitForCompact(WaitForCompactOptions()).PermitUncheckedError();
  EXPECT_TRUE(Eventually([&] { return OnDisk() == Live(); }, 5))
      << OnDisk().size() << " on disk, " << Live().size() << " live";
  ExpectAllThere();
  Kill();
  Open();
  ExpectAllThere();
  EXPECT_EQ(OnDisk(), Live());
  EXPECT_TRUE(Files(kTableFile, std::string(kName) + "/lost").empty());
}

TEST_P(DoubtfulTablesTest, OnlyThoseThatAManifestMayNameStay) {
  Open();
  Fill();
  const size_t before = Live().size();
  Break();
  FailSomeTimes();
  // There is one set of outputs whose edit may be in the MANIFEST, and one that is being written.
  const bool each_stays = failure().each_stays && work() == Work::kManualCompaction;
  const size_t most = each_stays ? SIZE_MAX : before + 2;
  EXPECT_LE(OnDisk().size(), most);
}

TEST_P(DoubtfulTablesTest, AreThereForWhoeverOpensTheDatabaseNext) {
  Open();
  Fill();
  Break();
  FailSomeTimes();
  Kill();
  faults().ClearFaults();
  Open();
  ExpectAllThere();
  EXPECT_EQ(OnDisk(), Live());
  Reopen();
  ExpectAllThere();
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Work, ManifestFailure>>& info) {
  const char* const kWorks[] = {"Flush", "AutomaticCompaction", "ManualCompaction"};
  return std::string(kWorks[static_cast<int>(std::get<0>(info.param))]) +
         std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(All, DoubtfulTablesTest,
                         ::testing::Combine(::testing::Values(Work::kFlush,
                                                              Work::kAutomaticCompaction,
                                                              Work::kManualCompaction),
                                            ::testing::ValuesIn(kManifestFailures)),
                         NameOf);

}  // namespace
}  // namespace varve::testing
