// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of opening or repairing.

#include "db/recovery/families.h"
#include "db/recovery/identity.h"
#include "db/recovery/repair_manifest.h"
#include "db/recovery/repair_plan.h"
#include "db/recovery/table_survey.h"
#include "tests/db/broken_rules.h"
#include "tests/db/engine/parts_fixture.h"
#include "util/env/mem_file_system.h"

namespace varve::rules_of_recovery {
namespace {

class RecoveryRules : public PartsTest {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(RecoveryRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"!id.empty()",
       [] {
         MemFileSystem fs;
         (void)WriteIdentity(&fs, "/db", "");
       }},
      {"damaged.state == TableFinding::State::kDamaged",
       [] {
         TableFinding sound;
         sound.state = TableFinding::State::kSound;
         NewFile copy;
         (void)CopyReadableEntries(TableSurveyContext(), sound, nullptr, TableOutputContext(),
                                   TableBuildOptions(), &copy);
       }},
      {"number < plan.next_file_number",
       [] {
         MemFileSystem fs;
         RepairPlan plan;
         plan.next_file_number = 7;
         (void)WriteRepairManifest(&fs, "/db", plan, 7);
       }},
  });
}

TEST_F(RecoveryRules, APlannerPlansOnce) {
  if (!kAssertions) GTEST_SKIP() << "this build has no assertions";
  MemFileSystem fs;
  const std::vector<ColumnFamilyDescriptor> none;
  const DBOptions options;
  RepairPlan plan;
  RepairReport report;
  RepairPlanner planner(&fs, "/db", options, &none, nullptr, /*was_locked=*/false);
  (void)planner.Run(&plan, &report);
  EXPECT_DEATH((void)planner.Run(&plan, &report), "broken: plan_ == nullptr");
}

TEST_F(RecoveryRules, AFamilyHasAnOrder) {
  if (!kAssertions) GTEST_SKIP() << "this build has no assertions";
  FamilyToOpen family;
  family.comparator = nullptr;
  std::shared_ptr<FamilyVersions> versions;
  EXPECT_DEATH(
      {
        DbLock lock(mu());
        (void)AddToManifest(engine_.get(), family, &versions);
      },
      "broken: family.comparator != nullptr");
}

}  // namespace
}  // namespace varve::rules_of_recovery
