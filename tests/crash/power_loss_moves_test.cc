// SPDX-License-Identifier: Apache-2.0

// Goal: data that is on its way to another place, or to another process, survives a power loss:
// exports and copy plans are whole or not there, what a loss leaves of them is in nobody's way, and
// the files that they are made of stay as they were; and a promotion of a secondary loses nothing.
// Method: the recorder takes clones at every call; each is opened, compared, and given the call
// once more. Checkpoints, imports, backups, restores and ingestions have such tests in the tests of
// their rooms. VARVE_CRASH_SEEDS=k takes k states under every policy that leaves something to
// chance.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/secondary.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/copy_plan.h"

#include "tests/crash/crash_recorder.h"
#include "tests/crash/family_kinds.h"
#include "tests/crash/numbered_writes.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "util/env/file_names.h"

namespace varve::testing {

namespace {

constexpr char kExport[] = "/export";
constexpr char kPlan[] = "/plan";
constexpr char kFollowed[] = "/db";
constexpr uint64_t kAfterwards = 1'000'000;  // The index of moments after the last call.
constexpr uint64_t kEveryday = 19;           // VARVE_CRASH_STRIDE at which every call is taken.

uint64_t MovesStride() {
  return std::max<uint64_t>(1, NumberFromEnvironment("VARVE_CRASH_STRIDE", kEveryday) / kEveryday);
}

// Returns how many states of each kind there must be; a sample may have none of a kind.
size_t LeastOfEach() {
  return MovesStride() == 1 ? 6 : 0;
}

std::string MomentOf(const CrashState& state) {
  return "call " + std::to_string(state.call) + ", policy " +
         std::to_string(static_cast<int>(state.policy));
}

// Called after the last case: an error ends a test before.
void PrintMoves(const char* what, size_t states, size_t whole) {
  printf("RESULT power_loss_%s cases=%zu whole=%zu wrong=0 lost=0 crash=0 hang=0\n", what, states,
         whole);
}

// Takes one call in `every`, and `seeds` states under each policy that leaves something to chance.
struct Sampling {
  uint64_t every = 1;
  uint64_t seeds = 1;
};

// Records what crashes would leave while `body` runs, and once it has returned: by then
// `CrashState::durable` is 1, unless the body sets it.
std::vector<CrashState> Losses(MemFileSystem* fs, const std::function<void(CrashRecorder*)>& body,
                               Sampling sampling = {}) {
  CrashRecorder recorder(fs, MovesStride() * sampling.every,
                         NumberFromEnvironment("VARVE_CRASH_SEEDS", 1) * sampling.seeds);
  recorder.created = true;
  fs->SetCallHook(&recorder);
  body(&recorder);
  if (recorder.durable == 0) recorder.durable = 1;
  recorder.TakeClones(kAfterwards);
  fs->SetCallHook(nullptr);
  return recorder.Take();
}

// Holds a database whose files are copied elsewhere.
class PowerLossOfCopies : public Database {
 protected:
  PowerLossOfCopies() {
    options_.disable_auto_compactions = true;
    options_.create_missing_column_families = true;
    options_.info_log = SilentLogger();
  }

