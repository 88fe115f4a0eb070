// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shows a database as it was when a sequence number was its newest, as far as it still has the
// entries of that time.

#include <string>

#include "varve/db.h"
#include "varve/snapshot.h"

namespace varve::tool {

// Holds a snapshot of an earlier sequence number. Not thread-safe. The database outlives it.
class PastState {
 public:
  PastState() = default;
  ~PastState();
  PastState(const PastState&) = delete;
  PastState& operator=(const PastState&) = delete;

  // Takes the snapshot and puts it into the options. Notes on the standard error what is in doubt:
  // tables of the family hold newer entries, which may have taken the place of older ones, or
  // entries whose age is not known, or a deletion may be gone. InvalidArgument for a number that
  // the database has not reached.
  Status Take(DB* db, const std::string& family, uint64_t sequence, ReadOptions* options);

 private:
  DB* db_ = nullptr;
  const Snapshot* snapshot_ = nullptr;
};

}  // namespace varve::tool
