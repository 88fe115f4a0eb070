// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gathers the keys and prefixes of one table, and makes its filter block at the end.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/slice_transform.h"
#include "varve/status.h"

#include "table/filter/filter_bits.h"

namespace varve {

// Cost: one hash and eight bytes of memory for each distinct key or prefix.
// Thread safety: none.
class FullFilterBuilder {
 public:
  struct Options {
    int millibits_per_key = 10000;
    bool legacy = false;  // the form of format versions below 5
    bool whole_keys = true;
    const SliceTransform* prefix_extractor = nullptr;  // outlives the builder; null: no prefixes
  };

  explicit FullFilterBuilder(const Options& options) : options_(options) {}

  // Keys ascending, without timestamps. Equal neighbours count once.
  void Add(const Slice& user_key) {
    if (options_.whole_keys) AddHash(HashOf(user_key), &last_key_hash_, &has_key_);
    if (options_.prefix_extractor != nullptr) [[unlikely]]
      AddPrefix(user_key);
  }

  // Keys and prefixes, after duplicates were dropped.
  [[nodiscard]] size_t entry_count() const { return hashes_.size(); }
  [[nodiscard]] size_t EstimatedSize() const {
    return FastLocalBloomBytes(hashes_.size(), options_.millibits_per_key);
  }

  // Replaces *block by the filter, and frees the hashes. With `verify`, Corruption if a key that
  // was added does not match: memory or the processor has failed.
  Status Finish(bool verify, std::string* block);

 private:
  [[nodiscard]] uint64_t HashOf(const Slice& key) const {
    return options_.legacy ? LegacyFilterHash(key) : FilterHash(key);
  }

  // Neighbours with one hash are one key, or do not matter.
  void AddHash(uint64_t hash, uint64_t* last, bool* has_last) {
    if (hash == *last && *has_last) return;
    *last = hash;
    *has_last = true;
    hashes_.push_back(hash);
  }
  void AddPrefix(const Slice& user_key);

  const Options options_;
  FilterHashes hashes_;
  uint64_t last_key_hash_ = 0;
  uint64_t last_prefix_hash_ = 0;
  bool has_key_ = false;
  bool has_prefix_ = false;
};

}  // namespace varve
