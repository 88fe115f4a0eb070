// SPDX-License-Identifier: Apache-2.0

// Implements TraceRecord::NewExecutionHandler, whose handler makes the call of a record on a
// database.

#include <map>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/iterator.h"
#include "varve/system_clock.h"
#include "varve/trace_record.h"
#include "varve/trace_record_result.h"
#include "varve/write_batch.h"

namespace varve {

namespace {

using Result = std::unique_ptr<TraceRecordResult>;

// Holds the bounds of a traced seek, and the read options that point to them; must outlive the
// iterator that is made with these options.
struct BoundedSeek {
  explicit BoundedSeek(const IteratorSeekQueryTraceRecord& record)
      : lower(record.GetLowerBound()), upper(record.GetUpperBound()) {
    if (!lower.empty()) options.iterate_lower_bound = &lower;
    if (!upper.empty()) options.iterate_upper_bound = &upper;
  }
  const Slice lower;
  const Slice upper;
  ReadOptions options;
};

// Makes the calls of records on a database. Families that records name by ids are found among the
// given handles.
class ExecutionHandler final : public TraceRecord::Handler {
 public:
  ExecutionHandler(DB* db, const std::vector<ColumnFamilyHandle*>& handles)
      : db_(db), clock_(SystemClock::Default()) {
    for (ColumnFamilyHandle* const handle : handles) {
      if (handle != nullptr) families_.emplace(handle->GetID(), handle);
    }
  }

  Status Handle(const WriteQueryTraceRecord& record, Result* result) override {
    const uint64_t start = clock_->NowMicros();
    WriteBatch batch(record.GetWriteBatchRep().ToString());
    Status s = db_->Write(WriteOptions(), &batch);
    if (s.ok() && result != nullptr) {
      *result = std::make_unique<StatusOnlyTraceExecutionResult>(s, start, clock_->NowMicros(),
                                                                 record.GetTraceType());
    }
    return s;
  }

  Status Handle(const GetQueryTraceRecord& record, Result* result) override {
    ColumnFamilyHandle* family = nullptr;
    Status s = Find(record.GetColumnFamilyID(), &family);
    if (!s.ok()) return s;
    const uint64_t start = clock_->NowMicros();
    std::string value;
    s = db_->Get(ReadOptions(), family, record.GetKey(), &value);
    if (!s.ok() && !s.IsNotFound()) return s;
    if (result != nullptr) {
      *result = std::make_unique<SingleValueTraceExecutionResult>(
          std::move(s), std::move(value), start, clock_->NowMicros(), record.GetTraceType());
    }
    return Status::OK();
  }

  Status Handle(const IteratorSeekQueryTraceRecord& record, Result* result) override {
    ColumnFamilyHandle* family = nullptr;
    Status s = Find(record.GetColumnFamilyID(), &family);
    if (!s.ok()) return s;
    const BoundedSeek seek(record);
    const uint64_t start = clock_->NowMicros();
    const std::unique_ptr<Iterator> it(db_->NewIterator(seek.options, family));
    if (record.GetSeekType() == IteratorSeekQueryTraceRecord::kSeek) {
      it->Seek(record.GetKey());
    } else {
      it->SeekForPrev(record.GetKey());
    }
    s = it->status();
    if (!s.ok() || result == nullptr) return s;
    const bool valid = it->Valid();
    *result = std::make_unique<IteratorTraceExecutionResult>(
        valid, s, valid ? it->key().ToString() : std::string(),
        valid ? it->value().ToString() : std::string(), start, clock_->NowMicros(),
        record.GetTraceType());
    return s;
  }

  Status Handle(const MultiGetQueryTraceRecord& record, Result* result) override {
    std::vector<ColumnFamilyHandle*> families;
    for (const uint32_t id : record.GetColumnFamilyIDs()) {
      const Status s = Find(id, &families.emplace_back(nullptr));
      if (!s.ok()) return s;
    }
    const std::vector<Slice> keys = record.GetKeys();
    if (keys.size() != families.size()) {
      return Status::InvalidArgument("replay: a MultiGet has " + std::to_string(keys.size()) +
                                     " keys and " + std::to_string(families.size()) +
                                     " column families");
    }
    const uint64_t start = clock_->NowMicros();
    std::vector<std::string> values;
    std::vector<Status> statuses = db_->MultiGet(ReadOptions(), families, keys, &values);
    for (const Status& s : statuses) {
      if (!s.ok() && !s.IsNotFound()) return s;
    }
    if (result != nullptr) {
      *result = std::make_unique<MultiValuesTraceExecutionResult>(
          std::move(statuses), std::move(values), start, clock_->NowMicros(),
          record.GetTraceType());
    }
    return Status::OK();
  }

 private:
  // Sets *family to the handle with this id; InvalidArgument if there is none.
  Status Find(uint32_t id, ColumnFamilyHandle** family) const {
    const auto found = families_.find(id);
    if (found == families_.end()) {
      return Status::InvalidArgument("replay: column family " + std::to_string(id) +
                                     " is not among the handles of the replayer");
    }
    *family = found->second;
    return Status::OK();
  }

  DB* const db_;
  const std::shared_ptr<SystemClock> clock_;
  std::map<uint32_t, ColumnFamilyHandle*> families_;
};

}  // namespace

TraceRecord::Handler* TraceRecord::NewExecutionHandler(
    DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
  return std::make_unique<ExecutionHandler>(db, handles).release();
}

}  // namespace varve
