// SPDX-License-Identifier: Apache-2.0
#pragma once

// The named positions of change streams while a database is open: which logs stay for them, and
// when one has to lose its logs.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/lock_ranks.h"
#include "db/version/change_position.h"
#include "db/wal/log_set.h"
#include "util/sync/mutex.h"

namespace varve {

// A position here may be ahead of the MANIFEST's, never behind it, and logs stay for the
// MANIFEST's: whatever a crash goes back to can be read on from.
//
// Thread safety: any thread.
class ChangePositions {
 public:
  ChangePositions() = default;
  ChangePositions(const ChangePositions&) = delete;
  ChangePositions& operator=(const ChangePositions&) = delete;

  // By an opening: what the MANIFEST has. Logs are held from here on.
  void Recover(const std::vector<ChangePosition>& positions, LogSet* logs, uint64_t now);

  // For one stream at a time. Busy: another one has it. NotFound: there is none.
  Status Claim(const std::string& name, ChangePosition* position);
  void GiveBack(const std::string& name) noexcept;
  // A new one, claimed; all logs are held for it until SetStored. InvalidArgument: there is one.
  Status Add(const ChangePosition& position, LogSet* logs, uint64_t now);
  // Claimed ones are Busy.
  Status Remove(const std::string& name);

  // Sets what is acknowledged; logs stay as they are.
  void Move(const std::string& name, SequenceNumber next, uint64_t log, uint64_t now);
  // As it is now. False: it is not there any more.
  bool Get(const std::string& name, ChangePosition* position) const;
  // The MANIFEST has it so: older logs are not held for it.
  void SetStored(const ChangePosition& position);

  // Those that keep more than they may of logs below `needed`, or have been idle for too long and
  // keep any, expire, and hold no logs any more. `newest`: the last sequence number that may be in
  // those logs. Returns whether any did.
  bool Expire(uint64_t needed, const std::vector<LogSet::LogInfo>& logs, SequenceNumber newest,
              uint64_t now);
  // Those that expired and that the MANIFEST does not know of. Handed out once.
  std::vector<ChangePosition> TakeExpired();
  bool empty() const;
  // For how long one may be idle, at least; 0: for ever.
  uint64_t shortest_bound_seconds() const;

 private:
  struct Entry {
    ChangePosition position;
    LogHold hold;
    uint64_t moved_at = 0;  // seconds
    bool claimed = false;
    bool told = false;  // that it has expired
  };

  mutable Mutex mu_{lock_ranks::kChangePositions};
  std::map<std::string, Entry> entries_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
