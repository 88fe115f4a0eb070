// SPDX-License-Identifier: Apache-2.0
#pragma once

// What users have of a database and have not given back.

#include <string>

#include "db/background/engine.h"

namespace varve {

// "2 snapshots, 1 iterator, 3 column family handles"; empty: nothing.
std::string DescribeHolders(const Engine& engine);

}  // namespace varve
