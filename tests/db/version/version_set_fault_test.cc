// SPDX-License-Identifier: Apache-2.0

// Tests a version set on storage that fails or loses power.

#include <gmock/gmock.h>

#include <set>

#include "tests/db/version/set_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

FaultRule Fail(FaultCall call, const std::string& path, uint64_t nth = 1) {
  FaultRule rule;
  rule.calls = Only(call);
  rule.path_contains = path;
  rule.nth = nth;
  return rule;
}

TEST_F(VersionSetTest, AFailedAppendOrSyncLeavesTheManifestInDoubt) {
  for (FaultCall call : {FaultCall::kWrite, FaultCall::kSync}) {
    Create();
    ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)})).ok());
    const std::string before = Describe(*set_);
    const uint64_t abandoned = set()->manifest_file_number();
    (void)set()->TakeObsoleteManifests();
    fs_->Inject(Fail(call, "MANIFEST"));
    const NewFile doubtful = MakeTable(0, "a", "b", 3, 4);
    EXPECT_TRUE(Apply(Adding({doubtful})).IsIOError());
    EXPECT_TRUE(set()->TableInDoubt(doubtful.number));
    EXPECT_EQ(Describe(*set_), before);
    EXPECT_TRUE(set()->obsolete_files()->Empty());
    fs_->ClearFaults();
    // The retry has a new table, and goes into a fresh MANIFEST.
    ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 3, 4)})).ok());
    EXPECT_FALSE(set()->TableInDoubt(doubtful.number));
    EXPECT_THAT(Obsolete(), ElementsAre(doubtful.number));
    EXPECT_TRUE(set()->gone_tables().contains(doubtful.number));
    EXPECT_NE(set()->manifest_file_number(), abandoned);
    EXPECT_THAT(set()->TakeObsoleteManifests(), ElementsAre(abandoned));
    EXPECT_EQ(Recovered(mem_), Describe(*set_));
  }
}

TEST_F(VersionSetTest, AFreshManifestThatFailsLeavesTheOldOneInForce) {
  Create();
  ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)})).ok());
  const uint64_t old_number = set()->manifest_file_number();
  for (FaultCall call : {FaultCall::kCreate, FaultCall::kWrite, FaultCall::kSync}) {
    const std::string before = Describe(*set_);
    fs_->Inject(Fail(call, "MANIFEST"));
    const NewFile file = MakeTable(0, "a", "b", 3, 4);
    EXPECT_FALSE(Apply(Adding({file}), "default", /*fresh=*/true).ok());
    fs_->ClearFaults();
    EXPECT_FALSE(set()->TableInDoubt(file.number));
    EXPECT_EQ(set()->manifest_file_number(), old_number);
    EXPECT_EQ(Recovered(mem_), before);
    EXPECT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 3, 4)})).ok());
    EXPECT_EQ(set()->manifest_file_number(), old_number);
    EXPECT_EQ(Recovered(mem_), Describe(*set_));
  }
}

// A search for the newest MANIFEST may find it.
TEST_F(VersionSetTest, AFreshManifestThatFailedAndStaysKeepsItsTables) {
  Create();
  ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)})).ok());
  const uint64_t old_number = set()->manifest_file_number();
  (void)set()->TakeObsoleteManifests();
  fs_->Inject(Fail(FaultCall::kSync, "MANIFEST"));
  fs_->Inject(Fail(FaultCall::kDelete, "MANIFEST"));
  const NewFile named = MakeTable(0, "a", "b", 3, 4);
  EXPECT_FALSE(Apply(Adding({named}), "default", /*fresh=*/true).ok());
  fs_->ClearFaults();
  EXPECT_TRUE(set()->TableInDoubt(named.number));
  const uint64_t left_behind = named.number + 1;
  EXPECT_TRUE(mem_->FileExists(DescriptorFileName(kDir, left_behind), IOOptions(), nullptr).ok());
  // The old one is in no doubt.
  EXPECT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 3, 4)})).ok());
  EXPECT_EQ(set()->manifest_file_number(), old_number);
  EXPECT_TRUE(set()->TableInDoubt(named.number));
  EXPECT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 5, 6)}), "default", /*fresh=*/true).ok());
  EXPECT_THAT(Obsolete(), ElementsAre(named.number));
  EXPECT_THAT(set()->TakeObsoleteManifests(), UnorderedElementsAre(old_number, left_behind));
}

