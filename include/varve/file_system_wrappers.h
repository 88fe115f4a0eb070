// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forwarding forms of FileSystem and its file types. Included by varve/file_system.h.
//
// They are bases for file systems that change only some calls: to count, to delay, to inject
// faults, to encrypt. Derive from FileSystemWrapper, override the functions that open files, and
// return file wrappers of your own from them. A class whose name ends with OwnerWrapper owns its
// target; one that ends with Wrapper borrows it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/customizable.h"
#include "varve/file_system.h"

namespace varve {

// Forwards every call except Name() to `target`, which it shares. Override what should differ.
// Thread-safe as far as the target is.
class VARVE_EXPORT FileSystemWrapper : public FileSystem {
 public:
  explicit FileSystemWrapper(std::shared_ptr<FileSystem> target) : target_(std::move(target)) {}

  // Returns the file system that calls are forwarded to, valid as long as the wrapper.
  FileSystem* target() const { return target_.get(); }
  const Customizable* Inner() const override { return target_.get(); }

  // These open files. Override them to return file wrappers of your own, which own what the target
  // has opened (the Owner forms below).
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& file_opts,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    return target_->NewSequentialFile(path, file_opts, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& file_opts,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    return target_->NewRandomAccessFile(path, file_opts, result, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& file_opts,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override {
    return target_->NewRandomRWFile(path, file_opts, result, dbg);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return target_->NewMemoryMappedFileBuffer(path, result);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& file_opts,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    return target_->NewWritableFile(path, file_opts, result, dbg);
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& file_opts,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override {
    return target_->ReopenWritableFile(path, file_opts, result, dbg);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& file_opts, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    return target_->ReuseWritableFile(path, old_path, file_opts, result, dbg);
  }
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<Logger>* result, IODebugContext* dbg) override {
    return target_->NewLogger(path, options, result, dbg);
  }

  // These change names, and tell what exists.
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target_->FileExists(path, options, dbg);
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                       IODebugContext* dbg) override {
    return target_->IsDirectory(path, options, is_dir, dbg);
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& options,
                           std::string* output_path, IODebugContext* dbg) override {
    return target_->GetAbsolutePath(path, options, output_path, dbg);
  }
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override {
    return target_->GetTestDirectory(options, path, dbg);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target_->RenameFile(from, to, options, dbg);
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->LinkFile(from, to, options, dbg);
  }
  IOStatus NumFileLinks(const std::string& path, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override {
    return target_->NumFileLinks(path, options, count, dbg);
  }
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* same, IODebugContext* dbg) override {
    return target_->AreFilesSame(first, second, options, same, dbg);
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target_->DeleteFile(path, options, dbg);
  }

  // These read and change what a file or a name has.
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    return target_->GetFileSize(path, options, size, dbg);
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                   uint64_t* seconds, IODebugContext* dbg) override {
    return target_->GetFileModificationTime(path, options, seconds, dbg);
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Truncate(path, size, options, dbg);
  }
  IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                    const IOOptions& io_options, bool use_fsync, IODebugContext* dbg) override {
    return target_->SyncFile(path, file_options, io_options, use_fsync, dbg);
  }

  // These list, make and remove directories.
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    return target_->NewDirectory(path, options, result, dbg);
  }
  IOStatus CreateDir(const std::string& path, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->CreateDir(path, options, dbg);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options,
                              IODebugContext* dbg) override {
    return target_->CreateDirIfMissing(path, options, dbg);
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->DeleteDir(path, options, dbg);
  }
  IOStatus GetChildren(const std::string& path, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override {
    return target_->GetChildren(path, options, result, dbg);
  }
  IOStatus GetChildrenFileAttributes(const std::string& path, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override {
    return target_->GetChildrenFileAttributes(path, options, result, dbg);
  }
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->UnregisterDbPaths(paths);
  }
  void DiscardCacheForDirectory(const std::string& path) override {
    target_->DiscardCacheForDirectory(path);
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                        IODebugContext* dbg) override {
    return target_->GetFreeSpace(path, options, bytes, dbg);
  }

  // The lock of LockFile is the target's: hand it to UnlockFile unchanged.
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    return target_->LockFile(path, options, lock, dbg);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override {
    return target_->UnlockFile(lock, options, dbg);
  }

  // These forward handles of the target's files. A wrapper whose files have no ReadAsync of the
  // target must clear kAsyncIO in SupportedOps.
  IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions) override {
    return target_->Poll(io_handles, min_completions);
  }
  IOStatus AbortIO(std::vector<void*>& io_handles) override { return target_->AbortIO(io_handles); }
  void SupportedOps(int64_t& supported_ops) override { target_->SupportedOps(supported_ops); }

  // These adjust options before files are opened.
  void SanitizeFileOptions(FileOptions* opts) const override { target_->SanitizeFileOptions(opts); }
  FileOptions OptimizeForLogRead(const FileOptions& o) const override {
    return target_->OptimizeForLogRead(o);
  }
  FileOptions OptimizeForLogWrite(const FileOptions& o, const DBOptions& db) const override {
    return target_->OptimizeForLogWrite(o, db);
  }
  FileOptions OptimizeForManifestRead(const FileOptions& o) const override {
    return target_->OptimizeForManifestRead(o);
  }
  FileOptions OptimizeForManifestWrite(const FileOptions& o) const override {
    return target_->OptimizeForManifestWrite(o);
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& o,
                                             const ImmutableDBOptions& db) const override {
    return target_->OptimizeForCompactionTableRead(o, db);
  }
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& o,
                                              const ImmutableDBOptions& db) const override {
    return target_->OptimizeForCompactionTableWrite(o, db);
  }
  FileOptions OptimizeForBlobFileRead(const FileOptions& o,
                                      const ImmutableDBOptions& db) const override {
    return target_->OptimizeForBlobFileRead(o, db);
  }

 protected:
  std::shared_ptr<FileSystem> target_;
};

