// SPDX-License-Identifier: Apache-2.0

// Goal: a secondary shows what its primary had written at some moment not before it was asked, all
// families at one, never an older one than before; its snapshots stay what they were; and nothing
// in the primary's directories changes by its doing. Method: a primary in the same process runs a
// random script of numbered steps, flushes, compactions, closings, and new MANIFESTs; a secondary
// catches up at random points and is read by Get and by iterators; before and after, the primary's
// files are compared byte by byte. VARVE_FOLLOW_SCRIPTS=N sets the number of scripts for each kind
// of log.

#include "varve/secondary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/file_system_wrappers.h"
#include "varve/utilities/merge_operators.h"

#include "tests/db/follow/directory_contents.h"
#include "tests/db/follow/numbered_history.h"
#include "tests/harness/child_process.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFamilies = {"default", "one", "two"};

// Returns the names that differ, or are in one of them only.
std::string Differing(const std::map<std::string, std::string>& a,
                      const std::map<std::string, std::string>& b) {
  std::string names;
  for (const auto& [name, bytes] : a) {
    if (!b.contains(name) || b.at(name) != bytes) names += " " + name;
  }
  for (const auto& [name, bytes] : b) {
    if (!a.contains(name)) names += " without " + name;
  }
  return names;
}

// A database and its handles.
struct Opened {
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;

  ~Opened() { Close(); }
  void Close() {
    for (ColumnFamilyHandle* handle : handles) {
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
    handles.clear();
    db.reset();
  }
};

std::vector<ColumnFamilyDescriptor> Describe(const Options& options) {
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : kFamilies) families.emplace_back(name, options);
  return families;
}

struct Pair {
  explicit Pair(const std::string& name) : directory(name) {
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.write_buffer_size = 32 << 10;
    options.level0_file_num_compaction_trigger = 3;
    options.target_file_size_base = 32 << 10;
    options.max_bytes_for_level_base = 128 << 10;
    options.max_manifest_file_size = 4 << 10;
    options.info_log = SilentLogger();
  }

