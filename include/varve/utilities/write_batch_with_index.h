// SPDX-License-Identifier: Apache-2.0
#pragma once

// A write batch that can be read before it is written: alone, or as if it had been written already.

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

// What an update of a batch does. Only the first four are entries of a WBWIIterator.
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

// The key is without timestamp. Valid until the batch is rolled back, cleared, destroyed or added
// to through GetWriteBatch(), and no longer than the iterator that gave it.
struct WriteEntry {
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;
};

// The updates of one column family in the order of keys, those of one key newest first. Starts out
// invalid. It follows changes of the batch; a rollback or Clear() makes it invalid. After the batch
// has gone it may only be destroyed.
class VARVE_EXPORT WBWIIterator {
 public:
  virtual ~WBWIIterator() = default;

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // To the newest update of the first key at or after `key`.
  virtual void Seek(const Slice& key) = 0;
  // To the oldest update of the last key at or before `key`.
  virtual void SeekForPrev(const Slice& key) = 0;
  // These require Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual WriteEntry Entry() const = 0;

  // OK, or what made it invalid: there was no memory for the index.
  virtual Status status() const = 0;

  // Whether an update that this one stands for, or this one, is a SingleDelete that a later update
  // of its key has taken the place of. Requires Valid() and overwrite_key.
  virtual bool HasOverWrittenSingleDel() const { return false; }
  // The place of this update among those of its key, the first one being 1. Requires Valid().
  virtual uint32_t GetUpdateCount() const { return 0; }
};

// Not safe for several threads at once, reads included: they bring the index up to date. Nothing is
// indexed before the first of them.
//
// Updates made through GetWriteBatch() are written with the others and not seen by reads; the bytes
// of keys and values that iterators gave before may go. Timestamps may be set there; the batch must
// not be cleared or rolled back there and filled again between two calls of this class, or while an
// iterator lives.
//
// A batch holds up to 4 GiB; beyond that adding returns MemoryLimit.
class VARVE_EXPORT WriteBatchWithIndex : public WriteBatchBase {
 public:
  // backup_index_comparator: the order of keys in a column family that no call has given a handle
  //   of; null is bytewise.
  // overwrite_key: iterators over the batch show of each key the newest update alone, with the
  //   merges above it if it is followed by any. What reads find is the same.
  // The others are as WriteBatch's.
  explicit WriteBatchWithIndex(const Comparator* backup_index_comparator = BytewiseComparator(),
                               size_t reserved_bytes = 0, bool overwrite_key = false,
                               size_t max_bytes = 0, size_t protection_bytes_per_key = 0);
  ~WriteBatchWithIndex() override;
  // The source may only be destroyed or assigned to afterwards. Iterators go along.
  WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept;
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&&) noexcept;

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override { return Put(nullptr, key, value); }
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
             const Slice& value) override;

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

  // Hides what the batch has of [begin_key, end_key) so far, and what the database has of it. It is
  // no entry of a WBWIIterator.
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

  // The cost of a rollback is that of what it undoes.
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override;

  // Owned by the caller. A null column family, or none, is the default one.
  WBWIIterator* NewIterator(ColumnFamilyHandle* column_family);
  WBWIIterator* NewIterator() { return NewIterator(nullptr); }

  // The column family as it would be after writing this batch over what `base_iterator` shows;
  // takes base_iterator over. Owned by the caller; after the batch has gone it may only be
  // destroyed. Of `opts`, null for none, the bounds and prefix_same_as_start count, which should be
  // those of the base; the prefix needs a handle.
  //
  // Within a prefix the base decides for itself where its keys end. SeekToFirst and SeekToLast name
  // none: it is that of the base's first key, deleted by the batch or not. A target out of the
  // extractor's domain has none: if the walk is then turned around where the base has ended, it is
  // that of the key there.
  //
  // It follows changes of the batch that lie ahead of it, and may stand on a key that is gone;
  // key() and value() stay what they were until it moves. After a rollback or Clear() it is
  // invalid. timestamp() is empty at entries of the batch.
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* column_family, Iterator* base_iterator,
                                const ReadOptions* opts = nullptr);
  // Without a handle there is no merge operator: merges make it invalid, with InvalidArgument.
  Iterator* NewIteratorWithBase(Iterator* base_iterator) {
    return NewIteratorWithBase(nullptr, base_iterator);
  }

  // What the batch alone says of the key. NotFound if that is nothing, or that it is deleted;
  // MergeInProgress for merges whose base is not in the batch; InvalidArgument for merges where
  // there is no operator, or no handle to get it from.
  Status GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions& options, const Slice& key,
                      std::string* value);
  Status GetFromBatch(const DBOptions& options, const Slice& key, std::string* value) {
    return GetFromBatch(nullptr, options, key, value);
  }

  // As DB::Get after writing this batch. The snapshot and the timestamp of the options concern the
  // database: all of the batch is seen, as the newest there is. A null column family, or none, is
  // the default one. InvalidArgument for a handle or a snapshot of another database, whatever the
  // batch says of the key.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key, std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           PinnableSlice* value);

  // The same for many keys: what the batch leaves open is one DB::MultiGet.
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                              ColumnFamilyHandle* column_family, size_t num_keys, const Slice* keys,
                              PinnableSlice* values, Status* statuses, bool sorted_input);

  // Of the serialized batch.
  size_t GetDataSize() const;
  bool GetOverwriteKey() const;
  // All updates of the batch, overwritten ones too.
  size_t GetWBWIOpCount() const;

  // What iterators over the batch would show of a column family, and how many SingleDeletes they
  // would not, because a later update took their place.
  struct CFStat {
    uint32_t entry_count = 0;
    uint32_t overwritten_sd_count = 0;
  };
  // By column family; counted by this call, as far as there is memory for it. Valid until the next
  // one.
  const std::unordered_map<uint32_t, CFStat>& GetCFStats() const;

 private:
  friend class TransactionBase;
  struct Rep;

  // An update that reads do not see; what iterators have shown stays. Of a range `value` is the
  // end.
  Status AddUnindexed(WriteType type, ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& value);
  // Whether reads find an update of the key, whatever it does. True if that cannot be told.
  bool HasUpdate(ColumnFamilyHandle* column_family, const Slice& key);
  // GetFromBatchAndDB of what was checked: the database knows the handle and the snapshot.
  Status GetOver(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* column_family,
                 const Slice& key, PinnableSlice* value);
  // The same of MultiGetFromBatchAndDB.
  void MultiGetOver(DB* db, const ReadOptions& read_options, ColumnFamilyHandle* column_family,
                    size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                    bool sorted_input);

  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
