// SPDX-License-Identifier: Apache-2.0
#pragma once

// PreparedSections: keeps the updates of prepared transactions until they are decided, and the logs
// that must stay for them.

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/lock_ranks.h"
#include "db/version/log_holder.h"
#include "util/sync/mutex.h"

namespace varve {

// A prepared transaction in the registry: its updates, and which logs must stay for it.
struct PreparedSection {
  // The members up to since_micros are constant once the object is made.
  std::string name;
  WriteBatch updates;              // has no marks
  std::vector<uint32_t> families;  // families of the updates, ascending
  uint64_t since_micros = 0;       // time when it was prepared, or found by an opening

  // The members below belong to the registry, and are guarded by its mutex.
  enum class State : uint8_t { kPlanned, kUndecided, kCommitted, kRolledBack };
  State state = State::kPlanned;
  bool claimed = true;        // a transaction has it
  uint64_t log = 0;           // log with its record
  uint64_t decision_log = 0;  // log with the decision
  bool durable = false;       // the decision is durable
  std::list<PreparedSection>::iterator self;
};

// Returns a name as messages show it: hex, after 0x, unless it is printable.
std::string ShownName(const std::string& name);

// Describes the step of two-phase commit that a write makes at the point of its insertion.
struct SectionStep {
  enum class Kind : uint8_t { kPrepare, kCommit, kRollback };
  Kind kind = Kind::kPrepare;
  PreparedSection* section = nullptr;
  const WriteBatch* commit_time = nullptr;  // set for kCommit: updates before the prepared ones
  const WriteBatch* updates = nullptr;      // set for kCommit: prepared, with timestamps
  bool synced = false;                      // the record is durable when it is applied
};

// A prepared transaction is registered before its record is logged. Its log stays until it is
// decided and the decision is durable: otherwise a power loss would bring back a decided one. If it
// was committed, the log then stays as long as any family does not have all of the commit's log in
// tables.
//
// Thread safety: any thread. Pointers to prepared transactions are valid until these are forgotten
// or decided.
class PreparedSections final : public LogHolder {
 public:
  // Maps a family's id to its log: data of earlier logs is in tables.
  using FamilyLogs = LogHolder::FamilyLogs;

  PreparedSections() = default;
  PreparedSections(const PreparedSections&) = delete;
  PreparedSections& operator=(const PreparedSections&) = delete;

  // Registers a prepared transaction before its record is logged. Returns InvalidArgument if one of
  // that name is undecided.
  Status Plan(const std::string& name, const WriteBatch& updates, uint64_t now_micros,
              PreparedSection** section);
  // Removes a prepared transaction whose record could not be logged.
  void Forget(PreparedSection* section) noexcept;
  // Called by the write of the record, before its slot completes: no log is switched meanwhile.
  // These do not fail.
  void NotePrepared(PreparedSection* section, uint64_t log) noexcept;
  void NoteDecided(const SectionStep& step, uint64_t log) noexcept;

  // Called by an opening.
  void AddRecovered(const std::string& name, WriteBatch updates, uint64_t log, uint64_t now_micros);
  // Returns the undecided ones that no Transaction object has, and marks them as claimed: the
  // caller makes an object for each, or abandons it.
  std::vector<PreparedSection*> Claim();
  // Called when its Transaction object is destroyed; it stays undecided.
  void Abandon(PreparedSection* section) noexcept;

  bool Has(const std::string& name) const;  // undecided, or about to be
  // Returns the log with its record; 0 before NotePrepared.
  uint64_t LogOf(const PreparedSection* section) const;
  // True if any is undecided, or its log stays.
  bool InUse() const;

  // Notes that logs below `log` are durable.
  void NoteDurable(uint64_t log) noexcept;
  // Forgets those for which no log stays any more, given the families' logs.
  void Prune(const FamilyLogs& families) noexcept;
  uint64_t OldestLogHeld(const FamilyLogs& families) const override;

  // Returns records of all undecided ones for the beginning of a new log, so that earlier logs are
  // not needed.
  std::vector<std::string> MakeRecordsAgain(SequenceNumber next) const;
  // Notes that these are durable in that log, and that all families are about to leave earlier logs
  // in one step: then decisions in earlier logs are over, durable or not.
  void MovedTo(uint64_t log) noexcept;

  // Describes an undecided transaction, for properties and the report of an opening.
  struct Info {
    std::string name;
    uint64_t since_micros = 0;
    uint64_t log = 0;
    size_t bytes = 0;  // bytes of updates
    bool claimed = true;
  };
  std::vector<Info> Undecided() const;

 private:
  // True if the log of the prepared or decided one must stay, given the families' logs.
  static bool HoldsLog(const PreparedSection& section, const FamilyLogs& families);
  // Drops a decided one if another one keeps the same logs.
  void DropIfAlike(PreparedSection* section) noexcept VARVE_REQUIRES(mu_);

  mutable Mutex mu_{lock_ranks::kPreparedSections};
  std::list<PreparedSection> sections_ VARVE_GUARDED_BY(mu_);  // decided ones at the end, in order
};

}  // namespace varve