  std::string primary_path() const { return directory.path() + "/primary"; }
  void OpenPrimary() {
    primary.Close();
    const Status s =
        DB::Open(options, primary_path(), Describe(options), &primary.handles, &primary.db);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void OpenSecondary() {
    secondary.Close();
    DB* raw = nullptr;
    Options own = options;
    own.info_log = nullptr;
    const Status s = DB::OpenAsSecondary(own, primary_path(), directory.path() + "/secondary",
                                         Describe(options), &secondary.handles, &raw);
    secondary.db.reset(raw);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Write(uint64_t count) {
    const Status s = WriteHistory(primary.db.get(), primary.handles, steps, steps + count,
                                  WriteOptions(), padding);
    ASSERT_TRUE(s.ok()) << s.ToString();
    steps += count;
  }
  void Flush(bool compact) {
    for (ColumnFamilyHandle* handle : primary.handles) {
      Status s = primary.db->Flush(FlushOptions(), handle);
      if (s.ok() && compact) {
        s = primary.db->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr);
      }
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  }
  // Checks what the secondary shows, which is at least as much as before.
  void Check(uint64_t at_least, uint64_t at_most, bool by_iterator) {
    const HistoryState state =
        ReadHistory(secondary.db.get(), secondary.handles, ReadOptions(), by_iterator);
    ASSERT_EQ(state.problem, "");
    ASSERT_GE(state.steps, std::max(at_least, shown));
    ASSERT_LE(state.steps, at_most);
    shown = state.steps;
  }
  void CatchUp() {
    const Status s = secondary.db->TryCatchUpWithPrimary();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  FreshDirectory directory;
  Options options;
  Opened primary;
  Opened secondary;
  size_t padding = 100;
  uint64_t steps = 0;
  uint64_t shown = 0;
};

TEST(SecondaryTest, ShowsWhatThePrimaryHas) {
  Pair pair("secondary");
  pair.OpenPrimary();
  pair.Write(10);
  pair.OpenSecondary();
  pair.Check(10, 10, false);
  pair.Write(500);
  pair.Check(10, 10, true);
  pair.CatchUp();
  pair.Check(510, 510, true);
  pair.Flush(/*compact=*/true);
  pair.CatchUp();
  pair.Check(510, 510, false);
  pair.Write(3000);
  pair.CatchUp();
  pair.Check(3510, 3510, true);
}

TEST(SecondaryTest, SnapshotsAndIteratorsStay) {
  Pair pair("snapshots");
  pair.OpenPrimary();
  pair.Write(1000);
  pair.OpenSecondary();
  ReadOptions at;
  at.snapshot = pair.secondary.db->GetSnapshot();
  ASSERT_NE(at.snapshot, nullptr);
  const std::unique_ptr<Iterator> it(
      pair.secondary.db->NewIterator(ReadOptions(), pair.secondary.handles[0]));
  for (int round = 0; round < 5; round++) {
    pair.Write(1000);
    pair.Flush(/*compact=*/true);
    pair.CatchUp();
    for (const bool by_iterator : {false, true}) {
      const HistoryState state =
          ReadHistory(pair.secondary.db.get(), pair.secondary.handles, at, by_iterator);
      EXPECT_EQ(state.problem, "");
      EXPECT_EQ(state.steps, 1000u);
    }
    it->Seek("newest");
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    EXPECT_TRUE(it->value().starts_with("999 ")) << it->value().ToString();
  }
  pair.secondary.db->ReleaseSnapshot(at.snapshot);
  pair.CatchUp();
  pair.Check(6000, 6000, true);
}

// Blob files are opened with the version that has them, as tables are.
TEST(SecondaryTest, BlobFilesThatThePrimaryDeletesStayReadable) {
  Pair pair("secondary_blobs");
  pair.options.enable_blob_files = true;
  pair.options.min_blob_size = 100;
  pair.options.disable_auto_compactions = true;
  const auto blob_files = [&pair] {
    const auto files = Files(pair.primary_path());
    return std::ranges::count_if(files,
                                 [](const auto& file) { return file.first.ends_with(".blob"); });
  };
  pair.OpenPrimary();
  const std::string large(1000, 'v');
  ASSERT_TRUE(pair.primary.db->Put(WriteOptions(), "k", large).ok());
  pair.Flush(/*compact=*/false);
  ASSERT_EQ(blob_files(), 1);
  pair.OpenSecondary();
  ASSERT_TRUE(pair.primary.db->Delete(WriteOptions(), "k").ok());
  pair.Flush(/*compact=*/true);
  WaitForCompactOptions deleted;
  deleted.wait_for_purge = true;
  ASSERT_TRUE(pair.primary.db->WaitForCompact(deleted).ok());
  ASSERT_EQ(blob_files(), 0);
  std::string value;
  const Status s = pair.secondary.db->Get(ReadOptions(), "k", &value);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(value, large);
  pair.CatchUp();
  EXPECT_TRUE(pair.secondary.db->Get(ReadOptions(), "k", &value).IsNotFound());
}

// Its primary keeps nothing for it in newer tables, so it stays with those that it has.
TEST(SecondaryTest, AnIteratorOfASnapshotBuildsItsSourcesOnce) {
  Pair pair("secondary_stays");
  pair.options.disable_auto_compactions = true;
  pair.OpenPrimary();
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(pair.primary.db->Put(WriteOptions(), key, "v").ok());
  }
  pair.Flush(/*compact=*/false);
  pair.OpenSecondary();
  int built = 0;  // Counts the tables of all sources.
  ReadOptions options;
  options.snapshot = pair.secondary.db->GetSnapshot();
  options.auto_refresh_iterator_with_snapshot = true;
  options.table_filter = [&built](const TableProperties&) { return ++built > 0; };
  {
    const std::unique_ptr<Iterator> it(pair.secondary.db->NewIterator(options));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    ASSERT_TRUE(pair.primary.db->Put(WriteOptions(), "f", "v").ok());
    pair.Flush(/*compact=*/false);
    pair.CatchUp();
    const int before = built;
    std::string keys;
    for (; it->Valid(); it->Next()) keys += it->key().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(keys, "abcde");
    EXPECT_GT(before, 0);
    EXPECT_EQ(built, before);
  }
  pair.secondary.db->ReleaseSnapshot(options.snapshot);
}

// Memtables that take much at once are replaced meanwhile, by others that compare keys faster.
TEST(SecondaryTest, TakesMuchAtOnceBesideReaders) {
  Pair pair("much");
  pair.options.write_buffer_size = 64 << 20;
  pair.OpenPrimary();
  pair.Write(10);
  pair.OpenSecondary();
  ReadOptions at;
  at.snapshot = pair.secondary.db->GetSnapshot();
  ASSERT_NE(at.snapshot, nullptr);
  for (int round = 0; round < 3; round++) {
    const std::unique_ptr<Iterator> it(
        pair.secondary.db->NewIterator(ReadOptions(), pair.secondary.handles[0]));
    const uint64_t before = pair.steps;
    pair.Write(5000);
    pair.CatchUp();
    pair.Check(pair.steps, pair.steps, round % 2 == 0);
    it->Seek("newest");
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    EXPECT_TRUE(it->value().starts_with(std::to_string(before - 1) + " "));
    const HistoryState state =
        ReadHistory(pair.secondary.db.get(), pair.secondary.handles, at, round % 2 == 0);
    EXPECT_EQ(state.problem, "");
    EXPECT_EQ(state.steps, 10u);
  }
  pair.secondary.db->ReleaseSnapshot(at.snapshot);
}

TEST(SecondaryTest, ChangesNothingOfThePrimary) {
  Pair pair("unchanged");
  pair.options.disable_auto_compactions = true;
  pair.OpenPrimary();
  pair.Write(2000);
  pair.Flush(/*compact=*/false);
  pair.Write(50);
  ASSERT_TRUE(pair.primary.db->WaitForCompact(WaitForCompactOptions()).ok());
  const auto before = Files(pair.primary_path());
  pair.OpenSecondary();
  pair.CatchUp();
  pair.Check(2050, 2050, true);
  EXPECT_EQ(Differing(Files(pair.primary_path()), before), "");
  pair.secondary.Close();
  EXPECT_EQ(Differing(Files(pair.primary_path()), before), "");
  EXPECT_TRUE(fs::exists(pair.directory.path() + "/secondary/LOG"));
}

// A reader that closes does not know what the primary has made since it last looked.
TEST(SecondaryTest, ClosingBehindThePrimaryChangesNothing) {
  Pair pair("behind");
  pair.options.disable_auto_compactions = true;
  pair.OpenPrimary();
  pair.Write(100);
  pair.OpenSecondary();
  std::unique_ptr<DB> read_only;
  Options own = pair.options;
  own.info_log = SilentLogger();
  ASSERT_TRUE(DB::OpenForReadOnly(own, pair.primary_path(), &read_only).ok());
  pair.Write(1000);
  pair.Flush(/*compact=*/true);
  pair.Write(50);
  WaitForCompactOptions deleted;
  deleted.wait_for_purge = true;
  ASSERT_TRUE(pair.primary.db->WaitForCompact(deleted).ok());
  const auto before = Files(pair.primary_path());
  ASSERT_TRUE(read_only->Close().ok());
  EXPECT_EQ(Differing(Files(pair.primary_path()), before), "");
  pair.secondary.Close();
  EXPECT_EQ(Differing(Files(pair.primary_path()), before), "");
}

TEST(SecondaryTest, RefusesWhatChangesTheDatabase) {
  Pair pair("refused");
  pair.OpenPrimary();
  pair.Write(10);
  pair.OpenSecondary();
  DB* const db = pair.secondary.db.get();
  EXPECT_TRUE(db->Put(WriteOptions(), "a", "b").IsNotSupported());
  EXPECT_TRUE(db->Flush(FlushOptions()).IsNotSupported());
  EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsNotSupported());
  EXPECT_TRUE(db->SetOptions({{"write_buffer_size", "100000"}}).IsNotSupported());
  EXPECT_TRUE(db->SyncWAL().IsNotSupported());
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(ColumnFamilyOptions(), "new", &handle).IsNotSupported());
  EXPECT_TRUE(pair.primary.db->TryCatchUpWithPrimary().IsNotSupported());
  SecondaryLag lag;
  EXPECT_TRUE(pair.primary.db->GetSecondaryLag(&lag).IsNotSupported());
  DB* other = nullptr;
  EXPECT_TRUE(DB::OpenAsSecondary(pair.options, pair.primary_path(), pair.primary_path(), &other)
                  .IsInvalidArgument());
  EXPECT_EQ(other, nullptr);
}

