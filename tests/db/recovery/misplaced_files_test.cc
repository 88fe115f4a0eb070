// SPDX-License-Identifier: Apache-2.0

// Goal: a file in another's place, or one that is gone under an open database, gives errors that
// name it; no wrong answer, no crash, and Close returns. Method: two databases alike to the byte
// in size, whose tables are exchanged; files and the directory taken away from an open one.

#include <gmock/gmock.h>

#include "varve/utilities/options_util.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class MisplacedFilesTest : public Database {
 protected:
  MisplacedFilesTest() { options_.disable_auto_compactions = true; }
  std::string Path(const std::string& name) { return std::string(kName) + "/" + name; }
};

TEST_F(MisplacedFilesTest, ATableInAnothersPlaceIsCorruption) {
  Open();
  Put("k", "old");
  Flush();
  Put("k", "new");
  Flush();
  ASSERT_TRUE(Close().ok());
  const std::vector<std::string> tables = Files(kTableFile);
  ASSERT_EQ(tables.size(), 2u);
  const std::string one = ReadFile(Path(tables[0]));
  const std::string two = ReadFile(Path(tables[1]));
  ASSERT_EQ(one.size(), two.size()) << "or the size tells them apart";
  for (const bool both : {true, false}) {
    WriteFile(Path(tables[0]), both ? two : one);
    WriteFile(Path(tables[1]), one);
    Open();
    const std::string answer = Get("k");
    EXPECT_THAT(answer, HasSubstr("Corruption"));
    EXPECT_THAT(answer, HasSubstr(tables[1]));
    EXPECT_THAT(Scan(), HasSubstr("Corruption"));
    EXPECT_FALSE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_EQ(Files(kTableFile), tables) << "nothing was installed";
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(MisplacedFilesTest, DamagedOptionsKeepNobodyFromOpeningAndAreNeverHalfApplied) {
  Open();
  Put("k", "v");
  ASSERT_TRUE(Close().ok());
  const std::string path = Path(Files(kOptionsFile).back());
  const std::string whole = ReadFile(path);
  for (const std::string& damaged :
       {std::string(), std::string("nonsense\n"), whole.substr(0, whole.size() / 2),
        whole + "\n[CFOptions \"default\"]\n  write_buffer_size=what\n"}) {
    WriteFile(path, damaged);
    ConfigOptions config;
    config.env = options_.env;
    DBOptions db_options;
    db_options.max_background_jobs = 77;
    std::vector<ColumnFamilyDescriptor> families;
    const Status s = LoadLatestOptions(config, kName, &db_options, &families);
    EXPECT_FALSE(s.ok()) << damaged.size();
    EXPECT_EQ(db_options.max_background_jobs, 77);
    EXPECT_TRUE(families.empty());
    Open();
    EXPECT_EQ(Get("k"), "v");
    ASSERT_TRUE(Close().ok());
    for (const std::string& name : Files(kOptionsFile)) {
      if (Path(name) != path) {
        ASSERT_TRUE(mem().DeleteFile(Path(name), IOOptions(), nullptr).ok());
      }
    }
  }
}

TEST_F(MisplacedFilesTest, ADirectoryThatIsTakenAwayGivesErrorsWithPaths) {
  Open();
  MakeTable({"a"});
  Put("m", "in memory");
  std::vector<std::string> entries;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &entries, nullptr).ok());
  for (const std::string& entry : entries) {
    mem().DeleteFile(Path(entry), IOOptions(), nullptr).PermitUncheckedError();
  }
  ASSERT_TRUE(mem().DeleteDir(kName, IOOptions(), nullptr).ok());
  EXPECT_EQ(Get("m"), "in memory");
  const std::string a = Get("a");
  EXPECT_TRUE(a == "of a" || a.find("/db/") != std::string::npos) << a;
  const Status s = db()->Flush(FlushOptions());
  EXPECT_FALSE(s.ok());
  EXPECT_THAT(s.ToString(), HasSubstr("/db"));
  db()->Put(WriteOptions(), "n", "n").PermitUncheckedError();
  Close().PermitUncheckedError();  // it returns
  options_.create_if_missing = false;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

}  // namespace
}  // namespace varve::testing
