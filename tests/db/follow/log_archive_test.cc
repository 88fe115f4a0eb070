// SPDX-License-Identifier: Apache-2.0

// Goal: with WAL_ttl_seconds or WAL_size_limit_MB obsolete logs are there to be read, from the
// first write on, until they are too old or too much; nothing of that is needed to open, and
// nothing of it stays after DestroyDB. Method: a database in memory, reopened, killed, read on.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/wal_iterator.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

class LogArchiveTest : public Database {
 protected:
  LogArchiveTest() { options_.WAL_size_limit_MB = 1000; }

  // Also waits for the end of the job, which archives the log after its table is installed; by then
  // the call of a flush may have returned.
  void Flush() {
    Database::Flush();
    EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  }
  // Values that can be read from there on, and the error, if any.
  std::string ValuesSince(SequenceNumber from) {
    std::unique_ptr<TransactionLogIterator> it;
    Status s = db()->GetUpdatesSince(from, &it);
    std::string text;
    for (; s.ok() && it->Valid(); it->Next()) text += std::to_string(it->GetBatch().sequence) + " ";
    if (s.ok()) s = it->status();
    return text + (s.ok() ? "" : s.ToString());
  }
  std::vector<std::string> Archived() { return Files(kWalFile, ArchivalDirectory(kName)); }
  std::string Listed() {
    VectorWalPtr files;
    EXPECT_TRUE(db()->GetSortedWalFiles(files).ok());
    std::string text;
    for (const auto& file : files) {
      EXPECT_EQ(file->Type() == kArchivedLogFile, file->PathName().starts_with("/archive/"));
      EXPECT_GT(file->SizeFileBytes(), 0u);
      text +=
          (file->Type() == kArchivedLogFile ? "a" : "l") + std::to_string(file->StartSequence());
      text += " ";
    }
    return text;
  }
};

TEST_F(LogArchiveTest, IsReadAcrossFlushesAndOpenings) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Put("c", "3");
  EXPECT_EQ(ValuesSince(1), "1 2 3 ");
  // The flush leaves it to a background job to move the log.
  EXPECT_TRUE(Eventually([&] { return Listed() == "a1 l2 "; })) << Listed();
  Reopen();
  Put("d", "4");
  EXPECT_EQ(ValuesSince(1), "1 2 3 4 ");
  EXPECT_EQ(ValuesSince(3), "3 4 ");
  Kill();
  Open();
  Put("e", "5");
  EXPECT_EQ(ValuesSince(1), "1 2 3 4 5 ");
  EXPECT_EQ(Archived().size(), 3u);
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(ValuesSince(2), "2 3 4 5 ");
}

TEST_F(LogArchiveTest, AReaderGoesFromTheArchiveToTheCurrentLog) {
  Open();
  Put("a", "1");
  Flush();
  std::unique_ptr<TransactionLogIterator> it;
  ASSERT_TRUE(db()->GetUpdatesSince(1, &it).ok());
  Put("b", "2");
  Flush();  // it is held, and archived later
  Put("c", "3");
  for (SequenceNumber seq = 1; seq <= 3; seq++) {
    ASSERT_TRUE(it->Valid()) << seq;
    EXPECT_EQ(it->GetBatch().sequence, seq);
    it->Next();
  }
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  it.reset();
  EXPECT_TRUE(Eventually([&] { return Archived().size() == 2; }));
}

TEST_F(LogArchiveTest, KeepsAsManyAsTheLimitHoldsOfTheLargest) {
  options_.WAL_size_limit_MB = 1;
  Open();
  for (int i = 0; i < 6; i++) {
    Put(std::to_string(i), std::string(300 << 10, 'v'));
    Flush();
  }
  EXPECT_EQ(Archived().size(), 3u);
  EXPECT_NE(ValuesSince(1).find("NotFound"), std::string::npos) << ValuesSince(1);
  EXPECT_EQ(ValuesSince(4), "4 5 6 ");
}

TEST_F(LogArchiveTest, WhatIsTooOldGoesWithoutAnyWrite) {
  options_.WAL_size_limit_MB = 0;
  options_.WAL_ttl_seconds = 1;
  Open();
  Put("a", "1");
  Flush();
  EXPECT_EQ(Archived().size(), 1u);
  EXPECT_TRUE(Eventually([&] { return Archived().empty(); }));
}

TEST_F(LogArchiveTest, TakesTheFilesThatWouldBeWrittenOver) {
  options_.recycle_log_file_num = 2;
  Open();
  EXPECT_EQ(db()->GetDBOptions().recycle_log_file_num, 0u);
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  EXPECT_TRUE(db()->Put(unlogged, "a", "1").ok());
}

TEST_F(LogArchiveTest, IsDestroyedWithTheDatabase) {
  for (const std::string& wal_dir : {std::string(), std::string("/logs")}) {
    options_.wal_dir = wal_dir;
    Open();
    Put("a", "1");
    Flush();
    const std::string archive = ArchivalDirectory(wal_dir.empty() ? kName : wal_dir);
    EXPECT_EQ(Files(kWalFile, archive).size(), 1u) << archive;
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    EXPECT_TRUE(mem().FileExists(archive, IOOptions(), nullptr).IsNotFound()) << archive;
  }
}

// The log may hold a write that failed.
TEST_F(LogArchiveTest, ALogThatFailedIsNotArchived) {
  options_.max_bgerror_resume_count = 0;
  Open();
  Put("a", "1");
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.path_contains = ".log";
  faults().Inject(rule);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_FALSE(db()->Put(sync, "b", "failed").ok());
  faults().ClearFaults();
  ASSERT_TRUE(db()->Resume().ok());
  Put("c", "3");
  EXPECT_TRUE(Archived().empty());
}

}  // namespace
}  // namespace varve::testing