// File wrappers follow: each forwards every call to a target. The plain form does not own it, the
// Owner form does, and deletes it with itself. A wrapper is used by as many threads as its target,
// and overrides what should differ:
//
//   class CountingFile : public varve::FSRandomAccessFileOwnerWrapper {
//    public:
//     using FSRandomAccessFileOwnerWrapper::FSRandomAccessFileOwnerWrapper;
//     varve::IOStatus Read(uint64_t offset, size_t n, const varve::IOOptions& options,
//                          varve::Slice* result, char* scratch,
//                          varve::IODebugContext* dbg) const override {
//       ++reads;
//       return target()->Read(offset, n, options, result, scratch, dbg);
//     }
//     static inline std::atomic<uint64_t> reads{0};
//   };

class VARVE_EXPORT FSSequentialFileWrapper : public FSSequentialFile {
 public:
  explicit FSSequentialFileWrapper(FSSequentialFile* target) : target_(target) {}

  FSSequentialFile* target() const { return target_; }

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    return target_->Read(n, options, result, scratch, dbg);
  }
  IOStatus Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return target_->PositionedRead(offset, n, options, result, scratch, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }

 private:
  FSSequentialFile* target_;
};

class VARVE_EXPORT FSSequentialFileOwnerWrapper : public FSSequentialFileWrapper {
 public:
  explicit FSSequentialFileOwnerWrapper(std::unique_ptr<FSSequentialFile>&& target)
      : FSSequentialFileWrapper(target.get()), guard_(std::move(target)) {}

 private:
  std::unique_ptr<FSSequentialFile> guard_;
};

class VARVE_EXPORT FSRandomAccessFileWrapper : public FSRandomAccessFile {
 public:
  explicit FSRandomAccessFileWrapper(FSRandomAccessFile* target) : target_(target) {}

  FSRandomAccessFile* target() const { return target_; }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return target_->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->MultiRead(reqs, num_reqs, options, dbg);
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Prefetch(offset, n, options, dbg);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return target_->ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }
  IOStatus GetFileSize(uint64_t* result) override { return target_->GetFileSize(result); }

 private:
  FSRandomAccessFile* target_;
};

class VARVE_EXPORT FSRandomAccessFileOwnerWrapper : public FSRandomAccessFileWrapper {
 public:
  explicit FSRandomAccessFileOwnerWrapper(std::unique_ptr<FSRandomAccessFile>&& target)
      : FSRandomAccessFileWrapper(target.get()), guard_(std::move(target)) {}

 private:
  std::unique_ptr<FSRandomAccessFile> guard_;
};

class VARVE_EXPORT FSWritableFileWrapper : public FSWritableFile {
 public:
  explicit FSWritableFileWrapper(FSWritableFile* target) : target_(target) {}

  FSWritableFile* target() const { return target_; }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return target_->Append(data, options, dbg);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    return target_->Append(data, options, info, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return target_->PositionedAppend(data, offset, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& info, IODebugContext* dbg) override {
    return target_->PositionedAppend(data, offset, options, info, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return target_->Truncate(size, options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  void SetIOPriority(Env::IOPriority pri) override { target_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return target_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override {
    return target_->GetFileSize(options, dbg);
  }
  void SetPreallocationBlockSize(size_t size) override { target_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->RangeSync(offset, nbytes, options, dbg);
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    target_->PrepareWrite(offset, len, options, dbg);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Allocate(offset, len, options, dbg);
  }

 private:
  FSWritableFile* target_;
};

class VARVE_EXPORT FSWritableFileOwnerWrapper : public FSWritableFileWrapper {
 public:
  explicit FSWritableFileOwnerWrapper(std::unique_ptr<FSWritableFile>&& target)
      : FSWritableFileWrapper(target.get()), guard_(std::move(target)) {}

 private:
  std::unique_ptr<FSWritableFile> guard_;
};

class VARVE_EXPORT FSRandomRWFileWrapper : public FSRandomRWFile {
 public:
  explicit FSRandomRWFileWrapper(FSRandomRWFile* target) : target_(target) {}

  FSRandomRWFile* target() const { return target_; }

  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return target_->Write(offset, data, options, dbg);
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return target_->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }

 private:
  FSRandomRWFile* target_;
};

class VARVE_EXPORT FSRandomRWFileOwnerWrapper : public FSRandomRWFileWrapper {
 public:
  explicit FSRandomRWFileOwnerWrapper(std::unique_ptr<FSRandomRWFile>&& target)
      : FSRandomRWFileWrapper(target.get()), guard_(std::move(target)) {}

 private:
  std::unique_ptr<FSRandomRWFile> guard_;
};

class VARVE_EXPORT FSDirectoryWrapper : public FSDirectory {
 public:
  explicit FSDirectoryWrapper(FSDirectory* target) : target_(target) {}

  FSDirectory* target() const { return target_; }

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& dir_fsync_options) override {
    return target_->FsyncWithDirOptions(options, dbg, dir_fsync_options);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }

 private:
  FSDirectory* target_;
};

class VARVE_EXPORT FSDirectoryOwnerWrapper : public FSDirectoryWrapper {
 public:
  explicit FSDirectoryOwnerWrapper(std::unique_ptr<FSDirectory>&& target)
      : FSDirectoryWrapper(target.get()), guard_(std::move(target)) {}

 private:
  std::unique_ptr<FSDirectory> guard_;
};

}  // namespace varve
