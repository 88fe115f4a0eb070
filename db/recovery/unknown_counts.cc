// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/unknown_counts.h"

#include <utility>
#include <vector>

namespace varve {

namespace {

// Maximum number of tables to open, which takes a fraction of a second.
constexpr size_t kMostTablesRead = 1000;

}  // namespace

// Looking a table up in the table cache opens it, and that sets its counts.
void ReadUnknownCounts(const DbContext& context, DbState* state) {
  if (context.options().skip_stats_update_on_db_open) return;
  std::vector<std::pair<std::shared_ptr<TableCache>, VersionRef>> trees;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) {
      trees.emplace_back(family->shared_table_cache(), family->current());
    }
  }
  size_t left = kMostTablesRead;
  for (const auto& [cache, version] : trees) {
    for (int level = 0; level < version->non_empty_levels(); level++) {
      for (const FileRef& file : version->level(level).files()) {
        if (file->counts().known() || left == 0) continue;
        left--;
        TableRef table;
        cache->Find(file.get(), level, ReadOptions(), &table).PermitUncheckedError();
      }
    }
  }
}

}  // namespace varve