  // Creates two tables, a range deletion, and a log.
  void Build() {
    Open(kFamilies);
    MakeTable({"a", "b", "c"}, "a");
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("a"), "b", "c").ok());
    MakeTable({"d"}, "a");
    Put("e", "in the log", "a");
    ASSERT_TRUE(db()->SyncWAL().ok());
    before_ = Tables();
    ASSERT_EQ(before_.size(), 2u);
  }
  // Returns the tables by name, with their bytes.
  std::map<std::string, std::string> Tables() {
    std::map<std::string, std::string> tables;
    for (const std::string& name : Files(kTableFile)) {
      tables[name] = ReadFile(std::string(kName) + "/" + name);
    }
    return tables;
  }
  // Mounts the state, opens the database there, and compares it and its tables.
  void OpenLeft(const CrashState& state) {
    Remount(state.fs);
    Open(kFamilies);
    EXPECT_EQ(Scan(ReadOptions(), "a"), kContent);
    const std::map<std::string, std::string> now = Tables();
    for (const auto& [name, bytes] : before_) {
      ASSERT_EQ(now.count(name), 1u) << name;
      EXPECT_TRUE(now.at(name) == bytes) << name << " has changed";
    }
  }
  // Plays `make`, which makes `directory`, up to each of its calls: the directory is whole, as
  // `look` finds, or not there, and then a second `make` makes it.
  void ExpectWholeOrNotThere(const char* what, const std::string& directory,
                             const std::function<Status()>& make,
                             const std::function<void()>& look) {
    Build();
    const auto expect_made = [&] {
      const Status s = make();
      ASSERT_TRUE(s.ok()) << s.ToString();
    };
    std::vector<CrashState> states = Losses(&mem(), [&](CrashRecorder*) { expect_made(); });
    ASSERT_TRUE(Close().ok());
    size_t whole = 0;
    for (const CrashState& state : states) {
      SCOPED_TRACE(MomentOf(state));
      OpenLeft(state);
      const bool there = Exists(directory);
      EXPECT_TRUE(there || state.durable == 0);
      whole += there ? 1 : 0;
      if (!there) {
        expect_made();
        EXPECT_FALSE(Exists(directory + ".tmp"));
      }
      look();
      EXPECT_EQ(Scan(ReadOptions(), "a"), kContent);
      ASSERT_TRUE(Close().ok());
      if (HasFailure()) return;
    }
    PrintMoves(what, states.size(), whole);
    EXPECT_GE(whole, LeastOfEach());
    EXPECT_GT(states.size(), whole + (MovesStride() == 1 ? 50 : 0));
  }
  bool Exists(const std::string& path) { return mem().FileExists(path, IOOptions(), nullptr).ok(); }

  const std::vector<std::string> kFamilies = {"default", "a"};
  static constexpr const char* kContent = "a=of a c=of c d=of d e=in the log";
  std::map<std::string, std::string> before_;
};

class PowerLossOfExports : public PowerLossOfCopies {
 protected:
  Status Export() {
    Checkpoint* raw = nullptr;
    Status s = Checkpoint::Create(db(), &raw);
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    ExportImportFilesMetaData* made = nullptr;
    if (s.ok()) s = checkpoint->ExportColumnFamily(Handle("a"), kExport, &made);
    const std::unique_ptr<ExportImportFilesMetaData> metadata(made);
    return s;
  }
  // Imports the directory as a new family, and returns its content or the error.
  std::string Imported() {
    ExportImportFilesMetaData* read = nullptr;
    Status s = ReadExport(options_.env, kExport, &read);
    const std::unique_ptr<ExportImportFilesMetaData> metadata(read);
    ColumnFamilyHandle* made = nullptr;
    if (s.ok()) {
      s = db()->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_), "imported",
                                             ImportColumnFamilyOptions(), *metadata, &made);
    }
    if (!s.ok()) return s.ToString();
    const std::unique_ptr<ColumnFamilyHandle> handle(made);
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), handle.get()));
    it->SeekToFirst();
    return Rest(it.get());
  }
};

TEST_F(PowerLossOfExports, AreWholeOrNotThere) {
  ExpectWholeOrNotThere(
      "export", kExport, [this] { return Export(); }, [this] { EXPECT_EQ(Imported(), kContent); });
}

class PowerLossOfPlans : public PowerLossOfCopies {
 protected:
  Status Make() { return CopyPlan::Make(CopyPlanOptions(), db(), kPlan, &plan_); }

