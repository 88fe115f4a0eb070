// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds a database that a run of the model test has open beside its own: a checkpoint, a restored
// backup, or a secondary of its database. Also compares any of them with the expected contents.

#include <map>
#include <memory>
#include <string>

#include "varve/db.h"

#include "tests/model/option_sets.h"
#include "tests/model/reference.h"

namespace varve::testing {

using Handles = std::map<std::string, ColumnFamilyHandle*>;

// Fails the test unless each family of `handles` that `state` has holds just that.
void ExpectHolds(DB* db, const Handles& handles, const ReferenceState& state);

// Closes by itself.
class MovedDatabase {
 public:
  MovedDatabase() = default;
  ~MovedDatabase() { Close(); }
  MovedDatabase(const MovedDatabase&) = delete;
  MovedDatabase& operator=(const MovedDatabase&) = delete;

  enum class As { kDatabase, kReadOnly, kSecondary };
  // Opens the families of `state`. A secondary has its LOG in "<path>-secondary".
  Status Open(const std::string& path, As as, const OptionSet& set, const ReferenceState& state);
  void Close();

  DB* db() const { return db_.get(); }
  const Handles& handles() const { return handles_; }

 private:
  std::unique_ptr<DB> db_;
  Handles handles_;
};

}  // namespace varve::testing
