// SPDX-License-Identifier: Apache-2.0

// Goal: operands stay where they lie as long as something keeps them there, with one share a block,
// and small ones are copied.

#include "util/key/merge_operands.h"

#include <gtest/gtest.h>

#include <string>

namespace varve {

namespace {

// A source whose shares are counted.
class Block final : public ValuePin {
 public:
  explicit Block(int* shares, bool shareable = true) : shares_(shares), shareable_(shareable) {}

  Cleanable* Renew() override {
    if (!shareable_) return nullptr;
    ++*shares_;
    share_.RegisterCleanup([](void* shares, void*) { --*static_cast<int*>(shares); }, shares_,
                           nullptr);
    return &share_;
  }

 private:
  int* const shares_;
  const bool shareable_;
  Cleanable share_;
};

constexpr bool kStays = !kCopyMergeOperands;

TEST(MergeOperandsTest, ABlockIsSharedOnceAndSmallValuesAreCopied) {
  const std::string large(1000, 'l');
  const std::string small(MergeOperands::kSharedBytesMin - 1, 's');
  const std::string in_memory(5, 'm');
  int shares = 0;
  MergeOperands operands;
  operands.Add(in_memory, nullptr);
  {
    Block first(&shares);
    operands.Add(small, &first);
    EXPECT_EQ(0, shares);
    operands.Add(large, &first);
    operands.Add(large, &first);
    Block second(&shares);
    operands.Add(small, &second);
    operands.AddBase(large, &second);
  }
  EXPECT_EQ(kStays ? 2 : 0, shares);
  EXPECT_EQ(5u, operands.size());
  EXPECT_EQ(kStays ? 1u : 0u, operands.in_memtables());
  EXPECT_EQ(kStays, operands.slices()[0].data() == in_memory.data());
  EXPECT_NE(small.data(), operands.slices()[1].data());
  EXPECT_EQ(Slice(small), operands.slices()[1]);
  EXPECT_EQ(kStays, operands.slices()[2].data() == large.data());
  EXPECT_EQ(kStays, operands.base()->data() == large.data());
  if (kStays) {
    EXPECT_EQ(nullptr, operands.ShareOf(0));
    EXPECT_NE(nullptr, operands.ShareOf(2));
    EXPECT_EQ(operands.ShareOf(2), operands.ShareOf(3));
    EXPECT_NE(operands.ShareOf(3), operands.ShareOf(5));
  }
  operands.PutOldestFirst();
  EXPECT_EQ(Slice(in_memory), operands.slices()[4]);
  operands.Clear();
  EXPECT_EQ(0, shares);
  EXPECT_EQ(0u, operands.size());
  EXPECT_EQ(nullptr, operands.base());
}

TEST(MergeOperandsTest, WhatCannotBeSharedIsCopied) {
  int shares = 0;
  std::string large(5000, 'l');
  MergeOperands operands;
  {
    Block block(&shares, /*shareable=*/false);
    operands.Add(large, &block);
  }
  const std::string expected = large;
  large.assign(large.size(), 'x');
  EXPECT_EQ(Slice(expected), operands.slices()[0]);
}

TEST(MergeOperandsTest, ACopyOfNothingHasAnAddress) {
  int shares = 0;
  MergeOperands operands;
  {
    Block block(&shares);
    operands.Add("", &block);
    operands.AddBase("", &block);
  }
  // Null is how an operator says that it has chosen none.
  EXPECT_NE(nullptr, operands.slices()[0].data());
  EXPECT_NE(nullptr, operands.base()->data());
}

TEST(MergeOperandsTest, MemTablesCanBeLeft) {
  std::string small = "ab";
  std::string large(100, 'l');
  std::string base(200, 'b');
  MergeOperands operands;
  operands.Add(small, nullptr);
  operands.Add(large, nullptr);
  operands.AddBase(base, nullptr);
  EXPECT_EQ(kStays ? 3u : 0u, operands.in_memtables());
  operands.CopyFromMemTables(15);
  large.assign(large.size(), 'x');
  base.assign(base.size(), 'x');
  EXPECT_EQ(std::string(100, 'l'), operands.slices()[1].ToString());
  EXPECT_EQ(std::string(200, 'b'), operands.base()->ToString());
  EXPECT_EQ(kStays, operands.slices()[0].data() == small.data());
}

TEST(MergeOperandsTest, ASpareOneIsEmpty) {
  for (int round = 0; round < 3; round++) {
    MergeOperands* const operands = MergeOperands::Acquire();
    EXPECT_EQ(0u, operands->size());
    EXPECT_TRUE(operands->wants_value);
    int shares = 0;
    // More than fits into one piece of memory.
    for (int i = 0; i < 400; i++) {
      Block block(&shares);
      operands->Add(std::to_string(i) + std::string(100, 'v'), &block);
    }
    for (size_t i = 0; i < 400; i++) {
      EXPECT_EQ(std::to_string(i) + std::string(100, 'v'), operands->slices()[i].ToString());
    }
    operands->wants_value = false;
    MergeOperands::Release(operands);
  }
}

}  // namespace

}  // namespace varve
