// SPDX-License-Identifier: Apache-2.0

// Goal: a write waits, or is told to wait, for exactly what holds writers back. Method: the parts
// that hold them back, without a database; stand-ins for flush and compaction answer, and end what
// is waited for.

#include "db/engine/write_admission.h"

#include "tests/db/engine/parts_fixture.h"

namespace varve {
namespace {

class StandInFlusher final : public MemTableFlusher {
 public:
  bool AnythingFull() override { return full; }
  bool AnythingDue() override { return full; }
  Status SwitchFullMemTables() override {
    switches++;
    full = false;
    return Status::OK();
  }
  void FlushStopped() override {
    asked++;
    if (on_asked != nullptr) on_asked();
  }

  bool full = false;
  int switches = 0;
  int asked = 0;
  std::function<void()> on_asked;
};

class WriteAdmissionTest : public PartsTest {
 protected:
  WriteAdmissionTest() {
    ColumnFamilyOptions options;
    options.max_write_buffer_number = 2;
    family_ = MakeDefaultFamily(options);
    no_slowdown_.no_slowdown = true;
  }

  // Lets the next writer ask for admission.
  Status Admit(const WriteOptions& options = WriteOptions()) {
    engine_->stalls.slow_path().Set();
    return admission_.Admit(options, 100);
  }
  // Makes as many immutable memtables as stop writes.
  void Stop() {
    Put(family_, "a", "1");
    DbLock lock(mu());
    for (int i = 0; i < 2; i++) {
      family_->SwitchMemTable(family_->NewMemTable(1), 1);
    }
    engine_->stalls.Update();
    EXPECT_TRUE(engine_->stalls.stopped());
  }
  void EndStop() VARVE_REQUIRES(kDbMutex) {
    family_->DropFlushed(2);
    engine_->stalls.Update();
  }

  ColumnFamily* family_ = nullptr;
  WriteOptions no_slowdown_;
  StandInFlusher flusher_;
  IdleCompactions compactions_;
  WriteAdmission admission_{{mu(), path_, engine_->context, engine_->lifecycle, engine_->stalls,
                             engine_->errors, engine_->log_gate, flusher_, compactions_}};
};

TEST_F(WriteAdmissionTest, WithoutTheFlagNobodyLooks) {
  engine_->stalls.slow_path().Set(false);
  flusher_.full = true;
  EXPECT_TRUE(admission_.Admit(WriteOptions(), 100).ok());
  EXPECT_EQ(flusher_.switches, 0);
}

TEST_F(WriteAdmissionTest, AFullMemTableIsSwitchedWithWritersKeptOut) {
  flusher_.full = true;
  EXPECT_TRUE(Admit().ok());
  EXPECT_EQ(flusher_.switches, 1);
  EXPECT_EQ(path_->entered, 1);
  EXPECT_FALSE(path_->held);
  EXPECT_TRUE(admission_.Admit(WriteOptions(), 100).ok());
  EXPECT_EQ(flusher_.switches, 1);
  EXPECT_FALSE(engine_->stalls.slow_path().is_set()) << "nothing lasts";
}

TEST_F(WriteAdmissionTest, NoSlowdownDoesNotWaitForWhoHoldsTheLog) {
  flusher_.full = true;
  path_->busy = true;
  EXPECT_TRUE(Admit(no_slowdown_).IsIncomplete());
  EXPECT_EQ(flusher_.switches, 0);
  EXPECT_TRUE(engine_->stalls.slow_path().is_set()) << "it is full still";
}

TEST_F(WriteAdmissionTest, AStoppedWriterAsksForWorkAndGoesOnWhenItIsDone) {
  Stop();
  EXPECT_TRUE(Admit(no_slowdown_).IsIncomplete());
  flusher_.on_asked = [this] {
    mu()->AssertHeld();
    if (flusher_.asked == 2) EndStop();
  };
  EXPECT_TRUE(Admit().ok());
  EXPECT_GE(flusher_.asked, 2);
  DbLock lock(mu());
  EXPECT_EQ(engine_->stalls.totals().stopped_writes, 1u);
  EXPECT_FALSE(engine_->stalls.AnyWaits());
  engine_->stalls.ResetTotals();
  EXPECT_EQ(engine_->stalls.totals().stopped_writes, 0u);
}

TEST_F(WriteAdmissionTest, AnErrorEndsTheWait) {
  Stop();
  flusher_.on_asked = [this] {
    mu()->AssertHeld();
    engine_->errors.Report(Status::IOError("disk"), BackgroundErrorReason::kFlush);
  };
  EXPECT_TRUE(Admit().IsIOError());
  EXPECT_GE(recovery_.started, 1);
}

TEST_F(WriteAdmissionTest, LockWalHoldsWritersBackButForOnesThatMayWait) {
  EXPECT_TRUE(engine_->log_gate.Lock().ok());
  EXPECT_TRUE(path_->held);
  EXPECT_TRUE(Admit(no_slowdown_).IsIncomplete());
  EXPECT_TRUE(engine_->log_gate.Unlock().ok());
  EXPECT_FALSE(path_->held);
  EXPECT_TRUE(Admit(no_slowdown_).ok());
  EXPECT_TRUE(engine_->log_gate.Unlock().IsAborted());
}

TEST_F(WriteAdmissionTest, LowPriorityWaitsForCompactionsOnly) {
  EXPECT_TRUE(admission_.YieldToCompaction(no_slowdown_, 100).ok());
  compactions_.busy = true;
  EXPECT_TRUE(admission_.YieldToCompaction(no_slowdown_, 100).IsIncomplete());
}

}  // namespace
}  // namespace varve
