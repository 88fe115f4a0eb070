// SPDX-License-Identifier: Apache-2.0

// A record of two-phase commit is a write batch with marks in it. The updates of a prepared
// transaction lie between two marks, the second of which has its name. A decision is one mark with
// the name; updates that come with a commit lie before it in the same batch.
//
//     Prepare     [log data "varve:prepared before"] begin | updates | end + name
//     Commit      updates that come with it | commit + name, or commit + timestamp + name
//     Rollback    rollback + name
//
// TwoPhaseSplitter takes such a record apart. Its input is a log's, so it is checked: prepared
// transactions do not lie within each other, ends and decisions come where they may, and only
// RocksDB's marks of prepared data in memtables (by_sub_batch) change how sequence numbers are
// counted.

#include "db/write/two_phase_records.h"

#include <string_view>
#include <utility>

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/coding/varint.h"

namespace varve {

namespace {

// Log data before the prepared updates, which other readers skip.
constexpr std::string_view kPreparedAgain = "varve:prepared before";

// Appends a length and the name.
void AppendName(const Slice& name, std::string* out) {
  PutVarint32(out, static_cast<uint32_t>(name.size()));
  out->append(name.data(), name.size());
}

// Appends a mark of two-phase commit: its tag, then the name.
void AppendMark(ValueType mark, const Slice& name, std::string* out) {
  out->push_back(static_cast<char>(mark));
  AppendName(name, out);
}

// Returns the records of a batch without its header.
Slice RecordsOfBatch(const WriteBatch& batch) {
  const std::string& rep = WriteBatchInternal::Contents(batch);
  return rep.size() <= kBatchHeaderBytes
             ? Slice()
             : Slice(rep.data() + kBatchHeaderBytes, rep.size() - kBatchHeaderBytes);
}

// Returns the header of a batch with this count; the sequence number is set when the write gets its
// place.
std::string MakeBatchHeader(uint32_t count) {
  std::string header;
  PutFixed64(&header, 0);
  PutFixed32(&header, count);
  return header;
}

// Returns the error for records of a write policy that stores parts of a transaction before
// Prepare.
Status OfWriteUnprepared() {
  return Status::NotSupported(
      "two-phase commit: a transaction that was prepared under WRITE_UNPREPARED, which is not "
      "supported. Decide what is prepared, and close the database flushed, with the policy that it "
      "was written with");
}

// Splits a record into its parts.
class TwoPhaseSplitter {
 public:
  TwoPhaseSplitter(const Slice& record, std::vector<TwoPhasePart>* parts)
      : record_(record), parts_(*parts) {}

  Status Run() {
    BatchReader reader(record_);
    BatchRecord entry;
    begin_ = reader.offset();
    for (size_t at = begin_; reader.Next(&entry); at = reader.offset()) {
      last_ = entry.type;
      if (entry.counted) {
        count_++;
        continue;
      }
      if (entry.type == kTypeLogData && !inside_ &&
          entry.key == Slice(kPreparedAgain.data(), kPreparedAgain.size())) {
        again_ = true;
      }
      if (IsTwoPhaseMark(entry.type)) VARVE_RETURN_IF_ERROR(Take(entry, at, reader.offset()));
    }
    VARVE_RETURN_IF_ERROR(reader.status());
    if (inside_) {
      return Status::Corruption("two-phase commit: a prepared transaction without an end");
    }
    EndUpdates(record_.size());
    // WRITE_PREPARED's batches end with a no-op record, unless they are steps of two-phase commit.
    if (last_ == kTypeNoop && !parts_.empty() &&
        parts_.back().kind == TwoPhasePart::Kind::kUpdates) {
      parts_.back().by_sub_batch = true;
    }
    return Status::OK();
  }

