// SPDX-License-Identifier: Apache-2.0

// Two trees of names are kept: current_, which programs see, and durable_, which a crash would
// leave; and between them pending_, the directory operations that are in the first and not in the
// second, in the order in which they were made. Do applies an operation to current_ and appends it;
// SyncDir applies those of one directory to durable_ and removes them.
//
// A sync of a directory takes along what made the source of a rename or a link into it, wherever
// that was: the name alone would lead nowhere. A rename of a directory renames pending operations
// below it, which are still to be found when it is synced.
//
// CrashClone begins with durable_, applies as many pending operations as the policy says, drops
// what cannot be reached any more, and asks each file for its contents after the crash. Links of
// one file stay one file.

#include "util/env/mem_file_system.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "util/base/status_macros.h"
#include "util/env/mem_handles.h"

namespace varve {

namespace {

// Returns an absolute path without empty, "." and ".." components; "" for the root. Relative paths
// begin at the root. So each path has one spelling, which the maps of a Tree rely on.
std::string Normalize(const std::string& path) {
  std::string out;
  size_t at = 0;
  while (at < path.size()) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      out.resize(out.empty() ? 0 : out.rfind('/'));
    } else {
      out += "/" + part;
    }
  }
  return out;
}

std::string ParentOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// True if `path` is below `dir`, at any depth.
bool IsBelow(const std::string& path, const std::string& dir) {
  return path.size() > dir.size() && path[dir.size()] == '/' &&
         path.compare(0, dir.size(), dir) == 0;
}

IOStatus Missing(const char* what, const std::string& path) {
  return IOStatus::PathNotFound(std::string(what) + ": " + path, "no such file or directory");
}

UnsyncedBytes BytesUnder(CrashPolicy policy) {
  switch (policy) {
    case CrashPolicy::kSyncedOnly:
    case CrashPolicy::kSyncedBytes:
      return UnsyncedBytes::kLost;
    case CrashPolicy::kOrderedPrefix:
    case CrashPolicy::kAllNames:
      return UnsyncedBytes::kPrefix;
    case CrashPolicy::kAdversarial:
      return UnsyncedBytes::kChaotic;
    case CrashPolicy::kKill:
      break;
  }
  return UnsyncedBytes::kKept;
}

