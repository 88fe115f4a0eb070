// SPDX-License-Identifier: Apache-2.0

// Implements ingestion: files from outside, in one call or in two steps.
//
//       PrepareFileIngestion     files are checked and staged; nothing is visible
//         handle, staged         Abort, ~handle or Close discard it; the first to Take it owns it
//       CommitFileIngestionHandles
//         all are taken, then one commit shows all files of all handles at one moment
//
// An ingestion in one call is the same two steps. A handle may outlive the database: it shares the
// list of staged ingestions, and finds there that Close has discarded its own.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "db/api/db_impl.h"
#include "db/ingest/commit.h"
#include "db/ingest/prepare.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// The user's handle of a prepared ingestion. It refers to the list of staged ingestions and not to
// the database, which it may outlive.
class IngestionHandle final : public FileIngestionHandle {
 public:
  IngestionHandle(std::shared_ptr<StagedIngestions> staged, std::shared_ptr<Ingestion> ingestion)
      : staged_(std::move(staged)), ingestion_(std::move(ingestion)) {}
  ~IngestionHandle() override { Abort().PermitUncheckedError(); }

  Status Abort() override {
    // Only the caller who has taken it may remove the staged files: Close, or a commit in another
    // thread, may be using them.
    VARVE_RETURN_IF_ERROR(Take("Abort"));
    ingestion_->Discard();
    return Status::OK();
  }

  // Returns OK for one caller, which then owns the ingestion.
  Status Take(const char* call) {
    if (staged_->Take(ingestion_.get())) return Status::OK();
    if (staged_->closed()) {
      return Status::ShutdownInProgress(call, "the database of the prepared ingestion is closed");
    }
    return Status::InvalidArgument(call, "the ingestion has been committed or aborted");
  }
  bool BelongsTo(const StagedIngestions* staged) const { return staged_.get() == staged; }
  const std::shared_ptr<Ingestion>& ingestion() const { return ingestion_; }

 private:
  const std::shared_ptr<StagedIngestions> staged_;
  const std::shared_ptr<Ingestion> ingestion_;
};

}  // namespace

Status DbImpl::IngestExternalFile(ColumnFamilyHandle* handle, const std::vector<std::string>& files,
                                  const IngestExternalFileOptions& options) try {
  IngestExternalFileArg arg;
  arg.column_family = handle;
  arg.external_files = files;
  arg.options = options;
  return IngestExternalFiles({arg});
} catch (...) {
  return CaughtException();
}

Status DbImpl::IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) try {
  std::unique_ptr<FileIngestionHandle> handle;
  VARVE_RETURN_IF_ERROR(PrepareFileIngestion(args, &handle));
  return CommitFileIngestionHandles({handle.get()});
} catch (...) {
  return CaughtException();
}

Status DbImpl::PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                                    std::unique_ptr<FileIngestionHandle>* handle) try {
  if (handle == nullptr) {
    return Status::InvalidArgument("PrepareFileIngestion: the place for the handle is null");
  }
  // A handle that the caller still has there is an ingestion of its own, which is discarded with
  // it.
  handle->reset();
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckWritable(call));
  const PerfTimer<&PerfContext::file_ingestion_nanos, kEnableTime> timer;
  std::shared_ptr<Ingestion> ingestion;
  VARVE_RETURN_IF_ERROR(PrepareIngestion(engine_.get(), args, &ingestion));
  *handle = std::make_unique<IngestionHandle>(engine_->staged_ingestions, std::move(ingestion));
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::CommitFileIngestionHandles(const std::vector<FileIngestionHandle*>& handles) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckWritable(call));
  const PerfTimer<&PerfContext::file_ingestion_nanos, kEnableTime> timer;
  // A callback that runs under the mutex is refused here: its ingestions stay prepared.
  if (active_work::mutex == &engine_->state.mu) {
    return HeldUp("CommitFileIngestionHandles", "the database's mutex,");
  }
  if (handles.empty()) {
    return Status::InvalidArgument("CommitFileIngestionHandles: no handles are given");
  }
  // All handles are judged before the first is taken, so that a wrong one leaves all of them
  // prepared.
  std::vector<IngestionHandle*> ours;
  for (FileIngestionHandle* const handle : handles) {
    auto* const one = dynamic_cast<IngestionHandle*>(handle);
    if (one == nullptr || !one->BelongsTo(engine_->staged_ingestions.get())) {
      return Status::InvalidArgument(
          "CommitFileIngestionHandles: a handle is null, or of another database");
    }
    if (std::ranges::find(ours, one) != ours.end()) {
      return Status::InvalidArgument("CommitFileIngestionHandles: a handle is given twice");
    }
    ours.push_back(one);
  }
  // Another thread may take one of them in between, or Close all: then those that were taken here
  // are put back into the list, and their handles can be committed again.
  std::vector<std::shared_ptr<Ingestion>> ingestions;
  for (IngestionHandle* const one : ours) {
    const Status s = one->Take("CommitFileIngestionHandles");
    if (!s.ok()) {
      for (const auto& taken : ingestions) engine_->staged_ingestions->Add(taken);
      return s;
    }
    ingestions.push_back(one->ingestion());
  }
  IngestCommit commit(engine_.get(), ingestions);
  const Status s = commit.Run();
  // A refusal that came before the first step has changed nothing (IngestCommit::begun), so the
  // program may try again with the same handles.
  if (!commit.begun()) {
    for (const auto& ingestion : ingestions) engine_->staged_ingestions->Add(ingestion);
    return s;
  }
  // After a commit, or a failure in the midst of one, nothing staged is needed. The tables that are
  // in force have names of their own.
  for (const auto& ingestion : ingestions) ingestion->Discard();
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
