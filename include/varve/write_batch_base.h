// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBatchBase declares the updating calls of WriteBatch and WriteBatchWithIndex.

#include <cstddef>

#include "varve/export.h"

namespace varve {

class ColumnFamilyHandle;
class Slice;
class Status;
class WriteBatch;
struct SliceParts;

// Updates are applied in the order of the calls. A nullptr column family means the default one.
// SliceParts forms concatenate the parts. `ts` is a user timestamp.
class VARVE_EXPORT WriteBatchBase {
 public:
  virtual ~WriteBatchBase() = default;

  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                     const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value);
  virtual Status Put(const SliceParts& key, const SliceParts& value);

  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value);
  virtual Status Merge(const SliceParts& key, const SliceParts& value);

  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key);
  virtual Status Delete(const SliceParts& key);

  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                              const Slice& ts) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key);
  virtual Status SingleDelete(const SliceParts& key);

  // Deletes [begin_key, end_key).
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                             const Slice& end_key) = 0;
  virtual Status DeleteRange(const Slice& begin_key, const Slice& end_key) = 0;
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                             const Slice& end_key, const Slice& ts) = 0;
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                             const SliceParts& end_key);
  virtual Status DeleteRange(const SliceParts& begin_key, const SliceParts& end_key);

  // Adds bytes that are only logged: they take no sequence number and are not replayed.
  virtual Status PutLogData(const Slice& blob) = 0;

  // Removes all updates and save points.
  virtual void Clear() = 0;

  // Returns the underlying plain batch, which this object owns.
  virtual WriteBatch* GetWriteBatch() = 0;

  // Maintain a stack of positions to return to. Rollback and Pop return NotFound if it is empty.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Sets the limit of the serialized size in bytes; 0: none. Calls that would exceed it return
  // MemoryLimit and leave the batch unchanged.
  virtual void SetMaxBytes(size_t max_bytes) = 0;
};

}  // namespace varve
