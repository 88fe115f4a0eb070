// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogHolder: an object that needs logs to stay for another reason than memtables, such as prepared
// transactions (PreparedTransactions).

#include <cstdint>
#include <map>

namespace varve {

// Thread safety: methods may be called from any thread, also under the DB mutex.
class LogHolder {
 public:
  // Maps a family's id to the first log that may have updates which are not in tables.
  using FamilyLogs = std::map<uint32_t, uint64_t>;

  virtual ~LogHolder() = default;
  // Returns the oldest log that must stay for this holder; UINT64_MAX if none must. `families` lets
  // the holder see which of its updates are in tables already; dropped families are not in it, and
  // need no log.
  virtual uint64_t OldestLogHeld(const FamilyLogs& families) const = 0;
};

}  // namespace varve
