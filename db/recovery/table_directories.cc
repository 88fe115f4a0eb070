// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/table_directories.h"

#include "db/recovery/database_directory.h"
#include "db/recovery/sanitize.h"
#include "db/version/table_paths.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

Status TakeOne(const DbContext& context, const std::string& directory, DirectoryListing* listing) {
  FileSystem* const fs = context.fs().get();
  if (!context.read_only()) VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs, directory));
  VARVE_RETURN_IF_ERROR(CheckNotOfAnother(fs, context.name(), directory, "tables"));
  // The database's own, by another name.
  if (fs->FileExists(CurrentFileName(directory), IOOptions(), nullptr).ok()) return Status::OK();
  std::vector<std::string> names;
  const IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  if (context.read_only() && IsMissing(s)) return Status::OK();
  if (s.ok()) (*listing)[directory] = std::move(names);
  return s;
}

}  // namespace

std::set<uint64_t> TablesIn(const DirectoryListing& listing) {
  std::set<uint64_t> numbers;
  for (const auto& [directory, names] : listing) {
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (ParseFileName(name, &number, &type) && type == kTableFile) numbers.insert(number);
    }
  }
  return numbers;
}

std::set<std::string> TableDirectories(const std::string& db_name, const DBOptions& options,
                                       const std::vector<ColumnFamilyDescriptor>& families) {
  std::set<std::string> directories;
  for (const ColumnFamilyDescriptor& family : families) {
    const TablePaths paths(db_name, TablePathsOf(options, family.options));
    directories.insert(paths.directories().begin(), paths.directories().end());
  }
  directories.erase(db_name);
  return directories;
}

Status TakeTableDirectories(const DbContext& context,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            DirectoryListing* listing) {
  for (const auto& directory : TableDirectories(context.name(), context.options(), families)) {
    VARVE_RETURN_IF_ERROR(TakeOne(context, directory, listing));
  }
  return Status::OK();
}

}  // namespace varve
