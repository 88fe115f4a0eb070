// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBatch holds updates that are applied atomically.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/write_batch_base.h"

namespace varve {

class ColumnFamilyHandle;
struct SavePoints;

// Several threads may use a batch only while none changes it. Keys and values are copied; those of
// one update must have less than 4 GiB - 65 KiB together, else InvalidArgument.
//
// Keys of a column family whose comparator has timestamps end with one. Calls with `ts` append it,
// and return InvalidArgument unless it has the comparator's size. Calls without `ts` leave zeroed
// room for it, and the batch cannot be written until UpdateTimestamps has filled it.
class VARVE_EXPORT WriteBatch : public WriteBatchBase {
 public:
  // reserved_bytes: initial capacity. max_bytes: see SetMaxBytes.
  explicit WriteBatch(size_t reserved_bytes = 0, size_t max_bytes = 0)
      : WriteBatch(reserved_bytes, max_bytes, 0, 0) {}

  // protection_bytes_per_key: 0 or 8. default_cf_ts_sz: timestamp bytes in the default column
  // family, used by calls without a handle or with a null one.
  explicit WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                      size_t default_cf_ts_sz);

  // Adopts serialized bytes (Data() of another batch), which are checked when iterated or written.
  explicit WriteBatch(const std::string& rep);
  explicit WriteBatch(std::string&& rep);

