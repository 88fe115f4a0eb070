// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens databases of any kind through the C API, and makes families in them.

#include <memory>
#include <string>
#include <vector>

#include "db/api/c/c_types.h"
#include "util/base/assert.h"

namespace varve::c {

// Holds the arguments of an open with column families, as C has them.
struct FamilyArguments {
  // Length of the three arrays below.
  int count;
  const char* const* names;
  const rocksdb_options_t* const* options;
  rocksdb_column_family_handle_t** handles;
};

// Opens a database by `open`, which gets the C++ options, the name, and the handle whose `rep` it
// sets. Returns the handle, which the caller owns; null: *errptr has the error. `call` is the name
// of the C function, for messages.
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

// Appends the C++ descriptors of the families, and keeps in `kept` what their options use.
// InvalidArgument: `count` is negative, or an array or an element of it is null. Otherwise the
// error of an option that CheckLacking refuses.
inline Status ToDescriptors(const FamilyArguments& families,
                            std::vector<ColumnFamilyDescriptor>* descriptors, Kept* kept) {
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

// Opens a database by `open`, which also gets the descriptors of the families and a vector for
// their C++ handles. Sets families.handles only if the database was opened. The handles of C are
// allocated before `open` runs, so that nothing can fail after it.
template <typename Open>
rocksdb_t* OpenFamilies(const rocksdb_options_t* options, const char* name,
                        const FamilyArguments& families, char** errptr, Open open,
                        const char* call = __builtin_FUNCTION()) {
  std::vector<std::unique_ptr<rocksdb_column_family_handle_t>> handles;
  const auto open_all = [&](const Options& db_options, const std::string& db_name,
                            rocksdb_t* handle) -> Status {
    std::vector<ColumnFamilyDescriptor> descriptors;
    Status s = ToDescriptors(families, &descriptors, &handle->kept);
    if (!s.ok()) return s;
    for (size_t i = 0; i < descriptors.size(); ++i) {
      handles.push_back(std::make_unique<rocksdb_column_family_handle_t>());
    }
    std::vector<ColumnFamilyHandle*> opened;
    s = open(db_options, db_name, descriptors, &opened, &handle->rep);
    VARVE_ASSERT(!s.ok() || (opened.size() == handles.size() && handle->rep != nullptr));
    for (size_t i = 0; s.ok() && i < opened.size(); ++i) *handles[i] = {opened[i], true};
    return s;
  };
  rocksdb_t* db = OpenDefault(options, name, errptr, open_all, call);
  for (size_t i = 0; db != nullptr && i < handles.size(); ++i) {
    families.handles[i] = handles[i].release();
  }
  return db;
}

// Makes a column family of an open database: `create` gets the database, the options, the name and
// the place for the handle. Returns null after an error, unless the family exists all the same,
// because only its options could not be written down.
template <typename Create>
rocksdb_column_family_handle_t* CreateFamily(rocksdb_t* db, const rocksdb_options_t* options,
                                             const char* name, char** errptr, Create create,
                                             const char* call = __builtin_FUNCTION()) {
  std::unique_ptr<rocksdb_column_family_handle_t> handle;
  const auto checked = [&](DB* d, const Options& with) -> Status {
    if (name == nullptr) return NullArgument("name");
    handle = std::make_unique<rocksdb_column_family_handle_t>();
    handle->owned = true;
    Status s = options->CheckLacking();
    if (!s.ok()) return s;
    options->KeepFor(&db->kept);
    return create(d, with, std::string(name), &handle->rep);
  };
  RunOnDb(db, options, errptr, checked, call);
  return handle != nullptr && handle->rep != nullptr ? handle.release() : nullptr;
}

}  // namespace varve::c
