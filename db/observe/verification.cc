// SPDX-License-Identifier: Apache-2.0
#include "db/observe/verification.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_checksum.h"

#include "db/version/table_cache.h"
#include "util/base/status_macros.h"
#include "util/env/file_checksums.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

using Check = std::function<Status(ColumnFamily* family, FileMetaData* file, int level)>;

// A version, and the family whose comparator its destruction may still need.
struct Pinned {
  std::shared_ptr<ColumnFamily> family;
  VersionRef version;
};

Status ForEachTable(Engine* engine, const Check& check) {
  std::vector<Pinned> all;
  {
    MutexLock lock(&engine->mu);
    for (const auto& [id, family] : engine->families.all()) {
      all.push_back({family, family->current()});
    }
  }
  for (const Pinned& pinned : all) {
    for (int level = 0; level < pinned.version->num_levels(); level++) {
      for (const FileRef& file : pinned.version->level(level).files()) {
        VARVE_RETURN_IF_ERROR(check(pinned.family.get(), file.get(), level));
      }
    }
  }
  return Status::OK();
}

// Close waits for the call, which may take long.
Status CheckNotClosing(const Engine& engine) {
  return engine.closed.load(std::memory_order_acquire)
             ? Status::ShutdownInProgress("verification: the database is being closed")
             : Status::OK();
}

Status VerifyFile(Engine* engine, const FileMetaData& file) {
  const std::string& function = file.file_checksum_func_name;
  if (file.file_checksum == kUnknownFileChecksum || function.empty() ||
      function == kUnknownFileChecksumFuncName) {
    return Status::OK();
  }
  FileSystem* const fs = engine->fs.get();
  std::string path = TableFileName(engine->name, file.number);
  if (IsMissing(fs->FileExists(path, IOOptions(), nullptr))) {
    path = LevelDbTableFileName(engine->name, file.number);
  }
  std::unique_ptr<FileChecksumGenerator> checksum;
  VARVE_RETURN_IF_ERROR(
      NewFileChecksum(engine->options.file_checksum_gen_factory.get(), path, function, &checksum));
  VARVE_RETURN_IF_ERROR(ChecksumOfFile(fs, path, engine->file_options, checksum.get()));
  const std::string actual = checksum->GetChecksum();
  if (actual == file.file_checksum) return Status::OK();
  return Status::Corruption(path, "file checksum mismatch: expected " +
                                      Slice(file.file_checksum).ToString(true) + ", actual " +
                                      Slice(actual).ToString(true) + " (" + function + ")");
}

}  // namespace

Status VerifyTables(Engine* engine, const ReadOptions& options) {
  const auto go_on = [engine](uint64_t /*bytes*/) { return CheckNotClosing(*engine); };
  return ForEachTable(engine, [&](ColumnFamily* family, FileMetaData* file, int level) {
    TableRef table;
    Status s = family->table_cache()->Find(file, level, options, &table);
    return s.ok() ? table->VerifyChecksum(options, go_on) : s;
  });
}

Status VerifyTableFileChecksums(Engine* engine, const ReadOptions& options) {
  if (engine->options.file_checksum_gen_factory == nullptr) {
    return Status::InvalidArgument(
        "VerifyFileChecksums: DBOptions::file_checksum_gen_factory is not set");
  }
  return ForEachTable(engine, [&](ColumnFamily*, FileMetaData* file, int) {
    VARVE_RETURN_IF_ERROR(CheckNotClosing(*engine));
    if (options.deadline.count() != 0 &&
        engine->clock->NowMicros() >= static_cast<uint64_t>(options.deadline.count())) {
      return Status::TimedOut("VerifyFileChecksums: the deadline has passed");
    }
    return VerifyFile(engine, *file);
  });
}

}  // namespace varve