class MemFileLock final : public FileLock {
 public:
  explicit MemFileLock(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace

MemFileSystem::MemFileSystem(std::shared_ptr<SystemClock> clock) : clock_(std::move(clock)) {
  Watch(&mutex_);
}

MemFileSystem::~MemFileSystem() {
  Forget();
}

// The mutex of the file system is held over the fork, but those of the files are not, so a file may
// have been caught in the middle of a change.
void MemFileSystem::InChild() {
  for (const Tree* tree : {&current_, &durable_}) {
    for (const auto& [path, file] : tree->files) file->MendInChild();
  }
  for (const PendingOp& op : pending_) {
    if (op.file != nullptr) op.file->MendInChild();
  }
}

void MemFileSystem::SetCallHook(CallHook* hook) {
  // Publishes the hook's own state to the threads that will call it.
  hook_.store(hook, std::memory_order_release);
}

void MemFileSystem::NoteCall(MemCall call, const std::string& path) {
  const uint64_t index = calls_.fetch_add(1, std::memory_order_relaxed);
  CallHook* const hook = hook_.load(std::memory_order_acquire);
  if (hook != nullptr) hook->BeforeCall(index, call, path);
}

uint64_t MemFileSystem::NowSeconds() const {
  return clock_->NowMicros() / 1000000;
}

// Applies an operation. They come in an order in which they were possible, but a crash may have
// dropped some, so that an operation may not fit the tree: then it does nothing.
void MemFileSystem::Apply(const PendingOp& op, Tree* tree) {
  switch (op.call) {
    case MemCall::kCreate:
      tree->files[op.path] = op.file;
      return;
    case MemCall::kLink:
      tree->files[op.target] = op.file;
      return;
    case MemCall::kDelete:
      tree->files.erase(op.path);
      return;
    case MemCall::kCreateDir:
      tree->dirs.insert(op.path);
      return;
    // The creation of a file in it may have survived although its deletion did not.
    case MemCall::kDeleteDir:
      if (!HasChildren(*tree, op.path)) tree->dirs.erase(op.path);
      return;
    case MemCall::kRename:
      break;
    default:
      return;
  }
  if (const auto file = tree->files.find(op.path); file != tree->files.end()) {
    tree->files[op.target] = file->second;
    tree->files.erase(op.path);
    return;
  }
  if (tree->dirs.erase(op.path) == 0) return;
  tree->dirs.insert(op.target);
  Tree moved;
  // See HasChildren for where the range begins.
  const std::string first = op.path + "/";
  for (auto it = tree->files.lower_bound(first);
       it != tree->files.end() && IsBelow(it->first, op.path); it = tree->files.erase(it)) {
    moved.files[op.target + it->first.substr(op.path.size())] = it->second;
  }
  for (auto it = tree->dirs.lower_bound(first); it != tree->dirs.end() && IsBelow(*it, op.path);
       it = tree->dirs.erase(it)) {
    moved.dirs.insert(op.target + it->substr(op.path.size()));
  }
  tree->files.merge(moved.files);
  tree->dirs.merge(moved.dirs);
}

// Everything below a directory is one range of the sorted names, which begins at "dir/". It does
// not begin right behind "dir": names like "dir-2" and "dir.old" sort between the two.
bool MemFileSystem::HasChildren(const Tree& tree, const std::string& dir) {
  const std::string first = dir + "/";
  const auto file = tree.files.lower_bound(first);
  if (file != tree.files.end() && IsBelow(file->first, dir)) return true;
  const auto sub = tree.dirs.lower_bound(first);
  return sub != tree.dirs.end() && IsBelow(*sub, dir);
}

bool MemFileSystem::DirExists(const std::string& dir) const {
  return dir.empty() || current_.dirs.count(dir) != 0;
}

// Every change of names goes through here, so pending_ replayed on durable_ always gives current_.
// (Parents that MakeParents adds are in both trees already.)
void MemFileSystem::Do(PendingOp op) {
  if (op.call == MemCall::kRename && current_.dirs.count(op.path) != 0) {
    // Pending operations below the directory will be looked up under its new name.
    for (PendingOp& earlier : pending_) {
      for (std::string* name : {&earlier.path, &earlier.target}) {
        if (IsBelow(*name, op.path)) *name = op.target + name->substr(op.path.size());
      }
    }
  }
  Apply(op, &current_);
  pending_.push_back(std::move(op));
}

// Parents are durable at once, because no caller could sync a directory whose making it did not ask
// for.
void MemFileSystem::MakeParents(const std::string& dir) {
  for (std::string parent = ParentOf(dir); !parent.empty(); parent = ParentOf(parent)) {
    if (current_.dirs.insert(parent).second) durable_.dirs.insert(parent);
  }
}

IOStatus MemFileSystem::SyncDir(const std::string& dir) {
  const std::string path = Normalize(dir);
  NoteCall(MemCall::kSyncDir, path);
  MutexLock lock(&mutex_);
  if (!DirExists(path)) return Missing("fsync directory", path);
  // A rename into this directory also makes durable what created its source, wherever that was.
  std::vector<bool> chosen(pending_.size());
  std::set<std::string> sources;
  // Backwards: an operation is known to be a source only after the rename or link that used it has
  // been seen.
  for (size_t i = pending_.size(); i-- > 0;) {
    const PendingOp& op = pending_[i];
    const bool two_names = op.call == MemCall::kRename || op.call == MemCall::kLink;
    const std::string& name = two_names ? op.target : op.path;
    chosen[i] = ParentOf(name) == path || sources.count(name) != 0;
    if (chosen[i] && two_names) sources.insert(op.path);
  }
  std::vector<PendingOp> kept;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (chosen[i]) {
      Apply(pending_[i], &durable_);
    } else {
      kept.push_back(std::move(pending_[i]));
    }
  }
  pending_.swap(kept);
  return IOStatus::OK();
}

// Takes what is durable, applies the pending operations that the policy lets survive, drops what
// cannot be reached, and makes a copy of each file with the bytes that survive. The order of the
// draws from `random` is part of the result: names first, then files by path.
std::shared_ptr<MemFileSystem> MemFileSystem::CrashClone(CrashPolicy policy, uint64_t seed) const {
  std::mt19937_64 random(seed);
  auto clone = std::make_shared<MemFileSystem>(clock_);
  clone->offers_mapped_files_ = offers_mapped_files_;
  MutexLock lock(&mutex_);
  Tree tree = policy == CrashPolicy::kKill ? current_ : durable_;
  const size_t prefix = policy == CrashPolicy::kOrderedPrefix ? random() % (pending_.size() + 1)
                        : policy == CrashPolicy::kAllNames    ? pending_.size()
                                                              : 0;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const bool any = policy == CrashPolicy::kAdversarial || policy == CrashPolicy::kSyncedBytes;
    const bool survives = any ? random() % 2 == 0 : i < prefix;
    if (survives) Apply(pending_[i], &tree);
  }
  // Names below a directory that did not survive cannot be reached.
  const auto reachable = [&tree](const std::string& path) {
    for (std::string parent = ParentOf(path); !parent.empty(); parent = ParentOf(parent)) {
      if (tree.dirs.count(parent) == 0) return false;
    }
    return true;
  };
  Tree left;
  std::map<const MemFile*, std::shared_ptr<MemFile>> copies;
  for (const std::string& dir : tree.dirs) {
    if (reachable(dir)) left.dirs.insert(dir);
  }
  for (const auto& [path, file] : tree.files) {
    if (!reachable(path)) continue;
    // All links of a file share one copy.
    std::shared_ptr<MemFile>& copy = copies[file.get()];
    if (copy == nullptr) {
      copy =
          std::make_shared<MemFile>(file->AfterCrash(BytesUnder(policy), random()), file->mtime());
    }
    left.files[path] = copy;
  }
  // The two mutexes have one rank and are never held together.
  lock.Unlock();
  MutexLock clone_lock(&clone->mutex_);
  clone->current_ = left;
  clone->durable_ = std::move(left);
  return clone;
}

