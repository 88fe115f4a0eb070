// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the life cycles that must leave nothing behind: each makes something of the API, uses it,
// and lets it go.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

namespace varve::testing {

enum class DbKind { kNone, kPlain, kLocking, kOptimistic };

// The environment of a cycle: a directory of its own, and the database open in it, if any.
struct FlatStage {
  std::string directory;
  Options options;  // the database's options
  DB* db = nullptr;
  TransactionDB* locking = nullptr;               // db, if it is one
  OptimisticTransactionDB* optimistic = nullptr;  // the database, if it is one
  uint64_t round = 0;

  ColumnFamilyHandle* family() const { return db->DefaultColumnFamily(); }
  std::string Path(const char* name) const { return directory + "/" + name; }
};

struct LifeCycle {
  const char* name;
  DbKind kind;
  void (*play)(FlatStage* stage);
  // A cycle costs as much as this many others, so it is played that much less often.
  uint64_t cost = 1;
};

const std::vector<LifeCycle>& LifeCycles();

// Opens the database of a stage in "db" of its directory; returns nullptr for kNone.
std::unique_ptr<DB> OpenFlatDb(DbKind kind, FlatStage* stage);

}  // namespace varve::testing
