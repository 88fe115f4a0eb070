// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shows C++ objects to C through pointers without handles of their own: the arguments of a
// callback, and the parts of a call's result. The opaque types have no definition: a pointer to one
// is a pointer to the C++ object.

#include <cstddef>
#include <string>

#include "varve/compaction_job_stats.h"
#include "varve/listener.h"
#include "varve/table_properties.h"

#include "db/api/c/c_types.h"

namespace varve::c {

// Maps an opaque type to the C++ type that it stands for.
template <typename View>
struct Viewed;

#define VARVE_C_VIEW(view, type) \
  template <>                    \
  struct Viewed<view> {          \
    using Type = type;           \
  }

VARVE_C_VIEW(rocksdb_flushjobinfo_t, FlushJobInfo);
VARVE_C_VIEW(rocksdb_compactionjobinfo_t, CompactionJobInfo);
VARVE_C_VIEW(rocksdb_subcompactionjobinfo_t, SubcompactionJobInfo);
VARVE_C_VIEW(rocksdb_compaction_job_stats_t, CompactionJobStats);
VARVE_C_VIEW(rocksdb_compaction_file_info_t, CompactionFileInfo);
VARVE_C_VIEW(rocksdb_externalfileingestioninfo_t, ExternalFileIngestionInfo);
VARVE_C_VIEW(rocksdb_memtableinfo_t, MemTableInfo);
VARVE_C_VIEW(rocksdb_writestallinfo_t, WriteStallInfo);
VARVE_C_VIEW(rocksdb_writestallcondition_t, WriteStallCondition);
VARVE_C_VIEW(rocksdb_status_ptr_t, Status);
VARVE_C_VIEW(rocksdb_table_properties_t, TableProperties);
VARVE_C_VIEW(rocksdb_blob_file_addition_info_t, BlobFileAdditionInfo);
VARVE_C_VIEW(rocksdb_blob_file_garbage_info_t, BlobFileGarbageInfo);

#undef VARVE_C_VIEW

// Look returns the C++ object behind a pointer of C, and Show the pointer of C to an object. Null
// stays null; nothing is owned.
template <typename View>
const typename Viewed<View>::Type* Look(const View* view) {
  return reinterpret_cast<const typename Viewed<View>::Type*>(view);
}
template <typename View>
typename Viewed<View>::Type* Look(View* view) {
  return reinterpret_cast<typename Viewed<View>::Type*>(view);
}
template <typename View>
const View* Show(const typename Viewed<View>::Type* object) {
  return reinterpret_cast<const View*>(object);
}
template <typename View>
View* ShowMutable(typename Viewed<View>::Type* object) {
  return reinterpret_cast<View*>(object);
}

// Returns a string's bytes and stores its length; null for null. The bytes live as long as the
// string.
inline const char* TextOf(const std::string* text, size_t* size) {
  StoreSize(size, text == nullptr ? 0 : text->size());
  return text == nullptr ? nullptr : text->c_str();
}

}  // namespace varve::c
