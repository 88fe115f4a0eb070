// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// CompactionFilter is user code that may drop or change values while a compaction rewrites them.

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

/// Called in compactions for each key's newest version and each merge operand, unless a snapshot
/// needs it or a range deletion covers it. With timestamps, only for versions below
/// full_history_ts_low (DB::IncreaseFullHistoryTsLow), and with keys without timestamps. A filter
/// made by a factory serves one compaction in one thread; one set directly in ColumnFamilyOptions
/// must be thread-safe. Must not throw, and must not call the DB.
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
    /// Replaced by a tombstone if older versions may be below, otherwise dropped.
    kRemove,
    /// The value is replaced by `*new_value`.
    kChangeValue,
    /// Drops this key and all others in [key, *skip_until), without tombstones: older versions may
    /// become visible. Keeps the key if *skip_until is not after it. For a merge operand, the key's
    /// newer operands are dropped, too.
    kRemoveAndSkipUntil,
    /// The next two are for blob files, and are refused.
    kChangeBlobIndex,
    kIOError,
    /// Like kRemove, with a SingleDelete as tombstone.
    kPurge,
    kChangeWideColumnEntity,
    kUndetermined,
  };

  /// Describes to a factory the compaction, or flush, that a filter is for.
  struct Context {
    static constexpr int kUnknownStartLevel = -1;

    /// True if all data of the column family is included.
    bool is_full_compaction;
    bool is_manual_compaction;
    int input_start_level = kUnknownStartLevel;
    uint32_t column_family_id;
    TableFileCreationReason reason;
    /// Properties of the input files.
    TablePropertiesCollection input_table_properties;
  };

  ~CompactionFilter() override = default;

  static const char* Type() { return "CompactionFilter"; }
  /// Accepts the name of a registered object that is never destroyed; null for "" and "nullptr".
  /// NotSupported: no such name is registered.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              const CompactionFilter** result);

  /// Returns true to remove the key; otherwise may set `*new_value` and `*value_changed`. For
  /// values only.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }

  /// Returns true to remove the operand.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }

  /// Called by the engine; the default calls the two functions above. `level` is the output level.
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

  /// Must return true. False, which would mean filtering entries that snapshots see, is
  /// NotSupported.
  virtual bool IgnoreSnapshots() const { return true; }
};

/// Makes a filter for each compaction. Must be thread-safe.
class CompactionFilterFactory : public Customizable {
 public:
  ~CompactionFilterFactory() override = default;

  static const char* Type() { return "CompactionFilterFactory"; }
  /// Accepts a registered object: its name, or "id=name;option=value;...", with or without braces;
  /// null for "" and "nullptr". NotSupported: no such name is registered.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<CompactionFilterFactory>* result);

  /// True if files written for `reason` are filtered. By default only those of compactions are.
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }

  /// Returns null for no filter in this compaction.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;
};

}  // namespace varve
