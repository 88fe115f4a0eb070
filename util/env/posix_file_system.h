// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the operating system's file system as a FileSystem.

#include <memory>
#include <string>
#include <vector>

#include "varve/file_system.h"

#include "util/env/io_ring.h"
#include "util/env/mapped_file.h"

namespace varve {

// Thread-safe, with no state but the rings that its files read through. New files get mode 0644 and
// new directories 0755, less the umask; modes of existing files are never changed. Files are not
// created or written through symbolic links; reads follow them.
class PosixFileSystem final : public FileSystem, public MappedFileSource {
 public:
  const char* Name() const override { return kDefaultName(); }
  const char* NickName() const override { return "posix"; }

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
  IOStatus NewMappedFile(const std::string& fname, const FileOptions& options,
                         std::unique_ptr<MappedFile>* result) override;
  IOStatus NewDirectory(const std::string& name, const IOOptions& io_opts,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;

  IOStatus FileExists(const std::string& fname, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& fname, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& fname, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& dirname, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& dirname, const IOOptions& options,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& dirname, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& fname, const IOOptions& options, uint64_t* file_size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& fname, const IOOptions& options,
                                   uint64_t* file_mtime, IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& src, const std::string& target, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& src, const std::string& target, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus SyncFile(const std::string& fname, const FileOptions& file_options,
                    const IOOptions& io_options, bool use_fsync, IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& fname, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* res, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& fname, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override;
  IOStatus GetAbsolutePath(const std::string& db_path, const IOOptions& options,
                           std::string* output_path, IODebugContext* dbg) override;
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* diskfree,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                       IODebugContext* dbg) override;

 private:
  // Files may outlive the file system.
  const std::shared_ptr<IoRingPool> rings_ = std::make_shared<IoRingPool>();
};

}  // namespace varve
