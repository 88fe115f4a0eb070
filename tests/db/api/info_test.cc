// SPDX-License-Identifier: Apache-2.0

// Goal: the properties of a database are true. Method: a tree of known shape, every documented
// property asked for in every form, and the answers compared with what was put there.

#include <gmock/gmock.h>

#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "varve/cache.h"
#include "varve/convenience.h"
#include "varve/statistics.h"
#include "varve/table.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using P = DB::Properties;

class DbInfoTest : public Database {
 protected:
  DbInfoTest() {
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(8 << 20);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
};

// With a limit of open files, readers lie in a cache of the database, and not beside the files.
TEST_F(DbInfoTest, ReadersAreCountedIfOpenFilesAreLimited) {
  options_.max_open_files = 40;
  options_.enable_blob_files = true;  // Readers of blob files lie in that cache, too.
  Open({"default", "a"});
  MakeTable({"a", "b"});
  EXPECT_EQ(Get("a"), "of a");
  const uint64_t readers = Number(P::kEstimateTableReadersMem);
  EXPECT_GT(readers, 0u);
  std::map<std::string, std::string> memory;
  ASSERT_TRUE(db()->GetMapProperty(Handle("default"), "varve.memory", &memory));
  EXPECT_EQ(memory.at("table_readers"), std::to_string(readers));
  uint64_t other = 1;
  ASSERT_TRUE(db()->GetIntProperty(Handle("a"), P::kEstimateTableReadersMem, &other));
  EXPECT_EQ(other, 0u);
}

TEST_F(DbInfoTest, NumbersAreThoseOfTheTree) {
  Open({"default", "a"});
  MakeTable({"a", "b"});
  MakeTable({"c"});
  for (const char* key : {"d", "e", "f"}) Put(key, "memory");
  Delete("a");
  Put("k", "v", "a");
  const ManagedSnapshot snapshot(db());
  struct Case {
    const std::string& name;
    uint64_t value;
  };
  const Case kExact[] = {
      {P::kNumImmutableMemTable, 0},
      {P::kNumImmutableMemTableFlushed, 0},
      {P::kMemTableFlushPending, 0},
      {P::kNumEntriesActiveMemTable, 4},
      {P::kNumEntriesImmMemTables, 0},
      {P::kNumDeletesActiveMemTable, 1},
      {P::kNumDeletesImmMemTables, 0},
      {P::kNumRunningFlushes, 0},
      {P::kCompactionPending, 0},
      {P::kNumRunningCompactions, 0},
      {P::kBackgroundErrors, 0},
      {P::kActualDelayedWriteRate, 0},
      {P::kIsWriteStopped, 0},
      {P::kIsFileDeletionsEnabled, 1},
      {P::kEstimateNumKeys, 5},
      {P::kNumSnapshots, 1},
      {P::kOldestSnapshotSequence, db()->GetLatestSequenceNumber()},
      {P::kBlockCacheCapacity, 8 << 20},
      {P::kNumBlobFiles, 0},
      {P::kTotalBlobFileSize, 0},
      {P::kLiveBlobFileSize, 0},
      {P::kLiveBlobFileGarbageSize, 0},
      {P::kNumRunningCompactionSortedRuns, 0},
      {P::kObsoleteSstFilesSize, 0},
      {P::kMinObsoleteSstNumberToKeep, UINT64_MAX},
      {P::kNumLiveVersions, 1},
  };
  for (const Case& c : kExact) {
    EXPECT_EQ(Number(c.name), c.value) << c.name;
    EXPECT_EQ(Text(c.name), std::to_string(c.value)) << c.name;
  }
  for (const std::string* name :
       {&P::kCurSizeActiveMemTable, &P::kCurSizeAllMemTables, &P::kSizeAllMemTables,
        &P::kTotalSstFilesSize, &P::kLiveSstFilesSize, &P::kEstimateLiveDataSize,
        &P::kOldestSnapshotTime, &P::kCurrentSuperVersionNumber, &P::kMinLogNumberToKeep}) {
    EXPECT_GT(Number(*name), 0u) << *name;
  }
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_EQ(Get("b"), "of b");
  EXPECT_GT(Number(P::kBlockCacheUsage), 0u);
  EXPECT_GT(Number(P::kEstimateTableReadersMem), 0u);
  EXPECT_LE(Number(P::kBlockCachePinnedUsage), Number(P::kBlockCacheUsage));
  uint64_t sum = 0;
  ASSERT_TRUE(db()->GetAggregatedIntProperty(P::kEstimateNumKeys, &sum));
  EXPECT_EQ(sum, 6u);
  EXPECT_FALSE(db()->GetAggregatedIntProperty(P::kStats, &sum));
  EXPECT_EQ(Text(P::kNumFilesAtLevelPrefix + "0"), "2");
  EXPECT_EQ(Text(P::kNumFilesAtLevelPrefix + "6"), "0");
}

TEST_F(DbInfoTest, TablesCountFromTheirMakingToTheirDeletion) {
  Open();
  MakeTable({"a", "b"});
  const uint64_t before = Number(P::kLiveSstFilesSize);
  EXPECT_EQ(Number(P::kTotalSstFilesSize), before);
  std::unique_ptr<Iterator> reader(db()->NewIterator(ReadOptions()));
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  CompactRangeOptions anew;
  anew.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(anew, nullptr, nullptr).ok());
  MakeTable({"c"});
  const uint64_t live = Number(P::kLiveSstFilesSize);
  EXPECT_EQ(Number(P::kTotalSstFilesSize), live + before) << "the iterator may read the old table";
  EXPECT_EQ(Number(P::kNumLiveVersions), 2u);
  EXPECT_EQ(Number(P::kObsoleteSstFilesSize), 0u);
  reader.reset();
  EXPECT_EQ(Number(P::kTotalSstFilesSize), live);
  EXPECT_EQ(Number(P::kNumLiveVersions), 1u);
  EXPECT_EQ(Number(P::kObsoleteSstFilesSize), before) << "its deletion waits";
  ASSERT_TRUE(db()->EnableFileDeletions().ok());
  EXPECT_EQ(Number(P::kObsoleteSstFilesSize), 0u);
}

