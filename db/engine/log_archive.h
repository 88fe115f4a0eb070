// SPDX-License-Identifier: Apache-2.0
#pragma once

// Manages the archive of a database: obsolete logs, in a directory below that of its logs, for
// programs that read what was written (WAL_ttl_seconds, WAL_size_limit_MB). The database itself
// never replays an archived log.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/wal/log_set.h"

namespace varve {

// Thread safety: every method may be called from any thread.
class LogArchive {
 public:
  // `context` is borrowed and must outlive the archive.
  explicit LogArchive(const DbContext& context) : context_(context) {}

  // True if obsolete logs are to be archived.
  bool wanted() const {
    return context_.options().WAL_ttl_seconds != 0 || context_.options().WAL_size_limit_MB != 0;
  }
  // Sets *numbers to those of the archived logs, ascending; to none if there is no archive.
  Status List(std::vector<uint64_t>* numbers) const;
  // Returns the path that the log has, or would have, in the archive.
  std::string PathOf(uint64_t number) const;
  // Moves an obsolete log, to which no thread writes, into the archive. Returns false if it stays.
  bool Take(uint64_t number) const;
  // Deletes archived logs that are empty, too old, or beyond the size limit; none from
  // `oldest_held` on, the oldest log that a LogHold keeps (LogSet::oldest_held). Best effort.
  void Purge(uint64_t oldest_held) const;
  // Returns how often Purge should be called.
  uint64_t purge_period_micros() const;

 private:
  struct Archived {
    uint64_t number = 0;
    uint64_t bytes = 0;
    uint64_t modified = 0;  // seconds
  };
  // Lists the archived logs with their sizes and times, ascending by number.
  std::vector<Archived> Describe() const;
  // True if WAL_ttl_seconds have passed since the log was last written.
  bool IsTooOld(const Archived& log, uint64_t now) const;

  const DbContext& context_;
};

}  // namespace varve
