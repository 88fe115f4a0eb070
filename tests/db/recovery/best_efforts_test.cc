// SPDX-License-Identifier: Apache-2.0

// Goal: best_efforts_recovery opens the newest state that all tables are there for, each family's
// at one moment of its own, says what it went back from, and deletes nothing. Method: databases of
// which the test knows every moment lose tables, ends of tables and of MANIFESTs, and CURRENT, by
// hand and at random.

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "varve/convenience.h"
#include "varve/listener.h"

#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class BestEffortsTest : public Database {
 protected:
  BestEffortsTest() {
    options_.disable_auto_compactions = true;
    options_.best_efforts_recovery = true;
  }
  std::string Path(const std::string& name) { return std::string(kName) + "/" + name; }
  void Remove(const std::string& name) {
    ASSERT_TRUE(mem().DeleteFile(Path(name), IOOptions(), nullptr).ok()) << name;
  }
  // Puts key and value, and flushes.
  void Table(const std::string& key, const std::string& value,
             const std::string& family = "default") {
    Put(key, value, family);
    Flush(family);
  }
  // Puts the value into both families, and flushes them at once.
  void FlushBoth(const std::string& value) {
    Put("a", value);
    Put("x", value, "other");
    ASSERT_TRUE(db()->Flush(FlushOptions(), {Handle("default"), Handle("other")}).ok());
  }
  // Files that the database would delete are kept, as a copy of a directory may have them.
  void Keep(std::map<std::string, std::string>* kept) {
    for (const FileType type : {kTableFile, kDescriptorFile}) {
      for (const std::string& name : Files(type)) {
        // The database may delete an obsolete file between the listing and this.
        std::string bytes;
        const Status s = ReadFileToString(&mem(), Path(name), UINT64_MAX, &bytes);
        ASSERT_TRUE(s.ok() || s.IsPathNotFound()) << s.ToString();
        if (s.ok()) (*kept)[name] = bytes;
      }
    }
  }
  std::string Recovery() { return Text("varve.recovery"); }
  std::vector<std::string> Lost() { return Files(kTableFile, Path("lost")); }
  // Goes back no more: an opening without the option finds the same.
  void ExpectSameWithoutTheOption(const std::string& content) {
    ASSERT_TRUE(Close().ok());
    options_.best_efforts_recovery = false;
    Open();
    EXPECT_EQ(Scan(), content);
    options_.best_efforts_recovery = true;
  }
};

TEST_F(BestEffortsTest, WholeDatabaseOpensWholeAndWithItsLog) {
  Open();
  Table("a", "1");
  Put("b", "2");
  Kill();
  Open();
  EXPECT_EQ(Scan(), "a=1 b=2");
  EXPECT_THAT(Recovery(), Not(HasSubstr("set_back")));
  EXPECT_TRUE(Files(kWalFile, Path("lost")).empty());
}

TEST_F(BestEffortsTest, NewDatabaseIsMade) {
  Open();
  Put("a", "1");
  EXPECT_EQ(Scan(), "a=1");
  ASSERT_TRUE(Close().ok());
  options_.create_if_missing = false;
  Open();
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(BestEffortsTest, NewestTableMayBeMissing) {
  Open();
  Table("a", "1");
  Table("a", "2");
  Table("a", "3");
  Put("a", "4");
  Kill();
  const std::vector<std::string> tables = Files(kTableFile);
  ASSERT_EQ(tables.size(), 3u);
  Remove(tables[2]);
  options_.best_efforts_recovery = false;
  const Status refused = TryOpen();
  EXPECT_TRUE(refused.IsCorruption()) << refused.ToString();
  options_.best_efforts_recovery = true;
  Open();
  EXPECT_EQ(Scan(), "a=2") << "the log goes on from what is missing";
  EXPECT_THAT(Recovery(), HasSubstr("families_set_back=default"));
  EXPECT_THAT(Recovery(), HasSubstr(tables[2]));
  EXPECT_FALSE(Files(kWalFile, Path("lost")).empty());
  ExpectSameWithoutTheOption("a=2");
}

TEST_F(BestEffortsTest, AnOlderTableTakesTheNewerOnesWithIt) {
  Open();
  Table("a", "1");
  Table("b", "2");
  Table("c", "3");
  ASSERT_TRUE(Close().ok());
  const std::vector<std::string> tables = Files(kTableFile);
  ASSERT_EQ(tables.size(), 3u);
  Remove(tables[1]);
  Open();
  EXPECT_EQ(Scan(), "a=1");
  EXPECT_EQ(Lost(), std::vector<std::string>{tables[2]});
  ExpectSameWithoutTheOption("a=1");
}

// The state before that flush no longer exists, but the compacted one does.
TEST_F(BestEffortsTest, NewestTableMayBeMissingThoughOlderOnesWereCompacted) {
  Open();
  Table("a", "0");
  Table("a", "1");
  std::vector<std::string> older = Files(kTableFile);
  for (std::string& name : older) name = Path(name);
  Table("b", "2");
  const std::string newest = Files(kTableFile).back();
  ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), older, 6).ok());
  ASSERT_EQ(Levels(), "1,0,0,0,0,0,1");
  ASSERT_TRUE(Close().ok());
  ASSERT_EQ(Files(kTableFile).size(), 2u);
  Remove(newest);
  Open();
  EXPECT_EQ(Scan(), "a=1");
  ExpectSameWithoutTheOption("a=1");
}

