// SPDX-License-Identifier: Apache-2.0

// Goal: entities in transactions are locked, read, prepared, recovered and committed as values are,
// with both write policies.

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/attribute_groups.h"
#include "varve/statistics.h"
#include "varve/utilities/write_batch_with_index.h"

#include "tests/db/transaction/two_phase_fixture.h"

namespace varve::testing {
namespace {

// Merges into a word that says what the base was.
class FormOperator final : public MergeOperator {
 public:
  const char* Name() const override { return "FormOperator"; }
  bool FullMergeV3(const MergeOperationInputV3& in, MergeOperationOutputV3* out) const override {
    static constexpr const char* kNames[] = {"nothing", "plain", "entity"};
    out->new_value = std::string(kNames[in.existing_value.index()]);
    return true;
  }
};

class EntityTransactionTest : public TwoPhaseFixture,
                              public ::testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  void SetUp() override {
    transaction_options_.write_policy = GetParam();
    OpenTransactions();
  }
  static std::string Show(const WideColumns& columns) {
    std::string text;
    for (const WideColumn& column : columns) {
      text += column.name().ToString() + ":" + column.value().ToString() + " ";
    }
    return text;
  }
  static std::string Entity(Transaction* txn, ColumnFamilyHandle* family, const std::string& key) {
    PinnableWideColumns columns;
    const Status s = txn->GetEntity(ReadOptions(), family, key, &columns);
    return Said(s, Show(columns.columns()));
  }
  std::string CommittedEntity(const std::string& key, ColumnFamilyHandle* family = nullptr) {
    if (family == nullptr) family = txn_db_->DefaultColumnFamily();
    PinnableWideColumns columns;
    const Status s = txn_db_->GetEntity(ReadOptions(), family, key, &columns);
    return Said(s, Show(columns.columns()));
  }
  ColumnFamilyHandle* Default() { return txn_db_->DefaultColumnFamily(); }
};

TEST_P(EntityTransactionTest, AnEntityIsReadBeforeItIsCommitted) {
  PutPlain("plain", "p");
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Default(), "base", {{"", "b"}, {"x", "1"}}).ok());
  auto txn = Begin();
  ASSERT_TRUE(txn->PutEntity(Default(), "k", {{"b", "2"}, {"a", "1"}}).ok());
  ASSERT_TRUE(txn->PutEntity(Other(), "o", {{"", "d"}}).ok());
  ASSERT_TRUE(txn->Merge("k", "m").ok());
  ASSERT_TRUE(txn->Merge("base", "m").ok());
  EXPECT_EQ(txn->GetNumPutEntities(), 2u);
  EXPECT_TRUE(txn->PutEntity(nullptr, "k", {}).IsInvalidArgument());
  EXPECT_TRUE(txn->PutEntity(Default(), "k", {{"a", "1"}, {"a", "2"}}).IsCorruption());
  EXPECT_EQ(Entity(txn.get(), Default(), "k"), ":,m a:1 b:2 ");
  EXPECT_EQ(Entity(txn.get(), Default(), "base"), ":b,m x:1 ");
  EXPECT_EQ(Entity(txn.get(), Default(), "plain"), ":p ");
  EXPECT_EQ(Read(txn.get(), "k"), ",m");
  EXPECT_EQ(CommittedEntity("k"), "NOT_FOUND");

  const std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions()));
  std::string shown;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    shown += it->key().ToString() + "[" + Show(it->columns()) + "] ";
  }
  EXPECT_EQ(shown, "base[:b,m x:1 ] k[:,m a:1 b:2 ] plain[:p ] ");

  const Slice keys[] = {"base", "k", "none"};
  PinnableWideColumns results[3];
  Status statuses[3];
  txn->MultiGetEntity(ReadOptions(), Default(), 3, keys, results, statuses);
  EXPECT_EQ(Show(results[0].columns()), ":b,m x:1 ");
  EXPECT_EQ(Show(results[1].columns()), ":,m a:1 b:2 ");
  EXPECT_TRUE(statuses[2].IsNotFound());

  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(CommittedEntity("k"), ":,m a:1 b:2 ");
  EXPECT_EQ(CommittedEntity("o", Other()), ":d ");
}