  WriteBatch(const WriteBatch& src);
  WriteBatch(WriteBatch&& src) noexcept;
  WriteBatch& operator=(const WriteBatch& src);
  WriteBatch& operator=(WriteBatch&& src);
  ~WriteBatch() override;

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override { return Put(nullptr, key, value); }
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
             const Slice& value) override;
  Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
             const SliceParts& value) override;
  Status Put(const SliceParts& key, const SliceParts& value) override {
    return Put(nullptr, key, value);
  }

  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) override;
  Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key) override;
  Status Delete(const SliceParts& key) override { return Delete(nullptr, key); }

  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;
  Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) override;
  Status SingleDelete(const SliceParts& key) override { return SingleDelete(nullptr, key); }

  using WriteBatchBase::DeleteRange;
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key, const Slice& ts) override;
  Status DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                     const SliceParts& end_key) override;
  Status DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }

  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Merge(const Slice& key, const Slice& value) override { return Merge(nullptr, key, value); }
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
               const Slice& value) override;
  Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
               const SliceParts& value) override;
  Status Merge(const SliceParts& key, const SliceParts& value) override {
    return Merge(nullptr, key, value);
  }

  Status PutLogData(const Slice& blob) override;
  void Clear() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override { max_bytes_ = max_bytes; }

  // Receives the updates of a batch in order. The ...CF methods call the short forms for the
  // default column family and return InvalidArgument for others.
  class VARVE_EXPORT Handler {
   public:
    virtual ~Handler();

    virtual Status PutCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Put(const Slice& key, const Slice& value);

    // Receives a wide-column entity, still serialized. NotSupported unless overridden.
    virtual Status PutEntityCF(uint32_t column_family_id, const Slice& key, const Slice& entity);

    // The write time is packed after the value in `value`. NotSupported unless overridden.
    virtual Status TimedPutCF(uint32_t column_family_id, const Slice& key, const Slice& value,
                              uint64_t write_time);

    virtual Status DeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void Delete(const Slice& key);

    virtual Status SingleDeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void SingleDelete(const Slice& key);

    virtual Status DeleteRangeCF(uint32_t column_family_id, const Slice& begin_key,
                                 const Slice& end_key);

    virtual Status MergeCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Merge(const Slice& key, const Slice& value);

    virtual Status PutBlobIndexCF(uint32_t column_family_id, const Slice& key, const Slice& value);

    virtual void LogData(const Slice& blob);

    // Marks of two-phase commit. InvalidArgument unless overridden.
    virtual Status MarkBeginPrepare(bool unprepared = false);
    virtual Status MarkEndPrepare(const Slice& xid);
    virtual Status MarkNoop(bool empty_batch);
    virtual Status MarkRollback(const Slice& xid);
    virtual Status MarkCommit(const Slice& xid);
    virtual Status MarkCommitWithTimestamp(const Slice& xid, const Slice& commit_ts);

    // Returns false to end the iteration early.
    virtual bool Continue();

   protected:
    friend class WriteBatchInternal;

    // Knowledge of the handler about how its batch was written.
    enum class OptionState {
      kUnknown,
      kDisabled,
      kEnabled,
    };
    virtual OptionState WriteAfterCommit() const { return OptionState::kUnknown; }
    virtual OptionState WriteBeforePrepare() const { return OptionState::kUnknown; }
  };

  // Returns Corruption if the bytes are no batch or the count is wrong; else the handler's first
  // error.
  Status Iterate(Handler* handler) const;

  // Returns the serialized form: 8 bytes sequence, 4 bytes count, records.
  const std::string& Data() const { return rep_; }
  size_t GetDataSize() const { return rep_.size(); }

  // Returns the number of updates, each of which takes a sequence number.
  uint32_t Count() const;

  bool HasPut() const;
  bool HasTimedPut() const;
  bool HasPutEntity() const;
  bool HasDelete() const;
  bool HasSingleDelete() const;
  bool HasDeleteRange() const;
  bool HasMerge() const;
  bool HasBeginPrepare() const;
  bool HasEndPrepare() const;
  bool HasCommit() const;
  bool HasRollback() const;

  // Overwrites every user timestamp, also those given with a key and both of a DeleteRange.
  // ts_sz_func returns the timestamp size of a column family: 0 skips it, SIZE_MAX means unknown.
  // It must not throw. NotFound if a size is unknown, InvalidArgument if `ts` is empty or a size is
  // not that of `ts` or of the keys, Corruption if adopted bytes are no batch or have a key shorter
  // than its timestamp; nothing is changed then.
  Status UpdateTimestamps(const Slice& ts,
                          std::function<size_t(uint32_t column_family_id)> ts_sz_func);

  // Older names of UpdateTimestamps. The checker gets the size of the new timestamp, and returns OK
  // if the column family accepts it; it sets ts_sz to 0 if the column family has no timestamps,
  // which skips its key. Any other status is returned, with nothing changed. Without a checker,
  // sizes are those that keys were added with; all keys of adopted bytes are taken to have a
  // timestamp.
  using TimestampChecker = std::function<Status(uint32_t column_family_id, size_t& ts_sz)>;
  Status AssignTimestamp(const Slice& ts, TimestampChecker checker = nullptr);
  // Takes one timestamp per update, in order; empty for keys without one. InvalidArgument if their
  // number is not Count().
  Status AssignTimestamps(const std::vector<Slice>& ts_list, TimestampChecker checker = nullptr);

  // Compares entries with their checksums, if protection is on.
  Status VerifyChecksum() const;

  // Returns 0 or 8.
  size_t GetProtectionBytesPerKey() const;

  WriteBatch* GetWriteBatch() override { return this; }

  struct ProtectionInfo;

 private:
  friend class WriteBatchInternal;
  friend class WriteBatchWithIndex;

  std::unique_ptr<SavePoints> save_points_;
  std::unique_ptr<ProtectionInfo> protection_;  // nullptr if protection is off.

  // Kinds of updates present; determined by iterating on first use for adopted bytes.
  mutable std::atomic<uint32_t> content_flags_;

  size_t max_bytes_;
  size_t default_cf_ts_sz_ = 0;

  // A column family to which keys were added with room for timestamps of ts_size bytes.
  struct TimestampedFamily {
    uint32_t id = 0;
    size_t ts_size = 0;
    size_t first = 0;               // offset of the first such record
    size_t first_unset = SIZE_MAX;  // offset of the first unset timestamp's record
    bool skipped = false;           // skipped by the call that sets timestamps
  };
  // More than one column family is rare, so the first needs no allocation. The others are in the
  // order of `first`; a column family appears twice if its handles disagree.
  struct TimestampedKeys {
    uint32_t count = 0;  // number of records; 0: `family` is unused
    TimestampedFamily family;
    std::vector<TimestampedFamily> more;
  };
  TimestampedKeys timestamped_;

 protected:
  std::string rep_;
};

}  // namespace varve
