// SPDX-License-Identifier: Apache-2.0

// Goal: if a log that the MANIFEST needs is missing, a table that the MANIFEST does not name is
// taken for the proof of a lost end, and one that it has deleted is not. Method: directories as
// kills leave them, from which the log is taken away.

#include "db/recovery/stale_manifest.h"

#include <gmock/gmock.h>

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class StaleManifestTest : public Database {
 protected:
  // Acts as another program that writes to the database; the tested code needs no marks.
  void RemoveMarks() {
    ASSERT_TRUE(mem().DeleteFile(SyncedMarksFileName(kName), IOOptions(), nullptr).ok());
  }
  std::string ManifestPath() { return std::string(kName) + "/" + Files(kDescriptorFile)[0]; }

  void RemoveLogs() {
    for (const std::string& log : Files(kWalFile)) {
      ASSERT_TRUE(mem().DeleteFile(std::string(kName) + "/" + log, IOOptions(), nullptr).ok());
    }
  }
  // Leaves two tables, of which the MANIFEST names the first, and neither logs nor synced marks.
  void LoseATable() {
    Open();
    MakeTable({"a"});
    const std::string before = ReadFile(ManifestPath());
    MakeTable({"b"});
    Kill();
    WriteFile(ManifestPath(), before);
    RemoveLogs();
    RemoveMarks();
  }
};

TEST_F(StaleManifestTest, ATableOfALostEndIsNoticed) {
  LoseATable();
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("the MANIFEST's end is missing"));
}

// The table is in no level, so its reads belong to no level's statistics.
TEST_F(StaleManifestTest, ATableOfALostEndIsNoticedWithStatistics) {
  options_.statistics = CreateDBStatistics();
  LoseATable();
  EXPECT_TRUE(TryOpen().IsCorruption());
}

// A table of another database, however new, says nothing of this one.
TEST_F(StaleManifestTest, AForeignTableIsSetAside) {
  Open();
  MakeTable({"a"});
  MakeTable({"b"});
  const std::string foreign = ReadFile(std::string(kName) + "/" + Files(kTableFile).back());
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  Open();
  Kill();
  WriteFile(std::string(kName) + "/000900.sst", foreign);
  RemoveLogs();
  Open();
  EXPECT_EQ(Scan(), "");
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("set_aside=/db/lost/000900.sst"));
}

// RocksDB's MANIFESTs ask for logs that were never written.
TEST_F(StaleManifestTest, InputsOfACompactionMayBeNewerThanItsOutput) {
  Open();
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  MakeTable({"a", "b"});
  MakeTable({"b", "c"});
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  Kill();
  ASSERT_GT(Files(kTableFile).size(), 2u) << "the inputs are still there";
  RemoveLogs();
  Open();
  EXPECT_EQ(Scan().substr(0, 2), "a=");
}

}  // namespace
}  // namespace varve::testing