TEST_F(BestEffortsTest, CutOrExchangedTablesCountAsMissing) {
  for (const bool cut : {true, false}) {
    Open();
    Table("a", "1");
    Table("a", "2");
    ASSERT_TRUE(Close().ok());
    const std::vector<std::string> tables = Files(kTableFile);
    ASSERT_GE(tables.size(), 2u);
    const std::string& last = tables.back();
    const std::string bytes = ReadFile(Path(last));
    const std::string other = ReadFile(Path(tables[tables.size() - 2]));
    ASSERT_EQ(bytes.size(), other.size());
    WriteFile(Path(last), cut ? bytes.substr(0, bytes.size() - 1) : other);
    Open();
    EXPECT_EQ(Scan(), "a=1");
    EXPECT_THAT(Recovery(), HasSubstr(last));
    EXPECT_EQ(Lost().back(), last);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// The inputs of a compaction are gone as a rule; where they are not, they are an older state.
TEST_F(BestEffortsTest, OutputOfACompactionThatIsMissingBringsItsInputsBack) {
  Open();
  Table("a", "1");
  Put("a", "1");
  Table("b", "2");
  const std::vector<std::string> inputs = Files(kTableFile);
  std::map<std::string, std::string> kept;
  for (const std::string& name : inputs) kept[name] = ReadFile(Path(name));
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Table("c", "3");
  ASSERT_TRUE(Close().ok());
  std::vector<std::string> tables = Files(kTableFile);
  ASSERT_EQ(tables.size(), 2u);
  Remove(tables[0]);
  for (const auto& [name, bytes] : kept) WriteFile(Path(name), bytes);
  Open();
  EXPECT_EQ(Scan(), "a=1 b=2");
  EXPECT_EQ(Lost(), std::vector<std::string>{tables[1]});
  ExpectSameWithoutTheOption("a=1 b=2");
}

TEST_F(BestEffortsTest, WithNothingLeftTheFamilyIsEmpty) {
  Open();
  Table("a", "1");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Reopen();  // its MANIFEST knows no older state
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kTableFile)) Remove(name);
  Open();
  EXPECT_EQ(Scan(), "");
  EXPECT_THAT(Recovery(), HasSubstr("families_set_back=default"));
  Put("b", "2");
  ExpectSameWithoutTheOption("b=2");
}

TEST_F(BestEffortsTest, FamiliesGoBackEachForItself) {
  options_.create_missing_column_families = true;
  Open({"default", "other"});
  Table("a", "1");
  Table("x", "1", "other");
  Table("a", "2");
  Table("x", "2", "other");
  ASSERT_TRUE(Close().ok());
  const std::vector<std::string> tables = Files(kTableFile);
  ASSERT_EQ(tables.size(), 4u);
  Remove(tables[3]);
  Open({"default", "other"});
  EXPECT_EQ(Scan(), "a=2");
  EXPECT_EQ(Scan(ReadOptions(), "other"), "x=1");
  EXPECT_THAT(Recovery(), HasSubstr("families_set_back=other"));
}

