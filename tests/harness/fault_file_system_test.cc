// SPDX-License-Identifier: Apache-2.0
// Faults strike the intended calls, and the functions of durable_write.h report them.

#include "tests/harness/fault_file_system.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"
#include "util/env/random_access_file_reader.h"
#include "util/env/sequential_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve {
namespace {

const IOOptions kFaultIo;

class FaultTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(mem_->CreateDir("/db", kFaultIo, nullptr).ok());
    ASSERT_TRUE(SyncDirectory(mem_.get(), "/").ok());
  }
  std::string Contents(const std::string& path) {
    std::string out;
    IOStatus s = ReadFileToString(mem_.get(), path, 1 << 30, &out);
    return s.ok() ? out : s.ToString();
  }
  std::unique_ptr<WritableFileWriter> Writer(const std::string& path) {
    std::unique_ptr<WritableFileWriter> w;
    EXPECT_TRUE(WritableFileWriter::Create(&fs_, path, {}, {}, &w).ok());
    return w;
  }

  std::shared_ptr<MemFileSystem> mem_ = std::make_shared<MemFileSystem>();
  FaultFileSystem fs_{mem_};
};

TEST_F(FaultTest, TheNthCallFailsOnce) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kWrite);
  rule.nth = 2;
  rule.retryable = true;
  fs_.Inject(rule);
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(fs_.NewWritableFile("/db/a", {}, &f, nullptr).ok());
  EXPECT_TRUE(f->Append("1", kFaultIo, nullptr).ok());
  IOStatus s = f->Append("2", kFaultIo, nullptr);
  EXPECT_TRUE(s.IsIOError());
  EXPECT_TRUE(s.GetRetryable());
  EXPECT_TRUE(f->Append("3", kFaultIo, nullptr).ok());
  EXPECT_EQ(Contents("/db/a"), "13");
  EXPECT_EQ(fs_.strikes(), 1u);
  EXPECT_EQ(fs_.calls(FaultCall::kWrite), 3u);
  EXPECT_EQ(fs_.calls(FaultCall::kCreate), 1u);
}

TEST_F(FaultTest, StickyRulesFailUntilCleared) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.path_contains = ".log";
  rule.sticky = true;
  rule.effect = FaultEffect::kNoSpace;
  fs_.Inject(rule);
  std::unique_ptr<FSWritableFile> log;
  std::unique_ptr<FSWritableFile> table;
  ASSERT_TRUE(fs_.NewWritableFile("/db/1.log", {}, &log, nullptr).ok());
  ASSERT_TRUE(fs_.NewWritableFile("/db/2.sst", {}, &table, nullptr).ok());
  EXPECT_TRUE(table->Sync(kFaultIo, nullptr).ok());
  EXPECT_TRUE(log->Sync(kFaultIo, nullptr).IsNoSpace());
  EXPECT_TRUE(log->Fsync(kFaultIo, nullptr).IsNoSpace());
  fs_.ClearFaults();
  EXPECT_TRUE(log->Sync(kFaultIo, nullptr).ok());
}

TEST_F(FaultTest, ShortWritesLeaveTheFirstHalf) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kWrite);
  rule.effect = FaultEffect::kShortWrite;
  fs_.Inject(rule);
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(fs_.NewWritableFile("/db/a", {}, &f, nullptr).ok());
  EXPECT_FALSE(f->Append("0123456789", kFaultIo, nullptr).ok());
  EXPECT_EQ(Contents("/db/a"), "01234");
}

TEST_F(FaultTest, DroppedSyncsLieAndACrashShowsIt) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.effect = FaultEffect::kDropSync;
  fs_.Inject(rule);
  ASSERT_TRUE(WriteFileDurably(&fs_, "/db", "t", "a", std::string("x")).ok());
  std::string out;
  const auto clone = mem_->CrashClone(CrashPolicy::kSyncedOnly, 1);
  ASSERT_TRUE(ReadFileToString(clone.get(), "/db/a", 100, &out).ok());
  EXPECT_EQ(out, "");
}

TEST_F(FaultTest, AFileWhoseSyncFailedIsNeverDurable) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.effect = FaultEffect::kFailAndForget;
  fs_.Inject(rule);
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(fs_.NewWritableFile("/db/a", {}, &f, nullptr).ok());
  ASSERT_TRUE(f->Append("x", kFaultIo, nullptr).ok());
  EXPECT_FALSE(f->Sync(kFaultIo, nullptr).ok());
  fs_.ClearFaults();
  EXPECT_TRUE(f->Sync(kFaultIo, nullptr).ok());
  EXPECT_EQ(Contents("/db/a"), "x");
  const auto clone = mem_->CrashClone(CrashPolicy::kAllNames, 1);
  std::string out;
  ASSERT_TRUE(ReadFileToString(clone.get(), "/db/a", 100, &out).ok());
  EXPECT_LE(out.size(), 1u);
  // Another file of that name is not affected.
  ASSERT_TRUE(fs_.DeleteFile("/db/a", kFaultIo, nullptr).ok());
  ASSERT_TRUE(WriteFileDurably(&fs_, "/db", "t", "a", std::string("y")).ok());
  ASSERT_TRUE(
      ReadFileToString(mem_->CrashClone(CrashPolicy::kSyncedOnly, 1).get(), "/db/a", 100, &out)
          .ok());
  EXPECT_EQ(out, "y");
}