// Calls a function before the first listing of a directory.
class BeforeListing final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "BeforeListing"; }
  IOStatus GetChildren(const std::string& directory, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    if (call != nullptr) std::exchange(call, nullptr)();
    return target()->GetChildren(directory, options, names, dbg);
  }
  std::function<void()> call;
};

// The primary flushes and deletes a log after its MANIFEST was read and before its logs are listed.
// Nothing of that log is missing, and nothing of the log before counts twice.
TEST(SecondaryTest, ALogThatGoesUnseenIsNotMissing) {
  const auto fs = std::make_shared<BeforeListing>(FileSystem::Default());
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Pair pair("secondary_overtaken");
  pair.options.merge_operator = MergeOperators::CreateStringAppendOperator();
  for (const bool goes_on : {false, true}) {
    SCOPED_TRACE(goes_on ? "the next log has a record" : "the next log is empty");
    pair.OpenPrimary();
    DB* const primary = pair.primary.db.get();
    ASSERT_TRUE(primary->Put(WriteOptions(), "k", "0").ok());
    ASSERT_TRUE(primary->Merge(WriteOptions(), "k", "1").ok());
    Env* const usual = std::exchange(pair.options.env, env.get());
    pair.OpenSecondary();
    pair.options.env = usual;
    ASSERT_TRUE(primary->Flush(FlushOptions()).ok());
    ASSERT_TRUE(primary->Put(WriteOptions(), "a", "2").ok());
    fs->call = [primary, goes_on] {
      EXPECT_TRUE(primary->Flush(FlushOptions()).ok());
      if (goes_on) {
        EXPECT_TRUE(primary->Put(WriteOptions(), "b", "3").ok());
      }
    };
    pair.CatchUp();
    EXPECT_EQ(fs->call, nullptr);
    DB* const secondary = pair.secondary.db.get();
    std::string value;
    EXPECT_TRUE(secondary->Get(ReadOptions(), "a", &value).ok());
    EXPECT_EQ(value, "2");
    EXPECT_TRUE(secondary->Get(ReadOptions(), "k", &value).ok());
    EXPECT_EQ(value, "0,1");
    pair.secondary.Close();
    ASSERT_TRUE(primary->Delete(WriteOptions(), "a").ok());
  }
}

