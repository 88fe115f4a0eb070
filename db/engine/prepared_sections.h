// SPDX-License-Identifier: Apache-2.0
#pragma once

// PreparedSections: the updates of transactions that are prepared, until they are decided, and the
// logs that must stay for them.

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

struct PreparedSection {
  // Constant once it is made.
  std::string name;
  WriteBatch updates;              // without marks
  std::vector<uint32_t> families;  // of the updates, ascending
  uint64_t since_micros = 0;       // when it was prepared, or found by an opening

  // The registry's, under its mutex.
  enum class State : uint8_t { kPlanned, kUndecided, kCommitted, kRolledBack };
  State state = State::kPlanned;
  bool claimed = true;        // a transaction has it
  uint64_t log = 0;           // that holds it
  uint64_t decision_log = 0;  // that holds what was decided
  bool durable = false;       // the decision is
  std::list<PreparedSection>::iterator self;
};

// A name as messages show it: hex, after 0x, unless it is printable.
std::string ShownName(const std::string& name);

// What a write of two-phase commit does where an ordinary one is inserted.
struct SectionStep {
  enum class Kind : uint8_t { kPrepare, kCommit, kRollback };
  Kind kind = Kind::kPrepare;
  PreparedSection* section = nullptr;
  const WriteBatch* commit_time = nullptr;  // of kCommit: updates before the section's
  const WriteBatch* updates = nullptr;      // of kCommit: the section's, with timestamps
  bool synced = false;                      // the record is durable when it is applied
};

// A section is here from before its record is logged. The log that has it stays, first, until it is
// decided and the decision is durable: else a power loss would bring back what was decided. Then,
// if it was committed, as long as any family has not all of the commit's log in tables.
//
// Thread safety: any thread. Pointers to sections are good until they are forgotten or decided.
class PreparedSections final : public LogHolder {
 public:
  // Logs of families, by their id: those below are in tables.
  using FamilyLogs = LogHolder::FamilyLogs;

  PreparedSections() = default;
  PreparedSections(const PreparedSections&) = delete;
  PreparedSections& operator=(const PreparedSections&) = delete;

  // Before the record is logged. InvalidArgument: a section of that name is undecided.
  Status Plan(const std::string& name, const WriteBatch& updates, uint64_t now_micros,
              PreparedSection** section);
  // Its record could not be logged.
  void Forget(PreparedSection* section) noexcept;
  // By the write of the record, before its slot completes: no log is left meanwhile. These do not
  // fail.
  void NotePrepared(PreparedSection* section, uint64_t log) noexcept;
  void NoteDecided(const SectionStep& step, uint64_t log) noexcept;

  // By an opening.
  void AddRecovered(const std::string& name, WriteBatch updates, uint64_t log, uint64_t now_micros);
  // Undecided ones that no transaction has; from now on they have one.
  std::vector<PreparedSection*> Claim();
  // The transaction is gone, and the section is as it was.
  void Abandon(PreparedSection* section) noexcept;

  bool Has(const std::string& name) const;  // undecided, or about to be
  uint64_t LogOf(const PreparedSection* section) const;
  // Whether any is undecided, or its log stays.
  bool InUse() const;

  // Logs below `log` are durable.
  void NoteDurable(uint64_t log) noexcept;
  // Forgets what no log stays for any more, when families have these logs.
  void Prune(const FamilyLogs& families) noexcept;
  uint64_t OldestLogHeld(const FamilyLogs& families) const override;

  // All undecided ones as a new log is to begin with them, so that no log before it is needed.
  std::vector<std::string> MakeRecordsAgain(SequenceNumber next) const;
  // They are durable in that log, and all families are about to leave the logs before it in one
  // step: then what was decided there is over, durable or not.
  void MovedTo(uint64_t log) noexcept;

  struct Info {
    std::string name;
    uint64_t since_micros = 0;
    uint64_t log = 0;
    size_t bytes = 0;  // of updates
    bool claimed = true;
  };
  std::vector<Info> Undecided() const;

 private:
  static bool HoldsLog(const PreparedSection& section, const FamilyLogs& families);
  // One decided section stands for all that are alike in what they hold.
  void DropIfAlike(PreparedSection* section) noexcept VARVE_REQUIRES(mu_);

  mutable Mutex mu_{lock_ranks::kPreparedSections};
  std::list<PreparedSection> sections_ VARVE_GUARDED_BY(mu_);  // decided ones at the end, in order
};

}  // namespace varve
