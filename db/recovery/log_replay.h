// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replays the logs' batches into memtables, under the rules of the recovery mode.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/recovery_report.h"
#include "db/flush/flush_job.h"
#include "db/recovery/record_filter.h"
#include "db/recovery/record_pipeline.h"
#include "db/recovery/section_replay.h"
#include "db/version/version_edit.h"
#include "db/wal/log_reader.h"
#include "db/write/batch_inserter.h"
#include "db/write/predecessor_log.h"

namespace varve {

// Used once, by an opening, while nothing else uses the database. Thread safety: none. The parts
// must outlive it. After an error the memtables and edits() have a part of the logs, and the
// opening gives them up.
class LogReplay {
 public:
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    RecoveryReport& report;
  };
  // `synced`: what was known to be durable before the logs were read. With `repairs`, errors that
  // would be refused end the replay as damage does, or are tolerated.
  LogReplay(const Parts& parts, const wal::SyncedMark& synced, bool repairs = false)
      : context_(parts.context),
        dynamic_(parts.dynamic),
        state_(parts.state),
        report_(parts.report),
        synced_(synced),
        repairs_(repairs),
        sections_(&parts.report),
        filter_(repairs ? nullptr : parts.context.options().wal_filter) {}

  // Replays the logs with these numbers (ascending). Memtables that fill up are written to L0
  // meanwhile (not when the database is read-only) and their edits are collected. Fills in the
  // report. `min_log` is the oldest log that the MANIFEST needs. Neither its absence nor sequence
  // numbers missing before the first record prove a loss: MANIFESTs of RocksDB name logs that were
  // never written, and unlogged writes use numbers too. A predecessor record proves a loss, and so
  // does a table that the MANIFEST does not know (stale_manifest.h).
  Status Run(const std::vector<uint64_t>& log_numbers, uint64_t min_log);
  // Replaces Run: reads none of the logs, counts them as damaged, and reports them.
  void LeaveOut(const std::vector<uint64_t>& log_numbers);
  // Writes the remaining memtables to L0.
  Status FlushRest();

  const std::map<uint32_t, VersionEdit>& edits() const { return edits_; }
  SequenceNumber max_sequence() const { return max_sequence_; }
  // Returns the sequence number of the first record replayed; kMaxSequenceNumber if there was none.
  SequenceNumber first_sequence() const { return first_sequence_; }
  bool wrote_tables() const { return wrote_tables_; }
  // Returns the end of the last record of a log that was replayed.
  uint64_t LogEnd(uint64_t number) const;
  // Returns the logs that were skipped, or in which damage other than a torn tail was found.
  const std::vector<uint64_t>& damaged_logs() const { return damaged_logs_; }
  bool stopped_early() const { return stopped_at_ != 0; }
  // Returns the undecided transactions of two-phase commit, once all logs are replayed.
  SectionReplay& sections() { return sections_; }
  [[nodiscard]] const SectionReplay& sections() const { return sections_; }
  bool met_sections() const { return sections_.met_any(); }
  // Adds a name to the report.
  void NotePrepared(const std::string& name) { report_.prepared_transactions.push_back(name); }
  // True if a replayed log is stamped (db/engine/new_logs.h).
  bool met_stamped_log() const { return met_stamped_log_; }
  // True if a replayed log holds a batch besides its predecessor record.
  bool HasBatches(uint64_t number) const { return !empty_logs_.contains(number); }
  // Returns ranges [first, end) of log numbers in which a log is missing that the MANIFEST or
  // another log names. They contain no log that was replayed whole, and none from `end` on.
  std::vector<std::pair<uint64_t, uint64_t>> UnreadLogs(uint64_t end) const;