TEST(SecondaryTest, TellsHowFarItIsBehind) {
  Pair pair("lag");
  pair.OpenPrimary();
  pair.Write(10);
  pair.OpenSecondary();
  SecondaryLag lag;
  ASSERT_TRUE(pair.secondary.db->GetSecondaryLag(&lag).ok());
  EXPECT_EQ(lag.log_bytes, 0u);
  EXPECT_EQ(lag.sequences, 0u);
  EXPECT_EQ(lag.age_micros, 0u);
  pair.Write(20);
  ASSERT_TRUE(pair.secondary.db->GetSecondaryLag(&lag).ok());
  EXPECT_GT(lag.log_bytes, 20 * pair.padding);
  EXPECT_EQ(lag.sequences, 40u);
  EXPECT_GT(lag.age_micros, 0u);
  pair.CatchUp();
  EXPECT_EQ(pair.secondary.db->GetLatestSequenceNumber(),
            pair.primary.db->GetLatestSequenceNumber());
}

TEST(SecondaryTest, DroppedFamiliesStayAndNewOnesAreLeftOut) {
  Pair pair("families");
  pair.OpenPrimary();
  pair.Write(300);
  pair.Flush(/*compact=*/false);
  pair.OpenSecondary();
  DB* const primary = pair.primary.db.get();
  ColumnFamilyHandle* fresh = nullptr;
  ASSERT_TRUE(primary->CreateColumnFamily(pair.options, "fresh", &fresh).ok());
  ASSERT_TRUE(primary->Put(WriteOptions(), fresh, "a", "b").ok());
  ASSERT_TRUE(primary->DropColumnFamily(pair.primary.handles[1]).ok());
  ASSERT_TRUE(primary->Put(WriteOptions(), pair.primary.handles[2], "z", "later").ok());
  ASSERT_TRUE(primary->Flush(FlushOptions(), pair.primary.handles[2]).ok());
  pair.CatchUp();
  std::string value;
  DB* const secondary = pair.secondary.db.get();
  EXPECT_TRUE(
      secondary->Get(ReadOptions(), pair.secondary.handles[1], HistoryKey(100), &value).ok());
  EXPECT_TRUE(secondary->Get(ReadOptions(), pair.secondary.handles[2], "z", &value).ok());
  EXPECT_EQ(value, "later");
  ASSERT_TRUE(primary->DestroyColumnFamilyHandle(fresh).ok());
}

