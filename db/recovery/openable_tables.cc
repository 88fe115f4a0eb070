// SPDX-License-Identifier: Apache-2.0

// Finds errors at the opening that would otherwise appear at the first read. With max_open_files =
// -1 every table has to be open, so a table that cannot be opened makes the opening fail, as in
// RocksDB. With a limit, a few tables of each family are checked for a format that this version
// cannot read; other errors are left to reads.

#include "db/recovery/openable_tables.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/version/blob_source.h"
#include "table/factory/table_format.h"
#include "util/base/status_macros.h"
#include "util/env/io_error.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Number of tables of a family that are checked if tables are opened on demand, as usually all have
// the same format.
constexpr size_t kLookedAtOfMany = 4;

constexpr char kCannotBeOpened[] = "a table cannot be opened, and max_open_files is -1";

Status CheckTail(const DbContext& context, const RandomAccessFileReader& opened, uint64_t size) {
  Status footer = CheckTableEnd(opened, size);
  if (!footer.ok()) {
    RecordTick(context.statistics(), SST_FOOTER_CORRUPTION_COUNT);
    RecordTick(context.statistics(), NO_FILE_ERRORS);
  }
  return footer;
}

// With `all`, which stands for max_open_files = -1, returns any error of the table, otherwise only
// that its format is not supported.
Status CheckOpens(const DbContext& context, const FileMetaData& file, bool all) {
  FileSystem* const fs = context.fs().get();
  std::unique_ptr<RandomAccessFileReader> opened;
  const IOStatus s = file.UseFile([&](const std::string& path) {
    return RandomAccessFileReader::Open(fs, path, context.file_options(),
                                        RandomAccessFileReader::Options(), &opened);
  });
  if (!s.ok() && !all) return Status::OK();  // Reads return the error.
  if (!s.ok()) return Status::CopyAppendMessage(s, "; ", kCannotBeOpened);
  const Status footer = CheckTail(context, *opened, file.size);
  return all || footer.IsNotSupported() ? footer : Status::OK();
}

Status CheckFamily(const DbContext& context, const Version& version, bool all) {
  size_t looked_at = 0;
  for (int level = 0; level < version.non_empty_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      if (!all && looked_at++ == kLookedAtOfMany) return Status::OK();
      VARVE_RETURN_IF_ERROR(CheckOpens(context, *file, all));
    }
  }
  return Status::OK();
}

// With max_open_files = -1, opens the blob files, too. Reads return the errors of damaged ones.
Status OpenBlobFilesAhead(const DbContext& context, const Version& version, TableCache* tables) {
  if (context.options().max_open_files > 0) return Status::OK();
  for (const BlobFileState& file : version.blob_files()) {
    const BlobFileReader* reader = nullptr;
    const Status s = tables->blobs().FindReader(ReadOptions(), *file.blobs, &reader);
    if (s.ok()) continue;
    const std::string path = file.blobs->file()->FileName();
    if (IsMissing(context.fs()->FileExists(path, IOOptions(), nullptr))) {
      return Status::CopyAppendMessage(s, "; ", "and max_open_files is -1");
    }
  }
  return Status::OK();
}

}  // namespace

// The first error ends the call; files that were opened before stay open.
Status OpenTablesAhead(const DbContext& context, const Version& version, TableCache* tables) {
  for (int level = 0; level < version.non_empty_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      bool opened = false;
      const auto look = [&](const RandomAccessFileReader& reader) {
        opened = true;
        return CheckTail(context, reader, file->size);
      };
      const Status s = tables->OpenAhead(file.get(), level, look);
      if (!s.ok()) return opened ? s : Status::CopyAppendMessage(s, "; ", kCannotBeOpened);
    }
  }
  return OpenBlobFilesAhead(context, version, tables);
}

namespace {

Status OpenAllAhead(const DbContext& context, DbState* state) VARVE_EXCLUDES(kDbMutex) {
  std::vector<std::pair<VersionRef, std::shared_ptr<TableCache>>> trees;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) {
      trees.emplace_back(family->current(), family->shared_table_cache());
    }
  }
  for (const auto& [version, tables] : trees) {
    VARVE_RETURN_IF_ERROR(OpenTablesAhead(context, *version, tables.get()));
  }
  return Status::OK();
}

}  // namespace

// A read-only database keeps its readers open. A writable one only checks, since its replay and
// flushes may change the tree.
Status CheckTablesOpen(const DbContext& context, DbState* state) {
  const bool all = context.options().max_open_files <= 0;
  if (all && context.read_only()) return OpenAllAhead(context, state);
  std::vector<VersionRef> trees;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) trees.push_back(family->current());
  }
  for (const VersionRef& version : trees) {
    VARVE_RETURN_IF_ERROR(CheckFamily(context, *version, all));
  }
  return Status::OK();
}

}  // namespace varve