TEST_F(DbInfoTest, LiveDataIsWhatNothingLiesBeneath) {
  Open();
  MakeTable({"b", "c"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  const uint64_t last = Number(P::kLiveSstFilesSize);
  EXPECT_EQ(Number(P::kEstimateLiveDataSize), last);
  MakeTable({"d", "e"});
  const uint64_t both = Number(P::kLiveSstFilesSize);
  EXPECT_EQ(Number(P::kEstimateLiveDataSize), both) << "beside it";
  MakeTable({"a", "b"});
  MakeTable({"c", "d"});
  MakeTable({"a", "z"});
  EXPECT_EQ(Number(P::kEstimateLiveDataSize), both) << "over it";
}

// Outputs that a range tombstone crosses end with the key with which the next one begins.
TEST_F(DbInfoTest, FilesThatARangeTombstoneCrossesAreAllLive) {
  options_.target_file_size_base = 64 << 10;
  options_.compression = kNoCompression;
  Open();
  for (int i = 100; i < 500; i++) Put("k" + std::to_string(i), std::string(2000, 'v'));
  const Snapshot* const before = db()->GetSnapshot();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "k", "l").ok());
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(rewrite, nullptr, nullptr).ok());
  const std::string levels = Levels();
  EXPECT_GE(std::stoi(levels.substr(levels.rfind(',') + 1)), 4) << levels;
  EXPECT_EQ(Number(P::kEstimateLiveDataSize), Number(P::kLiveSstFilesSize));
  db()->ReleaseSnapshot(before);
}

TEST_F(DbInfoTest, SumsCountNothingTwice) {
  Open({"default", "a"});
  MakeTable({"a", "b"});
  MakeTable({"c"}, "a");
  const ManagedSnapshot snapshot(db());
  const auto sum = [this](const std::string& name) {
    uint64_t value = 0;
    EXPECT_TRUE(db()->GetAggregatedIntProperty(name, &value)) << name;
    return value;
  };
  EXPECT_EQ(sum(P::kNumLiveVersions), 2u);
  uint64_t of_a = 0;
  ASSERT_TRUE(db()->GetIntProperty(Handle("a"), P::kTotalSstFilesSize, &of_a));
  EXPECT_EQ(sum(P::kTotalSstFilesSize), Number(P::kTotalSstFilesSize) + of_a);
  EXPECT_EQ(sum(P::kNumSnapshots), 1u) << "of the database, once";
  EXPECT_EQ(sum(P::kBlockCacheCapacity), uint64_t{8} << 20) << "one that both families have";
  EXPECT_EQ(sum(P::kBlockCacheUsage), Number(P::kBlockCacheUsage));
  EXPECT_EQ(sum(P::kBlockCachePinnedUsage), Number(P::kBlockCachePinnedUsage));
  for (const std::string* name : {&P::kBaseLevel, &P::kCurrentSuperVersionNumber}) {
    EXPECT_EQ(sum(*name), Number(*name) + Number(*name, "a")) << *name;
  }
}

