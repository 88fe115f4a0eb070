// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forwarding forms of Env, its file types and Logger. Included by varve/env.h.
//
// They are bases for classes that change only some calls. A file wrapper borrows its target, which
// must outlive it, and is used by as many threads as its target. New code that changes only
// storage should derive from FileSystemWrapper (file_system_wrappers.h), as the library calls an
// Env's file functions through an adapter.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/env.h"

namespace varve {

// Forwards every call to a target Env. Override what should differ.
class VARVE_EXPORT EnvWrapper : public Env {
 public:
  struct Target {
    // Receives the calls; never null.
    Env* env;
    // Owns env, or is empty if the wrapper does not own it.
    std::shared_ptr<Env> guard;

    explicit Target(Env* borrowed) : env(borrowed) {}
    explicit Target(std::unique_ptr<Env>&& owned) : guard(std::move(owned)) { env = guard.get(); }
    explicit Target(const std::shared_ptr<Env>& shared) : guard(shared) { env = guard.get(); }
  };

  // A raw pointer is not owned and must outlive the wrapper.
  explicit EnvWrapper(Env* target);
  explicit EnvWrapper(std::unique_ptr<Env>&& target);
  explicit EnvWrapper(const std::shared_ptr<Env>& target);
  ~EnvWrapper() override;

  // Returns the Env that calls are forwarded to, valid as long as the wrapper.
  Env* target() const { return target_.env; }

  const char* Name() const override { return target_.env->Name(); }

  // These open files. Override them to return file wrappers of your own.
  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override {
    return target_.env->NewSequentialFile(path, result, options);
  }
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override {
    return target_.env->NewRandomAccessFile(path, result, options);
  }
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override {
    return target_.env->NewRandomRWFile(path, result, options);
  }
  Status NewMemoryMappedFileBuffer(const std::string& path,
                                   std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return target_.env->NewMemoryMappedFileBuffer(path, result);
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    return target_.env->NewWritableFile(path, result, options);
  }
  Status ReopenWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                            const EnvOptions& options) override {
    return target_.env->ReopenWritableFile(path, result, options);
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<WritableFile>* result,
                           const EnvOptions& options) override {
    return target_.env->ReuseWritableFile(path, old_path, result, options);
  }
  Status NewLogger(const std::string& path, std::shared_ptr<Logger>* result) override {
    return target_.env->NewLogger(path, result);
  }

