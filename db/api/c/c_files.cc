// SPDX-License-Identifier: Apache-2.0
// Implements files for the C API: descriptions that a program makes, metadata of a part of a
// family, compaction of chosen files, and calls about files that are not supported.
#include <atomic>
#include <cstdlib>
#include <optional>

#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"
#include "db/api/c/c_views.h"

using varve::CompactionOptions;
using varve::DB;
using varve::Status;
using varve::c::CopyText;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::RunOnDb;
using varve::c::StoreSize;
using varve::c::Try;
using varve::c::TryVoid;

// ---- Descriptions that a program makes ----

namespace {

void SetBytes(std::string* place, const char* bytes, size_t size) {
  TryVoid([&] { place->assign(bytes == nullptr ? "" : bytes, bytes == nullptr ? 0 : size); });
}

void SetName(std::string* place, const char* text) {
  SetBytes(place, text, text == nullptr ? 0 : std::strlen(text));
}

}  // namespace

void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t* file, const char* text) {
  if (file != nullptr) SetName(&file->rep.column_family_name, text);
}

void rocksdb_livefile_set_name(rocksdb_livefile_t* file, const char* text) {
  if (file == nullptr) return;
  SetName(&file->rep.name, text);
  // RocksDB's names begin with a slash, its relative file names do not.
  const bool slash = !file->rep.name.empty() && file->rep.name[0] == '/';
  TryVoid([&] { file->rep.relative_filename = file->rep.name.substr(slash ? 1 : 0); });
}

void rocksdb_livefile_set_directory(rocksdb_livefile_t* file, const char* text) {
  if (file == nullptr) return;
  SetName(&file->rep.directory, text);
  SetName(&file->rep.db_path, text);
}

void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t* file, const char* key, size_t size) {
  if (file != nullptr) SetBytes(&file->rep.smallestkey, key, size);
}

void rocksdb_livefile_set_largest_key(rocksdb_livefile_t* file, const char* key, size_t size) {
  if (file != nullptr) SetBytes(&file->rep.largestkey, key, size);
}

void rocksdb_livefiles_add(rocksdb_livefiles_t* files, rocksdb_livefile_t* livefile) {
  if (files == nullptr || livefile == nullptr) return;
  TryVoid([&] { files->rep.push_back(livefile->rep); });
}

// ---- Metadata of a part ----

namespace {

// Sets a bound to a copy of the key; a null key removes it.
void SetBound(std::optional<std::string>* place, const char* key, size_t size) {
  TryVoid([&] {
    place->reset();
    if (key != nullptr) place->emplace(key, size);
  });
}

const char* KeyOrNull(const std::optional<std::string>& key, size_t* size) {
  return varve::c::TextOf(key.has_value() ? &*key : nullptr, size);
}

using MetaOptions = rocksdb_column_family_metadata_options_t;

// True if the file's range of keys and that of the options overlap.
bool IsWanted(const varve::SstFileMetaData& file, const MetaOptions& options,
              const varve::Comparator& order) {
  if (options.start_key.has_value() && order.Compare(file.largestkey, *options.start_key) < 0) {
    return false;
  }
  return !options.end_key.has_value() || order.Compare(file.smallestkey, *options.end_key) <= 0;
}

// Returns the part of a family's metadata that the options select, with sums over that part.
varve::ColumnFamilyMetaData PartOf(const varve::ColumnFamilyMetaData& all,
                                   const MetaOptions& options, const varve::Comparator& order) {
  uint64_t size = 0;
  size_t count = 0;
  std::vector<varve::LevelMetaData> levels;
  for (const varve::LevelMetaData& level : all.levels) {
    if (options.rep.level >= 0 && options.rep.level != level.level) continue;
    uint64_t level_size = 0;
    std::vector<varve::SstFileMetaData> files;
    for (const varve::SstFileMetaData& file : level.files) {
      if (!IsWanted(file, options, order)) continue;
      level_size += file.size;
      files.push_back(file);
    }
    size += level_size;
    count += files.size();
    levels.emplace_back(level.level, level_size, std::move(files));
  }
  varve::ColumnFamilyMetaData part(all.name, size, std::move(levels));
  part.file_count = count;
  return part;
}

// Returns the selected metadata of an open family; null for null arguments or without memory.
rocksdb_column_family_metadata_t* MetadataOf(rocksdb_t* db, varve::ColumnFamilyHandle* family,
                                             const MetaOptions* options) {
  if (db == nullptr || family == nullptr || options == nullptr) return nullptr;
  return Try([&] {
    varve::ColumnFamilyMetaData all;
    db->rep->GetColumnFamilyMetaData(family, &all);
    return new rocksdb_column_family_metadata_t{PartOf(all, *options, *family->GetComparator())};
  });
}

}  // namespace

