// SPDX-License-Identifier: Apache-2.0

// Replays the steps of two-phase commit. The updates of a prepare record are only stored; the
// commit record, perhaps in a later log, inserts them with the commit's sequence numbers.
// Transactions that are undecided at the end are passed to the program, or make the opening fail.

#include "db/recovery/two_phase_replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "varve/comparator.h"

#include "db/engine/prepared_transactions.h"
#include "db/recovery/sub_batches.h"
#include "db/wal/log_reader.h"
#include "db/write/batch_inserter.h"
#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

// Maximum number of names in a report.
constexpr size_t kUnknownDecisionsKept = 100;

}  // namespace

Status HasTwoPhaseMarks(FileSystem* fs, const FileOptions& options, const std::string& path,
                        uint64_t number, bool* has_marks) {
  *has_marks = false;
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(SequentialFileReader::Open(fs, path, options, &file));
  wal::LogReader reader(std::move(file), number, path, nullptr);
  Slice record;
  std::string scratch;
  while (!*has_marks &&
         reader.ReadRecord(&record, &scratch, WALRecoveryMode::kSkipAnyCorruptedRecords)) {
    CheckBatchStructure(record, has_marks).PermitUncheckedError();
  }
  return reader.io_status();
}

Status TwoPhaseReplay::Insert(const WriteBatch& updates, MemTableResolver* resolver,
                              SequenceNumber* next_sequence) {
  BatchInsertResult result;
  Status s = InsertBatch(WriteBatchInternal::Contents(updates), *next_sequence, resolver, &result);
  *next_sequence = result.next_sequence;
  return s;
}

Status TwoPhaseReplay::Stamp(const Slice& timestamp, MemTableResolver* resolver,
                             WriteBatch* updates) {
  if (timestamp.empty()) return Status::OK();
  return updates->UpdateTimestamps(timestamp, [&](uint32_t family) -> size_t {
    const Comparator* const comparator = resolver->ComparatorOf(family);
    const bool has = comparator != nullptr && comparator->timestamp_size() == timestamp.size();
    return has ? timestamp.size() : 0;
  });
}

// A record may prepare and commit a transaction, so its own prepares are collected on the way.
std::string TwoPhaseReplay::FindUnknownCommit(const std::vector<TwoPhasePart>& parts) const {
  std::set<std::string> here;
  for (const TwoPhasePart& part : parts) {
    const std::string name = part.name.ToString();
    if (part.kind == TwoPhasePart::Kind::kPrepare) here.insert(name);
    if (part.kind == TwoPhasePart::Kind::kCommit && !here.contains(name) &&
        !undecided_.contains(name) && !written_.contains(name)) {
      return name;
    }
  }
  return "";
}

bool TwoPhaseReplay::DecidesWritten(const std::vector<TwoPhasePart>& parts) const {
  return std::ranges::any_of(parts, [this](const TwoPhasePart& part) {
    const bool decides =
        part.kind == TwoPhasePart::Kind::kCommit || part.kind == TwoPhasePart::Kind::kRollback;
    return decides && written_.contains(part.name.ToString());
  });
}

Status TwoPhaseReplay::CheckWritten() const {
  if (written_.empty()) return Status::OK();
  std::string names;
  for (const std::string& name : written_) {
    names += (names.empty() ? "'" : ", '") + ShownName(name) + "'";
  }
  return Status::NotSupported(
      "two-phase commit: RocksDB has prepared transactions under WRITE_PREPARED that are "
      "undecided: " +
      names + "; nothing was changed. Commit them or roll them back with RocksDB");
}

// Stores one update of each family as a sample of the transaction. Does nothing if the transaction
// stored last keeps the same logs for the same families.
void TwoPhaseReplay::NoteCommitted(const Prepared& prepared, uint64_t decision_log) {
  Committed committed;
  committed.log = prepared.log;
  committed.decision_log = decision_log;
  const Slice batch = WriteBatchInternal::Contents(prepared.updates);
  std::string samples;
  BatchReader reader(batch);
  BatchRecord record;
  for (size_t begin = reader.offset(); reader.Next(&record); begin = reader.offset()) {
    if (!record.counted || std::ranges::count(committed.families, record.column_family) != 0) {
      continue;
    }
    committed.families.push_back(record.column_family);
    samples.append(batch.data() + begin, reader.offset() - begin);
  }
  const bool alike = !committed_.empty() && committed_.back().log == committed.log &&
                     committed_.back().decision_log == decision_log &&
                     committed_.back().families == committed.families;
  if (alike || committed.families.empty()) return;
  const auto count = static_cast<uint32_t>(committed.families.size());
  committed.sample = WriteBatch(MakeBatchOf(samples, count));
  committed_.push_back(std::move(committed));
}

