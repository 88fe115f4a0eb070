// SPDX-License-Identifier: Apache-2.0

// Goal: a file in another's place, or one that is gone under an open database, gives errors that
// name it; no wrong answer, no crash, and Close returns. Method: two databases alike to the byte
// in size, whose tables are exchanged; files and the directory taken away from an open one.

#include <gmock/gmock.h>

#include <functional>

#include "varve/utilities/options_util.h"
#include "varve/utilities/repair.h"

#include "tests/crash/reseal.h"
#include "tests/harness/database.h"
#include "util/coding/fixed.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// The last bytes of a table.
TEST_F(MisplacedFilesTest, ATableOfAnotherFormatIsRefusedAtOpening) {
  Open();
  MakeTable({"k"});
  ASSERT_TRUE(Close().ok());
  const std::string name = Files(kTableFile).front();
  const std::string good = ReadFile(Path(name));
  std::string other = good.substr(0, good.size() - 8);
  PutFixed64(&other, 0x926789d0c5f17873);
  WriteFile(Path(name), other);
  const std::function<Status()> openings[] = {[&] { return TryOpen(); },
                                              [&] { return TryOpenReadOnly(); },
                                              [&] { return RepairDB(kName, options_); }};
  for (const int max_open_files : {-1, 100}) {
    options_.max_open_files = max_open_files;
    for (const auto& opening : openings) {
      const Status s = opening();
      EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
      EXPECT_THAT(s.ToString(), HasSubstr(name));
      EXPECT_THAT(s.ToString(), HasSubstr("CuckooTable"));
      EXPECT_THAT(s.ToString(), Not(HasSubstr("RepairDB")));
    }
  }
  EXPECT_EQ(ReadFile(Path(name)), other);
  // A repair that does not know the table leaves it where it is, too.
  const std::string manifest = Path(Files(kDescriptorFile).back());
  const std::string whole = ReadFile(manifest);
  ASSERT_TRUE(mem().DeleteFile(manifest, IOOptions(), nullptr).ok());
  EXPECT_TRUE(RepairDB(kName, options_).IsNotSupported());
  EXPECT_EQ(ReadFile(Path(name)), other);
  WriteFile(manifest, whole);
  WriteFile(Path(name), good);
  Open();
  EXPECT_EQ(Get("k"), "of k");
}

TEST_F(MisplacedFilesTest, AFlippedBitOfAFooterIsFoundAtOpening) {
  Open();
  MakeTable({"k"});
  ASSERT_TRUE(Close().ok());
  const std::string name = Files(kTableFile).front();
  const std::string good = ReadFile(Path(name));
  for (size_t i = 1; i <= 12; i++) {  // magic number and format version
    std::string bad = good;
    bad[good.size() - i] = static_cast<char>(bad[good.size() - i] ^ 0x40);
    WriteFile(Path(name), bad);
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsCorruption()) << i << " " << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(name));
  }
  options_.max_open_files = 100;
  Open();
  EXPECT_THAT(Get("k"), HasSubstr("Corruption"));
}

// Early RocksDB counted range deletions among the entries without their own number.
TEST_F(MisplacedFilesTest, ATableThatDoesNotCountItsRangeDeletionsIsSound) {
  Open();
  MakeTable({"a", "b", "c"});
  Put("d", "1");
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), "b", "c").ok());
  Flush();
  ASSERT_TRUE(Close().ok());
  const std::string path = Path(Files(kTableFile).back());
  std::string bytes = ReadFile(path);
  const Seals seals = Seals::OfTable(bytes);
  const size_t at = bytes.find("range-deletions");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 14] = 'z';  // the name of another property
  ASSERT_TRUE(seals.Reseal(&bytes, at + 14));
  WriteFile(path, bytes);
  RepairReport report;
  ASSERT_TRUE(RepairDB(kName, options_, {{"default", options_}}, nullptr, {}, &report).ok());
  EXPECT_TRUE(report.healthy) << report.ToString();
  Open();
  const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Scan(), "a=of a c=of c d=1");
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
