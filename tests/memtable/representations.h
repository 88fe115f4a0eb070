// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a suite of memtable tests with each representation in the registry.

#include <gtest/gtest.h>

#include <string>

#include "memtable/memtable.h"

namespace varve {

class EachRepresentation : public testing::TestWithParam<const MemTableRepType*> {
 protected:
  static MemTableOptions Options() {
    MemTableOptions options;
    options.rep = GetParam();
    return options;
  }
  static bool IsVector() { return GetParam() == &kVectorRep; }
};

inline std::string NameOfRepresentation(const testing::TestParamInfo<const MemTableRepType*>& i) {
  return i.param->name;
}

// Used in the namespace of the suite.
#define VARVE_EACH_REPRESENTATION(Suite)                                             \
  INSTANTIATE_TEST_SUITE_P(Representations, Suite, testing::ValuesIn(kMemTableReps), \
                           NameOfRepresentation)

}  // namespace varve