TEST_F(DbInfoTest, AClosedDatabaseLeavesNothingOfWhatWasThere) {
  Open();
  MakeTable({"a"});
  ColumnFamilyHandle* const family = db()->DefaultColumnFamily();
  ColumnFamilyMetaData metadata;
  db()->GetColumnFamilyMetaData(family, &metadata);
  EXPECT_EQ(metadata.file_count, 1u);
  db()->Close().PermitUncheckedError();
  db()->GetColumnFamilyMetaData(family, &metadata);
  EXPECT_EQ(metadata.file_count, 0u);
  EXPECT_TRUE(metadata.levels.empty());
}

TEST_F(DbInfoTest, LevelsAndTemperaturesAreAskedByTheirNumbers) {
  options_.compression = kNoCompression;
  Open();
  EXPECT_EQ(std::stod(Text(P::kCompressionRatioAtLevelPrefix + "0")), -1.0) << "nothing tells";
  Put("k", std::string(10000, 'v'));
  Flush();
  const double ratio = std::stod(Text(P::kCompressionRatioAtLevelPrefix + "0"));
  EXPECT_GT(ratio, 0.8);
  EXPECT_LT(ratio, 1.0) << "a table has more than keys and values";
  EXPECT_EQ(std::stod(Text(P::kCompressionRatioAtLevelPrefix + "6")), -1.0);
  const std::string all = Text(P::kLiveSstFilesSize);
  EXPECT_EQ(Text(P::kLiveSstFilesSizeAtTemperature + "0"), all);
  EXPECT_EQ(Text(P::kLiveSstFilesSizeAtTemperature + "4"), "0");
}

TEST_F(DbInfoTest, TextsNameWhatTheyAreAbout) {
  Open({"default", "a"});
  MakeTable({"a"}, "a");
  struct Case {
    const std::string& name;
    const char* part;
  };
  for (const Case& c : {
           Case{P::kStats, "Compaction Stats [a]"},
           Case{P::kStats, "Last sequence"},
           Case{P::kCFStats, "[a]"},
           Case{P::kCFFileHistogram, "File Read Latency Histogram By Level [a]"},
           Case{P::kCFStatsNoFileHistogram, "Flushes: 1"},
           Case{P::kDBStats, "Uptime"},
           Case{P::kBlobStats, "Number of blob files: 0"},
           Case{P::kLevelStats, "Level Files"},
           Case{P::kSSTables, ""},
           Case{P::kOptionsStatistics, "rocksdb.number.keys.written"},
           Case{P::kDBWriteStallStats, ""},
           Case{P::kCFWriteStallStats, ""},
           Case{"varve.recovery", "logs_read="},
           Case{"varve.memory", "memtables="},
           Case{"varve.background", "gives-way"},
           Case{"varve.write-stall-reason", ""},
           Case{"varve.background-error", "OK"},
       }) {
    EXPECT_THAT(Text(c.name, "a"), HasSubstr(c.part)) << c.name;
  }
  std::map<std::string, std::string> map;
  ASSERT_TRUE(db()->GetMapProperty(Handle("a"), P::kCFStats, &map));
  EXPECT_EQ(map["compaction.L0.NumFiles"], "1.000000");
  ASSERT_TRUE(db()->GetMapProperty(P::kDBStats, &map));
  EXPECT_EQ(map["db.user_keys_written"], "1");
  EXPECT_GT(std::stod(map["db.uptime"]), 0);
  EXPECT_FALSE(db()->GetMapProperty(P::kLevelStats, &map));
}

