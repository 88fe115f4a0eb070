// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogReplay replays the logs' batches into memtables, by the rules of the recovery mode.

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
#include "db/recovery/two_phase_replay.h"
#include "db/version/version_edit.h"
#include "db/wal/log_reader.h"
#include "db/write/batch_inserter.h"
#include "db/write/predecessor_log.h"

namespace varve {

// Used once, by an opening, while nothing else uses the database. Thread safety: none. The parts
// must outlive it. After an error the memtables and edits() have only a part of the logs, and must
// not be used.
class LogReplay {
 public:
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    RecoveryReport& report;
  };
  // `synced` is the synced mark, read before the logs. With `repairs`, errors that would make an
  // opening fail end the replay as damage does, or are tolerated.
  LogReplay(const Parts& parts, const wal::SyncedMark& synced, bool repairs = false)
      : context_(parts.context),
        dynamic_(parts.dynamic),
        state_(parts.state),
        report_(parts.report),
        synced_(synced),
        repairs_(repairs),
        two_phase_(&parts.report),
        filter_(repairs ? nullptr : parts.context.options().wal_filter) {}

  // Replays the logs with these numbers, which must ascend. Full memtables are written to L0,
  // unless the database is read-only, and their edits are collected. Fills in the report. `min_log`
  // is the oldest log that the MANIFEST needs. Neither its absence nor sequence numbers missing
  // before the first record prove a loss: MANIFESTs of RocksDB name logs that were never written,
  // and unlogged writes use numbers too. A predecessor record proves a loss, and so does a table
  // that the MANIFEST does not know (stale_manifest.h).
  Status Run(const std::vector<uint64_t>& log_numbers, uint64_t min_log);
  // Called instead of Run: does not replay the logs, but reports them as damaged.
  void LeaveOut(const std::vector<uint64_t>& log_numbers);
  // Writes the remaining memtables to L0.
  Status FlushRest();

  // Returns what the opening must write to the MANIFEST, by family id: the tables and blob files
  // that the replay has written.
  const std::map<uint32_t, VersionEdit>& edits() const { return edits_; }
  // Returns the largest sequence number that the MANIFEST or a replayed record has used.
  SequenceNumber max_sequence() const { return max_sequence_; }
  // Returns the sequence number of the first replayed record, or kMaxSequenceNumber.
  SequenceNumber first_sequence() const { return first_sequence_; }
  // Returns true if a memtable was flushed.
  bool wrote_tables() const { return wrote_tables_; }
  // Returns the offset of the end of the last record of a log; 0 if it was not read to its end.
  uint64_t LogEnd(uint64_t number) const;
  // Returns the logs that were left out, or that have damage other than a torn tail that was never
  // synced.
  const std::vector<uint64_t>& damaged_logs() const { return damaged_logs_; }
  // Returns true if the replay stopped at damage, and no later log has shown that nothing is
  // missing.
  bool stopped_early() const { return stopped_at_ != 0; }
  // Returns the replay of two-phase commit, which has the undecided transactions once all logs are
  // replayed.
  TwoPhaseReplay& two_phase() { return two_phase_; }
  [[nodiscard]] const TwoPhaseReplay& two_phase() const { return two_phase_; }
  // Returns true if any record had marks of two-phase commit.
  bool met_two_phase() const { return two_phase_.met_any(); }
  // Adds a name to the report.
  void NotePrepared(const std::string& name) { report_.prepared_transactions.push_back(name); }
  // Returns true if a replayed log is stamped: it states the sizes of families' timestamps
  // (db/engine/new_logs.h).
  bool met_stamped_log() const { return met_stamped_log_; }
  // Returns false if a log was read to its end and has no batch; a predecessor record is none.
  bool HasBatches(uint64_t number) const { return !empty_logs_.contains(number); }
  // Returns ranges [first, end) of log numbers in which a log is missing that the MANIFEST, the
  // synced mark or another log names. No log in them was completely replayed, and all are below
  // `end`.
  std::vector<std::pair<uint64_t, uint64_t>> UnreadLogs(uint64_t end) const;

