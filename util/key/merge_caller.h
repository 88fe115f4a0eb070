// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls the user's merge operator: errors become a status, and the costs are counted. The callers
// decide which operands belong together.

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "varve/merge_operator.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "util/key/entity.h"

namespace varve {

class Statistics;

// Calls one merge operator. Keys are user keys without timestamps.
//
// Thread safety: the operator's, which must be thread-safe. Lifetime: the operator, the logger and
// the statistics outlive the caller; each may be null.
class MergeCaller {
 public:
  MergeCaller() = default;
  // `remembered` is the name of the operator used before, for the error message if there is none.
  MergeCaller(const MergeOperator* merge_operator, Logger* logger, Statistics* statistics,
              std::string remembered = {})
      : operator_(merge_operator),
        logger_(logger),
        statistics_(statistics),
        remembered_(std::move(remembered)) {}

  // True if the operator needs no more than the operands found so far (newest first), and no base
  // value. An operator that throws gets all.
  bool ShouldMerge(const std::vector<Slice>& operands) const;

  bool has_operator() const { return operator_ != nullptr; }
  const MergeOperator* merge_operator() const { return operator_; }

  // Merges `operands`, oldest first and at least one, onto `base`, null if there is none. *buffer
  // is overwritten, and *result becomes a slice of it, of the base or of an operand. Requires that
  // *form is the form of the base, if there is one; sets it to that of the result. After an error
  // *buffer, *result and *form are undefined. InvalidArgument: there is no operator. Corruption
  // with subcode kMergeOperatorFailed: the operator failed, threw, made more than a value can hold,
  // or two columns of one name, or (checked only in builds with assertions) returned a slice of
  // other memory. Otherwise the error with which DecodeEntity refuses the base.
  Status Full(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
              std::string* buffer, Slice* result, ValueForm* form) const;

  // True if Partial also wants single operands.
  bool WantsSingleOperand() const;

  // Merges several operands, oldest first, into one without the base. Returns false if they stay as
  // they are, which is no error; *result is then undefined. A single operand is offered only to
  // operators that want it.
  bool Partial(const Slice& key, const std::deque<Slice>& operands, std::string* result) const;

 private:
  // Replaces *buffer by the entity of the operator's columns. Returns the error of Failed if they
  // do not make one.
  Status Encode(const Slice& key, const MergeOperator::MergeOperationOutputV3::NewColumns& columns,
                std::string* buffer) const;
  // Counts a failure of the operator, and returns Corruption with subcode kMergeOperatorFailed.
  Status Failed(const Slice& key, const char* why) const;

  const MergeOperator* operator_ = nullptr;
  Logger* logger_ = nullptr;
  Statistics* statistics_ = nullptr;
  std::string remembered_;
};

}  // namespace varve