TEST_F(DbInfoTest, TablesPropertiesAreSummedOverAllOrALevel) {
  Open({"default", "a"});
  MakeTable({"a", "b"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  MakeTable({"c"});
  Delete("b");
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "x", "z").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  MakeTable({"other"}, "a");
  for (const bool reopened : {false, true}) {
    SCOPED_TRACE(reopened);
    if (reopened) Reopen();
    TablePropertiesCollection all;
    ASSERT_TRUE(db()->GetPropertiesOfAllTables(&all).ok());
    ASSERT_EQ(all.size(), 3u);
    TableProperties sum;
    for (const auto& [name, properties] : all) sum.Add(*properties);
    EXPECT_EQ(sum.num_entries, 5u);
    EXPECT_EQ(sum.num_deletions, 2u);
    EXPECT_EQ(sum.num_range_deletions, 1u);
    std::map<std::string, std::string> expected;
    for (const auto& [field, n] : sum.GetAggregatablePropertiesAsMap()) {
      expected[field] = std::to_string(n);
    }
    std::map<std::string, std::string> map = {{"untouched", "?"}};
    ASSERT_TRUE(db()->GetMapProperty(P::kAggregatedTableProperties, &map));
    EXPECT_EQ(map, expected);
    EXPECT_EQ(Text(P::kAggregatedTableProperties), sum.ToString());
    EXPECT_THAT(Text(P::kAggregatedTableProperties), HasSubstr("# entries=5"));
    const auto at_level = [&](const char* level) {
      std::map<std::string, std::string> of_level;
      EXPECT_TRUE(db()->GetMapProperty(P::kAggregatedTablePropertiesAtLevel + level, &of_level));
      return of_level["num_entries"] + " " + of_level["num_range_deletions"];
    };
    EXPECT_EQ(at_level("0"), "3 1");
    EXPECT_EQ(at_level("3"), "0 0");
    EXPECT_EQ(at_level("6"), "2 0");
    EXPECT_THAT(Text(P::kAggregatedTablePropertiesAtLevel + "0"), HasSubstr("# deletions=2"));
    EXPECT_THAT(Text(P::kAggregatedTableProperties, "a"), HasSubstr("# entries=1"));
    std::string text;
    uint64_t number = 0;
    for (const char* level : {"", "7", "x", "-1"}) {
      EXPECT_FALSE(db()->GetProperty(P::kAggregatedTablePropertiesAtLevel + level, &text)) << level;
      EXPECT_FALSE(db()->GetMapProperty(P::kAggregatedTablePropertiesAtLevel + level, &map));
    }
    EXPECT_FALSE(db()->GetProperty(P::kAggregatedTableProperties + "1", &text));
    EXPECT_FALSE(db()->GetIntProperty(P::kAggregatedTableProperties, &number)) << "no number";
  }
  ASSERT_TRUE(db()->Close().ok());
  std::string text;
  EXPECT_FALSE(db()->GetProperty(P::kAggregatedTableProperties, &text)) << "files are closed";
}

TEST_F(DbInfoTest, UnknownNamesHaveNoAnswer) {
  Open();
  std::string text = "untouched";
  uint64_t number = 77;
  std::map<std::string, std::string> map;
  for (const std::string& name :
       {std::string(""), std::string("rocksdb"), std::string("rocksdb.no-such-property"),
        P::kNumFilesAtLevelPrefix, P::kNumFilesAtLevelPrefix + "7",
        P::kNumFilesAtLevelPrefix + "99999999999999999999", P::kNumFilesAtLevelPrefix + "x",
        P::kCompressionRatioAtLevelPrefix, P::kCompressionRatioAtLevelPrefix + "7",
        P::kLiveSstFilesSizeAtTemperature + "17", P::kBlobCacheUsage, P::kStats + "1"}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(db()->GetProperty(name, &text));
    EXPECT_FALSE(db()->GetIntProperty(name, &number));
    EXPECT_FALSE(db()->GetAggregatedIntProperty(name, &number));
    EXPECT_FALSE(db()->GetMapProperty(name, &map));
  }
  EXPECT_EQ(text, "untouched");
  EXPECT_EQ(number, 77u);
  EXPECT_FALSE(db()->GetProperty(P::kStats, nullptr));
  EXPECT_FALSE(db()->GetIntProperty(P::kStats, &number)) << "not a number";
}

// Work in one family is not reported for another, nor for all.
TEST_F(DbInfoTest, WorkIsThatOfItsFamily) {
  Open({"default", "a", "idle"});
  for (const char* key : {"k", "l"}) MakeTable({"a", key, "z"}, "a");
  MakeTable({"b"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("a"), nullptr, nullptr).ok());
  const auto figure = [this](const std::string& family, const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db()->GetMapProperty(Handle(family), P::kCFStats, &map));
    return map.contains(name) ? std::stod(map[name]) : -1;
  };
  EXPECT_EQ(figure("a", "compaction.L0.CompCount"), 2);
  EXPECT_EQ(figure("a", "compaction.L0.WriteAmp"), 1);
  EXPECT_EQ(figure("a", "compaction.Sum.CompCount"), 3);
  EXPECT_EQ(figure("a", "compaction.Sum.NumFiles"), 1);
  EXPECT_EQ(figure("a", "compaction.Sum.KeyIn"), 6);
  EXPECT_EQ(figure("a", "compaction.Sum.KeyDrop"), 2);
  EXPECT_GT(figure("a", "compaction.Sum.WriteAmp"), 1);
  EXPECT_GT(figure("a", "compaction.Sum.CompSec"), 0);
  EXPECT_EQ(figure("a", "compaction.Sum.Rnp1GB"), 0);
  EXPECT_EQ(figure("a", "io_stalls.total_stop"), 0);
  EXPECT_EQ(figure("default", "compaction.Sum.CompCount"), 1);
  EXPECT_EQ(figure("default", "compaction.Sum.KeyIn"), 0);
  EXPECT_EQ(figure("idle", "compaction.Sum.CompCount"), 0);
  EXPECT_EQ(figure("idle", "compaction.L0.CompCount"), -1) << "a level without tables and work";
  EXPECT_THAT(Text(P::kStats, "idle"), HasSubstr("Flushes: 0, 0.0 MB"));
  EXPECT_THAT(Text(P::kCFStats, "a"), HasSubstr("Flushes: 2, "));
  EXPECT_THAT(Text(P::kCFFileHistogram, "a"), HasSubstr("** Level 0 read latency histogram"));
  EXPECT_THAT(Text(P::kCFFileHistogram, "idle"), Not(HasSubstr("** Level")));
  EXPECT_THAT(Text(P::kCFStats, "a"), HasSubstr("** Level 0 read latency"));
  EXPECT_THAT(Text(P::kCFStatsNoFileHistogram, "a"), Not(HasSubstr("read latency")));
}

