// SPDX-License-Identifier: Apache-2.0
#pragma once
/// MergeOperator turns the operands that DB::Merge() writes into a value. Implemented by the user;
/// built-in ones are in utilities/merge_operators.h.
///
/// DB::Merge() stores an operand without reading the key, which costs no more than a Put. A read
/// that meets operands collects them up to the newest value or deletion, and calls FullMergeV3();
/// compactions do the same where they see the base value, and combine operands by
/// PartialMergeMulti() where they do not. The name is stored in tables and OPTIONS files: see
/// ColumnFamilyOptions::allow_other_merge_operator.
///
///   class MaxOperator : public varve::AssociativeMergeOperator {
///    public:
///     const char* Name() const override { return "MaxOperator"; }
///     bool Merge(const varve::Slice&, const varve::Slice* before, const varve::Slice& value,
///                std::string* result, varve::Logger*) const override {
///       const bool keeps = before != nullptr && before->compare(value) > 0;
///       *result = (keeps ? *before : value).ToString();
///       return true;
///     }
///   };
///   options.merge_operator = std::make_shared<MaxOperator>();

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/wide_columns.h"

namespace varve {

class Logger;
struct ConfigOptions;

/// Must be thread-safe and deterministic, and must not throw. Keys, here and below, are user keys
/// without timestamps. The engine merges any neighbouring operands that are available, so grouping
/// must not matter:
///   merge(base, a, b, c) == merge(merge(base, a, b), c).
class VARVE_EXPORT MergeOperator : public Customizable {
 public:
  ~MergeOperator() override = default;

  /// Makes a built-in operator (varve/utilities/merge_operators.h) from its name, long or short, or
  /// from "id=NAME;option=value", with or without braces; null for "" and "nullptr". NotSupported
  /// for another name, InvalidArgument for an option that the operator does not have.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<MergeOperator>* result);

  static const char* Type() { return "MergeOperator"; }

  /// Input of FullMergeV2(). Everything is valid during the call only.
  struct MergeOperationInput {
    explicit MergeOperationInput(const Slice& _key, const Slice* _existing_value,
                                 const std::vector<Slice>& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(_existing_value),
          operand_list(_operand_list),
          logger(_logger) {}

    /// The key without timestamp, in case that the operation depends on it.
    const Slice& key;
    /// Null: there is no base value. An empty base value is a pointer to an empty slice.
    const Slice* existing_value;
    /// Oldest first, at least one.
    const std::vector<Slice>& operand_list;
    /// The database's LOG, or null.
    Logger* logger;
  };

  /// Operations that fail with a merge. The engine always acts as with kMustMerge: after a failure
  /// in a flush or compaction the operands stay as they are, so that nothing is lost and work on
  /// other keys continues; reads that need the value return the error.
  enum class OpFailureScope {
    /// Means kTryMerge.
    kDefault,
    /// Any operation that tried to merge, also a flush or compaction.
    kTryMerge,
    /// Only reads that need the value; flushes and compactions keep the operands.
    kMustMerge,
    kOpFailureScopeMax,
  };

  /// Output of FullMergeV2().
  struct MergeOperationOutput {
    explicit MergeOperationOutput(std::string& _new_value, Slice& _existing_operand)
        : new_value(_new_value), existing_operand(_existing_operand) {}

    /// The result, empty at first, unless existing_operand is set.
    std::string& new_value;
    /// Null at first. If set to one of the input slices, that is the result, without a copy. It
    /// must not point to anything else.
    Slice& existing_operand;
    /// Ignored; see OpFailureScope.
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  /// Input of FullMergeV3().
  struct MergeOperationInputV3 {
    /// No base value, a plain base value, or the columns of an entity by ascending name.
    using ExistingValue = std::variant<std::monostate, Slice, WideColumns>;
    using OperandList = std::vector<Slice>;

    explicit MergeOperationInputV3(const Slice& _key, ExistingValue&& _existing_value,
                                   const OperandList& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(std::move(_existing_value)),
          operand_list(_operand_list),
          logger(_logger) {}

    /// The key without timestamp, in case that the operation depends on it.
    const Slice& key;
    /// The newest value beneath the operands, or none if the key did not exist or was deleted.
    ExistingValue existing_value;
    /// Oldest first, at least one.
    const OperandList& operand_list;
    /// The database's LOG, or null.
    Logger* logger;
  };

  /// Output of FullMergeV3().
  struct MergeOperationOutputV3 {
    /// Names and values of columns, in any order.
    using NewColumns = std::vector<std::pair<std::string, std::string>>;
    /// A new plain value; the columns of a new entity; or one of the input slices, which is used as
    /// a plain value without a copy.
    using NewValue = std::variant<std::string, NewColumns, Slice>;

    /// An empty string at first.
    NewValue new_value;
    /// Ignored; see OpFailureScope.
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  /// Applies all operands to the base value; this is the form that the engine calls. False: the
  /// values are corrupt. The default calls FullMergeV2(): for an entity with its default column, or
  /// an empty value if it has none; the result replaces that column, and the others stay.
  virtual bool FullMergeV3(const MergeOperationInputV3& merge_in,
                           MergeOperationOutputV3* merge_out) const;

  /// Older form of FullMergeV3(). The default calls FullMerge().
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;

  /// Older form of FullMergeV2().
  virtual bool FullMerge(const Slice& /*key*/, const Slice* /*existing_value*/,
                         const std::deque<std::string>& /*operand_list*/,
                         std::string* /*new_value*/, Logger* /*logger*/) const {
    return false;
  }

  /// Merges two operands into one; the left one is older. False: not possible, which is no error;
  /// then `*new_value` must not be changed.
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                            const Slice& /*right_operand*/, std::string* /*new_value*/,
                            Logger* /*logger*/) const {
    return false;
  }

  /// Merges several operands, oldest first, into one, in flushes and compactions that do not see
  /// the base value. The default folds with PartialMerge().
  virtual bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;

  /// True if PartialMergeMulti() should also be called for a single operand.
  virtual bool AllowSingleOperand() const { return false; }

  /// Called by Get and MultiGet for each further operand, newest first: true stops the search, and
  /// the operands found are merged without a base value.
  virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }
};

/// A merge operator whose operands and values have the same format, such as numbers to be added.
/// One function then serves as full and as partial merge.
class VARVE_EXPORT AssociativeMergeOperator : public MergeOperator {
 public:
  ~AssociativeMergeOperator() override = default;

  /// Merges `value` into `existing_value`, which may be null. False: one of them is corrupt.
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value, Logger* logger) const = 0;

 private:
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
};

}  // namespace varve