IOStatus MemFileSystem::Find(const std::string& fname, std::shared_ptr<MemFile>* file) const {
  const std::string path = Normalize(fname);
  MutexLock lock(&mutex_);
  const auto it = current_.files.find(path);
  if (it == current_.files.end()) {
    return DirExists(path) ? IOStatus::IOError(fname, "is a directory") : Missing("open", fname);
  }
  *file = it->second;
  return IOStatus::OK();
}

IOStatus MemFileSystem::FindOrCreate(const std::string& fname, bool* created,
                                     std::shared_ptr<MemFile>* file) {
  const std::string path = Normalize(fname);
  MutexLock lock(&mutex_);
  *created = false;
  if (DirExists(path)) return IOStatus::IOError(fname, "is a directory");
  if (const auto it = current_.files.find(path); it != current_.files.end()) {
    *file = it->second;
    return IOStatus::OK();
  }
  if (!DirExists(ParentOf(path))) return Missing("create", fname);
  *file = std::make_shared<MemFile>(NowSeconds());
  *created = true;
  Do(PendingOp{MemCall::kCreate, path, "", *file});
  return IOStatus::OK();
}

IOStatus MemFileSystem::NewSequentialFile(const std::string& fname, const FileOptions&,
                                          std::unique_ptr<FSSequentialFile>* result,
                                          IODebugContext*) {
  result->reset();
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (s.ok()) *result = std::make_unique<MemSequentialFile>(std::move(file));
  return s;
}

IOStatus MemFileSystem::NewRandomAccessFile(const std::string& fname, const FileOptions&,
                                            std::unique_ptr<FSRandomAccessFile>* result,
                                            IODebugContext*) {
  result->reset();
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (s.ok()) *result = std::make_unique<MemRandomAccessFile>(std::move(file));
  return s;
}

