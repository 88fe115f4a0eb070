// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/openable_tables.h"

#include <memory>
#include <string>
#include <vector>

#include "util/base/status_macros.h"

namespace varve {

namespace {

Status CheckOpens(const DbContext& context, const FileMetaData& file) {
  FileSystem* const fs = context.fs().get();
  const IOStatus s = file.UseFile([&](const std::string& path) {
    std::unique_ptr<FSRandomAccessFile> opened;
    return fs->NewRandomAccessFile(path, context.file_options(), &opened, nullptr);
  });
  if (s.ok()) return s;
  return Status::CopyAppendMessage(s, "; ", "a table cannot be opened, and max_open_files is -1");
}

}  // namespace

Status CheckTablesOpen(const DbContext& context, DbState* state) {
  if (context.options().max_open_files > 0) return Status::OK();
  std::vector<VersionRef> trees;
  {
    DbLock lock(&state->mu);
    for (const auto& [id, family] : state->families.all()) trees.push_back(family->current());
  }
  for (const VersionRef& version : trees) {
    for (int level = 0; level < version->non_empty_levels(); level++) {
      for (const FileRef& file : version->level(level).files()) {
        VARVE_RETURN_IF_ERROR(CheckOpens(context, *file));
      }
    }
  }
  return Status::OK();
}

}  // namespace varve
