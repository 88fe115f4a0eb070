// SPDX-License-Identifier: Apache-2.0
// Implements opening, closing and column families for the C API.
//
// The families' handles are C objects around C++ handles that the program owns, except that of the
// default family, which the database owns (`owned`). A database must be closed after its handles
// are destroyed.
#include <cstdlib>
#include <utility>

#include "db/api/c/c_open.h"
#include "db/api/c/c_types.h"

using varve::ColumnFamilyHandle;
using varve::DB;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::CopyText;
using varve::c::CreateFamily;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::OpenDefault;
using varve::c::OpenFamilies;
using varve::c::Run;
using varve::c::RunOnDb;

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name, char** errptr) {
  return OpenDefault(options, name, errptr, [](const auto& o, const std::string& n, rocksdb_t* db) {
    return DB::Open(o, n, &db->rep);
  });
}

rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                      unsigned char error_if_wal_file_exists, char** errptr) {
  return OpenDefault(options, name, errptr,
                     [&](const auto& o, const std::string& n, rocksdb_t* db) {
                       return DB::OpenForReadOnly(o, n, &db->rep, error_if_wal_file_exists != 0);
                     });
}

rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options, const char* name,
                                        int num_families, const char* const* family_names,
                                        const rocksdb_options_t* const* family_options,
                                        rocksdb_column_family_handle_t** handles, char** errptr) {
  return OpenFamilies(options, name, {num_families, family_names, family_options, handles}, errptr,
                      [](const auto& o, const std::string& n, const auto& families, auto* opened,
                         std::unique_ptr<DB>* db) { return DB::Open(o, n, families, opened, db); });
}

rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int num_families,
    const char* const* family_names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, unsigned char error_if_wal_file_exists,
    char** errptr) {
  return OpenFamilies(options, name, {num_families, family_names, family_options, handles}, errptr,
                      [&](const auto& o, const std::string& n, const auto& families, auto* opened,
                          std::unique_ptr<DB>* db) {
                        return DB::OpenForReadOnly(o, n, families, opened, db,
                                                   error_if_wal_file_exists != 0);
                      });
}

rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* options, const char* name,
                                     const char* secondary_path, char** errptr) {
  return OpenDefault(options, name, errptr,
                     [&](const auto& o, const std::string& n, rocksdb_t* db) -> Status {
                       if (secondary_path == nullptr) return NullArgument("secondary_path");
                       DB* raw = nullptr;
                       Status s = DB::OpenAsSecondary(o, n, secondary_path, &raw);
                       db->rep.reset(raw);
                       return s;
                     });
}

rocksdb_t* rocksdb_open_as_secondary_column_families(const rocksdb_options_t* options,
                                                     const char* name, const char* secondary_path,
                                                     int num_families,
                                                     const char* const* family_names,
                                                     const rocksdb_options_t* const* family_options,
                                                     rocksdb_column_family_handle_t** handles,
                                                     char** errptr) {
  return OpenFamilies(options, name, {num_families, family_names, family_options, handles}, errptr,
                      [&](const auto& o, const std::string& n, const auto& families, auto* opened,
                          std::unique_ptr<DB>* db) -> Status {
                        if (secondary_path == nullptr) return NullArgument("secondary_path");
                        DB* raw = nullptr;
                        Status s =
                            DB::OpenAsSecondary(o, n, secondary_path, families, opened, &raw);
                        db->reset(raw);
                        return s;
                      });
}

rocksdb_t* rocksdb_open_and_trim_history(const rocksdb_options_t* options, const char* name,
                                         int num_families, const char* const* family_names,
                                         const rocksdb_options_t* const* family_options,
                                         rocksdb_column_family_handle_t** handles, char* trim_ts,
                                         size_t trim_tslen, char** errptr) {
  return OpenFamilies(options, name, {num_families, family_names, family_options, handles}, errptr,
                      [&](const auto& o, const std::string& n, const auto& families, auto* opened,
                          std::unique_ptr<DB>* db) -> Status {
                        if (trim_ts == nullptr) return NullArgument("trim_ts");
                        DB* raw = nullptr;
                        Status s = DB::OpenAndTrimHistory(o, n, families, opened, &raw,
                                                          std::string(trim_ts, trim_tslen));
                        db->reset(raw);
                        return s;
                      });
}

void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->TryCatchUpWithPrimary(); });
}

void rocksdb_close(rocksdb_t* db) {
  delete db;
}

