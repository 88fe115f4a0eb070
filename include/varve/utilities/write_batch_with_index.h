// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBatchWithIndex is a write batch that can be read before it is written: alone, or as if it
// had been written already.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "varve/comparator.h"
#include "varve/export.h"
#include "varve/iterator.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/write_batch.h"
#include "varve/write_batch_base.h"

namespace varve {

class ColumnFamilyHandle;
class DB;
struct DBOptions;
class PinnableSlice;
struct ReadOptions;

// Kind of an update in a batch. Only the first four and kPutEntityRecord, whose value is the entity
// in its stored form, are entries of a WBWIIterator.
enum WriteType {
  kPutRecord,
  kMergeRecord,
  kDeleteRecord,
  kSingleDeleteRecord,
  kDeleteRangeRecord,
  kLogDataRecord,
  kXIDRecord,
  kPutEntityRecord,
  kUnknownRecord,
};

// An update, with the key without timestamp. Valid until the batch is rolled back, cleared,
// destroyed or added to through GetWriteBatch(), and no longer than the iterator that returned it.
struct WriteEntry {
  // The effect of the update on its key.
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;
};

// Iterates over the updates of one column family in key order, those of one key newest first.
// Targets of seeks have no timestamp. It is invalid at first. It follows changes of the batch; a
// rollback or Clear() makes it invalid. After the batch is destroyed the iterator may only be
// destroyed.
class VARVE_EXPORT WBWIIterator {
 public:
  virtual ~WBWIIterator() = default;

  // True if the iterator is at an update.
  virtual bool Valid() const = 0;
  // Move to the newest update of the first key, or to the oldest update of the last key.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the newest update of the first key at or after `key`.
  virtual void Seek(const Slice& key) = 0;
  // Moves to the oldest update of the last key at or before `key`.
  virtual void SeekForPrev(const Slice& key) = 0;
  // Move to the next and the previous update, and return the current one. Require Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual WriteEntry Entry() const = 0;

  // Returns OK, or the error that made the iterator invalid: there was no memory for the index.
  virtual Status status() const = 0;

