// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "varve/file_system_wrappers.h"
#include "varve/iterator.h"
#include "varve/system_clock.h"

#include "tests/db/read/iterator_beside_model.h"
#include "tests/db/read/mini_lsm.h"
#include "tests/harness/environment.h"
#include "tests/harness/fault_file_system.h"
#include "util/metrics/perf_counters.h"

namespace varve::test {
namespace {

// A clock that stands still, or moves on by `step` with each look.
class TestClock final : public SystemClockWrapper {
 public:
  TestClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "TestClock"; }
  uint64_t NowMicros() override {
    looks++;
    return std::exchange(now, now + step);
  }

  uint64_t now = 1000;
  uint64_t step = 0;
  uint64_t looks = 0;
};

using Move = void (*)(Iterator*);
constexpr Move kSeeks[] = {
    [](Iterator* it) { it->SeekToFirst(); },
    [](Iterator* it) { it->SeekToLast(); },
    [](Iterator* it) { it->Seek("key10005"); },
    [](Iterator* it) { it->SeekForPrev("key10005"); },
};

TEST(DbIteratorCostTest, SeeksTimeOutOnceTheDeadlineHasPassed) {
  std::mt19937 random(1);
  TestClock clock;
  MiniLsm lsm;
  lsm.clock = &clock;
  lsm.Load(Numbered(10), Layout(), &random);
  ReadOptions options;
  options.deadline = std::chrono::microseconds(2000);
  const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
  for (const Move seek : kSeeks) {
    for (const uint64_t now : {1999, 2000, 1999}) {
      clock.now = now;
      seek(iter.get());
      EXPECT_EQ(now < 2000, iter->Valid());
      EXPECT_EQ(now < 2000, iter->status().ok());
      EXPECT_EQ(now >= 2000, iter->status().IsTimedOut()) << iter->status().ToString();
    }
  }
}

TEST(DbIteratorCostTest, NoBlockIsReadBehindTheDeadline) {
  std::mt19937 random(1);
  for (const bool cached : {false, true}) {
    TestClock clock;
    MiniLsm lsm;
    lsm.clock = &clock;
    if (!cached) {
      lsm.table_options().no_block_cache = true;
      lsm.table_options().block_cache = nullptr;
    }
    Layout layout;
    layout.immutables = layout.level_zero_files = 0;
    layout.deeper_levels = 1;
    layout.files_per_level = 3;
    std::vector<Write> history = Numbered(200);
    lsm.Load(history, layout, &random);
    ReadOptions options;
    options.deadline = std::chrono::microseconds(2000);
    const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    }
    ASSERT_TRUE(iter->status().ok()) << iter->status().ToString();
    for (const bool ahead : {true, false}) {
      clock.now = 1000;
      ahead ? iter->SeekToFirst() : iter->SeekToLast();
      clock.now = 2000;
      const uint64_t looks = clock.looks;
      int steps = 0;
      for (; iter->Valid(); ahead ? iter->Next() : iter->Prev()) steps++;
      if (cached) {
        EXPECT_GT(steps, 20);
        // The cached part is shown without a look at the clock; the memtable has the rest.
        EXPECT_TRUE(iter->status().ok()) << iter->status().ToString();
        EXPECT_EQ(looks, clock.looks);
      } else {
        EXPECT_LT(steps, 200);
        EXPECT_TRUE(iter->status().IsTimedOut()) << iter->status().ToString();
      }
      clock.now = 1000;
      iter->Seek("key10005");
      ASSERT_TRUE(iter->Valid()) << iter->status().ToString();
      EXPECT_EQ("key10005", iter->key().ToString());
    }
  }
}

TEST(DbIteratorCostTest, TheClockIsLookedAtWhileDeletionsArePassedOver) {
  std::mt19937 random(1);
  TestClock clock;
  MiniLsm lsm;
  lsm.clock = &clock;
  Layout layout;
  layout.immutables = layout.level_zero_files = layout.deeper_levels = 0;
  lsm.Load(Numbered(10000, kTypeDeletion), layout, &random);
  clock.step = 100;
  for (const bool ahead : {true, false}) {
    for (const uint64_t deadline : {1150, 100000}) {
      ReadOptions options;
      options.deadline = std::chrono::microseconds(deadline);
      const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
      clock.now = 1000;
      ahead ? iter->SeekToFirst() : iter->SeekToLast();
      EXPECT_FALSE(iter->Valid());
      EXPECT_EQ(deadline == 1150, iter->status().IsTimedOut()) << iter->status().ToString();
      EXPECT_EQ(deadline != 1150, iter->status().ok());
      EXPECT_LE(clock.now, 3000U);
    }
  }
}

