// SPDX-License-Identifier: Apache-2.0

// Goal: a version of a key is found in whichever block it lies, by every way of looking up. Method:
// a key with so many versions that they fill dozens of blocks, between two others; each version is
// asked for by snapshot, and as of its time, as a value and as the newest of operands, in every
// built-in order and form of index.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "varve/cache.h"

#include "table/reader/probe_batch.h"
#include "tests/table/table_harness.h"
#include "util/mem/bounded_array.h"

namespace varve::test {
namespace {

using IndexType = BlockBasedTableOptions::IndexType;

constexpr uint64_t kVersions = 80;
const char* const kSpanning = "spanning";

// Version n was written with the sequence number n, and at the time n if there are timestamps.
class SpanningTable {
 public:
  SpanningTable(const Comparator* order, IndexType index, ValueType type)
      : table_(order), merges_(type == kTypeMerge) {
    BlockTableBuildOptions build;
    build.icmp = &table_.icmp;
    build.table.block_size = 256;
    build.table.metadata_block_size = 128;
    build.table.index_type = index;
    Model model{InternalKeyLess{&table_.icmp}};
    for (const char* const key : {"before", "then"}) {
      model[IKey(key + Stamp(1), 1, type)] = ValueOf(key, 1);
    }
    for (uint64_t n = 1; n <= kVersions; n++) {
      model[IKey(kSpanning + Stamp(n), n, type)] = ValueOf(kSpanning, n);
    }
    BuiltTable built(build);
    for (const auto& [key, value] : model) built.builder->Add(key, value);
    EXPECT_TRUE(built.Finish().ok());
    table_.options.table = build.table;
    table_.options.table.block_cache = NewLRUCache(8 << 20);
    EXPECT_TRUE(table_.Open(built.file).ok());
  }

  static std::string ValueOf(const std::string& key, uint64_t n) {
    return key + std::to_string(n) + std::string(100, 'v');
  }
  [[nodiscard]] bool timed() const { return table_.icmp.timestamp_size() != 0; }
  [[nodiscard]] bool merges() const { return merges_; }

  // Returns the answer of Get for `key`: the value, the number of operands, or "".
  std::string Get(const std::string& key, SequenceNumber snapshot, uint64_t time, bool speculate) {
    PinnableSlice value;
    const std::string stamp = Stamp(time);
    PointLookup lookup(key, snapshot, &value, nullptr, AsOf(stamp));
    if (merges_) lookup.CollectInto(AllOperands(), snapshot);
    TableHint hint;
    if (speculate) table_.reader->PrefetchSpeculatively(lookup, &hint);
    EXPECT_TRUE(table_.reader->Get(ReadOptions(), &lookup, hint).ok());
    return Answer(lookup, value);
  }

  // Like the call above, but for several keys at once.
  std::vector<std::string> MultiGet(const std::vector<std::string>& keys, SequenceNumber snapshot,
                                    uint64_t time) {
    const std::string stamp = Stamp(time);
    std::vector<PinnableSlice> values(keys.size());
    BoundedArray<PointLookup, kProbesMax> lookups;
    std::vector<TableProbe> probes;
    for (size_t i = 0; i < keys.size(); i++) {
      lookups.emplace_back(keys[i], snapshot, &values[i], nullptr, AsOf(stamp));
      if (merges_) lookups.back().CollectInto(AllOperands(), snapshot);
      probes.push_back({table_.reader.get(), &lookups.back()});
    }
    MultiGetFromTables(ReadOptions(), probes);
    std::vector<std::string> answers;
    for (size_t i = 0; i < keys.size(); i++) answers.push_back(Answer(lookups[i], values[i]));
    return answers;
  }

 private:
  [[nodiscard]] std::string Stamp(uint64_t time) const {
    std::string bytes;
    if (timed()) EncodeU64Ts(time, &bytes);
    return bytes;
  }
  [[nodiscard]] ReadTimestamp AsOf(const std::string& stamp) const {
    return timed() ? ReadTimestamp{&table_.icmp, stamp} : ReadTimestamp();
  }
  // Returns storage for operands that are not merged.
  static MergeOperands* AllOperands() {
    MergeOperands* const operands = MergeOperands::Acquire();
    operands->wants_value = false;
    return operands;
  }
  static std::string Answer(PointLookup& lookup, const PinnableSlice& value) {
    if (lookup.operands() == nullptr) return value.ToString();
    return std::to_string(lookup.operands()->slices().size()) + " operands";
  }

  OpenTable table_;
  const bool merges_;
};

// Checks what a reader sees that reads the versions up to n.
void ExpectVersion(SpanningTable* table, uint64_t n, SequenceNumber snapshot, uint64_t time) {
  SCOPED_TRACE("version " + std::to_string(n) + " by snapshot " + std::to_string(snapshot) +
               ", time " + std::to_string(time));
  const auto of = [&](const char* key, uint64_t newest) {
    return table->merges() ? std::to_string(newest) + " operands"
                           : SpanningTable::ValueOf(key, newest);
  };
  const std::string expected = of(kSpanning, n);
  ASSERT_EQ(table->Get(kSpanning, snapshot, time, /*speculate=*/false), expected);
  ASSERT_EQ(table->Get(kSpanning, snapshot, time, /*speculate=*/true), expected);
  const std::vector<std::string> three = {of("before", 1), expected, of("then", 1)};
  ASSERT_EQ(table->MultiGet({"before", kSpanning, "then"}, snapshot, time), three);
}

TEST(SpanningVersionsTest, EveryVersionIsFoundByEveryWay) {
  for (const Comparator* order :
       {BytewiseComparator(), ReverseBytewiseComparator(), BytewiseComparatorWithU64Ts(),
        ReverseBytewiseComparatorWithU64Ts()}) {
    for (const IndexType index : {IndexType::kBinarySearch, IndexType::kTwoLevelIndexSearch,
                                  IndexType::kBinarySearchWithFirstKey}) {
      for (const ValueType type : {kTypeValue, kTypeMerge}) {
        SCOPED_TRACE(std::string(order->Name()) + ", index " + std::to_string(index));
        SpanningTable table(order, index, type);
        for (uint64_t n = 1; n <= kVersions && !::testing::Test::HasFatalFailure(); n++) {
          ExpectVersion(&table, n, n, kVersions);
          if (table.timed()) ExpectVersion(&table, n, kMaxSequenceNumber, n);
        }
      }
    }
  }
}

}  // namespace
}  // namespace varve::test
