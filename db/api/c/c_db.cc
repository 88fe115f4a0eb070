// SPDX-License-Identifier: Apache-2.0
// Opening and closing through the C API, and its column families.
#include <cstdlib>

#include "db/api/c/c_types.h"

using varve::ColumnFamilyDescriptor;
using varve::ColumnFamilyHandle;
using varve::DB;
using varve::Status;
using varve::c::CopyBytes;
using varve::c::CopyText;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::RunOnDb;

namespace {

// The arguments of an open with column families, as C has them.
struct FamilyArguments {
  int count;
  const char* const* names;
  const rocksdb_options_t* const* options;
  rocksdb_column_family_handle_t** handles;
};

template <typename Open>
rocksdb_t* OpenDefault(const rocksdb_options_t* options, const char* name, char** errptr, Open open,
                       const char* call = __builtin_FUNCTION()) {
  std::unique_ptr<rocksdb_t> db;
  const auto checked = [&]() -> Status {
    if (options == nullptr) return NullArgument("options");
    if (name == nullptr) return NullArgument("name");
    Status s = options->CheckLacking();
    if (!s.ok()) return s;
    db = std::make_unique<rocksdb_t>();
    options->KeepFor(&db->kept);
    return open(options->rep, std::string(name), db.get());
  };
  return Run(errptr, checked, call) ? db.release() : nullptr;
}

Status ToDescriptors(const FamilyArguments& families,
                     std::vector<ColumnFamilyDescriptor>* descriptors, varve::c::Kept* kept) {
  if (families.count < 0) return Status::InvalidArgument("C API: negative number of families");
  if (families.count == 0) return Status::OK();
  if (families.names == nullptr || families.options == nullptr || families.handles == nullptr) {
    return NullArgument("column family arrays");
  }
  for (int i = 0; i < families.count; ++i) {
    if (families.names[i] == nullptr || families.options[i] == nullptr) {
      return NullArgument("column family name or options");
    }
    Status s = families.options[i]->CheckLacking();
    if (!s.ok()) return s;
    families.options[i]->KeepFor(kept);
    descriptors->emplace_back(families.names[i], families.options[i]->rep);
  }
  return Status::OK();
}

// Handles for what `open` yields are allocated before it runs, so that nothing can fail behind it.
template <typename Open>
rocksdb_t* OpenFamilies(const rocksdb_options_t* options, const char* name,
                        const FamilyArguments& families, char** errptr, Open open,
                        const char* call = __builtin_FUNCTION()) {
  std::vector<std::unique_ptr<rocksdb_column_family_handle_t>> handles;
  const auto open_all = [&](const varve::Options& db_options, const std::string& db_name,
                            rocksdb_t* handle) -> Status {
    std::vector<ColumnFamilyDescriptor> descriptors;
    Status s = ToDescriptors(families, &descriptors, &handle->kept);
    if (!s.ok()) return s;
    for (size_t i = 0; i < descriptors.size(); ++i) {
      handles.push_back(std::make_unique<rocksdb_column_family_handle_t>());
    }
    std::vector<ColumnFamilyHandle*> opened;
    s = open(db_options, db_name, descriptors, &opened, &handle->rep);
    for (size_t i = 0; s.ok() && i < opened.size(); ++i) *handles[i] = {opened[i], true};
    return s;
  };
  rocksdb_t* db = OpenDefault(options, name, errptr, open_all, call);
  for (size_t i = 0; db != nullptr && i < handles.size(); ++i) {
    families.handles[i] = handles[i].release();
  }
  return db;
}

}  // namespace

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
  std::unique_ptr<rocksdb_column_family_handle_t> handle;
  const bool made = RunOnDb(db, options, errptr, [&](DB* d, const varve::Options& o) -> Status {
    if (name == nullptr) return NullArgument("name");
    handle = std::make_unique<rocksdb_column_family_handle_t>();
    handle->owned = true;
    Status s = options->CheckLacking();
    if (!s.ok()) return s;
    options->KeepFor(&db->kept);
    return d->CreateColumnFamily(o, name, &handle->rep);
  });
  return made ? handle.release() : nullptr;
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
  for (int i = 0; i < num_families; ++i) {
    list[i] = rocksdb_create_column_family(db, options, names[i], errptr);
    if (list[i] == nullptr) break;
    ++*num_created;
  }
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
