// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gathers the keys and prefixes of one table, and makes its filter: one block, or a block for each
// of the partitions that the keys are cut into.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/slice_transform.h"
#include "varve/status.h"

#include "table/filter/filter_bits.h"
#include "util/mem/cache_charge.h"

namespace varve {

// Cost: one hash, and eight bytes of memory until the block is made, for each distinct key or
// prefix.
//
// With a charge: a Ribbon filter whose equations are refused memory becomes a Bloom filter.
//
// Thread safety: none. "User keys" here are without timestamps.
class FilterBuilder {
 public:
  enum class Kind : uint8_t {
    kFastLocalBloom,
    kLegacyBloom,  // of format versions below 5
    kRibbon,       // or kFastLocalBloom where RibbonLayoutFor says so
  };
  struct Options {
    Kind kind = Kind::kFastLocalBloom;
    int millibits_per_key = 10000;
    bool whole_keys = true;
    const SliceTransform* prefix_extractor = nullptr;  // outlives the builder; null: no prefixes
    // Ask each finished block for all its keys: memory or the processor may have failed.
    bool verify = false;
    // Bytes of a partition, roughly; 0: one block for all.
    uint64_t partition_bytes = 0;
    // What the builder's memory is charged to; null: nothing.
    std::shared_ptr<CacheCharge> charge;
  };
  struct Partition {
    std::string block;
    std::string last_user_key;
  };

  explicit FilterBuilder(const Options& options);

  // Keys ascending. Equal neighbours count once.
  void Add(const Slice& user_key) {
    if (options_.whole_keys) AddHash(HashOf(user_key), &last_key_hash_, &has_key_);
    if (options_.prefix_extractor != nullptr) [[unlikely]]
      AddPrefix(user_key);
  }

  // Whether to cut before the next key. False forever without partitions.
  [[nodiscard]] bool PartitionIsFull() const { return hashes_.size() >= partition_entries_; }
  // Ends a partition between two neighbours, different user keys. Status as Finish.
  Status CutPartition(const Slice& last_user_key, const Slice& next_user_key);
  // Ends the last partition. Corruption if a key that was added does not match (verify).
  Status Finish(const Slice& last_user_key);

  // Brings the charge up to date; for now and then between entries. What is refused is in use all
  // the same.
  void UpdateCharge() { charged_.Set(MemoryUsage()); }
  // Bytes of hashes and finished blocks.
  [[nodiscard]] size_t MemoryUsage() const {
    return finished_bytes_ + hashes_.size() * sizeof(uint64_t);
  }

  // After Finish; one without partitions.
  [[nodiscard]] std::vector<Partition>& partitions() { return partitions_; }
  [[nodiscard]] bool is_partitioned() const { return options_.partition_bytes != 0; }

  // Keys and prefixes, after duplicates were dropped.
  [[nodiscard]] size_t entry_count() const { return finished_entries_ + hashes_.size(); }
  // What the filter takes in the file, roughly.
  [[nodiscard]] size_t EstimatedSize() const {
    return finished_bytes_ + (hashes_.empty() ? 0 : BytesFor(hashes_.size()));
  }

 private:
  [[nodiscard]] uint64_t HashOf(const Slice& key) const {
    return options_.kind == Kind::kLegacyBloom ? LegacyFilterHash(key) : FilterHash(key);
  }

  // Neighbours with one hash are one key, or do not matter.
  void AddHash(uint64_t hash, uint64_t* last, bool* has_last) {
    if (hash == *last && *has_last) return;
    *last = hash;
    *has_last = true;
    hashes_.push_back(hash);
  }
  void AddPrefix(const Slice& user_key);
  [[nodiscard]] size_t BytesFor(size_t entries) const;
  void MakeBlock(std::string* block);
  // A Ribbon block, if its equations are granted memory and can be solved.
  bool MakeRibbon(std::string* block);
  Status FinishPartition(const Slice& last_user_key);

  const Options options_;
  const BloomDesign
      design_;  // of the filter, or of the one that a Ribbon filter is to be as good as
  const size_t partition_entries_;
  // Of the present partition.
  FilterHashes hashes_;
  uint64_t last_key_hash_ = 0;
  uint64_t last_prefix_hash_ = 0;
  bool has_key_ = false;
  bool has_prefix_ = false;

  ChargedBytes charged_;
  std::vector<Partition> partitions_;
  size_t finished_entries_ = 0;
  size_t finished_bytes_ = 0;
};

}  // namespace varve