TEST_F(FaultTest, TheQuotaFillsTheDiskAndCanBeReleased) {
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(fs_.NewWritableFile("/db/a", {}, &f, nullptr).ok());
  fs_.SetByteQuota(5);
  EXPECT_TRUE(f->Append("012", kFaultIo, nullptr).ok());
  IOStatus s = f->Append("3456", kFaultIo, nullptr);
  EXPECT_TRUE(s.IsNoSpace());
  EXPECT_EQ(Contents("/db/a"), "01234");
  std::unique_ptr<FSWritableFile> g;
  EXPECT_TRUE(fs_.NewWritableFile("/db/b", {}, &g, nullptr).IsNoSpace());
  fs_.ReleaseQuota();
  EXPECT_TRUE(f->Append("more", kFaultIo, nullptr).ok());
}

TEST_F(FaultTest, SpoiledReadsAreSeenByReadersButNotInTheFile) {
  ASSERT_TRUE(WriteFileDurably(&fs_, "/db", "t", "a", std::string("0123456789")).ok());
  std::unique_ptr<RandomAccessFileReader> r;
  ASSERT_TRUE(RandomAccessFileReader::Open(&fs_, "/db/a", {}, {}, &r).ok());
  char scratch[16];
  Slice result;
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.effect = FaultEffect::kShortRead;
  fs_.Inject(rule);
  ASSERT_TRUE(r->Read(0, 10, &result, scratch).ok());
  EXPECT_EQ(result.ToString(), "0123456789");
  fs_.ClearFaults();
  rule.effect = FaultEffect::kCorruptRead;
  fs_.Inject(rule);
  ASSERT_TRUE(r->Read(0, 10, &result, scratch).ok());
  EXPECT_NE(result.ToString(), "0123456789");
  ASSERT_TRUE(r->Read(0, 10, &result, scratch).ok());
  EXPECT_EQ(result.ToString(), "0123456789");
  fs_.ClearFaults();
  rule.effect = FaultEffect::kIoError;
  fs_.Inject(rule);
  EXPECT_TRUE(r->Read(0, 10, &result, scratch).IsIOError());
}

TEST_F(FaultTest, AReadErrorInALogIsNotItsEnd) {
  ASSERT_TRUE(WriteFileDurably(&fs_, "/db", "t", "a", std::string(300000, 'x')).ok());
  std::unique_ptr<SequentialFileReader> r;
  ASSERT_TRUE(SequentialFileReader::Open(&fs_, "/db/a", {}, &r, 64 * 1024).ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.nth = 3;
  fs_.Inject(rule);
  std::string scratch(32768, '\0');
  Slice result;
  uint64_t total = 0;
  IOStatus s;
  for (int i = 0; i < 20; ++i) {
    s = r->Read(scratch.size(), &result, scratch.data());
    if (!s.ok() || result.empty()) break;
    total += result.size();
  }
  EXPECT_TRUE(s.IsIOError());
  EXPECT_EQ(total, 2u * 64 * 1024);
}

// Every call of a durable write fails in turn: the function reports it, and the file holds its old
// contents, or the new ones if only the directory's sync failed.
TEST_F(FaultTest, DurableWritesReportAFailureAtEveryCall) {
  ASSERT_TRUE(WriteFileDurably(&fs_, "/db", "0.tmp", "a", std::string("old")).ok());
  fs_.ResetCounters();
  ASSERT_TRUE(WriteFileDurably(&fs_, "/db", "1.tmp", "a", std::string("old")).ok());
  const uint64_t calls = fs_.total_calls();
  ASSERT_GE(calls, 6u);
  for (const FaultEffect effect :
       {FaultEffect::kIoError, FaultEffect::kNoSpace, FaultEffect::kShortWrite}) {
    for (uint64_t nth = 1; nth <= calls; ++nth) {
      SCOPED_TRACE(nth);
      ASSERT_TRUE(WriteFileDurably(mem_.get(), "/db", "0.tmp", "a", std::string("old")).ok());
      FaultRule rule;
      rule.nth = nth;
      rule.effect = effect;
      fs_.Inject(rule);
      IOStatus s = WriteFileDurably(&fs_, "/db", "2.tmp", "a", std::string("new"));
      EXPECT_FALSE(s.ok());
      EXPECT_EQ(fs_.strikes(), 1u);
      fs_.ClearFaults();
      const std::string contents = Contents("/db/a");
      EXPECT_TRUE(contents == "old" || contents == "new") << contents;
      EXPECT_TRUE(mem_->FileExists("/db/2.tmp", kFaultIo, nullptr).IsNotFound());
    }
  }
}

TEST_F(FaultTest, AWriterThatFailedOnceNeverReportsSuccessAgain) {
  for (const FaultCall call : {FaultCall::kWrite, FaultCall::kSync}) {
    auto w = Writer("/db/1.log");
    ASSERT_TRUE(w->Append(Slice("first")).ok());
    FaultRule rule;
    rule.calls = Only(call);
    fs_.Inject(rule);
    EXPECT_TRUE(w->Sync(false).IsIOError());
    fs_.ClearFaults();
    EXPECT_TRUE(w->has_failed());
    EXPECT_TRUE(w->status().IsIOError());
    EXPECT_TRUE(w->Append(Slice("more")).IsIOError());
    EXPECT_TRUE(w->Flush().IsIOError());
    EXPECT_TRUE(w->Sync(false).IsIOError());
    EXPECT_TRUE(w->SyncWithoutFlush(true).IsIOError());
    EXPECT_TRUE(w->Close().IsIOError());
    EXPECT_TRUE(w->Close().IsIOError());
  }
}

}  // namespace
}  // namespace varve
