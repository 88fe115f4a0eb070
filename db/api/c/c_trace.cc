// SPDX-License-Identifier: Apache-2.0
// Implements traces for the C API: options are kept, starting one is not supported.
#include "db/api/c/c_types.h"

using varve::Status;

namespace {

using Bytes = char*;

Status NoTraces() {
  return Status::NotSupported("C API: this engine does not have traces");
}

}  // namespace

// ---- Options ----

struct rocksdb_trace_options_t {
  struct {
    uint64_t filter = 0;
    uint64_t max_trace_file_size = uint64_t{64} << 30;
    bool preserve_write_order = false;
    uint64_t sampling_frequency = 1;
  } rep;
};

VARVE_C_HANDLE(trace_options);
VARVE_C_FIELD(trace_options, filter, uint64_t);
VARVE_C_FIELD(trace_options, max_trace_file_size, uint64_t);
VARVE_C_FIELD(trace_options, preserve_write_order, unsigned char);
VARVE_C_FIELD(trace_options, sampling_frequency, uint64_t);

struct rocksdb_block_cache_trace_options_t {
  struct {
    uint64_t sampling_frequency = 1;
  } rep;
};

VARVE_C_HANDLE(block_cache_trace_options);
VARVE_C_FIELD(block_cache_trace_options, sampling_frequency, uint64_t);

struct rocksdb_block_cache_trace_writer_options_t {
  struct {
    uint64_t max_trace_file_size = uint64_t{64} << 30;
  } rep;
};

VARVE_C_HANDLE(block_cache_trace_writer_options);
VARVE_C_FIELD(block_cache_trace_writer_options, max_trace_file_size, uint64_t);

struct rocksdb_replay_options_t {
  struct {
    double fast_forward = 1.0;
    uint32_t num_threads = 1;
  } rep;
};

VARVE_C_HANDLE(replay_options);
VARVE_C_FIELD(replay_options, fast_forward, double);
VARVE_C_FIELD(replay_options, num_threads, uint32_t);

// ---- Traces and replays, of which there are none ----

VARVE_C_REFUSES(void, rocksdb_end_block_cache_trace, NoTraces, (rocksdb_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_end_io_trace, NoTraces, (rocksdb_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_end_trace, NoTraces, (rocksdb_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_start_block_cache_trace, NoTraces,
                (rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*,
                 const rocksdb_trace_options_t*, const char*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_start_block_cache_trace_with_options, NoTraces,
                (rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*,
                 const rocksdb_block_cache_trace_options_t*,
                 const rocksdb_block_cache_trace_writer_options_t*, const char*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_start_io_trace, NoTraces,
                (rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*,
                 const rocksdb_trace_options_t*, const char*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_start_trace, NoTraces,
                (rocksdb_t*, rocksdb_env_t*, const rocksdb_envoptions_t*,
                 const rocksdb_trace_options_t*, const char*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_trace_reader_close, NoTraces,
                (rocksdb_trace_reader_t*, char** errptr));
VARVE_C_REFUSES(rocksdb_trace_reader_t*, rocksdb_trace_reader_create, NoTraces,
                (rocksdb_env_t*, const rocksdb_envoptions_t*, const char*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_trace_reader_destroy, (rocksdb_trace_reader_t*));
VARVE_C_REFUSES_VALUE(Bytes, rocksdb_trace_reader_read, NoTraces,
                      (rocksdb_trace_reader_t*, size_t* size, char** errptr));
VARVE_C_REFUSES(void, rocksdb_trace_reader_reset, NoTraces,
                (rocksdb_trace_reader_t*, char** errptr));
VARVE_C_REFUSES(rocksdb_replayer_t*, rocksdb_new_default_replayer, NoTraces,
                (rocksdb_t*, rocksdb_column_family_handle_t**, size_t, rocksdb_env_t*,
                 const rocksdb_envoptions_t*, const char*, char** errptr));
VARVE_C_DOES_NOTHING(void, rocksdb_replayer_destroy, (rocksdb_replayer_t*));
VARVE_C_DOES_NOTHING(uint64_t, rocksdb_replayer_get_header_timestamp, (const rocksdb_replayer_t*));
VARVE_C_REFUSES(void, rocksdb_replayer_prepare, NoTraces, (rocksdb_replayer_t*, char** errptr));
VARVE_C_REFUSES(void, rocksdb_replayer_replay, NoTraces,
                (rocksdb_replayer_t*, const rocksdb_replay_options_t*, char** errptr));