TEST_P(EntityTransactionTest, AnEntityIsLocked) {
  auto holder = Begin();
  ASSERT_TRUE(holder->PutEntity(Default(), "k", {{"a", "1"}}).ok());
  auto other = Begin(Impatient());
  EXPECT_TRUE(other->PutEntity(Default(), "k", {{"a", "2"}}).IsTimedOut());
  PinnableWideColumns columns;
  EXPECT_TRUE(other->GetEntityForUpdate(ReadOptions(), Default(), "k", &columns).IsTimedOut());
  ASSERT_TRUE(holder->Rollback().ok());
  EXPECT_TRUE(other->GetEntityForUpdate(ReadOptions(), Default(), "k", &columns).IsNotFound());
  ASSERT_TRUE(other->PutEntityUntracked(Default(), "k", {{"a", "3"}}).ok());
  ASSERT_TRUE(other->GetEntityForUpdate(ReadOptions(), Default(), "k", &columns).ok());
  EXPECT_EQ(Show(columns.columns()), "a:3 ");
  ASSERT_TRUE(other->Commit().ok());
  EXPECT_EQ(CommittedEntity("k"), "a:3 ");
}

TEST_P(EntityTransactionTest, APreparedEntityIsRecoveredAndCommitted) {
  for (const bool commits : {true, false}) {
    const std::string key = commits ? "committed" : "rolled back";
    {
      auto txn = Named("t");
      ASSERT_TRUE(txn->PutEntity(Default(), key, {{"a", "1"}, {"", "d"}}).ok());
      ASSERT_TRUE(txn->PutEntity(Other(), key, {{"b", "2"}}).ok());
      ASSERT_TRUE(txn->Prepare().ok());
    }
    const std::shared_ptr<MemFileSystem> left = Left();
    GoOnWith(left);
    OpenTransactions();
    EXPECT_EQ(CommittedEntity(key), "NOT_FOUND");
    Transactions prepared = TakePrepared();
    ASSERT_EQ(prepared.size(), 1u);
    EXPECT_TRUE(Begin(Impatient())->PutEntity(Other(), key, {}).IsTimedOut());
    EXPECT_EQ(Entity(prepared["t"].get(), Default(), key), ":d a:1 ");
    ASSERT_TRUE(commits ? prepared["t"]->Commit().ok() : prepared["t"]->Rollback().ok());
    EXPECT_EQ(CommittedEntity(key), commits ? ":d a:1 " : "NOT_FOUND");
    EXPECT_EQ(CommittedEntity(key, Other()), commits ? "b:2 " : "NOT_FOUND");
    prepared.clear();
    ReopenTransactions();
    EXPECT_EQ(CommittedEntity(key), commits ? ":d a:1 " : "NOT_FOUND");
  }
}

TEST_P(EntityTransactionTest, ABatchIsRebuiltWithItsEntities) {
  WriteBatch batch;
  ASSERT_TRUE(batch.PutEntity(Default(), "k", {{"a", "1"}}).ok());
  ASSERT_TRUE(batch.PutEntity(Other(), "k", {{"b", "2"}}).ok());
  auto txn = Begin();
  ASSERT_TRUE(txn->RebuildFromWriteBatch(&batch).ok());
  EXPECT_EQ(txn->GetNumKeys(), 2u);
  EXPECT_EQ(Entity(txn.get(), Other(), "k"), "b:2 ");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(CommittedEntity("k"), "a:1 ");

  const AttributeGroups groups{AttributeGroup(Default(), {{"g", "1"}}),
                               AttributeGroup(Other(), {{"h", "2"}})};
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), "groups", groups).ok());
  EXPECT_EQ(CommittedEntity("groups", Other()), "h:2 ");
}

TEST_P(EntityTransactionTest, AnOperatorIsToldWhatTheBaseIs) {
  CloseTransactions();
  options_.merge_operator = std::make_shared<FormOperator>();
  options_.allow_other_merge_operator = true;
  OpenTransactions();
  PutPlain("plain", "v");
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Default(), "default", {{"", "v"}}).ok());
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Default(), "empty", {}).ok());
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Default(), "other", {{"a", "v"}}).ok());
  const std::vector<std::string> names = {"default", "empty", "none", "other", "plain", "read"};
  auto txn = Begin();
  for (size_t i = 0; i + 1 < names.size(); i++) ASSERT_TRUE(txn->Merge(names[i], "m").ok());
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Default(), "read", {{"", "r"}, {"a", "1"}}).ok());
  const std::vector<std::string> expected = {"entity", "entity", "nothing", "entity", "plain", "r"};
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      txn->MultiGet(ReadOptions(), std::vector<Slice>(names.begin(), names.end()), &values);
  PinnableSlice pinned[6];
  Status each[6];
  const std::vector<Slice> keys(names.begin(), names.end());
  txn->MultiGet(ReadOptions(), Default(), 6, keys.data(), pinned, each);
  const std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions()));
  it->SeekToFirst();
  for (size_t i = 0; i < names.size(); i++, it->Next()) {
    SCOPED_TRACE(names[i]);
    EXPECT_EQ(Read(txn.get(), names[i]), expected[i]);
    EXPECT_TRUE(statuses[i].ok());
    EXPECT_EQ(values[i], expected[i]);
    EXPECT_TRUE(each[i].ok());
    EXPECT_EQ(pinned[i].ToString(), expected[i]);
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value().ToString(), expected[i]);
  }
}

