// SPDX-License-Identifier: Apache-2.0

// Goal: a compaction takes what its family's shape or a call asks for, and nothing while it must
// not. Method: flush and compaction over a version set in memory, wired to each other, with no
// database.

#include "db/background/compaction_work.h"

#include "db/background/flush_work.h"
#include "tests/db/engine/parts_fixture.h"

namespace varve {
namespace {

class CompactionWorkTest : public PartsTest {
 protected:
  CompactionWorkTest() {
    flush_.set_compaction(&compaction_);
    ColumnFamilyOptions options;
    options.level0_file_num_compaction_trigger = 3;
    options.level_compaction_dynamic_level_bytes = false;
    family_ = MakeDefaultFamily(options);
  }

  // Makes a table of L0 over the whole range.
  void MakeTable() {
    Put(family_, "a", "1");
    Put(family_, "z", "2");
    EXPECT_TRUE(flush_.FlushFamilies({family_}, FlushOptions(), FlushReason::kManualFlush).ok());
  }
  void AwaitIdle() {
    DbLock lock(mu());
    while (flush_.Busy() || compaction_.Busy()) state().work.Wait();
  }

  ColumnFamily* family_ = nullptr;
  CountingPurger purger_;
  SpaceReserve reserve_{engine_->context, engine_->lifecycle};
  FlushWork flush_{FlushWork::Parts{engine_->context, engine_->options, state(), engine_->lifecycle,
                                    engine_->errors, engine_->stalls, engine_->log_gate,
                                    engine_->new_logs, engine_->tree, engine_->statistics, purger_,
                                    reserve_}};
  CompactionWork compaction_{CompactionWork::Parts{
      engine_->context, engine_->options, state(), engine_->lifecycle, engine_->errors,
      engine_->stalls, engine_->tree, engine_->statistics, flush_, purger_}};
};

TEST_F(CompactionWorkTest, L0IsCompactedAtItsTrigger) {
  MakeTable();
  MakeTable();
  AwaitIdle();
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({2}));
  MakeTable();
  AwaitIdle();
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({2, 1})) << "the oldest was moved";
  DbLock lock(mu());
  EXPECT_EQ(family_->work.Level(1).count, 1u);
  EXPECT_TRUE(family_->running_compactions.empty());
}

TEST_F(CompactionWorkTest, ACallFlushesAndCompactsItsRange) {
  MakeTable();
  Put(family_, "m", "3");
  EXPECT_TRUE(compaction_.CompactRange(family_, CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({0, 1}));
  DbLock lock(mu());
  EXPECT_EQ(compaction_.Running(), 0);
}

TEST_F(CompactionWorkTest, WhilePausedNothingBegins) {
  {
    DbLock lock(mu());
    engine_->tree.Pause();
  }
  for (int i = 0; i < 3; i++) {
    Put(family_, "a", "1");
    ExclusiveCommit exclusive(path_);
    DbLock lock(mu());
    EXPECT_TRUE(flush_.SwitchMemTables({family_}).ok());
    EXPECT_TRUE(flush_.FlushNow({family_->shared_from_this()}, FlushReason::kManualFlush).ok());
  }
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({3}));
  {
    DbLock lock(mu());
    EXPECT_EQ(compaction_.Running(), 0);
    engine_->tree.Continue();
    compaction_.ScheduleAll();
  }
  AwaitIdle();
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({2, 1}));
}

TEST_F(CompactionWorkTest, CallsAreRefusedWhileTheyAreDisabled) {
  MakeTable();
  compaction_.DisableManual();
  EXPECT_TRUE(
      compaction_.CompactRange(family_, CompactRangeOptions(), nullptr, nullptr).IsIncomplete());
  compaction_.EnableManual();
  EXPECT_TRUE(compaction_.CompactRange(family_, CompactRangeOptions(), nullptr, nullptr).ok());
}

TEST_F(CompactionWorkTest, ADroppedFamilyIsNotCompacted) {
  MakeTable();
  {
    DbLock lock(mu());
    family_->MarkDropped();
  }
  EXPECT_TRUE(compaction_.CompactRange(family_, CompactRangeOptions(), nullptr, nullptr)
                  .IsColumnFamilyDropped());
}

}  // namespace
}  // namespace varve