void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (options == nullptr) return NullArgument("options");
    if (name == nullptr) return NullArgument("name");
    return varve::DestroyDB(name, options->rep);
  });
}

void rocksdb_repair_db(const rocksdb_options_t* options, const char* name, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (options == nullptr) return NullArgument("options");
    if (name == nullptr) return NullArgument("name");
    Status s = options->CheckLacking();
    return s.ok() ? varve::RepairDB(name, options->rep) : s;
  });
}

char** rocksdb_list_column_families(const rocksdb_options_t* options, const char* name,
                                    size_t* num_families, char** errptr) {
  char** list = nullptr;
  varve::c::StoreSize(num_families, 0);
  Run(errptr, [&]() -> Status {
    if (options == nullptr) return NullArgument("options");
    if (name == nullptr) return NullArgument("name");
    if (num_families == nullptr) return NullArgument("num_families");
    std::vector<std::string> names;
    Status s = DB::ListColumnFamilies(options->rep, name, &names);
    if (!s.ok()) return s;
    // calloc fills the list with nulls, so a list that is only partly filled can be freed; one more
    // element keeps an empty list from being null.
    list = static_cast<char**>(std::calloc(names.size() + 1, sizeof(char*)));
    bool complete = list != nullptr;
    for (size_t i = 0; complete && i < names.size(); ++i) {
      list[i] = CopyText(names[i]);
      complete = list[i] != nullptr;
    }
    if (complete) {
      *num_families = names.size();
      return s;
    }
    if (list != nullptr) rocksdb_list_column_families_destroy(list, names.size());
    list = nullptr;
    return Status::MemoryLimit();
  });
  return list;
}

void rocksdb_list_column_families_destroy(char** list, size_t num_families) {
  for (size_t i = 0; list != nullptr && i < num_families; ++i) std::free(list[i]);
  std::free(list);
}

rocksdb_column_family_handle_t* rocksdb_create_column_family(rocksdb_t* db,
                                                             const rocksdb_options_t* options,
                                                             const char* name, char** errptr) {
  return CreateFamily(
      db, options, name, errptr,
      [](DB* d, const varve::Options& with, const std::string& family, ColumnFamilyHandle** made) {
        return d->CreateColumnFamily(with, family, made);
      });
}

rocksdb_column_family_handle_t** rocksdb_create_column_families(
    rocksdb_t* db, const rocksdb_options_t* options, int num_families, const char* const* names,
    size_t* num_created, char** errptr) {
  varve::c::StoreSize(num_created, 0);
  if (num_families < 0 || names == nullptr || num_created == nullptr) {
    varve::c::SetError(errptr, NullArgument("names or num_created"));
    return nullptr;
  }
  auto** list = static_cast<rocksdb_column_family_handle_t**>(
      std::calloc(static_cast<size_t>(num_families) + 1, sizeof(rocksdb_column_family_handle_t*)));
  if (list == nullptr) {
    varve::c::SetError(errptr, Status::MemoryLimit());
    return nullptr;
  }
  char* failure = nullptr;
  for (int i = 0; i < num_families && failure == nullptr; ++i) {
    list[i] = rocksdb_create_column_family(db, options, names[i], &failure);
    if (list[i] == nullptr) break;
    ++*num_created;
  }
  if (errptr != nullptr && failure != nullptr) std::swap(*errptr, failure);
  std::free(failure);
  // After a failure the families before it exist, and perhaps the one that failed, so the program
  // gets their handles, and the error.
  if (*num_created > 0) return list;
  std::free(list);
  return nullptr;
}

void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t** list) {
  std::free(list);
}

void rocksdb_drop_column_family(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) { return d->DropColumnFamily(varve::c::Family(handle)); });
}

rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db) {
  if (db == nullptr) return nullptr;
  return Make<rocksdb_column_family_handle_t>(db->rep->DefaultColumnFamily(), false);
}

void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* handle) {
  if (handle == nullptr) return;
  if (handle->owned) delete handle->rep;
  delete handle;
}

uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* handle) {
  return handle == nullptr ? 0 : handle->rep->GetID();
}

char* rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t* handle,
                                            size_t* name_len) {
  varve::c::StoreSize(name_len, 0);
  if (handle == nullptr) return nullptr;
  const std::string& name = handle->rep->GetName();
  varve::c::StoreSize(name_len, name.size());
  return CopyBytes(name);
}
