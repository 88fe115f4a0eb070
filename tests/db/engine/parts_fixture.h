// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the parts of an engine over a file system in memory, with a version set, a family and a
// log, and nothing opened: no DB, no recovery, no jobs but those that a test makes.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"

#include "db/engine/engine.h"
#include "db/recovery/families.h"
#include "db/recovery/sanitize.h"
#include "util/env/file_names.h"

namespace varve {

// A commit path that gets no writes: it tells who holds it.
class IdleCommitPath final : public CommitPath {
 public:
  Status Commit(const WriteOptions&, WriteRequest*, UserWriteCallback*) override {
    return Status::NotSupported();
  }
  SequenceNumber NewestSequence() const override { return 0; }
  CommitTotals Totals() const override { return {}; }
  void WaitUntilVisible() override {}
  void WatchKeys() override {}
  void ExpectCondition(const WriteCondition& /*condition*/) override {}
  void WaitForAll() override {}
  void RaiseTo(SequenceNumber) override {}
  SequenceNumber BeginAddition(uint64_t) override { return 0; }
  SequenceNumber EndAddition() override { return 0; }
  void EnterExclusive() override {
    EXPECT_FALSE(held);
    held = true;
    entered++;
  }
  bool EnterExclusiveWithin(uint64_t) override {
    if (busy) return false;
    EnterExclusive();
    return true;
  }
  void ExitExclusive() override { held = false; }
  void Shutdown() override {}

  bool busy = false;  // another thread holds it for long
  bool held = false;
  int entered = 0;
};

class IdleCompactions : public CompactionScheduler {
 public:
  void Schedule(ColumnFamily*) override { scheduled++; }
  void ScheduleAll() override { all_scheduled++; }
  bool Busy() const override { return busy; }
  bool MayMakeRoom() const override { return busy; }

  bool busy = false;
  int scheduled = 0;
  int all_scheduled = 0;
};

class CountingPurger final : public FilePurger {
 public:
  void Purge() override { purges++; }

  int purges = 0;
};

class NoRecovery final : public RecoveryStarter {
 public:
  void StartRetrying() override { started++; }
  void Hurry() override {}

  int started = 0;
};

class PartsTest : public ::testing::Test {
 protected:
  explicit PartsTest(DBOptions options = DBOptions()) : env_(NewMemEnv(Env::Default())) {
    options.env = env_.get();
    options = SanitizeOptions("/db", options);
    DbContext::Identity identity;
    identity.name = identity.given_name = "/db";
    engine_ = std::make_shared<Engine>(identity, options, std::make_shared<DBOptions>(options));
    engine_->errors.set_recovery(&recovery_);
    auto path = std::make_unique<IdleCommitPath>();
    path_ = path.get();
    state().commit = std::move(path);
    EXPECT_TRUE(env_->CreateDirIfMissing("/db").ok());
    EXPECT_TRUE(engine_->context.OpenDirectory().ok());
    EXPECT_TRUE(engine_->context.OpenLogDirectory().ok());
    MakeVersions();
    state().logs = std::make_unique<LogSet>(/*use_fsync=*/false);
    DbLock lock(&state().mu);
    EXPECT_TRUE(engine_->new_logs.Start(/*force=*/true).ok());
  }
  ~PartsTest() override { ReleaseFamilies(engine_.get()); }

  DbState& state() { return engine_->state; }
  DbMutex* mu() { return &state().mu; }

  // Makes the default family, with these options.
  ColumnFamily* MakeDefaultFamily(ColumnFamilyOptions options = ColumnFamilyOptions()) {
    options.compression = kNoCompression;
    DbLock lock(mu());
    auto family = MakeFamily(engine_.get(), state().versions->FindFamily(0),
                             SanitizeFamilyOptions(engine_->context.options(), options));
    family->InstallSuperVersion();
    state().families.Add(family);
    return family.get();
  }
  // Writes as a writer would, but into no log.
  void Put(ColumnFamily* family, const std::string& key, const std::string& value) {
    DbLock lock(mu());
    const SequenceNumber next = state().versions->last_sequence() + 1;
    EXPECT_TRUE(family->mem()->Add(next, kTypeValue, key, value).ok());
    state().versions->set_last_sequence(next);
  }
  std::vector<int> FilesPerLevel(ColumnFamily* family) {
    DbLock lock(mu());
    std::vector<int> counts;
    for (int level = 0; level < family->current()->num_levels(); level++) {
      counts.push_back(static_cast<int>(family->current()->level(level).size()));
    }
    while (!counts.empty() && counts.back() == 0) counts.pop_back();
    return counts;
  }

  const std::unique_ptr<Env> env_;
  NoRecovery recovery_;
  std::shared_ptr<Engine> engine_;
  IdleCommitPath* path_ = nullptr;

 private:
  void MakeVersions() {
    VersionSetOptions options;
    options.db_name = "/db";
    options.fs = engine_->context.fs();
    options.clock = engine_->context.clock();
    state().versions = std::make_unique<VersionSet>(options, mu());
    FamilyToOpen family;
    family.name = kDefaultColumnFamilyName;
    family.comparator = BytewiseComparator();
    DbLock lock(mu());
    EXPECT_TRUE(state().versions->CreateNew(family, "id").ok());
    EXPECT_TRUE(state().versions->Recover({family}).ok());
  }
};

}  // namespace varve
