// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// FilterPolicy selects the filter of a table, which lets most reads of absent keys skip it. Filters
// hash the bytes of keys and prefixes. A comparator for which different bytes can be the same key
// must not be used with them, as a read with other bytes than those written would find nothing.
//
//   tables.filter_policy.reset(varve::NewBloomFilterPolicy(10));
//   options.table_factory.reset(varve::NewBlockBasedTableFactory(tables));
//
// A filter costs bits_per_key bits of memory and disk for each key. Tables keep the filter that
// they were written with, so a change of policy concerns new tables.

#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

class BuiltinFilterPolicy;
class FilterPolicy;
struct BlockBasedTableOptions;
struct ConfigOptions;

/// Describes a table whose filter is about to be built. Here for RocksDB's name: no public function
/// takes it, as policies are opaque.
struct FilterBuildingContext {
  /// Refers to the options, which must live as long as the object.
  explicit FilterBuildingContext(const BlockBasedTableOptions& _table_options)
      : table_options(_table_options) {}

  /// Options of the table.
  const BlockBasedTableOptions& table_options;
  /// Number of levels of the column family; -1: unknown.
  int num_levels = -1;
  /// Name of the column family; empty: unknown.
  std::string column_family_name;
  /// Level for which the table is written; -1: unknown.
  int level_at_creation = -1;
  /// True if nothing older is below the table.
  bool is_bottommost = false;
  /// Kind of the work that writes the table.
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

/// Says which filters tables get. Made by the functions below, and set in
/// BlockBasedTableOptions::filter_policy. Opaque: opening or writing a table with any other derived
/// class returns NotSupported. Thread-safe.
class FilterPolicy : public Customizable {
 public:
  ~FilterPolicy() override = default;

  /// Returns the class name under which ObjectRegistry keeps factories of policies.
  static const char* Type() { return "FilterPolicy"; }
  /// Returns the name of the format: readers use filters of all policies with the same one.
  virtual const char* CompatibilityName() const = 0;

  /// Accepts "bloomfilter:BITS[:false]" (the last part has no effect), "ribbonfilter:BITS[:LEVEL]",
  /// "rocksdb.BuiltinBloomFilter" (reads filters, builds none), or a registered object; sets
  /// *result to null for "" and "nullptr". NotSupported for any other text, with *result unchanged.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<const FilterPolicy>* result);

 private:
  friend const BuiltinFilterPolicy* AsBuiltinFilterPolicy(const FilterPolicy* policy);
  virtual const BuiltinFilterPolicy* AsBuiltin() const { return nullptr; }
};

// The caller owns the results, and usually hands them to a shared_ptr at once.

/// Returns a policy of Bloom filters. `bits_per_key` is rounded to a thousandth: below 0.5 means no
/// filter, 0.5 to 1 counts as 1, above 100 as 100; 10 gives about 1% false positives. The second
/// argument has no effect.
VARVE_EXPORT const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                                      bool IGNORED_use_block_based_builder = false);

/// Returns a policy of Ribbon filters, which are a third smaller than Bloom filters of the same
/// accuracy, and several times slower to build. `bloom_equivalent_bits_per_key` is that of the
/// equally accurate Bloom filter, rounded and limited like its argument. Tables of levels whose
/// number is less than `bloom_before_level` get a Bloom filter; flushes count as level -1, so 0,
/// the default, means Bloom for flushes only, -1 Ribbon everywhere, and INT_MAX Bloom everywhere.
VARVE_EXPORT const FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                                       int bloom_before_level = 0);

}  // namespace varve