  // Returns the content of the plan, or the error. A plan without earlier catalogs has all files of
  // a database, so it can be opened as one.
  std::string PlannedContent() {
    Status s = CopyPlan::Open(options_.env, kPlan, &plan_);
    if (s.ok()) s = plan_->Verify();
    plan_.reset();
    if (!s.ok()) return s.ToString();
    Options options = options_;
    options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
    std::vector<ColumnFamilyHandle*> handles;
    DB* raw = nullptr;
    s = DB::OpenForReadOnly(options, kPlan, {{"default", options}, {"a", options}}, &handles, &raw);
    const std::unique_ptr<DB> planned(raw);
    if (!s.ok()) return s.ToString();
    std::unique_ptr<Iterator> it(planned->NewIterator(ReadOptions(), handles[1]));
    it->SeekToFirst();
    std::string content = Rest(it.get());
    it.reset();
    for (ColumnFamilyHandle* const handle : handles) {
      EXPECT_TRUE(planned->DestroyColumnFamilyHandle(handle).ok());
    }
    return content;
  }
  void ExpectDiscarded() {
    plan_.reset();
    const Status s = CopyPlan::Discard(options_.env, kPlan);
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_FALSE(Exists(kPlan));
  }

  std::unique_ptr<CopyPlan> plan_;
};

TEST_F(PowerLossOfPlans, AreWholeOrNotThere) {
  ExpectWholeOrNotThere(
      "plan", kPlan, [this] { return Make(); },
      [this] {
        EXPECT_EQ(PlannedContent(), kContent);
        ExpectDiscarded();
      });
}

// Checks that a plan is whole or refused until it is gone, and that the next call removes the rest.
TEST_F(PowerLossOfPlans, AreDiscardedAgain) {
  Build();
  ASSERT_TRUE(Make().ok());
  std::vector<CrashState> states =
      Losses(&mem(), [&](CrashRecorder*) { ExpectDiscarded(); }, {.seeds = 8});
  ASSERT_TRUE(Close().ok());
  size_t whole = 0;
  size_t refused = 0;
  for (const CrashState& state : states) {
    SCOPED_TRACE(MomentOf(state));
    OpenLeft(state);
    if (Exists(kPlan)) {
      const Status s = CopyPlan::Open(options_.env, kPlan, &plan_);
      (s.ok() ? whole : refused)++;
      EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      EXPECT_EQ(PlannedContent(), s.ok() ? kContent : s.ToString());
      ExpectDiscarded();
    }
    ASSERT_TRUE(Make().ok());
    EXPECT_EQ(PlannedContent(), kContent);
    ASSERT_TRUE(Close().ok());
    if (HasFailure()) return;
  }
  PrintMoves("discard", states.size(), whole);
  EXPECT_GE(whole, LeastOfEach());
  EXPECT_GE(refused, LeastOfEach());
}

