// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/stream_replica.h"

#include <utility>

#include "tests/metamorphic/surviving_writes.h"
#include "tests/metamorphic/varve_world.h"

namespace varve::testing {

namespace {

const char* const kStream = "replica";

}  // namespace

// Applies the changes of batches. Families that are unknown, or have timestamps, are passed over.
class StreamReplica::Replay final : public WriteBatch::Handler {
 public:
  Replay(const Handles& handles, std::map<uint32_t, FamilyState>* states) : states_(*states) {
    for (const auto& [name, handle] : handles) {
      if (handle->GetComparator()->timestamp_size() != 0) continue;
      states_.try_emplace(handle->GetID(), ComparatorLess{handle->GetComparator()});
    }
  }

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Apply(family, Change::kPut, key, value);
  }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override {
    PinnableWideColumns columns;
    const Status s = columns.SetWideColumnValue(entity);
    if (!s.ok() || columns.columns().empty()) return s;
    return Apply(family, Change::kPut, key, columns.columns().front().value());
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return Apply(family, Change::kDelete, key, "");
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return Apply(family, Change::kSingleDelete, key, "");
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return Apply(family, Change::kDeleteRange, begin, end);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Apply(family, Change::kMerge, key, value);
  }
  void LogData(const Slice& /*blob*/) override {}

 private:
  Status Apply(uint32_t family, Change::Kind kind, const Slice& key, const Slice& value) {
    const auto state = states_.find(family);
    if (state == states_.end()) return Status::OK();
    ApplyTo(&state->second, {kind, "", key.ToString(), value.ToString()});
    return Status::OK();
  }

  std::map<uint32_t, FamilyState>& states_;
};

void StreamReplica::Copy(const Handles& handles, const Families& families) {
  states_.clear();
  for (const auto& [name, family] : families) {
    if (!family.has_timestamps()) states_.emplace(handles.at(name)->GetID(), *family.now());
  }
  may_have_gaps_ = false;
}

std::string StreamReplica::ReadOn(DB* db, const Handles& handles, bool* any_gap) {
  // Records in the buffer of a log are not read.
  Status s = db->FlushWAL(/*sync=*/false);
  if (!s.ok()) return Failure("FlushWAL", s);
  Replay replay(handles, &states_);
  ChangeRecord record;
  for (;;) {
    s = stream_->Next(&record);
    if (!s.ok()) return Failure("ChangeStream::Next", s);
    if (record.kind == ChangeRecord::Kind::kNothing) break;
    if (record.first != next_) {
      return "FAILS a stream goes from " + std::to_string(next_) + " to " +
             std::to_string(record.first);
    }
    next_ = record.last + 1;
    *any_gap |= record.kind == ChangeRecord::Kind::kGap;
    if (record.kind == ChangeRecord::Kind::kBatch) s = record.batch.Iterate(&replay);
    if (!s.ok()) return Failure("WriteBatch::Iterate", s);
  }
  if (next_ != db->GetLatestSequenceNumber() + 1) {
    return "FAILS a stream ends before " + std::to_string(next_) + " of " +
           std::to_string(db->GetLatestSequenceNumber());
  }
  if (next_ == stream_->position()) return "";
  s = stream_->Acknowledge(next_ - 1);
  return s.ok() ? "" : Failure("Acknowledge", s);
}

std::string StreamReplica::Begin(DB* db, const Handles& handles, const Families& families) {
  stream_.reset();
  ChangeStreamOptions options;
  options.name = kStream;
  const Status s = db->OpenChangeStream(options, &stream_);
  if (!s.ok()) return Failure("OpenChangeStream", s);
  next_ = stream_->position();
  bool any_gap = false;
  std::string failure = ReadOn(db, handles, &any_gap);
  Copy(handles, families);
  return failure;
}

std::string StreamReplica::Compare(DB* db, const Handles& handles, const Families& families) {
  if (stream_ == nullptr) return "";
  bool any_gap = false;
  std::string failure = ReadOn(db, handles, &any_gap);
  if (!failure.empty()) return failure;
  if (any_gap && !may_have_gaps_) return "FAILS a stream has a gap, and all was logged";
  for (const auto& [name, family] : families) {
    if (any_gap || family.has_timestamps()) continue;
    const FamilyState& state = states_.at(handles.at(name)->GetID());
    if (ShownState(state) == ShownState(*family.now())) continue;
    return "FAILS a replica differs in " + name;
  }
  Copy(handles, families);
  return "";
}

std::string StreamReplica::End(DB* db) {
  stream_.reset();
  const Status s = db->DropChangeStream(kStream);
  return s.ok() || s.IsNotFound() ? "" : Failure("DropChangeStream", s);
}

}  // namespace varve::testing
