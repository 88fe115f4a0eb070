// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forwarding forms of FileSystem and its file types. Included by varve/file_system.h.
//
// They are bases for file systems that change only some calls: to count, to delay, to inject
// faults, to encrypt. Derive from FileSystemWrapper, override the functions that open files, and
// return file wrappers of your own from them; forwarded_calls.h lists the calls. A class whose name
// ends with OwnerWrapper owns its target; one that ends with Wrapper borrows it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/customizable.h"
#include "varve/file_system.h"
#include "varve/forwarded_calls.h"

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
#define VARVE_FS_OPEN(Call, File, paths)                                           \
  IOStatus Call(VARVE_FIRST_PARAMS paths, const FileOptions& options,              \
                std::unique_ptr<FS##File>* result, IODebugContext* dbg) override { \
    return target_->Call(VARVE_FIRST_ARGS paths, options, result, dbg);            \
  }
  VARVE_OPEN_CALLS(VARVE_FS_OPEN)
#undef VARVE_FS_OPEN
  VARVE_FORWARD_FS(NewDirectory, (const std::string&), (std::unique_ptr<FSDirectory>*), )

  // These change names and directories, and tell what exists. The lock of LockFile is the target's:
  // hand it to UnlockFile unchanged.
  VARVE_PATH_CALLS(VARVE_FORWARD_FS, VARVE_FORWARD_FS_BARE)
  // Is not forwarded, as the files of a derived class may hold other bytes than the target's.
  IOStatus PunchHole(const std::string& /*fname*/, uint64_t /*offset*/, uint64_t /*bytes*/,
                     const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported("PunchHole", Name());
  }
  VARVE_FORWARD_FS(GetTestDirectory, (), (std::string*), )
  VARVE_FORWARD_FS(SyncFile, (const std::string&, const FileOptions&), (bool), )
  VARVE_FORWARD(void, DiscardCacheForDirectory, (const std::string&), )

  // These forward handles of the target's files. A wrapper whose files have no ReadAsync of the
  // target must clear kAsyncIO in SupportedOps.
  VARVE_FORWARD(IOStatus, Poll, (std::vector<void*>&, size_t), )
  VARVE_FORWARD(IOStatus, AbortIO, (std::vector<void*>&), )
  VARVE_FORWARD(void, SupportedOps, (int64_t&), )

  // These adjust options before files are opened.
#define VARVE_FS_OPTIMIZE(Call, more)                                                  \
  FileOptions Call(const FileOptions& options VARVE_LAST_PARAMS more) const override { \
    return target_->Call(options VARVE_LAST_ARGS more);                                \
  }
  VARVE_OPTIMIZE_CALLS(VARVE_FS_OPTIMIZE)
#undef VARVE_FS_OPTIMIZE
  VARVE_FORWARD(void, SanitizeFileOptions, (FileOptions*), const)

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

  VARVE_SEQUENTIAL_FILE_CALLS(VARVE_FORWARD_FS, VARVE_FORWARD_FS_BARE)
  VARVE_FORWARD(Temperature, GetTemperature, (), const)

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

  VARVE_RANDOM_ACCESS_FILE_CALLS(VARVE_FORWARD_FS, VARVE_FORWARD_FS_BARE)
  VARVE_FORWARD_FS(MultiRead, (FSReadRequest*, size_t), (), )
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return target_->ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
  }
  VARVE_FORWARD(void, Hint, (AccessPattern), )
  VARVE_FORWARD(Temperature, GetTemperature, (), const)

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

  VARVE_WRITABLE_FILE_CALLS(VARVE_FORWARD_FS, VARVE_FORWARD_FS_BARE)
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override {
    return target_->GetFileSize(options, dbg);
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    target_->PrepareWrite(offset, len, options, dbg);
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

  VARVE_RANDOM_RW_FILE_CALLS(VARVE_FORWARD_FS)
  VARVE_FORWARD(Temperature, GetTemperature, (), const)

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

  VARVE_DIRECTORY_CALLS(VARVE_FORWARD_FS)
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& dir_fsync_options) override {
    return target_->FsyncWithDirOptions(options, dbg, dir_fsync_options);
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