void TwoPhaseReplay::ForgetCommitted(uint64_t before) {
  std::erase_if(committed_, [&](const Committed& c) { return c.decision_log < before; });
}

uint64_t TwoPhaseReplay::OldestLog() const {
  uint64_t oldest = UINT64_MAX;
  for (const auto& [name, prepared] : undecided_) oldest = std::min(oldest, prepared.log);
  for (const Committed& committed : committed_) oldest = std::min(oldest, committed.log);
  return oldest;
}

// A record is a sequence of parts: plain updates, prepared transactions, and decisions. Varve's
// prepared transactions wait in undecided_ for their decision. RocksDB's WRITE_PREPARED has
// numbered updates at their Prepare: those are inserted at once, and their names wait in written_.
Status TwoPhaseReplay::Apply(const Slice& record, uint64_t log, MemTableResolver* resolver,
                             SequenceNumber* next_sequence, std::string* unknown_commit) {
  using Kind = TwoPhasePart::Kind;
  std::vector<TwoPhasePart> parts;
  VARVE_RETURN_IF_ERROR(SplitTwoPhaseRecord(record, &parts));
  *next_sequence = DecodeFixed64(record.data());
  // Checked before anything is inserted, so that the caller can leave out the whole record.
  if (unknown_commit != nullptr) {
    *unknown_commit = FindUnknownCommit(parts);
    if (!unknown_commit->empty()) return Status::OK();
  }
  const bool decides_written = DecidesWritten(parts);
  for (const TwoPhasePart& part : parts) {
    if (part.kind == Kind::kUpdates && (part.by_sub_batch || decides_written)) {
      VARVE_RETURN_IF_ERROR(InsertSubBatches(part.updates, part.count, resolver, next_sequence));
      continue;
    }
    if (part.kind == Kind::kUpdates) {
      const WriteBatch updates(MakeBatchOf(part.updates, part.count));
      VARVE_RETURN_IF_ERROR(Insert(updates, resolver, next_sequence));
      continue;
    }
    met_any_ = true;
    const std::string name = part.name.ToString();
    if (part.kind == Kind::kPrepare && part.by_sub_batch) {
      written_.insert(name);
      VARVE_RETURN_IF_ERROR(InsertSubBatches(part.updates, part.count, resolver, next_sequence));
      continue;
    }
    if (part.kind != Kind::kPrepare && written_.erase(name) != 0) {
      // A commit uses a sequence number, even one without updates.
      *next_sequence = std::max(*next_sequence, DecodeFixed64(record.data()) + 1);
      continue;
    }
    if (part.kind == Kind::kPrepare) {
      // A later log may begin with copies of what was undecided then (NewLogs). The first record is
      // the one that counts, if it was replayed.
      if (part.again && (decided_.contains(name) || undecided_.contains(name))) continue;
      // A name may be reused after its transaction was decided.
      decided_.erase(name);
      undecided_[name] = {log, WriteBatch(MakeBatchOf(part.updates, part.count))};
      continue;
    }
    auto prepared = undecided_.extract(name);
    if (prepared.empty()) {
      if (report_.unknown_decisions.size() < kUnknownDecisionsKept) {
        report_.unknown_decisions.push_back(name);
      }
      continue;
    }
    decided_.insert(name);
    if (part.kind == Kind::kCommit) {
      if (keeps_committed_) NoteCommitted(prepared.mapped(), log);
      VARVE_RETURN_IF_ERROR(Stamp(part.timestamp, resolver, &prepared.mapped().updates));
      VARVE_RETURN_IF_ERROR(Insert(prepared.mapped().updates, resolver, next_sequence));
    }
  }
  return Status::OK();
}

}  // namespace varve
