// SPDX-License-Identifier: Apache-2.0

// Goal: rare operations on a whole database can be interrupted by a power loss and repeated:
// trimming history, destroying and repairing. Method: the recorder takes a clone at every call of
// the operation; each clone is opened, checked, and given the operation once more.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/utilities/repair.h"

#include "tests/crash/crash_recorder.h"
#include "tests/crash/family_kinds.h"
#include "tests/crash/numbered_writes.h"
#include "util/env/file_names.h"

namespace varve::testing {

namespace {

constexpr const char* kRareName = "/db";
constexpr uint64_t kRareWrites = 60;
constexpr uint64_t kTrimTo = 33;
constexpr uint64_t kRareStatesWanted = 100;

DBOptions RareOptions(Env* env) {
  DBOptions options;
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  return options;
}

ColumnFamilyOptions RareFamilyOptions() {
  ColumnFamilyOptions options;
  options.compression = kNoCompression;
  options.level0_file_num_compaction_trigger = 3;
  return options;
}

std::string NameOf(const CrashState& state) {
  return "call " + std::to_string(state.call) + ", policy " +
         std::to_string(static_cast<int>(state.policy));
}

// Called after the last case: an error ends a test before.
void PrintResult(const char* what, uint64_t states, const char* some, uint64_t of_these) {
  printf("RESULT power_loss_%s cases=%llu %s=%llu wrong=0 lost=0 crash=0 hang=0\n", what,
         static_cast<unsigned long long>(states), some, static_cast<unsigned long long>(of_these));
}

class RarePowerLoss : public ::testing::Test {
 protected:
  RarePowerLoss() : fs_(std::make_shared<MemFileSystem>()), env_(NewCompositeEnv(fs_)) {}

  Status OpenOn(Env* env, bool create = true) {
    DBOptions options = RareOptions(env);
    options.create_if_missing = create;
    return OpenWithFamilies(options, RareFamilyOptions(), kRareName, families_, &db_, &handles_);
  }
  void Close() { CloseWithFamilies(&db_, &handles_); }

  // Creates a database with tables and logs, and closes it.
  void Build() {
    ASSERT_TRUE(OpenOn(env_.get()).ok());
    for (uint64_t i = 1; i <= kRareWrites; i++) {
      ASSERT_TRUE(WriteNumbered(db_.get(), handles_, families_, i, WriteOptions()).ok());
      if (i % 14 != 0) continue;
      for (const auto& [name, handle] : handles_) {
        ASSERT_TRUE(db_->Flush(FlushOptions(), handle).ok());
      }
    }
    ASSERT_TRUE(db_->SyncWAL().ok());
    Close();
  }

  [[nodiscard]] std::vector<ColumnFamilyDescriptor> Descriptors() const {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& family : families_) {
      descriptors.emplace_back(family, RareFamilyOptions());
      TuneFamily(family, &descriptors.back().options);
    }
    return descriptors;
  }

  // Opens without the versions after kTrimTo.
  Status OpenTrimmed(Env* env) {
    std::vector<ColumnFamilyHandle*> opened;
    DB* db = nullptr;
    const Status s = DB::OpenAndTrimHistory(RareOptions(env), kRareName, Descriptors(), &opened,
                                            &db, Stamp(kTrimTo));
    db_.reset(db);
    for (size_t i = 0; i < opened.size(); i++) handles_[families_[i]] = opened[i];
    return s;
  }

  // Compares the family with the state after this many writes; returns "" or the difference.
  std::string Compare(const std::string& family, uint64_t writes) {
    const ReadingAsOf now(family, UINT64_MAX);
    return CompareFamily(db_.get(), handles_.at(family), now.options(),
                         StateAfter(writes, families_).families.at(family));
  }

  // Removes the MANIFEST and CURRENT, which a closed database has.
  void RemoveManifest() {
    std::vector<std::string> entries;
    ASSERT_TRUE(fs_->GetChildren(kRareName, IOOptions(), &entries, nullptr).ok());
    for (const std::string& entry : entries) {
      uint64_t number = 0;
      FileType type;
      if (!ParseFileName(entry, &number, &type)) continue;
      if (type != kDescriptorFile && type != kCurrentFile) continue;
      const std::string path = std::string(kRareName) + "/" + entry;
      ASSERT_TRUE(fs_->DeleteFile(path, IOOptions(), nullptr).ok());
    }
  }
  Status Repair(Env* env) const {
    RepairReport report;
    return RepairDB(kRareName, RareOptions(env), Descriptors(), nullptr, RepairOptions(), &report);
  }
  void ExpectAllThere() {
    for (const std::string& family : families_) {
      EXPECT_EQ(Compare(family, kRareWrites), "") << family;
    }
    Close();
  }

