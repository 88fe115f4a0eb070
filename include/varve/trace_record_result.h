// SPDX-License-Identifier: Apache-2.0
#pragma once

// TraceRecordResult and its subclasses are the results of traced calls that are made again.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/trace_record.h"

namespace varve {

class IteratorTraceExecutionResult;
class MultiValuesTraceExecutionResult;
class SingleValueTraceExecutionResult;
class StatusOnlyTraceExecutionResult;

// The result of one call. Thread safety: constant once it is made.
class VARVE_EXPORT TraceRecordResult {
 public:
  explicit TraceRecordResult(TraceType trace_type) : trace_type_(trace_type) {}
  virtual ~TraceRecordResult() = default;

  virtual TraceType GetTraceType() const { return trace_type_; }

  // Handles a result of each type.
  class VARVE_EXPORT Handler {
   public:
    virtual ~Handler() = default;

    virtual Status Handle(const StatusOnlyTraceExecutionResult& result) = 0;
    virtual Status Handle(const SingleValueTraceExecutionResult& result) = 0;
    virtual Status Handle(const MultiValuesTraceExecutionResult& result) = 0;
    virtual Status Handle(const IteratorTraceExecutionResult& result) = 0;
  };

  // Calls the handler's method for this type. InvalidArgument: the handler is null.
  virtual Status Accept(Handler* handler) = 0;

 private:
  TraceType trace_type_;
};

// A result with the times at which the call began and ended, in microseconds since 1970.
class VARVE_EXPORT TraceExecutionResult : public TraceRecordResult {
 public:
  TraceExecutionResult(uint64_t start_timestamp, uint64_t end_timestamp, TraceType trace_type)
      : TraceRecordResult(trace_type), start_(start_timestamp), end_(end_timestamp) {}

  virtual uint64_t GetStartTimestamp() const { return start_; }
  virtual uint64_t GetEndTimestamp() const { return end_; }
  // Returns microseconds.
  uint64_t GetLatency() const { return GetEndTimestamp() - GetStartTimestamp(); }

 private:
  uint64_t start_;
  uint64_t end_;
};

// The result of a write.
class VARVE_EXPORT StatusOnlyTraceExecutionResult : public TraceExecutionResult {
 public:
  StatusOnlyTraceExecutionResult(Status status, uint64_t start_timestamp, uint64_t end_timestamp,
                                 TraceType trace_type);
  ~StatusOnlyTraceExecutionResult() override = default;

  virtual const Status& GetStatus() const { return status_; }
  Status Accept(Handler* handler) override;

 private:
  Status status_;
};

// The result of a Get. The value is empty unless the status is OK.
class VARVE_EXPORT SingleValueTraceExecutionResult : public TraceExecutionResult {
 public:
  SingleValueTraceExecutionResult(Status status, const std::string& value, uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  SingleValueTraceExecutionResult(Status status, std::string&& value, uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  ~SingleValueTraceExecutionResult() override = default;

  virtual const Status& GetStatus() const { return status_; }
  virtual const std::string& GetValue() const { return value_; }
  Status Accept(Handler* handler) override;

 private:
  Status status_;
  std::string value_;
};

// The result of a MultiGet: a status and a value for every key.
class VARVE_EXPORT MultiValuesTraceExecutionResult : public TraceExecutionResult {
 public:
  MultiValuesTraceExecutionResult(std::vector<Status> multi_status, std::vector<std::string> values,
                                  uint64_t start_timestamp, uint64_t end_timestamp,
                                  TraceType trace_type);
  ~MultiValuesTraceExecutionResult() override = default;

  virtual const std::vector<Status>& GetMultiStatus() const { return multi_status_; }
  virtual const std::vector<std::string>& GetValues() const { return values_; }
  Status Accept(Handler* handler) override;

 private:
  std::vector<Status> multi_status_;
  std::vector<std::string> values_;
};

// The result of a seek: whether the iterator is valid after it, its status, key and value. Key and
// value are empty unless it is valid.
class VARVE_EXPORT IteratorTraceExecutionResult : public TraceExecutionResult {
 public:
  IteratorTraceExecutionResult(bool valid, Status status, PinnableSlice&& key,
                               PinnableSlice&& value, uint64_t start_timestamp,
                               uint64_t end_timestamp, TraceType trace_type);
  IteratorTraceExecutionResult(bool valid, Status status, const std::string& key,
                               const std::string& value, uint64_t start_timestamp,
                               uint64_t end_timestamp, TraceType trace_type);
  ~IteratorTraceExecutionResult() override = default;

  virtual bool GetValid() const { return valid_; }
  virtual const Status& GetStatus() const { return status_; }
  virtual Slice GetKey() const { return key_; }
  virtual Slice GetValue() const { return value_; }
  Status Accept(Handler* handler) override;

 private:
  bool valid_;
  Status status_;
  PinnableSlice key_;
  PinnableSlice value_;
};

}  // namespace varve
