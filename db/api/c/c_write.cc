// SPDX-License-Identifier: Apache-2.0
// Implements writes for the C API.
//
// Arguments become slices of the caller's bytes, which C++ copies into the log and the memtable
// before the call returns. Everything else is checked beneath.
#include "db/api/c/c_types.h"

using varve::DB;
using varve::Slice;
using varve::Status;
using varve::WriteOptions;
using varve::c::Family;
using varve::c::RunOnDb;

void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                 size_t keylen, const char* val, size_t vallen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Put(o, Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                    rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                    const char* val, size_t vallen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Put(o, Family(family), Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_put_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                         size_t keylen, const char* ts, size_t tslen, const char* val,
                         size_t vallen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Put(o, Slice(key, keylen), Slice(ts, tslen), Slice(val, vallen));
  });
}

void rocksdb_put_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                            rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                            const char* ts, size_t tslen, const char* val, size_t vallen,
                            char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Put(o, Family(family), Slice(key, keylen), Slice(ts, tslen), Slice(val, vallen));
  });
}

void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                    size_t keylen, char** errptr) {
  RunOnDb(db, options, errptr,
          [&](DB* d, const WriteOptions& o) { return d->Delete(o, Slice(key, keylen)); });
}

void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                       rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                       char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Delete(o, Family(family), Slice(key, keylen));
  });
}

void rocksdb_delete_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                            size_t keylen, const char* ts, size_t tslen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Delete(o, Slice(key, keylen), Slice(ts, tslen));
  });
}

void rocksdb_delete_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                               rocksdb_column_family_handle_t* family, const char* key,
                               size_t keylen, const char* ts, size_t tslen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Delete(o, Family(family), Slice(key, keylen), Slice(ts, tslen));
  });
}

void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                          size_t keylen, char** errptr) {
  RunOnDb(db, options, errptr,
          [&](DB* d, const WriteOptions& o) { return d->SingleDelete(o, Slice(key, keylen)); });
}

void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                             char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->SingleDelete(o, Family(family), Slice(key, keylen));
  });
}

void rocksdb_singledelete_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                  const char* key, size_t keylen, const char* ts, size_t tslen,
                                  char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->SingleDelete(o, Slice(key, keylen), Slice(ts, tslen));
  });
}

void rocksdb_singledelete_cf_with_ts(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                     rocksdb_column_family_handle_t* family, const char* key,
                                     size_t keylen, const char* ts, size_t tslen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->SingleDelete(o, Family(family), Slice(key, keylen), Slice(ts, tslen));
  });
}

void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* family, const char* start_key,
                             size_t start_key_len, const char* end_key, size_t end_key_len,
                             char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->DeleteRange(o, Family(family), Slice(start_key, start_key_len),
                          Slice(end_key, end_key_len));
  });
}

void rocksdb_merge(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                   size_t keylen, const char* val, size_t vallen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Merge(o, Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_merge_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                      rocksdb_column_family_handle_t* family, const char* key, size_t keylen,
                      const char* val, size_t vallen, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) {
    return d->Merge(o, Family(family), Slice(key, keylen), Slice(val, vallen));
  });
}

void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                   rocksdb_writebatch_t* batch, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const WriteOptions& o) -> Status {
    if (batch == nullptr) return varve::c::NullArgument("batch");
    if (!batch->failure.status().ok()) return batch->failure.status();
    return d->Write(o, &batch->rep);
  });
}
