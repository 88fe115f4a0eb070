// SPDX-License-Identifier: Apache-2.0
#pragma once

// Manages the named positions of change streams while a database is open: which logs stay for them,
// and when one has to lose its logs. A change stream gives a program the writes of the logs in
// their order; its position, stored in the MANIFEST under a name, is where it goes on after the
// program or the database was restarted.

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

// A position here may be ahead of the one that the MANIFEST has under its name, and never behind
// it. Logs stay from the MANIFEST's on, so a stream can continue from whatever state a crash
// restores. An expired position has lost its logs: its stream cannot go on.
//
// Thread safety: any thread. `now` is in seconds since 1970; 0: unknown, so nothing expires by
// time. The LogSet must outlive this object.
class ChangePositions {
 public:
  ChangePositions() = default;
  ChangePositions(const ChangePositions&) = delete;
  ChangePositions& operator=(const ChangePositions&) = delete;

  // Called by an opening with the positions of the MANIFEST. From here on the logs that they need
  // stay in the log set (LogHold).
  void Recover(const std::vector<ChangePosition>& positions, LogSet* logs, uint64_t now);

  // Claims a position for one stream, and sets *position to it; an expired one can be claimed, too.
  // Busy: another stream has it. NotFound: it does not exist.
  Status Claim(const std::string& name, ChangePosition* position);
  // Ends the caller's claim, if the position still exists.
  void GiveBack(const std::string& name) noexcept;
  // Adds a new position, claimed; all logs stay for it until SetStored. Busy: there is one of this
  // name, which another thread has just added. InvalidArgument: there are kChangePositionsMax
  // already.
  Status Add(const ChangePosition& position, LogSet* logs, uint64_t now);
  // Removes a position that the caller has claimed.
  void Remove(const std::string& name) noexcept;

  // Sets the acknowledged position. Requires that neither `next` nor `log` is smaller than before.
  // Releases no logs (SetStored does). Does nothing if the position has expired or is gone.
  void Move(const std::string& name, SequenceNumber next, uint64_t log, uint64_t now);
  // Sets *position to its current value. Returns false, and leaves *position, if there is none of
  // this name any more.
  bool Get(const std::string& name, ChangePosition* position) const;
  // Notes that the MANIFEST has this position: logs before position.log need not stay for it.
  void SetStored(const ChangePosition& position);

  // Expires positions that cost too much. A position costs the bytes of `logs` from position.log on
  // and below `needed`, the oldest log that the database needs itself. The position expires if that
  // is more than its max_bytes, or if it is more than 0 and the position was not moved for more
  // than its max_seconds. No log stays for an expired position. `newest`, the last sequence number
  // that may be in `logs`, becomes its last_lost. Returns true if any position expired.
  bool Expire(uint64_t needed, const std::vector<LogSet::LogInfo>& logs, SequenceNumber newest,
              uint64_t now);
  // Returns the expired positions that the MANIFEST does not know yet. Returns each once.
  std::vector<ChangePosition> TakeExpired();
  bool empty() const;
  // Returns the shortest time that a position may be idle; 0: unlimited.
  uint64_t shortest_bound_seconds() const;

 private:
  struct Entry {
    ChangePosition position;
    LogHold hold;
    uint64_t moved_at = 0;  // seconds
    bool claimed = false;   // a stream uses it
    bool told = false;      // TakeExpired has returned it
  };

  mutable Mutex mu_{lock_ranks::kChangePositions};
  std::map<std::string, Entry> entries_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