// The file is in force, wherever it is.
TEST_F(VersionSetTest, ATableThatAFailedEditOnlyMovesIsInNoDoubt) {
  Create();
  const NewFile file = MakeTable(0, "a", "b", 1, 2);
  ASSERT_TRUE(Apply(Adding({file})).ok());
  VersionEdit move = Adding({file});
  move.new_files.front().level = 1;
  move.deleted_files.emplace_back(0, file.number);
  fs_->Inject(Fail(FaultCall::kSync, "MANIFEST"));
  EXPECT_FALSE(Apply(&move).ok());
  fs_->ClearFaults();
  EXPECT_FALSE(set()->TableInDoubt(file.number));
  EXPECT_TRUE(Apply(&move).ok());
  EXPECT_TRUE(set()->obsolete_files()->Empty());
  EXPECT_EQ(Recovered(mem_), Describe(*set_));
}

TEST_F(VersionSetTest, AFailedSwitchOfCurrentKeepsBothManifests) {
  Create();
  ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)})).ok());
  (void)set()->TakeObsoleteManifests();
  const uint64_t old_number = set()->manifest_file_number();
  // The directory's first sync is for the table's name, the second for the MANIFEST's, the third
  // for CURRENT.
  fs_->Inject(Fail(FaultCall::kSyncDir, "", 3));
  const NewFile doubtful = MakeTable(0, "a", "b", 3, 4);
  // The directory's first sync is for the table's name, the second for that of the MANIFEST.
  EXPECT_FALSE(Apply(Adding({doubtful}), "default", /*fresh=*/true).ok());
  fs_->ClearFaults();
  EXPECT_TRUE(set()->TableInDoubt(doubtful.number));
  EXPECT_THAT(set()->TakeObsoleteManifests(), ElementsAre());
  EXPECT_THAT(Recovered(mem_), HasSubstr("," + std::to_string(doubtful.number)))
      << "whichever CURRENT names must be there";
  VersionEdit nothing;
  ASSERT_TRUE(Apply(&nothing).ok());
  EXPECT_THAT(Obsolete(), ElementsAre(doubtful.number));
  EXPECT_THAT(set()->TakeObsoleteManifests(),
              UnorderedElementsAre(old_number, doubtful.number + 1));
}

// The MANIFEST is not in doubt then. It is unknown whether the new tables keep their names: a sync
// that succeeds later is no proof.
TEST_F(VersionSetTest, AFailedDirectorySyncBeforeAnEditDoubtsTheTablesOfThatTime) {
  Create();
  const NewFile old = MakeTable(0, "a", "b", 1, 2);
  ASSERT_TRUE(Apply(Adding({old})).ok());
  const NewFile file = MakeTable(0, "a", "b", 3, 4);
  const NewFile of_another_job = MakeTable(0, "c", "d", 5, 6);
  fs_->Inject(Fail(FaultCall::kSyncDir, ""));
  EXPECT_FALSE(Apply(Adding({file})).ok());
  fs_->ClearFaults();
  EXPECT_FALSE(set()->TableInDoubt(file.number));
  EXPECT_TRUE(Apply(Adding({file})).IsIOError());
  EXPECT_TRUE(Apply(Adding({of_another_job})).IsIOError());
  EXPECT_FALSE(set()->TableInDoubt(of_another_job.number));
  EXPECT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 7, 8)})).ok());
  // Tables that were durable before may be moved.
  VersionEdit move = Adding({old});
  move.new_files.front().level = 1;
  move.deleted_files.emplace_back(0, old.number);
  EXPECT_TRUE(Apply(&move).ok());
  EXPECT_EQ(Recovered(mem_), Describe(*set_));
}

TEST_F(VersionSetTest, AnUnreadableManifestIsAnErrorAndNotAnEnd) {
  Create();
  ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)})).ok());
  fs_->Inject(Fail(FaultCall::kRead, "MANIFEST"));
  EXPECT_THAT(Recovered(fs_), HasSubstr("IO error"));
}

