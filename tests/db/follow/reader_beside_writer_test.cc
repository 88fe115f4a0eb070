// SPDX-License-Identifier: Apache-2.0

// Goal: a database that another process writes and compacts opens to be read, each time, and shows
// a prefix of what was written that never gets shorter. Method: a child writes numbered steps with
// small memtables and quick compactions, while the parent opens the directory read-only, reads all
// of it, and closes. VARVE_READER_OPENS=N sets the number of openings.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"

#include "tests/db/follow/numbered_history.h"
#include "tests/harness/child_process.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"

namespace varve::testing {

namespace {

Options BusyWriter(bool buffered_log) {
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 24 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  options.max_manifest_file_size = 8 << 10;
  options.info_log = SilentLogger();
  options.recycle_log_file_num = 0;
  options.allow_fallocate = !buffered_log;  // mapped logs need it
  return options;
}

void WriteForEver(const std::string& path, const Options& options) {
  DB* db = nullptr;
  Status s = DB::Open(options, path, &db);
  for (uint64_t n = 0; s.ok(); n += 100) {
    s = WriteHistory(db, {db->DefaultColumnFamily()}, n, n + 100, WriteOptions(), 100);
  }
  fprintf(stderr, "the writer: %s\n", s.ToString().c_str());
}

void OpenBesideWriter(bool buffered_log, uint64_t opens) {
  const FreshDirectory directory("reader");
  ChildProcess writer([&] { WriteForEver(directory.path(), BusyWriter(buffered_log)); });
  ASSERT_TRUE(Eventually([&] {
    std::vector<std::string> families;
    return DB::ListColumnFamilies(DBOptions(), directory.path(), &families).ok();
  }));
  Options options;
  options.info_log = SilentLogger();
  uint64_t before = 0;
  for (uint64_t i = 0; i < opens; i++) {
    std::unique_ptr<DB> db;
    const Status s = DB::OpenForReadOnly(options, directory.path(), &db);
    ASSERT_TRUE(s.ok()) << "opening " << i << ": " << s.ToString();
    const HistoryState state =
        ReadHistory(db.get(), {db->DefaultColumnFamily()}, ReadOptions(), i % 2 == 0);
    ASSERT_EQ(state.problem, "") << "opening " << i;
    ASSERT_GE(state.steps, before);
    before = state.steps;
  }
  EXPECT_GT(before, 0u);
  EXPECT_TRUE(writer.Kill());
}

TEST(ReaderBesideWriterTest, OpensEachTime) {
  if (!kChildrenMayHaveThreads) GTEST_SKIP() << "ThreadSanitizer does not follow its child";
  OpenBesideWriter(/*buffered_log=*/false, NumberFromEnvironment("VARVE_READER_OPENS", 10'000) / 2);
}

TEST(ReaderBesideWriterTest, OpensEachTimeWithABufferedLog) {
  if (!kChildrenMayHaveThreads) GTEST_SKIP() << "ThreadSanitizer does not follow its child";
  OpenBesideWriter(/*buffered_log=*/true, NumberFromEnvironment("VARVE_READER_OPENS", 10'000) / 2);
}

TEST(ReaderBesideWriterTest, SecondaryCatchesUpEachTime) {
  if (!kChildrenMayHaveThreads) GTEST_SKIP() << "ThreadSanitizer does not follow its child";
  const FreshDirectory directory("follower");
  ChildProcess writer([&] { WriteForEver(directory.path() + "/db", BusyWriter(false)); });
  std::unique_ptr<DB> db;
  Options options;
  options.info_log = SilentLogger();
  ASSERT_TRUE(Eventually([&] {
    return DB::OpenAsSecondary(options, directory.path() + "/db", directory.path() + "/own", &db)
        .ok();
  }));
  ASSERT_TRUE(Eventually(
      [&] { return db->TryCatchUpWithPrimary().ok() && db->GetLatestSequenceNumber() > 0; }));
  ReadOptions past;
  uint64_t past_steps = 0;
  uint64_t before = 0;
  const uint64_t rounds = NumberFromEnvironment("VARVE_READER_OPENS", 10'000) / 50;
  for (uint64_t i = 0; i < rounds; i++) {
    const Status s = db->TryCatchUpWithPrimary();
    ASSERT_TRUE(s.ok()) << "round " << i << ": " << s.ToString();
    const std::vector<ColumnFamilyHandle*> families = {db->DefaultColumnFamily()};
    const HistoryState state = ReadHistory(db.get(), families, ReadOptions(), i % 2 == 0);
    ASSERT_EQ(state.problem, "") << "round " << i;
    ASSERT_GE(state.steps, before);
    before = state.steps;
    if (past.snapshot != nullptr) {
      const HistoryState held = ReadHistory(db.get(), families, past, i % 2 != 0);
      ASSERT_EQ(held.problem, "") << "round " << i;
      ASSERT_EQ(held.steps, past_steps);
    }
    if (i % 10 != 0) continue;
    db->ReleaseSnapshot(past.snapshot);
    past.snapshot = db->GetSnapshot();
    past_steps = before;
  }
  db->ReleaseSnapshot(past.snapshot);
  EXPECT_GT(before, 0u);
  EXPECT_TRUE(writer.Kill());
}

}  // namespace

}  // namespace varve::testing
