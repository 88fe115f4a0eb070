// SPDX-License-Identifier: Apache-2.0

// Goal: files that are ingested behind all data show where the database has nothing, and never
// where it has, or has deleted, anything, whatever compactions do before and after; and no
// compaction takes the level that is kept for them. Method: stories with each kind of hiding entry,
// and random histories compared with a map.

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/sst_file_writer.h"

#include "tests/db/ingest/ingest_fixture.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class IngestBehindTest : public IngestTest {
 protected:
  IngestBehindTest() { options_.cf_allow_ingest_behind = true; }

  Status IngestBehind(const std::vector<std::string>& files) {
    IngestExternalFileOptions options;
    options.ingest_behind = true;
    return Ingest(files, options);
  }
  void CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  }
};

TEST_F(IngestBehindTest, GoesBeneathAllData) {
  Open();
  Put("a", "new");
  Put("c", "new");
  Delete("d");
  Flush();
  CompactAll();
  EXPECT_EQ(Levels(), "0,1");
  Put("e", "in memory");
  const Snapshot* const snapshot = db()->GetSnapshot();
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  const std::string file = Make(ExternalFile()
                                    .Put("a", "old")
                                    .Put("b", "old")
                                    .Put("d", "old")
                                    .Put("e", "old")
                                    .Put("f", "old"));
  ASSERT_EQ(IngestBehind({file}).ToString(), "OK");
  db()->ReleaseSnapshot(snapshot);
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before);
  EXPECT_EQ(Levels(), "0,1,0,0,0,0,1");
  const std::string all = "a=new b=old c=new e=in memory f=old";
  EXPECT_EQ(Scan(), all);
  EXPECT_EQ(Get("d"), "NOT_FOUND");
  Flush();
  CompactAll();
  EXPECT_EQ(Scan(), all);
  Reopen();
  EXPECT_EQ(Scan(), all);
  EXPECT_EQ(Get("d"), "NOT_FOUND");
  // A second file that does not overlap the first.
  ASSERT_EQ(IngestBehind({Make(ExternalFile().Put("x", "old"))}).ToString(), "OK");
  EXPECT_EQ(Get("x"), "old");
}

// A deletion that was compacted as far as it goes still hides what comes later.
TEST_F(IngestBehindTest, DeletionsOfEveryKindOutliveCompactions) {
  options_.level_compaction_dynamic_level_bytes = true;
  options_.disable_auto_compactions = false;
  Open();
  for (const char* key : {"deleted", "single", "r1", "r2"}) Put(key, "v");
  Flush();
  Delete("deleted");
  ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "single").ok());
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "r1", "r9").ok());
  Flush();
  CompactAll();
  CompactAll();
  EXPECT_EQ(Scan(), "");
  const std::string file = Make(ExternalFile()
                                    .Put("deleted", "old")
                                    .Put("other", "old")
                                    .Put("r1", "old")
                                    .Put("r5", "old")
                                    .Put("single", "old"));
  ASSERT_EQ(IngestBehind({file}).ToString(), "OK");
  // A single deletion and its value are both gone.
  EXPECT_EQ(Get("single"), "old");
  EXPECT_EQ(Get("deleted"), "NOT_FOUND");
  EXPECT_EQ(Get("r1"), "NOT_FOUND");
  EXPECT_EQ(Get("r5"), "NOT_FOUND");
  EXPECT_EQ(Get("other"), "old");
  CompactAll();
  EXPECT_EQ(Get("deleted"), "NOT_FOUND");
  EXPECT_EQ(Get("r5"), "NOT_FOUND");
}