IOStatus MemFileSystem::OpenWritable(const std::string& fname, bool truncate, bool at_end,
                                     const FileOptions& file_opts,
                                     std::unique_ptr<FSWritableFile>* result) {
  result->reset();
  NoteCall(MemCall::kCreate, Normalize(fname));
  bool created = false;
  std::shared_ptr<MemFile> file;
  IOStatus s = FindOrCreate(fname, &created, &file);
  if (!s.ok()) return s;
  if (truncate && !created) file->Truncate(0, NowSeconds());
  const uint64_t position = at_end ? file->size() : 0;
  *result = std::make_unique<MemWritableFile>(this, Normalize(fname), std::move(file), position,
                                              file_opts);
  return s;
}

IOStatus MemFileSystem::NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                                        std::unique_ptr<FSWritableFile>* result, IODebugContext*) {
  return OpenWritable(fname, /*truncate=*/true, /*at_end=*/false, file_opts, result);
}

IOStatus MemFileSystem::ReopenWritableFile(const std::string& fname, const FileOptions& file_opts,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext*) {
  return OpenWritable(fname, /*truncate=*/false, /*at_end=*/true, file_opts, result);
}

IOStatus MemFileSystem::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                          const FileOptions& file_opts,
                                          std::unique_ptr<FSWritableFile>* result,
                                          IODebugContext* dbg) {
  result->reset();
  // The old bytes stay behind the position of the new writer, as in a recycled log.
  IOStatus s = RenameFile(old_fname, fname, IOOptions(), dbg);
  if (!s.ok()) return s;
  return OpenWritable(fname, /*truncate=*/false, /*at_end=*/false, file_opts, result);
}

IOStatus MemFileSystem::NewRandomRWFile(const std::string& fname, const FileOptions&,
                                        std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) {
  result->reset();
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (s.ok()) {
    *result = std::make_unique<MemRandomRWFile>(this, Normalize(fname), std::move(file));
  }
  return s;
}

IOStatus MemFileSystem::NewDirectory(const std::string& name, const IOOptions&,
                                     std::unique_ptr<FSDirectory>* result, IODebugContext*) {
  result->reset();
  const std::string path = Normalize(name);
  MutexLock lock(&mutex_);
  if (!DirExists(path)) return Missing("open directory", name);
  *result = std::make_unique<MemDirectory>(this, path);
  return IOStatus::OK();
}

IOStatus MemFileSystem::FileExists(const std::string& fname, const IOOptions&, IODebugContext*) {
  const std::string path = Normalize(fname);
  MutexLock lock(&mutex_);
  if (DirExists(path) || current_.files.count(path) != 0) return IOStatus::OK();
  return IOStatus::NotFound(fname, "no such file or directory");
}

IOStatus MemFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                    std::vector<std::string>* result, IODebugContext*) {
  result->clear();
  const std::string path = Normalize(dir);
  MutexLock lock(&mutex_);
  if (!DirExists(path)) return IOStatus::NotFound("open directory " + dir, "no such directory");
  const auto add_if_child = [&](const std::string& entry) {
    if (ParentOf(entry) == path) result->push_back(entry.substr(path.size() + 1));
  };
  for (auto it = current_.files.upper_bound(path + "/");
       it != current_.files.end() && IsBelow(it->first, path); ++it) {
    add_if_child(it->first);
  }
  for (auto it = current_.dirs.upper_bound(path + "/");
       it != current_.dirs.end() && IsBelow(*it, path); ++it) {
    add_if_child(*it);
  }
  return IOStatus::OK();
}

IOStatus MemFileSystem::DeleteFile(const std::string& fname, const IOOptions&, IODebugContext*) {
  const std::string path = Normalize(fname);
  NoteCall(MemCall::kDelete, path);
  MutexLock lock(&mutex_);
  if (current_.files.count(path) == 0) {
    return DirExists(path) ? IOStatus::IOError(fname, "is a directory") : Missing("unlink", fname);
  }
  Do(PendingOp{MemCall::kDelete, path, "", nullptr});
  return IOStatus::OK();
}

