// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for RocksDB's merge operator of Cassandra rows, which Varve does not have: merges fail and
// say so.

#include "varve/merge_operator.h"
#include "varve/slice.h"

namespace varve::cassandra {

class CassandraValueMergeOperator : public MergeOperator {
 public:
  CassandraValueMergeOperator(int /*gc_grace_period_in_seconds*/, size_t /*operands_limit*/) {}

  const char* Name() const override { return "CassandraValueMergeOperator"; }
  bool FullMergeV2(const MergeOperationInput& /*in*/,
                   MergeOperationOutput* /*out*/) const override {
    return false;
  }
};

}  // namespace varve::cassandra
