// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a database is dead and still on disk: how much, why it stays, and what would free it. The
// property varve.garbage.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace varve {

class DbContext;
struct DbState;
class ColumnFamily;

// Bytes of one kind that stay for one reason.
struct GarbageItem {
  // "tombstones" themselves, what they "deleted" beneath them, "hidden" versions under a newer one
  // in the same table, "overwritten" (at most: what newer levels may hold newer versions of);
  // of the whole database "replaced" tables that readers hold, and "lost" (files in lost/).
  std::string kind;
  std::string why;
  std::string freed_by;
  uint64_t bytes = 0;
};

// Estimates from the counts of the family's tables.
std::vector<GarbageItem> GarbageOfFamily(DbState* state, ColumnFamily* family);
// The same, and what the database's directories hold beside its tables. Reads them.
std::vector<GarbageItem> Garbage(const DbContext& context, DbState* state, ColumnFamily* family);

// "deleted: 4100 bytes, held by snapshot 17 since 1700000000; freed by its release", one a line.
std::string GarbageText(const std::vector<GarbageItem>& items);
// Sums by kind, "total", and "<kind>.<n>" with the bytes, the reason and the remedy of each item.
std::map<std::string, std::string> GarbageMap(const std::vector<GarbageItem>& items);
// Without the reasons: "12 bytes deleted, 7 bytes hidden", or "nothing".
std::string GarbageSummary(const std::vector<GarbageItem>& items);

}  // namespace varve
