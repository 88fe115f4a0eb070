// SPDX-License-Identifier: Apache-2.0
#pragma once

// QueryTrace records the calls of one database while a trace runs: it filters and samples them, and
// passes their records to the user's writer.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/system_clock.h"
#include "varve/trace_reader_writer.h"
#include "varve/trace_record.h"

#include "util/sync/mutex.h"

namespace varve {

// A caller asks on() before it notes a call, so that a database without a trace pays one load.
//
// Thread safety: any thread. The writer runs under a lock; calls that it makes to the database are
// not recorded. Errors: the first one is kept for End, and nothing is recorded after it.
class QueryTrace {
 public:
  // The clock must outlive the trace.
  explicit QueryTrace(SystemClock* clock) : clock_(clock) {}
  QueryTrace(const QueryTrace&) = delete;
  QueryTrace& operator=(const QueryTrace&) = delete;

  // True while a trace runs that has met no error.
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }

  // Begins a trace and writes its header. Busy: a trace runs already. InvalidArgument: the writer
  // is null, or the filter has unknown bits. Aborted: a trace's writer makes this call.
  // ShutdownInProgress: Shutdown was called. Otherwise returns the writer's error.
  Status Start(const TraceOptions& options, std::unique_ptr<TraceWriter> writer);
  // Ends the trace and closes its writer. Returns the first error of the trace. IOError: none runs.
  // Aborted: a trace's writer makes this call. ShutdownInProgress: Shutdown was called.
  Status End();
  // Ends the trace like End if one runs, and refuses later ones. For Close. Aborted: a trace's
  // writer makes this call, and nothing is done.
  Status Shutdown();

  // Record one call each, if a trace runs that does not leave it out. An error ends the recording.
  // Families are given by their ids; keys, targets and bounds are user keys as the call was given
  // them, without timestamps.
  void NoteGet(uint32_t family, const Slice& key) noexcept;
  // `families` has the family of each key.
  void NoteMultiGet(std::span<const uint32_t> families, const Slice* keys) noexcept;
  // `type` is that of a seek; bounds may be null.
  void NoteSeek(TraceType type, uint32_t family, const Slice& target, const Slice* lower,
                const Slice* upper) noexcept;
  // The write has `count` updates, whose records are the bytes of `first` and then of `second`.
  void NoteWrite(uint32_t count, const Slice& first, const Slice& second) noexcept;

  // Keeps other writes out while it lives, from the record of a write to its commit, if
  // TraceOptions::preserve_write_order asks for that. A write that is made in a callback of another
  // one, or by the trace's writer, is not kept out.
  class WriteOrder {
   public:
    explicit WriteOrder(QueryTrace* trace);
    ~WriteOrder();
    WriteOrder(const WriteOrder&) = delete;
    WriteOrder& operator=(const WriteOrder&) = delete;

   private:
    std::optional<MutexLock> lock_;
  };

 private:
  // Encodes a call with encode(micros, record) and writes it, unless it is left out (IsDrawn).
  template <typename Encode>
  void Note(TraceFilterType filter, Encode encode) noexcept;
  // Returns true if a call of this kind is to be recorded: it passes the filter, the file has room,
  // and the call is the next of the sample. Counts the call.
  bool IsDrawn(TraceFilterType filter) VARVE_REQUIRES(mu_);
  // Does the work of End. Requires that a trace runs.
  Status EndLocked() VARVE_REQUIRES(mu_);

  SystemClock* const clock_;
  std::atomic<bool> on_{false};
  std::atomic<bool> preserves_order_{false};
  Mutex order_;  // Locked before mu_, and held over a whole commit (WriteOrder).
  Mutex mu_;     // Held over I/O.
  TraceOptions options_ VARVE_GUARDED_BY(mu_);
  std::unique_ptr<TraceWriter> writer_ VARVE_GUARDED_BY(mu_);  // Null: there is no trace.
  uint64_t passed_over_ VARVE_GUARDED_BY(mu_) = 0;             // Calls since the last recorded one.
  std::string record_ VARVE_GUARDED_BY(mu_);  // The record being written; its memory is reused.
  // The error after which nothing more is recorded; EndTrace returns it.
  Status status_ VARVE_GUARDED_BY(mu_);
  bool shut_down_ VARVE_GUARDED_BY(mu_) = false;  // The database is closed.
};

}  // namespace varve