// Tables' reads fail once they are told a time limit.
class ImpatientFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "ImpatientFiles"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    IOStatus s = FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
    if (s.ok()) *file = std::make_unique<File>(std::move(*file), this);
    return s;
  }

  std::chrono::microseconds patience{0};

 private:
  class File final : public FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSRandomAccessFile> target, const ImpatientFiles* files)
        : FSRandomAccessFileOwnerWrapper(std::move(target)), files_(files) {}
    IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* dbg) const override {
      if (options.timeout.count() != 0 && options.timeout < files_->patience) {
        return IOStatus::TimedOut("too slow");
      }
      return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
    }

   private:
    const ImpatientFiles* const files_;
  };
};

TEST(DbIteratorCostTest, ReadsThatTimeOutEndTheWalkUntilTheNextSeek) {
  std::mt19937 random(1);
  TestClock clock;
  MiniLsm lsm;
  const auto files = std::make_shared<ImpatientFiles>(lsm.fs());
  lsm.read_through = files;
  lsm.clock = &clock;
  Layout layout;
  layout.immutables = 0;
  layout.flushed = true;
  lsm.table_options().no_block_cache = true;
  lsm.table_options().block_cache = nullptr;
  lsm.Load(Numbered(400), layout, &random);
  for (const bool by_deadline : {false, true}) {
    ReadOptions options;
    if (by_deadline) {
      options.deadline = std::chrono::microseconds(1500);
    } else {
      options.io_timeout = std::chrono::microseconds(500);
    }
    for (const Move seek : kSeeks) {
      const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
      files->patience = std::chrono::microseconds(501);
      seek(iter.get());
      EXPECT_FALSE(iter->Valid());
      EXPECT_TRUE(iter->status().IsTimedOut()) << iter->status().ToString();
      files->patience = std::chrono::microseconds(500);
      seek(iter.get());
      EXPECT_TRUE(iter->Valid()) << iter->status().ToString();
      int steps = 0;
      for (iter->SeekToFirst(); iter->Valid(); iter->Next()) steps++;
      EXPECT_EQ(400, steps);
    }
  }
}

// A history over so many numbered keys that most of them are deleted in long runs.
std::vector<Write> DyingHistory(int keys, std::mt19937* random) {
  std::vector<Write> history = Numbered(keys);
  SequenceNumber seq = history.back().seq;
  const auto key = [&](int i) { return history[static_cast<size_t>(i)].key; };
  for (int stretch = 0; stretch < 4; stretch++) {
    const int begin = static_cast<int>((*random)()) & (keys - 1);
    const int end = std::min(keys, begin + static_cast<int>((*random)() % 4000));
    if ((*random)() % 4 == 0) {
      history.push_back({++seq, kTypeRangeDeletion, key(begin), key(end - 1)});
      continue;
    }
    for (int i = begin; i < end; i++) history.push_back({++seq, kTypeDeletion, key(i), ""});
    history.push_back({++seq, kTypeValue, key(begin + (end - begin) / 2), "again"});
  }
  return history;
}

UserModel::const_iterator AtOrAfter(const UserModel& model, const std::string& key) {
  return model.lower_bound(key);
}

// Walks both ways through all keys, and from random places to the next ones.
void CompareAllOf(Iterator* iter, const UserModel& model, std::mt19937* random) {
  auto at = model.begin();
  for (iter->SeekToFirst(); iter->Valid() && at != model.end(); iter->Next(), ++at) {
    ASSERT_TRUE(SamePlace(*iter, model, at));
  }
  ASSERT_TRUE(SamePlace(*iter, model, at));
  at = Before(model, model.end());
  for (iter->SeekToLast(); iter->Valid() && at != model.end(); iter->Prev()) {
    ASSERT_TRUE(SamePlace(*iter, model, at));
    at = Before(model, at);
  }
  ASSERT_TRUE(SamePlace(*iter, model, at));
  for (int i = 0; i < 20; i++) {
    const std::string target = "key" + std::to_string(10000 + (*random)() % 8192);
    iter->Seek(target);
    ASSERT_TRUE(SamePlace(*iter, model, AtOrAfter(model, target))) << target;
    if (iter->Valid()) {
      iter->Prev();
      ASSERT_TRUE(SamePlace(*iter, model, Before(model, AtOrAfter(model, target)))) << target;
    }
    iter->SeekForPrev(target);
    ASSERT_TRUE(SamePlace(*iter, model, Before(model, model.upper_bound(target)))) << target;
    if (iter->Valid()) {
      iter->Next();
      ASSERT_TRUE(SamePlace(*iter, model, model.upper_bound(target))) << target;
    }
  }
}

