// SPDX-License-Identifier: Apache-2.0

// Implements Checkpoint and CheckpointEngine. Arguments and options are checked here;
// db/copy/checkpoint_job.cc does the work, within a public call of the database that Close waits
// for.

#include "varve/utilities/checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/rate_limiter.h"

#include "db/copy/checkpoint_job.h"
#include "db/copy/copy_host.h"
#include "db/copy/export_file.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

using Families = std::vector<ColumnFamilyHandle*>;

// Sets *host to the database itself, since `db` may be a wrapper around it, such as a
// TransactionDB.
Status HostOf(DB* db, const char* call, CopyHost** host) {
  if (db == nullptr) return Status::InvalidArgument(call, "the database is null");
  *host = dynamic_cast<CopyHost*>(db->GetRootDB());
  if (*host != nullptr) return Status::OK();
  return Status::NotSupported(call, "of a database that is none of this library's");
}

Status CreateIn(CopyHost* host, const std::string& directory, const CheckpointWanted& wanted,
                uint64_t* sequence) {
  return host->WithEngine(
      [&](Engine* engine) { return MakeCheckpoint(engine, directory, wanted, sequence); });
}

class CheckpointOfDb final : public Checkpoint {
 public:
  explicit CheckpointOfDb(CopyHost* host) : host_(host) {}

  Status CreateCheckpoint(const std::string& checkpoint_dir, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override {
    return CreateCheckpoint(checkpoint_dir, Families(), log_size_for_flush, sequence_number_ptr);
  }

  Status CreateCheckpoint(const std::string& checkpoint_dir, const Families& column_families,
                          uint64_t log_size_for_flush, uint64_t* sequence_number_ptr) override try {
    CheckpointWanted wanted;
    wanted.families = column_families;
    wanted.log_size_for_flush = log_size_for_flush;
    return CreateIn(host_, checkpoint_dir, wanted, sequence_number_ptr);
  } catch (...) {
    return CaughtException();
  }

  Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                            ExportImportFilesMetaData** metadata) override {
    return host_->WithEngine(
        [&](Engine* engine) { return ExportFamily(engine, handle, export_dir, metadata); });
  }

 private:
  CopyHost* const host_;
};

class EngineOfCheckpoints final : public CheckpointEngine {
 public:
  explicit EngineOfCheckpoints(const CheckpointEngineOptions& options)
      : options_(options), limiter_(options.backup_rate_limiter) {
    if (limiter_ != nullptr || options.backup_rate_limit == 0) return;
    const auto rate = std::min<uint64_t>(options.backup_rate_limit, INT64_MAX);
    limiter_.reset(NewGenericRateLimiter(static_cast<int64_t>(rate)));
  }

  Status CreateCheckpoint(DB* db, const std::string& checkpoint_dir, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override {
    return CreateCheckpoint(db, checkpoint_dir, Families(), log_size_for_flush,
                            sequence_number_ptr);
  }

  Status CreateCheckpoint(DB* db, const std::string& checkpoint_dir,
                          const Families& column_families, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override try {
    CopyHost* host = nullptr;
    Status s = HostOf(db, "CreateCheckpoint", &host);
    if (!s.ok()) return s;
    CheckpointWanted wanted;
    wanted.families = column_families;
    wanted.log_size_for_flush = log_size_for_flush;
    wanted.limits.may_link = options_.use_link_file_when_available;
    wanted.limits.threads = options_.max_background_operations;
    wanted.limits.buffer_bytes = options_.io_buffer_size;
    wanted.limits.rate_limiter = limiter_.get();
    return CreateIn(host, checkpoint_dir, wanted, sequence_number_ptr);
  } catch (...) {
    return CaughtException();
  }

 private:
  const CheckpointEngineOptions options_;
  std::shared_ptr<RateLimiter> limiter_;
};

}  // namespace

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) try {
  if (checkpoint_ptr == nullptr) {
    return Status::InvalidArgument("Checkpoint::Create", "no place for the object");
  }
  *checkpoint_ptr = nullptr;
  CopyHost* host = nullptr;
  Status s = HostOf(db, "Checkpoint::Create", &host);
  if (s.ok()) *checkpoint_ptr = new CheckpointOfDb(host);
  return s;
} catch (...) {
  return CaughtException();
}

Status CheckpointEngine::Open(const CheckpointEngineOptions& options,
                              std::unique_ptr<CheckpointEngine>* engine) try {
  if (engine == nullptr) {
    return Status::InvalidArgument("CheckpointEngine::Open", "no place for the object");
  }
  engine->reset();
  if (options.max_background_operations < 1) {
    return Status::InvalidArgument("CheckpointEngine::Open",
                                   "max_background_operations must be at least 1");
  }
  *engine = std::make_unique<EngineOfCheckpoints>(options);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status ReadExport(Env* env, const std::string& export_dir,
                  ExportImportFilesMetaData** metadata) try {
  if (env == nullptr || metadata == nullptr || *metadata != nullptr) {
    return Status::InvalidArgument(
        "ReadExport",
        "the environment and the place of the metadata must be there, that with null");
  }
  auto read = std::make_unique<ExportImportFilesMetaData>();
  Status s = ReadExportFile(env->GetFileSystem().get(), export_dir, read.get());
  if (s.ok()) *metadata = read.release();
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
