// SPDX-License-Identifier: Apache-2.0
// Implements traces of calls and their replay for the C API.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/trace_reader_writer.h"
#include "varve/trace_record_result.h"
#include "varve/utilities/replayer.h"

#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"
#include "util/base/status_macros.h"

using varve::DB;
using varve::Status;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::RunOnDb;

struct rocksdb_trace_reader_t {
  std::unique_ptr<varve::TraceReader> rep;
};

struct rocksdb_replayer_t {
  std::unique_ptr<varve::Replayer> rep;
};

namespace {

Status CheckFile(const rocksdb_env_t* env, const rocksdb_envoptions_t* options, const char* path) {
  if (env == nullptr) return NullArgument("env");
  if (options == nullptr) return NullArgument("env_options");
  return path == nullptr ? NullArgument("path") : Status::OK();
}

Status OpenReader(const rocksdb_env_t* env, const rocksdb_envoptions_t* options, const char* path,
                  std::unique_ptr<varve::TraceReader>* reader) {
  VARVE_RETURN_IF_ERROR(CheckFile(env, options, path));
  return varve::NewFileTraceReader(env->rep, options->rep, path, reader);
}

}  // namespace

void rocksdb_start_trace(rocksdb_t* db, rocksdb_env_t* env, const rocksdb_envoptions_t* env_options,
                         const rocksdb_trace_options_t* options, const char* path, char** errptr) {
  RunOnDb(db, options, errptr, [&](DB* d, const varve::TraceOptions& o) -> Status {
    // The file is made only for a trace whose arguments are right.
    VARVE_RETURN_IF_ERROR(CheckFile(env, env_options, path));
    std::unique_ptr<varve::TraceWriter> writer;
    VARVE_RETURN_IF_ERROR(varve::NewFileTraceWriter(env->rep, env_options->rep, path, &writer));
    return d->StartTrace(o, std::move(writer));
  });
}

void rocksdb_end_trace(rocksdb_t* db, char** errptr) {
  RunOnDb(db, errptr, [](DB* d) { return d->EndTrace(); });
}

rocksdb_trace_reader_t* rocksdb_trace_reader_create(rocksdb_env_t* env,
                                                    const rocksdb_envoptions_t* env_options,
                                                    const char* path, char** errptr) {
  std::unique_ptr<rocksdb_trace_reader_t> reader;
  const bool opened = Run(errptr, [&] {
    reader = std::make_unique<rocksdb_trace_reader_t>();
    return OpenReader(env, env_options, path, &reader->rep);
  });
  return opened ? reader.release() : nullptr;
}

void rocksdb_trace_reader_destroy(rocksdb_trace_reader_t* reader) {
  delete reader;
}

char* rocksdb_trace_reader_read(rocksdb_trace_reader_t* reader, size_t* size, char** errptr) {
  if (size != nullptr) *size = 0;
  char* copy = nullptr;
  Run(errptr, [&]() -> Status {
    if (reader == nullptr) return NullArgument("reader");
    if (size == nullptr) return NullArgument("size");
    std::string record;
    VARVE_RETURN_IF_ERROR(reader->rep->Read(&record));
    copy = varve::c::CopyBytes(record);
    if (copy == nullptr) return Status::MemoryLimit();
    *size = record.size();
    return Status::OK();
  });
  return copy;
}

void rocksdb_trace_reader_reset(rocksdb_trace_reader_t* reader, char** errptr) {
  Run(errptr, [&]() -> Status {
    return reader == nullptr ? NullArgument("reader") : reader->rep->Reset();
  });
}

void rocksdb_trace_reader_close(rocksdb_trace_reader_t* reader, char** errptr) {
  Run(errptr, [&]() -> Status {
    return reader == nullptr ? NullArgument("reader") : reader->rep->Close();
  });
}

rocksdb_replayer_t* rocksdb_new_default_replayer(rocksdb_t* db,
                                                 rocksdb_column_family_handle_t** families,
                                                 size_t num_families, rocksdb_env_t* env,
                                                 const rocksdb_envoptions_t* env_options,
                                                 const char* path, char** errptr) {
  std::unique_ptr<rocksdb_replayer_t> replayer;
  const bool made = RunOnDb(db, errptr, [&](DB* d) -> Status {
    if (families == nullptr && num_families != 0) return NullArgument("families");
    std::vector<varve::ColumnFamilyHandle*> handles;
    for (size_t i = 0; i < num_families; ++i) {
      if (families[i] == nullptr) return NullArgument("family");
      handles.push_back(families[i]->rep);
    }
    std::unique_ptr<varve::TraceReader> reader;
    VARVE_RETURN_IF_ERROR(OpenReader(env, env_options, path, &reader));
    replayer = std::make_unique<rocksdb_replayer_t>();
    return d->NewDefaultReplayer(handles, std::move(reader), &replayer->rep);
  });
  return made ? replayer.release() : nullptr;
}

void rocksdb_replayer_destroy(rocksdb_replayer_t* replayer) {
  delete replayer;
}

void rocksdb_replayer_prepare(rocksdb_replayer_t* replayer, char** errptr) {
  Run(errptr, [&]() -> Status {
    return replayer == nullptr ? NullArgument("replayer") : replayer->rep->Prepare();
  });
}

void rocksdb_replayer_replay(rocksdb_replayer_t* replayer, const rocksdb_replay_options_t* options,
                             char** errptr) {
  Run(errptr, [&]() -> Status {
    if (replayer == nullptr) return NullArgument("replayer");
    if (options == nullptr) return NullArgument("options");
    return replayer->rep->Replay(options->rep, /*result_callback=*/nullptr);
  });
}

uint64_t rocksdb_replayer_get_header_timestamp(const rocksdb_replayer_t* replayer) {
  return replayer == nullptr ? 0 : replayer->rep->GetHeaderTimestamp();
}
