// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the only concrete filter policy: it selects the filter and the number of bits a key. The
// table builds and reads the filters themselves.

#include <string>

#include "varve/filter_policy.h"

namespace varve {

// A filter policy. It is immutable, so thread-safe.
class BuiltinFilterPolicy final : public FilterPolicy {
 public:
  enum class Kind {
    kBloom,
    kRibbon,
    // Known only by its format, from an OPTIONS file or a table: reads filters and builds none.
    kReadOnly,
  };

  // For either kind, `bits_per_key` is that of a Bloom filter of the same accuracy.
  BuiltinFilterPolicy(Kind kind, double bits_per_key, int bloom_before_level = 0);

  const char* Name() const override;
  const char* CompatibilityName() const override { return kCompatibilityName(); }
  std::string GetId() const override;

  // Returns the name of both filters in a table's metaindex.
  static const char* kCompatibilityName() { return "rocksdb.BuiltinBloomFilter"; }

  // Bits a key in thousandths: 0, or 1000 to 100000. 0 means that no filter is built.
  int millibits_per_key() const { return millibits_per_key_; }
  bool is_ribbon() const { return kind_ == Kind::kRibbon; }
  // Tables of levels with a smaller number than this get a Bloom filter, the others a Ribbon
  // filter. A flush counts as level -1; tables outside of a tree get a Ribbon filter unless this is
  // INT_MAX. Applies only if is_ribbon().
  int bloom_before_level() const { return bloom_before_level_; }

  // True if a table described by `context` gets a Ribbon filter rather than a Bloom filter.
  bool BuildsRibbon(const FilterBuildingContext& context) const;

 private:
  const BuiltinFilterPolicy* AsBuiltin() const override { return this; }

  const Kind kind_;
  const int millibits_per_key_;
  const int bloom_before_level_;
};

// Returns null for a null policy and for one derived by a user: the caller then returns
// NotSupported.
const BuiltinFilterPolicy* AsBuiltinFilterPolicy(const FilterPolicy* policy);

}  // namespace varve
