// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// MergeOperator: how the operands that DB::Merge() writes become a value. Implemented by the user.

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

namespace varve {

class Logger;
struct ConfigOptions;

/// Must be thread-safe, deterministic and must not throw. The engine merges whatever neighbouring
/// operands it has at hand, so grouping must not matter:
///   merge(base, a, b, c) == merge(merge(base, a, b), c).
class VARVE_EXPORT MergeOperator : public Customizable {
 public:
  ~MergeOperator() override = default;

  /// Makes a built-in operator (varve/utilities/merge_operators.h) from its name, long or short, or
  /// from "id=NAME;option=value", in braces or not; "" and "nullptr" give null. NotSupported for
  /// another name, InvalidArgument for an option that the operator does not have.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<MergeOperator>* result);

  static const char* Type() { return "MergeOperator"; }

  struct MergeOperationInput {
    explicit MergeOperationInput(const Slice& _key, const Slice* _existing_value,
                                 const std::vector<Slice>& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(_existing_value),
          operand_list(_operand_list),
          logger(_logger) {}

    const Slice& key;
    /// Null: there is no base. An empty base is a pointer to an empty slice.
    const Slice* existing_value;
    /// Oldest first, at least one.
    const std::vector<Slice>& operand_list;
    Logger* logger;
  };

  /// Who should suffer when a merge fails. The engine goes by kMustMerge whatever is said: a merge
  /// that fails in a flush or a compaction leaves the operands as they are, so that nothing is lost
  /// and the other keys' work goes on; the reads that need the value report it.
  enum class OpFailureScope {
    /// kTryMerge.
    kDefault,
    /// Whatever tried to merge, be it a flush or a compaction.
    kTryMerge,
    /// Only reads that need the value; flushes and compactions keep the operands.
    kMustMerge,
    kOpFailureScopeMax,
  };

  struct MergeOperationOutput {
    explicit MergeOperationOutput(std::string& _new_value, Slice& _existing_operand)
        : new_value(_new_value), existing_operand(_existing_operand) {}

    /// The result, empty at first ...
    std::string& new_value;
    /// ... unless this, null at first, is set to one of the input slices: then that is the result,
    /// without a copy. It must not point anywhere else.
    Slice& existing_operand;
    /// Not looked at (OpFailureScope).
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  /// What FullMergeV3() gets; values are plain, as Varve has no wide columns.
  struct MergeOperationInputV3 {
    /// No base, or its value.
    using ExistingValue = std::variant<std::monostate, Slice>;
    using OperandList = std::vector<Slice>;

    explicit MergeOperationInputV3(const Slice& _key, ExistingValue&& _existing_value,
                                   const OperandList& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(std::move(_existing_value)),
          operand_list(_operand_list),
          logger(_logger) {}

    const Slice& key;
    ExistingValue existing_value;
    /// Oldest first, at least one.
    const OperandList& operand_list;
    Logger* logger;
  };

  struct MergeOperationOutputV3 {
    /// A new value, or one of the input slices, which is taken without a copy.
    using NewValue = std::variant<std::string, Slice>;

    /// An empty string at first.
    NewValue new_value;
    /// Not looked at (OpFailureScope).
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  /// All operands on top of the base, in the form that the engine calls. False: the values are
  /// corrupt. By default calls FullMergeV2().
  virtual bool FullMergeV3(const MergeOperationInputV3& merge_in,
                           MergeOperationOutputV3* merge_out) const;

  /// The same for operators that were written for it. By default calls FullMerge().
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;

  /// Older form of FullMergeV2().
  virtual bool FullMerge(const Slice& /*key*/, const Slice* /*existing_value*/,
                         const std::deque<std::string>& /*operand_list*/,
                         std::string* /*new_value*/, Logger* /*logger*/) const {
    return false;
  }

  /// Two operands into one, the left being older. False: not possible, which is no error; then
  /// `*new_value` must not be touched.
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                            const Slice& /*right_operand*/, std::string* /*new_value*/,
                            Logger* /*logger*/) const {
    return false;
  }

  /// Several operands, oldest first, into one; in flushes and compactions that don't see the base.
  /// By default folds with PartialMerge().
  virtual bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;

  /// Whether PartialMergeMulti() also wants to see a single operand.
  virtual bool AllowSingleOperand() const { return false; }

  /// Asked by Get and MultiGet at each further operand, newest first: true stops the search there,
  /// and merges what was found without a base.
  virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }
};

/// A merge operator whose operands and values are of one kind, such as numbers to be added.
class VARVE_EXPORT AssociativeMergeOperator : public MergeOperator {
 public:
  ~AssociativeMergeOperator() override = default;

  /// `value` on top of `existing_value`, which may be null. False: one of them is corrupt.
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value, Logger* logger) const = 0;

 private:
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
};

}  // namespace varve
