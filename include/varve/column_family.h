// SPDX-License-Identifier: Apache-2.0
#pragma once

// A column family's name and options for opening.

#include <string>

#include "varve/options.h"

namespace varve {

inline const std::string kDefaultColumnFamilyName("default");

struct ColumnFamilyDescriptor {
  ColumnFamilyDescriptor() : name(kDefaultColumnFamilyName) {}
  ColumnFamilyDescriptor(const std::string& cf_name, const ColumnFamilyOptions& cf_options)
      : name(cf_name), options(cf_options) {}

  std::string name;
  ColumnFamilyOptions options;
};

}  // namespace varve
