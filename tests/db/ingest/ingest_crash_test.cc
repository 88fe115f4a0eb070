// SPDX-License-Identifier: Apache-2.0

// Goal: an ingestion that is cut off by a power loss, or one call of which fails, has happened in
// all families or in none, and no source is gone that is not in the database. Method: the power
// goes at every call of the file system that changes something, under every policy; every call of
// each kind fails once.

#include <map>

#include "varve/external_file.h"

#include "tests/crash/crash_recorder.h"
#include "tests/db/ingest/ingest_fixture.h"

namespace varve::testing {
namespace {

enum class Way { kCopy, kLink, kMove, kReplace };

IngestExternalFileOptions OptionsOf(Way way) {
  IngestExternalFileOptions options;
  options.move_files = way == Way::kMove;
  options.link_files = way == Way::kLink;
  options.snapshot_consistency = way != Way::kReplace;
  return options;
}

class IngestCrashTest : public IngestTest, public ::testing::WithParamInterface<Way> {
 protected:
  using State = std::map<std::string, std::string>;

  // Makes a file for each of the two families, with older entries in a memtable and in a table.
  void Prepare() {
    Open({"default", "other"});
    for (const char* family : {"default", "other"}) {
      Put("a", "old", family);
      Flush(family);
      PutSynced("b", family);
      PutSynced("c", family);
    }
    sources_ = {Make(ExternalFile().Put("a", "new").Delete("c")),
                Make(ExternalFile().Put("b", "new").Put("d", "new")),
                Make(ExternalFile().Put("x", "new"))};
    ASSERT_TRUE(SyncNames().ok());
    bytes_.clear();
    for (const std::string& source : sources_) bytes_.push_back(ReadFile(source));
  }
  void PutSynced(const std::string& key, const std::string& family) {
    WriteOptions synced;
    synced.sync = true;
    ASSERT_TRUE(db()->Put(synced, Handle(family), key, "old").ok());
  }
  IOStatus SyncNames() {
    std::unique_ptr<FSDirectory> directory;
    IOStatus s = file_system()->NewDirectory(kOutside, IOOptions(), &directory, nullptr);
    return s.ok() ? directory->Fsync(IOOptions(), nullptr) : s;
  }
  Status IngestAll() {
    IngestExternalFileArg first;
    first.column_family = Handle("default");
    first.external_files = {sources_[0], sources_[2]};
    first.options = OptionsOf(GetParam());
    if (GetParam() == Way::kReplace) first.atomic_replace_range = RangeOpt();
    IngestExternalFileArg second = first;
    second.column_family = Handle("other");
    second.external_files = {sources_[1]};
    return db()->IngestExternalFiles({first, second});
  }
  std::string Shown() { return Scan() + " / " + Scan(ReadOptions(), "other"); }
  void CheckSources(bool ingested) {
    for (size_t i = 0; i < sources_.size(); i++) {
      if (Exists(sources_[i])) {
        EXPECT_EQ(ReadFile(sources_[i]), bytes_[i]);
      } else {
        EXPECT_TRUE(ingested && GetParam() == Way::kMove) << sources_[i];
      }
    }
  }

  static constexpr const char* kBefore = "a=old b=old c=old / a=old b=old c=old";
  // The state after each way of ingesting.
  const std::string after_all_ = GetParam() == Way::kReplace
                                     ? "a=new x=new / b=new d=new"
                                     : "a=new b=old x=new / a=old b=new c=old d=new";

  std::vector<std::string> sources_;
  std::vector<std::string> bytes_;
};

TEST_P(IngestCrashTest, PowerLossLeavesAllOrNothing) {
  Prepare();
  CrashRecorder recorder(&mem(), 1);
  recorder.created = true;
  recorder.issued = 1;
  mem().SetCallHook(&recorder);
  ASSERT_EQ(IngestAll().ToString(), "OK");
  recorder.durable = 1;
  recorder.TakeClones(1'000'000);
  mem().SetCallHook(nullptr);
  ASSERT_EQ(Shown(), after_all_);
  ASSERT_TRUE(Close().ok());
  size_t before = 0;
  size_t after = 0;
  for (CrashState& state : recorder.Take()) {
    SCOPED_TRACE("call " + std::to_string(state.call) + ", policy " +
                 std::to_string(static_cast<int>(state.policy)));
    Remount(state.fs);
    Open({"default", "other"});
    const std::string shown = Shown();
    EXPECT_TRUE(shown == after_all_ || (shown == kBefore && state.durable == 0)) << shown;
    (shown == after_all_ ? after : before)++;
    EXPECT_EQ(StagedFiles(), 0u);
    CheckSources(shown == after_all_);
    ASSERT_TRUE(Close().ok());
    if (HasFailure()) return;
  }
  EXPECT_GT(before, 50u);
  EXPECT_GT(after, 5u);
}

TEST_P(IngestCrashTest, EveryCallFailsOnce) {
  Prepare();
  faults().ResetCounters();
  ASSERT_EQ(IngestAll().ToString(), "OK");
  const uint64_t calls = faults().total_calls();
  ASSERT_GT(calls, 30u);
  size_t failed = 0;
  for (uint64_t nth = 1; nth <= calls; nth++) {
    SCOPED_TRACE("call " + std::to_string(nth));
    ASSERT_TRUE(Close().ok());
    Remount(std::make_shared<MemFileSystem>());
    ASSERT_TRUE(file_system()->CreateDirIfMissing(kOutside, IOOptions(), nullptr).ok());
    Prepare();
    FaultRule rule;
    rule.nth = nth;
    faults().Inject(rule);
    const Status s = IngestAll();
    faults().ClearFaults();
    if (!s.ok()) failed++;
    // This restarts work that the failure has stopped, and decides doubtful states.
    if (!db()->Resume().ok()) db()->Resume().PermitUncheckedError();
    const std::string expected = s.ok() ? after_all_ : std::string(kBefore);
    EXPECT_EQ(Shown(), expected) << s.ToString();
    CheckSources(s.ok());
    Put("e", "later");
    Reopen();
    EXPECT_EQ(Get("e"), "later");
    Delete("e");
    EXPECT_EQ(Shown(), expected) << s.ToString();
    EXPECT_EQ(StagedFiles(), 0u);
    CheckSources(s.ok());
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 10u);
}

INSTANTIATE_TEST_SUITE_P(Ways, IngestCrashTest,
                         ::testing::Values(Way::kCopy, Way::kLink, Way::kMove, Way::kReplace));

}  // namespace
}  // namespace varve::testing