// One merged key does not make the others be read with all their columns.
TEST_P(EntityTransactionTest, OnlyMergedKeysAreReadWhole) {
  options_.statistics = CreateDBStatistics();
  CloseTransactions();
  OpenTransactions();
  std::vector<std::string> names;
  for (int i = 0; i < 10; i++) {
    names.push_back("k" + std::to_string(i));
    ASSERT_TRUE(txn_db_
                    ->PutEntity(WriteOptions(), Default(), names.back(),
                                {{"", "d"}, {"large", std::string(10000, 'x')}})
                    .ok());
  }
  auto txn = Begin();
  ASSERT_TRUE(txn->Merge("k4", "m").ok());
  const std::vector<Slice> keys(names.begin(), names.end());
  PinnableSlice values[10];
  Status statuses[10];
  const auto bytes = [&] {
    return options_.statistics->getTickerCount(NUMBER_MULTIGET_BYTES_READ);
  };
  const uint64_t before = bytes();
  txn->MultiGet(ReadOptions(), Default(), 10, keys.data(), values, statuses);
  for (int i = 0; i < 10; i++) {
    EXPECT_TRUE(statuses[i].ok());
    EXPECT_EQ(values[i].ToString(), i == 4 ? "d,m" : "d");
  }
  EXPECT_LT(bytes() - before, 20000u);
}

TEST_P(EntityTransactionTest, IteratorsOverFamiliesShowItsWrites) {
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Default(), "k", {{"", "d"}, {"a", "1"}}).ok());
  ASSERT_TRUE(txn_db_->PutEntity(WriteOptions(), Other(), "k", {{"a", "2"}, {"b", "3"}}).ok());
  ASSERT_TRUE(txn_db_->Put(WriteOptions(), Other(), "gone", "v").ok());
  auto txn = Begin();
  ASSERT_TRUE(txn->PutEntity(Other(), "k", {{"b", "4"}}).ok());
  ASSERT_TRUE(txn->Delete(Other(), "gone").ok());
  ASSERT_TRUE(txn->Put(Default(), "new", "v").ok());
  const std::vector<ColumnFamilyHandle*> both = {Default(), Other()};
  const std::unique_ptr<Iterator> it = txn->GetCoalescingIterator(ReadOptions(), both);
  std::string shown;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    shown += it->key().ToString() + "[" + Show(it->columns()) + "] ";
  }
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(shown, "k[:d a:1 b:4 ] new[:v ] ");

  const auto groups = txn->GetAttributeGroupIterator(ReadOptions(), both);
  shown.clear();
  for (groups->SeekToLast(); groups->Valid(); groups->Prev()) {
    shown += groups->key().ToString();
    for (const IteratorAttributeGroup& group : groups->attribute_groups()) {
      shown += "[" + group.column_family()->GetName() + " " + Show(group.columns()) + "]";
    }
  }
  EXPECT_EQ(shown, "new[default :v ]k[default :d a:1 ][" + Other()->GetName() + " b:4 ]");
  EXPECT_TRUE(txn->GetCoalescingIterator(ReadOptions(), {})->status().IsInvalidArgument());
  EXPECT_TRUE(txn->GetCoalescingIterator(ReadOptions(), {nullptr})->status().IsInvalidArgument());
}

INSTANTIATE_TEST_SUITE_P(Policies, EntityTransactionTest,
                         ::testing::Values(WRITE_COMMITTED, WRITE_PREPARED),
                         [](const auto& policy) {
                           return policy.param == WRITE_COMMITTED ? "Committed" : "Prepared";
                         });

}  // namespace
}  // namespace varve::testing