IOStatus MemFileSystem::Truncate(const std::string& fname, size_t size, const IOOptions&,
                                 IODebugContext*) {
  NoteCall(MemCall::kTruncate, Normalize(fname));
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (s.ok()) file->Truncate(size, NowSeconds());
  return s;
}

IOStatus MemFileSystem::CreateDir(const std::string& dirname, const IOOptions&, IODebugContext*) {
  const std::string path = Normalize(dirname);
  NoteCall(MemCall::kCreateDir, path);
  MutexLock lock(&mutex_);
  if (DirExists(path) || current_.files.count(path) != 0) {
    return IOStatus::IOError("mkdir: " + dirname, "exists already");
  }
  MakeParents(path);
  Do(PendingOp{MemCall::kCreateDir, path, "", nullptr});
  return IOStatus::OK();
}

IOStatus MemFileSystem::CreateDirIfMissing(const std::string& dirname, const IOOptions& options,
                                           IODebugContext* dbg) {
  bool is_dir = false;
  if (IsDirectory(dirname, options, &is_dir, dbg).ok()) {
    return is_dir ? IOStatus::OK() : IOStatus::IOError(dirname, "exists and is not a directory");
  }
  IOStatus s = CreateDir(dirname, options, dbg);
  // Another thread may have created it first.
  if (!s.ok() && IsDirectory(dirname, options, &is_dir, dbg).ok() && is_dir) return IOStatus::OK();
  return s;
}

IOStatus MemFileSystem::DeleteDir(const std::string& dirname, const IOOptions&, IODebugContext*) {
  const std::string path = Normalize(dirname);
  NoteCall(MemCall::kDeleteDir, path);
  MutexLock lock(&mutex_);
  if (current_.dirs.count(path) == 0) return Missing("rmdir", dirname);
  if (HasChildren(current_, path)) return IOStatus::IOError("rmdir: " + dirname, "is not empty");
  Do(PendingOp{MemCall::kDeleteDir, path, "", nullptr});
  return IOStatus::OK();
}

IOStatus MemFileSystem::GetFileSize(const std::string& fname, const IOOptions&, uint64_t* file_size,
                                    IODebugContext*) {
  *file_size = 0;
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (s.ok()) *file_size = file->size();
  return s;
}

IOStatus MemFileSystem::GetFileModificationTime(const std::string& fname, const IOOptions&,
                                                uint64_t* file_mtime, IODebugContext*) {
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (s.ok()) *file_mtime = file->mtime();
  return s;
}

IOStatus MemFileSystem::RenameFile(const std::string& src, const std::string& target,
                                   const IOOptions&, IODebugContext*) {
  const std::string from = Normalize(src);
  const std::string to = Normalize(target);
  NoteCall(MemCall::kRename, from);
  MutexLock lock(&mutex_);
  const bool is_file = current_.files.count(from) != 0;
  const bool is_dir = current_.dirs.count(from) != 0;
  if ((!is_file && !is_dir) || !DirExists(ParentOf(to))) return Missing("rename", src);
  if (from == to) return IOStatus::OK();
  if (is_file && DirExists(to)) return IOStatus::IOError("rename to " + target, "is a directory");
  if (is_dir) {
    if (current_.files.count(to) != 0) {
      return IOStatus::IOError("rename to " + target, "is not a directory");
    }
    if (HasChildren(current_, to)) return IOStatus::IOError("rename to " + target, "is not empty");
    if (IsBelow(to, from)) return IOStatus::IOError("rename to " + target, "lies below " + src);
  }
  Do(PendingOp{MemCall::kRename, from, to, nullptr});
  return IOStatus::OK();
}

