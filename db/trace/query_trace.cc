// SPDX-License-Identifier: Apache-2.0

// A call asks on() without a lock. Note does the rest under mu_: it decides whether the call
// belongs to the sample, encodes it, and calls the user's writer. So each record is written as a
// whole, in the order in which calls locked mu_. The first error of the writer turns on_ off and is
// kept for EndTrace.
//
// Two thread-local flags keep a thread from waiting for itself. in_writer: the writer, which runs
// under mu_, may use the database, and the calls that it makes are not recorded. in_order: a write
// that holds the order of writes (WriteOrder, over its whole commit) may make another write in a
// callback, which does not lock the order again.

#include "db/trace/query_trace.h"

#include <utility>

#include "db/trace/trace_format.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

constexpr uint64_t kFilterBits = kTraceFilterGet | kTraceFilterWrite | kTraceFilterIteratorSeek |
                                 kTraceFilterIteratorSeekForPrev | kTraceFilterMultiGet;

// True while this thread is in the writer of a trace, and while it holds a trace's order of writes.
thread_local bool in_writer = false;
thread_local bool in_order = false;

// Sets in_writer for a scope.
class InWriter {
 public:
  InWriter() { in_writer = true; }
  ~InWriter() { in_writer = false; }
  InWriter(const InWriter&) = delete;
  InWriter& operator=(const InWriter&) = delete;
};

Status RefusedInWriter(const char* call) {
  return Status::Aborted(std::string(call) + ": the trace's writer makes this call");
}

}  // namespace

Status QueryTrace::Start(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) {
  if (writer == nullptr) return Status::InvalidArgument("StartTrace: the writer is null");
  if ((options.filter & ~kFilterBits) != 0) {
    return Status::InvalidArgument("StartTrace: filter " + std::to_string(options.filter) +
                                   " has bits that are no TraceFilterType");
  }
  if (in_writer) return RefusedInWriter("StartTrace");
  const MutexLock lock(&mu_);
  if (shut_down_) return Status::ShutdownInProgress("StartTrace: the database is closed");
  if (writer_ != nullptr) return Status::Busy("StartTrace: a trace runs already; call EndTrace");
  trace::EncodeBegin(clock_->NowMicros(), &record_);
  const InWriter here;
  VARVE_RETURN_IF_ERROR(writer->Write(record_));
  options_ = options;
  writer_ = std::move(writer);
  passed_over_ = 0;
  status_ = Status::OK();
  preserves_order_.store(options.preserve_write_order, std::memory_order_relaxed);
  on_.store(true, std::memory_order_relaxed);
  return Status::OK();
}

Status QueryTrace::End() {
  if (in_writer) return RefusedInWriter("EndTrace");
  const MutexLock lock(&mu_);
  if (shut_down_) return Status::ShutdownInProgress("EndTrace: the database is closed");
  if (writer_ == nullptr) return Status::IOError("EndTrace: no trace runs");
  return EndLocked();
}

Status QueryTrace::Shutdown() {
  if (in_writer) return RefusedInWriter("Close");
  const MutexLock lock(&mu_);
  shut_down_ = true;
  return writer_ == nullptr ? Status::OK() : EndLocked();
}

Status QueryTrace::EndLocked() {
  on_.store(false, std::memory_order_relaxed);
  preserves_order_.store(false, std::memory_order_relaxed);
  const std::unique_ptr<TraceWriter> writer = std::move(writer_);
  const InWriter here;
  Status s = std::exchange(status_, Status::OK());
  if (s.ok()) {
    trace::EncodeEnd(clock_->NowMicros(), &record_);
    s = writer->Write(record_);
  }
  const Status closed = writer->Close();
  record_ = std::string();
  return s.ok() ? closed : s;
}

bool QueryTrace::IsDrawn(TraceFilterType filter) {
  if (writer_ == nullptr || !status_.ok() || (options_.filter & filter) != 0) return false;
  if (writer_->GetFileSize() >= options_.max_trace_file_size) return false;
  if (++passed_over_ < options_.sampling_frequency) return false;
  passed_over_ = 0;
  return true;
}

template <typename Encode>
void QueryTrace::Note(TraceFilterType filter, Encode encode) noexcept {
  if (in_writer) return;
  const MutexLock lock(&mu_);
  const InWriter here;
  const Status s = Guarded([&] {
    mu_.AssertHeld();
    if (!IsDrawn(filter)) return Status::OK();
    VARVE_RETURN_IF_ERROR(encode(clock_->NowMicros(), &record_));
    return writer_->Write(record_);
  });
  if (s.ok()) return;
  status_ = s;
  on_.store(false, std::memory_order_relaxed);
}

void QueryTrace::NoteGet(uint32_t family, const Slice& key) noexcept {
  Note(kTraceFilterGet, [&](uint64_t micros, std::string* record) {
    return trace::EncodeGet(micros, family, key, record);
  });
}

void QueryTrace::NoteMultiGet(std::span<const uint32_t> families, const Slice* keys) noexcept {
  Note(kTraceFilterMultiGet, [&](uint64_t micros, std::string* record) {
    return trace::EncodeMultiGet(micros, families, keys, record);
  });
}

void QueryTrace::NoteSeek(TraceType type, uint32_t family, const Slice& target, const Slice* lower,
                          const Slice* upper) noexcept {
  const TraceFilterType filter =
      type == kTraceIteratorSeek ? kTraceFilterIteratorSeek : kTraceFilterIteratorSeekForPrev;
  Note(filter, [&](uint64_t micros, std::string* record) {
    return trace::EncodeSeek(micros, type, family, target, lower, upper, record);
  });
}

void QueryTrace::NoteWrite(uint32_t count, const Slice& first, const Slice& second) noexcept {
  Note(kTraceFilterWrite, [&](uint64_t micros, std::string* record) {
    return trace::EncodeWrite(micros, count, first, second, record);
  });
}

QueryTrace::WriteOrder::WriteOrder(QueryTrace* trace) {
  if (!trace->preserves_order_.load(std::memory_order_relaxed)) return;
  // A write of the trace's writer is not recorded, and must not wait for the order: its holder may
  // be waiting for the writer.
  if (in_order || in_writer) return;
  lock_.emplace(&trace->order_);
  in_order = true;
}

QueryTrace::WriteOrder::~WriteOrder() {
  if (lock_.has_value()) in_order = false;
}

}  // namespace varve
