// SPDX-License-Identifier: Apache-2.0

// Goal: frozen memtables, and no others, become tables of L0, in order. Method: the flush job over
// a version set in memory, with no database; its requests to other parts are counted.

#include "db/background/flush_work.h"

#include "tests/db/engine/parts_fixture.h"

namespace varve {
namespace {

class FlushWorkTest : public PartsTest {
 protected:
  FlushWorkTest() {
    flush_.set_compaction(&compactions_);
    family_ = MakeDefaultFamily();
  }

  Status Freeze() {
    ExclusiveCommit exclusive(path_);
    DbLock lock(mu());
    return flush_.SwitchMemTables({family_});
  }
  Status FlushNow() {
    DbLock lock(mu());
    return flush_.FlushNow({family_->shared_from_this()}, FlushReason::kManualFlush);
  }

  ColumnFamily* family_ = nullptr;
  IdleCompactions compactions_;
  CountingPurger purger_;
  SpaceReserve reserve_{engine_->context, engine_->lifecycle};
  FlushWork flush_{FlushWork::Parts{engine_->context, engine_->options, state(), engine_->lifecycle,
                                    engine_->errors, engine_->stalls, engine_->log_gate,
                                    engine_->new_logs, engine_->tree, engine_->statistics, purger_,
                                    reserve_}};
};

TEST_F(FlushWorkTest, AnEmptyMemTableIsNotFrozen) {
  EXPECT_TRUE(Freeze().ok());
  DbLock lock(mu());
  EXPECT_EQ(family_->unflushed_count(), 0);
}

TEST_F(FlushWorkTest, WhatIsFrozenBecomesOneTableAndLeavesItsLog) {
  Put(family_, "a", "1");
  EXPECT_TRUE(Freeze().ok());
  Put(family_, "b", "2");
  EXPECT_TRUE(Freeze().ok());
  EXPECT_TRUE(FlushNow().ok());
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({1}));
  EXPECT_EQ(compactions_.scheduled, 1);
  DbLock lock(mu());
  EXPECT_EQ(family_->unflushed_count(), 0);
  EXPECT_EQ(family_->versions()->log_number, state().logs->current_number());
  EXPECT_EQ(family_->work.flushes, 1u);
}

TEST_F(FlushWorkTest, ABackgroundThreadTakesWhatIsRequested) {
  Put(family_, "a", "1");
  EXPECT_TRUE(flush_.FlushFamilies({family_}, FlushOptions(), FlushReason::kManualFlush).ok());
  EXPECT_EQ(FilesPerLevel(family_), std::vector<int>({1}));
  DbLock lock(mu());
  while (flush_.Busy()) state().work.Wait();
  EXPECT_GE(purger_.purges, 1);
}

TEST_F(FlushWorkTest, WhilePausedNothingBegins) {
  Put(family_, "a", "1");
  EXPECT_TRUE(Freeze().ok());
  DbLock lock(mu());
  engine_->tree.Pause();
  flush_.Request({family_}, FlushReason::kManualFlush);
  EXPECT_EQ(flush_.scheduled(), 0);
  EXPECT_TRUE(flush_.Busy());
  engine_->tree.Continue();
  flush_.Schedule();
  while (flush_.Busy()) state().work.Wait();
  EXPECT_EQ(family_->unflushed_count(), 0);
}

TEST_F(FlushWorkTest, AHardErrorKeepsMemoryForItsRecovery) {
  Put(family_, "a", "1");
  EXPECT_TRUE(Freeze().ok());
  DbLock lock(mu());
  engine_->errors.Report(Status::IOError("disk"), BackgroundErrorReason::kFlush);
  EXPECT_EQ(recovery_.started, 1);
  flush_.Request({family_}, FlushReason::kManualFlush);
  EXPECT_EQ(flush_.scheduled(), 0);
  EXPECT_EQ(family_->unflushed_count(), 1);
}

}  // namespace
}  // namespace varve
