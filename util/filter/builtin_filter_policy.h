// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one concrete filter policy: which filter, and how many bits a key. The table builds and reads
// the filters themselves from these numbers.

#include <string>

#include "varve/filter_policy.h"

namespace varve {

// Immutable, so thread-safe.
class BuiltinFilterPolicy final : public FilterPolicy {
 public:
  enum class Kind {
    kBloom,
    kRibbon,
    // Known by its format only, from an OPTIONS file or a table: reads, and builds nothing.
    kReadOnly,
  };

  // `bits_per_key` is that of a Bloom filter of the same accuracy, for either kind.
  BuiltinFilterPolicy(Kind kind, double bits_per_key, int bloom_before_level = 0);

  const char* Name() const override;
  const char* CompatibilityName() const override { return kCompatibilityName(); }
  std::string GetId() const override;

  // Names both filters in a table's metaindex.
  static const char* kCompatibilityName() { return "rocksdb.BuiltinBloomFilter"; }

  // Bits a key, in thousandths: 0, or 1000 to 100000. 0 means that no filter is built.
  int millibits_per_key() const { return millibits_per_key_; }
  bool is_ribbon() const { return kind_ == Kind::kRibbon; }
  // Only with is_ribbon(): levels below this one get a Bloom filter, a flush being level -1.
  int bloom_before_level() const { return bloom_before_level_; }

  // Whether a table described by `context` gets a Ribbon filter rather than a Bloom filter.
  bool BuildsRibbon(const FilterBuildingContext& context) const;

 private:
  const BuiltinFilterPolicy* AsBuiltin() const override { return this; }

  const Kind kind_;
  const int millibits_per_key_;
  const int bloom_before_level_;
};

// Null for a null policy, and for one that a user derived: then the caller says NotSupported.
const BuiltinFilterPolicy* AsBuiltinFilterPolicy(const FilterPolicy* policy);

}  // namespace varve