struct FollowedLog {
  const char* name;
  void (*set)(Options*);
};

class SecondaryScriptTest : public ::testing::TestWithParam<FollowedLog> {};

TEST_P(SecondaryScriptTest, FollowsARandomPrimary) {
  const uint64_t scripts = NumberFromEnvironment("VARVE_FOLLOW_SCRIPTS", 1);
  for (uint64_t seed = 0; seed < scripts; seed++) {
    SCOPED_TRACE("script " + std::to_string(seed));
    Random random(seed * 977 + GetParam().name[0]);
    Pair pair(std::string("script-") + GetParam().name);
    GetParam().set(&pair.options);
    const bool held_back = pair.options.manual_wal_flush;
    pair.OpenPrimary();
    pair.Write(random.Below(100));
    pair.OpenSecondary();
    for (int move = 0; move < 60 && !HasFatalFailure(); move++) {
      uint64_t least = 0;
      switch (random.Below(10)) {
        case 0:
          pair.Flush(/*compact=*/false);
          break;
        case 1:
          pair.Flush(/*compact=*/true);
          break;
        case 2:
          if (random.OneIn(3)) pair.OpenPrimary();
          break;
        case 3:
          pair.secondary.Close();
          pair.OpenSecondary();
          break;
        case 4:
          ASSERT_TRUE(pair.primary.db->FlushWAL(false).ok());
          break;
        default:
          pair.padding = random.OneIn(8) ? 9000 : 100;
          pair.Write(random.Skewed(10));
      }
      if (random.OneIn(3)) continue;
      pair.CatchUp();
      if (!held_back) least = pair.steps;
      pair.Check(least, pair.steps, random.OneIn(2));
    }
    ASSERT_TRUE(pair.primary.db->FlushWAL(false).ok());
    pair.CatchUp();
    pair.Check(pair.steps, pair.steps, true);
    pair.Check(pair.steps, pair.steps, false);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Logs, SecondaryScriptTest,
    ::testing::Values(FollowedLog{"mapped", [](Options*) {}},
                      FollowedLog{"buffered", [](Options* o) { o->allow_fallocate = false; }},
                      FollowedLog{"recycled", [](Options* o) { o->recycle_log_file_num = 2; }},
                      FollowedLog{"compressed", [](Options* o) { o->wal_compression = kZSTD; }},
                      FollowedLog{"held_back", [](Options* o) { o->manual_wal_flush = true; }},
                      FollowedLog{"kept",
                                  [](Options* o) {
                                    o->avoid_flush_during_recovery = true;
                                    o->avoid_flush_during_shutdown = true;
                                  }}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace

}  // namespace varve::testing