TEST_F(BestEffortsTest, FamiliesFlushedAtOnceGoBackAtOnce) {
  options_.create_missing_column_families = true;
  options_.atomic_flush = true;
  Open({"default", "other"});
  FlushBoth("1");
  FlushBoth("2");
  FlushBoth("3");
  ASSERT_TRUE(Close().ok());
  const std::vector<std::string> tables = Files(kTableFile);
  ASSERT_EQ(tables.size(), 6u);
  Remove(tables[5]);
  Open({"default", "other"});
  EXPECT_EQ(Scan(), "a=2");
  EXPECT_EQ(Scan(ReadOptions(), "other"), "x=2");
  EXPECT_EQ(Lost(), std::vector<std::string>{tables[4]});
}

// A family's state after an atomic flush is valid only together with the others', or as part of a
// later one.
TEST_F(BestEffortsTest, CompactionsOfWhatWasFlushedAtOnceCountAsIt) {
  options_.create_missing_column_families = true;
  options_.atomic_flush = true;
  Open({"default", "other"});
  FlushBoth("1");
  Reopen();  // its MANIFEST begins with tables that are about to be compacted
  FlushBoth("2");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("other"), nullptr, nullptr).ok());
  const std::vector<std::string> before = Files(kTableFile);
  FlushBoth("3");
  ASSERT_TRUE(Close().ok());
  std::vector<std::string> added;
  std::ranges::set_difference(Files(kTableFile), before, std::back_inserter(added));
  ASSERT_EQ(added.size(), 2u);
  for (const std::string& name : added) {
    const std::string bytes = ReadFile(Path(name));
    Remove(name);
    ASSERT_TRUE(TryOpenReadOnly({"default", "other"}).ok());
    EXPECT_EQ(Scan(), "a=2") << name;
    EXPECT_EQ(Scan(ReadOptions(), "other"), "x=2") << name;
    ASSERT_TRUE(Close().ok());
    WriteFile(Path(name), bytes);
  }
}

TEST_F(BestEffortsTest, CurrentMayBeMissingOrGarbage) {
  Open();
  Table("a", "1");
  ASSERT_TRUE(Close().ok());
  for (const char* const garbage : {"", "garbage", "MANIFEST-999999\n"}) {
    WriteFile(Path("CURRENT"), garbage);
    Open();
    EXPECT_EQ(Scan(), "a=1");
    EXPECT_THAT(Recovery(), Not(HasSubstr("set_back")));
    ASSERT_TRUE(Close().ok());
  }
  Remove("CURRENT");
  options_.create_if_missing = false;
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(Scan(), "a=1");
  ASSERT_TRUE(Close().ok());
  Open();
  EXPECT_EQ(Scan(), "a=1");
  options_.error_if_exists = true;
  ASSERT_TRUE(Close().ok());
  Remove("CURRENT");
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(BestEffortsTest, AnOlderManifestServesIfTheNewestCannot) {
  Open();
  Table("a", "1");
  ASSERT_TRUE(Close().ok());
  const std::string old_name = Files(kDescriptorFile).back();
  const std::string old_bytes = ReadFile(Path(old_name));
  Open();
  Table("a", "2");
  ASSERT_TRUE(Close().ok());
  const std::string new_name = Files(kDescriptorFile).back();
  ASSERT_NE(old_name, new_name);
  WriteFile(Path(old_name), old_bytes);
  const std::string new_bytes = ReadFile(Path(new_name));
  WriteFile(Path(new_name), new_bytes.substr(0, 20));
  Open();
  EXPECT_EQ(Scan(), "a=1");
  EXPECT_THAT(Recovery(), HasSubstr("in force"));
  EXPECT_EQ(ReadFile(Path("lost/" + new_name)), new_bytes.substr(0, 20)) << "nothing is deleted";
  EXPECT_EQ(Lost().size(), 1u);
  ExpectSameWithoutTheOption("a=1");
}

TEST_F(BestEffortsTest, AnOlderManifestServesIfTheNewestHasTablesNoMore) {
  Open();
  Table("a", "1");
  Table("a", "2");
  ASSERT_TRUE(Close().ok());
  std::map<std::string, std::string> kept;
  Keep(&kept);
  Open();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Reopen();
  ASSERT_TRUE(Close().ok());
  ASSERT_EQ(Files(kTableFile).size(), 1u);
  const std::string compacted = Files(kTableFile)[0];
  const std::string newest = Files(kDescriptorFile).back();
  Remove(compacted);
  for (const auto& [name, bytes] : kept) WriteFile(Path(name), bytes);
  Open();
  EXPECT_EQ(Scan(), "a=2");
  EXPECT_THAT(Recovery(), HasSubstr(compacted)) << "why the newest was passed over";
  EXPECT_THAT(Files(kDescriptorFile, Path("lost")), ::testing::Contains(newest));
  ExpectSameWithoutTheOption("a=2");
}

TEST_F(BestEffortsTest, WithoutAManifestTablesAreRefusedAndLeftAlone) {
  Open();
  Table("a", "1");
  ASSERT_TRUE(Close().ok());
  const std::vector<std::string> tables = Files(kTableFile);
  for (const std::string& name : Files(kDescriptorFile)) Remove(name);
  EXPECT_TRUE(TryOpen().IsCorruption());
  Remove("CURRENT");
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_THAT(s.ToString(), HasSubstr("RepairDB"));
  EXPECT_EQ(Files(kTableFile), tables);
}

TEST_F(BestEffortsTest, ReadersGoBackAndChangeNothing) {
  Open();
  Table("a", "1");
  Table("a", "2");
  ASSERT_TRUE(Close().ok());
  Remove(Files(kTableFile).back());
  std::vector<std::string> before;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &before, nullptr).ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(Scan(), "a=1");
  EXPECT_THAT(Recovery(), HasSubstr("families_set_back=default"));
  ASSERT_TRUE(Close().ok());
  std::vector<std::string> after;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &after, nullptr).ok());
  EXPECT_THAT(after, ::testing::UnorderedElementsAreArray(before));
}

