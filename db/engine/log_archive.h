// SPDX-License-Identifier: Apache-2.0
#pragma once

// The archive of a database: obsolete logs, in a directory below that of its logs, for programs
// that read what was written (WAL_ttl_seconds, WAL_size_limit_MB). Nothing in it is needed by an
// opening.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/wal/log_set.h"

namespace varve {

// Thread safety: every method from any thread.
class LogArchive {
 public:
  // Borrowed; they live longer. The logs are set before anything is archived.
  explicit LogArchive(const DbContext& context) : context_(context) {}

  // Obsolete logs are to be archived.
  bool wanted() const {
    return context_.options().WAL_ttl_seconds != 0 || context_.options().WAL_size_limit_MB != 0;
  }
  // Numbers of those that are there, ascending.
  Status List(std::vector<uint64_t>* numbers) const;
  std::string PathOf(uint64_t number) const;
  // Moves an obsolete log, which nobody writes, there. False: it stays where it is.
  bool Take(uint64_t number) const;
  // Deletes those that are too old, or too many; not from `oldest_held` on.
  void Purge(uint64_t oldest_held) const;
  // How often that is worth while.
  uint64_t purge_period_micros() const;

 private:
  struct Archived {
    uint64_t number = 0;
    uint64_t bytes = 0;
    uint64_t modified = 0;  // seconds
  };
  std::vector<Archived> Describe() const;
  bool IsTooOld(const Archived& log, uint64_t now) const;

  const DbContext& context_;
};

}  // namespace varve
