// SPDX-License-Identifier: Apache-2.0

// Implements the records of a trace and the results of their replay.

#include "varve/trace_record.h"

#include <utility>

#include "varve/trace_record_result.h"

namespace varve {

namespace {

// Returns a slice that owns a copy of the text.
PinnableSlice Own(const std::string& text) {
  PinnableSlice slice;
  slice.PinSelf(text);
  return slice;
}

Status NoHandler() {
  return Status::InvalidArgument("trace: the handler is null");
}

}  // namespace

WriteQueryTraceRecord::WriteQueryTraceRecord(PinnableSlice&& write_batch_rep, uint64_t timestamp)
    : QueryTraceRecord(timestamp), rep_(std::move(write_batch_rep)) {}

WriteQueryTraceRecord::WriteQueryTraceRecord(const std::string& write_batch_rep, uint64_t timestamp)
    : WriteQueryTraceRecord(Own(write_batch_rep), timestamp) {}

Status WriteQueryTraceRecord::Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this, result);
}

GetQueryTraceRecord::GetQueryTraceRecord(uint32_t column_family_id, PinnableSlice&& key,
                                         uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_id_(column_family_id), key_(std::move(key)) {}

GetQueryTraceRecord::GetQueryTraceRecord(uint32_t column_family_id, const std::string& key,
                                         uint64_t timestamp)
    : GetQueryTraceRecord(column_family_id, Own(key), timestamp) {}

Status GetQueryTraceRecord::Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this, result);
}

IteratorQueryTraceRecord::IteratorQueryTraceRecord(PinnableSlice&& lower_bound,
                                                   PinnableSlice&& upper_bound, uint64_t timestamp)
    : QueryTraceRecord(timestamp), lower_(std::move(lower_bound)), upper_(std::move(upper_bound)) {}

IteratorQueryTraceRecord::IteratorQueryTraceRecord(const std::string& lower_bound,
                                                   const std::string& upper_bound,
                                                   uint64_t timestamp)
    : IteratorQueryTraceRecord(Own(lower_bound), Own(upper_bound), timestamp) {}

IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(SeekType seek_type,
                                                           uint32_t column_family_id,
                                                           PinnableSlice&& key, uint64_t timestamp)
    : IteratorQueryTraceRecord(timestamp),
      type_(seek_type),
      cf_id_(column_family_id),
      key_(std::move(key)) {}

IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(SeekType seek_type,
                                                           uint32_t column_family_id,
                                                           const std::string& key,
                                                           uint64_t timestamp)
    : IteratorSeekQueryTraceRecord(seek_type, column_family_id, Own(key), timestamp) {}

IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(
    SeekType seek_type, uint32_t column_family_id, PinnableSlice&& key, PinnableSlice&& lower_bound,
    PinnableSlice&& upper_bound, uint64_t timestamp)
    : IteratorQueryTraceRecord(std::move(lower_bound), std::move(upper_bound), timestamp),
      type_(seek_type),
      cf_id_(column_family_id),
      key_(std::move(key)) {}

IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(
    SeekType seek_type, uint32_t column_family_id, const std::string& key,
    const std::string& lower_bound, const std::string& upper_bound, uint64_t timestamp)
    : IteratorSeekQueryTraceRecord(seek_type, column_family_id, Own(key), Own(lower_bound),
                                   Own(upper_bound), timestamp) {}

Status IteratorSeekQueryTraceRecord::Accept(Handler* handler,
                                            std::unique_ptr<TraceRecordResult>* result) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this, result);
}

MultiGetQueryTraceRecord::MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                                                   std::vector<PinnableSlice>&& keys,
                                                   uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_ids_(std::move(column_family_ids)), keys_(std::move(keys)) {}

MultiGetQueryTraceRecord::MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                                                   const std::vector<std::string>& keys,
                                                   uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_ids_(std::move(column_family_ids)) {
  keys_.reserve(keys.size());
  for (const std::string& key : keys) keys_.push_back(Own(key));
}

Status MultiGetQueryTraceRecord::Accept(Handler* handler,
                                        std::unique_ptr<TraceRecordResult>* result) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this, result);
}

StatusOnlyTraceExecutionResult::StatusOnlyTraceExecutionResult(Status status,
                                                               uint64_t start_timestamp,
                                                               uint64_t end_timestamp,
                                                               TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      status_(std::move(status)) {}

Status StatusOnlyTraceExecutionResult::Accept(Handler* handler) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this);
}

SingleValueTraceExecutionResult::SingleValueTraceExecutionResult(Status status,
                                                                 const std::string& value,
                                                                 uint64_t start_timestamp,
                                                                 uint64_t end_timestamp,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      status_(std::move(status)),
      value_(value) {}

SingleValueTraceExecutionResult::SingleValueTraceExecutionResult(Status status, std::string&& value,
                                                                 uint64_t start_timestamp,
                                                                 uint64_t end_timestamp,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      status_(std::move(status)),
      value_(std::move(value)) {}

Status SingleValueTraceExecutionResult::Accept(Handler* handler) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this);
}

MultiValuesTraceExecutionResult::MultiValuesTraceExecutionResult(std::vector<Status> multi_status,
                                                                 std::vector<std::string> values,
                                                                 uint64_t start_timestamp,
                                                                 uint64_t end_timestamp,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      multi_status_(std::move(multi_status)),
      values_(std::move(values)) {}

Status MultiValuesTraceExecutionResult::Accept(Handler* handler) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this);
}

IteratorTraceExecutionResult::IteratorTraceExecutionResult(
    bool valid, Status status, PinnableSlice&& key, PinnableSlice&& value, uint64_t start_timestamp,
    uint64_t end_timestamp, TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      valid_(valid),
      status_(std::move(status)),
      key_(std::move(key)),
      value_(std::move(value)) {}

IteratorTraceExecutionResult::IteratorTraceExecutionResult(
    bool valid, Status status, const std::string& key, const std::string& value,
    uint64_t start_timestamp, uint64_t end_timestamp, TraceType trace_type)
    : IteratorTraceExecutionResult(valid, std::move(status), Own(key), Own(value), start_timestamp,
                                   end_timestamp, trace_type) {}

Status IteratorTraceExecutionResult::Accept(Handler* handler) {
  return handler == nullptr ? NoHandler() : handler->Handle(*this);
}

}  // namespace varve
