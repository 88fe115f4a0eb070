// SPDX-License-Identifier: Apache-2.0

// Goal: space under a range deletion comes back unread, as soon as no reader can see it, and
// nothing else goes with it. Method: tables in the last level, deletions over all, over most,
// beneath snapshots.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "varve/compaction_filter.h"
#include "varve/file_system_wrappers.h"
#include "varve/statistics.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

// Holds up who opens a table while it is closed.
class GateToTables final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "GateToTables"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    if (closed) {
      arrived = true;
      EXPECT_TRUE(Eventually([&] { return !closed; }));
    }
    return FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
  }
  std::atomic<bool> closed{false};
  std::atomic<bool> arrived{false};
};

// Holds up every compaction of the key "gate".
class GateToKey final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.gate"; }
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    if (key != Slice("gate")) return false;
    arrived = true;
    EXPECT_TRUE(Eventually([&] { return open.load(); }));
    return false;
  }
  mutable std::atomic<bool> arrived{false};
  std::atomic<bool> open{false};
};

class CoveredFilesTest : public Database {
 protected:
  static constexpr int kKeys = 2000;

  CoveredFilesTest() {
    options_.statistics = CreateDBStatistics();
    options_.num_levels = 4;
    options_.target_file_size_base = 16 << 10;
    options_.compression = kNoCompression;
  }
  static std::string KeyOf(int i) {
    char key[16];
    snprintf(key, sizeof(key), "%06d", i);
    return key;
  }
  // Makes some twenty tables in the last level.
  void Fill() {
    for (int i = 0; i < kKeys; i++) Put(KeyOf(i), std::string(150, 'v'));
    Flush();
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
    ASSERT_GE(Files(kTableFile).size(), 15u) << Levels();
    read_ = options_.statistics->getTickerCount(COMPACT_READ_BYTES);
  }
  void DeleteFrom(int begin, int end) {
    ASSERT_TRUE(
        db()->DeleteRange(WriteOptions(), Handle("default"), KeyOf(begin), KeyOf(end)).ok());
    Flush();
  }
  uint64_t BytesRead() { return options_.statistics->getTickerCount(COMPACT_READ_BYTES) - read_; }
  bool LeavesTables(size_t most) {
    return Eventually([&] { return Files(kTableFile).size() <= most; }, 5);
  }
  int LiveKeys(const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    int n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) n++;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return n;
  }

 private:
  uint64_t read_ = 0;
};

TEST_F(CoveredFilesTest, TheyGoUnread) {
  Open();
  Fill();
  DeleteFrom(0, kKeys);
  EXPECT_TRUE(LeavesTables(1)) << Levels();
  EXPECT_LT(BytesRead(), 16u << 10);
  EXPECT_EQ(LiveKeys(), 0);
  Put(KeyOf(7), "new");
  Reopen();
  EXPECT_EQ(LiveKeys(), 1);
}

TEST_F(CoveredFilesTest, WhatIsCoveredInPartStays) {
  Open();
  options_.level0_file_num_compaction_trigger = 100;
  Fill();
  DeleteFrom(200, kKeys - 200);
  EXPECT_TRUE(LeavesTables(8)) << Levels();
  EXPECT_EQ(LiveKeys(), 400);
  Reopen();
  EXPECT_EQ(LiveKeys(), 400);
}

TEST_F(CoveredFilesTest, ATableThatIsCoveredInPartIsCutWithoutAReadOfThatPart) {
  options_.target_file_size_base = 8 << 20;
  options_.disable_auto_compactions = true;
  Open();
  for (int i = 0; i < kKeys; i++) Put(KeyOf(i), std::string(150, 'v'));
  Flush();
  CompactRangeOptions forced;
  forced.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(forced, nullptr, nullptr).ok());
  const uint64_t bytes = Number("rocksdb.total-sst-files-size");
  const Statistics& counts = *options_.statistics;
  const uint64_t read = counts.getTickerCount(COMPACT_READ_BYTES);
  DeleteFrom(100, kKeys - 100);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_LT(counts.getTickerCount(COMPACT_READ_BYTES) - read, bytes / 4);
  EXPECT_LT(Number("rocksdb.total-sst-files-size"), bytes / 5);
  EXPECT_EQ(counts.getTickerCount(COMPACTION_KEY_DROP_RANGE_DEL),
            static_cast<uint64_t>(kKeys) - 200);
  EXPECT_EQ(LiveKeys(), 200);
}