// A transient error is no reason to give up the tables behind it.
TEST_F(BestEffortsTest, TablesThatCannotBeReadJustNowRefuseTheOpening) {
  Open();
  Table("a", "1");
  Table("a", "2");
  ASSERT_TRUE(Close().ok());
  const std::string last = Files(kTableFile).back();
  faults().Inject({.calls = Only(FaultCall::kOpenRead), .path_contains = last, .sticky = true});
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  faults().ClearFaults();
  Open();
  EXPECT_EQ(Scan(), "a=2");
}

// Every byte at which a MANIFEST may end, and every byte of it damaged.
TEST_F(BestEffortsTest, EveryEndOfAManifestGivesAMomentThatWas) {
  Open();
  std::set<std::string> moments{""};
  for (const char* const value : {"1", "2", "3"}) {
    Table("a", value);
    moments.insert(Scan());
  }
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(Close().ok());
  const std::string name = Files(kDescriptorFile).back();
  const std::string bytes = ReadFile(Path(name));
  std::map<std::string, std::string> files;
  std::vector<std::string> entries;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &entries, nullptr).ok());
  for (const std::string& entry : entries) files[entry] = ReadFile(Path(entry));
  const uint64_t step = StepUnderSanitizer();
  uint64_t opened = 0;
  for (size_t i = FirstUnderSanitizer(); i < 2 * bytes.size(); i += step) {
    std::string damaged = bytes.substr(0, i < bytes.size() ? i : bytes.size());
    if (i >= bytes.size()) damaged[i - bytes.size()] ^= 0x10;
    auto copy = std::make_shared<MemFileSystem>();
    ASSERT_TRUE(copy->CreateDir(kName, IOOptions(), nullptr).ok());
    Remount(copy);
    for (const auto& [entry, content] : files) {
      WriteFile(Path(entry), entry == name ? damaged : content);
    }
    const Status s = TryOpen();
    if (!s.ok()) {
      EXPECT_TRUE(s.IsCorruption()) << i << " " << s.ToString();
      continue;
    }
    opened++;
    EXPECT_TRUE(moments.contains(Scan())) << i << " " << Scan();
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_GT(opened, 100 / step);
}

using Content = std::map<std::string, std::string>;

std::string Shown(const Content& content) {
  std::string text;
  for (const auto& [key, value] : content) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text;
}

struct RandomCase {
  bool atomic;
  int seed;
};

class RandomLossTest : public BestEffortsTest, public ::testing::WithParamInterface<RandomCase> {
 protected:
  // The contents of both families after each write.
  std::vector<std::pair<std::string, std::string>> moments_{{"", ""}};
  Content first_;
  Content second_;