TEST(DbIteratorCostTest, WhatIsKnownOfDeadRangesHidesNothing) {
  for (uint64_t seed = testing::FirstSample(); seed < 40; seed += testing::SampleStep()) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    const Comparator* const order =
        seed % 4 == 3 ? ReverseBytewiseComparator() : BytewiseComparator();
    std::vector<Write> history = DyingHistory(8192, &random);
    MiniLsm lsm(order);
    Layout layout;
    layout.immutables = random() % 2;
    layout.level_zero_files = random() % 3;
    layout.deeper_levels = 1 + random() % 2;
    lsm.Load(history, layout, &random);
    for (int round = 0; round < 8; round++) {
      const SequenceNumber newest = lsm.VisibleSequence();
      const SequenceNumber seq = random() % 3 == 0 ? newest - random() % (newest / 2) : newest;
      ReadOptions options;
      options.pin_data = random() % 4 == 0;
      const std::unique_ptr<Iterator> iter = Open(&lsm, options, seq);
      ASSERT_NO_FATAL_FAILURE(CompareAllOf(iter.get(), Replay(history, seq, order), &random))
          << "seed " << seed << " round " << round << " seq " << seq;
      if (random() % 4 == 0) lsm.SwitchMemTable();
      for (int i = 0; i < 30; i++) {
        const ValueType type = random() % 3 == 0 ? kTypeDeletion : kTypeValue;
        history.push_back(
            {history.back().seq + 1, type, "key" + std::to_string(10000 + random() % 8192), "new"});
        lsm.Add(history.back());
      }
    }
  }
}

// Steps over deletions that a scan takes, both ways.
uint64_t DeletionsPassed(MiniLsm* lsm, const ReadOptions& options, SequenceNumber seq) {
  const PerfLevel before = GetPerfLevel();
  SetPerfLevel(kEnableCount);
  get_perf_context()->Reset();
  const std::unique_ptr<Iterator> iter = Open(lsm, options, seq);
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
  }
  for (iter->SeekToLast(); iter->Valid(); iter->Prev()) {
  }
  EXPECT_TRUE(iter->status().ok());
  SetPerfLevel(before);
  return get_perf_context()->internal_delete_skipped_count;
}

TEST(DbIteratorCostTest, LongStretchesOfDeletionsAreWalkedOverOnce) {
  for (const bool ahead : {true, false}) {
    std::mt19937 random(1);
    std::vector<Write> history = Numbered(5000);
    for (int i = 10; i < 4990; i++) {
      history.push_back(
          {history.back().seq + 1, kTypeDeletion, history[static_cast<size_t>(i)].key, ""});
    }
    MiniLsm lsm;
    Layout layout;
    layout.immutables = 0;
    layout.level_zero_files = layout.deeper_levels = 1;
    layout.flushed = true;
    lsm.Load(history, layout, &random);
    const SequenceNumber seq = lsm.VisibleSequence();
    {
      const std::unique_ptr<Iterator> first = Open(&lsm, ReadOptions(), seq);
      ahead ? first->Seek("key10009") : first->SeekForPrev("key14990");
      ahead ? first->Next() : first->Prev();
      ASSERT_TRUE(first->Valid());
      EXPECT_EQ(ahead ? "key14990" : "key10009", first->key().ToString());
    }
    EXPECT_LT(DeletionsPassed(&lsm, ReadOptions(), seq), 1000U);
    EXPECT_GE(DeletionsPassed(&lsm, ReadOptions(), seq - 1), 2 * 4978U);
    ReadOptions filtered;
    filtered.table_filter = [](const TableProperties&) { return true; };
    EXPECT_EQ(DeletionsPassed(&lsm, filtered, seq), 2 * 4980U);
  }
}

