// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens a hostile table file that lies in memory, and uses it in every way.

#include <string>

#include "varve/status.h"

namespace varve::fuzz {

struct TableUse {
  bool mapped = false;      // read like a mapped file
  bool cached = false;      // with a block cache, index and filter in it
  bool prefixes = false;    // with a prefix extractor
  bool timestamps = false;  // under a comparator with timestamps
};

// Every call must return, whatever the bytes are. A walk stops after `entries_most` entries.
void UseTable(const std::string& file, const TableUse& use, size_t entries_most);

}  // namespace varve::fuzz