IOStatus MemFileSystem::LinkFile(const std::string& src, const std::string& target,
                                 const IOOptions&, IODebugContext*) {
  const std::string from = Normalize(src);
  const std::string to = Normalize(target);
  NoteCall(MemCall::kLink, from);
  MutexLock lock(&mutex_);
  const auto it = current_.files.find(from);
  if (it == current_.files.end() || !DirExists(ParentOf(to))) return Missing("link", src);
  if (current_.files.count(to) != 0 || DirExists(to)) {
    return IOStatus::IOError("link to " + target, "exists already");
  }
  Do(PendingOp{MemCall::kLink, from, to, it->second});
  return IOStatus::OK();
}

IOStatus MemFileSystem::NumFileLinks(const std::string& fname, const IOOptions&, uint64_t* count,
                                     IODebugContext*) {
  std::shared_ptr<MemFile> file;
  IOStatus s = Find(fname, &file);
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  *count = static_cast<uint64_t>(
      std::count_if(current_.files.begin(), current_.files.end(),
                    [&file](const auto& entry) { return entry.second == file; }));
  return s;
}

IOStatus MemFileSystem::PunchHole(const std::string& fname, uint64_t offset, uint64_t bytes,
                                  const IOOptions& options, IODebugContext* dbg) {
  uint64_t size = 0;
  VARVE_RETURN_IF_ERROR(GetFileSize(fname, options, &size, dbg));
  if (offset >= size) return IOStatus::OK();
  std::unique_ptr<FSRandomRWFile> file;
  VARVE_RETURN_IF_ERROR(NewRandomRWFile(fname, FileOptions(), &file, dbg));
  const std::string zeros(static_cast<size_t>(std::min(bytes, size - offset)), '\0');
  VARVE_RETURN_IF_ERROR(file->Write(offset, zeros, options, dbg));
  return file->Close(options, dbg);
}

IOStatus MemFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                     const IOOptions&, bool* res, IODebugContext*) {
  std::shared_ptr<MemFile> a;
  std::shared_ptr<MemFile> b;
  IOStatus s = Find(first, &a);
  if (s.ok()) s = Find(second, &b);
  if (s.ok()) *res = a == b;
  return s;
}

IOStatus MemFileSystem::LockFile(const std::string& fname, const IOOptions&, FileLock** lock,
                                 IODebugContext*) {
  *lock = nullptr;
  const std::string path = Normalize(fname);
  NoteCall(MemCall::kCreate, path);
  bool created = false;
  std::shared_ptr<MemFile> file;
  IOStatus s = FindOrCreate(fname, &created, &file);
  if (!s.ok()) return s;
  MutexLock guard(&mutex_);
  if (!locked_.insert(path).second) {
    return IOStatus::IOError("lock " + fname, "already held by this process");
  }
  *lock = std::make_unique<MemFileLock>(path).release();
  return s;
}

IOStatus MemFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  if (lock == nullptr) return IOStatus::InvalidArgument("unlock: no lock given");
  const std::unique_ptr<MemFileLock> owned(static_cast<MemFileLock*>(lock));
  MutexLock guard(&mutex_);
  locked_.erase(owned->path());
  return IOStatus::OK();
}

IOStatus MemFileSystem::GetTestDirectory(const IOOptions& options, std::string* path,
                                         IODebugContext* dbg) {
  *path = "/test";
  return CreateDirIfMissing(*path, options, dbg);
}

IOStatus MemFileSystem::GetAbsolutePath(const std::string& db_path, const IOOptions&,
                                        std::string* output_path, IODebugContext*) {
  *output_path = Normalize(db_path);
  if (output_path->empty()) *output_path = "/";
  return IOStatus::OK();
}

IOStatus MemFileSystem::GetFreeSpace(const std::string&, const IOOptions&, uint64_t* diskfree,
                                     IODebugContext*) {
  *diskfree = std::numeric_limits<uint64_t>::max() / 2;
  return IOStatus::OK();
}

IOStatus MemFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                                    IODebugContext*) {
  const std::string normal = Normalize(path);
  MutexLock lock(&mutex_);
  const bool dir = DirExists(normal);
  if (!dir && current_.files.count(normal) == 0) return Missing("stat", path);
  *is_dir = dir;
  return IOStatus::OK();
}

}  // namespace varve
