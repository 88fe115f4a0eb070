// SPDX-License-Identifier: Apache-2.0

// Both calls pin the current version of every family at once and then read its files one after the
// other, tables first, then blob files, without the DB mutex. Pinned files are not deleted, so a
// file that cannot be read is damaged, and not one that a compaction has replaced. Files that are
// written meanwhile are not verified.
//
// A call ends at the first error, or when Close begins, which waits for it.

#include "db/observe/verification.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_checksum.h"

#include "db/version/blob_source.h"
#include "db/version/table_cache.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_checksums.h"
#include "util/env/file_names.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

using Check = std::function<Status(ColumnFamily* family, FileMetaData* file, int level)>;

// A version, and its family, which must outlive it.
struct Pinned {
  std::shared_ptr<ColumnFamily> family;
  VersionRef version;
};

// Calls `check` for each table of the current versions, without the mutex, until an error.
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

// Returns ShutdownInProgress once Close has begun, which waits for the call.
Status CheckNotClosing(const Lifecycle& lifecycle) {
  return lifecycle.closed()
             ? Status::ShutdownInProgress("verification: the database is being closed")
             : Status::OK();
}

// Calls look(family, file) for each blob file of the current versions, with its state there.
template <typename Look>
Status ForEachBlobFile(DbState* state, const Look& look) {
  std::vector<Pinned> all;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) {
      all.push_back({family, family->current()});
    }
  }
  for (const Pinned& pinned : all) {
    for (const BlobFileState& file : pinned.version->blob_files()) {
      VARVE_RETURN_IF_ERROR(look(pinned.family.get(), file));
    }
  }
  return Status::OK();
}

// Compares a whole file with the checksum that the MANIFEST has for it, if there is one.
Status VerifyFile(const DbContext& context, const FileMetaData& file) {
  const std::string& function = file.checksum.function;
  if (file.checksum.value == kUnknownFileChecksum || function.empty() ||
      // The table was written without a factory, so there is no checksum to compare with.
      function == kUnknownFileChecksumFuncName) {
    return Status::OK();
  }
  FileSystem* const fs = context.fs().get();
  std::string path = file.FileName();
  // A missing file is reported when it is read. A table may have LevelDB's name; the name that
  // exists is used.
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
    // Called between blocks, so that Close does not wait for the rest of a large table.
    RecordTick(context.statistics(), VERIFY_CHECKSUM_READ_BYTES, bytes);
    return CheckNotClosing(lifecycle);
  };
  ReadOptions reads = options;
  if (reads.io_activity == Env::IOActivity::kUnknown) {
    reads.io_activity = Env::IOActivity::kVerifyDBChecksum;
  }
  VARVE_RETURN_IF_ERROR(
      ForEachTable(state, [&](ColumnFamily* family, FileMetaData* file, int level) {
        TableRef table;
        Status s = family->table_cache()->Find(file, level, reads, &table);
        return s.ok() ? table->VerifyChecksum(reads, go_on) : s;
      }));
  return ForEachBlobFile(state, [&](ColumnFamily* family, const BlobFileState& file) {
    BlobReaderPin reader;
    VARVE_RETURN_IF_ERROR(family->table_cache()->blobs().Pin(reads, *file.blobs, &reader));
    // No file is known to have no holes: a repair, and RocksDB, forget which ones may have some.
    // Later garbage is not punched while the version is held.
    return reader->VerifyChecksums(reads, go_on, {file.garbage_count, file.garbage_bytes});
  });
}

Status VerifyTableFileChecksums(const DbContext& context, DbState* state,
                                const Lifecycle& lifecycle, const ReadOptions& options) {
  if (context.options().file_checksum_gen_factory == nullptr) {
    return Status::InvalidArgument(
        "VerifyFileChecksums: DBOptions::file_checksum_gen_factory is null");
  }
  const auto verify = [&](const FileMetaData& file) {
    VARVE_RETURN_IF_ERROR(CheckNotClosing(lifecycle));
    if (options.deadline.count() != 0 &&
        context.clock()->NowMicros() >= static_cast<uint64_t>(options.deadline.count())) {
      return Status::TimedOut("VerifyFileChecksums: the deadline has passed");
    }
    return VerifyFile(context, file);
  };
  VARVE_RETURN_IF_ERROR(
      ForEachTable(state, [&](ColumnFamily*, FileMetaData* file, int) { return verify(*file); }));
  return ForEachBlobFile(
      state, [&](ColumnFamily*, const BlobFileState& file) { return verify(*file.blobs->file()); });
}

}  // namespace varve
