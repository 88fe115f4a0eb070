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

// Stands for a blob file; there are none.
struct NoBlobFile {};

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
VARVE_C_VIEW(rocksdb_blob_file_addition_info_t, NoBlobFile);
VARVE_C_VIEW(rocksdb_blob_file_garbage_info_t, NoBlobFile);

#undef VARVE_C_VIEW

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

inline const char* TextOf(const std::string* text, size_t* size) {
  StoreSize(size, text == nullptr ? 0 : text->size());
  return text == nullptr ? nullptr : text->c_str();
}

}  // namespace varve::c

// Defines rocksdb_`prefix`_`name`, which returns `member` of the view's object, or 0: a number, a
// flag or an enum; or a text and its length, or null.
#define VARVE_C_VIEW_MEMBER(prefix, c_type, name, member)                       \
  c_type rocksdb_##prefix##_##name(const rocksdb_##prefix##_t* view) {          \
    return view == nullptr ? static_cast<c_type>(0)                             \
                           : static_cast<c_type>(varve::c::Look(view)->member); \
  }                                                                             \
  static_assert(true)
#define VARVE_C_VIEW_NUMBER(prefix, c_type, name) VARVE_C_VIEW_MEMBER(prefix, c_type, name, name)
#define VARVE_C_VIEW_TEXT(prefix, name)                                                     \
  const char* rocksdb_##prefix##_##name(const rocksdb_##prefix##_t* view, size_t* size) {   \
    return varve::c::TextOf(view == nullptr ? nullptr : &varve::c::Look(view)->name, size); \
  }                                                                                         \
  static_assert(true)

// Defines rocksdb_`prefix`_`name`, which returns a part of the view's object, or null.
#define VARVE_C_VIEW_PART(prefix, part, name, member)                                     \
  const rocksdb_##part##_t* rocksdb_##prefix##_##name(const rocksdb_##prefix##_t* view) { \
    if (view == nullptr) return nullptr;                                                  \
    return varve::c::Show<rocksdb_##part##_t>(&varve::c::Look(view)->member);             \
  }                                                                                       \
  static_assert(true)
