// SPDX-License-Identifier: Apache-2.0
#pragma once

// TraceWriter and TraceReader are the files of query traces: DB::StartTrace writes one, and
// DB::NewDefaultReplayer reads one. Their format is RocksDB's, so its trace_analyzer and its
// replayer read them, too.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class Env;
struct EnvOptions;

// Stores a trace. The database calls it from one thread at a time, and does not record calls that
// it makes to the database itself.
class VARVE_EXPORT TraceWriter {
 public:
  virtual ~TraceWriter() = default;

  // Appends one whole record. An error ends the trace.
  virtual Status Write(const Slice& data) = 0;
  // Ends the trace. It is called once, after the last record.
  virtual Status Close() = 0;
  // Returns the bytes written so far, which TraceOptions::max_trace_file_size limits.
  virtual uint64_t GetFileSize() = 0;
};

// A source of a trace's records. Thread safety: the caller's, one call at a time.
class VARVE_EXPORT TraceReader {
 public:
  virtual ~TraceReader() = default;

  // Sets *data to the next whole record. Incomplete: there is none. Corruption: the file ends
  // within it.
  virtual Status Read(std::string* data) = 0;
  // Releases the source. A Replayer calls it when it is destroyed.
  virtual Status Close() = 0;
  // Goes back to the first record.
  virtual Status Reset() = 0;
};

// Creates a file for a trace; an existing one is emptied. *trace_writer is null after an error.
// InvalidArgument, here and below: `env` or the place for the result is null. The writer buffers,
// and Close writes the rest without syncing it; a writer that is destroyed unclosed loses what it
// has buffered. The writer keeps the FileSystem of `env`, and needs `env` itself no more.
VARVE_EXPORT Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                                       const std::string& trace_filename,
                                       std::unique_ptr<TraceWriter>* trace_writer);
// Opens the file of a trace, which may hold any bytes. A record within which the file ends is
// Corruption, with the file's name and the offset; other damage is found when records are decoded
// (Replayer::Next).
VARVE_EXPORT Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                                       const std::string& trace_filename,
                                       std::unique_ptr<TraceReader>* trace_reader);

}  // namespace varve
