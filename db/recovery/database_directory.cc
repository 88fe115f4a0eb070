// SPDX-License-Identifier: Apache-2.0

// An opening must never damage existing files, so this decides, before anything is written, whether
// the directory has a database (CURRENT), has one that has lost its CURRENT (data files without it:
// Corruption, nothing is changed), or can be used for a new one.
//
// A directory and its name are durable before a file is created in it. The database's lock is taken
// before any other file is written. If the opening fails, the directories that it has created are
// removed if they are empty; the database's own one stays, with its LOG.

#include "db/recovery/database_directory.h"

#include "db/recovery/sanitize.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Returns the error for a directory without CURRENT when no database is to be created, with a
// message about its contents. With `any_manifest`, returns OK if there is a MANIFEST.
Status WithoutCurrent(FileSystem* fs, const std::string& path, bool any_manifest) {
  constexpr char kMissing[] = "does not exist (create_if_missing is false)";
  std::vector<std::string> entries;
  std::string data;
  const IOStatus listed = fs->GetChildren(path, IOOptions(), &entries, nullptr);
  if (!listed.ok() && !IsMissing(listed)) return listed;
  if (!listed.ok()) {
    const bool is_file = fs->FileExists(path, IOOptions(), nullptr).ok();
    return Status::InvalidArgument(path, is_file ? "is not a directory" : kMissing);
  }
  for (const auto& [entry, number, type] : FilesAmong(entries)) {
    if (type != kDescriptorFile && type != kTableFile && type != kBlobFile) continue;
    if (any_manifest && type == kDescriptorFile) return Status::OK();
    data = entry;
  }
  if (!data.empty()) {
    return Status::Corruption(path, "CURRENT is missing, but there is data (" + data + ")");
  }
  return Status::InvalidArgument(path + ": a directory without a database", kMissing);
}

// With create_if_missing, creates the directories of the database and of its logs. Otherwise
// returns OK only if there is a CURRENT, or a MANIFEST with best_efforts_recovery.
Status MakeOrFindDirectory(const DbContext& context, MadeDirectories* made) {
  FileSystem* const fs = context.fs().get();
  if (context.options().create_if_missing) {
    VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs, context.name()));
    return made->Make(context.WalDirectory());
  }
  const IOStatus s = fs->FileExists(CurrentFileName(context.name()), IOOptions(), nullptr);
  if (!IsMissing(s)) return s;
  return WithoutCurrent(fs, context.name(), context.options().best_efforts_recovery);
}

}  // namespace

IOStatus MakeDirectoryDurably(FileSystem* fs, const std::string& path, bool* made) {
  if (made != nullptr) *made = false;
  if (fs->FileExists(path, IOOptions(), nullptr).ok()) return IOStatus::OK();
  VARVE_RETURN_IF_ERROR(fs->CreateDirIfMissing(path, IOOptions(), nullptr));
  if (made != nullptr) *made = true;
  // The parent is what comes before the last slash, apart from slashes at the end of the path.
  const size_t end = path.find_last_not_of('/');
  const size_t slash = path.rfind('/', end);
  if (slash == std::string::npos) return SyncDirectory(fs, ".");
  return SyncDirectory(fs, slash == 0 ? "/" : path.substr(0, slash));
}

IOStatus MadeDirectories::Make(const std::string& path) {
  paths_.reserve(paths_.size() + 1);
  bool made = false;
  const IOStatus s = MakeDirectoryDurably(fs_, path, &made);
  if (made) paths_.push_back(path);
  return s;
}

// Directories that are not empty stay. A LOCK file in a directory of logs was created by this
// opening, like the directory.
void MadeDirectories::Remove() noexcept {
  for (; !paths_.empty(); paths_.pop_back()) {
    BestEffort([this] {
      const std::string& path = paths_.back();
      fs_->DeleteFile(LockFileName(path), IOOptions(), nullptr).PermitUncheckedError();
      fs_->DeleteDir(path, IOOptions(), nullptr).PermitUncheckedError();
    });
  }
}

// The LOG, which is the first file that this opening changes, is opened only when the lock is held.
Status TakeDirectory(DbContext* context, bool repairs, MadeDirectories* made) {
  VARVE_ASSERT(context->info_log() == nullptr);
  std::shared_ptr<Logger> info_log = context->options().info_log;
  if (context->read_only()) {
    context->set_info_log(std::move(info_log));
    return Status::OK();
  }
  if (!repairs) {
    VARVE_RETURN_IF_ERROR(MakeOrFindDirectory(*context, made));
    const Status locked = context->Lock();
    if (!locked.ok()) made->Keep();  // The process that holds the lock may use them.
    VARVE_RETURN_IF_ERROR(locked);
  }
  if (info_log == nullptr) {
    VARVE_RETURN_IF_ERROR(CreateInfoLog(context->options(), context->name(), &info_log));
  }
  context->set_info_log(std::move(info_log));
  return context->OpenDirectory();
}

bool IsOfAnotherDatabase(FileSystem* fs, const std::string& db_name, const std::string& directory) {
  const std::string current = CurrentFileName(directory);
  if (directory == db_name || !fs->FileExists(current, IOOptions(), nullptr).ok()) return false;
  return !IsSameFile(fs, current, CurrentFileName(db_name));
}

Status CheckNotOfAnother(FileSystem* fs, const std::string& db_name, const std::string& directory,
                         const std::string& what) {
  if (!IsOfAnotherDatabase(fs, db_name, directory)) return Status::OK();
  return Status::InvalidArgument(
      directory, "is to hold " + what + " of " + db_name + ", and is a database of its own");
}

Status FindDatabase(const DbContext& context, bool manifest_chosen, bool* found) {
  const DBOptions& options = context.options();
  IOStatus s;
  if (!manifest_chosen) {
    s = context.fs()->FileExists(CurrentFileName(context.name()), IOOptions(), nullptr);
  }
  *found = s.ok();
  if (s.ok() && options.error_if_exists && !context.read_only()) {
    return Status::InvalidArgument(context.name(), "exists (error_if_exists is true)");
  }
  if (s.ok() || !IsMissing(s)) return s;
  if (context.read_only() || !options.create_if_missing) {
    return Status::InvalidArgument(context.name(), "does not exist: there is no CURRENT");
  }
  return Status::OK();
}

// A new database would treat such files as its own, and delete them.
Status CheckHoldsNoData(const LogLocation& logs, const std::string& directory,
                        const std::vector<std::string>& entries) {
  std::string manifests;
  std::string data;
  for (const auto& [entry, number, type] : FilesAmong(entries)) {
    if (type == kDescriptorFile) manifests += " " + entry;
    if (type == kTableFile || type == kWalFile || type == kBlobFile) data = entry;
  }
  if (data.empty()) return CheckNoLogs(logs);
  return Status::Corruption(directory, "CURRENT is missing, but there is data (" + data +
                                           "); MANIFESTs found:" + manifests +
                                           ". Nothing was changed");
}

}  // namespace varve
