// SPDX-License-Identifier: Apache-2.0

// Names are registered in the process, because two calls with one name would both find nothing at
// <path>, and fill <path>.tmp together. There is no protection from other processes.

#include "db/copy/staged_directory.h"

#include <set>
#include <utility>
#include <vector>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/io_error.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

// The paths that are being staged now, with their file systems.
struct Staged {
  Mutex mu;
  std::set<std::pair<const FileSystem*, std::string>> names VARVE_GUARDED_BY(mu);
};

Staged& AllStaged() {
  static auto* const all = new Staged;
  return *all;
}

std::string WithoutEndingSlashes(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

StagedDirectory::StagedDirectory(std::shared_ptr<FileSystem> fs, std::string path, IsOurs is_ours)
    : fs_(std::move(fs)),
      path_(std::move(path)),
      staging_(path_ + ".tmp"),
      is_ours_(std::move(is_ours)) {}

Status StagedDirectory::Make(std::shared_ptr<FileSystem> fs, const char* call,
                             const std::string& path, IsOurs is_ours,
                             std::unique_ptr<StagedDirectory>* staged) {
  const std::string name = WithoutEndingSlashes(path);
  if (name.empty()) {
    return Status::InvalidArgument(call, "the directory's name is empty, or all of slashes");
  }
  std::unique_ptr<StagedDirectory> made(
      new StagedDirectory(std::move(fs), name, std::move(is_ours)));
  {
    Staged& all = AllStaged();
    MutexLock lock(&all.mu);
    made->registered_ = all.names.emplace(made->fs_.get(), name).second;
  }
  if (!made->registered_) return Status::Busy(call, name + " is being made by another call");
  // Checked after the name is registered, so that another call cannot publish it in between.
  const IOStatus there = made->fs_->FileExists(name, IOOptions(), nullptr);
  if (there.ok()) return Status::InvalidArgument(call, name + " exists");
  if (!IsMissing(there)) return there;
  VARVE_RETURN_IF_ERROR(made->RemoveLeftovers(call));
  VARVE_RETURN_IF_ERROR(made->fs_->CreateDir(made->staging_, IOOptions(), nullptr));
  made->made_ = true;
  *staged = std::move(made);
  return Status::OK();
}

StagedDirectory::~StagedDirectory() {
  if (made_ && !published_) Remove(staging_);
  if (!registered_) return;
  BestEffort([this] {
    Staged& all = AllStaged();
    MutexLock lock(&all.mu);
    all.names.erase(std::pair<const FileSystem*, std::string>(fs_.get(), path_));
  });
}

Status StagedDirectory::RemoveLeftovers(const char* call) {
  const auto refused = [&](const std::string& why) {
    return Status::Aborted(
        call, staging_ + " is in the way: " + why + "; move it away, or choose another name");
  };
  IOStatus s = fs_->FileExists(staging_, IOOptions(), nullptr);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  std::vector<std::string> names;
  s = fs_->GetChildren(staging_, IOOptions(), &names, nullptr);
  if (!s.ok()) return refused(s.ToString());
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    bool is_directory = false;
    const IOStatus known =
        fs_->IsDirectory(staging_ + "/" + name, IOOptions(), &is_directory, nullptr);
    // All names are checked before the first file is deleted.
    if (!is_ours_(name) || !known.ok() || is_directory) {
      return refused("it holds " + name + ", which is no leftover of such a call");
    }
  }
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    s = fs_->DeleteFile(staging_ + "/" + name, IOOptions(), nullptr);
    if (!s.ok()) return refused(s.ToString());
  }
  s = fs_->DeleteDir(staging_, IOOptions(), nullptr);
  return s.ok() ? Status::OK() : refused(s.ToString());
}

IOStatus StagedDirectory::Publish() {
  VARVE_ASSERT(made_ && !published_);
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (!VARVE_CANARY(kPublishUnsynced)) {
    VARVE_RETURN_IF_ERROR(SyncDirectory(fs_.get(), staging_));
  }
  VARVE_RETURN_IF_ERROR(fs_->RenameFile(staging_, path_, IOOptions(), nullptr));
  published_ = true;
  const IOStatus s = SyncDirectory(fs_.get(), ParentOf(path_));
  // The name is not durable, so the directory is removed rather than left to vanish at a power
  // loss.
  if (!s.ok()) Remove(path_);
  return s;
}

void StagedDirectory::Remove(const std::string& directory) noexcept {
  BestEffort([&] {
    std::vector<std::string> names;
    fs_->GetChildren(directory, IOOptions(), &names, nullptr).PermitUncheckedError();
    for (const std::string& name : names) {
      if (!is_ours_(name)) continue;
      fs_->DeleteFile(directory + "/" + name, IOOptions(), nullptr).PermitUncheckedError();
    }
    fs_->DeleteDir(directory, IOOptions(), nullptr).PermitUncheckedError();
  });
}

}  // namespace varve