// 5,000 keys in files of one level, of which a range tombstone deletes all but ten at both ends.
class OneTombstone {
 public:
  enum class Place : uint8_t { kFile, kMemtable, kBesideFreshWrites };

  explicit OneTombstone(Place place) {
    std::mt19937 random(1);
    std::vector<Write> history = Numbered(5000);
    const auto add = [&](ValueType type, const std::string& key, const std::string& value) {
      history.push_back({history.back().seq + 1, type, key, value});
    };
    if (place == Place::kBesideFreshWrites) add(kTypeValue, "key10000", std::string(30, 'v'));
    add(kTypeRangeDeletion, "key10010", "key14990");
    if (place == Place::kBesideFreshWrites) add(kTypeValue, "key14999", std::string(30, 'v'));
    lsm.table_options().no_block_cache = true;
    lsm.table_options().block_cache = nullptr;
    Layout layout;
    layout.immutables = 0;
    layout.level_zero_files = layout.deeper_levels = 1;
    layout.files_per_level = 10;
    layout.cuts = {5000, place == Place::kFile ? history.size() : 5000};
    lsm.Load(history, layout, &random);
  }

  MiniLsm lsm;
};

constexpr OneTombstone::Place kPlaces[] = {OneTombstone::Place::kFile,
                                           OneTombstone::Place::kMemtable,
                                           OneTombstone::Place::kBesideFreshWrites};

TEST(DbIteratorCostTest, ATombstoneIsJumpedOver) {
  struct Case {
    Move move;
    const char* key;
  };
  constexpr Case kCases[] = {
      {[](Iterator* it) { it->Seek("key10500"); }, "key14990"},
      {[](Iterator* it) { it->SeekForPrev("key14500"); }, "key10009"},
      {[](Iterator* it) { (it->Seek("key10009"), it->Next()); }, "key14990"},
      {[](Iterator* it) { (it->SeekForPrev("key14990"), it->Prev()); }, "key10009"},
      {[](Iterator* it) { (it->Seek("key10010"), it->Prev()); }, "key10009"},
      {[](Iterator* it) { (it->SeekForPrev("key14989"), it->Next()); }, "key14990"},
  };
  const PerfLevel before = GetPerfLevel();
  SetPerfLevel(kEnableCount);
  for (const OneTombstone::Place place : kPlaces) {
    for (const Case& c : kCases) {
      OneTombstone world(place);
      const std::unique_ptr<Iterator> iter =
          Open(&world.lsm, ReadOptions(), world.lsm.VisibleSequence());
      get_perf_context()->Reset();
      c.move(iter.get());
      ASSERT_TRUE(iter->Valid()) << iter->status().ToString();
      EXPECT_EQ(c.key, iter->key().ToString());
      EXPECT_LE(get_perf_context()->block_read_count, 20U);
      EXPECT_LE(get_perf_context()->internal_delete_skipped_count, 64U);
      // All files between the first and the last one are covered.
      const LevelFiles& files = world.lsm.current().version().level(1);
      ASSERT_GT(files.size(), 5U);
      size_t opened = 0;
      for (size_t i = 0; i < files.size(); i++) opened += files[i]->reader.load() != nullptr;
      EXPECT_LE(opened, 2U);
    }
  }
  SetPerfLevel(before);
}

TEST(DbIteratorCostTest, WhatATombstoneCoversIsNotAmongTheSkippable) {
  for (const bool in_memtable : {false, true}) {
    std::mt19937 random(1);
    std::vector<Write> history = Numbered(2000);
    for (int i = 0; i < 2000; i += 3) {
      history.push_back(
          {history.back().seq + 1, kTypeValue, "key" + std::to_string(10000 + i), ""});
    }
    history.push_back({history.back().seq + 1, kTypeRangeDeletion, "key10001", "key11999"});
    MiniLsm lsm;
    Layout layout;
    layout.immutables = layout.level_zero_files = 0;
    layout.deeper_levels = 1;
    layout.cuts = {in_memtable ? 0 : history.size()};
    lsm.Load(history, layout, &random);
    ReadOptions options;
    options.max_skippable_internal_keys = 5;
    const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    }
    EXPECT_TRUE(iter->status().ok()) << iter->status().ToString();
    for (iter->SeekToLast(); iter->Valid(); iter->Prev()) {
    }
    EXPECT_TRUE(iter->status().ok()) << iter->status().ToString();
  }
}

