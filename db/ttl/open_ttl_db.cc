// SPDX-License-Identifier: Apache-2.0

// Opens a database with lifetimes.
//
//       wrap options -> OpenIdle (recovery, no jobs) -> clock and families -> StartWork -> results
//
// The order matters to compactions: a filter that judges stamps asks the state for the clock, the
// families and the database, so no job may begin before all three are there. A filter that a
// recovery calls finds no database yet, and drops nothing.

#include <memory>
#include <utility>

#include "varve/env.h"
#include "varve/system_clock.h"

#include "db/transaction/transaction_host.h"
#include "db/ttl/ttl_db.h"
#include "db/ttl/ttl_host.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// The results of the opening beneath, until they are handed over.
struct Opened {
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;

  // Destroys the handles before the database, which is the first member.
  ~Opened() {
    for (ColumnFamilyHandle* handle : handles) delete handle;
  }
};

// Fills in, for each family, its lifetime and a descriptor whose filter and merge operator are
// wrapped in those that know stamps.
Status MakeFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                    const std::vector<int32_t>& ttls, const std::shared_ptr<TtlState>& state,
                    std::vector<ColumnFamilyDescriptor>* wrapped,
                    std::vector<std::shared_ptr<TtlFamily>>* families) {
  if (ttls.size() != column_families.size()) {
    return Status::InvalidArgument("DBWithTTL::Open",
                                   std::to_string(ttls.size()) + " lifetimes for " +
                                       std::to_string(column_families.size()) +
                                       " column families: one of each is needed");
  }
  for (size_t i = 0; i < ttls.size(); ++i) {
    const ColumnFamilyDescriptor& family = column_families[i];
    VARVE_RETURN_IF_ERROR(CheckTtlFamily(family));
    families->push_back(std::make_shared<TtlFamily>(family.name, ttls[i]));
    wrapped->emplace_back(family.name, WithTtl(family.options, state, families->back()));
  }
  return Status::OK();
}

}  // namespace

Status DBWithTTL::Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                       int32_t ttl, bool read_only) try {
  std::vector<ColumnFamilyHandle*> handles;
  Status s = Open(DBOptions(options), dbname,
                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))},
                  &handles, dbptr, {ttl}, read_only);
  for (ColumnFamilyHandle* handle : handles) delete handle;  // The database has one of its own.
  return s;
} catch (...) {
  return CaughtException();
}

// Follows the drawing above. Until `made` owns it, `opened` closes the database after a failure;
// afterwards `made` does, and nothing is handed out before work has started.
Status DBWithTTL::Open(const DBOptions& db_options, const std::string& dbname,
                       const std::vector<ColumnFamilyDescriptor>& column_families,
                       std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                       const std::vector<int32_t>& ttls, bool read_only) try {
  if (handles == nullptr || dbptr == nullptr) {
    return Status::InvalidArgument("DBWithTTL::Open: a pointer is null");
  }
  *dbptr = nullptr;
  Env* const env = db_options.env == nullptr ? Env::Default() : db_options.env;
  const auto state = std::make_shared<TtlState>(env->GetSystemClock());
  std::vector<ColumnFamilyDescriptor> wrapped;
  std::vector<std::shared_ptr<TtlFamily>> families;
  VARVE_RETURN_IF_ERROR(MakeFamilies(column_families, ttls, state, &wrapped, &families));
  DBOptions used = db_options;
  // A compaction may leave a deletion in place of an expired value. A SingleDelete that meets that
  // deletion is no error of the program.
  used.enforce_single_del_contracts = false;
  Opened opened;
  if (read_only) {
    VARVE_RETURN_IF_ERROR(DB::OpenForReadOnly(used, dbname, wrapped, &opened.handles, &opened.db));
  } else {
    VARVE_RETURN_IF_ERROR(OpenIdle(used, dbname, wrapped, &opened.handles, &opened.db));
  }
  DB* const db = opened.db.get();
  auto* const ttl_host = dynamic_cast<TtlHost*>(db);
  auto* const host = dynamic_cast<TransactionHost*>(db);
  if (ttl_host == nullptr || host == nullptr) {
    return Status::InvalidArgument("DBWithTTL::Open: no database");
  }
  for (size_t i = 0; i < families.size(); ++i) {
    state->AddFamily(opened.handles[i]->GetID(), families[i]);
  }
  state->Start(db, ttl_host, read_only);
  // From here on `made` owns the database.
  auto made = std::make_unique<TtlDb>(db, state);
  (void)opened.db.release();
  if (!read_only) VARVE_RETURN_IF_ERROR(Guarded([host] { host->StartWork(); }));
  *handles = std::exchange(opened.handles, {});
  *dbptr = made.release();
  return Status::OK();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
