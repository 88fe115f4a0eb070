// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the merge operators under the names that RocksDB's Java glue uses.

#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/utilities/merge_operators.h"

namespace varve::java {

class MergeOperators : public ::varve::MergeOperators {
 public:
  // Returns null for an unknown name.
  static std::shared_ptr<MergeOperator> CreateFromStringId(const std::string& name) {
    std::shared_ptr<MergeOperator> made;
    const Status s = MergeOperator::CreateFromString(ConfigOptions(), name, &made);
    return s.ok() ? made : nullptr;
  }
};

}  // namespace varve::java