// Programs find figures of the table by the number of their column.
TEST_F(DbInfoTest, TheTableOfLevelsHasRocksDbsColumns) {
  Open();
  MakeTable({"a"});
  std::istringstream text(Text(P::kCFStatsNoFileHistogram));
  int rows = 0;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("  L0") && !line.starts_with(" Sum") && !line.starts_with(" Int"))
      continue;
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    ASSERT_EQ(fields.size(), 22u) << line;
    EXPECT_EQ(fields[16], "1") << line << ": number of flushes";
    rows++;
  }
  EXPECT_EQ(rows, 3);
  EXPECT_THAT(Text(P::kCFStats), HasSubstr(" Int       0/0    0.00 KB"));
  EXPECT_THAT(Text(P::kCFStats), HasSubstr("Flush(GB): cumulative 0.000, interval 0.000"));
}

TEST_F(DbInfoTest, ResetStatsZeroesTheCounts) {
  Open();
  MakeTable({"a"});
  EXPECT_THAT(Text(P::kCFStats), HasSubstr("Flushes: 1"));
  ASSERT_TRUE(db()->ResetStats().ok());
  EXPECT_THAT(Text(P::kCFStats), HasSubstr("Flushes: 0"));
  EXPECT_EQ(Levels(), "1");
}

TEST_F(DbInfoTest, SizesComeFromWhatIsAskedFor) {
  Open();
  for (int i = 0; i < 1000; i++) Put("k" + std::to_string(1000 + i), std::string(100, 'v'));
  Flush();
  for (int i = 0; i < 100; i++) Put("m" + std::to_string(1000 + i), std::string(100, 'v'));
  const Range ranges[] = {Range("k1000", "k1500"), Range("k1500", "k2000"), Range("k", "n"),
                          Range("m", "n"),         Range("x", "z"),         Range("z", "a")};
  constexpr int kRanges = 6;
  uint64_t files[kRanges];
  uint64_t memory[kRanges];
  uint64_t both[kRanges];
  using Flags = DB::SizeApproximationFlags;
  ASSERT_TRUE(db()->GetApproximateSizes(ranges, kRanges, files).ok());
  ASSERT_TRUE(db()->GetApproximateSizes(ranges, kRanges, memory, Flags::INCLUDE_MEMTABLES).ok());
  ASSERT_TRUE(db()->GetApproximateSizes(ranges, kRanges, both,
                                        Flags::INCLUDE_FILES | Flags::INCLUDE_MEMTABLES)
                  .ok());
  EXPECT_NEAR(static_cast<double>(files[0]), 50e3, 20e3);
  EXPECT_NEAR(static_cast<double>(files[1]), 50e3, 20e3);
  EXPECT_EQ(files[3], 0u);
  EXPECT_GT(memory[3], 100 * 100u / 2);
  for (int i : {4, 5}) EXPECT_EQ(both[i], 0u) << i;
  EXPECT_GE(both[2], files[2]);
  EXPECT_FALSE(db()->GetApproximateSizes(ranges, kRanges, both, Flags::NONE).ok());
  uint64_t count = 0;
  uint64_t size = 0;
  db()->GetApproximateMemTableStats(ranges[3], &count, &size);
  EXPECT_NEAR(static_cast<double>(count), 100, 60);
  EXPECT_GT(size, 0u);
  db()->GetApproximateMemTableStats(ranges[5], &count, &size);
  EXPECT_EQ(count, 0u);
}

