// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the calls of the user's merge operator: what may go wrong in one becomes a status, and what
// it costs is counted. Which operands belong together is the callers' matter.

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "varve/merge_operator.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class Statistics;

// Thread safety: as the operator's, which is required to be thread-safe. Lifetime: the operator,
// the logger and the statistics outlive the caller; each may be null.
class MergeCaller {
 public:
  MergeCaller() = default;
  // `remembered`: the operator that there was before, to be named when there is none.
  MergeCaller(const MergeOperator* merge_operator, Logger* logger, Statistics* statistics,
              std::string remembered = {})
      : operator_(merge_operator),
        logger_(logger),
        statistics_(statistics),
        remembered_(std::move(remembered)) {}

  // What the operator says to the operands found so far, newest first: true when it needs no more,
  // and no base. An operator that throws wants all.
  bool ShouldMerge(const std::vector<Slice>& operands) const;

  bool has_operator() const { return operator_ != nullptr; }
  const MergeOperator* merge_operator() const { return operator_; }

  // Merges `operands`, oldest first and at least one, on top of `base`, null when there is none.
  // *result is one of the input slices, or *buffer, which is overwritten.
  // InvalidArgument: there is no operator. Corruption with subcode kMergeOperatorFailed: it failed,
  // threw, made more than a value can hold or, noticed in builds with assertions only, pointed
  // somewhere else. Then neither *buffer nor *result means anything.
  Status Full(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
              std::string* buffer, Slice* result) const;

  // Whether Partial also wants to see operands alone.
  bool WantsSingleOperand() const;

  // Several operands, oldest first, into one without the base. False: they stay as they are, which
  // is no error; *result means nothing then. A single operand is offered only to operators that
  // want it.
  bool Partial(const Slice& key, const std::deque<Slice>& operands, std::string* result) const;

 private:
  Status Failed(const Slice& key, const char* why) const;

  const MergeOperator* operator_ = nullptr;
  Logger* logger_ = nullptr;
  Statistics* statistics_ = nullptr;
  std::string remembered_;
};

}  // namespace varve
