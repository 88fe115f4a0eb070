// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogHolder: what needs logs beside memtables.

#include <cstdint>
#include <map>

namespace varve {

// Thread safety: any thread, also under the DB mutex.
class LogHolder {
 public:
  // By family id: the log from which on there are updates that are not in tables.
  using FamilyLogs = std::map<uint32_t, uint64_t>;

  virtual ~LogHolder() = default;
  // The oldest log that has to stay once families are there; UINT64_MAX: none has.
  virtual uint64_t OldestLogHeld(const FamilyLogs& families) const = 0;
};

}  // namespace varve