TEST_F(DbInfoTest, MetadataListsEveryTable) {
  Open({"default", "a"});
  MakeTable({"b", "c"});
  Delete("a");
  Flush();
  MakeTable({"x"}, "a");
  std::vector<LiveFileMetaData> live;
  db()->GetLiveFilesMetaData(&live);
  ASSERT_EQ(live.size(), 3u);
  std::set<std::string> names;
  for (const LiveFileMetaData& file : live) {
    uint64_t bytes = 0;
    ASSERT_TRUE(mem().GetFileSize(kName + file.name, IOOptions(), &bytes, nullptr).ok());
    EXPECT_EQ(file.size, bytes);
    EXPECT_EQ(file.level, 0);
    EXPECT_EQ(file.directory, kName);
    EXPECT_EQ(file.name, "/" + file.relative_filename);
    EXPECT_FALSE(file.being_compacted);
    EXPECT_LE(file.smallest_seqno, file.largest_seqno);
    names.insert(file.column_family_name + ":" + file.smallestkey + "-" + file.largestkey + ":" +
                 std::to_string(file.num_entries) + "," + std::to_string(file.num_deletions));
  }
  EXPECT_THAT(names, ElementsAre("a:x-x:1,0", "default:a-a:1,1", "default:b-c:2,0"));
  ColumnFamilyMetaData family;
  db()->GetColumnFamilyMetaData(&family);
  EXPECT_EQ(family.name, "default");
  EXPECT_EQ(family.file_count, 2u);
  EXPECT_EQ(family.levels.size(), 7u);
  EXPECT_EQ(family.size, Number(P::kTotalSstFilesSize));
  std::vector<ColumnFamilyMetaData> all;
  db()->GetAllColumnFamilyMetaData(&all);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, "a");
  Reopen();
  db()->GetLiveFilesMetaData(&live);
  ASSERT_EQ(live.size(), 3u);
  for (const LiveFileMetaData& file : live) EXPECT_GT(file.num_entries, 0u) << "after reopening";
}

TEST_F(DbInfoTest, LiveFilesAreWhatACopyNeeds) {
  Open();
  MakeTable({"a"});
  Put("b", "in memory");
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db()->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/true).ok());
  EXPECT_EQ(Levels(), "2");
  EXPECT_THAT(files, ::testing::Contains("/CURRENT"));
  EXPECT_EQ(files.size(), 5u) << "two tables, CURRENT, MANIFEST, OPTIONS";
  std::shared_ptr<MemFileSystem> copy = std::make_shared<MemFileSystem>();
  ASSERT_TRUE(copy->CreateDir("/copy", IOOptions(), nullptr).ok());
  const std::unique_ptr<Env> env = NewCompositeEnv(copy);
  for (const std::string& name : files) {
    std::string bytes = ReadFile(kName + name);
    if (name.find("MANIFEST") != std::string::npos) bytes.resize(manifest_bytes);
    ASSERT_TRUE(WriteStringToFile(env.get(), bytes, "/copy" + name, true).ok());
  }
  Options options = options_;
  options.env = env.get();
  std::unique_ptr<DB> db2;
  ASSERT_TRUE(DB::Open(options, "/copy", &db2).ok());
  std::string value;
  EXPECT_TRUE(db2->Get(ReadOptions(), "b", &value).ok());

  VectorLogPtr logs;
  ASSERT_TRUE(db()->GetSortedWalFiles(logs).ok());
  ASSERT_EQ(logs.size(), 1u);
  Put("c", "logged");
  ASSERT_TRUE(db()->GetSortedWalFiles(logs).ok());
  EXPECT_EQ(logs[0]->StartSequence(), db()->GetLatestSequenceNumber());
  EXPECT_GT(logs[0]->SizeFileBytes(), 0u);
  EXPECT_TRUE(mem().FileExists(kName + logs[0]->PathName(), IOOptions(), nullptr).ok());
}

