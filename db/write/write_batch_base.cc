// SPDX-License-Identifier: Apache-2.0

// The calls of WriteBatchBase that take keys and values in parts, which are joined and passed on.

#include "varve/write_batch_base.h"

#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

Status WriteBatchBase::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                           const SliceParts& value) {
  std::string key_buf;
  std::string value_buf;
  return Put(column_family, Slice(key, &key_buf), Slice(value, &value_buf));
}

Status WriteBatchBase::Put(const SliceParts& key, const SliceParts& value) {
  std::string key_buf;
  std::string value_buf;
  return Put(Slice(key, &key_buf), Slice(value, &value_buf));
}

Status WriteBatchBase::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                             const SliceParts& value) {
  std::string key_buf;
  std::string value_buf;
  return Merge(column_family, Slice(key, &key_buf), Slice(value, &value_buf));
}

Status WriteBatchBase::Merge(const SliceParts& key, const SliceParts& value) {
  std::string key_buf;
  std::string value_buf;
  return Merge(Slice(key, &key_buf), Slice(value, &value_buf));
}

Status WriteBatchBase::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  std::string key_buf;
  return Delete(column_family, Slice(key, &key_buf));
}

Status WriteBatchBase::Delete(const SliceParts& key) {
  std::string key_buf;
  return Delete(Slice(key, &key_buf));
}

Status WriteBatchBase::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  std::string key_buf;
  return SingleDelete(column_family, Slice(key, &key_buf));
}

Status WriteBatchBase::SingleDelete(const SliceParts& key) {
  std::string key_buf;
  return SingleDelete(Slice(key, &key_buf));
}

Status WriteBatchBase::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                                   const SliceParts& end_key) {
  std::string begin_buf;
  std::string end_buf;
  return DeleteRange(column_family, Slice(begin_key, &begin_buf), Slice(end_key, &end_buf));
}

Status WriteBatchBase::DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) {
  std::string begin_buf;
  std::string end_buf;
  return DeleteRange(Slice(begin_key, &begin_buf), Slice(end_key, &end_buf));
}

}  // namespace varve
