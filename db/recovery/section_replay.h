// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replays two-phase commit from logs: updates of prepared transactions are applied where they were
// committed.

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
#include "db/write/section_records.h"

namespace varve {

// Sets *has_sections to true if the log has marks of two-phase commit. Skips damage.
Status HasSections(FileSystem* fs, const FileOptions& options, const std::string& path,
                   uint64_t number, bool* has_sections);

// The updates of a prepared transaction belong at the place of its commit, so the commit's log
// determines which families already have them in tables. A decision about an unknown name refers to
// a transaction whose log is gone: the log was released when all of its data was in tables.
//
// Transactions of RocksDB's WRITE_PREPARED differ: it has inserted their updates into memtables,
// and by now perhaps written them to tables, at the place of their Prepare. There they belong, too,
// once they are committed; a rollback includes updates that undo them. While one is undecided the
// database cannot be opened.
//
// Thread safety: none. The report must outlive the object.
class SectionReplay {
 public:
  explicit SectionReplay(RecoveryReport* report) : report_(*report) {}

  // Applies a record with marks of the log `log`; its structure must have been checked, and the
  // resolver must know the log. Sets *next_sequence to one past the last number used. If
  // `unknown_commit` is not null and the record commits an unknown transaction, sets it to the name
  // and applies nothing.
  Status Apply(const Slice& record, uint64_t log, MemTableResolver* resolver,
               SequenceNumber* next_sequence, std::string* unknown_commit);

  // A transaction that is undecided after all logs.
  struct Section {
    uint64_t log = 0;
    WriteBatch updates;
  };
  std::map<std::string, Section>& undecided() { return undecided_; }
  // A committed transaction, which is remembered only once KeepCommitted was called. Who replays
  // its commit needs the log with its updates too, so that log must stay until all families have
  // the log of the commit in tables (ForgetCommitted).
  struct Committed {
    uint64_t log = 0;                // Has the updates.
    uint64_t decision_log = 0;       // Has the commit.
    std::vector<uint32_t> families;  // In the order of their first updates.
    WriteBatch sample;               // One update of each family, in the same order.
  };
  // Must be called before Apply by a caller that asks for committed().
  void KeepCommitted() { keeps_committed_ = true; }
  const std::vector<Committed>& committed() const { return committed_; }
  // Must be called when all families have the logs below `before` in tables.
  void ForgetCommitted(uint64_t before);
  // Returns the oldest log of the transactions that are undecided or kept as committed, or
  // UINT64_MAX.
  uint64_t OldestLog() const;
  // Returns NotSupported, with their names, if there are undecided transactions that RocksDB has
  // inserted into memtables.
  Status CheckWritten() const;
  // True if any record had marks of two-phase commit.
  bool met_any() const { return met_any_; }

 private:
  // True if a part of the record decides a transaction that is in memtables: its updates share a
  // number.
  bool DecidesWritten(const std::vector<SectionPart>& parts) const;
  // Returns the name of a transaction that the record commits, but that neither it nor an earlier
  // record has prepared; an empty text if there is none.
  std::string FindUnknownCommit(const std::vector<SectionPart>& parts) const;
  // Sets the timestamp of a commit in the keys of families whose timestamps have its size.
  static Status Stamp(const Slice& timestamp, MemTableResolver* resolver, WriteBatch* updates);
  // Adds the transaction to committed_.
  void NoteCommitted(const Section& section, uint64_t decision_log);
  // Inserts the updates with the numbers from *next_sequence on, and moves that behind them.
  static Status Insert(const WriteBatch& updates, MemTableResolver* resolver,
                       SequenceNumber* next_sequence);

  RecoveryReport& report_;
  std::map<std::string, Section> undecided_;
  std::set<std::string> written_;  // Undecided ones that are in memtables.
  // Decided transactions that were met. They stay decided if they are logged again.
  std::set<std::string> decided_;
  bool met_any_ = false;
  bool keeps_committed_ = false;
  std::vector<Committed> committed_;
};

}  // namespace varve