 private:
  // Replays the logs in order, up to the first error.
  Status ReplayAll(const std::vector<uint64_t>& log_numbers);
  // Requires that point-in-time recovery has stopped. Returns an error if a family has tables of a
  // later moment.
  Status CheckOneMoment() const;
  // Replays one log, up to its end or to where the replay must stop.
  Status ReplayOne(uint64_t number, const std::string& path);
  // True if memtables may still exist when the database is open.
  [[nodiscard]] bool KeepsMemTables() const;
  // True if the log after the one at which replay stopped begins with the next expected sequence.
  bool GoesOn(const Slice& first_record) const;
  // Handles the first record of a log, which tells where the previous log ends: if not all of it
  // was read, its end was lost, and updates that precede this log may be missing. `next` is the
  // sequence number with which this log begins.
  Status JudgePredecessor(const PredecessorLog& predecessor, SequenceNumber next);
  // Applies a record. Sets *stop_reason if the replay must stop before it instead, because of
  // damage that was met before.
  Status ApplyRecord(const RecordPipeline::Record& record, uint64_t number, const std::string& path,
                     MemTableResolver* resolver, BatchInserter* inserter, std::string* stop_reason);
  // Applies a record as the program's filter decides. *stop_reason: as for ApplyRecord, and if the
  // filter calls the record damaged.
  Status ApplyFiltered(const RecordPipeline::Record& record, uint64_t number,
                       const std::string& path, MemTableResolver* resolver, BatchInserter* inserter,
                       std::string* stop_reason);
  // Decides by the recovery mode about a record that the filter calls damaged.
  Status JudgeFiltered(const RecordPipeline::Record& record, uint64_t number,
                       const std::string& path, std::string* stop_reason);
  // Counts the sequence numbers of a record as used, though it is not applied.
  void NoteNumbers(const Slice& record);
  // *unknown_commit: as for SectionReplay, if damage was met before.
  Status Insert(const RecordPipeline::Record& record, uint64_t number, MemTableResolver* resolver,
                BatchInserter* inserter, SequenceNumber* next_sequence,
                std::string* unknown_commit);
  // Decides by the recovery mode about damage that a reader met: continue, stop here, or refuse.
  Status JudgeDamage(uint64_t number, const std::string& path, const wal::LogReader& reader);
  // `offset` is that of the first record after the hole, `end` that of the last.
  Status JudgeHole(uint64_t number, const std::string& path, uint64_t offset, uint64_t end);
  // Checks the end of a log in which no damage was met.
  Status JudgeEnd(uint64_t number, const std::string& path, const wal::LogReader& reader);
  // Decides about logs that should exist but do not.
  Status JudgeMissing(const std::vector<uint64_t>& log_numbers);
  // Returns how many bytes behind `end`, which are missing in the log, were durable.
  uint64_t SyncedAfter(uint64_t number, uint64_t end) const;
  // Decides about a loss, of which `synced` bytes were durable: stop here, or refuse.
  Status StopOrRefuse(uint64_t number, const std::string& path, uint64_t end,
                      const std::string& reason, uint64_t synced);
  // Adds the sequence numbers that were not replayed to the report.
  void FindLostSequences(const std::vector<uint64_t>& log_numbers);
  SequenceNumber NextExpected() const;
  // Stops before a whole record that must not be applied, for `reason`: the record and all after it
  // in the log count as damaged. Reads the rest of the log, as its errors come from there.
  Status StopAtRecord(uint64_t number, const std::string& path, const std::string& reason,
                      const RecordPipeline::Record& record, RecordPipeline* records);
  // Adds damage to the report and to the LOG.
  void NoteDamage(uint64_t number, const std::string& path, uint64_t offset,
                  const std::string& reason, uint64_t dropped_bytes);
  // Writes the full memtables to L0. A failure leaves tables that no MANIFEST names, and ends the
  // opening.
  Status FlushFull();
  // Writes the family's memtable to L0, and adds the table to the family's edit.
  Status FlushFamily(ColumnFamily* family);
  // Removes the memtable from the family.
  FlushInput FreezeForFlush(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  RecoveryReport& report_;
  const wal::SyncedMark synced_;
  const bool repairs_;
  SectionReplay sections_;
  RecordFilter filter_;
  uint64_t min_log_ = 0;
  uint64_t min_family_log_ = 0;  // Earlier logs are needed for prepared transactions only.
  std::map<uint32_t, VersionEdit> edits_;
  std::map<uint64_t, uint64_t> log_ends_;  // Ends of logs by number.
  std::vector<uint64_t> damaged_logs_;
  std::set<uint64_t> empty_logs_;
  SequenceNumber max_sequence_ = 0;
  SequenceNumber first_sequence_ = kMaxSequenceNumber;
  bool wrote_tables_ = false;
  bool met_stamped_log_ = false;
  std::set<uint64_t> missed_logs_;
  SequenceNumber lost_last_ = 0;  // The last that a predecessor record has named.
  uint64_t stopped_at_ = 0;       // Log after which point-in-time recovery stopped; 0: none.
  // True if a predecessor record has shown that the end of the last log read, or of an earlier one,
  // is missing. The loss may have used no sequence number: a decision, or the prepare of a
  // transaction.
  bool end_missing_ = false;
  // The sequence number that would prove that nothing is missing.
  SequenceNumber expected_next_ = 0;
};

}  // namespace varve
