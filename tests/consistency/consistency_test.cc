// SPDX-License-Identifier: Apache-2.0

// Goal: in every write mode, snapshots hold still and show whole batches, readings of one moment
// agree with one order of all transactions, and a finished write is seen by every read that begins
// afterwards. Method: four checkers share a database under constant flushes and compactions; each
// writes from several threads and judges every reading (see their files). The checkers are held to
// planted bugs. VARVE_CONSISTENCY=n: transactions to check in all; VARVE_CONSISTENCY_MODE=name
// takes one mode.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "varve/cache.h"
#include "varve/comparator.h"
#include "varve/env.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"

#include "tests/consistency/checker.h"
#include "tests/consistency/planted.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"

namespace varve::testing {

namespace {

constexpr uint64_t kWanted = 220'000;
constexpr uint64_t kTreeChanges = 60;  // under each session
constexpr std::chrono::seconds kHangs{120};
constexpr int kThreadsPerRound[] = {8, 16, 32};  // beside the one that flushes and compacts

uint64_t Wanted() {
  return NumberFromEnvironment("VARVE_CONSISTENCY", kWanted);
}

// Holds the files: on the real file system, where the log is fastest, or in memory when every write
// is synced.
class Place {
 public:
  explicit Place(const WriteMode& mode) {
    const char* base = getenv("TEST_TMPDIR");
    directory_ = std::string(base != nullptr ? base : "/tmp") + "/varve-consistency-" +
                 std::to_string(getpid());
    std::filesystem::remove_all(directory_);
    if (mode.sync_one_in == 1) memory_.reset(NewMemEnv(Env::Default()));
  }
  ~Place() { std::filesystem::remove_all(directory_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  Env* env() const { return memory_ == nullptr ? Env::Default() : memory_.get(); }
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
  std::unique_ptr<Env> memory_;
};

Status OpenIn(const Place& place, const WriteMode& mode, std::unique_ptr<DB>* db,
              std::vector<ColumnFamilyHandle*>* handles) {
  DBOptions options;
  options.env = place.env();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.info_log = SilentLogger();
  options.max_background_jobs = 16;  // four flushes at once
  options.delayed_write_rate = 64 << 20;
  ColumnFamilyOptions family;
  mode.Apply(&options, &family);
  family.write_buffer_size = 64 << 10;
  family.max_write_buffer_number = 6;
  family.level0_file_num_compaction_trigger = 2;
  family.target_file_size_base = 64 << 10;
  family.max_bytes_for_level_base = 256 << 10;
  family.compression = kNoCompression;
  BlockBasedTableOptions table;
  table.block_size = 1024;
  table.block_cache = NewLRUCache(256 << 10);
  family.table_factory.reset(NewBlockBasedTableFactory(table));
  family.merge_operator = MergeOperators::CreateUInt64AddOperator();
  ColumnFamilyOptions timed = family;
  timed.comparator = BytewiseComparatorWithU64Ts();
  const std::vector<ColumnFamilyDescriptor> families = {
      {kDefaultColumnFamilyName, family}, {"second", family}, {"third", family}, {"timed", timed}};
  DB* raw = nullptr;
  const Status s = DB::Open(options, place.directory(), families, handles, &raw);
  db->reset(raw);
  return s;
}

// Holds a checker with its share of the threads and its target counts.
struct Post {
  std::unique_ptr<Checker> checker;
  size_t writers;
  size_t readers;
  uint64_t wanted;

  uint64_t checked() const { return checker->writes() + checker->reads(); }
  bool done() const {
    return checked() >= wanted && checker->reads() >= wanted / 100 && checker->writes() > 0;
  }
};

struct Outcome {
  std::string refused;
  uint64_t checked = 0;
  uint64_t torn_gets = 0;
  uint64_t tree_changes = 0;
  uint64_t wrong = 0;
  std::string first;
};

// Runs the checkers named in `names` on one database in `threads` threads until all are done.
class Session {
 public:
  Session(Store* store, const std::string& names, size_t threads, uint64_t wanted, uint64_t seed)
      : store_(store), seed_(seed) {
    const size_t share = threads / 8;
    const auto named = [&](const char* name) { return names.find(name) != std::string::npos; };
    if (named("bank")) Add(NewBankChecker(store), 2 * share, share, wanted * 3 / 10);
    if (named("ledger")) Add(NewLedgerChecker(store), share, share, wanted / 10);
    if (named("timed")) Add(NewTimestampsChecker(store), share, share, wanted / 10);
    if (named("list")) {
      Add(NewListChecker(store, share, &torn_gets_), share, share, wanted * 3 / 10);
    }
    if (named("mirror")) Add(NewMirrorChecker(store, share), share, share, wanted / 10);
    if (named("register")) Add(NewRegisterChecker(store, share), share, share, wanted * 3 / 10);
  }

  void Run(Outcome* outcome) {
    Random random(seed_);
    for (Post& post : posts_) post.checker->Prepare(&random);
    std::vector<std::thread> threads;
    for (Post& post : posts_) {
      Start(&threads, post, &Checker::WriteOnce, post.writers);
      Start(&threads, post, &Checker::ReadOnce, post.readers);
    }
    threads.emplace_back([this] {
      Random mine(seed_ + 1);
      while (!over_.load(std::memory_order_relaxed)) {
        store_->Maintain(&mine);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    Wait();
    for (std::thread& thread : threads) thread.join();
    for (Post& post : posts_) {
      if (!store_->findings()->any()) post.checker->Finish();
      outcome->checked += post.checked();
    }
    outcome->tree_changes = store_->TreeChanges();
    outcome->torn_gets = torn_gets_.load(std::memory_order_relaxed);
  }

 private:
  void Add(std::unique_ptr<Checker> checker, size_t writers, size_t readers, uint64_t wanted) {
    posts_.push_back(Post{std::move(checker), writers, readers, wanted});
  }

  void Start(std::vector<std::thread>* threads, Post& post, void (Checker::*step)(size_t, Random*),
             size_t count) {
    for (size_t i = 0; i < count; i++) {
      const uint64_t seed = seed_ + 1000 * (threads->size() + 1);
      threads->emplace_back([this, &post, step, i, seed] {
        Random random(seed);
        while (!over_.load(std::memory_order_relaxed) && !store_->findings()->any()) {
          (post.checker.get()->*step)(i, &random);
        }
      });
    }
  }

  void Wait() {
    const auto end = std::chrono::steady_clock::now() + kHangs;
    const auto all_done = [this] {
      return std::ranges::all_of(posts_, &Post::done) && store_->TreeChanges() >= kTreeChanges;
    };
    while (!all_done() && !store_->findings()->any()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (std::chrono::steady_clock::now() < end) continue;
      fprintf(stderr, "no progress in mode %s:%s\n", std::string(store_->mode().name).c_str(),
              store_->StallState().c_str());
      _exit(1);
    }
    over_.store(true, std::memory_order_relaxed);
  }

  Store* const store_;
  const uint64_t seed_;
  std::vector<Post> posts_;
  std::atomic<uint64_t> torn_gets_{0};
  std::atomic<bool> over_{false};  // publishes nothing but the end
};

using StoreMaker = decltype(PlantedBug::make);

Outcome RunSession(const WriteMode& mode, StoreMaker make, const std::string& names, size_t threads,
                   uint64_t wanted, uint64_t seed) {
  Outcome outcome;
  const Place place(mode);
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  const Status s = OpenIn(place, mode, &db, &handles);
  EXPECT_EQ(JudgeOpening(mode, s), "");
  if (!s.ok()) {
    outcome.refused = s.ToString();
    return outcome;
  }
  Findings findings;
  {
    const std::unique_ptr<Store> store = make(mode, std::move(db), std::move(handles), &findings);
    Session session(store.get(), names, threads, wanted, seed);
    session.Run(&outcome);
  }
  outcome.wrong = findings.count();
  outcome.first = findings.first();
  return outcome;
}

std::unique_ptr<Store> MakeSound(const WriteMode& mode, std::unique_ptr<DB> db,
                                 std::vector<ColumnFamilyHandle*> handles, Findings* findings) {
  return std::make_unique<Store>(mode, std::move(db), std::move(handles), findings);
}

std::vector<const WriteMode*> ChosenModes() {
  const char* only = getenv("VARVE_CONSISTENCY_MODE");
  std::vector<const WriteMode*> modes;
  for (const WriteMode& mode : WriteModes()) {
    if (only == nullptr || mode.name == only) modes.push_back(&mode);
  }
  return modes;
}

}  // namespace

TEST(ConsistencyTest, EveryModeKeepsItsPromises) {
  const std::vector<const WriteMode*> modes = ChosenModes();
  const auto running = static_cast<uint64_t>(std::ranges::count_if(
      modes, [](const WriteMode* mode) { return !IsExpectedRefusal(*mode); }));
  uint64_t cases = 0;
  uint64_t wrong = 0;
  size_t round = 0;
  for (const WriteMode* mode : modes) {
    const auto start = std::chrono::steady_clock::now();
    const int threads = kThreadsPerRound[round++ % std::size(kThreadsPerRound)];
    const uint64_t wanted = Wanted() / std::max<uint64_t>(running, 1);
    const uint64_t seed = std::chrono::system_clock::now().time_since_epoch().count();
    const Outcome outcome = RunSession(*mode, MakeSound, "bank ledger list mirror register timed",
                                       static_cast<size_t>(threads), wanted, seed);
    const std::string name(mode->name);
    if (!outcome.refused.empty()) {
      printf("  %-24s refused: %s\n", name.c_str(), outcome.refused.c_str());
      continue;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    printf("  %-24s %2d threads, %7llu checked, %5llu tree changes, %llu torn Gets, %.1f s\n",
           name.c_str(), threads, static_cast<unsigned long long>(outcome.checked),
           static_cast<unsigned long long>(outcome.tree_changes),
           static_cast<unsigned long long>(outcome.torn_gets), seconds.count());
    fflush(stdout);
    EXPECT_EQ(outcome.wrong, 0u) << name << ", seed " << seed << ": " << outcome.first;
    cases += outcome.checked;
    wrong += outcome.wrong;
  }
  printf("RESULT consistency cases=%llu wrong=%llu lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(cases), static_cast<unsigned long long>(wrong));
  EXPECT_GE(cases, Wanted() * 10 / 11) << "too few were checked to prove anything";
}

TEST(ConsistencyTest, CheckersReportPlantedBugs) {
  const WriteMode& mode = WriteModeNamed("ordered");
  for (const PlantedBug& bug : PlantedBugs()) {
    for (const char* checker : {"bank", "ledger", "list", "mirror", "register", "timed"}) {
      if (std::string(bug.caught_by).find(checker) == std::string::npos) continue;
      const Outcome outcome =
          RunSession(mode, bug.make, checker, /*threads=*/8, /*wanted=*/200'000, /*seed=*/1);
      EXPECT_GT(outcome.wrong, 0u) << checker << " overlooks " << bug.name;
      printf("  %s finds %s after %llu: %s\n", checker, bug.name,
             static_cast<unsigned long long>(outcome.checked), outcome.first.c_str());
    }
  }
}

}  // namespace varve::testing
