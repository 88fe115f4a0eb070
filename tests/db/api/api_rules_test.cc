// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of the database's front, or of
// its properties and events.

#include "db/api/c/c_results.h"
#include "db/api/db_impl.h"
#include "db/follow/secondary.h"
#include "db/observe/garbage.h"
#include "db/observe/metadata.h"
#include "db/observe/number_properties.h"
#include "db/observe/properties.h"
#include "tests/db/broken_rules.h"
#include "tests/db/engine/parts_fixture.h"

namespace varve::rules_of_api {
namespace {

class ApiRules : public PartsTest {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  // A tree of one level with one file, which it takes to be of 0 bytes. Its shape stays that of the
  // tree before.
  void MakeWrongTree(ColumnFamily* family, uint64_t number) {
    DbLock lock(mu());
    family->MeasureShape();
    auto file = std::make_shared<FileMetaData>();
    file->number = number;
    file->paths = family->shared_table_paths();
    file->smallest = file->largest = InternalKey("k", 1, kTypeValue);
    std::vector<std::vector<FileRef>> levels(1);
    levels[0].push_back(file);
    family->versions()->current =
        std::make_shared<const Version>(&family->icmp(), 1, std::move(levels));
    TableCounts counts;
    counts.entries = 1;
    file->SetCounts(counts);
    file->size = 100;
  }
};

TEST_F(ApiRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"home != nullptr && handed_out <= kResults",
       [] { c::ResultSlab::HandOut(std::make_unique<c::ResultSlab>(), 1, nullptr); }},
      {"home != nullptr && handed_out <= kResults",
       [] { c::ResultSlab::HandOut(std::make_unique<c::ResultSlab>(), 65, c::MakeSpareSlabs()); }},
      {"value >= values_.data()",
       [] {
         PinnableSlice other;
         c::ResultSlab().PutBack(&other);
       }},
      {"slab != nullptr", [] { c::SpareSlabs().Keep(nullptr); }},
      {"!status.ok()", [] { c::SetError(nullptr, Status::OK()); }},
      {"name != nullptr", [] { (void)c::NullArgument(nullptr); }},
      {"object_ != nullptr",
       [] { c::Given<rocksdb_slicetransform_t, const SliceTransform>(nullptr); }},
      {"item.bytes > 0",
       [] {
         (void)GarbageMap({{"deleted", "why", "how", 0}});
       }},
      {"item.bytes > 0",
       [] {
         (void)GarbageMap({{"total", "why", "how", 1}});
       }},
  });
}

TEST_F(ApiRules, ADatabaseHasItsDefaultFamily) {
  if (!kAssertions) GTEST_SKIP() << "this build has no assertions";
  EXPECT_DEATH(DbImpl{engine_}, "broken: family != nullptr");
}

TEST_F(ApiRules, WhatIsToldAgreesWithTheTree) {
  if (!kAssertions) GTEST_SKIP() << "this build has no assertions";
  ColumnFamily* const family = MakeDefaultFamily();
  Engine* const e = engine_.get();
  TableProperties sum;
  EXPECT_DEATH((void)SumTableProperties(e, family, 7, &sum), "broken: level < pinned.version");
  MakeWrongTree(family, 7);
  uint64_t keys = 0;
  EXPECT_DEATH((void)GetNumberProperty(e, family, "rocksdb.estimate-num-keys", &keys),
               "broken: known_bytes > 0 && known_bytes <= bytes");
  ColumnFamilyMetaData metadata;
  EXPECT_DEATH(DescribeFamily(e, family, &metadata), "broken: metadata->size == pinned.version");
  MakeWrongTree(family, 0);
  EXPECT_DEATH(DescribeFamily(e, family, &metadata), "broken: file.number != 0");
  std::map<std::string, std::string> fields;
  state().commit.reset();
  EXPECT_DEATH((void)GetMapPropertyOf(e, family, "varve.recovery", &fields),
               "broken: engine->state.commit != nullptr");
}

TEST_F(ApiRules, TransactionsSayWhereTheAnswerGoes) {
  if (!kAssertions) GTEST_SKIP() << "this build has no assertions";
  Options options;
  options.env = env_.get();
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, "/other", &db).ok());
  TransactionHost& host = static_cast<DbImpl&>(*db);
  EXPECT_DEATH((void)host.FindNewest(db->DefaultColumnFamily(), "k", nullptr),
               "broken: newest != nullptr");
}

}  // namespace
}  // namespace varve::rules_of_api
