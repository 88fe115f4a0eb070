// SPDX-License-Identifier: Apache-2.0

// Only the options of an opening have the directories of tables, so if one is forgotten, its tables
// seem to be missing. The newest OPTIONS file has the former directories, which are searched before
// a table is treated as lost (FormerDirectories).

#include "db/recovery/table_directories.h"

#include <algorithm>

#include "db/recovery/database_directory.h"
#include "db/recovery/sanitize.h"
#include "db/version/table_paths.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// Creates and lists one directory; with null for `made` lists it if it exists. Another database's
// directory is refused, since this database would treat its files as its own, and delete them as
// obsolete.
Status TakeOne(const DbContext& context, const std::string& directory, MadeDirectories* made,
               DirectoryListing* listing) {
  FileSystem* const fs = context.fs().get();
  if (made != nullptr) VARVE_RETURN_IF_ERROR(made->Make(directory));
  VARVE_RETURN_IF_ERROR(CheckNotOfAnother(fs, context.name(), directory, "tables"));
  // A directory with a CURRENT can only be the database's own one, under another path.
  if (fs->FileExists(CurrentFileName(directory), IOOptions(), nullptr).ok()) return Status::OK();
  std::vector<std::string> names;
  const IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  if (made == nullptr && IsMissing(s)) return Status::OK();
  if (s.ok()) (*listing)[directory] = std::move(names);
  return s;
}

std::string Joined(const std::vector<std::string>& directories) {
  std::string text;
  for (const std::string& directory : directories) text += (text.empty() ? "" : ", ") + directory;
  return text;
}

}  // namespace

std::set<uint64_t> TablesIn(const DirectoryListing& listing) {
  std::set<uint64_t> numbers;
  for (const auto& [directory, names] : listing) {
    for (const auto& [name, number, type] : FilesAmong(names)) {
      if (type == kTableFile || type == kBlobFile) numbers.insert(number);
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
                            MadeDirectories* made, DirectoryListing* listing) {
  for (const auto& directory : TableDirectories(context.name(), context.options(), families)) {
    VARVE_RETURN_IF_ERROR(TakeOne(context, directory, made, listing));
  }
  return Status::OK();
}

// Without a LOCK file the database was never opened here, so its OPTIONS file was copied with it,
// and has the original's directories. Then the former directories are not known.
FormerDirectories::FormerDirectories(const LogLocation& place)
    : fs_(place.fs), db_name_(place.db_name) {
  std::vector<uint64_t> numbers;
  std::string was_in;
  if (!place.was_locked || !ListOptionsFiles(fs_, db_name_, &numbers).ok() || numbers.empty()) {
    return;
  }
  const Status s =
      ReadTableDirectories(fs_, OptionsFileName(db_name_, numbers.front()), &by_family_, &was_in);
  if (!s.ok() || !SpeaksOfThis(place, was_in, /*found=*/false)) by_family_.clear();
}

// A file with the number and size in the MANIFEST is taken for the table, as the error only asks
// the user to name the directory.
Status FormerDirectories::CheckNotThere(const std::string& family, const TablePaths& paths,
                                        const TableFacts& table) const {
  const auto former = by_family_.find(family);
  if (former == by_family_.end()) return Status::OK();
  for (const std::string& directory : former->second) {
    if (std::ranges::count(paths.directories(), directory) > 0) continue;
    uint64_t bytes = 0;
    const std::string path = TableFileName(directory, table.number);
    const IOStatus s = fs_->GetFileSize(path, IOOptions(), &bytes, nullptr);
    if (IsMissing(s) || (s.ok() && bytes != table.size)) continue;
    if (!s.ok()) return s;  // It is not known whether the file exists.
    return Status::InvalidArgument(
        db_name_, "column family " + family + " has a table in " + path +
                      ", and db_paths and cf_paths do not name that directory; nothing was "
                      "changed. Give those that it had when it was last opened, in this order: " +
                      Joined(former->second));
  }
  return Status::OK();
}

std::string FormerDirectories::WithUnnamed(const std::string& family,
                                           const TablePaths& paths) const {
  const auto former = by_family_.find(family);
  if (former == by_family_.end()) return "";
  const bool all_named = std::ranges::all_of(former->second, [&](const std::string& directory) {
    return std::ranges::count(paths.directories(), directory) > 0;
  });
  return all_named ? "" : Joined(former->second);
}

}  // namespace varve
