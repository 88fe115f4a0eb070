// SPDX-License-Identifier: Apache-2.0
#pragma once

// The trace of one database's calls: whether there is one, what it leaves out, and its writer.

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
// Thread safety: any. The writer runs under a lock; what it calls of the database in the meantime
// is not noted. Errors: the first one is kept for End, and nothing is noted after it.
class QueryTrace {
 public:
  // The clock must outlive the trace.
  explicit QueryTrace(SystemClock* clock) : clock_(clock) {}
  QueryTrace(const QueryTrace&) = delete;
  QueryTrace& operator=(const QueryTrace&) = delete;

  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }

  Status Start(const TraceOptions& options, std::unique_ptr<TraceWriter> writer);
  // Returns the first error of the trace; IOError if there is no trace.
  Status End();
  // Ends the trace if there is one, and allows no other. For Close.
  Status Shutdown();

  void NoteGet(uint32_t family, const Slice& key) noexcept;
  // `families` has the id of each key.
  void NoteMultiGet(std::span<const uint32_t> families, const Slice* keys) noexcept;
  // `type` is that of a seek; bounds may be null.
  void NoteSeek(TraceType type, uint32_t family, const Slice& target, const Slice* lower,
                const Slice* upper) noexcept;
  // The write has `count` updates, which are the bytes of `first` and `second`.
  void NoteWrite(uint32_t count, const Slice& first, const Slice& second) noexcept;

  // Keeps other writes out from the note of a write until it has its place in the order, if the
  // options ask for that. A write within a callback of another one, or of the writer, is let in.
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
  // Encodes a call with `encode` and writes it, unless it is filtered out or not drawn.
  template <typename Encode>
  void Note(TraceFilterType filter, Encode encode) noexcept;
  // Returns true if the call is to be recorded, which counts it.
  bool IsDrawn(TraceFilterType filter) VARVE_REQUIRES(mu_);
  Status EndLocked() VARVE_REQUIRES(mu_);

  SystemClock* const clock_;
  std::atomic<bool> on_{false};
  std::atomic<bool> preserves_order_{false};
  Mutex order_;  // taken before mu_, and held over a whole commit
  Mutex mu_;     // held over I/O
  TraceOptions options_ VARVE_GUARDED_BY(mu_);
  std::unique_ptr<TraceWriter> writer_ VARVE_GUARDED_BY(mu_);  // null: there is no trace
  uint64_t passed_over_ VARVE_GUARDED_BY(mu_) = 0;             // calls since the last recorded one
  std::string record_ VARVE_GUARDED_BY(mu_);
  Status status_ VARVE_GUARDED_BY(mu_);
  bool shut_down_ VARVE_GUARDED_BY(mu_) = false;
};

}  // namespace varve
