// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns both bridges between Env and FileSystem / SystemClock:
//   EnvFileSystem, EnvClock: a FileSystem and a clock on top of an Env's virtual functions, so that
//     an Env that overrides them is heard by code that knows file systems only;
//   FileSystemEnv: the file and time functions of an Env on top of its FileSystem and SystemClock.

#include <memory>
#include <string>
#include <vector>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/system_clock.h"

namespace varve {

// The Env is not owned and must outlive this object.
class EnvFileSystem final : public FileSystem {
 public:
  explicit EnvFileSystem(Env* env) : env_(env) {}

  const char* Name() const override { return "LegacyFileSystem"; }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override;
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override;
  IOStatus NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& fname, const FileOptions& file_opts,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& fname, const FileOptions& file_opts,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                             const FileOptions& file_opts, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomRWFile(const std::string& fname, const FileOptions& file_opts,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& fname,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override;
  IOStatus NewDirectory(const std::string& fname, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;
  IOStatus FileExists(const std::string& fname, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& fname, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& fname, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& fname, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& fname, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& fname, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& fname, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& fname, const IOOptions& options, uint64_t* file_size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& fname, const IOOptions& options,
                                   uint64_t* file_mtime, IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& src, const std::string& target, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& src, const std::string& target, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& fname, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* res, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& fname, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override;
  IOStatus NewLogger(const std::string& fname, const IOOptions& options,
                     std::shared_ptr<Logger>* result, IODebugContext* dbg) override;
  IOStatus GetAbsolutePath(const std::string& fname, const IOOptions& options,
                           std::string* output_path, IODebugContext* dbg) override;
  IOStatus GetFreeSpace(const std::string& fname, const IOOptions& options, uint64_t* diskfree,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& fname, const IOOptions& options, bool* is_dir,
                       IODebugContext* dbg) override;
  void SanitizeFileOptions(FileOptions* opts) const override;
  FileOptions OptimizeForLogRead(const FileOptions& file_options) const override;
  FileOptions OptimizeForManifestRead(const FileOptions& file_options) const override;
  FileOptions OptimizeForLogWrite(const FileOptions& file_options,
                                  const DBOptions& db_options) const override;
  FileOptions OptimizeForManifestWrite(const FileOptions& file_options) const override;
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& file_options,
                                              const ImmutableDBOptions& db_options) const override;
  FileOptions OptimizeForCompactionTableRead(const FileOptions& file_options,
                                             const ImmutableDBOptions& db_options) const override;
  FileOptions OptimizeForBlobFileRead(const FileOptions& file_options,
                                      const ImmutableDBOptions& db_options) const override;

 private:
  Env* const env_;
};

// The Env is not owned and must outlive this object.
class EnvClock final : public SystemClock {
 public:
  explicit EnvClock(Env* env) : env_(env) {}

  const char* Name() const override { return "LegacySystemClock"; }
  uint64_t NowMicros() override { return env_->NowMicros(); }
  uint64_t NowNanos() override { return env_->NowNanos(); }
  uint64_t CPUMicros() override { return env_->NowCPUNanos() / 1000; }
  uint64_t CPUNanos() override { return env_->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { env_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override { return env_->GetCurrentTime(unix_time); }
  std::string TimeToString(uint64_t time) override { return env_->TimeToString(time); }

 private:
  Env* const env_;
};

// Leaves threads and names to its subclasses.
class FileSystemEnv : public Env {
 public:
  FileSystemEnv(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
      : Env(fs, clock) {}

  Status RegisterDbPaths(const std::vector<std::string>& paths) override;
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override;
  Status NewSequentialFile(const std::string& fname, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override;
  Status NewRandomAccessFile(const std::string& fname, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override;
  Status NewWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override;
  Status ReopenWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                            const EnvOptions& options) override;
  Status ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                           std::unique_ptr<WritableFile>* result,
                           const EnvOptions& options) override;
  Status NewRandomRWFile(const std::string& fname, std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override;
  Status NewMemoryMappedFileBuffer(const std::string& fname,
                                   std::unique_ptr<MemoryMappedFileBuffer>* result) override;
  Status NewDirectory(const std::string& fname, std::unique_ptr<Directory>* result) override;
  Status FileExists(const std::string& fname) override;
  Status GetChildren(const std::string& fname, std::vector<std::string>* result) override;
  Status GetChildrenFileAttributes(const std::string& fname,
                                   std::vector<FileAttributes>* result) override;
  Status DeleteFile(const std::string& fname) override;
  Status Truncate(const std::string& fname, size_t size) override;
  Status CreateDir(const std::string& fname) override;
  Status CreateDirIfMissing(const std::string& fname) override;
  Status DeleteDir(const std::string& fname) override;
  Status GetFileSize(const std::string& fname, uint64_t* file_size) override;
  Status GetFileModificationTime(const std::string& fname, uint64_t* file_mtime) override;
  Status RenameFile(const std::string& src, const std::string& target) override;
  Status LinkFile(const std::string& src, const std::string& target) override;
  Status NumFileLinks(const std::string& fname, uint64_t* count) override;
  Status AreFilesSame(const std::string& first, const std::string& second, bool* res) override;
  Status LockFile(const std::string& fname, FileLock** lock) override;
  Status UnlockFile(FileLock* lock) override;
  Status GetTestDirectory(std::string* path) override;
  Status NewLogger(const std::string& fname, std::shared_ptr<Logger>* result) override;
  Status GetAbsolutePath(const std::string& fname, std::string* output_path) override;
  Status GetFreeSpace(const std::string& fname, uint64_t* diskfree) override;
  Status IsDirectory(const std::string& fname, bool* is_dir) override;

  uint64_t NowMicros() override { return system_clock_->NowMicros(); }
  uint64_t NowNanos() override { return system_clock_->NowNanos(); }
  uint64_t NowCPUNanos() override { return system_clock_->CPUNanos(); }
  void SleepForMicroseconds(int micros) override { system_clock_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override {
    return system_clock_->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override { return system_clock_->TimeToString(time); }

  EnvOptions OptimizeForLogRead(const EnvOptions& o) const override;
  EnvOptions OptimizeForManifestRead(const EnvOptions& o) const override;
  EnvOptions OptimizeForLogWrite(const EnvOptions& o, const DBOptions& db_options) const override;
  EnvOptions OptimizeForManifestWrite(const EnvOptions& o) const override;
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& o,
                                             const ImmutableDBOptions& db_options) const override;
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& o,
                                            const ImmutableDBOptions& db_options) const override;
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& o,
                                     const ImmutableDBOptions& db_options) const override;
  void SanitizeEnvOptions(EnvOptions* o) const override;
};

}  // namespace varve
