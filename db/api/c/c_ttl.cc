// SPDX-License-Identifier: Apache-2.0
// Implements databases whose entries have a lifetime for the C API.
#include "varve/utilities/db_ttl.h"

#include "db/api/c/c_open.h"
#include "db/api/c/c_types.h"

using varve::DB;
using varve::DBWithTTL;
using varve::Slice;
using varve::Status;
using varve::c::CreateFamily;
using varve::c::Family;
using varve::c::NullArgument;
using varve::c::OpenDefault;
using varve::c::OpenFamilies;
using varve::c::RunOnDb;

namespace {

// Calls `body` with the database, if it has lifetimes.
template <typename Body>
Status OnTtl(DB* db, Body body) {
  auto* const with_ttl = dynamic_cast<DBWithTTL*>(db);
  if (with_ttl != nullptr) return body(with_ttl);
  return Status::InvalidArgument("C API: the database was not opened with a TTL");
}

}  // namespace

rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* options, const char* name, int ttl,
                                 char** errptr) {
  return OpenDefault(options, name, errptr,
                     [&](const auto& o, const std::string& n, rocksdb_t* db) -> Status {
                       DBWithTTL* raw = nullptr;
                       Status s = DBWithTTL::Open(o, n, &raw, ttl);
                       db->rep.reset(raw);
                       return s;
                     });
}

rocksdb_t* rocksdb_open_column_families_with_ttl(const rocksdb_options_t* options, const char* name,
                                                 int num_families, const char* const* family_names,
                                                 const rocksdb_options_t* const* family_options,
                                                 rocksdb_column_family_handle_t** handles,
                                                 const int* ttls, char** errptr) {
  return OpenFamilies(
      options, name, {num_families, family_names, family_options, handles}, errptr,
      [&](const auto& o, const std::string& n, const auto& families, auto* opened,
          std::unique_ptr<DB>* db) -> Status {
        if (ttls == nullptr) return NullArgument("ttls");
        DBWithTTL* raw = nullptr;
        Status s = DBWithTTL::Open(o, n, families, opened, &raw, {ttls, ttls + families.size()});
        db->reset(raw);
        return s;
      });
}

rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(
    rocksdb_t* db, const rocksdb_options_t* options, const char* name, int ttl, char** errptr) {
  return CreateFamily(db, options, name, errptr,
                      [ttl](DB* d, const varve::Options& with, const std::string& family,
                            varve::ColumnFamilyHandle** made) {
                        return OnTtl(d, [&](DBWithTTL* with_ttl) {
                          return with_ttl->CreateColumnFamilyWithTtl(with, family, made, ttl);
                        });
                      });
}

void rocksdb_set_ttl_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, int ttl,
                        char** errptr) {
  RunOnDb(db, errptr, [&](DB* d) {
    return OnTtl(d, [&](DBWithTTL* with_ttl) {
      // SetTtl has no status, so GetTtl tells whether the family is one of this database.
      int32_t before = 0;
      Status s = with_ttl->GetTtl(Family(family), &before);
      if (s.ok()) with_ttl->SetTtl(Family(family), ttl);
      return s;
    });
  });
}

int rocksdb_get_ttl_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family, char** errptr) {
  int32_t ttl = 0;
  RunOnDb(db, errptr, [&](DB* d) {
    return OnTtl(d, [&](DBWithTTL* with_ttl) { return with_ttl->GetTtl(Family(family), &ttl); });
  });
  return ttl;
}

void rocksdb_put_with_ttl_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                             const char* val, size_t vallen, int ttl, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const varve::WriteOptions& o) {
    return OnTtl(d, [&](DBWithTTL* with_ttl) {
      return with_ttl->PutWithTtl(o, Family(family), Slice(key, keylen), Slice(val, vallen), ttl);
    });
  });
}
