// SPDX-License-Identifier: Apache-2.0

// Goal: a Status says the same things, in the same words, as the programs that read it expect, and
// costs nothing when it has nothing to say.

#include "varve/status.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "varve/io_status.h"

#include "util/base/status_macros.h"

namespace varve {
namespace {

struct StatusText {
  Status status;
  const char* text;
};

TEST(StatusTest, PrintsKindSubcodeAndMessage) {
  const StatusText kCases[] = {
      {Status::OK(), "OK"},
      {Status::OkOverwritten(), "OK"},
      {Status::NotFound(), "NotFound: "},
      {Status::NotFound("k"), "NotFound: k"},
      {Status::Corruption("block", "at 7"), "Corruption: block: at 7"},
      {Status::NotSupported("x"), "Not implemented: x"},
      {Status::InvalidArgument("x"), "Invalid argument: x"},
      {Status::IOError("f", "gone"), "IO error: f: gone"},
      {Status::MergeInProgress("x"), "Merge in progress: x"},
      {Status::Incomplete("x"), "Result incomplete: x"},
      {Status::ShutdownInProgress("x"), "Shutdown in progress: x"},
      {Status::TimedOut(Status::kLockTimeout), "Operation timed out: Timeout waiting to lock key"},
      {Status::Aborted("x"), "Operation aborted: x"},
      {Status::Busy(Status::kDeadlock), "Resource busy: Deadlock"},
      {Status::Expired("x"), "Operation expired: x"},
      {Status::TryAgain("x"), "Operation failed. Try again.: x"},
      {Status::CompactionTooLarge("x"), "Compaction too large: x"},
      {Status::ColumnFamilyDropped("x"), "Column family dropped: x"},
      {Status::NoSpace(), "IO error: No space left on device"},
      {Status::NoSpace("f"), "IO error: No space left on device: f"},
      {Status::SpaceLimit(), "IO error: Space limit reached"},
      {Status::PathNotFound("p"), "IO error: No such file or directory: p"},
      {Status::MemoryLimit("m"), "Operation aborted: Memory limit reached: m"},
      {Status::TxnNotPrepared(), "Invalid argument: Txn not prepared"},
  };
  for (const StatusText& c : kCases) EXPECT_EQ(c.status.ToString(), c.text);
}

TEST(StatusTest, AnUnknownCodeStillPrints) {
  const Status odd(static_cast<Status::Code>(99), static_cast<Status::SubCode>(98),
                   Status::kNoError, "m");
  EXPECT_EQ(odd.ToString(), "Unknown code(99): m");
}

TEST(StatusTest, PredicatesAskForCodeAndSubcode) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(Status::OkOverwritten().IsOkOverwritten());
  EXPECT_FALSE(Status().IsOkOverwritten());
  EXPECT_TRUE(Status::NoSpace().IsNoSpace());
  EXPECT_TRUE(Status::NoSpace().IsIOError());
  EXPECT_FALSE(Status::IOError().IsNoSpace());
  EXPECT_TRUE(Status::MemoryLimit().IsMemoryLimit());
  EXPECT_TRUE(Status::MemoryLimit().IsAborted());
  EXPECT_TRUE(Status::LockLimit().IsLockLimit());
  EXPECT_TRUE(Status::Busy(Status::kDeadlock).IsDeadlock());
  EXPECT_FALSE(Status::Busy().IsDeadlock());
  EXPECT_TRUE(Status::PathNotFound().IsPathNotFound());
  EXPECT_TRUE(Status::NotFound(Status::kPathNotFound).IsPathNotFound());
  EXPECT_FALSE(Status::Aborted(Status::kPathNotFound).IsPathNotFound());
  EXPECT_TRUE(Status::Incomplete(Status::kManualCompactionPaused).IsManualCompactionPaused());
  EXPECT_TRUE(Status::TxnNotPrepared().IsTxnNotPrepared());
  EXPECT_TRUE(IOStatus::IOFenced().IsIOFenced());
}

TEST(StatusTest, ComparesByCodeOnly) {
  EXPECT_EQ(Status::NotFound("a"), Status::NotFound("b"));
  EXPECT_NE(Status::NotFound(), Status::Corruption());
}

TEST(StatusTest, ACopyIsIndependentAndAMoveEmptiesItsSource) {
  Status first(Status::kIOError, Status::kNoSpace, Status::kHardError, "disk");
  Status copy = first;
  EXPECT_NE(copy.getState(), first.getState());
  const Status moved = std::move(first);
  EXPECT_TRUE(first.ok());  // NOLINT(bugprone-use-after-move): that it is OK is the promise
  EXPECT_EQ(first.getState(), nullptr);
  for (const Status* s : {&std::as_const(copy), &moved}) {
    EXPECT_EQ(s->ToString(), "IO error: No space left on device: disk");
    EXPECT_EQ(s->severity(), Status::kHardError);
  }
  copy = Status::OK();
  EXPECT_EQ(copy.getState(), nullptr);
}

TEST(StatusTest, AssigningToItselfChangesNothing) {
  Status s = Status::Corruption("c");
  const Status& same = s;
  s = same;
  EXPECT_EQ(s.ToString(), "Corruption: c");
}

TEST(StatusTest, SeverityIsReplacedInACopy) {
  const Status soft(Status::IOError("f"), Status::kSoftError);
  EXPECT_EQ(soft.severity(), Status::kSoftError);
  EXPECT_EQ(soft.ToString(), "IO error: f");
}

TEST(StatusTest, TheFirstErrorIsKept) {
  Status s;
  s.UpdateIfOk(Status::OK()).UpdateIfOk(Status::Busy("1")).UpdateIfOk(Status::Aborted("2"));
  EXPECT_EQ(s.ToString(), "Resource busy: 1");
}

TEST(StatusTest, AppendingKeepsWhatWasSaid) {
  EXPECT_EQ(Status::CopyAppendMessage(Status::NoSpace("f"), "; ", "g").ToString(),
            "IO error: No space left on device: f; g");
  EXPECT_EQ(Status::CopyAppendMessage(Status::NotFound(), "", "g").ToString(), "NotFound: g");
}

TEST(StatusTest, AMessageMayHoldBytesOfAnyKind) {
  const std::string long_text(100000, 'x');
  EXPECT_EQ(Status::Corruption(long_text).ToString(), "Corruption: " + long_text);
  EXPECT_EQ(Status::Corruption(Slice("a\0b", 3)).ToString(), "Corruption: a");
}

TEST(StatusTest, IoDetailsSurviveTheWayThroughStatus) {
  IOStatus io = IOStatus::IOError("f");
  io.SetRetryable(true);
  io.SetDataLoss(true);
  io.SetScope(IOStatus::kIOErrorScopeFile);
  Status plain = io;
  const IOStatus back = status_to_io_status(std::move(plain));
  EXPECT_TRUE(back.GetRetryable());
  EXPECT_TRUE(back.GetDataLoss());
  EXPECT_EQ(back.GetScope(), IOStatus::kIOErrorScopeFile);
  EXPECT_EQ(back.ToString(), "IO error: f");
}

Status Pass(const Status& s, int* reached) {
  VARVE_RETURN_IF_ERROR(s);
  ++*reached;
  return Status::OK();
}

TEST(StatusTest, TheMacroReturnsErrorsOnly) {
  int reached = 0;
  EXPECT_TRUE(Pass(Status::OK(), &reached).ok());
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(Pass(Status::Busy("b"), &reached).ToString(), "Resource busy: b");
  EXPECT_EQ(reached, 1);
}

TEST(StatusTest, HasNoStateWithoutAMessage) {
  static_assert(sizeof(Status) == 16);
  static_assert(sizeof(IOStatus) == sizeof(Status));
  for (const Status& s : {Status::OK(), Status::NotFound(), Status::NoSpace(),
                          Status::TimedOut(Status::kMutexTimeout), Status::TryAgain()}) {
    EXPECT_EQ(s.getState(), nullptr);
  }
}

}  // namespace
}  // namespace varve
