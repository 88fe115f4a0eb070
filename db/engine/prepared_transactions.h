// SPDX-License-Identifier: Apache-2.0
#pragma once

// PreparedTransactions is the registry of an open database's prepared transactions (two-phase
// commit): it keeps their updates until they are decided, and knows the logs that must stay for
// them.

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

// A prepared transaction in the registry: its updates, and what decides which logs must stay for
// it. It exists without a Transaction object, for example after a crash.
struct PreparedTransaction {
  // The members up to since_micros are constant once the object is made.
  std::string name;
  WriteBatch updates;              // without the markers of two-phase commit
  std::vector<uint32_t> families;  // families of the updates, ascending
  uint64_t since_micros = 0;       // time when it was prepared, or found by an opening

  // The members below belong to the registry, and are guarded by its mutex.
  enum class State : uint8_t { kPlanned, kUndecided, kCommitted, kRolledBack };
  State state = State::kPlanned;
  bool claimed = true;        // a Transaction object has it
  uint64_t log = 0;           // log with its record
  uint64_t decision_log = 0;  // log with the decision
  bool durable = false;       // the decision is durable
  // The transaction's place in the registry's list.
  std::list<PreparedTransaction>::iterator self;
};

// Returns a name as messages show it: hex, after 0x, unless it is printable.
std::string ShownName(const std::string& name);

// Describes the step of two-phase commit that a write makes at the point of its insertion.
struct TwoPhaseStep {
  enum class Kind : uint8_t { kPrepare, kCommit, kRollback };
  Kind kind = Kind::kPrepare;
  PreparedTransaction* prepared = nullptr;
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
class PreparedTransactions final : public LogHolder {
 public:
  // Maps a family's id to its log: data of earlier logs is in tables.
  using FamilyLogs = LogHolder::FamilyLogs;

  PreparedTransactions() = default;
  PreparedTransactions(const PreparedTransactions&) = delete;
  PreparedTransactions& operator=(const PreparedTransactions&) = delete;

  // Registers a transaction before its prepare record is logged. Returns InvalidArgument if one of
  // that name is undecided.
  Status Plan(const std::string& name, const WriteBatch& updates, uint64_t now_micros,
              PreparedTransaction** txn);
  // Removes a transaction whose prepare record could not be logged.
  void Forget(PreparedTransaction* txn) noexcept;
  // Change the state to undecided, and to committed or rolled back. Called by the write of the
  // record while it is in the commit path, so that no log is switched meanwhile. `log` has the
  // record. These do not fail.
  void NotePrepared(PreparedTransaction* txn, uint64_t log) noexcept;
  void NoteDecided(const TwoPhaseStep& step, uint64_t log) noexcept;

  // Adds a transaction that an opening has found prepared and undecided. Nobody has claimed it.
  void AddRecovered(const std::string& name, WriteBatch updates, uint64_t log, uint64_t now_micros);
  // Returns the undecided transactions that no Transaction object has, and marks them as claimed:
  // the caller makes an object for each, or abandons it.
  std::vector<PreparedTransaction*> Claim();
  // Gives up a claim, such as when the Transaction object is destroyed. The prepared transaction
  // stays undecided.
  void Abandon(PreparedTransaction* txn) noexcept;

  // Returns true if a transaction of this name is undecided, or about to be prepared.
  bool Has(const std::string& name) const;
  // Returns the number of the log with its prepare record; 0 before NotePrepared.
  uint64_t LogOf(const PreparedTransaction* txn) const;
  // Returns true if there is any for which a log stays, or that is about to be prepared.
  bool InUse() const;

  // Notes that logs below `log` are durable.
  void NoteDurable(uint64_t log) noexcept;
  // Forgets decided transactions for which no log stays any more, given the families' logs.
  void Prune(const FamilyLogs& families) noexcept;
  uint64_t OldestLogHeld(const FamilyLogs& families) const override;

  // Returns prepare records of all undecided transactions for the beginning of a new log, so that
  // earlier logs are not needed. `next` is the sequence number of the next write.
  std::vector<std::string> MakeRecordsAgain(SequenceNumber next) const;
  // Notes that these records are durable in that log, and that all families are about to leave
  // earlier logs in one step: then decisions in earlier logs are over, durable or not.
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
  // Returns true if the log of the transaction must stay, given the families' logs.
  static bool HoldsLog(const PreparedTransaction& txn, const FamilyLogs& families);
  // Drops a decided transaction if another one keeps the same logs.
  void DropIfAlike(PreparedTransaction* txn) noexcept VARVE_REQUIRES(mu_);

  mutable Mutex mu_{lock_ranks::kPreparedTransactions};
  // Decided transactions are at the end, in the order of their decisions.
  std::list<PreparedTransaction> transactions_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
