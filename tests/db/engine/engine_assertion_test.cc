// SPDX-License-Identifier: Apache-2.0

// Goal: assertions check the rules of this room that a caller could break. Method: each is broken
// on purpose.

#include <gtest/gtest.h>

#include "db/engine/fork_guard.h"
#include "tests/db/engine/parts_fixture.h"
#include "util/base/assert.h"

namespace varve {
namespace {

class EngineAssertionTest : public PartsTest {
 protected:
  void SetUp() override {
    if (!kAssertions) GTEST_SKIP() << "assertions are off";
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

TEST_F(EngineAssertionTest, EachRuleFires) {
  struct Case {
    const char* rule;
    std::function<void(Engine&)> broken;
  };
  const Case kCases[] = {
      {"keepers_ > 0", [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.deletions.EndKeep(); }},
      {"level >= 0", [](Engine&) VARVE_REQUIRES(kDbMutex) { FamilyWork().Level(-1); }},
      {"options != nullptr", [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.options.Set(nullptr); }},
      {"waiting_writers_ > 0", [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.stalls.EndWait(0); }},
      {"forked\\(\\)",
       [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.lifecycle.KeepInChild(nullptr); }},
      {"closing_ == Closing::kUnderWay",
       [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.lifecycle.EndClosing(Status()); }},
      {"closing_ == Closing::kNo",
       [](Engine& e) VARVE_REQUIRES(kDbMutex) {
         e.lifecycle.BeginClosing();
         e.lifecycle.BeginClosing();
       }},
      {"inside_ > 0", [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.lifecycle.calls().Leave(); }},
      {"shut_", [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.lifecycle.calls().WaitUntilAllLeft(); }},
      {"paused_ > 0", [](Engine& e) VARVE_REQUIRES(kDbMutex) { e.tree.Continue(); }},
      {"steps_.end\\(\\)",
       [](Engine& e) VARVE_REQUIRES(kDbMutex) {
         TreeAdmission::Participant participant(TreeAdmission::Kind::kJob, nullptr);
         e.tree.Enter(&participant);
         e.tree.End(&participant);
       }},
      {"MayPlan\\(\\*participant\\)",
       [](Engine& e) VARVE_REQUIRES(kDbMutex) {
         TreeAdmission::Participant participant(TreeAdmission::Kind::kJob, nullptr);
         e.tree.Enter(&participant);
         e.tree.Pause();
         e.tree.Begin(&participant);
       }},
      {"lifecycle_ == nullptr",
       [](Engine& e) VARVE_REQUIRES(kDbMutex) {
         ForkGuard guard;
         guard.Watch(&e.lifecycle);
         guard.Watch(&e.lifecycle);
       }},
  };
  for (const Case& one : kCases) {
    EXPECT_DEATH(
        {
          DbLock lock(mu());
          one.broken(*engine_);
        },
        std::string("broken: .*") + one.rule)
        << one.rule;
  }
}

}  // namespace
}  // namespace varve