  // True if this update, or an earlier one that it replaced, is a SingleDelete that a later update
  // of its key has replaced. Requires Valid() and overwrite_key.
  virtual bool HasOverWrittenSingleDel() const { return false; }
  // Returns the number of this update among those of its key, beginning with 1. Requires Valid().
  virtual uint32_t GetUpdateCount() const { return 0; }
};

// A batch of updates in which keys can be looked up. Not thread-safe: reads, too, may be made by
// one thread at a time only, as they bring the index up to date. Nothing is indexed before the
// first read.
//
// Updates made through GetWriteBatch() are written with the others but not seen by reads; the bytes
// of keys and values that iterators returned before may become invalid. Timestamps may be set
// there. The inner batch must not be cleared or rolled back and filled again between two calls of
// this class, or while an iterator lives.
//
// A batch holds up to 4 GiB; beyond that adding returns MemoryLimit.
class VARVE_EXPORT WriteBatchWithIndex : public WriteBatchBase {
 public:
  // backup_index_comparator: the order of keys in a column family for which no call has passed a
  //   handle; null means bytewise.
  // overwrite_key: iterators over the batch show only the newest update of each key, and the merges
  //   above it if there are any. Reads return the same either way.
  // The other parameters are those of WriteBatch.
  explicit WriteBatchWithIndex(const Comparator* backup_index_comparator = BytewiseComparator(),
                               size_t reserved_bytes = 0, bool overwrite_key = false,
                               size_t max_bytes = 0, size_t protection_bytes_per_key = 0);
  ~WriteBatchWithIndex() override;
  // The source may afterwards only be destroyed or assigned to. Its iterators move too.
  WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept;
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&&) noexcept;

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override { return Put(nullptr, key, value); }
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
             const Slice& value) override;

  using WriteBatchBase::PutEntity;
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) override;

  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Merge(const Slice& key, const Slice& value) override { return Merge(nullptr, key, value); }
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
               const Slice& value) override;

  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) override;

  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;

  // Hides the earlier updates of [begin_key, end_key) in the batch, and the keys of that range in
  // the database. A WBWIIterator does not show it.
  using WriteBatchBase::DeleteRange;
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key, const Slice& ts) override;

  Status PutLogData(const Slice& blob) override;
  void Clear() override;
  WriteBatch* GetWriteBatch() override;

  // Maintain a stack of positions to return to (WriteBatchBase). A rollback costs time in
  // proportion to the updates that it undoes.
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override;

  // Returns an iterator over the updates in the batch, which the caller owns; it is never null. A
  // null column family, or none, is the default one.
  WBWIIterator* NewIterator(ColumnFamilyHandle* column_family);
  WBWIIterator* NewIterator() { return NewIterator(nullptr); }

  // Returns an iterator over the column family as it would be after writing this batch over the
  // contents of `base_iterator`, which it takes over. The caller owns it; after the batch is
  // destroyed it may only be destroyed. `opts`, which may be null, gives the bounds and
  // prefix_same_as_start, which should be those of the base; the prefix needs a handle.
  //
  // With prefix_same_as_start the base itself determines where its prefix ends. SeekToFirst and
  // SeekToLast specify no prefix: it is that of the base's first key, even if the batch deletes it.
  // A target out of the extractor's domain has none: if the direction changes where the base has
  // ended, the prefix is that of the key there.
  //
  // The iterator follows changes of the batch ahead of its position, and may stand on a deleted
  // key; key() and value() do not change until it moves. After a rollback or Clear() it is invalid.
  // timestamp() is empty at entries of the batch.
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* column_family, Iterator* base_iterator,
                                const ReadOptions* opts = nullptr);
  // Does so for the default column family. Without a handle there is no merge operator: merges make
  // the iterator invalid, with InvalidArgument.
  Iterator* NewIteratorWithBase(Iterator* base_iterator) {
    return NewIteratorWithBase(nullptr, base_iterator);
  }

  // Reads a key from the batch alone. NotFound if the batch has no update of the key, or deletes
  // it; MergeInProgress for merges whose base is not in the batch; InvalidArgument for merges
  // without an operator, or without a handle to get it from.
  Status GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions& options, const Slice& key,
                      std::string* value);
  Status GetFromBatch(const DBOptions& options, const Slice& key, std::string* value) {
    return GetFromBatch(nullptr, options, key, value);
  }

  // Reads like DB::Get after writing this batch. The snapshot and the timestamp of the options
  // apply to the database only: all of the batch is visible, as the newest data. A null column
  // family, or none, is the default one. InvalidArgument for a handle or a snapshot of another
  // database, even if the batch has the key.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key, std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           PinnableSlice* value);

  // Read the columns of a key like GetFromBatch and GetFromBatchAndDB: those of an entity, or the
  // default column alone for a plain value. GetEntityFromBatch requires the handle;
  // GetEntityFromBatchAndDB takes null for the default column family.
  Status GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                            PinnableWideColumns* columns);
  Status GetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                 ColumnFamilyHandle* column_family, const Slice& key,
                                 PinnableWideColumns* columns);
  // Reads many keys like GetEntityFromBatchAndDB, from one state of the database.
  void MultiGetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, size_t num_keys,
                                    const Slice* keys, PinnableWideColumns* results,
                                    Status* statuses, bool sorted_input);

  // Reads many keys like GetFromBatchAndDB. Keys that the batch does not decide are read with one
  // DB::MultiGet.
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                              ColumnFamilyHandle* column_family, size_t num_keys, const Slice* keys,
                              PinnableSlice* values, Status* statuses, bool sorted_input);

  // Returns the bytes of the serialized batch.
  size_t GetDataSize() const;
  // Returns the overwrite_key of the constructor.
  bool GetOverwriteKey() const;
  // Returns the number of all updates in the batch, overwritten ones included.
  size_t GetWBWIOpCount() const;

  // Number of updates of a column family that iterators over the batch would show, and number of
  // SingleDeletes that they would not show because a later update replaced them.
  struct CFStat {
    uint32_t entry_count = 0;
    uint32_t overwritten_sd_count = 0;
  };
  // Returns the counts by column family id, computed by this call as far as there is memory. Valid
  // until the next call.
  const std::unordered_map<uint32_t, CFStat>& GetCFStats() const;

 private:
  friend class TransactionBase;
  struct Rep;

  // Adds an update that reads do not see; entries that iterators have returned stay valid. For a
  // range deletion `value` is the end.
  Status AddUnindexed(WriteType type, ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& value);
  // Adds an entity in its stored form. The family must have no timestamps.
  Status AddEntity(ColumnFamilyHandle* column_family, const Slice& key, const Slice& entity);
  // True if reads find an update of the key, of any type, or if that cannot be determined.
  bool HasUpdate(ColumnFamilyHandle* column_family, const Slice& key);
  // Does GetFromBatchAndDB after its checks: the handle and the snapshot are the database's.
  Status GetOver(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* column_family,
                 const Slice& key, PinnableSlice* value);
  // Does GetEntityFromBatchAndDB after the same checks.
  Status GetEntityOver(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* column_family,
                       const Slice& key, PinnableWideColumns* columns);
  // Does MultiGetEntityFromBatchAndDB after the same checks.
  void MultiGetEntityOver(DB* db, const ReadOptions& read_options,
                          ColumnFamilyHandle* column_family, size_t num_keys, const Slice* keys,
                          PinnableWideColumns* results, Status* statuses, bool sorted_input);
  // Does MultiGetFromBatchAndDB after the same checks.
  void MultiGetOver(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* column_family,
                    size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                    bool sorted_input);

  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
