// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBatch holds updates that are applied atomically.
//
//   varve::WriteBatch batch;
//   varve::Status s = batch.Put("account1", "90");
//   s.UpdateIfOk(batch.Put("account2", "110"));
//   s.UpdateIfOk(batch.Delete("pending17"));
//   if (s.ok()) s = db->Write(varve::WriteOptions(), &batch);  // all three, or none
//
// A batch may be written again, also to another database; writing leaves it unchanged but for its
// sequence number.

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

// A list of updates for DB::Write, which applies all of them or none, under consecutive sequence
// numbers.
//
// Several threads may use a batch only while none changes it. Keys and values are copied; those of
// one update must have less than 4 GiB - 65 KiB together, else InvalidArgument.
//
// Keys of a column family whose comparator has timestamps end with one. Calls with `ts` append it,
// and return InvalidArgument unless it has the comparator's size. Calls without `ts` leave zeroed
// room for it, and the batch cannot be written until UpdateTimestamps has filled it.
class VARVE_EXPORT WriteBatch : public WriteBatchBase {
 public:
  // reserved_bytes: initial capacity in bytes. max_bytes: see SetMaxBytes; 0: no limit. Both count
  // the header of 12 bytes.
  explicit WriteBatch(size_t reserved_bytes = 0, size_t max_bytes = 0)
      : WriteBatch(reserved_bytes, max_bytes, 0, 0) {}

  // protection_bytes_per_key: 8 keeps a checksum of each update, which is compared on the way into
  // log and memtable; 0 keeps none; with another value every update is InvalidArgument.
  // default_cf_ts_sz: timestamp bytes in the default column family, used by calls without a handle
  // or with a null one.
  explicit WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                      size_t default_cf_ts_sz);

  // Adopts serialized bytes (Data() of another batch), which are checked when iterated or written.
  explicit WriteBatch(const std::string& rep);
  explicit WriteBatch(std::string&& rep);

  // Copies take updates, save points, checksums and the limit of bytes along. A batch that was
  // moved from is empty.
  WriteBatch(const WriteBatch& src);
  WriteBatch(WriteBatch&& src) noexcept;
  WriteBatch& operator=(const WriteBatch& src);
  WriteBatch& operator=(WriteBatch&& src);
  ~WriteBatch() override;

  // Add one update each. The calls without a column family, or with a null handle, mean the
  // default one.
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

  // Set the value to an entity. The columns are sorted by name as they are stored.
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) override;

  // Delete a key.
  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) override;
  Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key) override;
  Status Delete(const SliceParts& key) override { return Delete(nullptr, key); }

  // Delete a key that was put once.
  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;
  Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) override;
  Status SingleDelete(const SliceParts& key) override { return SingleDelete(nullptr, key); }

  // Delete the keys from begin_key on, up to and without end_key.
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

  // Add a merge operand. Whether the column family has a merge operator is found when the batch is
  // written: without one, the write returns InvalidArgument.
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

  // Adds bytes that are only logged (WriteBatchBase).
  Status PutLogData(const Slice& blob) override;
  // Removes all updates, save points and the memory of timestamps; the capacity stays.
  void Clear() override;
  // Save points nest, and live in memory only: they are not part of Data().
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override { max_bytes_ = max_bytes; }

  // Receives the updates of a batch in order. PutCF, DeleteCF, SingleDeleteCF and MergeCF call the
  // short forms for the default column family, which do nothing, and return InvalidArgument for
  // others. Keys, and both ends of a range, end with their timestamps if the column family has
  // them. Slices are valid during the call. A status that is not OK ends the iteration and is its
  // result.
  class VARVE_EXPORT Handler {
   public:
    virtual ~Handler();

    // Receives the value of a key; `value` is what a read of that key would return.
    virtual Status PutCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Put(const Slice& key, const Slice& value);

    // Receives a wide-column entity, still serialized. NotSupported unless overridden.
    virtual Status PutEntityCF(uint32_t column_family_id, const Slice& key, const Slice& entity);

    // Receives a value and its write time, which batches of RocksDB may have (TimedPut).
    // NotSupported unless overridden.
    virtual Status TimedPutCF(uint32_t column_family_id, const Slice& key, const Slice& value,
                              uint64_t write_time);

    // Receives the deletion of one key.
    virtual Status DeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void Delete(const Slice& key);

    // Receives the deletion of a key that was put once.
    virtual Status SingleDeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void SingleDelete(const Slice& key);

    // Receives the deletion of [begin_key, end_key). InvalidArgument unless overridden.
    virtual Status DeleteRangeCF(uint32_t column_family_id, const Slice& begin_key,
                                 const Slice& end_key);

    // Receives a merge operand of the key.
    virtual Status MergeCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Merge(const Slice& key, const Slice& value);

    // Receives a reference to a blob file, which batches of RocksDB may have. InvalidArgument
    // unless overridden.
    virtual Status PutBlobIndexCF(uint32_t column_family_id, const Slice& key, const Slice& value);

    // Receives the bytes of PutLogData, in their place among the updates. Does nothing unless
    // overridden.
    virtual void LogData(const Slice& blob);

    // Receive the marks of two-phase commit; `xid` is the transaction's name. InvalidArgument
    // unless overridden. `unprepared` is true for a part of a larger transaction; `empty_batch` is
    // true if no update came before, since the last mark that ended a transaction.
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

    // Says what a handler knows of the way in which its batch was written. Varve does not ask for
    // it; handlers of programs for RocksDB override these.
    enum class OptionState {
      kUnknown,
      kDisabled,
      kEnabled,
    };
    virtual OptionState WriteAfterCommit() const { return OptionState::kUnknown; }
    virtual OptionState WriteBeforePrepare() const { return OptionState::kUnknown; }
  };

  // Returns Corruption if the bytes are no batch or the count is wrong; else the handler's first
  // error. OK if the handler ended the iteration by Continue().
  Status Iterate(Handler* handler) const;

  // Returns the serialized form: 8 bytes sequence, 4 bytes count, records.
  const std::string& Data() const { return rep_; }
  // Returns the bytes of the serialized form, which is what the log gets.
  size_t GetDataSize() const { return rep_.size(); }

  // Returns the number of updates, each of which takes a sequence number. At most 2^32 - 1 fit; a
  // further one is InvalidArgument.
  uint32_t Count() const;

  // True if the batch has an update of the kind. For adopted bytes the first call reads them all.
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

  // Compares entries with their checksums, if protection is on. Returns Corruption if one differs.
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
