// SPDX-License-Identifier: Apache-2.0
// Reports files, levels and memory to the C API.
#include <map>
#include <unordered_set>

#include "varve/utilities/memory_util.h"

#include "db/api/c/c_types.h"

using varve::DB;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::CopyText;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::StoreSize;
using varve::c::Try;

struct rocksdb_memory_consumers_t {
  std::vector<DB*> dbs;
  std::unordered_set<const varve::Cache*> caches;  // Each counts once.
};

struct rocksdb_memory_usage_t {
  std::map<varve::MemoryUtil::UsageType, uint64_t> by_type;

  uint64_t Of(varve::MemoryUtil::UsageType type) const {
    const auto found = by_type.find(type);
    return found == by_type.end() ? 0 : found->second;
  }
};

namespace {

// Returns the file that `index` names, or null.
const varve::LiveFileMetaData* FileAt(const rocksdb_livefiles_t* files, int index) {
  if (files == nullptr || index < 0) return nullptr;
  const size_t position = static_cast<size_t>(index);
  // Programs that ask beyond the end get null or 0.
  return position < files->rep.size() ? &files->rep[position] : nullptr;
}

// Returns the bytes of a file's key and stores their length; null and 0 if there is no file.
const char* KeyOf(const varve::LiveFileMetaData* file, const std::string& key, size_t* size) {
  StoreSize(size, file == nullptr ? 0 : key.size());
  return file == nullptr ? nullptr : key.data();
}

const std::string kNoKey;

// Returns the metadata of an open family; null for null arguments or without memory.
rocksdb_column_family_metadata_t* Metadata(rocksdb_t* db, varve::ColumnFamilyHandle* family) {
  if (db == nullptr || family == nullptr) return nullptr;
  return Try([&] {
    // It is constructed in place, as its levels cannot be assigned.
    auto metadata = std::make_unique<rocksdb_column_family_metadata_t>();
    db->rep->GetColumnFamilyMetaData(family, &metadata->rep);
    return metadata.release();
  });
}

}  // namespace

const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* db) {
  if (db == nullptr) return nullptr;
  return Try([&]() -> const rocksdb_livefiles_t* {
    auto files = std::make_unique<rocksdb_livefiles_t>();
    db->rep->GetLiveFilesMetaData(&files->rep);
    return files.release();
  });
}

int rocksdb_livefiles_count(const rocksdb_livefiles_t* files) {
  return files == nullptr ? 0 : static_cast<int>(files->rep.size());
}

const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? nullptr : file->column_family_name.c_str();
}

const char* rocksdb_livefiles_name(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? nullptr : file->name.c_str();
}

const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  // Files of an export have only the second name.
  return file == nullptr ? nullptr : file->db_path.c_str();
}

int rocksdb_livefiles_level(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? 0 : file->level;
}

size_t rocksdb_livefiles_size(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? 0 : static_cast<size_t>(file->size);
}

const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t* files, int index,
                                          size_t* size) {
  const auto* file = FileAt(files, index);
  return KeyOf(file, file == nullptr ? kNoKey : file->smallestkey, size);
}

const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t* files, int index,
                                         size_t* size) {
  const auto* file = FileAt(files, index);
  return KeyOf(file, file == nullptr ? kNoKey : file->largestkey, size);
}

uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? 0 : file->smallest_seqno;
}

uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? 0 : file->largest_seqno;
}

uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? 0 : file->num_entries;
}

uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t* files, int index) {
  const auto* file = FileAt(files, index);
  return file == nullptr ? 0 : file->num_deletions;
}

void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files) {
  delete files;
}

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db) {
  return Metadata(db, db == nullptr ? nullptr : db->rep->DefaultColumnFamily());
}

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* family) {
  return Metadata(db, varve::c::Family(family));
}

uint64_t rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* metadata) {
  return metadata == nullptr ? 0 : metadata->rep.size;
}

size_t rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t* metadata) {
  return metadata == nullptr ? 0 : metadata->rep.file_count;
}

char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* metadata) {
  return metadata == nullptr ? nullptr : CopyText(metadata->rep.name);
}

size_t rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t* metadata) {
  return metadata == nullptr ? 0 : metadata->rep.levels.size();
}

rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* metadata, size_t i) {
  if (metadata == nullptr || i >= metadata->rep.levels.size()) return nullptr;
  return Make<rocksdb_level_metadata_t>(&metadata->rep.levels[i]);
}

int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* level) {
  return level == nullptr ? 0 : level->rep->level;
}

uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* level) {
  return level == nullptr ? 0 : level->rep->size;
}

size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* level) {
  return level == nullptr ? 0 : level->rep->files.size();
}

rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(
    rocksdb_level_metadata_t* level, size_t i) {
  if (level == nullptr || i >= level->rep->files.size()) return nullptr;
  return Make<rocksdb_sst_file_metadata_t>(&level->rep->files[i]);
}

char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t* file) {
  return file == nullptr ? nullptr : CopyText(file->rep->relative_filename);
}

char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* file) {
  return file == nullptr ? nullptr : CopyText(file->rep->directory);
}

uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* file) {
  return file == nullptr ? 0 : file->rep->size;
}

char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t* file, size_t* len) {
  StoreSize(len, file == nullptr ? 0 : file->rep->smallestkey.size());
  return file == nullptr ? nullptr : CopyBytes(file->rep->smallestkey);
}

char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* file, size_t* len) {
  StoreSize(len, file == nullptr ? 0 : file->rep->largestkey.size());
  return file == nullptr ? nullptr : CopyBytes(file->rep->largestkey);
}

rocksdb_memory_consumers_t* rocksdb_memory_consumers_create() {
  return Make<rocksdb_memory_consumers_t>();
}

void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers, rocksdb_t* db) {
  if (consumers == nullptr || db == nullptr) return;
  varve::c::TryVoid([&] { consumers->dbs.push_back(db->rep.get()); });
}

void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers,
                                        rocksdb_cache_t* cache) {
  if (consumers == nullptr || cache == nullptr) return;
  varve::c::TryVoid([&] { consumers->caches.insert(cache->rep.get()); });
}

void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers) {
  delete consumers;
}

rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** errptr) {
  std::unique_ptr<rocksdb_memory_usage_t> usage;
  varve::c::Run(errptr, [&]() -> Status {
    if (consumers == nullptr) return NullArgument("consumers");
    usage = std::make_unique<rocksdb_memory_usage_t>();
    return varve::MemoryUtil::GetApproximateMemoryUsageByType(consumers->dbs, consumers->caches,
                                                              &usage->by_type);
  });
  return usage.release();
}

void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage) {
  delete usage;
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* usage) {
  return usage == nullptr ? 0 : usage->Of(varve::MemoryUtil::kMemTableTotal);
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t* usage) {
  return usage == nullptr ? 0 : usage->Of(varve::MemoryUtil::kMemTableUnFlushed);
}

uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(
    rocksdb_memory_usage_t* usage) {
  return usage == nullptr ? 0 : usage->Of(varve::MemoryUtil::kTableReadersTotal);
}

uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* usage) {
  return usage == nullptr ? 0 : usage->Of(varve::MemoryUtil::kCacheTotal);
}
