// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/openable_tables.h"

#include <memory>
#include <string>
#include <vector>

#include "table/format/footer.h"
#include "util/base/status_macros.h"
#include "util/env/random_access_file_reader.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Of a family, when tables are opened as they are read: one format made all of them, as a rule.
constexpr size_t kLookedAtOfMany = 4;

Status CheckOpens(const DbContext& context, const FileMetaData& file, bool all) {
  FileSystem* const fs = context.fs().get();
  std::unique_ptr<RandomAccessFileReader> opened;
  const IOStatus s = file.UseFile([&](const std::string& path) {
    return RandomAccessFileReader::Open(fs, path, context.file_options(),
                                        RandomAccessFileReader::Options(), &opened);
  });
  if (!s.ok() && !all) return Status::OK();  // told by those who read it
  if (!s.ok()) {
    return Status::CopyAppendMessage(s, "; ", "a table cannot be opened, and max_open_files is -1");
  }
  const Status footer = CheckFooter(*opened, file.size);
  if (!footer.ok()) {
    RecordTick(context.statistics(), SST_FOOTER_CORRUPTION_COUNT);
    RecordTick(context.statistics(), NO_FILE_ERRORS);
  }
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

}  // namespace

Status CheckTablesOpen(const DbContext& context, DbState* state) {
  const bool all = context.options().max_open_files <= 0;
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
