// SPDX-License-Identifier: Apache-2.0

// Goal: the severity of an error follows from what it is and who met it, gets only worse until it
// is lifted, and a fatal one stays. Method: the table of kinds and reasons, then sequences.

#include "db/engine/error_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace varve {
namespace {

using Severity = ErrorState::Severity;
using Reason = BackgroundErrorReason;

TEST(ErrorStateTest, SeverityFollowsKindAndReason) {
  struct Kind {
    const char* name;
    Status error;
    Severity elsewhere;
    Severity in_compaction;
  };
  const Kind kKinds[] = {
      {"ok", Status::OK(), Severity::kNone, Severity::kNone},
      {"shutdown", Status::ShutdownInProgress(), Severity::kNone, Severity::kNone},
      {"family dropped", Status::ColumnFamilyDropped(), Severity::kNone, Severity::kNone},
      {"io error", Status::IOError("x"), Severity::kHard, Severity::kSoft},
      {"no space", Status::NoSpace(), Severity::kHard, Severity::kSoft},
      {"aborted", Status::Aborted(), Severity::kHard, Severity::kSoft},
      {"corruption", Status::Corruption("x"), Severity::kFatal, Severity::kFatal},
  };
  DbMutex mu;
  DbLock lock(&mu);
  for (const Kind& kind : kKinds) {
    for (const Reason reason :
         {Reason::kFlush, Reason::kWriteCallback, Reason::kMemTable, Reason::kManifestWrite,
          Reason::kFlushNoWAL, Reason::kManifestWriteNoWAL, Reason::kCompaction}) {
      SCOPED_TRACE(std::string(kind.name) + ", reason " + std::to_string(static_cast<int>(reason)));
      const Severity expected = reason == Reason::kCompaction ? kind.in_compaction : kind.elsewhere;
      EXPECT_EQ(ErrorState::Judge(kind.error, reason), expected);
      ErrorState state;
      const Status now = state.Report(kind.error, reason);
      EXPECT_EQ(state.severity(), expected);
      EXPECT_EQ(now.ok(), expected == Severity::kNone);
      EXPECT_EQ(now.severity(), expected == Severity::kNone   ? Status::kNoError
                                : expected == Severity::kSoft ? Status::kSoftError
                                : expected == Severity::kHard ? Status::kHardError
                                                              : Status::kUnrecoverableError);
      EXPECT_EQ(state.writes_stopped(), expected >= Severity::kHard);
      EXPECT_EQ(state.recoverable(), expected == Severity::kSoft || expected == Severity::kHard);
      EXPECT_EQ(state.Lift(), expected != Severity::kFatal);
      EXPECT_EQ(state.severity(), expected == Severity::kFatal ? expected : Severity::kNone);
      EXPECT_EQ(state.writes_stopped(), expected == Severity::kFatal);
    }
  }
}

TEST(ErrorStateTest, ListenersAnswerOnceForEachError) {
  DbMutex mu;
  DbLock lock(&mu);
  ErrorState state;
  EXPECT_EQ(state.TakeQuestion(), 0u) << "there is no error";
  for (const Reason reason : {Reason::kCompaction, Reason::kFlush}) {
    SCOPED_TRACE(static_cast<int>(reason));
    state.Report(Status::IOError("x"), reason).PermitUncheckedError();
    const uint64_t question = state.TakeQuestion();
    EXPECT_NE(question, 0u);
    EXPECT_FALSE(state.retries_itself()) << "not before the answer";
    EXPECT_FALSE(state.awaits_resume()) << "likewise";
    state.Report(Status::IOError("again"), reason).PermitUncheckedError();
    EXPECT_EQ(state.TakeQuestion(), 0u);
    state.Answer(question, false);
    EXPECT_FALSE(state.retries_itself());
    EXPECT_TRUE(state.awaits_resume());
    state.Report(Status::IOError("again"), reason).PermitUncheckedError();
    EXPECT_EQ(state.TakeQuestion(), 0u);
    EXPECT_TRUE(state.awaits_resume()) << "the answer counts until the error is over";
  }
  EXPECT_TRUE(state.Lift());
  state.Report(Status::IOError("another"), Reason::kFlush).PermitUncheckedError();
  const uint64_t question = state.TakeQuestion();
  EXPECT_NE(question, 0u);
  state.Answer(question - 1, false);
  EXPECT_FALSE(state.awaits_resume()) << "the answer was about an older error";
  state.Answer(question, true);
  EXPECT_TRUE(state.retries_itself());
}

TEST(ErrorStateTest, ASoftErrorIsOverWhenCompactionsWorkAndNotWhenTheyAreTriedAgain) {
  DbMutex mu;
  DbLock lock(&mu);
  ErrorState state(/*most_retries=*/2);
  for (uint64_t retry = 0; retry <= 2; retry++) {
    SCOPED_TRACE(retry);
    EXPECT_EQ(state.on_trial(), retry > 0);
    state.Report(Status::IOError("x"), Reason::kCompaction).PermitUncheckedError();
    EXPECT_FALSE(state.on_trial());
    if (retry == 0) state.Answer(state.TakeQuestion(), true);
    EXPECT_EQ(state.TakeQuestion(), 0u);
    EXPECT_EQ(state.retries(), retry);
    EXPECT_EQ(state.retries_itself(), retry < 2);
    EXPECT_EQ(state.awaits_resume(), retry == 2);
    if (retry == 2) break;
    ASSERT_TRUE(state.BeginAttempt());
    state.CountRetry();
    EXPECT_FALSE(state.awaits_resume()) << "an attempt is under way";
    EXPECT_TRUE(state.Lift());
    state.EndAttempt();
  }
  // A recovery from something worse shows nothing of compactions.
  state.Report(Status::IOError("y"), Reason::kFlush).PermitUncheckedError();
  EXPECT_EQ(state.retries(), 0u);
  EXPECT_TRUE(state.Lift());
  EXPECT_TRUE(state.on_trial());
  EXPECT_EQ(state.retries(), 2u);
  state.EndTrial();
  EXPECT_FALSE(state.on_trial());
  state.Report(Status::IOError("x"), Reason::kCompaction).PermitUncheckedError();
  EXPECT_EQ(state.retries(), 0u);
  EXPECT_NE(state.TakeQuestion(), 0u);
}

TEST(ErrorStateTest, AStateOnlyGetsWorseUntilLifted) {
  DbMutex mu;
  DbLock lock(&mu);
  ErrorState state;
  state.Report(Status::IOError("first soft"), Reason::kCompaction).PermitUncheckedError();
  for (int i = 0; i < 3; i++) state.CountRetry();
  state.Report(Status::IOError("second soft"), Reason::kCompaction).PermitUncheckedError();
  EXPECT_EQ(state.error().ToString(), Status::IOError("first soft").ToString());
  EXPECT_EQ(state.retries(), 3u);
  state.Report(Status::NoSpace("hard"), Reason::kFlush).PermitUncheckedError();
  EXPECT_EQ(state.severity(), Severity::kHard);
  EXPECT_TRUE(state.error().IsNoSpace());
  EXPECT_EQ(state.retries(), 0u) << "retries count from the error in force";
  const Status again = state.Report(Status::IOError("soft again"), Reason::kCompaction);
  EXPECT_TRUE(again.IsNoSpace()) << "what is reported is the error in force";
  state.Report(Status::Corruption("fatal"), Reason::kFlush).PermitUncheckedError();
  EXPECT_FALSE(state.recoverable());
  EXPECT_FALSE(state.Lift());
  EXPECT_TRUE(state.error().IsCorruption());
}

}  // namespace
}  // namespace varve
