// SPDX-License-Identifier: Apache-2.0

// Tests that entries leave the pipeline in order and once, and that failures stop it.

#include "db/compaction/entry_pipeline.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace varve {
namespace {

using Entries = std::vector<std::tuple<std::string, std::string, bool>>;

Entries SomeEntries(size_t count) {
  Entries entries;
  for (size_t i = 0; i < count; i++) {
    const size_t size = i % 1000 == 999 ? 100000 : i * 7 % 300;
    entries.emplace_back("key" + std::to_string(i), std::string(size, 'v'), i % 3 == 0);
  }
  return entries;
}

// Notes all that it is given.
EntryPipeline::Take Into(Entries* out) {
  return [out](const EntryChunk& chunk) {
    return chunk.ForEach([out](const Slice& key, const Slice& value, bool starts) {
      out->emplace_back(key.ToString(), value.ToString(), starts);
      return Status::OK();
    });
  };
}

bool Put(EntryPipeline* pipeline, const Entries& entries) {
  for (const auto& [key, value, starts] : entries) {
    if (!pipeline->Add(key, value, starts)) return false;
  }
  return true;
}

TEST(EntryPipeline, HandsEverythingOnInOrder) {
  for (const size_t count : {0u, 1u, 500u, 80000u}) {
    const Entries entries = SomeEntries(count);
    Entries out;
    EntryPipeline pipeline(Into(&out));
    EXPECT_TRUE(Put(&pipeline, entries));
    ASSERT_TRUE(pipeline.Sync().ok());
    EXPECT_EQ(out, entries);
    // It goes on after a wait.
    EXPECT_TRUE(pipeline.Add("z", "", false));
    ASSERT_TRUE(pipeline.Sync().ok());
    EXPECT_EQ(out.size(), count + 1);
    pipeline.Stop();
  }
}

TEST(EntryPipeline, KnowsWhatIsTooLargeToCopy) {
  EXPECT_TRUE(EntryChunk::CanHold("key", std::string(500000, 'v')));
  EXPECT_FALSE(EntryChunk::CanHold("key", std::string(1 << 20, 'v')));
}

TEST(EntryPipeline, AFailureStopsIt) {
  size_t calls = 0;
  EntryPipeline pipeline([&calls](const EntryChunk&) {
    return ++calls < 3 ? Status::OK() : Status::IOError("disk full");
  });
  EXPECT_FALSE(Put(&pipeline, SomeEntries(80000)));
  EXPECT_TRUE(pipeline.Sync().IsIOError());
  EXPECT_EQ(calls, 3u);
}

TEST(EntryPipeline, WhatIsThrownBecomesAnError) {
  EntryPipeline pipeline(
      [](const EntryChunk&) -> Status { throw std::runtime_error("comparator gone mad"); });
  EXPECT_FALSE(Put(&pipeline, SomeEntries(80000)));
  const Status s = pipeline.Sync();
  EXPECT_TRUE(s.IsAborted());
  EXPECT_NE(s.ToString().find("comparator gone mad"), std::string::npos);
}

TEST(EntryPipeline, MayBeGivenUpAtAnyTime) {
  for (size_t count = 0; count < 24000; count += 2000) {
    Entries out;
    EntryPipeline pipeline(Into(&out));
    EXPECT_TRUE(Put(&pipeline, SomeEntries(count)));
  }
}

}  // namespace
}  // namespace varve
