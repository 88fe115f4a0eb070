// SPDX-License-Identifier: Apache-2.0

// Goal: the properties of a table, and collectors, are told what other codecs would make of its
// data, from one block in so many. Method: data of which half is noise, so that codecs halve it.

#include "table/builder/compression_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/table_properties.h"

#include "tests/table/table_file.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::Bytewise;
using test::Entries;
using test::IKey;
using test::TableParts;

std::string HalfNoise(size_t n, std::mt19937* random) {
  std::string bytes(n, 'v');
  for (size_t i = 0; i < n / 2; i++) bytes[i] = static_cast<char>((*random)());
  return bytes;
}

TEST(CompressionSampler, OneInSoManyIsASample) {
  std::mt19937 random(7);
  const std::string block = HalfNoise(1000, &random);
  CompressionSampler none(0);
  CompressionSampler third(3);
  CompressionSampler each(1);
  for (int i = 0; i < 9; i++) {
    EXPECT_EQ(none.Look(block).fast, 0u);
    EXPECT_EQ(third.Look(block).slow != 0, i % 3 == 0) << i;
    const CompressionSampler::Sizes sizes = each.Look(block);
    EXPECT_GT(sizes.fast, 500u);
    EXPECT_LT(sizes.fast, 600u);
    EXPECT_GT(sizes.slow, 500u);
    EXPECT_LT(sizes.slow, 600u);
  }
  EXPECT_EQ(none.Estimate().fast, 0u);
  EXPECT_EQ(none.Estimate().slow, 0u);
  EXPECT_EQ(third.Estimate().fast, each.Estimate().fast);
  const uint64_t of_nine = each.Estimate().slow;
  EXPECT_EQ(of_nine, 9 * each.Look(block).slow);
}

TEST(CompressionSampler, WhatCompressionMakesLargerStaysAsItIs) {
  CompressionSampler sampler(1);
  std::mt19937 random(8);
  std::string noise(100, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const CompressionSampler::Sizes sizes = sampler.Look(noise);
  EXPECT_EQ(sizes.fast, 100u);
  EXPECT_EQ(sizes.slow, 100u);
  EXPECT_EQ(CompressionSampler(5).Estimate().fast, 0u) << "of no data at all";
}

struct Told {
  uint64_t blocks = 0;
  uint64_t samples = 0;
  uint64_t fast = 0;
  uint64_t slow = 0;
};

struct TellingFactory final : TablePropertiesCollectorFactory {
  struct Collector final : TablePropertiesCollector {
    explicit Collector(Told* t) : told(t) {}
    const char* Name() const override { return "Collector"; }
    Status AddUserKey(const Slice&, const Slice&, EntryType, SequenceNumber, uint64_t) override {
      return Status::OK();
    }
    void BlockAdd(uint64_t raw, uint64_t fast, uint64_t slow) override {
      EXPECT_GT(raw, fast);
      told->blocks++;
      if (fast != 0) told->samples++;
      told->fast += fast;
      told->slow += slow;
    }
    Status Finish(UserCollectedProperties*) override { return Status::OK(); }
    UserCollectedProperties GetReadableProperties() const override { return {}; }
    Told* const told;
  };
  const char* Name() const override { return "TellingFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new Collector(told);
  }
  Told* told = nullptr;
};

struct SampledTable {
  const char* name;
  uint64_t every;
  CompressionType compression;
  uint32_t dictionary_bytes;
  uint32_t threads;
};

constexpr SampledTable kSampledTables[] = {
    {"each block", 1, kNoCompression, 0, 1},
    {"beside a codec", 5, kZSTD, 0, 1},
    {"blocks that wait for a dictionary", 5, kZSTD, 4096, 1},
    {"blocks of a pipeline", 5, kLZ4Compression, 0, 3},
    {"only the first", 100000, kNoCompression, 0, 1},
};

TEST(CompressionSampler, PropertiesAndCollectorsAreTold) {
  std::mt19937 random(7);
  Entries entries;
  for (int i = 0; i < 4000; i++) {
    entries.emplace_back(IKey("key" + std::to_string(100000 + i), 1), HalfNoise(100, &random));
  }
  for (const SampledTable& c : kSampledTables) {
    SCOPED_TRACE(c.name);
    BlockTableBuildOptions options;
    options.icmp = &Bytewise();
    options.sample_for_compression = c.every;
    options.compression = c.compression;
    options.compression_opts.max_dict_bytes = c.dictionary_bytes;
    options.compression_opts.parallel_threads = c.threads;
    Told told;
    if (c.threads == 1) {
      const auto factory = std::make_shared<TellingFactory>();
      factory->told = &told;
      options.collector_factories.push_back(factory);
    }
    BuiltTable table(options);
    for (const auto& [key, value] : entries) table.builder->Add(key, value);
    ASSERT_TRUE(table.Finish().ok());
    TableParts parts;
    ASSERT_TRUE(parts.Open(table.file).ok());
    const TableProperties& p = parts.properties;
    const auto raw = static_cast<double>(p.raw_key_size + p.raw_value_size);
    const auto fast = static_cast<double>(p.fast_compression_estimated_data_size);
    const auto slow = static_cast<double>(p.slow_compression_estimated_data_size);
    EXPECT_GT(slow, 0.4 * raw);
    EXPECT_LE(slow, fast);
    EXPECT_LT(fast, 0.75 * raw);
    if (c.threads > 1) continue;
    EXPECT_EQ(told.blocks, p.num_data_blocks);
    EXPECT_EQ(told.samples, (told.blocks + c.every - 1) / c.every);
    if (c.every == 1) {
      EXPECT_EQ(told.fast, p.fast_compression_estimated_data_size);
      EXPECT_EQ(told.slow, p.slow_compression_estimated_data_size);
    }
  }
}

TEST(CompressionSampler, NothingIsToldWhereNothingIsAsked) {
  BlockTableBuildOptions options;
  options.icmp = &Bytewise();
  options.compression = kLZ4Compression;
  BuiltTable table(options);
  table.builder->Add(IKey("key", 1), std::string(1000, 'v'));
  ASSERT_TRUE(table.Finish().ok());
  TableParts parts;
  ASSERT_TRUE(parts.Open(table.file).ok());
  EXPECT_EQ(parts.properties.fast_compression_estimated_data_size, 0u);
  EXPECT_EQ(parts.properties.slow_compression_estimated_data_size, 0u);
  EXPECT_EQ(table.file.find("sample_for_compression"), std::string::npos);
}

}  // namespace
}  // namespace varve
