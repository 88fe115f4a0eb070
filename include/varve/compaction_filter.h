// SPDX-License-Identifier: Apache-2.0
#pragma once
/// CompactionFilter is user code that may drop or change values while a compaction rewrites them,
/// for instance to expire old data without deleting it key by key.
///
/// Compactions choose which data to rewrite and when, so a filter sees an entry at an unknown time,
/// possibly more than once, and an entry of the last level may be rewritten only after a long time
/// (ColumnFamilyOptions::periodic_compaction_seconds bounds it). A program must not rely on a
/// filter to hide data from reads.
///
///   class WithoutTemporary : public varve::CompactionFilter {
///    public:
///     const char* Name() const override { return "WithoutTemporary"; }
///     bool Filter(int, const varve::Slice& key, const varve::Slice&, std::string*,
///                 bool*) const override {
///       return key.starts_with("tmp/");  // true drops the entry
///     }
///   };

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/wide_columns.h"

namespace varve {

struct ConfigOptions;

/// Reads columns of an entity whose values are in blob files, when a filter asks for them. Used by
/// the thread that runs the filter, during the call that gets it. A column_index is a position in
/// the `existing_columns` of that call.
class WideColumnBlobResolver {
 public:
  virtual ~WideColumnBlobResolver() = default;

  /// Reads the value of a column, which lives until the call of the filter returns.
  virtual Status ResolveColumn(size_t column_index, Slice* resolved_value) = 0;
  /// Reads several columns; stops at the first error.
  virtual Status ResolveColumns(const std::vector<size_t>& column_indices,
                                std::vector<Slice>* resolved_values) {
    resolved_values->resize(column_indices.size());
    for (size_t i = 0; i < column_indices.size(); i++) {
      Status s = ResolveColumn(column_indices[i], &(*resolved_values)[i]);
      if (!s.ok()) return s;
    }
    return Status::OK();
  }
  /// True if the column's value is in a blob file.
  virtual bool IsBlobColumn(size_t column_index) const = 0;
  /// Returns the number of columns of the entity.
  virtual size_t NumColumns() const = 0;
};

/// Called in compactions for each key's newest version and each merge operand, unless a snapshot
/// needs it or a range deletion covers it. With timestamps, only for versions below
/// full_history_ts_low (DB::IncreaseFullHistoryTsLow), and with keys without timestamps. A filter
/// made by a factory serves one compaction in one thread; one set directly in ColumnFamilyOptions
/// must be thread-safe. Must not throw, and must not call the DB.
class CompactionFilter : public Customizable {
 public:
  /// The kind of an entry that is filtered. Append only. kBlobIndex does not occur: see
  /// FilterBlobByKey().
  enum ValueType {
    kValue,
    kMergeOperand,
    kBlobIndex,
    kWideColumnEntity,
  };

  /// The filter's verdict on one entry.
  enum class Decision {
    kKeep,
    /// Replaced by a tombstone if older versions may be below, otherwise dropped.
    kRemove,
    /// The value is replaced by `*new_value`.
    kChangeValue,
    /// Drops this key and all others in [key, *skip_until), a user key without timestamp, and
    /// leaves no tombstones: older versions may become visible. Keeps the key if *skip_until is not
    /// after it. For a merge operand, the key's newer operands are dropped, too.
    kRemoveAndSkipUntil,
    /// The next two are refused.
    kChangeBlobIndex,
    kIOError,
    /// Like kRemove, with a SingleDelete as tombstone.
    kPurge,
    /// The value, plain or an entity, is replaced by an entity of the columns in *new_columns, in
    /// any order. Two of one name fail the compaction. Not for merge operands. FilterV3() only.
    kChangeWideColumnEntity,
    /// The key alone does not suffice. FilterBlobByKey() only.
    kUndetermined,
  };

  /// Describes to a factory the compaction, or flush, that a filter is for.
  struct Context {
    static constexpr int kUnknownStartLevel = -1;

    /// True if all data of the column family is included.
    bool is_full_compaction;
    /// True if a call asked for the compaction (CompactRange, CompactFiles).
    bool is_manual_compaction;
    /// Smallest level of the inputs; kUnknownStartLevel for a flush.
    int input_start_level = kUnknownStartLevel;
    /// Number of the column family.
    uint32_t column_family_id;
    /// Reason for writing the tables: a compaction, or a flush for which
    /// ShouldFilterTableFileCreation() returned true.
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

  /// Returns true to remove the key. Otherwise, to change the value, sets `*new_value`, and
  /// `*value_changed`, which is false at first, to true. For values only.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }

  /// Returns true to remove the operand.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }

  /// Older form of FilterV3(), never called with an entity; the default calls the two functions
  /// above.
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

  /// Called by FilterV4(); `level` is the output level. For an entity (kWideColumnEntity) only
  /// `existing_columns` is set, which ascend by name; otherwise only `existing_value`. An entity
  /// may become a plain value, and a plain value an entity. The default keeps entities, and calls
  /// FilterV2() for the rest.
  virtual Decision FilterV3(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* /*existing_columns*/,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* /*new_columns*/,
                            std::string* skip_until) const {
    if (value_type == ValueType::kWideColumnEntity) return Decision::kKeep;
    return FilterV2(level, key, value_type, *existing_value, new_value, skip_until);
  }

  /// Called by the engine. Like FilterV3(), which the default calls, with a resolver of columns
  /// whose values are in blob files; null: none is. It is always null here, as entities keep their
  /// values.
  virtual Decision FilterV4(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until,
                            WideColumnBlobResolver* /*blob_resolver*/) const {
    return FilterV3(level, key, value_type, existing_value, existing_columns, new_value,
                    new_columns, skip_until);
  }

  /// True if FilterV4() is overridden, and uses its resolver. Varve does not call it.
  virtual bool SupportsFilterV4() const { return false; }

  /// Called for a value in a blob file before it is read. kUndetermined: the value is read, and
  /// FilterV4 is called with kValue. kChangeBlobIndex and kIOError are refused. With kChangeValue
  /// the new value replaces the one in the blob file.
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }

  /// Must return true. False, which would mean filtering entries that snapshots see, is
  /// NotSupported.
  virtual bool IgnoreSnapshots() const { return true; }
};

/// Makes a filter for each compaction. Must be thread-safe, as several compactions may begin at
/// once; each filter that it makes is used by one thread.
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