  void ExpectTrimmed() {
    EXPECT_EQ(Compare("default", kRareWrites), "");
    EXPECT_EQ(Compare("versions", kTrimTo), "");
    Close();
  }

  std::vector<std::string> families_ = {"default", "versions"};
  const std::shared_ptr<MemFileSystem> fs_;
  const std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  Handles handles_;
};

TEST_F(RarePowerLoss, TrimmingHistoryIsDoneAgain) {
  Build();
  CrashRecorder recorder(fs_.get(), 1);
  recorder.created = true;
  fs_->SetCallHook(&recorder);
  ASSERT_TRUE(OpenTrimmed(env_.get()).ok());
  ExpectTrimmed();
  fs_->SetCallHook(nullptr);
  uint64_t states = 0;
  uint64_t before = 0;
  for (const CrashState& state : recorder.Take()) {
    SCOPED_TRACE(NameOf(state));
    const std::unique_ptr<Env> env = NewCompositeEnv(state.fs);
    const Status s = OpenOn(env.get());
    ASSERT_TRUE(s.ok()) << s.ToString();
    // Only entries that are to be trimmed may be partly gone.
    ASSERT_EQ(Compare("default", kRareWrites), "");
    if (Compare("versions", kRareWrites).empty()) {
      before++;
    } else {
      ASSERT_EQ(Compare("versions", kTrimTo), "");
    }
    Close();
    const Status trimmed = OpenTrimmed(env.get());
    ASSERT_TRUE(trimmed.ok()) << trimmed.ToString();
    ExpectTrimmed();
    states++;
    if (HasFailure()) return;
  }
  PrintResult("trim", states, "before", before);
  EXPECT_GE(states, kRareStatesWanted);
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, states);
}

// A caller that destroys a database wants none of it, but the remains must not be mistaken for a
// database.
TEST_F(RarePowerLoss, DestroyingIsDoneAgain) {
  Build();
  CrashRecorder recorder(fs_.get(), 1);
  recorder.created = true;
  Options options(RareOptions(env_.get()), RareFamilyOptions());
  fs_->SetCallHook(&recorder);
  ASSERT_TRUE(DestroyDB(kRareName, options).ok());
  fs_->SetCallHook(nullptr);
  uint64_t states = 0;
  uint64_t refused = 0;
  for (const CrashState& state : recorder.Take()) {
    SCOPED_TRACE(NameOf(state));
    const std::unique_ptr<Env> env = NewCompositeEnv(state.fs);
    if (OpenOn(env.get()).ok()) {
      const PrefixCheck check = CheckPrefix(db_.get(), handles_, families_, 0, kRareWrites);
      ASSERT_TRUE(check.ok) << check.problem;
      Close();
    } else {
      refused++;
    }
    options.env = env.get();
    const Status s = DestroyDB(kRareName, options);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(OpenOn(env.get()).ok());
    const PrefixCheck check = CheckPrefix(db_.get(), handles_, families_, 0, 0);
    ASSERT_TRUE(check.ok) << check.problem;
    Close();
    states++;
  }
  PrintResult("destroy", states, "refused", refused);
  EXPECT_GE(states, 50u);
}

// An opening before the second repair is refused, or finds everything.
TEST_F(RarePowerLoss, RepairingIsDoneAgain) {
  families_.emplace_back("texts");  // Shows writes that are replayed twice.
  Build();
  RemoveManifest();
  const std::shared_ptr<MemFileSystem> damaged = fs_->CrashClone(CrashPolicy::kKill, 1);
  const std::unique_ptr<Env> damaged_env = NewCompositeEnv(damaged);
  ASSERT_FALSE(OpenOn(damaged_env.get(), /*create=*/false).ok());
  CrashRecorder recorder(damaged.get(), 1);
  recorder.created = true;
  damaged->SetCallHook(&recorder);
  const Status first = Repair(damaged_env.get());
  damaged->SetCallHook(nullptr);
  ASSERT_TRUE(first.ok()) << first.ToString();
  uint64_t states = 0;
  uint64_t refused = 0;
  for (const CrashState& state : recorder.Take()) {
    SCOPED_TRACE(NameOf(state));
    // Opens a clone, because an opening repairs things.
    const std::unique_ptr<Env> look = NewCompositeEnv(state.fs->CrashClone(CrashPolicy::kKill, 1));
    if (OpenOn(look.get(), /*create=*/false).ok()) {
      ExpectAllThere();
    } else {
      refused++;
    }
    const std::unique_ptr<Env> env = NewCompositeEnv(state.fs);
    const Status s = Repair(env.get());
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(OpenOn(env.get(), /*create=*/false).ok());
    ExpectAllThere();
    states++;
    if (HasFailure()) return;
  }
  PrintResult("repair", states, "refused", refused);
  EXPECT_GE(states, kRareStatesWanted);
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, states);
}

}  // namespace

}  // namespace varve::testing
