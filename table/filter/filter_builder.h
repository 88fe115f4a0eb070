// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the keys and prefixes of one table, and builds its filter: one block, or one for each of
// the partitions that the keys are cut into.

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
// If there is a charge that refuses memory for a Ribbon filter's equations, the filter becomes a
// Bloom filter.
//
// Thread safety: none. "User keys" here are without timestamps.
class FilterBuilder {
 public:
  enum class Kind : uint8_t {
    kFastLocalBloom,
    kLegacyBloom,  // for format versions below 5
    kRibbon,       // or kFastLocalBloom where RibbonLayoutFor says so
  };
  struct Options {
    Kind kind = Kind::kFastLocalBloom;
    int millibits_per_key = 10000;
    bool whole_keys = true;
    const SliceTransform* prefix_extractor = nullptr;  // outlives the builder; null: no prefixes
    // Tests each finished block for all its keys, as memory or the processor may have failed.
    bool verify = false;
    // Approximate bytes of a partition; 0: one block for all keys.
    uint64_t partition_bytes = 0;
    // Charged with the builder's memory; null: nothing is charged.
    std::shared_ptr<CacheCharge> charge;
  };
  // One filter block, and the user key at which it ends.
  struct Partition {
    std::string block;
    std::string last_user_key;
  };

  explicit FilterBuilder(const Options& options);

  // Adds a key. Requires ascending keys. Equal neighbours count once.
  void Add(const Slice& user_key) {
    if (options_.whole_keys) AddHash(HashOf(user_key), &last_key_hash_, &has_key_);
    if (options_.prefix_extractor != nullptr) [[unlikely]]
      AddPrefix(user_key);
  }

  // True if a partition should be cut before the next key. Always false without partitions.
  [[nodiscard]] bool PartitionIsFull() const { return hashes_.size() >= partition_entries_; }
  // Ends a partition between two neighbours, which are different user keys. Requires
  // is_partitioned(). Corruption: as for Finish.
  Status CutPartition(const Slice& last_user_key, const Slice& next_user_key);
  // Ends the last partition; called once, after the last key. Corruption: with Options::verify, a
  // key of the partition does not match its block.
  Status Finish(const Slice& last_user_key);

  // Updates the charge; to be called from time to time between entries. Memory that is refused is
  // in use all the same.
  void UpdateCharge() { charged_.Set(MemoryUsage()); }
  // Returns the bytes of hashes and finished blocks.
  [[nodiscard]] size_t MemoryUsage() const {
    return finished_bytes_ + hashes_.size() * sizeof(uint64_t);
  }

  // Returns the partitions after Finish; one if the filter is not partitioned.
  [[nodiscard]] std::vector<Partition>& partitions() { return partitions_; }
  [[nodiscard]] bool is_partitioned() const { return options_.partition_bytes != 0; }

  // Returns the number of keys and prefixes without duplicates.
  [[nodiscard]] size_t entry_count() const { return finished_entries_ + hashes_.size(); }
  // Returns the approximate size of the filter in the file.
  [[nodiscard]] size_t EstimatedSize() const {
    return finished_bytes_ + (hashes_.empty() ? 0 : BytesFor(hashes_.size()));
  }

 private:
  // Returns the hash that lookups compute for the key.
  [[nodiscard]] uint64_t HashOf(const Slice& key) const {
    return options_.kind == Kind::kLegacyBloom ? LegacyFilterHash(key) : FilterHash(key);
  }

  // Adds a hash. Neighbours with equal hashes are the same key, or the difference does not matter.
  void AddHash(uint64_t hash, uint64_t* last, bool* has_last) {
    if (hash == *last && *has_last) return;
    *last = hash;
    *has_last = true;
    hashes_.push_back(hash);
  }
  // Adds the key's prefix, if it has one and the last key's was another one.
  void AddPrefix(const Slice& user_key);
  // Returns the approximate size of a block for this many keys and prefixes.
  [[nodiscard]] size_t BytesFor(size_t entries) const;
  // Sets *block to the block of the current partition's hashes.
  void MakeBlock(std::string* block);
  // Sets *block to a Ribbon block. Returns false, with *block unchanged, if RibbonLayoutFor has
  // none, or if the equations get no memory or cannot be solved.
  bool MakeRibbon(std::string* block);
  // Makes the current partition's block, and tests it if that is wanted.
  Status FinishPartition(const Slice& last_user_key);

  const Options options_;
  const BloomDesign design_;  // a Ribbon filter must be as good as this
  const size_t partition_entries_;
  // The members below are of the current partition.
  FilterHashes hashes_;
  uint64_t last_key_hash_ = 0;
  uint64_t last_prefix_hash_ = 0;
  bool has_key_ = false;
  bool has_prefix_ = false;

  ChargedBytes charged_;
  // Filter blocks that are complete; one if the filter is not partitioned.
  std::vector<Partition> partitions_;
  size_t finished_entries_ = 0;
  size_t finished_bytes_ = 0;
};

}  // namespace varve