  void Write(std::mt19937* random) {
    const bool first = (*random)() % 2 == 0;
    const std::string key(1, static_cast<char>('a' + (*random)() % 6));
    const std::string family = first ? "default" : "other";
    Content* const content = first ? &first_ : &second_;
    if ((*random)() % 4 == 0) {
      Delete(key, family);
      content->erase(key);
    } else {
      const std::string value = std::to_string(moments_.size());
      Put(key, value, family);
      (*content)[key] = value;
    }
    moments_.emplace_back(Shown(first_), Shown(second_));
  }
  void Work(std::mt19937* random) {
    for (int i = 0; i < 40; i++) {
      Write(random);
      switch ((*random)() % 12) {
        case 0:
          ASSERT_TRUE(db()->Flush(FlushOptions(), {Handle("default"), Handle("other")}).ok());
          break;
        case 1:
          Flush((*random)() % 2 == 0 ? "default" : "other");
          break;
        case 2:
          ASSERT_TRUE(
              db()->CompactRange(CompactRangeOptions(), Handle("default"), nullptr, nullptr).ok());
          break;
        default:
          break;
      }
    }
  }
  void Lose(std::mt19937* random) {
    for (const std::string& name : Files(kTableFile)) {
      const std::string bytes = ReadFile(Path(name));
      switch ((*random)() % 8) {
        case 0:
          Remove(name);
          break;
        case 1:
          WriteFile(Path(name), bytes.substr(0, (*random)() % bytes.size()));
          break;
        default:
          break;
      }
    }
    const std::string manifest = Files(kDescriptorFile).back();
    const std::string bytes = ReadFile(Path(manifest));
    if ((*random)() % 4 == 0)
      WriteFile(Path(manifest), bytes.substr(0, (*random)() % bytes.size()));
    if ((*random)() % 4 == 0) Remove("CURRENT");
  }
};

TEST_P(RandomLossTest, EachFamilyIsAsItWasAtOneMoment) {
  std::mt19937 random(static_cast<uint32_t>(GetParam().seed));
  options_.create_missing_column_families = true;
  options_.atomic_flush = GetParam().atomic;
  std::map<std::string, std::string> kept;
  // An opening's MANIFEST describes the earlier state of each family by itself.
  for (int i = 0; i < (GetParam().atomic ? 1 : 3); i++) {
    Open({"default", "other"});
    Work(&random);
    Keep(&kept);
    ASSERT_TRUE(Close().ok());
  }
  if (random() % 2 == 0) {
    for (const auto& [name, bytes] : kept) {
      if (random() % 2 == 0 && !mem().FileExists(Path(name), IOOptions(), nullptr).ok()) {
        WriteFile(Path(name), bytes);
      }
    }
  }
  Lose(&random);
  const Status s = TryOpen({"default", "other"});
  // Nothing was there to go back to.
  if (s.IsCorruption()) GTEST_SKIP() << s.ToString();
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::string first = Scan();
  const std::string second = Scan(ReadOptions(), "other");
  const auto holds = [&](const auto& moment) { return moment.first == first; };
  const auto holds_second = [&](const auto& moment) { return moment.second == second; };
  EXPECT_TRUE(std::ranges::any_of(moments_, holds)) << first;
  EXPECT_TRUE(std::ranges::any_of(moments_, holds_second)) << second;
  if (GetParam().atomic) {
    EXPECT_TRUE(std::ranges::any_of(
        moments_, [&](const auto& moment) { return holds(moment) && holds_second(moment); }))
        << first << " | " << second << " " << Recovery();
  }
  ASSERT_TRUE(Close().ok());
  options_.best_efforts_recovery = false;
  Open({"default", "other"});
  EXPECT_EQ(Scan(), first);
  EXPECT_EQ(Scan(ReadOptions(), "other"), second);
  Put("new", "1");
}

std::vector<RandomCase> RandomCases() {
  std::vector<RandomCase> cases;
  for (int seed = 0; seed < 60; seed++) cases.push_back({seed % 3 == 0, seed});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Losses, RandomLossTest, ::testing::ValuesIn(RandomCases()),
                         [](const auto& param) {
                           return std::string(param.param.atomic ? "Atomic" : "Each") +
                                  std::to_string(param.param.seed);
                         });

}  // namespace
}  // namespace varve::testing
