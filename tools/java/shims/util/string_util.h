// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's Java glue includes this name and takes nothing from it.

#include <string>
