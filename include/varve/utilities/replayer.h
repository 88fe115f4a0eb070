// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Replayer makes the calls of a query trace again.
//
// DB::StartTrace records writes, Get, GetEntity, GetMergeOperands, MultiGet, and Seek and
// SeekForPrev of all iterators, until DB::EndTrace or DB::Close. A call is recorded before its
// outcome is known; of a prepared transaction its commit is. Busy: a trace runs already.
// InvalidArgument: the writer is null, or the filter has unknown bits.
//
// DB::EndTrace closes the writer, and returns its first error, after which nothing more was
// recorded. IOError: no trace runs.
//
// DB::NewDefaultReplayer makes a replayer of the trace that its reader has. The database and the
// handles, which may be of some column families only, must outlive it.

#include <cstdint>
#include <functional>
#include <memory>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

class TraceRecord;
class TraceRecordResult;

// Options of Replayer::Replay.
struct ReplayOptions {
  // Number of threads that make the calls, at most 1024 (else InvalidArgument). With 0 or 1 the
  // calling thread makes them. Several threads may make calls in another order than the trace has.
  uint32_t num_threads = 1;

  // Speed of the replay: with 2 it takes half of the time that the trace took. InvalidArgument
  // unless positive.
  double fast_forward = 1.0;

  ReplayOptions() = default;
  ReplayOptions(uint32_t num_of_threads, double fast_forward_ratio)
      : num_threads(num_of_threads), fast_forward(fast_forward_ratio) {}
};

// Thread safety: one thread uses it at a time, except Next and Execute, which any number may call.
class VARVE_EXPORT Replayer {
 public:
  virtual ~Replayer() = default;

  // Reads the header of the trace. Must be called first; a later call goes back to the beginning.
  // Corruption: the reader has no trace. NotSupported: the trace has an unknown version.
  virtual Status Prepare() = 0;

  // Returns when the trace began, in microseconds since 1970; 0 before Prepare.
  virtual uint64_t GetHeaderTimestamp() const = 0;

  // Sets *record to the next call. Incomplete: there is none, or Prepare has not been called.
  // NotSupported: it is of a type that cannot be replayed; the next one can be asked for.
  virtual Status Next(std::unique_ptr<TraceRecord>* record) = 0;

  // Makes the call of one record at once, and returns its error, if any. Sets *result, unless
  // `result` is null, to its outcome.
  virtual Status Execute(const std::unique_ptr<TraceRecord>& record,
                         std::unique_ptr<TraceRecordResult>* result) = 0;

  // Makes all calls that are left, each when it is due. `result_callback`, unless null, gets the
  // outcome of each, from several threads at once if there are several: a result, or null and an
  // error. A failed call does not end the replay. Returns OK at the end of the trace; Corruption if
  // it is damaged and Incomplete if it was cut, after all calls before that place.
  virtual Status Replay(
      const ReplayOptions& options,
      const std::function<void(Status, std::unique_ptr<TraceRecordResult>&&)>& result_callback) = 0;
};

}  // namespace varve
