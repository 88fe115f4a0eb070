// SPDX-License-Identifier: Apache-2.0

// Goal: the steps of an opening and a close can be taken alone, and say no where they must. Method:
// each on a file system in memory, most without any database.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/recovery/close.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/families.h"
#include "db/recovery/open.h"
#include "db/recovery/start_work.h"
#include "util/env/file_names.h"

namespace varve {
namespace {

class OpenStepsTest : public ::testing::Test {
 protected:
  OpenStepsTest() : env_(NewMemEnv(Env::Default())) { options_.env = env_.get(); }
  ~OpenStepsTest() override {
    if (engine_ != nullptr) End(engine_.get());
  }

  std::unique_ptr<DbContext> Context(bool read_only = false) {
    DbContext::Identity identity;
    identity.name = identity.given_name = "/db";
    identity.read_only = read_only;
    return std::make_unique<DbContext>(identity, options_);
  }
  void MakeFile(const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    ASSERT_TRUE(env_->GetFileSystem()->NewWritableFile(path, FileOptions(), &file, nullptr).ok());
    ASSERT_TRUE(file->Close(IOOptions(), nullptr).ok());
  }
  OpenRequest Request() {
    OpenRequest request;
    request.options = options_;
    request.options.create_if_missing = true;
    request.name = "/db";
    request.families.emplace_back(kDefaultColumnFamilyName, ColumnFamilyOptions());
    return request;
  }
  static Status Take(DbContext* context) {
    MadeDirectories made(context->fs().get());
    return TakeDirectory(context, /*repairs=*/false, &made);
  }
  static void End(Engine* engine) {
    EXPECT_TRUE(CloseEngine(engine).ok());
    ReleaseFamilies(engine);
  }

