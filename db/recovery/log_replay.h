// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the logs' batches back into memtables, under the rules of the recovery mode.

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
#include "db/recovery/record_pipeline.h"
#include "db/recovery/section_replay.h"
#include "db/version/version_edit.h"
#include "db/wal/log_reader.h"
#include "db/write/batch_inserter.h"
#include "db/write/predecessor_log.h"

namespace varve {

// Used once, by Open, while nothing else touches the database.
class LogReplay {
 public:
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    RecoveryReport& report;
  };
  // `synced`: what was known to be durable before the logs were looked at. With `repairs`, what
  // would be refused ends the replay as damage does, or is put up with.
  LogReplay(const Parts& parts, const wal::SyncedMark& synced, bool repairs = false)
      : context_(parts.context),
        dynamic_(parts.dynamic),
        state_(parts.state),
        report_(parts.report),
        synced_(synced),
        repairs_(repairs),
        sections_(&parts.report) {}

  // Replays the logs with these numbers (ascending). Memtables that fill up are written to L0 on
  // the way (not when the database is read-only); their edits are collected. Fills in
  // the report. `min_log` is the oldest log that the MANIFEST asks for. That it is not there, and
  // that the first record leaves sequence numbers out, proves no loss: MANIFESTs of RocksDB ask for
  // logs that were never written, and writes without the log take numbers, too. A predecessor
  // record proves it, and so does a table that the MANIFEST does not know (stale_manifest.h).
  Status Run(const std::vector<uint64_t>& log_numbers, uint64_t min_log);
  // Instead: none of them is read. They count as damaged, and are reported.
  void LeaveOut(const std::vector<uint64_t>& log_numbers);
  // Writes what is left in the memtables to L0.
  Status FlushRest();

  const std::map<uint32_t, VersionEdit>& edits() const { return edits_; }
  SequenceNumber max_sequence() const { return max_sequence_; }
  // Of the first record replayed; kMaxSequenceNumber if none was.
  SequenceNumber first_sequence() const { return first_sequence_; }
  bool wrote_tables() const { return wrote_tables_; }
  // Where the last record of a log that was replayed ends.
  uint64_t LogEnd(uint64_t number) const;
  // Logs in which something was found that is not a plain torn tail, or that were left out.
  const std::vector<uint64_t>& damaged_logs() const { return damaged_logs_; }
  bool stopped_early() const { return stopped_at_ != 0; }
  // What two-phase commit has left, once all logs are replayed.
  SectionReplay& sections() { return sections_; }
  [[nodiscard]] const SectionReplay& sections() const { return sections_; }
  bool met_sections() const { return sections_.met_any(); }
  // For the report.
  void NotePrepared(const std::string& name) { report_.prepared_transactions.push_back(name); }
  // A log that was replayed is stamped (db/engine/new_logs.h).
  bool met_stamped_log() const { return met_stamped_log_; }
  // Whether any batch was found in a log that was replayed, beside its predecessor record.
  bool HeldBatches(uint64_t number) const { return !empty_logs_.contains(number); }
  // Numbers of logs, [first, end) each, among which some was not there that the MANIFEST or another
  // log tells of. None that was replayed whole is among them, and none from `end` on.
  std::vector<std::pair<uint64_t, uint64_t>> UnreadLogs(uint64_t end) const;

 private:
  Status ReplayAll(const std::vector<uint64_t>& log_numbers);
  // Point-in-time recovery has stopped: no family may have tables of a later moment.
  Status CheckOneMoment() const;
  Status ReplayOne(uint64_t number, const std::string& path);
  // Whether memtables may still be there when the database is open.
  [[nodiscard]] bool KeepsMemTables() const;
  // Whether a log after that at which replay stopped begins with what comes next.
  bool GoesOn(const Slice& first_record) const;
  // Of the first record of a log, which says where the log before ends: whether that was all read.
  // If not, its end was lost, and what this log holds may lack what came before it. `next` is the
  // sequence number that this log begins with.
  Status JudgePredecessor(const PredecessorLog& predecessor, SequenceNumber next);
  // *unknown_commit: as of SectionReplay, where damage was met before.
  Status ApplyRecord(const RecordPipeline::Record& record, uint64_t number, const std::string& path,
                     MemTableResolver* resolver, BatchInserter* inserter,
                     std::string* unknown_commit);
  Status Insert(const RecordPipeline::Record& record, uint64_t number, MemTableResolver* resolver,
                BatchInserter* inserter, SequenceNumber* next_sequence,
                std::string* unknown_commit);
  // What the damage that a reader met means under the recovery mode: go on, stop here, or refuse.
  Status JudgeDamage(uint64_t number, const std::string& path, const wal::LogReader& reader);
  // `offset`: of the first record after the hole; `end`: of the last.
  Status JudgeHole(uint64_t number, const std::string& path, uint64_t offset, uint64_t end);
  // Of a log in which no damage was met.
  Status JudgeEnd(uint64_t number, const std::string& path, const wal::LogReader& reader);
  // Logs that should be there and are not.
  Status JudgeMissing(const std::vector<uint64_t>& log_numbers);
  // Of a log of which nothing from `end` on is there: how much of that was durable.
  uint64_t SyncedAfter(uint64_t number, uint64_t end) const;
  // What is lost, of which `synced` bytes were durable: stop here, or refuse.
  Status StopOrRefuse(uint64_t number, const std::string& path, uint64_t end,
                      const std::string& reason, uint64_t synced);
  // The sequence numbers that were not replayed, into the report.
  void FindLostSequences(const std::vector<uint64_t>& log_numbers);
  SequenceNumber NextExpected() const;
  // Nothing from a whole record on is replayed: it is no batch, and a repair meets it, or it is
  // the commit of what damage has taken.
  Status StopAtRecord(uint64_t number, const std::string& path, const std::string& reason,
                      const RecordPipeline::Record& record, RecordPipeline* records);
  // Adds to the report, and to the LOG.
  void NoteDamage(uint64_t number, const std::string& path, uint64_t offset,
                  const std::string& reason, uint64_t dropped_bytes);
  Status FlushFull();
  Status FlushFamily(ColumnFamily* family);
  // Takes the memtable out of the family.
  FlushInput FreezeForFlush(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  RecoveryReport& report_;
  const wal::SyncedMark synced_;
  const bool repairs_;
  SectionReplay sections_;
  uint64_t min_log_ = 0;
  uint64_t min_family_log_ = 0;  // those below are there for sections alone
  std::map<uint32_t, VersionEdit> edits_;
  std::map<uint64_t, uint64_t> log_ends_;  // by log number
  std::vector<uint64_t> damaged_logs_;
  std::set<uint64_t> empty_logs_;
  SequenceNumber max_sequence_ = 0;
  SequenceNumber first_sequence_ = kMaxSequenceNumber;
  bool wrote_tables_ = false;
  bool met_stamped_log_ = false;
  std::set<uint64_t> missed_logs_;
  SequenceNumber lost_last_ = 0;  // the last that a predecessor record has told of
  uint64_t stopped_at_ = 0;       // log after which point-in-time recovery stopped; 0: it did not
  // A predecessor record has told that the last log read, or one before it, lacks its end. What is
  // lost may have taken no sequence number: a decision, a prepared section.
  bool end_missing_ = false;
  SequenceNumber expected_next_ = 0;  // the sequence that would prove that nothing is missing
};

}  // namespace varve
