// SPDX-License-Identifier: Apache-2.0

// Goal: a secondary that cannot apply a record never shows what comes behind it, and cannot become
// the primary without it. Method: a comparator throws while a record is inserted, or the primary's
// directory goes back to an older state; then the secondary is asked again, and again.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/secondary.h"

#include "tests/harness/child_process.h"
#include "tests/harness/database.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

class ThrowingOrder final : public Comparator {
 public:
  const char* Name() const override { return "ThrowingOrder"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (throws.load()) throw std::runtime_error("the order has failed");
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  std::atomic<bool> throws{false};
};

class FailedRecordTest : public ::testing::Test {
 protected:
  FailedRecordTest() {
    options_.create_if_missing = true;
    options_.info_log = SilentLogger();
    options_.comparator = &order_;
  }

  std::string PrimaryPath() const { return directory_.path() + "/primary"; }
  void OpenPrimary() {
    primary_.reset();
    const Status s = DB::Open(options_, PrimaryPath(), &primary_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void OpenSecondary() {
    secondary_.reset();
    Options options = options_;
    options.comparator = &order_of_secondary_;
    DB* db = nullptr;
    const Status s =
        DB::OpenAsSecondary(options, PrimaryPath(), directory_.path() + "/secondary", &db);
    secondary_.reset(db);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Put(const std::string& key) {
    ASSERT_TRUE(primary_->Put(WriteOptions(), key, "value").ok());
  }
  std::string CatchUp() { return secondary_->TryCatchUpWithPrimary().ToString(); }
  bool Shows(const std::string& key) {
    std::string value;
    return secondary_->Get(ReadOptions(), key, &value).ok();
  }

  FreshDirectory directory_{"failed_record"};
  ThrowingOrder order_;
  ThrowingOrder order_of_secondary_;
  Options options_;
  std::unique_ptr<DB> primary_;
  std::unique_ptr<DB> secondary_;
};

TEST_F(FailedRecordTest, AnInsertionThatFailsIsNotPassedOver) {
  OpenPrimary();
  Put("a");
  OpenSecondary();
  Put("b");
  Put("c");
  order_of_secondary_.throws = true;
  const std::string failed = CatchUp();
  EXPECT_NE(failed, "OK");
  order_of_secondary_.throws = false;
  Put("d");
  EXPECT_EQ(CatchUp(), failed);
  EXPECT_NE(failed.find("open the secondary again"), std::string::npos) << failed;
  EXPECT_EQ(CatchUp(), failed);
  SecondaryLag lag;
  EXPECT_EQ(secondary_->GetSecondaryLag(&lag).ToString(), failed);
  EXPECT_TRUE(Shows("a"));
  for (const char* key : {"b", "c", "d"}) EXPECT_FALSE(Shows(key)) << key;
  ASSERT_TRUE(primary_->Close().ok());
  EXPECT_EQ(secondary_->Promote(PromoteOptions()).ToString(), failed);
  OpenSecondary();
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_TRUE(Shows(key)) << key;
}

TEST_F(FailedRecordTest, APrimaryThatHasGoneBackIsReportedEachTime) {
  OpenPrimary();
  Put("a");
  const std::string before = directory_.path() + "/before";
  fs::copy(PrimaryPath(), before, fs::copy_options::recursive);
  Put("b");
  Put("c");
  OpenSecondary();
  ASSERT_TRUE(Shows("c"));
  ASSERT_TRUE(primary_->Close().ok());
  primary_.reset();
  fs::remove_all(PrimaryPath());
  fs::rename(before, PrimaryPath());
  OpenPrimary();
  Put("d");
  const Status failed = secondary_->TryCatchUpWithPrimary();
  EXPECT_TRUE(failed.IsAborted()) << failed.ToString();
  EXPECT_EQ(CatchUp(), failed.ToString());
  Put("e");
  EXPECT_EQ(CatchUp(), failed.ToString());
  EXPECT_TRUE(Shows("c"));
  EXPECT_FALSE(Shows("e"));
}

}  // namespace

}  // namespace varve::testing
