// SPDX-License-Identifier: Apache-2.0

// A backup's files lie under other names in several folders, and partly belong to other backups,
// too. A database that is opened on a backup asks for them by the names that they have in a
// database: Real translates these into the true paths, and passes every other path on as it is.
// Whatever would write is refused here, one method for each, so that no backup is changed by a
// reader, whatever the engine tries.

#include "db/backup/backup_file_system.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace varve {

namespace {

IOStatus ReadOnly(const std::string& path) {
  return IOStatus::NotSupported(path, "a backup is only read; restore it to write");
}

// Thread-safe, as it is immutable.
class BackupFileSystem final : public FileSystemWrapper {
 public:
  // `files` has the paths of the backup's files by their names in the database.
  BackupFileSystem(const std::shared_ptr<FileSystem>& target, std::string name,
                   std::map<std::string, std::string> files)
      : FileSystemWrapper(target), name_(std::move(name)), files_(std::move(files)) {}

  const char* Name() const override { return "BackupFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    return target()->NewSequentialFile(Real(path), options, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    return target()->NewRandomAccessFile(Real(path), options, result, dbg);
  }
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target()->FileExists(Real(path), options, dbg);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    return target()->GetFileSize(Real(path), options, size, dbg);
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                   uint64_t* time, IODebugContext* dbg) override {
    return target()->GetFileModificationTime(Real(path), options, time, dbg);
  }
  IOStatus NumFileLinks(const std::string& path, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override {
    return target()->NumFileLinks(Real(path), options, count, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override {
    if (Trimmed(dir) != name_) return target()->GetChildren(dir, options, result, dbg);
    result->clear();
    for (const auto& [db_name, path] : files_) result->push_back(db_name);
    return IOStatus::OK();
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override {
    if (Trimmed(dir) != name_) {
      return target()->GetChildrenFileAttributes(dir, options, result, dbg);
    }
    result->clear();
    for (const auto& [db_name, path] : files_) {
      FileAttributes attributes;
      attributes.name = db_name;
      IOStatus s = target()->GetFileSize(path, options, &attributes.size_bytes, dbg);
      if (!s.ok()) return s;
      result->push_back(std::move(attributes));
    }
    return IOStatus::OK();
  }

  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    result->reset();
    return ReadOnly(path);
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions&,
                              std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    result->reset();
    return ReadOnly(path);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string&, const FileOptions&,
                             std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    result->reset();
    return ReadOnly(path);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) override {
    result->reset();
    return ReadOnly(path);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    result->reset();
    return ReadOnly(path);
  }
  IOStatus NewLogger(const std::string& path, const IOOptions&, std::shared_ptr<Logger>* result,
                     IODebugContext*) override {
    result->reset();
    return ReadOnly(path);
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus Truncate(const std::string& path, size_t, const IOOptions&, IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus RenameFile(const std::string& path, const std::string&, const IOOptions&,
                      IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus LinkFile(const std::string& path, const std::string&, const IOOptions&,
                    IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus SyncFile(const std::string& path, const FileOptions&, const IOOptions&, bool,
                    IODebugContext*) override {
    return ReadOnly(path);
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, FileLock**,
                    IODebugContext*) override {
    return ReadOnly(path);
  }

 private:
  static std::string Trimmed(const std::string& dir) {
    size_t end = dir.size();
    while (end > 1 && dir[end - 1] == '/') end--;
    return dir.substr(0, end);
  }

  // Returns the path of the file that appears as `path`, or `path` itself if it is not a file of
  // the backup.
  std::string Real(const std::string& path) const {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || Trimmed(path.substr(0, slash)) != name_) return path;
    const auto it = files_.find(path.substr(slash + 1));
    return it == files_.end() ? path : it->second;
  }

  const std::string name_;
  const std::map<std::string, std::string> files_;
};

}  // namespace

std::shared_ptr<Env> NewBackupEnv(const BackupStore& store, const BackupMeta& meta,
                                  const std::string& name) {
  std::map<std::string, std::string> files;
  for (const BackupFile& file : meta.files) {
    files[file.parsed.db_name] = store.PathOf(file.path);
  }
  return NewCompositeEnv(
      std::make_shared<BackupFileSystem>(store.shared_fs(), name, std::move(files)));
}

}  // namespace varve
