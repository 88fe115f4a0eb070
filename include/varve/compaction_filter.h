// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// CompactionFilter: user code that may drop or change values while a compaction rewrites them.

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

/// Sees each key's newest version, and each merge operand, of what is being compacted, unless a
/// snapshot needs it or a range deletion covers it. With timestamps: of versions below the
/// timestamp of DB::IncreaseFullHistoryTsLow only, and keys are shown without timestamps. One made
/// by a factory serves one compaction in one thread. One set directly in ColumnFamilyOptions must
/// be thread-safe. Must not throw, and must not call the DB.
class CompactionFilter {
 public:
  /// Append only.
  enum ValueType {
    kValue,
    kMergeOperand,
    kBlobIndex,
    kWideColumnEntity,
  };

  enum class Decision {
    kKeep,
    /// Becomes a delete marker where older versions may lie below, otherwise disappears.
    kRemove,
    /// Takes `*new_value` instead.
    kChangeValue,
    /// Drops this key and all others in [key, *skip_until), without delete markers: older versions
    /// may show again. Kept if *skip_until is not after the key. From a merge operand it drops the
    /// key's newer operands, too.
    kRemoveAndSkipUntil,
    /// The next two belong to blob files; refused.
    kChangeBlobIndex,
    kIOError,
    /// As kRemove, with a SingleDelete marker.
    kPurge,
    kChangeWideColumnEntity,
    kUndetermined,
  };

  /// What a factory is told about the compaction, or flush, it makes a filter for.
  struct Context {
    static constexpr int kUnknownStartLevel = -1;

    /// Everything in the column family takes part.
    bool is_full_compaction;
    bool is_manual_compaction;
    int input_start_level = kUnknownStartLevel;
    uint32_t column_family_id;
    TableFileCreationReason reason;
    /// Of the input files.
    TablePropertiesCollection input_table_properties;
  };

  virtual ~CompactionFilter() = default;

  static const char* Type() { return "CompactionFilter"; }
  virtual const char* Name() const = 0;

  /// True removes the key. Otherwise may set `*new_value` and `*value_changed`. Values only.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }

  /// True removes the operand.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }

  /// The call that the engine makes; by default it asks the two above. `level` is the output's.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* /*skip_until*/) const {
    if (value_type == ValueType::kMergeOperand) {
      return FilterMergeOperand(level, key, existing_value) ? Decision::kRemove : Decision::kKeep;
    }
    if (value_type != ValueType::kValue) return Decision::kKeep;
    bool changed = false;
    if (Filter(level, key, existing_value, new_value, &changed)) return Decision::kRemove;
    return changed ? Decision::kChangeValue : Decision::kKeep;
  }

  /// Must be true. False, which would hide entries from the filter that a snapshot can see, is
  /// NotSupported.
  virtual bool IgnoreSnapshots() const { return true; }
};

/// Makes a filter for each compaction. Must be thread-safe.
class CompactionFilterFactory {
 public:
  virtual ~CompactionFilterFactory() = default;

  static const char* Type() { return "CompactionFilterFactory"; }
  virtual const char* Name() const = 0;

  /// Whether to filter files that are written for `reason`. By default compactions only.
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }

  /// Null: no filter this time.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;
};

}  // namespace varve
