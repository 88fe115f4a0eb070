// SPDX-License-Identifier: Apache-2.0
#pragma once

// Estimates the obsolete data that a database still has on disk: how many bytes, why they are still
// there, and what would free them. This is the property varve.garbage.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace varve {

class DbContext;
struct DbState;
class ColumnFamily;

// Obsolete bytes of one kind that are still there for one reason.
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

// Returns estimates from the counts of the family's tables, the largest first.
std::vector<GarbageItem> GarbageOfFamily(DbState* state, ColumnFamily* family);
// Returns these estimates, followed by the bytes of files outside the current versions of all
// families: replaced files, and files in lost/. Lists the directories of the database, its logs and
// its families.
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
