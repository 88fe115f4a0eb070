// SPDX-License-Identifier: Apache-2.0
#include "db/observe/verification.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_checksum.h"

#include "db/version/table_cache.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_checksums.h"
#include "util/env/file_names.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

using Check = std::function<Status(ColumnFamily* family, FileMetaData* file, int level)>;

// A version, and the family whose comparator its destruction may still need.
struct Pinned {
  std::shared_ptr<ColumnFamily> family;
  VersionRef version;
};

Status ForEachTable(DbState* state, const Check& check) {
  std::vector<Pinned> all;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) {
      all.push_back({family, family->current()});
    }
  }
  for (const Pinned& pinned : all) {
    VARVE_ASSERT(pinned.version != nullptr);
    for (int level = 0; level < pinned.version->num_levels(); level++) {
      for (const FileRef& file : pinned.version->level(level).files()) {
        VARVE_RETURN_IF_ERROR(check(pinned.family.get(), file.get(), level));
      }
    }
  }
  return Status::OK();
}

// Ends a long call early, as Close waits for it.
Status CheckNotClosing(const Lifecycle& lifecycle) {
  return lifecycle.closed()
             ? Status::ShutdownInProgress("verification: the database is being closed")
             : Status::OK();
}

Status VerifyFile(const DbContext& context, const FileMetaData& file) {
  const std::string& function = file.checksum.function;
  if (file.checksum.value == kUnknownFileChecksum || function.empty() ||
      function == kUnknownFileChecksumFuncName) {
    return Status::OK();
  }
  FileSystem* const fs = context.fs().get();
  std::string path = file.FileName();
  // If the file is missing, reading it will report that.
  file.UseFile([&](const std::string& name) {
        const IOStatus s = fs->FileExists(name, IOOptions(), nullptr);
        if (s.ok()) path = name;
        return s;
      })
      .PermitUncheckedError();
  std::unique_ptr<FileChecksumGenerator> checksum;
  VARVE_RETURN_IF_ERROR(NewFileChecksum(context.options().file_checksum_gen_factory.get(), path,
                                        function, &checksum));
  VARVE_ASSERT(checksum != nullptr);
  const uint64_t start = context.MonotonicMicros();
  VARVE_RETURN_IF_ERROR(ChecksumOfFile(fs, path, context.file_options(), checksum.get()));
  RecordTimeToHistogram(context.statistics(), FILE_READ_VERIFY_FILE_CHECKSUMS_MICROS,
                        context.MonotonicMicros() - start);
  RecordTick(context.statistics(), VERIFY_CHECKSUM_READ_BYTES, file.size);
  const std::string actual = checksum->GetChecksum();
  if (actual == file.checksum.value) return Status::OK();
  return Status::Corruption(path, "file checksum mismatch: expected " +
                                      Slice(file.checksum.value).ToString(true) + ", actual " +
                                      Slice(actual).ToString(true) + " (" + function + ")");
}

}  // namespace

Status VerifyTables(const DbContext& context, DbState* state, const Lifecycle& lifecycle,
                    const ReadOptions& options) {
  const auto go_on = [&](uint64_t bytes) {
    RecordTick(context.statistics(), VERIFY_CHECKSUM_READ_BYTES, bytes);
    return CheckNotClosing(lifecycle);
  };
  ReadOptions reads = options;
  if (reads.io_activity == Env::IOActivity::kUnknown) {
    reads.io_activity = Env::IOActivity::kVerifyDBChecksum;
  }
  return ForEachTable(state, [&](ColumnFamily* family, FileMetaData* file, int level) {
    TableRef table;
    Status s = family->table_cache()->Find(file, level, reads, &table);
    return s.ok() ? table->VerifyChecksum(reads, go_on) : s;
  });
}

Status VerifyTableFileChecksums(const DbContext& context, DbState* state,
                                const Lifecycle& lifecycle, const ReadOptions& options) {
  if (context.options().file_checksum_gen_factory == nullptr) {
    return Status::InvalidArgument(
        "VerifyFileChecksums: DBOptions::file_checksum_gen_factory is null");
  }
  return ForEachTable(state, [&](ColumnFamily*, FileMetaData* file, int) {
    VARVE_RETURN_IF_ERROR(CheckNotClosing(lifecycle));
    if (options.deadline.count() != 0 &&
        context.clock()->NowMicros() >= static_cast<uint64_t>(options.deadline.count())) {
      return Status::TimedOut("VerifyFileChecksums: the deadline has passed");
    }
    return VerifyFile(context, *file);
  });
}

}  // namespace varve