TEST(DbIteratorCostTest, WhatAnOldSnapshotDoesNotSeeIsNotTakenForDead) {
  std::vector<Write> history = Numbered(5000);
  const auto add = [&](ValueType type, const std::string& key) {
    history.push_back({history.back().seq + 1, type, key, "late"});
    return history.back().seq;
  };
  const std::string survivor = "key12500";
  // There are so many versions that a walk backward seeks past newer ones.
  for (int i = 0; i < 20; i++) add(kTypeValue, survivor);
  for (int i = 0; i < 5000; i++) add(kTypeDeletion, history[static_cast<size_t>(i)].key);
  const SequenceNumber old = history.back().seq;
  add(kTypeValue, survivor);
  for (const bool ahead : {true, false}) {
    std::mt19937 random(1);
    MiniLsm lsm;
    Layout layout;
    layout.immutables = layout.level_zero_files = 0;
    layout.deeper_levels = layout.files_per_level = 1;
    layout.flushed = true;
    lsm.Load(history, layout, &random);
    const std::unique_ptr<Iterator> before = Open(&lsm, ReadOptions(), old);
    ahead ? before->SeekToFirst() : before->SeekToLast();
    EXPECT_FALSE(before->Valid());
    const std::unique_ptr<Iterator> now = Open(&lsm, ReadOptions(), lsm.VisibleSequence());
    ahead ? now->SeekToFirst() : now->SeekToLast();
    ASSERT_TRUE(now->Valid());
    EXPECT_EQ(survivor, now->key().ToString());
  }
}

TEST(DbIteratorCostTest, AWalkThatGaveUpLeavesWhatItLearnt) {
  std::mt19937 random(1);
  MiniLsm lsm;
  Layout layout;
  layout.immutables = layout.level_zero_files = 0;
  layout.deeper_levels = 1;
  layout.flushed = true;
  lsm.Load(Numbered(20000, kTypeDeletion), layout, &random);
  ReadOptions options;
  options.max_skippable_internal_keys = 5000;
  int seeks = 0;
  const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
  do {
    seeks++;
    iter->SeekToFirst();
  } while (iter->status().IsIncomplete() && seeks < 100);
  EXPECT_TRUE(iter->status().ok()) << iter->status().ToString();
  EXPECT_GT(seeks, 1);
}

// Reads that a walk over a level of several files takes.
uint64_t ReadsOfAScan(MiniLsm* lsm, const FaultFileSystem& files, const ReadOptions& options,
                      const std::string& from) {
  const std::unique_ptr<Iterator> iter = Open(lsm, options, lsm->VisibleSequence());
  const uint64_t before = files.calls(FaultCall::kRead);
  for (iter->Seek(from); iter->Valid(); iter->Next()) {
  }
  EXPECT_TRUE(iter->status().ok());
  return files.calls(FaultCall::kRead) - before;
}

TEST(DbIteratorCostTest, ReadsAheadAsTheOptionsSay) {
  std::mt19937 random(3);
  MiniLsm lsm;
  const auto files = std::make_shared<FaultFileSystem>(lsm.fs());
  lsm.read_through = files;
  lsm.table_options().no_block_cache = true;
  lsm.table_options().block_cache = nullptr;
  Layout layout;
  layout.immutables = layout.level_zero_files = 0;
  layout.deeper_levels = 1;
  layout.files_per_level = 20;
  layout.flushed = true;
  lsm.Load(Numbered(80000), layout, &random);
  ASSERT_GT(lsm.current().version().level(1).size(), 10U);
  const auto scan = [&](const ReadOptions& options) {
    return ReadsOfAScan(&lsm, *files, options, "key");
  };
  const uint64_t plain = scan(ReadOptions());
  ReadOptions options;
  options.adaptive_readahead = true;
  // The distance does not start anew in each file.
  EXPECT_LT(scan(options), plain * 2 / 3);
  ReadOptions large;
  large.readahead_size = 8 << 20;
  EXPECT_LE(scan(large), lsm.current().version().level(1).size());
}

}  // namespace
}  // namespace varve::test