TEST_F(DbInfoTest, TablePropertiesAndChecksumsAreRead) {
  Open({"default", "a"});
  MakeTable({"a", "b"});
  MakeTable({"x"});
  TablePropertiesCollection properties;
  ASSERT_TRUE(db()->GetPropertiesOfAllTables(&properties).ok());
  ASSERT_EQ(properties.size(), 2u);
  uint64_t entries = 0;
  for (const auto& [path, table] : properties) {
    EXPECT_EQ(path.find(kName), 0u);
    EXPECT_EQ(table->column_family_name, "default");
    entries += table->num_entries;
  }
  EXPECT_EQ(entries, 3u);
  properties.clear();
  const Range range("w", "z");
  ASSERT_TRUE(
      db()->GetPropertiesOfTablesInRange(db()->DefaultColumnFamily(), &range, 1, &properties).ok());
  EXPECT_EQ(properties.size(), 1u);
  properties.clear();
  ASSERT_TRUE(db()->GetPropertiesOfAllTables(Handle("a"), &properties).ok());
  EXPECT_TRUE(properties.empty());

  EXPECT_TRUE(db()->VerifyChecksum().ok());
  const std::string path = std::string(kName) + "/" + Files(kTableFile)[0];
  EXPECT_TRUE(VerifySstFileChecksum(options_, EnvOptions(), path).ok());
  EXPECT_TRUE(VerifySstFileChecksum(options_, EnvOptions(), ReadOptions(), path).ok());
  std::string bytes = ReadFile(path);
  bytes[3] = static_cast<char>(bytes[3] ^ 0x10);
  WriteFile(path, bytes);
  const Status s = VerifySstFileChecksum(options_, EnvOptions(), path);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(path));
  EXPECT_TRUE(db()->VerifyChecksum().IsCorruption());
  EXPECT_FALSE(VerifySstFileChecksum(options_, EnvOptions(), "/nowhere/000001.sst").ok());
}

TEST_F(DbInfoTest, StatisticsCountWhatUsersDo) {
  Open();
  Statistics& counts = *options_.statistics;
  const auto count = [&](uint32_t ticker) { return counts.getAndResetTickerCount(ticker); };
  Put("k", "12345");
  Put("l", "12345");
  EXPECT_EQ(count(NUMBER_KEYS_WRITTEN), 2u);
  EXPECT_GT(count(BYTES_WRITTEN), 12u);
  EXPECT_EQ(Get("k"), "12345");
  EXPECT_EQ(Get("absent"), "NOT_FOUND");
  EXPECT_EQ(count(NUMBER_KEYS_READ), 2u);
  EXPECT_EQ(count(BYTES_READ), 5u);
  EXPECT_EQ(count(MEMTABLE_HIT), 1u);
  Flush();
  EXPECT_EQ(Get("k"), "12345");
  EXPECT_EQ(count(GET_HIT_L0), 1u);
  EXPECT_EQ(Scan(), "k=12345 l=12345");
  EXPECT_EQ(count(NUMBER_DB_SEEK), 1u);
  EXPECT_EQ(count(NUMBER_DB_NEXT), 2u);
  EXPECT_EQ(count(NUMBER_DB_NEXT_FOUND), 1u);
  EXPECT_EQ(count(NO_ITERATOR_CREATED), count(NO_ITERATOR_DELETED));
  std::vector<std::string> values;
  db()->MultiGet(ReadOptions(), {"k", "l", "m"}, &values);
  EXPECT_EQ(count(NUMBER_MULTIGET_CALLS), 1u);
  EXPECT_EQ(count(NUMBER_MULTIGET_KEYS_READ), 3u);
  EXPECT_EQ(count(NUMBER_MULTIGET_BYTES_READ), 10u);
  HistogramData data;
  counts.histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 3u);
  counts.histogramData(DB_WRITE, &data);
  EXPECT_EQ(data.count, 2u);
  ASSERT_TRUE(db()->SyncWAL().ok());
  ASSERT_TRUE(counts.Reset().ok());
  EXPECT_EQ(count(BLOCK_CACHE_DATA_HIT), 0u);
}