// Every changing call fails once, in turn; whatever was acknowledged is recovered, and nothing but
// the acknowledged and the failed edit.
TEST_F(VersionSetTest, NoSingleFailureLosesAnAcknowledgedEdit) {
  for (uint64_t nth = 1;; nth++) {
    mem_ = std::make_shared<MemFileSystem>();
    fs_ = std::make_shared<FaultFileSystem>(mem_);
    ASSERT_TRUE(mem_->CreateDirIfMissing(kDir, IOOptions(), nullptr).ok());
    Create();
    FaultRule rule;
    rule.calls = kMutatingFaultCalls;
    rule.nth = nth;
    fs_->Inject(rule);
    std::string acknowledged = Describe(*set_);
    for (int i = 0; i < 4; i++) {
      VersionEdit edit = Adding({MakeTable(0, "a", "b", 2 * i + 1, 2 * i + 2)});
      const bool fresh = i == 2;
      if (Apply(&edit, "default", fresh).ok()) {
        acknowledged = Describe(*set_);
      } else {
        ASSERT_EQ(Describe(*set_), acknowledged);
        // Jobs retry in this way, with a new table.
        edit = Adding({MakeTable(0, "a", "b", 2 * i + 1, 2 * i + 2)});
        ASSERT_TRUE(Apply(&edit, "default", fresh).ok());
        acknowledged = Describe(*set_);
      }
      ASSERT_EQ(Recovered(mem_), acknowledged) << "call " << nth << " edit " << i;
    }
    const bool struck = fs_->strikes() > 0;
    if (!struck) break;
  }
}

// Power fails before every single call of a history; the disk then has the last acknowledged state
// or the one that was being written.
class CrashAtEveryCall : public MemFileSystem::CallHook {
 public:
  explicit CrashAtEveryCall(MemFileSystem* fs) : fs_(fs) {}
  void BeforeCall(uint64_t index, MemCall, const std::string&) override {
    for (CrashPolicy policy : {CrashPolicy::kSyncedOnly, CrashPolicy::kOrderedPrefix,
                               CrashPolicy::kAllNames, CrashPolicy::kAdversarial}) {
      for (uint64_t seed = 0; seed < 3; seed++) {
        clones.push_back({fs_->CrashClone(policy, index * 7 + seed), acknowledged});
      }
    }
  }
  struct Clone {
    std::shared_ptr<MemFileSystem> fs;
    size_t acknowledged;
  };
  size_t acknowledged = 0;
  std::vector<Clone> clones;

 private:
  MemFileSystem* const fs_;
};

TEST_F(VersionSetTest, ACrashAtAnyCallLeavesAnAcknowledgedState) {
  Create();
  std::vector<std::string> states = {Describe(*set_)};
  CrashAtEveryCall hook(mem_.get());
  mem_->SetCallHook(&hook);
  for (int i = 0; i < 5; i++) {
    ASSERT_TRUE(
        Apply(Adding({MakeTable(0, "a", "b", 2 * i + 1, 2 * i + 2)}), "default", i == 3).ok());
    states.push_back(Describe(*set_));
    hook.acknowledged = states.size() - 1;
  }
  mem_->SetCallHook(nullptr);
  ASSERT_GT(hook.clones.size(), 100u);
  for (const CrashAtEveryCall::Clone& clone : hook.clones) {
    const std::string state = Recovered(clone.fs);
    const bool next =
        clone.acknowledged + 1 < states.size() && state == states[clone.acknowledged + 1];
    EXPECT_TRUE(state == states[clone.acknowledged] || next)
        << state << " after " << states[clone.acknowledged];
  }
}

// The records of a group are longer than a sector, so that each could survive without the others.
TEST_F(VersionSetTest, ACrashInsideAGroupLeavesAllOfItOrNothing) {
  Create();
  const std::vector<std::string> names = {"default", "a", "b"};
  ASSERT_TRUE(AddFamily("a").ok());
  ASSERT_TRUE(AddFamily("b").ok());
  std::vector<std::string> states = {Describe(*set_)};
  CrashAtEveryCall hook(mem_.get());
  mem_->SetCallHook(&hook);
  const std::string smallest(700, 'k');
  for (int i = 0; i < 12; i++) {
    std::vector<VersionEdit> edits;
    for (size_t f = 0; f < names.size(); f++) {
      edits.push_back(Adding({MakeTable(0, smallest, smallest + "l", 2 * i + 1, 2 * i + 2)}));
    }
    std::vector<FamilyEdit> group;
    for (size_t f = 0; f < names.size(); f++) {
      group.push_back(FamilyEdit{Family(names[f]), {&edits[f]}});
    }
    {
      DbLock lock(&mu_);
      ASSERT_TRUE(set()->LogAndApply(std::move(group), nullptr, false).ok());
    }
    states.push_back(Describe(*set_));
    hook.acknowledged = states.size() - 1;
  }
  mem_->SetCallHook(nullptr);
  for (const CrashAtEveryCall::Clone& clone : hook.clones) {
    const std::string state = Recovered(clone.fs, names);
    const bool next =
        clone.acknowledged + 1 < states.size() && state == states[clone.acknowledged + 1];
    EXPECT_TRUE(state == states[clone.acknowledged] || next)
        << state << " after " << states[clone.acknowledged];
  }
}

}  // namespace
}  // namespace varve