  // These change names, and tell what exists.
  Status FileExists(const std::string& path) override { return target_.env->FileExists(path); }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    return target_.env->IsDirectory(path, is_dir);
  }
  Status GetAbsolutePath(const std::string& path, std::string* output_path) override {
    return target_.env->GetAbsolutePath(path, output_path);
  }
  Status GetTestDirectory(std::string* path) override {
    return target_.env->GetTestDirectory(path);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return target_.env->RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return target_.env->LinkFile(from, to);
  }
  Status NumFileLinks(const std::string& path, uint64_t* count) override {
    return target_.env->NumFileLinks(path, count);
  }
  Status AreFilesSame(const std::string& first, const std::string& second, bool* same) override {
    return target_.env->AreFilesSame(first, second, same);
  }
  Status DeleteFile(const std::string& path) override { return target_.env->DeleteFile(path); }

  // These read and change what a file or a name has.
  Status GetFileSize(const std::string& path, uint64_t* size) override {
    return target_.env->GetFileSize(path, size);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* seconds) override {
    return target_.env->GetFileModificationTime(path, seconds);
  }
  Status Truncate(const std::string& path, size_t size) override {
    return target_.env->Truncate(path, size);
  }

  // These list, make and remove directories.
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    return target_.env->NewDirectory(path, result);
  }
  Status CreateDir(const std::string& path) override { return target_.env->CreateDir(path); }
  Status CreateDirIfMissing(const std::string& path) override {
    return target_.env->CreateDirIfMissing(path);
  }
  Status DeleteDir(const std::string& path) override { return target_.env->DeleteDir(path); }
  Status GetChildren(const std::string& path, std::vector<std::string>* result) override {
    return target_.env->GetChildren(path, result);
  }
  Status GetChildrenFileAttributes(const std::string& path,
                                   std::vector<FileAttributes>* result) override {
    return target_.env->GetChildrenFileAttributes(path, result);
  }
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_.env->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_.env->UnregisterDbPaths(paths);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return target_.env->GetFreeSpace(path, bytes);
  }

  // The lock of LockFile is the target's: hand it to UnlockFile unchanged.
  Status LockFile(const std::string& path, FileLock** lock) override {
    return target_.env->LockFile(path, lock);
  }
  Status UnlockFile(FileLock* lock) override { return target_.env->UnlockFile(lock); }

  // These adjust options before files are opened.
  void SanitizeEnvOptions(EnvOptions* o) const override { target_.env->SanitizeEnvOptions(o); }
  EnvOptions OptimizeForLogRead(const EnvOptions& o) const override {
    return target_.env->OptimizeForLogRead(o);
  }
  EnvOptions OptimizeForLogWrite(const EnvOptions& o, const DBOptions& db) const override {
    return target_.env->OptimizeForLogWrite(o, db);
  }
  EnvOptions OptimizeForManifestRead(const EnvOptions& o) const override {
    return target_.env->OptimizeForManifestRead(o);
  }
  EnvOptions OptimizeForManifestWrite(const EnvOptions& o) const override {
    return target_.env->OptimizeForManifestWrite(o);
  }
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& o,
                                            const ImmutableDBOptions& db) const override {
    return target_.env->OptimizeForCompactionTableRead(o, db);
  }
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& o,
                                             const ImmutableDBOptions& db) const override {
    return target_.env->OptimizeForCompactionTableWrite(o, db);
  }
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& o,
                                     const ImmutableDBOptions& db) const override {
    return target_.env->OptimizeForBlobFileRead(o, db);
  }

  // These tell the time. Databases reach them through GetSystemClock(), which is an adapter to
  // them.
  uint64_t NowMicros() override { return target_.env->NowMicros(); }
  uint64_t NowNanos() override { return target_.env->NowNanos(); }
  uint64_t NowCPUNanos() override { return target_.env->NowCPUNanos(); }
  Status GetCurrentTime(int64_t* unix_time) override {
    return target_.env->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override { return target_.env->TimeToString(time); }
  void SleepForMicroseconds(int micros) override { target_.env->SleepForMicroseconds(micros); }

  // The pools of threads are the target's, and shared with all that use it.
  void Schedule(void (*work)(void*), void* arg, Priority pool, void* tag = nullptr,
                void (*withdrawn)(void*) = nullptr) override {
    target_.env->Schedule(work, arg, pool, tag, withdrawn);
  }
  int UnSchedule(void* tag, Priority pool) override { return target_.env->UnSchedule(tag, pool); }
  unsigned int GetThreadPoolQueueLen(Priority pool = LOW) const override {
    return target_.env->GetThreadPoolQueueLen(pool);
  }
  void StartThread(void (*work)(void*), void* arg) override { target_.env->StartThread(work, arg); }
  void WaitForJoin() override { target_.env->WaitForJoin(); }
  void SetBackgroundThreads(int num, Priority pool) override {
    target_.env->SetBackgroundThreads(num, pool);
  }
  int GetBackgroundThreads(Priority pool) override {
    return target_.env->GetBackgroundThreads(pool);
  }
  void IncBackgroundThreadsIfNeeded(int num, Priority pool) override {
    target_.env->IncBackgroundThreadsIfNeeded(num, pool);
  }
  int ReserveThreads(int n, Priority pool) override { return target_.env->ReserveThreads(n, pool); }
  int ReleaseThreads(int n, Priority pool) override { return target_.env->ReleaseThreads(n, pool); }
  void LowerThreadPoolIOPriority(Priority pool) override {
    target_.env->LowerThreadPoolIOPriority(pool);
  }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    target_.env->LowerThreadPoolCPUPriority(pool);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority cpu) override {
    return target_.env->LowerThreadPoolCPUPriority(pool, cpu);
  }
  Status GetThreadList(std::vector<ThreadStatus>* list) override {
    return target_.env->GetThreadList(list);
  }
  uint64_t GetThreadID() const override { return target_.env->GetThreadID(); }

  // These tell about the machine.
  Status GetHostName(char* name, uint64_t len) override {
    return target_.env->GetHostName(name, len);
  }
  std::string GenerateUniqueId() override { return target_.env->GenerateUniqueId(); }
  Status SetAllowNonOwnerAccess(bool allow) override {
    return target_.env->SetAllowNonOwnerAccess(allow);
  }

 private:
  Target target_;
};

