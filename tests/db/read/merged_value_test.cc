// SPDX-License-Identifier: Apache-2.0
#include "db/read/merged_value.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/utilities/merge_operators.h"

namespace varve {
namespace {

// A source of operands that lie in one string. Pins count, and are refused on demand.
class OneString final : public InternalIterator {
 public:
  explicit OneString(std::string bytes) : bytes_(std::move(bytes)) {}

  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override {}
  void Prev() override {}
  Status status() const override { return Status::OK(); }
  bool PinBatch(Cleanable* pin) override {
    if (!pins) return false;
    shares++;
    pin->RegisterCleanup([](void* count, void*) { --*static_cast<int*>(count); }, &shares, nullptr);
    return true;
  }

  // Returns the entry of the byte with that index.
  [[nodiscard]] BatchEntry At(size_t i) const {
    BatchEntry entry;
    entry.Set("key", Slice(bytes_.data() + i, 1));
    return entry;
  }
  // Overwrites the bytes, as a move of the source may.
  void Overwrite() { bytes_.assign(bytes_.size(), '?'); }

  bool pins = true;
  int shares = 0;

 private:
  std::string bytes_;
};

class MergedValueTest : public ::testing::Test {
 protected:
  std::string Merge() {
    Slice result;
    ValueForm form = ValueForm::kEntity;
    Status s = value_.Merge(merger_, "key", nullptr, &result, &form);
    return s.ok() ? result.ToString() : s.ToString();
  }
  void Add(const BatchEntry& entry) { value_.Add({&entry, &entry + 1}); }

  const std::shared_ptr<MergeOperator> operator_ = MergeOperators::CreateStringAppendOperator();
  const MergeCaller merger_{operator_.get(), nullptr, nullptr};
  OneString source_{"abcd"};
  MergedValue value_;
};

TEST_F(MergedValueTest, OperandsThatWereAddedNewestFirstAreMergedOldestFirst) {
  value_.Begin();
  const std::vector<BatchEntry> newest{source_.At(0), source_.At(1)};
  value_.Add(newest);
  Add(source_.At(2));
  value_.AddBase("base");
  EXPECT_EQ(Merge(), "base,c,b,a");
  value_.Clear();
  EXPECT_FALSE(value_.active());
  value_.Begin();
  Add(source_.At(3));
  EXPECT_EQ(Merge(), "d");
}

TEST_F(MergedValueTest, SharesInTheSourceAreHeldUntilClear) {
  value_.Begin();
  Add(source_.At(0));
  value_.Pin(&source_);
  Add(source_.At(1));
  value_.Pin(&source_);
  EXPECT_EQ(source_.shares, kCopyMergeOperands ? 0 : 2);
  EXPECT_EQ(Merge(), "b,a");
  value_.Clear();
  EXPECT_EQ(source_.shares, 0);
}

TEST_F(MergedValueTest, WhatTheSourceDoesNotPinIsCopied) {
  source_.pins = false;
  value_.Begin();
  Add(source_.At(0));
  value_.Pin(&source_);
  Add(source_.At(1));
  value_.Pin(&source_);
  source_.Overwrite();
  EXPECT_EQ(Merge(), "b,a");
}

TEST_F(MergedValueTest, WithoutAnOperatorMergingFails) {
  value_.Begin();
  Add(source_.At(0));
  Slice result;
  ValueForm form = ValueForm::kPlain;
  EXPECT_TRUE(value_.Merge(MergeCaller(), "key", nullptr, &result, &form).IsInvalidArgument());
}

}  // namespace
}  // namespace varve