TEST_F(DbInfoTest, StatisticsCountWhatEachWayOfWritingDoes) {
  for (const bool unordered : {false, true}) {
    options_.statistics = CreateDBStatistics();
    options_.unordered_write = unordered;
    options_.disable_auto_compactions = true;
    Open();
    Statistics& counts = *options_.statistics;
    ASSERT_TRUE(counts.Reset().ok());
    const auto count = [&](uint32_t ticker) { return counts.getAndResetTickerCount(ticker); };
    WriteBatch batch;
    ASSERT_TRUE(batch.Put("k", "12345").ok());
    ASSERT_TRUE(batch.Delete("l").ok());
    WriteOptions how;
    ASSERT_TRUE(db()->Write(how, &batch).ok());
    EXPECT_EQ(count(WRITE_DONE_BY_SELF), 1u);
    EXPECT_EQ(count(WRITE_WITH_WAL), 1u);
    EXPECT_EQ(count(WAL_FILE_BYTES), batch.GetDataSize());
    EXPECT_EQ(count(NUMBER_KEYS_WRITTEN), 2u);
    EXPECT_EQ(count(BYTES_WRITTEN), batch.GetDataSize());
    EXPECT_EQ(count(WAL_FILE_SYNCED), 0u);
    how.sync = true;
    ASSERT_TRUE(db()->Write(how, &batch).ok());
    EXPECT_EQ(count(WAL_FILE_SYNCED), 1u);
    ASSERT_TRUE(db()->SyncWAL().ok());
    EXPECT_EQ(count(WAL_FILE_SYNCED), 1u);
    ASSERT_TRUE(counts.Reset().ok());
    how.sync = false;
    how.disableWAL = true;
    ASSERT_TRUE(db()->Write(how, &batch).ok());
    EXPECT_EQ(count(WRITE_DONE_BY_SELF), 1u);
    EXPECT_EQ(count(WRITE_WITH_WAL), 0u);
    EXPECT_EQ(count(WAL_FILE_BYTES), 0u);
    EXPECT_EQ(count(BYTES_WRITTEN), batch.GetDataSize());
    how.sync = true;
    EXPECT_TRUE(db()->Write(how, &batch).IsInvalidArgument());
    EXPECT_EQ(count(WRITE_DONE_BY_SELF), 0u) << "refused";
    EXPECT_EQ(count(WRITE_DONE_BY_OTHER), 0u);
    EXPECT_EQ(count(STALL_MICROS), 0u);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(DbInfoTest, StatisticsCountWhatFlushesAndCompactionsReadAndWrite) {
  options_.disable_auto_compactions = true;
  Open();
  Statistics& counts = *options_.statistics;
  uint64_t flushed = 0;
  for (const char* last : {"y", "z"}) {
    MakeTable({"a", last});
    const uint64_t all = Number("rocksdb.total-sst-files-size");
    EXPECT_EQ(counts.getTickerCount(FLUSH_WRITE_BYTES), all);
    flushed = all;
  }
  EXPECT_EQ(counts.getTickerCount(COMPACT_READ_BYTES), 0u);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(counts.getTickerCount(COMPACT_READ_BYTES), flushed);
  EXPECT_EQ(counts.getTickerCount(COMPACT_WRITE_BYTES), Number("rocksdb.total-sst-files-size"));
  EXPECT_EQ(counts.getTickerCount(FLUSH_WRITE_BYTES), flushed);
  EXPECT_EQ(counts.getTickerCount(COMPACTION_KEY_DROP_NEWER_ENTRY), 1u);
  HistogramData data;
  counts.histogramData(FLUSH_TIME, &data);
  EXPECT_EQ(data.count, 2u);
  counts.histogramData(COMPACTION_TIME, &data);
  EXPECT_EQ(data.count, 1u);
}

}  // namespace
}  // namespace varve::testing