 private:
  // Ends the part before a mark, which lies at [at, end) of the record, and begins the next one.
  Status Take(const BatchRecord& mark, size_t at, size_t end) {
    if (mark.type == kTypeBeginUnprepareXID) return OfWriteUnprepared();
    const bool begins =
        mark.type == kTypeBeginPrepareXID || mark.type == kTypeBeginPersistedPrepareXID;
    const Slice& name = mark.type == kTypeCommitXIDAndTimestamp ? mark.value : mark.key;
    if (!begins && name.empty()) {
      return Status::Corruption("two-phase commit: a mark of type " + std::to_string(mark.type) +
                                " without a name");
    }
    // Between the begin and the end of a prepared transaction only updates may come, and an end
    // comes nowhere else.
    if (inside_ != (mark.type == kTypeEndPrepareXID)) {
      return Status::Corruption(
          "two-phase commit: a mark of type " + std::to_string(mark.type) +
          (inside_ ? " inside a prepared transaction" : " outside of any prepared transaction"));
    }
    if (inside_) {
      TwoPhasePart part = PartUntil(at, TwoPhasePart::Kind::kPrepare);
      part.name = name;
      part.again = again_;
      part.by_sub_batch = written_;
      parts_.push_back(part);
      again_ = false;
    } else {
      EndUpdates(at);
    }
    // The state for the records behind the mark. WRITE_PREPARED begins with another mark,
    // because it inserted the updates at their Prepare.
    inside_ = begins;
    written_ = mark.type == kTypeBeginPersistedPrepareXID;
    if (mark.type == kTypeCommitXID) AddDecision(TwoPhasePart::Kind::kCommit, name);
    if (mark.type == kTypeRollbackXID) AddDecision(TwoPhasePart::Kind::kRollback, name);
    if (mark.type == kTypeCommitXIDAndTimestamp) {
      AddDecision(TwoPhasePart::Kind::kCommit, name);
      parts_.back().timestamp = mark.key;
    }
    begin_ = end;
    count_ = 0;
    return Status::OK();
  }

  // Returns the records since the last mark, up to the offset `at`, as a part of this kind.
  TwoPhasePart PartUntil(size_t at, TwoPhasePart::Kind kind) const {
    TwoPhasePart part;
    part.kind = kind;
    part.updates = Slice(record_.data() + begin_, at - begin_);
    part.count = count_;
    return part;
  }
  void EndUpdates(size_t at) {
    if (count_ > 0) parts_.push_back(PartUntil(at, TwoPhasePart::Kind::kUpdates));
  }
  void AddDecision(TwoPhasePart::Kind kind, const Slice& name) {
    TwoPhasePart part;
    part.kind = kind;
    part.name = name;
    parts_.push_back(part);
  }

  const Slice record_;
  std::vector<TwoPhasePart>& parts_;
  size_t begin_ = 0;      // Start of the records since the last mark.
  uint32_t count_ = 0;    // Number of these.
  bool inside_ = false;   // Between the begin and the end of a prepared transaction.
  bool again_ = false;    // The next prepared transaction is logged again: kPreparedAgain came.
  bool written_ = false;  // WRITE_PREPARED: the prepared updates were in memtables already.
  ValueType last_ = kTypeValue;  // Type of the record that was read last.
};

}  // namespace

WriteBatch MakePrepareRecord(const WriteBatch& updates, const Slice& name, bool again) {
  const Slice records = RecordsOfBatch(updates);
  std::string record = MakeBatchHeader(WriteBatchInternal::Count(updates));
  record.reserve(record.size() + records.size() + name.size() + 2 * kMaxVarint32Length +
                 kPreparedAgain.size());
  if (again) AppendMark(kTypeLogData, Slice(kPreparedAgain.data(), kPreparedAgain.size()), &record);
  record.push_back(static_cast<char>(kTypeBeginPrepareXID));
  record.append(records.data(), records.size());
  AppendMark(kTypeEndPrepareXID, name, &record);
  return WriteBatch(std::move(record));
}

WriteBatch MakeCommitRecord(const WriteBatch& updates, const Slice& name, const Slice& timestamp) {
  const Slice records = RecordsOfBatch(updates);
  std::string record = MakeBatchHeader(WriteBatchInternal::Count(updates));
  record.append(records.data(), records.size());
  if (timestamp.empty()) {
    AppendMark(kTypeCommitXID, name, &record);
  } else {
    AppendMark(kTypeCommitXIDAndTimestamp, timestamp, &record);
    AppendName(name, &record);
  }
  return WriteBatch(std::move(record));
}

WriteBatch MakeRollbackRecord(const Slice& name) {
  std::string record = MakeBatchHeader(0);
  AppendMark(kTypeRollbackXID, name, &record);
  return WriteBatch(std::move(record));
}

Status SplitTwoPhaseRecord(const Slice& record, std::vector<TwoPhasePart>* parts) {
  parts->clear();
  return TwoPhaseSplitter(record, parts).Run();
}

std::string MakeBatchOf(const Slice& updates, uint32_t count) {
  std::string batch = MakeBatchHeader(count);
  batch.append(updates.data(), updates.size());
  return batch;
}

}  // namespace varve
