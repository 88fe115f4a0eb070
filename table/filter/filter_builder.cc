// SPDX-License-Identifier: Apache-2.0

// Turns collected hashes into filter blocks.
//
// While entries are added, only 64-bit hashes of keys and prefixes are kept; when the table, or a
// partition, ends, their number is known, and the filter gets exactly the bits per key that the
// policy asks for. Three forms exist, which readers distinguish by the last bytes of a block:
//
//    legacy Bloom      format_version below 5; one cache line per key, 32-bit hashes
//    fast local Bloom  the default; all probes of a key lie in one cache line
//    Ribbon            30 % smaller, several times slower to build; needs memory for the build
//
// Invariants:
//
// 1. No key that was added is ever excluded. With `verify`, every finished block is asked for every
//    hash; a difference is Corruption, before the table is used.
// 2. A key or prefix that repeats is counted once: equal ones are neighbours, as keys ascend, so
//    comparing with the previous hash suffices.
// 3. A filter is an optimization: if a Ribbon filter cannot be built (no memory, no room in the
//    block cache's charge, no solution), a Bloom filter is built instead.
// 4. A partition ends between two user keys. Both sides of the border contain the prefixes of both
//    keys (CutPartition).

#include "table/filter/filter_builder.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {
namespace {

// Returns the size of a filter block with that many entries.
size_t BlockBytes(FilterBuilder::Kind kind, size_t entries, const BloomDesign& design) {
  if (kind == FilterBuilder::Kind::kRibbon) {
    const RibbonLayout layout = RibbonLayoutFor(entries, design);
    if (layout.blocks() != 0) return layout.bytes() + kFilterMetadataBytes;
  }
  // The legacy form has a slightly different size; this is an estimate, and close enough.
  return design.Bytes(entries);
}

// Returns the number of entries that a block of partition_bytes holds, at the rate of a large
// block.
size_t PartitionEntries(const FilterBuilder::Options& options, const BloomDesign& design) {
  if (options.partition_bytes == 0) return SIZE_MAX;
  constexpr size_t kMany = 100'000;
  const size_t bytes = BlockBytes(options.kind, kMany, design);
  const uint64_t wanted = std::min<uint64_t>(options.partition_bytes, UINT32_MAX);
  return std::max<size_t>(static_cast<size_t>(wanted * kMany / bytes), 1);
}

}  // namespace

FilterBuilder::FilterBuilder(const Options& options)
    : options_(options),
      design_(options.millibits_per_key),
      partition_entries_(PartitionEntries(options, design_)),
      charged_(options.charge) {}

void FilterBuilder::AddPrefix(const Slice& user_key) {
  if (!options_.prefix_extractor->InDomain(user_key)) return;
  AddHash(HashOf(options_.prefix_extractor->Transform(user_key)), &last_prefix_hash_, &has_prefix_);
}

Status FilterBuilder::CutPartition(const Slice& last_user_key, const Slice& next_user_key) {
  // A seek to a place between the two keys asks the partition on either side of the border,
  // depending on the separator, and its result may lie on the other side. So both partitions
  // contain both prefixes.
  if (options_.prefix_extractor != nullptr) AddPrefix(next_user_key);
  const Status s = FinishPartition(last_user_key);
  if (options_.prefix_extractor != nullptr) AddPrefix(last_user_key);
  return s;
}

Status FilterBuilder::Finish(const Slice& last_user_key) {
  return FinishPartition(last_user_key);
}

// Returns the bytes of a filter block with that many entries.
size_t FilterBuilder::BytesFor(size_t entries) const {
  return BlockBytes(options_.kind, entries, design_);
}

bool FilterBuilder::MakeRibbon(std::string* block) {
  const RibbonLayout layout = RibbonLayoutFor(hashes_.size(), design_);
  if (layout.blocks() == 0) return false;
  const size_t bytes = MemoryUsage() + layout.bytes() + RibbonBuildBytes(layout);
  return charged_.TrySet(bytes).ok() && BuildRibbon(hashes_, design_, block);
}

void FilterBuilder::MakeBlock(std::string* block) {
  if (options_.kind == Kind::kLegacyBloom) {
    BuildLegacyBloom(hashes_, (options_.millibits_per_key + 500) / 1000, block);
    return;
  }
  if (options_.kind == Kind::kRibbon && MakeRibbon(block)) return;
  BuildFastLocalBloom(hashes_, design_, block);
}

// The hashes are not needed any more once the block is made and tested, and their memory is given
// back before the next partition. After an error the partition stays in the list, and the caller
// gives the table up.
Status FilterBuilder::FinishPartition(const Slice& last_user_key) {
  VARVE_ASSERT(is_partitioned() || partitions_.empty());
  Partition& partition = partitions_.emplace_back();
  partition.last_user_key = last_user_key.ToString();
  charged_.Set(MemoryUsage() + BytesFor(hashes_.size()));
  MakeBlock(&partition.block);
  finished_entries_ += hashes_.size();
  finished_bytes_ += partition.block.size();
  bool all = true;
  if (options_.verify) {
    const FilterBits filter = FilterBits::Parse(Slice(partition.block));
    all = std::all_of(hashes_.begin(), hashes_.end(),
                      [&filter](uint64_t hash) { return filter.MayMatch(hash); });
  }
  hashes_ = FilterHashes();
  UpdateCharge();
  has_key_ = false;
  has_prefix_ = false;
  return all ? Status::OK()
             : Status::Corruption("filter does not match a key that it was built from");
}

}  // namespace varve