TEST_F(IngestBehindTest, RefusesWhatItCannotPromise) {
  Open();
  const std::string ab = Make(ExternalFile().Put("a", "1").Put("b", "1"));
  const std::string b = Make(ExternalFile().Put("b", "2"));
  EXPECT_TRUE(IngestBehind({ab, b}).IsNotSupported());
  ASSERT_EQ(IngestBehind({ab}).ToString(), "OK");
  const Status overlaps = IngestBehind({b});
  EXPECT_TRUE(overlaps.IsInvalidArgument());
  EXPECT_THAT(overlaps.ToString(), HasSubstr("last level"));
  EXPECT_EQ(Scan(), "a=1 b=1");
  // Other ingestions stay above, with numbers of their own.
  ASSERT_EQ(Ingest({b}).ToString(), "OK");
  EXPECT_EQ(Places(), "L5:1 L6:0");
  EXPECT_EQ(Scan(), "a=1 b=2");
  // No other way leads into the level.
  std::vector<LiveFileMetaData> live;
  db()->GetLiveFilesMetaData(&live);
  std::vector<std::string> names;
  for (const LiveFileMetaData& file : live) {
    if (file.level == 5) names.push_back(file.name);
  }
  EXPECT_TRUE(db()->CompactFiles(CompactionOptions(), names, 6).IsInvalidArgument());
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 6;
  EXPECT_TRUE(db()->CompactRange(move, nullptr, nullptr).IsInvalidArgument());
  IngestExternalFileOptions options;
  options.ingest_behind = options.allow_db_generated_files = true;
  EXPECT_TRUE(Ingest({Make(ExternalFile().Put("x", "1"))}, options).IsInvalidArgument());
}

TEST_F(IngestBehindTest, EntriesOfBeforeMayHaveNoNumbers) {
  options_.cf_allow_ingest_behind = false;
  Open();
  const std::string file = Make(ExternalFile().Put("a", "1"));
  EXPECT_THAT(IngestBehind({file}).ToString(), HasSubstr("cf_allow_ingest_behind"));
  ASSERT_EQ(Ingest({Make(ExternalFile().Put("m", "1"))}).ToString(), "OK");
  CompactRangeOptions up;
  up.change_level = true;
  up.target_level = 3;
  ASSERT_TRUE(db()->CompactRange(up, nullptr, nullptr).ok());
  ASSERT_EQ(Places(), "L3:0");
  options_.cf_allow_ingest_behind = true;
  Reopen();
  EXPECT_THAT(IngestBehind({file}).ToString(), HasSubstr("sequence numbers"));
  options_.num_levels = 2;
  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(IngestBehindTest, TheDatabasesOptionIsForAllFamilies) {
  options_.cf_allow_ingest_behind = false;
  options_.allow_ingest_behind = true;
  Open({"default", "f"});
  IngestExternalFileOptions options;
  options.ingest_behind = true;
  EXPECT_EQ(Ingest({Make(ExternalFile().Put("a", "1"))}, options, "f").ToString(), "OK");
  EXPECT_EQ(Places("f"), "L6:0");
}

// Files of their own ranges come behind random writes, deletions and compactions.
TEST_F(IngestBehindTest, ARandomHistoryIsAMapBeneathAnother) {
  options_.disable_auto_compactions = false;
  options_.write_buffer_size = 64 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  options_.target_file_size_base = 4 << 10;
  options_.max_bytes_for_level_base = 16 << 10;
  options_.max_bytes_for_level_multiplier = 3;
  options_.num_levels = 5;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    options_.level_compaction_dynamic_level_bytes = random.OneIn(2);
    Open();
    std::map<std::string, std::string> expected;
    std::set<std::string> touched;
    const auto key_of = [](uint64_t i) { return "k" + std::to_string(100000 + i); };
    constexpr uint64_t kKeys = 2000;
    constexpr uint64_t kFiles = 10;
    uint64_t next_file = 0;
    for (int step = 0; step < 3000; step++) {
      const std::string key = key_of(random.Below(kKeys));
      if (random.OneIn(4)) {
        Delete(key);
        expected.erase(key);
      } else {
        const std::string value = random.Text(100);
        Put(key, value);
        expected[key] = value;
      }
      touched.insert(key);
      if (random.OneIn(100)) Flush();
      if (random.OneIn(700)) CompactAll();
      if (next_file == kFiles || !random.OneIn(200)) continue;
      ExternalFile file;
      const uint64_t begin = next_file * (kKeys / kFiles);
      for (uint64_t i = begin; i < begin + kKeys / kFiles; i += 1 + random.Below(3)) {
        file.Put(key_of(i), "old");
        if (!touched.contains(key_of(i))) expected[key_of(i)] = "old";
      }
      next_file++;
      ASSERT_EQ(IngestBehind({Make(file)}).ToString(), "OK");
    }
    CompactAll();
    std::string text;
    for (const auto& [key, value] : expected) text += (text.empty() ? "" : " ") + key + "=" + value;
    EXPECT_EQ(Scan(), text);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

}  // namespace
}  // namespace varve::testing
