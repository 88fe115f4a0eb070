// SPDX-License-Identifier: Apache-2.0

// Fuzzes filter blocks of every kind: any bytes may be asked, and a filter that was built from the
// input as keys says yes to each of them.

#include <algorithm>
#include <memory>

#include "table/filter/filter_builder.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

FilterBuilder::Kind KindOf(uint32_t n) {
  constexpr FilterBuilder::Kind kKinds[] = {FilterBuilder::Kind::kFastLocalBloom,
                                            FilterBuilder::Kind::kLegacyBloom,
                                            FilterBuilder::Kind::kRibbon};
  return kKinds[n % 3];
}

FilterBuilder::Options OptionsOf(uint32_t bits) {
  FilterBuilder::Options options;
  options.kind = KindOf(bits);
  options.millibits_per_key = 1000 * (1 + static_cast<int>(bits / 3 % 24));
  options.verify = true;
  if (bits >= 128) options.partition_bytes = 64;
  return options;
}

void MakeSeeds(Seeds* seeds) {
  for (uint32_t bits = 0; bits < 9; bits++) {
    FilterBuilder builder(OptionsOf(bits));
    for (int i = 100; i < 100 + static_cast<int>(bits) * 40; i++) builder.Add(std::to_string(i));
    if (!builder.Finish("999").ok()) continue;
    seeds->push_back(std::string(1, '\0') + builder.partitions().front().block);
  }
  for (const char bits : {1, 2, 3, 60, -100, -10}) {
    std::string keys(1, bits);
    for (int i = 0; i < 30; i++) keys += ShortText("key" + std::to_string(i));
    seeds->push_back(keys);
  }
}

// A first byte of 0 means a filter; others, keys and what to build of them.
void Build(uint32_t bits, Input* input) {
  Seeds keys;
  while (!input->empty()) keys.push_back(input->Short().ToString());
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  FilterBuilder builder(OptionsOf(bits));
  size_t partition = 0;
  std::vector<size_t> partition_of;
  for (size_t i = 0; i < keys.size(); i++) {
    if (i > 0 && builder.PartitionIsFull()) {
      Promise(builder.CutPartition(keys[i - 1], keys[i]).ok(), "a filter can be cut");
      partition++;
    }
    builder.Add(keys[i]);
    partition_of.push_back(partition);
  }
  Promise(builder.Finish(keys.empty() ? "" : keys.back()).ok(), "a filter can be built");
  Note(builder.partitions().size());
  for (size_t i = 0; i < keys.size(); i++) {
    const std::string& block = builder.partitions().at(partition_of[i]).block;
    const FilterBits filter = FilterBits::Parse(block);
    Promise(filter.MayMatch(filter.HashOf(keys[i])), "a filter has all its keys");
  }
}

void Ask(const Slice& block) {
  const FilterBits filter = FilterBits::Parse(block);
  Note(static_cast<uint64_t>(filter.kind()) << 8 | static_cast<uint64_t>(filter.probes()));
  uint64_t hash = 88172645463325252u;
  for (int i = 0; i < 16; i++) {
    hash ^= hash << 13;
    hash ^= hash >> 7;
    hash ^= hash << 17;
    filter.Prefetch(hash);
    (void)filter.MayMatch(hash);
  }
  (void)filter.MayMatch(0);
  (void)filter.MayMatch(UINT64_MAX);
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  varve::fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  if (bits == 0) {
    varve::fuzz::Ask(input.Rest());
  } else {
    varve::fuzz::Build(bits, &input);
  }
  return 0;
}

static const varve::fuzz::Register registered({"filter_block", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 100});
