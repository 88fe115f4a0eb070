// SPDX-License-Identifier: Apache-2.0
#pragma once

// TwoPhaseReplay replays two-phase commit from logs: the updates of a prepared transaction are
// applied at its commit.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/column_family/memtable_resolver.h"
#include "db/engine/recovery_report.h"
#include "db/write/two_phase_records.h"

namespace varve {

// Sets *has_marks to true if the log has marks of two-phase commit. Skips damage.
Status HasTwoPhaseMarks(FileSystem* fs, const FileOptions& options, const std::string& path,
                        uint64_t number, bool* has_marks);

// The updates of a prepared transaction are applied at its commit, so the commit's log determines
// which families already have them in tables. A decision about an unknown name is ignored: the log
// with the transaction was deleted when all of its data was in tables.
//
// Transactions of RocksDB's WRITE_PREPARED differ: RocksDB has inserted their updates into
// memtables at their Prepare, and perhaps written them to tables. So they are applied at their
// Prepare; a rollback record has updates that undo them. A database with an undecided one cannot be
// opened.
//
// Thread safety: none. The report must outlive the object.
class TwoPhaseReplay {
 public:
  explicit TwoPhaseReplay(RecoveryReport* report) : report_(*report) {}

  // Applies a record with marks of two-phase commit, of the log with this number. Requires that its
  // structure was checked, and that the resolver has the number of the log. Sets *next_sequence to
  // one past the last number used. If `unknown_commit` is not null and the record commits an
  // unknown transaction, sets it to the name and applies nothing.
  Status Apply(const Slice& record, uint64_t log, MemTableResolver* resolver,
               SequenceNumber* next_sequence, std::string* unknown_commit);

  // A transaction that is undecided after all logs.
  struct Prepared {
    uint64_t log = 0;
    WriteBatch updates;
  };
  std::map<std::string, Prepared>& undecided() { return undecided_; }
  // A committed transaction, which is stored only after KeepCommitted. A replay of its commit needs
  // the log with its updates, which must be kept until all families have the log of the commit in
  // tables (ForgetCommitted).
  struct Committed {
    uint64_t log = 0;                // Has the updates.
    uint64_t decision_log = 0;       // Has the commit.
    std::vector<uint32_t> families;  // In the order of their first updates.
    WriteBatch sample;               // One update of each family, in the same order.
  };
  // Must be called before Apply if committed() is used.
  void KeepCommitted() { keeps_committed_ = true; }
  const std::vector<Committed>& committed() const { return committed_; }
  // Must be called when all families have the logs below `before` in tables.
  void ForgetCommitted(uint64_t before);
  // Returns the number of the oldest log of undecided or stored committed transactions, or
  // UINT64_MAX.
  uint64_t OldestLog() const;
  // Returns NotSupported, with their names, if there are undecided WRITE_PREPARED transactions.
  Status CheckWritten() const;
  // Returns true if any record had marks of two-phase commit.
  bool met_any() const { return met_any_; }

 private:
  // Returns true if a part of the record decides a WRITE_PREPARED transaction, whose updates share
  // sequence numbers.
  bool DecidesWritten(const std::vector<TwoPhasePart>& parts) const;
  // Returns the name of a transaction that the record commits, but that neither it nor an earlier
  // record has prepared, or "".
  std::string FindUnknownCommit(const std::vector<TwoPhasePart>& parts) const;
  // Sets the timestamp of a commit in the keys of families whose timestamps have its size.
  static Status Stamp(const Slice& timestamp, MemTableResolver* resolver, WriteBatch* updates);
  // Adds the transaction to committed_.
  void NoteCommitted(const Prepared& prepared, uint64_t decision_log);
  // Inserts the updates with sequence numbers from *next_sequence on, and sets that to one past the
  // last.
  static Status Insert(const WriteBatch& updates, MemTableResolver* resolver,
                       SequenceNumber* next_sequence);

  RecoveryReport& report_;
  std::map<std::string, Prepared> undecided_;
  std::set<std::string> written_;  // Names of undecided WRITE_PREPARED ones.
  // Names of decided transactions. A copy of one in a later log is ignored.
  std::set<std::string> decided_;
  bool met_any_ = false;
  bool keeps_committed_ = false;
  std::vector<Committed> committed_;
};

}  // namespace varve
