// SPDX-License-Identifier: Apache-2.0
// Shows the arguments of listeners' callbacks to C: infos of jobs, memtables, stalls and
// ingestions.
//
// A view is the C++ object itself under an opaque type (c_views.h): nothing is copied, and it is
// valid while the callback runs. Only an info that a program has created is its own.
#include <algorithm>
#include <iterator>

#include "db/api/c/c_types.h"
#include "db/api/c/c_views.h"

using varve::c::Look;
using varve::c::Show;
using varve::c::TextOf;

namespace {

template <typename List>
const typename List::value_type* At(const List& list, size_t pos) {
  return pos < list.size() ? &list[pos] : nullptr;
}

using Tables = varve::TablePropertiesCollection;

// Returns the place of the table with this number, in the order of names.
Tables::const_iterator TableAt(const rocksdb_compactionjobinfo_t* info, size_t pos) {
  const Tables& tables = Look(info)->table_properties;
  // A position beyond the last table gives the end, which is shown as null.
  return std::next(tables.begin(),
                   static_cast<Tables::difference_type>(std::min(pos, tables.size())));
}

const rocksdb_table_properties_t* ShowTable(const rocksdb_compactionjobinfo_t* info,
                                            Tables::const_iterator table) {
  if (table == Look(info)->table_properties.end()) return nullptr;
  return Show<rocksdb_table_properties_t>(table->second.get());
}

void ReportStatus(const varve::Status* status, char** errptr,
                  const char* call = __builtin_FUNCTION()) {
  const auto told = [&] { return status == nullptr ? varve::c::NullArgument("info") : *status; };
  varve::c::Run(errptr, told, call);
}

}  // namespace

// ---- Lists of a compaction ----

rocksdb_compactionjobinfo_t* rocksdb_compactionjobinfo_create() {
  return varve::c::ShowMutable<rocksdb_compactionjobinfo_t>(
      varve::c::Make<varve::CompactionJobInfo>());
}

void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t* info) {
  delete Look(info);
}

void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info, char** errptr) {
  ReportStatus(info == nullptr ? nullptr : &Look(info)->status, errptr);
}

void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* info,
                                         char** errptr) {
  ReportStatus(info == nullptr ? nullptr : &Look(info)->status, errptr);
}

const char* rocksdb_compactionjobinfo_input_file_at(const rocksdb_compactionjobinfo_t* info,
                                                    size_t pos, size_t* size) {
  return TextOf(info == nullptr ? nullptr : At(Look(info)->input_files, pos), size);
}

const char* rocksdb_compactionjobinfo_output_file_at(const rocksdb_compactionjobinfo_t* info,
                                                     size_t pos, size_t* size) {
  return TextOf(info == nullptr ? nullptr : At(Look(info)->output_files, pos), size);
}

const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_input_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_compaction_file_info_t>(At(Look(info)->input_file_infos, pos));
}

const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_output_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_compaction_file_info_t>(At(Look(info)->output_file_infos, pos));
}

const rocksdb_blob_file_addition_info_t* rocksdb_flushjobinfo_blob_file_addition_info_at(
    const rocksdb_flushjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_blob_file_addition_info_t>(At(Look(info)->blob_file_addition_infos, pos));
}

const rocksdb_blob_file_addition_info_t* rocksdb_compactionjobinfo_blob_file_addition_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_blob_file_addition_info_t>(At(Look(info)->blob_file_addition_infos, pos));
}

const rocksdb_blob_file_garbage_info_t* rocksdb_compactionjobinfo_blob_file_garbage_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_blob_file_garbage_info_t>(At(Look(info)->blob_file_garbage_infos, pos));
}

const char* rocksdb_compactionjobinfo_table_properties_key_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos, size_t* key_len) {
  varve::c::StoreSize(key_len, 0);
  if (info == nullptr) return nullptr;
  const auto table = TableAt(info, pos);
  return table == Look(info)->table_properties.end() ? nullptr : TextOf(&table->first, key_len);
}

const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_value_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  return info == nullptr ? nullptr : ShowTable(info, TableAt(info, pos));
}

const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_for_file(
    const rocksdb_compactionjobinfo_t* info, const char* file_name, size_t file_name_len) {
  if (info == nullptr || file_name == nullptr) return nullptr;
  return varve::c::Try([&]() -> const rocksdb_table_properties_t* {
    return ShowTable(info,
                     Look(info)->table_properties.find(std::string(file_name, file_name_len)));
  });
}