// File wrappers follow: each forwards every call to a target that it does not own and that must
// outlive it. Derive from one, and override what should differ.
class VARVE_EXPORT SequentialFileWrapper : public SequentialFile {
 public:
  explicit SequentialFileWrapper(SequentialFile* target) : target_(target) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return target_->Read(n, result, scratch);
  }
  Status Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return target_->PositionedRead(offset, n, result, scratch);
  }

 private:
  SequentialFile* target_;
};

class VARVE_EXPORT RandomAccessFileWrapper : public RandomAccessFile {
 public:
  explicit RandomAccessFileWrapper(RandomAccessFile* target) : target_(target) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status MultiRead(ReadRequest* reqs, size_t num_reqs) override {
    return target_->MultiRead(reqs, num_reqs);
  }
  Status Prefetch(uint64_t offset, size_t n) override { return target_->Prefetch(offset, n); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status GetFileSize(uint64_t* result) override { return target_->GetFileSize(result); }

 private:
  RandomAccessFile* target_;
};

class VARVE_EXPORT WritableFileWrapper : public WritableFile {
 public:
  explicit WritableFileWrapper(WritableFile* target) : target_(target) {}

  Status Append(const Slice& data) override { return target_->Append(data); }
  Status Append(const Slice& data, const DataVerificationInfo& info) override {
    return target_->Append(data, info);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return target_->PositionedAppend(data, offset);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset,
                          const DataVerificationInfo& info) override {
    return target_->PositionedAppend(data, offset, info);
  }
  Status Truncate(uint64_t size) override { return target_->Truncate(size); }
  Status Close() override { return target_->Close(); }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetIOPriority(Env::IOPriority pri) override { target_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return target_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize() override { return target_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t size) override { target_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t nbytes) override {
    return target_->RangeSync(offset, nbytes);
  }
  void PrepareWrite(size_t offset, size_t len) override { target_->PrepareWrite(offset, len); }
  Status Allocate(uint64_t offset, uint64_t len) override { return target_->Allocate(offset, len); }

 private:
  WritableFile* target_;
};

class VARVE_EXPORT RandomRWFileWrapper : public RandomRWFile {
 public:
  explicit RandomRWFileWrapper(RandomRWFile* target) : target_(target) {}

  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status Write(uint64_t offset, const Slice& data) override { return target_->Write(offset, data); }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }

 private:
  RandomRWFile* target_;
};

class VARVE_EXPORT DirectoryWrapper : public Directory {
 public:
  explicit DirectoryWrapper(Directory* target) : target_(target) {}

  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }

 private:
  Directory* target_;
};

class VARVE_EXPORT LoggerWrapper : public Logger {
 public:
  explicit LoggerWrapper(Logger* target) : target_(target) {}

  Status Close() override { return target_->Close(); }
  void LogHeader(const char* format, va_list ap) override { target_->LogHeader(format, ap); }
  void Logv(const char* format, va_list ap) override { target_->Logv(format, ap); }
  void Logv(const InfoLogLevel log_level, const char* format, va_list ap) override {
    target_->Logv(log_level, format, ap);
  }
  size_t GetLogFileSize() const override { return target_->GetLogFileSize(); }
  void Flush() override { target_->Flush(); }
  InfoLogLevel GetInfoLogLevel() const override { return target_->GetInfoLogLevel(); }
  void SetInfoLogLevel(const InfoLogLevel log_level) override {
    target_->SetInfoLogLevel(log_level);
  }

 private:
  Logger* target_;
};

}  // namespace varve
