// SPDX-License-Identifier: Apache-2.0

// Goal: flushes and compactions merge what they can, and no reader notices. Method: single stories
// that look into the tables, then random histories, with snapshots, against lists kept beside.

#include <gmock/gmock.h>

#include <atomic>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>

#include "varve/compaction_filter.h"
#include "varve/merge_operator.h"
#include "varve/statistics.h"
#include "varve/table_properties.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

// Concatenates. Fails, throws or refuses while the test wants it.
class Concatenate final : public MergeOperator {
 public:
  const char* Name() const override { return "test.concatenate"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (fails) return false;
    if (throws) throw std::runtime_error("thrown");
    if (in.existing_value != nullptr) out->new_value = in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) out->new_value += operand.ToString();
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* result,
                         Logger*) const override {
    if (refuses || fails) return false;
    if (throws) throw std::runtime_error("thrown");
    for (const Slice& operand : operands) *result += operand.ToString();
    return true;
  }
  std::atomic<bool> fails{false};
  std::atomic<bool> throws{false};
  std::atomic<bool> refuses{false};
};

class MergeBackgroundTest : public Database {
 protected:
  MergeBackgroundTest() {
    options_.merge_operator = operator_;
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
  }

  void Merge(const std::string& key, const std::string& operand) {
    const Status s = db()->Merge(WriteOptions(), key, operand);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    const Status s = db()->CompactRange(options, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Returns "entries/operands" of all tables together.
  std::string Tables() {
    TablePropertiesCollection tables;
    EXPECT_TRUE(db()->GetPropertiesOfAllTables(&tables).ok());
    uint64_t entries = 0;
    uint64_t operands = 0;
    for (const auto& [name, properties] : tables) {
      entries += properties->num_entries;
      operands += properties->num_merge_operands;
      EXPECT_EQ(properties->merge_operator_name, expected_name_);
    }
    return std::to_string(entries) + "/" + std::to_string(operands);
  }

  const std::shared_ptr<Concatenate> operator_ = std::make_shared<Concatenate>();
  std::string expected_name_ = "test.concatenate";
};

TEST_F(MergeBackgroundTest, AFlushMergesWithWhatItSees) {
  Open();
  Put("a", "1");
  for (int i = 2; i < 8; i++) Merge("a", std::to_string(i));
  Merge("b", "1");
  Merge("b", "2");
  Delete("c");
  Merge("c", "1");
  Flush();
  EXPECT_EQ(Tables(), "3/1") << "only b's base may be deeper";
  EXPECT_EQ(Scan(), "a=1234567 b=12 c=1");
}

TEST_F(MergeBackgroundTest, TheLastLevelHoldsValuesOnly) {
  Open();
  for (int table = 0; table < 4; table++) {
    for (char key = 'a'; key < 'k'; key++) Merge(std::string(1, key), std::to_string(table));
    Flush();
  }
  EXPECT_EQ(Tables(), "40/40");
  const Snapshot* snapshot = db()->GetSnapshot();
  Merge("a", "x");
  Flush();
  CompactAll();
  EXPECT_EQ(Tables(), "11/1") << "what is newer than the snapshot stays apart";
  EXPECT_EQ(Get("a"), "0123x");
  EXPECT_EQ(Get("a", "default", snapshot), "0123");
  db()->ReleaseSnapshot(snapshot);
  CompactAll();
  EXPECT_EQ(Tables(), "10/0");
  EXPECT_EQ(Get("a"), "0123x");
}

TEST_F(MergeBackgroundTest, AFailingOperatorStopsNothingAndLosesNothing) {
  Open();
  for (const bool throws : {false, true}) {
    Put("k", "0");
    (throws ? operator_->throws : operator_->fails) = true;
    Merge("k", "1");
    Merge("k", "2");
    Put("other", "v");
    Flush();
    Merge("k", "3");
    Flush();
    CompactAll();
    EXPECT_EQ(Tables(), "5/3");
    EXPECT_EQ(Get("other"), "v");
    EXPECT_THAT(Get("k"), HasSubstr("orruption"));
    EXPECT_GT(options_.statistics->getAndResetTickerCount(NUMBER_MERGE_FAILURES), 0u);
    operator_->fails = operator_->throws = false;
    EXPECT_EQ(Get("k"), "0123");
    CompactAll();
    EXPECT_EQ(Tables(), "2/0");
    EXPECT_EQ(Get("k"), "0123");
  }
}

TEST_F(MergeBackgroundTest, WithoutTheOperatorOperandsPassUnharmed) {
  Open();
  Put("k", "0");
  Merge("k", "1");
  Flush();
  Merge("k", "2");
  Merge("k", "3");
  ASSERT_TRUE(Close().ok());
  options_.merge_operator = nullptr;
  Open();  // replays a log with merges
  expected_name_ = "nullptr";
  Flush();
  CompactAll();
  EXPECT_EQ(Tables(), "3/2");
  ASSERT_TRUE(Close().ok());
  options_.merge_operator = operator_;
  Open();
  EXPECT_EQ(Get("k"), "0123");
}

TEST_F(MergeBackgroundTest, AFilterDropsOperands) {
  class DropTwos final : public CompactionFilter {
   public:
    const char* Name() const override { return "drop twos"; }
    bool FilterMergeOperand(int, const Slice&, const Slice& operand) const override {
      return operand == Slice("2");
    }
  };
  const DropTwos filter;
  options_.compaction_filter = &filter;
  Open();
  Put("k", "0");
  Flush();
  for (const char* operand : {"1", "2", "3"}) Merge("k", operand);
  operator_->refuses = true;
  Flush();
  operator_->refuses = false;
  CompactAll();
  EXPECT_EQ(Get("k"), "013");
  ASSERT_TRUE(Close().ok());
}

// ---- At random ----

class RandomMergeHistory : public MergeBackgroundTest, public ::testing::WithParamInterface<int> {
 protected:
  using Model = std::map<std::string, std::string>;

  RandomMergeHistory() : random_(static_cast<uint32_t>(GetParam())) {
    options_.disable_auto_compactions = Chance(2);
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 8 << 10;
    options_.max_bytes_for_level_base = 32 << 10;
    options_.level_compaction_dynamic_level_bytes = Chance(2);
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_subcompactions = 1 + random_() % 3;
    options_.max_compaction_bytes = 64 << 10;
    operator_->refuses = Chance(4);
  }
  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  std::string Key() { return "key" + std::to_string(100 + random_() % 150); }

  void Write() {
    const std::string key = Key();
    const std::string value = std::to_string(++writes_) + std::string(random_() % 60, '.');
    const uint32_t dice = random_() % 100;
    if (dice < 70) {
      Merge(key, value);
      model_[key] += value;
    } else if (dice < 88) {
      Put(key, value);
      model_[key] = value;
    } else if (dice < 98) {
      Delete(key);
      model_.erase(key);
    } else {
      const std::string end = "key" + std::to_string(100 + random_() % 150);
      if (end <= key) return;
      ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), key, end).ok());
      model_.erase(model_.lower_bound(key), model_.lower_bound(end));
    }
  }
  void Disturb() {
    const uint32_t dice = random_() % 12;
    operator_->fails = Chance(8);
    operator_->throws = Chance(8);
    if (dice < 5) {
      Flush();
    } else if (dice < 7) {
      std::string begin = Key();
      std::string end = Key();
      if (end < begin) std::swap(begin, end);
      const Slice from(begin);
      const Slice to(end);
      ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), &from, &to).ok());
    } else if (dice == 7) {
      CompactAll();
    } else if (dice < 10) {
      snapshots_.emplace_back(db()->GetSnapshot(), model_);
    } else if (dice == 10 && !snapshots_.empty()) {
      const size_t at = random_() % snapshots_.size();
      db()->ReleaseSnapshot(snapshots_[at].first);
      snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(at));
    } else if (dice == 11) {
      ReleaseAll();
      Reopen();
    }
    operator_->fails = operator_->throws = false;
  }
  void ReleaseAll() {
    for (const auto& [snapshot, model] : snapshots_) db()->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }
  void Check(const Snapshot* snapshot, const Model& model) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::string want;
    for (const auto& [key, value] : model) want += (want.empty() ? "" : " ") + key + "=" + value;
    ASSERT_EQ(Scan(options), want);
    for (int i = 0; i < 20; i++) {
      const std::string key = Key();
      const auto found = model.find(key);
      ASSERT_EQ(Get(key, "default", snapshot), found == model.end() ? "NOT_FOUND" : found->second);
    }
  }

  std::mt19937 random_;
  Model model_;
  std::vector<std::pair<const Snapshot*, Model>> snapshots_;
  uint64_t writes_ = 0;
};

TEST_P(RandomMergeHistory, ReadsAsIfNothingHadBeenMerged) {
  Open();
  for (int step = 0; step < 60 && !HasFatalFailure(); step++) {
    for (uint32_t i = random_() % 80; i > 0; i--) Write();
    Disturb();
    Check(nullptr, model_);
    for (const auto& [snapshot, model] : snapshots_) Check(snapshot, model);
  }
  ReleaseAll();
  CompactAll();
  EXPECT_EQ(Tables(), std::to_string(model_.size()) + "/0");
  Check(nullptr, model_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMergeHistory, ::testing::Range(1, 9));

}  // namespace
}  // namespace varve::testing