TEST_F(CoveredFilesTest, TheyWaitForSnapshotsAndGoWhenThoseAreReleased) {
  Open();
  Fill();
  const Snapshot* const before = db()->GetSnapshot();
  DeleteFrom(0, kKeys);
  const Snapshot* const after = db()->GetSnapshot();
  EXPECT_EQ(LiveKeys(before), kKeys);
  EXPECT_FALSE(Eventually([&] { return Files(kTableFile).size() < 15; }, 1)) << Levels();
  EXPECT_EQ(LiveKeys(before), kKeys);
  db()->ReleaseSnapshot(before);
  EXPECT_TRUE(LeavesTables(1)) << Levels();
  EXPECT_EQ(LiveKeys(after), 0);
  db()->ReleaseSnapshot(after);
}

// The job is the first to open the tombstone's table, when it searches for covered files. With so
// much data beside the tombstone the table itself waits for nothing.
TEST_F(CoveredFilesTest, WhoWaitsForASnapshotIsKnownOnceTheTableIsOpen) {
  Open();
  Fill();
  const Snapshot* const before = db()->GetSnapshot();
  for (const char* key : {"x", "y", "z"}) Put(key, "v");
  DeleteFrom(0, kKeys);
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_GE(Files(kTableFile).size(), 15u) << Levels();
  db()->ReleaseSnapshot(before);
  EXPECT_TRUE(LeavesTables(1)) << Levels();
  EXPECT_LT(BytesRead(), 16u << 10);
}

// A job opens some tables at a time. The newest tombstones cover no file whole.
TEST_F(CoveredFilesTest, AllTablesWithTombstonesAreOpenedInTheEnd) {
  options_.disable_auto_compactions = true;
  options_.level0_file_num_compaction_trigger = 1000;
  options_.level0_slowdown_writes_trigger = 1000;
  options_.level0_stop_writes_trigger = 1000;
  Open();
  Fill();
  const size_t filled = Files(kTableFile).size();
  DeleteFrom(0, kKeys);
  for (int i = 0; i < 150; i++) DeleteFrom(i, i + 1);
  Reopen();
  ASSERT_EQ(Files(kTableFile).size(), filled + 151);
  ASSERT_TRUE(db()->EnableAutoCompaction({Handle("default")}).ok());
  EXPECT_TRUE(LeavesTables(151)) << Levels();
  EXPECT_EQ(LiveKeys(), 0);
}

// While the job opens tables, a call in another family gets its turn, and is alone.
TEST_F(CoveredFilesTest, AFamilyWhoseJobFindsACallBeforeItStaysInTheQueue) {
  const auto tables = std::make_shared<GateToTables>(file_system());
  const std::unique_ptr<Env> env = NewCompositeEnv(tables);
  GateToKey filter;
  options_.env = env.get();
  options_.compaction_filter = &filter;
  options_.disable_auto_compactions = true;
  Open({"default", "other"});
  Fill();
  DeleteFrom(0, kKeys);
  Reopen();
  Put("gate", "v", "other");
  Flush("other");
  std::string value = Get("gate", "other");  // its table is open
  tables->closed = true;
  ASSERT_TRUE(db()->EnableAutoCompaction({Handle("default")}).ok());
  ASSERT_TRUE(Eventually([&] { return tables->arrived.load(); }));
  std::thread caller([&] {
    CompactRangeOptions options;
    options.exclusive_manual_compaction = true;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    const Status s = db()->CompactRange(options, Handle("other"), nullptr, nullptr);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  EXPECT_TRUE(Eventually([&] { return filter.arrived.load(); }));
  tables->closed = false;
  // The job asks, and is refused.
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_GE(Files(kTableFile).size(), 15u) << Levels();
  filter.open = true;
  caller.join();
  EXPECT_TRUE(LeavesTables(3)) << Levels();
  ASSERT_TRUE(Close().ok());
}

// A version of before, which the tombstone alone hides, must not come back with the files' own
// tombstones gone.
TEST_F(CoveredFilesTest, WhatTheyDeletedDoesNotComeBack) {
  options_.disable_auto_compactions = true;
  Open();
  Fill();
  for (int i = 0; i < kKeys; i += 2) Delete(KeyOf(i));
  Flush();
  DeleteFrom(0, kKeys);
  ASSERT_TRUE(db()->EnableAutoCompaction({Handle("default")}).ok());
  EXPECT_TRUE(LeavesTables(1)) << Levels();
  EXPECT_EQ(LiveKeys(), 0);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(LiveKeys(), 0);
}

}  // namespace
}  // namespace varve::testing
