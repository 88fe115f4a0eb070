// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes data of a database that is dead but still on disk: how much there is, why it stays, and
// what would free it. The property varve.garbage.

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
  // "tombstones" themselves, entries "deleted" by them, "hidden" versions under a newer one in the
  // same table, "overwritten" entries (an upper bound: newer levels may have newer versions); for
  // the whole database also "replaced" tables and blob files that readers hold, and "lost" (files
  // in lost/).
  std::string kind;
  std::string why;
  std::string freed_by;
  uint64_t bytes = 0;
};

// Returns estimates from the counts of the family's tables.
std::vector<GarbageItem> GarbageOfFamily(DbState* state, ColumnFamily* family);
// Returns the same, followed by what lies beside the live tables of all families: replaced files
// and lost/. Reads the directories of the database, its logs and its families.
std::vector<GarbageItem> Garbage(const DbContext& context, DbState* state, ColumnFamily* family);

// Returns lines like "deleted: 4100 bytes, held by snapshot 17 since 1700000000; freed by its
// release".
std::string GarbageText(const std::vector<GarbageItem>& items);
// Returns sums by kind, "total", and "<kind>.<n>" with the bytes, the reason and the remedy of each
// item.
std::map<std::string, std::string> GarbageMap(const std::vector<GarbageItem>& items);
// Returns a text without the reasons: "12 bytes deleted, 7 bytes hidden", or "nothing".
std::string GarbageSummary(const std::vector<GarbageItem>& items);

}  // namespace varve