// Promotes secondaries, with mapped logs and without.
class PowerLossOfPromotions : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr uint64_t kWritten = 50;
  static constexpr uint64_t kLater = 54;

  ~PowerLossOfPromotions() override { Close(); }

  void UseFiles(const std::shared_ptr<MemFileSystem>& files) {
    Close();
    env_ = NewCompositeEnv(files);
  }
  DBOptions DatabaseOptions() const {
    DBOptions options;
    options.env = env_.get();
    options.create_if_missing = options.create_missing_column_families = true;
    options.info_log = SilentLogger();
    return options;
  }
  static ColumnFamilyOptions FamilyOptions() {
    ColumnFamilyOptions options;
    options.compression = kNoCompression;
    options.disable_auto_compactions = true;
    return options;
  }
  Status Open() {
    return OpenWithFamilies(DatabaseOptions(), FamilyOptions(), kFollowed, kFamilies, &db_,
                            &handles_);
  }
  Status OpenSecondary() {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& family : kFamilies) {
      descriptors.emplace_back(family, FamilyOptions());
      TuneFamily(family, &descriptors.back().options);
    }
    std::vector<ColumnFamilyHandle*> opened;
    DB* raw = nullptr;
    const Status s =
        DB::OpenAsSecondary(DatabaseOptions(), kFollowed, "/second", descriptors, &opened, &raw);
    db_.reset(raw);
    for (size_t i = 0; i < opened.size(); i++) handles_[kFamilies[i]] = opened[i];
    return s;
  }
  void Close() { CloseWithFamilies(&db_, &handles_); }

  void Write(uint64_t from, uint64_t to, bool sync) {
    WriteOptions options;
    options.sync = sync;
    for (uint64_t i = from; i <= to; i++) {
      ASSERT_TRUE(WriteNumbered(db_.get(), handles_, kFamilies, i, options).ok());
      if (i % 14 != 0) continue;
      for (const auto& [name, handle] : handles_) {
        ASSERT_TRUE(db_->Flush(FlushOptions(), handle).ok());
      }
    }
  }
  // Returns the files of a primary that wrote tables and logs, and whose process died.
  std::shared_ptr<MemFileSystem> WriteAndDie() {
    auto files = std::make_shared<MemFileSystem>();
    if (GetParam()) files->OfferMappedFiles();
    UseFiles(files);
    EXPECT_TRUE(Open().ok());
    Write(1, kWritten, false);
    std::shared_ptr<MemFileSystem> left = files->CrashClone(CrashPolicy::kKill, 1);
    Close();
    return left;
  }
  void PromoteAndGoOn(CrashRecorder* recorder) {
    Status s = OpenSecondary();
    ASSERT_TRUE(s.ok()) << s.ToString();
    s = db_->Promote(PromoteOptions());
    ASSERT_TRUE(s.ok()) << s.ToString();
    recorder->durable = recorder->acked = kWritten;
    for (uint64_t i = kWritten + 1; i <= kLater; i++) {
      recorder->issued = i;
      Write(i, i, true);
      recorder->durable = recorder->acked = i;
    }
    Close();
  }
  // Opens the state, or promotes another secondary on it; compares, and writes on.
  void CheckLeft(const CrashState& state, bool promote) {
    const uint64_t least =
        state.policy == CrashPolicy::kKill ? std::max(state.acked, state.durable) : state.durable;
    UseFiles(state.fs);
    Status s = promote ? OpenSecondary() : Open();
    if (promote && s.ok()) s = db_->Promote(PromoteOptions());
    ASSERT_TRUE(s.ok()) << s.ToString();
    const PrefixCheck check =
        CheckPrefix(db_.get(), handles_, kFamilies, least, std::max(least, state.issued));
    ASSERT_TRUE(check.ok) << check.problem;
    Write(check.n + 1, check.n + 2, false);
    Close();
    ASSERT_TRUE(Open().ok());
    const PrefixCheck later = CheckPrefix(db_.get(), handles_, kFamilies, check.n + 2, check.n + 2);
    ASSERT_TRUE(later.ok) << "after going on: " << later.problem;
    Close();
  }

  const std::vector<std::string> kFamilies = {"default", "texts"};
  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  Handles handles_;
};

TEST_P(PowerLossOfPromotions, LoseNothing) {
  const std::shared_ptr<MemFileSystem> left = WriteAndDie();
  UseFiles(left);
  const std::vector<CrashState> states = Losses(left.get(),
                                                [&](CrashRecorder* recorder) {
                                                  recorder->durable = recorder->acked =
                                                      recorder->issued = kWritten;
                                                  PromoteAndGoOn(recorder);
                                                },
                                                {.every = 3});
  size_t later = 0;
  for (const CrashState& state : states) {
    const bool promote = state.call % 2 == 0;
    SCOPED_TRACE(MomentOf(state) + (promote ? ", promoted again" : ""));
    CheckLeft(state, promote);
    later += state.durable > kWritten ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  PrintMoves(GetParam() ? "promotion_mapped" : "promotion", states.size(), later);
  EXPECT_GE(later, LeastOfEach());
  EXPECT_GT(states.size(), later + (MovesStride() == 1 ? 50 : 0));
}

INSTANTIATE_TEST_SUITE_P(Logs, PowerLossOfPromotions, ::testing::Bool());

}  // namespace

}  // namespace varve::testing
