// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBatchBase declares the updating calls of WriteBatch and WriteBatchWithIndex, of which the
// second can also be read before it is written.

#include <cstddef>

#include "varve/attribute_groups.h"
#include "varve/export.h"
#include "varve/wide_columns.h"

namespace varve {

class ColumnFamilyHandle;
class Slice;
class Status;
class WriteBatch;
struct SliceParts;

// Updates are applied in the order of the calls. A nullptr column family means the default one.
// SliceParts forms concatenate the parts. Keys have no timestamp; `ts` is that of the update.
//
// Keys, values and timestamps are copied. A call that fails leaves the batch unchanged:
// InvalidArgument if a key and value are too large together or `ts` has not the comparator's size,
// MemoryLimit beyond SetMaxBytes or for lack of memory, in which case no exception is thrown. One
// thread at a time may change a batch.
class VARVE_EXPORT WriteBatchBase {
 public:
  virtual ~WriteBatchBase() = default;

  // Sets the value of a key, whether or not it had one.
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                     const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value);
  virtual Status Put(const SliceParts& key, const SliceParts& value);

  // Sets the value of a key to an entity of these columns, in any order. The handle is required.
  // InvalidArgument also if the family has timestamps; Corruption if two columns have one name.
  virtual Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns) = 0;
  // Sets the value of the key to one entity for each group, in the group's column family.
  // InvalidArgument also if there is no group.
  virtual Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) = 0;

  // Adds an operand, which reads and compactions combine with what is there before, by the family's
  // merge operator.
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value);
  virtual Status Merge(const SliceParts& key, const SliceParts& value);

  // Deletes a key, whether or not it has a value.
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key);
  virtual Status Delete(const SliceParts& key);

  // Deletes a key that was put exactly once since its last deletion, and never merged. What a read
  // finds for other keys is undefined. It takes space for a shorter time than Delete: a compaction
  // that meets it together with its Put drops both.
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

  // Adds bytes that are written to the log with the batch, for readers of the log: they take no
  // sequence number, and recovery ignores them.
  virtual Status PutLogData(const Slice& blob) = 0;

  // Removes all updates and save points.
  virtual void Clear() = 0;

  // Returns the underlying plain batch, which this object owns.
  virtual WriteBatch* GetWriteBatch() = 0;

  // Maintain a stack of positions to return to. Rollback removes the updates since the newest
  // position, and the position; Pop removes the position only. Both return NotFound if there is
  // none.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Sets the limit of the serialized size in bytes; 0: none. Calls that would exceed it return
  // MemoryLimit and leave the batch unchanged.
  virtual void SetMaxBytes(size_t max_bytes) = 0;
};

}  // namespace varve