  const std::unique_ptr<Env> env_;
  DBOptions options_;
  std::shared_ptr<Engine> engine_;
};

TEST_F(OpenStepsTest, ADirectoryIsMadeOnlyIfTheOptionsSaySo) {
  EXPECT_TRUE(Take(Context().get()).IsInvalidArgument());
  EXPECT_FALSE(env_->FileExists("/db").ok());
  options_.create_if_missing = true;
  const auto context = Context();
  EXPECT_TRUE(Take(context.get()).ok());
  EXPECT_NE(context->directory(), nullptr);
  EXPECT_TRUE(Take(Context().get()).IsIOError()) << "it is locked";
  EXPECT_TRUE(context->Unlock().ok());
  EXPECT_TRUE(context->Unlock().ok()) << "once more does no harm";
}

TEST_F(OpenStepsTest, AReaderLeavesTheDirectoryAlone) {
  const auto context = Context(/*read_only=*/true);
  EXPECT_TRUE(Take(context.get()).ok());
  EXPECT_EQ(context->directory(), nullptr);
  bool found = true;
  EXPECT_TRUE(FindDatabase(*context, false, &found).IsInvalidArgument());
  EXPECT_FALSE(found);
}

TEST_F(OpenStepsTest, CurrentIsWhatMakesADatabase) {
  ASSERT_TRUE(env_->CreateDirIfMissing("/db").ok());
  options_.create_if_missing = true;
  bool found = true;
  EXPECT_TRUE(FindDatabase(*Context(), false, &found).ok());
  EXPECT_FALSE(found);
  MakeFile("/db/CURRENT");
  EXPECT_TRUE(FindDatabase(*Context(), false, &found).ok());
  EXPECT_TRUE(found);
  options_.error_if_exists = true;
  EXPECT_TRUE(FindDatabase(*Context(), false, &found).IsInvalidArgument());
}

TEST_F(OpenStepsTest, DataWithoutCurrentIsNotOverwritten) {
  ASSERT_TRUE(env_->CreateDirIfMissing("/db").ok());
  const auto context = Context();
  const LogLocation logs{context->fs().get(), context->LogFileOptions(), "/db", "/db", false};
  EXPECT_TRUE(CheckHoldsNoData(logs, logs.db_name, {"LOCK", "MANIFEST-000001", "notes.txt"}).ok());
  const Status s = CheckHoldsNoData(logs, logs.db_name, {"MANIFEST-000001", "000007.sst"});
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("000007.sst"), std::string::npos);
}

TEST_F(OpenStepsTest, FamiliesAreCheckedBeforeTheyAreMade) {
  EXPECT_TRUE(CheckFamily(options_, {"one", ColumnFamilyOptions()}).ok());
  EXPECT_TRUE(CheckFamily(options_, {"", ColumnFamilyOptions()}).IsInvalidArgument());
  ColumnFamilyOptions bad;
  bad.num_levels = 0;
  EXPECT_FALSE(CheckFamily(options_, {"two", bad}).ok());
}

TEST_F(OpenStepsTest, AnEngineWithoutADbMakesAndDropsFamilies) {
  ASSERT_TRUE(OpenEngine(Request(), &engine_).ok());
  StartBackgroundWork(engine_.get(), nullptr, {});
  std::unique_ptr<ColumnFamilyHandle> handle;
  const ColumnFamilyDescriptor wanted("more", ColumnFamilyOptions());
  {
    const ExclusiveCommit exclusive(engine_->state.commit.get());
    ASSERT_TRUE(CreateFamily(engine_.get(), wanted, &handle).ok());
    std::unique_ptr<ColumnFamilyHandle> again;
    EXPECT_TRUE(CreateFamily(engine_.get(), wanted, &again).IsInvalidArgument());
    EXPECT_EQ(again, nullptr);
  }
  Status s;
  ColumnFamily* const family = engine_->state.Resolve(handle.get(), &s);
  ASSERT_NE(family, nullptr);
  {
    const ExclusiveCommit exclusive(engine_->state.commit.get());
    EXPECT_TRUE(DropFamily(engine_.get(), family).ok());
    EXPECT_TRUE(DropFamily(engine_.get(), family).IsInvalidArgument());
  }
  DbLock lock(&engine_->state.mu);
  EXPECT_EQ(engine_->state.families.FindByName("more"), nullptr);
}

TEST_F(OpenStepsTest, ACloseThatIsRefusedChangesNothing) {
  ASSERT_TRUE(OpenEngine(Request(), &engine_).ok());
  const Snapshot* const snapshot = engine_->state.snapshots.Acquire(0, 0);
  const Status s = CloseEngine(engine_.get(), WhenHeld::kRefuse);
  EXPECT_TRUE(s.IsAborted());
  EXPECT_NE(s.ToString().find("unreleased: 1 snapshot"), std::string::npos) << s.ToString();
  EXPECT_FALSE(engine_->lifecycle.closed());
  EXPECT_TRUE(engine_->state.snapshots.Release(snapshot));
  EXPECT_TRUE(engine_->log_gate.Lock().ok());
  EXPECT_TRUE(CloseEngine(engine_.get(), WhenHeld::kRefuse).IsAborted());
  EXPECT_TRUE(engine_->log_gate.Unlock().ok());
  EXPECT_TRUE(CloseEngine(engine_.get(), WhenHeld::kRefuse).ok());
  EXPECT_TRUE(engine_->lifecycle.closed());
  EXPECT_TRUE(CloseEngine(engine_.get()).ok()) << "once more does no harm";
}

TEST_F(OpenStepsTest, WhatWasOpenedOnceOpensAgain) {
  ASSERT_TRUE(OpenEngine(Request(), &engine_).ok());
  std::shared_ptr<Engine> other;
  EXPECT_FALSE(OpenEngine(Request(), &other).ok()) << "it is locked";
  EXPECT_EQ(other, nullptr);
  End(engine_.get());
  engine_.reset();
  OpenRequest reader = Request();
  reader.read_only = true;
  ASSERT_TRUE(OpenEngine(reader, &engine_).ok());
  EXPECT_TRUE(engine_->recovery.clean());
}

}  // namespace
}  // namespace varve
