// SPDX-License-Identifier: Apache-2.0

// Implements the calls that start and end a trace, adds calls to it, and makes replayers.

#include <span>
#include <utility>
#include <vector>

#include "varve/trace_reader_writer.h"
#include "varve/utilities/replayer.h"

#include "db/api/db_impl.h"
#include "db/engine/prepared_transactions.h"
#include "db/trace/replayer.h"
#include "db/write/write_batch_internal.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

// Returns the records of a batch without its header; a trace has a count and a sequence number of
// its own.
Slice Updates(const Slice& batch) {
  return batch.size() <= kBatchHeaderBytes
             ? Slice()
             : Slice(batch.data() + kBatchHeaderBytes, batch.size() - kBatchHeaderBytes);
}

// Adds the updates that a request applies to the trace. The updates of a prepared transaction are
// added at its commit, which applies them; its other steps apply none.
void NoteRequest(QueryTrace* trace, const WriteRequest& request) {
  const TwoPhaseStep* const step = request.step();
  if (step == nullptr) {
    // A batch begins with its sequence number and the number of its updates.
    const Slice& head = request.head();
    const uint32_t count =
        head.size() < kBatchHeaderBytes ? 0 : DecodeFixed32(head.data() + sizeof(SequenceNumber));
    trace->NoteWrite(count, Updates(head), request.tail());
  } else if (step->kind == TwoPhaseStep::Kind::kCommit) {
    trace->NoteWrite(step->updates->Count() + step->commit_time->Count(),
                     Updates(WriteBatchInternal::Contents(*step->commit_time)),
                     Updates(WriteBatchInternal::Contents(*step->updates)));
  }
}

}  // namespace

Status DbImpl::StartTrace(const TraceOptions& options,
                          std::unique_ptr<TraceWriter>&& trace_writer) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  return engine_->trace.Start(options, std::move(trace_writer));
} catch (...) {
  return CaughtException();
}

Status DbImpl::EndTrace() try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  return engine_->trace.End();
} catch (...) {
  return CaughtException();
}

Status DbImpl::NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                                  std::unique_ptr<TraceReader>&& reader,
                                  std::unique_ptr<Replayer>* replayer) try {
  if (replayer == nullptr || reader == nullptr) {
    return Status::InvalidArgument("NewDefaultReplayer: a pointer is null");
  }
  replayer->reset();
  VARVE_RETURN_IF_ERROR(CheckOpen());
  for (ColumnFamilyHandle* const handle : handles) VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  *replayer = MakeReplayer(this, handles, std::move(reader));
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::CommitTraced(const WriteOptions& options, WriteRequest* request,
                            UserWriteCallback* callback) {
  // The note is made before the commit. If the options of the trace ask for that, other writes are
  // kept out from the note to the commit, so that the trace has writes in the order in which they
  // are committed.
  const QueryTrace::WriteOrder order(&engine_->trace);
  NoteRequest(&engine_->trace, *request);
  return engine_->state.commit->Commit(options, request, callback);
}

void DbImpl::TraceMultiGet(const ColumnFamily& family, const KeyBatch& batch) noexcept {
  BestEffort([&] {
    // A read that cannot be added to the trace, as for lack of memory, must not fail for that.
    const std::vector<uint32_t> families(batch.n, family.id());
    engine_->trace.NoteMultiGet(families, batch.keys);
  });
}

void DbImpl::TraceMultiGet(ColumnFamilyHandle** handles, const KeyBatch& batch) noexcept {
  BestEffort([&] {
    std::vector<uint32_t> families;
    std::vector<Slice> keys;
    for (size_t i = 0; i < batch.n; i++) {
      // Keys of wrong handles are not read either, so a replay leaves them out.
      if (!CheckHandle(handles[i]).ok()) continue;
      families.push_back(handles[i]->GetID());
      keys.push_back(batch.keys[i]);
    }
    engine_->trace.NoteMultiGet(families, keys.data());
  });
}

}  // namespace varve
