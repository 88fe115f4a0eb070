// SPDX-License-Identifier: Apache-2.0

// Goal: when the primary's process is killed at any moment, its secondary takes its place with
// every acknowledged write, at once, and goes on from there; while the primary lives it is refused.
// What was prepared can be decided, and a kill after the promotion loses nothing of it either.
// Method: a child has a child of its own that writes numbered steps, follows it as a secondary,
// kills it, is promoted, and compares; then it writes on, and the database is opened again.
// VARVE_PROMOTIONS=N sets the number of rounds.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/listener.h"
#include "varve/secondary.h"
#include "varve/utilities/transaction.h"
#include "varve/utilities/transaction_db.h"

#include "tests/db/follow/numbered_history.h"
#include "tests/harness/child_process.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"

namespace varve::testing {

namespace {

struct Progress {
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> begun{0};
};

Options WriterOptions(uint64_t seed) {
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = seed % 2 == 0 ? 32 << 10 : 64 << 20;
  options.level0_file_num_compaction_trigger = 2;
  options.target_file_size_base = 32 << 10;
  options.allow_fallocate = seed % 3 != 0;  // mapped logs need it
  options.info_log = SilentLogger();
  return options;
}

[[noreturn]] void EndWith(const std::string& what) {
  fprintf(stderr, "%s\n", what.c_str());
  _exit(3);
}

void EndUnless(const Status& s, const char* what) {
  if (!s.ok()) EndWith(std::string(what) + ": " + s.ToString());
}

// Waits for the first write, as a writer that has ended writes none.
void EndUnlessBegun(const Progress& progress) {
  if (!Eventually([&] { return progress.acked.load() != 0; }, 60)) EndWith("nothing is written");
}

void WriteForEver(const std::string& path, const Options& options, Progress* progress) {
  DB* db = nullptr;
  EndUnless(DB::Open(options, path, &db), "writer: open");
  for (uint64_t n = 0;; n++) {
    progress->begun.store(n + 1);
    EndUnless(WriteHistory(db, {db->DefaultColumnFamily()}, n, n + 1, WriteOptions(), 50),
              "writer");
    progress->acked.store(n + 1);
  }
}

uint64_t StepsOf(DB* db, const char* whose) {
  uint64_t steps = 0;
  for (const bool by_iterator : {false, true}) {
    const HistoryState state =
        ReadHistory(db, {db->DefaultColumnFamily()}, ReadOptions(), by_iterator);
    if (!state.problem.empty()) EndWith(std::string(whose) + ": " + state.problem);
    steps = state.steps;
  }
  return steps;
}

class Moves final : public EventListener {
 public:
  void OnDataMoved(DB*, const DataMoveInfo& info) override {
    if (info.kind == DataMoveInfo::Kind::kPromotion && info.status.ok()) promotions++;
  }
  std::atomic<int> promotions{0};
};

void FollowKillAndPromote(uint64_t seed, const std::string& path) {
  Random random(seed);
  Options options = WriterOptions(seed);
  void* const shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const progress = new (shared) Progress();
  ChildProcess writer([&] { WriteForEver(path + "/db", options, progress); });
  EndUnlessBegun(*progress);
  auto moves = std::make_shared<Moves>();
  options.listeners = {moves};
  DB* db = nullptr;
  EndUnless(DB::OpenAsSecondary(options, path + "/db", path + "/second", &db), "secondary: open");
  const uint64_t rounds = random.Below(5);
  for (uint64_t i = 0; i < rounds; i++) {
    usleep(static_cast<useconds_t>(random.Below(10'000)));
    EndUnless(db->TryCatchUpWithPrimary(), "catch-up");
    (void)StepsOf(db, "secondary");
  }
  if (db->Promote(PromoteOptions()).ok()) EndWith("promoted beside a living primary");
  if (!db->Put(WriteOptions(), "a", "b").IsNotSupported()) EndWith("a secondary that writes");
  if (!writer.Kill()) EndWith("the writer had ended");
  EndUnless(db->Promote(PromoteOptions()), "promote");
  if (moves->promotions.load() != 1) EndWith("nobody was told");
  uint64_t steps = StepsOf(db, "promoted");
  if (steps < progress->acked.load() || steps > progress->begun.load()) {
    EndWith("promoted with " + std::to_string(steps) + " steps of " +
            std::to_string(progress->acked.load()));
  }
  const uint64_t more = 1 + random.Below(2000);
  EndUnless(WriteHistory(db, {db->DefaultColumnFamily()}, steps, steps + more, WriteOptions(), 50),
            "promoted: write");
  steps += more;
  if (StepsOf(db, "written on") != steps) EndWith("the promoted database lacks its own writes");
  if (random.OneIn(2)) EndUnless(db->Flush(FlushOptions()), "promoted: flush");
  EndUnless(db->Close(), "promoted: close");
  delete db;
  EndUnless(DB::Open(options, path + "/db", &db), "open again");
  if (StepsOf(db, "opened again") != steps) EndWith("the database lacks writes");
  delete db;
}

// ---- Two-phase commit ----

Transaction* Prepared(TransactionDB* db, const std::string& name) {
  Transaction* const transaction = db->BeginTransaction(WriteOptions());
  EndUnless(transaction->SetName(name), "SetName");
  EndUnless(transaction->Put(name, "put"), "Put");
  EndUnless(transaction->Prepare(), "Prepare");
  return transaction;
}

// Prepared transactions are in one log, and the decisions about two of them in the next, from which
// all of the memtable comes.
void PrepareAndWait(const std::string& path, const Options& options, Progress* progress) {
  TransactionDB* db = nullptr;
  EndUnless(TransactionDB::Open(options, TransactionDBOptions(), path, &db), "primary: open");
  (void)Prepared(db, "undecided");
  Transaction* const committed = Prepared(db, "committed");
  Transaction* const rolled_back = Prepared(db, "rolled back");
  EndUnless(db->Put(WriteOptions(), "early", "put"), "Put");
  EndUnless(db->Flush(FlushOptions()), "Flush");
  EndUnless(committed->Commit(), "Commit");
  EndUnless(rolled_back->Rollback(), "Rollback");
  progress->acked.store(1);
  for (;;) pause();
}

void ExpectKeys(DB* db, const std::string& there, const std::string& missing, const char* whose) {
  std::string value;
  for (const std::string& key : {std::string("early"), std::string("committed"), there}) {
    EndUnless(db->Get(ReadOptions(), key, &value), whose);
  }
  for (const std::string& key : {std::string("rolled back"), missing}) {
    if (db->Get(ReadOptions(), key, &value).IsNotFound()) continue;
    EndWith(std::string(whose) + " has " + key);
  }
}

enum class After { kNothing, kFlush, kCommit };

// Leaves the promoted database as a kill does.
void PromoteWithPrepared(const std::string& path, const Options& options, After after) {
  DB* db = nullptr;
  EndUnless(DB::OpenAsSecondary(options, path, path + "-second", &db), "secondary: open");
  ExpectKeys(db, "early", "undecided", "secondary");
  if (!db->Promote(PromoteOptions()).IsInvalidArgument()) EndWith("promoted without allow_2pc");
  delete db;
  Options with_2pc = options;
  with_2pc.allow_2pc = true;
  EndUnless(DB::OpenAsSecondary(with_2pc, path, path + "-second", &db), "secondary: open again");
  EndUnless(db->Promote(PromoteOptions()), "promote");
  ExpectKeys(db, "early", "undecided", "promoted");
  TransactionDB* transactions = nullptr;
  EndUnless(TransactionDB::WrapDB(db, TransactionDBOptions(), {}, {}, &transactions), "wrap");
  std::vector<Transaction*> prepared;
  transactions->GetAllPreparedTransactions(&prepared);
  if (prepared.size() != 1 || prepared[0]->GetName() != "undecided") EndWith("not prepared");
  if (after == After::kFlush) EndUnless(db->Flush(FlushOptions()), "flush");
  if (after == After::kCommit) {
    EndUnless(prepared[0]->Commit(), "commit");
    ExpectKeys(db, "undecided", "none", "decided");
  }
}

void FollowTwoPhases(const std::string& path, After after) {
  const Options options = WriterOptions(1);
  void* const shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const progress = new (shared) Progress();
  {
    ChildProcess writer([&] { PrepareAndWait(path, options, progress); });
    EndUnlessBegun(*progress);
    if (!writer.Kill()) EndWith("the writer had ended");
  }
  {
    ChildProcess promoted([&] { PromoteWithPrepared(path, options, after); });
    if (!promoted.EndsWell()) EndWith("the promotion went wrong");
  }
  TransactionDB* db = nullptr;
  EndUnless(TransactionDB::Open(options, TransactionDBOptions(), path, &db), "open again");
  const bool decided = after == After::kCommit;
  ExpectKeys(db, decided ? "undecided" : "early", decided ? "none" : "undecided", "opened again");
  std::vector<Transaction*> prepared;
  db->GetAllPreparedTransactions(&prepared);
  if (prepared.size() != (decided ? 0 : 1)) EndWith("the prepared transaction is not what it was");
  if (!decided) EndUnless(prepared[0]->Commit(), "commit after the opening");
  ExpectKeys(db, "undecided", "none", "at the end");
  for (Transaction* transaction : prepared) delete transaction;
  delete db;
}

// A secondary creates no directory while it only reads; the first flush after a promotion needs it.
TEST(PromotionTest, TableDirectoriesOfTheSecondaryAreMade) {
  const FreshDirectory directory("directories");
  const std::string path = directory.path() + "/db";
  Options options = WriterOptions(1);
  DB* opened = nullptr;
  ASSERT_TRUE(DB::Open(options, path, &opened).ok());
  std::unique_ptr<DB> db(opened);
  ASSERT_TRUE(db->Put(WriteOptions(), "a", "1").ok());
  db.reset();
  options.db_paths = {{directory.path() + "/tables", uint64_t{1} << 30}};
  ASSERT_TRUE(DB::OpenAsSecondary(options, path, directory.path() + "/second", &opened).ok());
  db.reset(opened);
  EXPECT_FALSE(std::filesystem::exists(options.db_paths[0].path));
  Status s = db->Promote(PromoteOptions());
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(db->Put(WriteOptions(), "b", "2").ok());
  s = db->Flush(FlushOptions());
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(std::filesystem::exists(options.db_paths[0].path));
  std::string value;
  ASSERT_TRUE(db->Get(ReadOptions(), "a", &value).ok());
  EXPECT_EQ(value, "1");
}

TEST(PromotionTest, PreparedTransactionsAreThereToBeDecided) {
  if (!kChildrenMayHaveThreads) GTEST_SKIP() << "ThreadSanitizer does not follow its child";
  for (const After after : {After::kNothing, After::kFlush, After::kCommit}) {
    const FreshDirectory directory("prepared");
    ChildProcess round([&] { FollowTwoPhases(directory.path() + "/db", after); });
    ASSERT_TRUE(round.EndsWell()) << static_cast<int>(after);
  }
}

TEST(PromotionTest, KilledPrimariesAreFollowedByTheirSecondaries) {
  if (!kChildrenMayHaveThreads) GTEST_SKIP() << "ThreadSanitizer does not follow its child";
  const uint64_t rounds = NumberFromEnvironment("VARVE_PROMOTIONS", 20);
  for (uint64_t seed = 0; seed < rounds; seed++) {
    const FreshDirectory directory("promotion");
    ChildProcess round([&] { FollowKillAndPromote(seed, directory.path()); });
    ASSERT_TRUE(round.EndsWell()) << "seed " << seed;
  }
}

}  // namespace

}  // namespace varve::testing
