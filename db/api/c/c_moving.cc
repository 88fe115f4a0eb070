// SPDX-License-Identifier: Apache-2.0
// Implements ingestion for the C API.
#include "varve/env.h"

#include "db/api/c/c_types.h"

using varve::DB;
using varve::IngestExternalFileOptions;
using varve::Status;
using varve::c::NullArgument;
using varve::c::RunOnDb;

// ---- Files opened by this library ----

void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t* options,
                                         rocksdb_ratelimiter_t* rate_limiter) {
  if (options == nullptr) return;
  options->rep.rate_limiter = rate_limiter == nullptr ? nullptr : rate_limiter->rep.get();
}

// ---- Ingestion ----

namespace {

// Ingests the files of a C list of names.
Status Ingest(DB* db, varve::ColumnFamilyHandle* family, const char* const* file_list,
              size_t list_len, const IngestExternalFileOptions& options) {
  if (file_list == nullptr && list_len != 0) return NullArgument("file_list");
  std::vector<std::string> files;
  for (size_t i = 0; i < list_len; ++i) {
    if (file_list[i] == nullptr) return NullArgument("file name");
    files.emplace_back(file_list[i]);
  }
  return db->IngestExternalFile(family, files, options);
}

}  // namespace

void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list, size_t list_len,
                                  const rocksdb_ingestexternalfileoptions_t* options,
                                  char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const IngestExternalFileOptions& o) {
    return Ingest(d, d->DefaultColumnFamily(), file_list, list_len, o);
  });
}

void rocksdb_ingest_external_file_cf(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                     const char* const* file_list, size_t list_len,
                                     const rocksdb_ingestexternalfileoptions_t* options,
                                     char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const IngestExternalFileOptions& o) {
    if (family == nullptr) return NullArgument("family");
    return Ingest(d, family->rep, file_list, list_len, o);
  });
}
