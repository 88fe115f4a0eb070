// SPDX-License-Identifier: Apache-2.0
#pragma once

// TraceRecord and its subclasses are the records of a query trace as objects, one for each traced
// call.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class ColumnFamilyHandle;
class DB;
class GetQueryTraceRecord;
class IteratorSeekQueryTraceRecord;
class MultiGetQueryTraceRecord;
class TraceRecordResult;
class WriteQueryTraceRecord;

// The type of a record in a file. Varve writes and replays kTraceWrite to kTraceIteratorSeekForPrev
// and kTraceMultiGet, between the marks kTraceBegin and kTraceEnd.
enum TraceType : char {
  kTraceNone = 0,
  kTraceBegin = 1,
  kTraceEnd = 2,
  kTraceWrite = 3,
  kTraceGet = 4,
  kTraceIteratorSeek = 5,
  kTraceIteratorSeekForPrev = 6,
  kBlockTraceIndexBlock = 7,
  kBlockTraceFilterBlock = 8,
  kBlockTraceDataBlock = 9,
  kBlockTraceUncompressionDictBlock = 10,
  kBlockTraceRangeDeletionBlock = 11,
  kIOTracer = 12,
  kTraceMultiGet = 13,
  kTraceMax,
};

// One traced call. Keys and bounds are those of the call: user keys without timestamps. Thread
// safety: constant once it is made.
class VARVE_EXPORT TraceRecord {
 public:
  explicit TraceRecord(uint64_t timestamp) : timestamp_(timestamp) {}
  virtual ~TraceRecord() = default;

  virtual TraceType GetTraceType() const = 0;
  // Returns when the call was made, in microseconds since 1970.
  virtual uint64_t GetTimestamp() const { return timestamp_; }

  // Handles a record of each type, as by making its call; see NewExecutionHandler. If `result` is
  // not null, *result is set to the outcome, or to null if there is none.
  class VARVE_EXPORT Handler {
   public:
    virtual ~Handler() = default;

    virtual Status Handle(const WriteQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
    virtual Status Handle(const GetQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
    virtual Status Handle(const IteratorSeekQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
    virtual Status Handle(const MultiGetQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
  };

  // Calls the handler's method for this type. InvalidArgument: the handler is null.
  virtual Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) = 0;

  // Returns a handler that makes each call on `db`, in the family whose id the record has. The
  // caller deletes the handler; database and handles must outlive it. Any number of threads may use
  // the handler. A record of a family that is not among the handles is InvalidArgument. NotFound is
  // a result, and not an error.
  static Handler* NewExecutionHandler(DB* db, const std::vector<ColumnFamilyHandle*>& handles);

 private:
  uint64_t timestamp_;
};

// A record of a call of a DB, in contrast to RocksDB's other kinds of traces.
class VARVE_EXPORT QueryTraceRecord : public TraceRecord {
 public:
  explicit QueryTraceRecord(uint64_t timestamp) : TraceRecord(timestamp) {}
};

// A write of a batch.
class VARVE_EXPORT WriteQueryTraceRecord : public QueryTraceRecord {
 public:
  WriteQueryTraceRecord(PinnableSlice&& write_batch_rep, uint64_t timestamp);
  WriteQueryTraceRecord(const std::string& write_batch_rep, uint64_t timestamp);
  ~WriteQueryTraceRecord() override = default;

  TraceType GetTraceType() const override { return kTraceWrite; }
  // Returns the bytes of the batch (WriteBatch::Data).
  virtual Slice GetWriteBatchRep() const { return rep_; }
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  PinnableSlice rep_;
};

// A read of one key: Get, GetEntity or GetMergeOperands.
class VARVE_EXPORT GetQueryTraceRecord : public QueryTraceRecord {
 public:
  GetQueryTraceRecord(uint32_t column_family_id, PinnableSlice&& key, uint64_t timestamp);
  GetQueryTraceRecord(uint32_t column_family_id, const std::string& key, uint64_t timestamp);
  ~GetQueryTraceRecord() override = default;

  TraceType GetTraceType() const override { return kTraceGet; }
  virtual uint32_t GetColumnFamilyID() const { return cf_id_; }
  virtual Slice GetKey() const { return key_; }
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  uint32_t cf_id_;
  PinnableSlice key_;
};

// A call of an iterator, with the iterator's bounds; an empty bound means that there is none.
class VARVE_EXPORT IteratorQueryTraceRecord : public QueryTraceRecord {
 public:
  explicit IteratorQueryTraceRecord(uint64_t timestamp) : QueryTraceRecord(timestamp) {}
  IteratorQueryTraceRecord(PinnableSlice&& lower_bound, PinnableSlice&& upper_bound,
                           uint64_t timestamp);
  IteratorQueryTraceRecord(const std::string& lower_bound, const std::string& upper_bound,
                           uint64_t timestamp);
  ~IteratorQueryTraceRecord() override = default;

  virtual Slice GetLowerBound() const { return lower_; }
  virtual Slice GetUpperBound() const { return upper_; }

 private:
  PinnableSlice lower_;
  PinnableSlice upper_;
};

// A Seek or SeekForPrev.
class VARVE_EXPORT IteratorSeekQueryTraceRecord : public IteratorQueryTraceRecord {
 public:
  enum SeekType { kSeek = kTraceIteratorSeek, kSeekForPrev = kTraceIteratorSeekForPrev };

  IteratorSeekQueryTraceRecord(SeekType seek_type, uint32_t column_family_id, PinnableSlice&& key,
                               uint64_t timestamp);
  IteratorSeekQueryTraceRecord(SeekType seek_type, uint32_t column_family_id,
                               const std::string& key, uint64_t timestamp);
  IteratorSeekQueryTraceRecord(SeekType seek_type, uint32_t column_family_id, PinnableSlice&& key,
                               PinnableSlice&& lower_bound, PinnableSlice&& upper_bound,
                               uint64_t timestamp);
  IteratorSeekQueryTraceRecord(SeekType seek_type, uint32_t column_family_id,
                               const std::string& key, const std::string& lower_bound,
                               const std::string& upper_bound, uint64_t timestamp);
  ~IteratorSeekQueryTraceRecord() override = default;

  TraceType GetTraceType() const override { return static_cast<TraceType>(type_); }
  virtual SeekType GetSeekType() const { return type_; }
  virtual uint32_t GetColumnFamilyID() const { return cf_id_; }
  virtual Slice GetKey() const { return key_; }
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  SeekType type_;
  uint32_t cf_id_;
  PinnableSlice key_;
};

// A MultiGet, with the id of a column family for each key.
class VARVE_EXPORT MultiGetQueryTraceRecord : public QueryTraceRecord {
 public:
  MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                           std::vector<PinnableSlice>&& keys, uint64_t timestamp);
  MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                           const std::vector<std::string>& keys, uint64_t timestamp);
  ~MultiGetQueryTraceRecord() override = default;

  TraceType GetTraceType() const override { return kTraceMultiGet; }
  virtual std::vector<uint32_t> GetColumnFamilyIDs() const { return cf_ids_; }
  virtual std::vector<Slice> GetKeys() const { return {keys_.begin(), keys_.end()}; }
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  std::vector<uint32_t> cf_ids_;
  std::vector<PinnableSlice> keys_;
};

}  // namespace varve
