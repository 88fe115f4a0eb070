// SPDX-License-Identifier: Apache-2.0

// Implements a FileSystem and a clock on top of an Env's virtual functions.

#include <utility>

#include "util/env/env_adapters.h"

namespace varve {

namespace {

// Keeps everything, also what the Env's file may have set as an IOStatus before it returned a
// Status (scope, "retryable", "data loss"); a plain Status gets the defaults of those.
IOStatus ToIo(Status s) {
  return status_to_io_status(std::move(s));
}

// The five classes below differ only in their methods: each owns a file of the Env and passes every
// call on without the IOOptions and the debug context, for which Env has no place. A timeout or a
// rate limiter's priority in them is therefore lost.
class EnvSequentialFile final : public FSSequentialFile {
 public:
  using Target = std::unique_ptr<SequentialFile>;
  explicit EnvSequentialFile(Target file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    return ToIo(file_->Read(n, result, scratch));
  }
  IOStatus Skip(uint64_t n) override { return ToIo(file_->Skip(n)); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIo(file_->InvalidateCache(offset, length));
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    return ToIo(file_->PositionedRead(offset, n, result, scratch));
  }

 private:
  const Target file_;
};

class EnvRandomAccessFile final : public FSRandomAccessFile {
 public:
  using Target = std::unique_ptr<RandomAccessFile>;
  explicit EnvRandomAccessFile(Target file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIo(file_->Read(offset, n, result, scratch));
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Prefetch(offset, n));
  }
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<RandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIo(file_->InvalidateCache(offset, length));
  }
  IOStatus GetFileSize(uint64_t* result) override { return ToIo(file_->GetFileSize(result)); }

 private:
  const Target file_;
};

// Also forwards the virtual functions that have defaults, such as PrepareWrite and
// GetPreallocationStatus: state behind them (the preallocated blocks) is in the Env's file, and
// this object's own copy of it stays unused.
class EnvWritableFile final : public FSWritableFile {
 public:
  using Target = std::unique_ptr<WritableFile>;
  explicit EnvWritableFile(Target file) : file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Append(data));
  }
  IOStatus Append(const Slice& data, const IOOptions&, const DataVerificationInfo& info,
                  IODebugContext*) override {
    return ToIo(file_->Append(data, info));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    return ToIo(file_->PositionedAppend(data, offset));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            const DataVerificationInfo& info, IODebugContext*) override {
    return ToIo(file_->PositionedAppend(data, offset, info));
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Truncate(size));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIo(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Sync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Fsync()); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_block) override {
    file_->GetPreallocationStatus(block_size, last_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIo(file_->InvalidateCache(offset, length));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->RangeSync(offset, nbytes));
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions&, IODebugContext*) override {
    file_->PrepareWrite(offset, len);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Allocate(offset, len));
  }

 private:
  const Target file_;
};

class EnvRandomRWFile final : public FSRandomRWFile {
 public:
  using Target = std::unique_ptr<RandomRWFile>;
  explicit EnvRandomRWFile(Target file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Write(offset, data));
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIo(file_->Read(offset, n, result, scratch));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIo(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Sync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Fsync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }

 private:
  const Target file_;
};

class EnvDirectory final : public FSDirectory {
 public:
  using Target = std::unique_ptr<Directory>;
  explicit EnvDirectory(Target file) : file_(std::move(file)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Fsync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }

 private:
  const Target file_;
};

// Converts the requests one by one, as the two structures have nothing in common but their meaning.
// A result points into the request's scratch or into the file's memory, so it is copied as a Slice.
IOStatus EnvRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions&,
                                        IODebugContext*) {
  std::vector<ReadRequest> requests(num_reqs);
  for (size_t i = 0; i < num_reqs; ++i) {
    requests[i].offset = reqs[i].offset;
    requests[i].len = reqs[i].len;
    requests[i].scratch = reqs[i].scratch;
  }
  IOStatus s = ToIo(file_->MultiRead(requests.data(), num_reqs));
  for (size_t i = 0; i < num_reqs; ++i) {
    reqs[i].result = requests[i].result;
    reqs[i].status = ToIo(std::move(requests[i].status));
  }
  return s;
}

// Replaces the part of the options that an Env knows, and keeps the FileOptions' own fields
// (temperature, checksum handoff and the like), which the detour through the Env would otherwise
// reset.
FileOptions WithEnvOptions(const FileOptions& base, const EnvOptions& changed) {
  FileOptions out = base;
  static_cast<EnvOptions&>(out) = changed;
  return out;
}

// Sets *result to a Wrapper of what `open` made.
template <typename Wrapper, typename Result, typename Open>
IOStatus Opened(std::unique_ptr<Result>* result, Open open) {
  result->reset();
  typename Wrapper::Target target;
  IOStatus s = ToIo(open(&target));
  if (s.ok()) *result = std::make_unique<Wrapper>(std::move(target));
  return s;
}

// EnvFileSystem does not override SupportedOps, so nothing above it tries asynchronous reads, and
// it does not implement MappedFileSource or KernelCopySource, so that no byte of the database
// bypasses the program's Env.
class EnvFileSystem final : public FileSystem {
 public:
  explicit EnvFileSystem(Env* env) : env_(env) {}

