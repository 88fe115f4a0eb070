// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares adapters between Env and FileSystem, for code that knows only the other one.
//
// The engine itself uses FileSystem and SystemClock. Programs may give it an Env instead, of which
// there are two kinds:
//
//      a FileSystem inside an Env     FileSystemEnv: Env calls go to the FileSystem
//      an Env with its own methods    NewEnvFileSystem: FileSystem calls go to the Env's methods
//
// An Env of a program that overrides, for instance, NewWritableFile is of the second kind. The
// adapter calls the override, so that the program sees every file that the database makes.
//
// FileSystem takes more arguments than Env (IOOptions, a debug context) and returns IOStatus. Going
// from Env to FileSystem they are default values; the other way they are dropped.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/system_clock.h"

namespace varve {

// Create adapters on top of the Env's virtual functions, so that overrides take effect. The Env is
// not owned and must outlive them.
std::shared_ptr<FileSystem> NewEnvFileSystem(Env* env);
std::shared_ptr<SystemClock> NewEnvClock(Env* env);

// Return files of an Env that pass every call on to a file of a FileSystem.
std::unique_ptr<SequentialFile> EnvFileOf(std::unique_ptr<FSSequentialFile> file);
std::unique_ptr<RandomAccessFile> EnvFileOf(std::unique_ptr<FSRandomAccessFile> file);
std::unique_ptr<WritableFile> EnvFileOf(std::unique_ptr<FSWritableFile> file);
std::unique_ptr<RandomRWFile> EnvFileOf(std::unique_ptr<FSRandomRWFile> file);
std::unique_ptr<Directory> EnvFileOf(std::unique_ptr<FSDirectory> file);

// Implements the file and time functions of an Env with its FileSystem and its clock. Subclasses
// provide threads and names.
class FileSystemEnv : public Env {
 public:
  FileSystemEnv(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
      : Env(fs, clock) {}

  // Each of these calls the function of the same name of the FileSystem, with default options.
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return file_system_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return file_system_->UnregisterDbPaths(paths);
  }
  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override {
    return Opened<FSSequentialFile>(result, [&](auto* file) {
      return file_system_->NewSequentialFile(path, FileOptions(options), file, nullptr);
    });
  }
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override {
    return Opened<FSRandomAccessFile>(result, [&](auto* file) {
      return file_system_->NewRandomAccessFile(path, FileOptions(options), file, nullptr);
    });
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    return Opened<FSWritableFile>(result, [&](auto* file) {
      return file_system_->NewWritableFile(path, FileOptions(options), file, nullptr);
    });
  }
  Status ReopenWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                            const EnvOptions& options) override {
    return Opened<FSWritableFile>(result, [&](auto* file) {
      return file_system_->ReopenWritableFile(path, FileOptions(options), file, nullptr);
    });
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<WritableFile>* result,
                           const EnvOptions& options) override {
    return Opened<FSWritableFile>(result, [&](auto* file) {
      return file_system_->ReuseWritableFile(path, old_path, FileOptions(options), file, nullptr);
    });
  }
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override {
    return Opened<FSRandomRWFile>(result, [&](auto* file) {
      return file_system_->NewRandomRWFile(path, FileOptions(options), file, nullptr);
    });
  }
  Status NewMemoryMappedFileBuffer(const std::string& path,
                                   std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return file_system_->NewMemoryMappedFileBuffer(path, result);
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    return Opened<FSDirectory>(result, [&](auto* file) {
      return file_system_->NewDirectory(path, IOOptions(), file, nullptr);
    });
  }
  // Functions on names: none keeps anything open.
  Status FileExists(const std::string& path) override {
    return file_system_->FileExists(path, IOOptions(), nullptr);
  }
  Status GetChildren(const std::string& path, std::vector<std::string>* result) override {
    return file_system_->GetChildren(path, IOOptions(), result, nullptr);
  }
  Status GetChildrenFileAttributes(const std::string& path,
                                   std::vector<FileAttributes>* result) override {
    return file_system_->GetChildrenFileAttributes(path, IOOptions(), result, nullptr);
  }
  Status DeleteFile(const std::string& path) override {
    return file_system_->DeleteFile(path, IOOptions(), nullptr);
  }
  Status Truncate(const std::string& path, size_t size) override {
    return file_system_->Truncate(path, size, IOOptions(), nullptr);
  }
  Status CreateDir(const std::string& path) override {
    return file_system_->CreateDir(path, IOOptions(), nullptr);
  }
  Status CreateDirIfMissing(const std::string& path) override {
    return file_system_->CreateDirIfMissing(path, IOOptions(), nullptr);
  }
  Status DeleteDir(const std::string& path) override {
    return file_system_->DeleteDir(path, IOOptions(), nullptr);
  }
  Status GetFileSize(const std::string& path, uint64_t* file_size) override {
    return file_system_->GetFileSize(path, IOOptions(), file_size, nullptr);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* file_mtime) override {
    return file_system_->GetFileModificationTime(path, IOOptions(), file_mtime, nullptr);
  }
  Status RenameFile(const std::string& src, const std::string& target) override {
    return file_system_->RenameFile(src, target, IOOptions(), nullptr);
  }
  Status LinkFile(const std::string& src, const std::string& target) override {
    return file_system_->LinkFile(src, target, IOOptions(), nullptr);
  }
  Status NumFileLinks(const std::string& path, uint64_t* count) override {
    return file_system_->NumFileLinks(path, IOOptions(), count, nullptr);
  }
  Status AreFilesSame(const std::string& first, const std::string& second, bool* res) override {
    return file_system_->AreFilesSame(first, second, IOOptions(), res, nullptr);
  }
  Status LockFile(const std::string& path, FileLock** lock) override {
    return file_system_->LockFile(path, IOOptions(), lock, nullptr);
  }
  Status UnlockFile(FileLock* lock) override {
    return file_system_->UnlockFile(lock, IOOptions(), nullptr);
  }
  Status GetTestDirectory(std::string* path) override {
    return file_system_->GetTestDirectory(IOOptions(), path, nullptr);
  }
  Status NewLogger(const std::string& path, std::shared_ptr<Logger>* result) override {
    return file_system_->NewLogger(path, IOOptions(), result, nullptr);
  }
  Status GetAbsolutePath(const std::string& path, std::string* output_path) override {
    return file_system_->GetAbsolutePath(path, IOOptions(), output_path, nullptr);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* diskfree) override {
    return file_system_->GetFreeSpace(path, IOOptions(), diskfree, nullptr);
  }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    return file_system_->IsDirectory(path, IOOptions(), is_dir, nullptr);
  }
  // These adjust the options with which a kind of file is opened.
  EnvOptions OptimizeForLogRead(const EnvOptions& o) const override {
    return file_system_->OptimizeForLogRead(FileOptions(o));
  }
  EnvOptions OptimizeForManifestRead(const EnvOptions& o) const override {
    return file_system_->OptimizeForManifestRead(FileOptions(o));
  }
  EnvOptions OptimizeForLogWrite(const EnvOptions& o, const DBOptions& db) const override {
    return file_system_->OptimizeForLogWrite(FileOptions(o), db);
  }
  EnvOptions OptimizeForManifestWrite(const EnvOptions& o) const override {
    return file_system_->OptimizeForManifestWrite(FileOptions(o));
  }
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& o,
                                             const ImmutableDBOptions& db) const override {
    return file_system_->OptimizeForCompactionTableWrite(FileOptions(o), db);
  }
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& o,
                                            const ImmutableDBOptions& db) const override {
    return file_system_->OptimizeForCompactionTableRead(FileOptions(o), db);
  }
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& o,
                                     const ImmutableDBOptions& db) const override {
    return file_system_->OptimizeForBlobFileRead(FileOptions(o), db);
  }
  void SanitizeEnvOptions(EnvOptions* o) const override {
    FileOptions adjusted(*o);
    file_system_->SanitizeFileOptions(&adjusted);
    *o = adjusted;
  }

  // Time comes from the clock.
  uint64_t NowMicros() override { return system_clock_->NowMicros(); }
  uint64_t NowNanos() override { return system_clock_->NowNanos(); }
  uint64_t NowCPUNanos() override { return system_clock_->CPUNanos(); }
  void SleepForMicroseconds(int micros) override { system_clock_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override {
    return system_clock_->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override { return system_clock_->TimeToString(time); }

 private:
  // Sets *result to an Env file for the one that `open` made.
  template <typename File, typename Result, typename Open>
  static Status Opened(std::unique_ptr<Result>* result, Open open) {
    result->reset();
    std::unique_ptr<File> file;
    Status s = open(&file);
    if (s.ok()) *result = EnvFileOf(std::move(file));
    return s;
  }
};

}  // namespace varve