void rocksdb_column_family_metadata_options_set_start_key(MetaOptions* options, const char* key,
                                                          size_t key_len) {
  if (options != nullptr) SetBound(&options->start_key, key, key_len);
}

void rocksdb_column_family_metadata_options_set_end_key(MetaOptions* options, const char* key,
                                                        size_t key_len) {
  if (options != nullptr) SetBound(&options->end_key, key, key_len);
}

const char* rocksdb_column_family_metadata_options_get_start_key(const MetaOptions* options,
                                                                 size_t* key_len) {
  StoreSize(key_len, 0);
  return options == nullptr ? nullptr : KeyOrNull(options->start_key, key_len);
}

const char* rocksdb_column_family_metadata_options_get_end_key(const MetaOptions* options,
                                                               size_t* key_len) {
  StoreSize(key_len, 0);
  return options == nullptr ? nullptr : KeyOrNull(options->end_key, key_len);
}

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_with_options(
    rocksdb_t* db, const MetaOptions* options) {
  return MetadataOf(db, db == nullptr ? nullptr : db->rep->DefaultColumnFamily(), options);
}

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* family, const MetaOptions* options) {
  return MetadataOf(db, varve::c::Family(family), options);
}

// ---- Compaction of chosen files ----

// C uses the flag only through these functions.
unsigned char* rocksdb_compaction_options_canceled_create() {
  // The type in the ABI is that of a plain byte, but a compaction reads the flag while a program
  // sets it, so it is an atomic object behind that pointer.
  return reinterpret_cast<unsigned char*>(varve::c::Make<std::atomic<bool>>(false));
}

void rocksdb_compaction_options_canceled_destroy(unsigned char* canceled) {
  delete reinterpret_cast<std::atomic<bool>*>(canceled);
}

void rocksdb_compaction_options_canceled_set(unsigned char* canceled, unsigned char value) {
  if (canceled != nullptr) reinterpret_cast<std::atomic<bool>*>(canceled)->store(value != 0);
}

void rocksdb_compaction_options_set_canceled(rocksdb_compaction_options_t* options,
                                             unsigned char* canceled) {
  if (options != nullptr) options->rep.canceled = reinterpret_cast<std::atomic<bool>*>(canceled);
}

namespace {

// Sets *list to malloc'ed copies of the names, and *count to their number; either pointer may be
// null. MemoryLimit: *list is null and *count 0.
Status GiveNames(const std::vector<std::string>& names, char*** list, size_t* count) {
  // A caller may want only the number of files.
  StoreSize(count, names.size());
  if (list == nullptr) return Status::OK();
  *list = static_cast<char**>(std::calloc(names.size() + 1, sizeof(char*)));
  bool complete = *list != nullptr;
  for (size_t i = 0; complete && i < names.size(); ++i) {
    (*list)[i] = CopyText(names[i]);
    complete = (*list)[i] != nullptr;
  }
  if (complete) return Status::OK();
  if (*list != nullptr) rocksdb_compact_files_output_file_names_destroy(*list, names.size());
  *list = nullptr;
  StoreSize(count, 0);
  return Status::MemoryLimit();
}

// Arguments of a compaction of chosen files, as C passes them.
struct FilesToCompact {
  const char* const* names;
  size_t count;
  int output_level;
  int output_path_id;
};

// Runs DB::CompactFiles. `info` may be null.
Status CompactTheFiles(DB* db, varve::ColumnFamilyHandle* family, const CompactionOptions& options,
                       const FilesToCompact& files, std::vector<std::string>* outputs,
                       rocksdb_compactionjobinfo_t* info) {
  if (files.names == nullptr && files.count != 0) return NullArgument("input_file_names");
  std::vector<std::string> names;
  for (size_t i = 0; i < files.count; ++i) {
    if (files.names[i] == nullptr) return NullArgument("input file name");
    names.emplace_back(files.names[i]);
  }
  return db->CompactFiles(options, family, names, files.output_level, files.output_path_id, outputs,
                          info == nullptr ? nullptr : varve::c::Look(info));
}

}  // namespace

void rocksdb_compact_files(rocksdb_t* db, const rocksdb_compaction_options_t* options,
                           const char* const* input_file_names, size_t num_input_file_names,
                           int output_level, int output_path_id, char*** output_file_names,
                           size_t* num_output_file_names,
                           rocksdb_compactionjobinfo_t* compaction_job_info, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const CompactionOptions& o) {
    std::vector<std::string> outputs;
    Status s =
        CompactTheFiles(d, d->DefaultColumnFamily(), o,
                        {input_file_names, num_input_file_names, output_level, output_path_id},
                        &outputs, compaction_job_info);
    return s.ok() ? GiveNames(outputs, output_file_names, num_output_file_names) : s;
  });
}

