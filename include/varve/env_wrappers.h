// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the pass-through forms of Env, its file types and Logger. Reached through varve/env.h.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/env.h"

namespace varve {

// Passes every call on to a target Env. Override what should differ.
class VARVE_EXPORT EnvWrapper : public Env {
 public:
  struct Target {
    Env* env;
    std::shared_ptr<Env> guard;  // owns env, or is empty

    explicit Target(Env* t) : env(t) {}
    explicit Target(std::unique_ptr<Env>&& t) : guard(std::move(t)) { env = guard.get(); }
    explicit Target(const std::shared_ptr<Env>& t) : guard(t) { env = guard.get(); }
  };

  // Not owned; must outlive the wrapper.
  explicit EnvWrapper(Env* t);
  explicit EnvWrapper(std::unique_ptr<Env>&& t);
  explicit EnvWrapper(const std::shared_ptr<Env>& t);
  ~EnvWrapper() override;

  Env* target() const { return target_.env; }

  const char* Name() const override { return target_.env->Name(); }
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_.env->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_.env->UnregisterDbPaths(paths);
  }
  Status NewSequentialFile(const std::string& f, std::unique_ptr<SequentialFile>* r,
                           const EnvOptions& options) override {
    return target_.env->NewSequentialFile(f, r, options);
  }
  Status NewRandomAccessFile(const std::string& f, std::unique_ptr<RandomAccessFile>* r,
                             const EnvOptions& options) override {
    return target_.env->NewRandomAccessFile(f, r, options);
  }
  Status NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                         const EnvOptions& options) override {
    return target_.env->NewWritableFile(f, r, options);
  }
  Status ReopenWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                            const EnvOptions& options) override {
    return target_.env->ReopenWritableFile(f, r, options);
  }
  Status ReuseWritableFile(const std::string& f, const std::string& old_f,
                           std::unique_ptr<WritableFile>* r, const EnvOptions& options) override {
    return target_.env->ReuseWritableFile(f, old_f, r, options);
  }
  Status NewRandomRWFile(const std::string& f, std::unique_ptr<RandomRWFile>* r,
                         const EnvOptions& options) override {
    return target_.env->NewRandomRWFile(f, r, options);
  }
  Status NewMemoryMappedFileBuffer(const std::string& f,
                                   std::unique_ptr<MemoryMappedFileBuffer>* r) override {
    return target_.env->NewMemoryMappedFileBuffer(f, r);
  }
  Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* r) override {
    return target_.env->NewDirectory(name, r);
  }
  Status FileExists(const std::string& f) override { return target_.env->FileExists(f); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* r) override {
    return target_.env->GetChildren(dir, r);
  }
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* r) override {
    return target_.env->GetChildrenFileAttributes(dir, r);
  }
  Status DeleteFile(const std::string& f) override { return target_.env->DeleteFile(f); }
  Status Truncate(const std::string& f, size_t size) override {
    return target_.env->Truncate(f, size);
  }
  Status CreateDir(const std::string& d) override { return target_.env->CreateDir(d); }
  Status CreateDirIfMissing(const std::string& d) override {
    return target_.env->CreateDirIfMissing(d);
  }
  Status DeleteDir(const std::string& d) override { return target_.env->DeleteDir(d); }
  Status GetFileSize(const std::string& f, uint64_t* s) override {
    return target_.env->GetFileSize(f, s);
  }
  Status GetFileModificationTime(const std::string& f, uint64_t* file_mtime) override {
    return target_.env->GetFileModificationTime(f, file_mtime);
  }
  Status RenameFile(const std::string& s, const std::string& t) override {
    return target_.env->RenameFile(s, t);
  }
  Status LinkFile(const std::string& s, const std::string& t) override {
    return target_.env->LinkFile(s, t);
  }
  Status NumFileLinks(const std::string& f, uint64_t* count) override {
    return target_.env->NumFileLinks(f, count);
  }
  Status AreFilesSame(const std::string& first, const std::string& second, bool* res) override {
    return target_.env->AreFilesSame(first, second, res);
  }
  Status LockFile(const std::string& f, FileLock** l) override {
    return target_.env->LockFile(f, l);
  }
  Status UnlockFile(FileLock* l) override { return target_.env->UnlockFile(l); }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    return target_.env->IsDirectory(path, is_dir);
  }
  void Schedule(void (*f)(void* arg), void* a, Priority pri, void* tag = nullptr,
                void (*u)(void* arg) = nullptr) override {
    target_.env->Schedule(f, a, pri, tag, u);
  }
  int UnSchedule(void* tag, Priority pri) override { return target_.env->UnSchedule(tag, pri); }
  void StartThread(void (*f)(void*), void* a) override { target_.env->StartThread(f, a); }
  void WaitForJoin() override { target_.env->WaitForJoin(); }
  int ReserveThreads(int n, Priority pri) override { return target_.env->ReserveThreads(n, pri); }
  int ReleaseThreads(int n, Priority pri) override { return target_.env->ReleaseThreads(n, pri); }
  unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const override {
    return target_.env->GetThreadPoolQueueLen(pri);
  }
  Status GetTestDirectory(std::string* path) override {
    return target_.env->GetTestDirectory(path);
  }
  Status NewLogger(const std::string& f, std::shared_ptr<Logger>* r) override {
    return target_.env->NewLogger(f, r);
  }
  uint64_t NowMicros() override { return target_.env->NowMicros(); }
  uint64_t NowNanos() override { return target_.env->NowNanos(); }
  uint64_t NowCPUNanos() override { return target_.env->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { target_.env->SleepForMicroseconds(micros); }
  Status GetHostName(char* name, uint64_t len) override {
    return target_.env->GetHostName(name, len);
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    return target_.env->GetCurrentTime(unix_time);
  }
  Status GetAbsolutePath(const std::string& db_path, std::string* output_path) override {
    return target_.env->GetAbsolutePath(db_path, output_path);
  }
  void SetBackgroundThreads(int num, Priority pri) override {
    target_.env->SetBackgroundThreads(num, pri);
  }
  int GetBackgroundThreads(Priority pri) override { return target_.env->GetBackgroundThreads(pri); }
  Status SetAllowNonOwnerAccess(bool allow) override {
    return target_.env->SetAllowNonOwnerAccess(allow);
  }
  void IncBackgroundThreadsIfNeeded(int num, Priority pri) override {
    target_.env->IncBackgroundThreadsIfNeeded(num, pri);
  }
  void LowerThreadPoolIOPriority(Priority pool) override {
    target_.env->LowerThreadPoolIOPriority(pool);
  }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    target_.env->LowerThreadPoolCPUPriority(pool);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    return target_.env->LowerThreadPoolCPUPriority(pool, pri);
  }
  std::string TimeToString(uint64_t time) override { return target_.env->TimeToString(time); }
  Status GetThreadList(std::vector<ThreadStatus>* list) override {
    return target_.env->GetThreadList(list);
  }
  uint64_t GetThreadID() const override { return target_.env->GetThreadID(); }
  std::string GenerateUniqueId() override { return target_.env->GenerateUniqueId(); }
  EnvOptions OptimizeForLogRead(const EnvOptions& o) const override {
    return target_.env->OptimizeForLogRead(o);
  }
  EnvOptions OptimizeForManifestRead(const EnvOptions& o) const override {
    return target_.env->OptimizeForManifestRead(o);
  }
  EnvOptions OptimizeForLogWrite(const EnvOptions& o, const DBOptions& db) const override {
    return target_.env->OptimizeForLogWrite(o, db);
  }
  EnvOptions OptimizeForManifestWrite(const EnvOptions& o) const override {
    return target_.env->OptimizeForManifestWrite(o);
  }
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& o,
                                             const ImmutableDBOptions& db) const override {
    return target_.env->OptimizeForCompactionTableWrite(o, db);
  }
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& o,
                                            const ImmutableDBOptions& db) const override {
    return target_.env->OptimizeForCompactionTableRead(o, db);
  }
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& o,
                                     const ImmutableDBOptions& db) const override {
    return target_.env->OptimizeForBlobFileRead(o, db);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* diskfree) override {
    return target_.env->GetFreeSpace(path, diskfree);
  }
  void SanitizeEnvOptions(EnvOptions* o) const override { target_.env->SanitizeEnvOptions(o); }

 private:
  Target target_;
};

// File wrappers: each passes every call on to a target that it does not own.
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