  const char* Name() const override { return "LegacyFileSystem"; }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return env_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return env_->UnregisterDbPaths(paths);
  }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& o,
                             std::unique_ptr<FSSequentialFile>* result, IODebugContext*) override {
    return Opened<EnvSequentialFile>(
        result, [&](auto* file) { return env_->NewSequentialFile(path, file, o); });
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& o,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext*) override {
    return Opened<EnvRandomAccessFile>(
        result, [&](auto* file) { return env_->NewRandomAccessFile(path, file, o); });
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& o,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    return Opened<EnvWritableFile>(
        result, [&](auto* file) { return env_->NewWritableFile(path, file, o); });
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& o,
                              std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    return Opened<EnvWritableFile>(
        result, [&](auto* file) { return env_->ReopenWritableFile(path, file, o); });
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& o, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext*) override {
    return Opened<EnvWritableFile>(
        result, [&](auto* file) { return env_->ReuseWritableFile(path, old_path, file, o); });
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& o,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) override {
    return Opened<EnvRandomRWFile>(
        result, [&](auto* file) { return env_->NewRandomRWFile(path, file, o); });
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return ToIo(env_->NewMemoryMappedFileBuffer(path, result));
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<FSDirectory>* result, IODebugContext*) override {
    return Opened<EnvDirectory>(result, [&](auto* file) { return env_->NewDirectory(path, file); });
  }
  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ToIo(env_->FileExists(path));
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    return ToIo(env_->GetChildren(path, result));
  }
  IOStatus GetChildrenFileAttributes(const std::string& path, const IOOptions&,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext*) override {
    return ToIo(env_->GetChildrenFileAttributes(path, result));
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ToIo(env_->DeleteFile(path));
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions&,
                    IODebugContext*) override {
    return ToIo(env_->Truncate(path, size));
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ToIo(env_->CreateDir(path));
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ToIo(env_->CreateDirIfMissing(path));
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ToIo(env_->DeleteDir(path));
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* file_size,
                       IODebugContext*) override {
    return ToIo(env_->GetFileSize(path, file_size));
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, uint64_t* file_mtime,
                                   IODebugContext*) override {
    return ToIo(env_->GetFileModificationTime(path, file_mtime));
  }
  IOStatus RenameFile(const std::string& src, const std::string& target, const IOOptions&,
                      IODebugContext*) override {
    return ToIo(env_->RenameFile(src, target));
  }
  IOStatus LinkFile(const std::string& src, const std::string& target, const IOOptions&,
                    IODebugContext*) override {
    return ToIo(env_->LinkFile(src, target));
  }
  IOStatus NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    return ToIo(env_->NumFileLinks(path, count));
  }
  IOStatus AreFilesSame(const std::string& first, const std::string& second, const IOOptions&,
                        bool* res, IODebugContext*) override {
    return ToIo(env_->AreFilesSame(first, second, res));
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                    IODebugContext*) override {
    return ToIo(env_->LockFile(path, lock));
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override {
    return ToIo(env_->UnlockFile(lock));
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    return ToIo(env_->GetTestDirectory(path));
  }
  IOStatus NewLogger(const std::string& path, const IOOptions&, std::shared_ptr<Logger>* result,
                     IODebugContext*) override {
    return ToIo(env_->NewLogger(path, result));
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* output_path,
                           IODebugContext*) override {
    return ToIo(env_->GetAbsolutePath(path, output_path));
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* diskfree,
                        IODebugContext*) override {
    return ToIo(env_->GetFreeSpace(path, diskfree));
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    return ToIo(env_->IsDirectory(path, is_dir));
  }
  void SanitizeFileOptions(FileOptions* opts) const override { env_->SanitizeEnvOptions(opts); }
  FileOptions OptimizeForLogRead(const FileOptions& o) const override {
    return WithEnvOptions(o, env_->OptimizeForLogRead(o));
  }
  FileOptions OptimizeForManifestRead(const FileOptions& o) const override {
    return WithEnvOptions(o, env_->OptimizeForManifestRead(o));
  }
  FileOptions OptimizeForLogWrite(const FileOptions& o, const DBOptions& db) const override {
    return WithEnvOptions(o, env_->OptimizeForLogWrite(o, db));
  }
  FileOptions OptimizeForManifestWrite(const FileOptions& o) const override {
    return WithEnvOptions(o, env_->OptimizeForManifestWrite(o));
  }
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& o,
                                              const ImmutableDBOptions& db) const override {
    return WithEnvOptions(o, env_->OptimizeForCompactionTableWrite(o, db));
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& o,
                                             const ImmutableDBOptions& db) const override {
    return WithEnvOptions(o, env_->OptimizeForCompactionTableRead(o, db));
  }
  FileOptions OptimizeForBlobFileRead(const FileOptions& o,
                                      const ImmutableDBOptions& db) const override {
    return WithEnvOptions(o, env_->OptimizeForBlobFileRead(o, db));
  }

 private:
  Env* const env_;
};

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

}  // namespace

std::shared_ptr<FileSystem> NewEnvFileSystem(Env* env) {
  return std::make_shared<EnvFileSystem>(env);
}

std::shared_ptr<SystemClock> NewEnvClock(Env* env) {
  return std::make_shared<EnvClock>(env);
}

}  // namespace varve