void rocksdb_compact_files_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                              const rocksdb_compaction_options_t* options,
                              const char* const* input_file_names, size_t num_input_file_names,
                              int output_level, int output_path_id, char*** output_file_names,
                              size_t* num_output_file_names,
                              rocksdb_compactionjobinfo_t* compaction_job_info, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const CompactionOptions& o) {
    if (family == nullptr) return NullArgument("family");
    std::vector<std::string> outputs;
    Status s = CompactTheFiles(
        d, family->rep, o, {input_file_names, num_input_file_names, output_level, output_path_id},
        &outputs, compaction_job_info);
    return s.ok() ? GiveNames(outputs, output_file_names, num_output_file_names) : s;
  });
}

void rocksdb_compact_files_output_file_names_destroy(char** output_file_names,
                                                     size_t num_output_file_names) {
  for (size_t i = 0; output_file_names != nullptr && i < num_output_file_names; ++i) {
    std::free(output_file_names[i]);
  }
  std::free(output_file_names);
}

// ---- What is not there ----

namespace {

// A call that cannot report an error writes it to the info log.
void SayNotSupported(rocksdb_t* db, const char* call) {
  if (db == nullptr) return;
  TryVoid([&] {
    varve::Log(varve::InfoLogLevel::WARN_LEVEL, db->rep->GetDBOptions().info_log,
               "%s: not supported, nothing was done", call);
  });
}

}  // namespace

void rocksdb_delete_file(rocksdb_t* db, const char* /*name*/) {
  SayNotSupported(db, __func__);
}

void rocksdb_abort_all_compactions(rocksdb_t* db) {
  SayNotSupported(db, __func__);
}

void rocksdb_resume_all_compactions(rocksdb_t* db) {
  SayNotSupported(db, __func__);
}

rocksdb_livefiles_storage_info_t* rocksdb_get_livefiles_storage_info(
    rocksdb_t* db, const rocksdb_livefiles_storage_info_options_t* options, char** errptr) {
  std::vector<varve::LiveFileStorageInfo> files;
  const bool ok =
      RunOnDb(db, options, errptr, [&](DB* d, const varve::LiveFilesStorageInfoOptions& o) {
        return d->GetLiveFilesStorageInfo(o, &files);
      });
  if (!ok) return nullptr;
  return varve::c::Make<rocksdb_livefiles_storage_info_t>(std::move(files));
}

namespace {

// Returns null if there is none of that number.
const varve::LiveFileStorageInfo* FileAt(const rocksdb_livefiles_storage_info_t* info,
                                         size_t index) {
  return info == nullptr || index >= info->rep.size() ? nullptr : &info->rep[index];
}

}  // namespace

size_t rocksdb_livefiles_storage_info_count(const rocksdb_livefiles_storage_info_t* info) {
  return info == nullptr ? 0 : info->rep.size();
}

#define VARVE_C_STORAGE_TEXT(name)                                                                \
  const char* rocksdb_livefiles_storage_info_##name(const rocksdb_livefiles_storage_info_t* info, \
                                                    size_t index) {                               \
    const varve::LiveFileStorageInfo* const file = FileAt(info, index);                           \
    return file == nullptr ? nullptr : file->name.c_str();                                        \
  }                                                                                               \
  static_assert(true)
#define VARVE_C_STORAGE_NUMBER(type, name)                                                 \
  type rocksdb_livefiles_storage_info_##name(const rocksdb_livefiles_storage_info_t* info, \
                                             size_t index) {                               \
    const varve::LiveFileStorageInfo* const file = FileAt(info, index);                    \
    return file == nullptr ? static_cast<type>(0) : static_cast<type>(file->name);         \
  }                                                                                        \
  static_assert(true)
using Flag = unsigned char;

VARVE_C_STORAGE_TEXT(directory);
VARVE_C_STORAGE_TEXT(file_checksum);
VARVE_C_STORAGE_TEXT(file_checksum_func_name);
VARVE_C_STORAGE_NUMBER(uint64_t, file_number);
VARVE_C_STORAGE_NUMBER(int, file_type);
VARVE_C_STORAGE_TEXT(relative_filename);
VARVE_C_STORAGE_NUMBER(uint64_t, size);
VARVE_C_STORAGE_NUMBER(int, temperature);
VARVE_C_STORAGE_NUMBER(Flag, trim_to_size);

const char* rocksdb_livefiles_storage_info_replacement_contents(
    const rocksdb_livefiles_storage_info_t* info, size_t index, size_t* size) {
  const varve::LiveFileStorageInfo* const file = FileAt(info, index);
  StoreSize(size, file == nullptr ? 0 : file->replacement_contents.size());
  return file == nullptr ? nullptr : file->replacement_contents.c_str();
}
