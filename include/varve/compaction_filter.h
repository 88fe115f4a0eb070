// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// CompactionFilter: user code that may drop or change values while a compaction rewrites them.

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

struct ConfigOptions;

/// Sees each key's newest version, and each merge operand, of what is being compacted, unless a
/// snapshot needs it or a range deletion covers it. With timestamps: of versions below the
/// timestamp of DB::IncreaseFullHistoryTsLow only, and keys are shown without timestamps. One made
/// by a factory serves one compaction in one thread. One set directly in ColumnFamilyOptions must
/// be thread-safe. Must not throw, and must not call the DB.
class CompactionFilter : public Customizable {
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

  ~CompactionFilter() override = default;

  static const char* Type() { return "CompactionFilter"; }
  /// The name of a registered object that lives for ever; null for "" and "nullptr". NotSupported:
  /// no such name is registered.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              const CompactionFilter** result);

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
class CompactionFilterFactory : public Customizable {
 public:
  ~CompactionFilterFactory() override = default;

  static const char* Type() { return "CompactionFilterFactory"; }
  /// A registered object: its name, or "id=name;option=value;...", in braces or not; null for ""
  /// and "nullptr". NotSupported: no such name is registered.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<CompactionFilterFactory>* result);

  /// Whether to filter files that are written for `reason`. By default compactions only.
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }

  /// Null: no filter this time.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;
};

}  // namespace varve