 private:
  // Replays the logs in order, up to the first error.
  Status ReplayAll(const std::vector<uint64_t>& log_numbers);
  // Requires that point-in-time recovery has stopped early. Returns Corruption if a family has
  // tables with later data.
  Status CheckOneMoment() const;
  // Replays one log, up to its end or to the record at which the replay must stop.
  Status ReplayOne(uint64_t number, const std::string& path);
  // Returns true if replayed memtables may remain in the open database.
  [[nodiscard]] bool KeepsMemTables() const;
  // Returns true if a log begins with the next expected sequence number, so that nothing is missing
  // between the one at which the replay stopped and this one.
  bool GoesOn(const Slice& first_record) const;
  // Handles the predecessor record of a log, which has the length of the previous log: if less of
  // that was read, its end was lost, and updates before this log may be missing. `next` is the
  // sequence number with which this log begins.
  Status JudgePredecessor(const PredecessorLog& predecessor, SequenceNumber next);
  // Applies a record. Sets *stop_reason, and does not apply it, if the replay must stop before it
  // because of earlier damage.
  Status ApplyRecord(const RecordPipeline::Record& record, uint64_t number, const std::string& path,
                     MemTableResolver* resolver, BatchInserter* inserter, std::string* stop_reason);
  // Applies a record as the user's WalFilter decides. Sets *stop_reason like ApplyRecord, and if
  // the filter reports the record as corrupted.
  Status ApplyFiltered(const RecordPipeline::Record& record, uint64_t number,
                       const std::string& path, MemTableResolver* resolver, BatchInserter* inserter,
                       std::string* stop_reason);
  // Handles a record that the filter reports as corrupted, by the recovery mode.
  Status JudgeFiltered(const RecordPipeline::Record& record, uint64_t number,
                       const std::string& path, std::string* stop_reason);
  // Counts the sequence numbers of a record that is not applied as used.
  void NoteNumbers(const Slice& record);
  // Inserts the record's updates. Sets *unknown_commit like TwoPhaseReplay::Apply if there was
  // earlier damage.
  Status Insert(const RecordPipeline::Record& record, uint64_t number, MemTableResolver* resolver,
                BatchInserter* inserter, SequenceNumber* next_sequence,
                std::string* unknown_commit);
  // Handles damage that the reader has found, by the recovery mode: continues with the next log,
  // stops, or returns an error.
  Status JudgeDamage(uint64_t number, const std::string& path, const wal::LogReader& reader);
  // Handles a hole of zeros in a log. `offset` is that of the first record after the hole, and
  // `end` that of the end of the last one.
  Status JudgeHole(uint64_t number, const std::string& path, uint64_t offset, uint64_t end);
  // Checks the end of a log without damage.
  Status JudgeEnd(uint64_t number, const std::string& path, const wal::LogReader& reader);
  // Handles logs that should exist but do not.
  Status JudgeMissing(const std::vector<uint64_t>& log_numbers);
  // Returns how many bytes after `end`, up to which the log could be read, were durable.
  uint64_t SyncedAfter(uint64_t number, uint64_t end) const;
  // Handles a loss of which `synced` bytes were durable: stops, or returns an error.
  Status StopOrRefuse(uint64_t number, const std::string& path, uint64_t end,
                      const std::string& reason, uint64_t synced);
  // Adds the sequence numbers that were not replayed to the report.
  void FindLostSequences(const std::vector<uint64_t>& log_numbers);
  // Returns the sequence number after the last one that was replayed.
  SequenceNumber NextExpected() const;
  // Stops before a complete record that must not be applied, for `reason`, and reports this record
  // as damage. Reads the rest of the log, whose only error is that of `records`.
  Status StopAtRecord(uint64_t number, const std::string& path, const std::string& reason,
                      const RecordPipeline::Record& record, RecordPipeline* records);
  // Adds damage to the report and to the LOG.
  void NoteDamage(uint64_t number, const std::string& path, uint64_t offset,
                  const std::string& reason, uint64_t dropped_bytes);
  // Writes full memtables to L0. A failure makes the opening fail, and leaves tables that no
  // MANIFEST names.
  Status FlushFull();
  // Writes the family's memtable to L0, and adds the table to the family's edit.
  Status FlushFamily(ColumnFamily* family);
  // Removes the memtable from the family, and returns it as the input of a flush.
  FlushInput FreezeForFlush(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  RecoveryReport& report_;
  const wal::SyncedMark synced_;
  const bool repairs_;
  TwoPhaseReplay two_phase_;
  RecordFilter filter_;
  uint64_t min_log_ = 0;
  uint64_t min_family_log_ = 0;  // Earlier logs are only needed for prepared transactions.
  std::map<uint32_t, VersionEdit> edits_;
  std::map<uint64_t, uint64_t> log_ends_;  // Ends of logs by number.
  std::vector<uint64_t> damaged_logs_;
  std::set<uint64_t> empty_logs_;
  SequenceNumber max_sequence_ = 0;
  SequenceNumber first_sequence_ = kMaxSequenceNumber;
  bool wrote_tables_ = false;
  bool met_stamped_log_ = false;
  std::set<uint64_t> missed_logs_;  // Numbers of logs that should exist but do not.
  // Last sequence number before which a predecessor record shows a loss.
  SequenceNumber lost_last_ = 0;
  uint64_t stopped_at_ = 0;  // Log at which the replay stopped; 0: it did not stop.
  // True if a predecessor record has shown that the end of a log is missing. The lost records may
  // have no sequence numbers, such as the prepare or a decision of a transaction.
  bool end_missing_ = false;
  // Sequence number with which a later log must begin to prove that nothing is missing.
  SequenceNumber expected_next_ = 0;
};

}  // namespace varve
