// SPDX-License-Identifier: Apache-2.0

// Turns collected hashes into filter blocks.

#include "table/filter/filter_builder.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {
namespace {

size_t BlockBytes(FilterBuilder::Kind kind, size_t entries, const BloomDesign& design) {
  if (kind == FilterBuilder::Kind::kRibbon) {
    const RibbonLayout layout = RibbonLayoutFor(entries, design);
    if (layout.blocks() != 0) return layout.bytes() + kFilterMetadataBytes;
  }
  // This is close enough for the legacy form, too.
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
