// SPDX-License-Identifier: Apache-2.0
//
// EnvFileSystem: a FileSystem on top of an Env.

#include <utility>

#include "util/env/env_adapters.h"

namespace varve {

namespace {

class EnvSequentialFile final : public FSSequentialFile {
 public:
  explicit EnvSequentialFile(std::unique_ptr<SequentialFile> file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    return status_to_io_status(file_->Read(n, result, scratch));
  }
  IOStatus Skip(uint64_t n) override { return status_to_io_status(file_->Skip(n)); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return status_to_io_status(file_->InvalidateCache(offset, length));
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    return status_to_io_status(file_->PositionedRead(offset, n, result, scratch));
  }

 private:
  const std::unique_ptr<SequentialFile> file_;
};

class EnvRandomAccessFile final : public FSRandomAccessFile {
 public:
  explicit EnvRandomAccessFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return status_to_io_status(file_->Read(offset, n, result, scratch));
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Prefetch(offset, n));
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
    return status_to_io_status(file_->InvalidateCache(offset, length));
  }
  IOStatus GetFileSize(uint64_t* result) override {
    return status_to_io_status(file_->GetFileSize(result));
  }

 private:
  const std::unique_ptr<RandomAccessFile> file_;
};

class EnvWritableFile final : public FSWritableFile {
 public:
  explicit EnvWritableFile(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Append(data));
  }
  IOStatus Append(const Slice& data, const IOOptions&, const DataVerificationInfo& info,
                  IODebugContext*) override {
    return status_to_io_status(file_->Append(data, info));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    return status_to_io_status(file_->PositionedAppend(data, offset));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            const DataVerificationInfo& info, IODebugContext*) override {
    return status_to_io_status(file_->PositionedAppend(data, offset, info));
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Truncate(size));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Close());
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Flush());
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Sync());
  }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Fsync());
  }
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
    return status_to_io_status(file_->InvalidateCache(offset, length));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->RangeSync(offset, nbytes));
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions&, IODebugContext*) override {
    file_->PrepareWrite(offset, len);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Allocate(offset, len));
  }

 private:
  const std::unique_ptr<WritableFile> file_;
};

class EnvRandomRWFile final : public FSRandomRWFile {
 public:
  explicit EnvRandomRWFile(std::unique_ptr<RandomRWFile> file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Write(offset, data));
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return status_to_io_status(file_->Read(offset, n, result, scratch));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Flush());
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Sync());
  }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Fsync());
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Close());
  }

 private:
  const std::unique_ptr<RandomRWFile> file_;
};

class EnvDirectory final : public FSDirectory {
 public:
  explicit EnvDirectory(std::unique_ptr<Directory> file) : file_(std::move(file)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Fsync());
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return status_to_io_status(file_->Close());
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }

 private:
  const std::unique_ptr<Directory> file_;
};

IOStatus EnvRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions&,
                                        IODebugContext*) {
  std::vector<ReadRequest> requests(num_reqs);
  for (size_t i = 0; i < num_reqs; ++i) {
    requests[i].offset = reqs[i].offset;
    requests[i].len = reqs[i].len;
    requests[i].scratch = reqs[i].scratch;
  }
  IOStatus s = status_to_io_status(file_->MultiRead(requests.data(), num_reqs));
  for (size_t i = 0; i < num_reqs; ++i) {
    reqs[i].result = requests[i].result;
    reqs[i].status = status_to_io_status(std::move(requests[i].status));
  }
  return s;
}

FileOptions WithEnvOptions(const FileOptions& base, const EnvOptions& changed) {
  FileOptions out = base;
  static_cast<EnvOptions&>(out) = changed;
  return out;
}

}  // namespace

Status EnvFileSystem::RegisterDbPaths(const std::vector<std::string>& paths) {
  return env_->RegisterDbPaths(paths);
}

Status EnvFileSystem::UnregisterDbPaths(const std::vector<std::string>& paths) {
  return env_->UnregisterDbPaths(paths);
}

IOStatus EnvFileSystem::NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                                          std::unique_ptr<FSSequentialFile>* result,
                                          IODebugContext*) {
  result->reset();
  std::unique_ptr<SequentialFile> file;
  IOStatus s = status_to_io_status(env_->NewSequentialFile(fname, &file, file_opts));
  if (s.ok()) *result = std::make_unique<EnvSequentialFile>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::NewRandomAccessFile(const std::string& fname, const FileOptions& file_opts,
                                            std::unique_ptr<FSRandomAccessFile>* result,
                                            IODebugContext*) {
  result->reset();
  std::unique_ptr<RandomAccessFile> file;
  IOStatus s = status_to_io_status(env_->NewRandomAccessFile(fname, &file, file_opts));
  if (s.ok()) *result = std::make_unique<EnvRandomAccessFile>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                                        std::unique_ptr<FSWritableFile>* result, IODebugContext*) {
  result->reset();
  std::unique_ptr<WritableFile> file;
  IOStatus s = status_to_io_status(env_->NewWritableFile(fname, &file, file_opts));
  if (s.ok()) *result = std::make_unique<EnvWritableFile>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::ReopenWritableFile(const std::string& fname, const FileOptions& file_opts,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext*) {
  result->reset();
  std::unique_ptr<WritableFile> file;
  IOStatus s = status_to_io_status(env_->ReopenWritableFile(fname, &file, file_opts));
  if (s.ok()) *result = std::make_unique<EnvWritableFile>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                          const FileOptions& file_opts,
                                          std::unique_ptr<FSWritableFile>* result,
                                          IODebugContext*) {
  result->reset();
  std::unique_ptr<WritableFile> file;
  IOStatus s = status_to_io_status(env_->ReuseWritableFile(fname, old_fname, &file, file_opts));
  if (s.ok()) *result = std::make_unique<EnvWritableFile>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::NewRandomRWFile(const std::string& fname, const FileOptions& file_opts,
                                        std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) {
  result->reset();
  std::unique_ptr<RandomRWFile> file;
  IOStatus s = status_to_io_status(env_->NewRandomRWFile(fname, &file, file_opts));
  if (s.ok()) *result = std::make_unique<EnvRandomRWFile>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::NewMemoryMappedFileBuffer(const std::string& fname,
                                                  std::unique_ptr<MemoryMappedFileBuffer>* result) {
  return status_to_io_status(env_->NewMemoryMappedFileBuffer(fname, result));
}

IOStatus EnvFileSystem::NewDirectory(const std::string& fname, const IOOptions&,
                                     std::unique_ptr<FSDirectory>* result, IODebugContext*) {
  result->reset();
  std::unique_ptr<Directory> file;
  IOStatus s = status_to_io_status(env_->NewDirectory(fname, &file));
  if (s.ok()) *result = std::make_unique<EnvDirectory>(std::move(file));
  return s;
}

IOStatus EnvFileSystem::FileExists(const std::string& fname, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->FileExists(fname));
}

IOStatus EnvFileSystem::GetChildren(const std::string& fname, const IOOptions&,
                                    std::vector<std::string>* result, IODebugContext*) {
  return status_to_io_status(env_->GetChildren(fname, result));
}

IOStatus EnvFileSystem::GetChildrenFileAttributes(const std::string& fname, const IOOptions&,
                                                  std::vector<FileAttributes>* result,
                                                  IODebugContext*) {
  return status_to_io_status(env_->GetChildrenFileAttributes(fname, result));
}

IOStatus EnvFileSystem::DeleteFile(const std::string& fname, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->DeleteFile(fname));
}

IOStatus EnvFileSystem::Truncate(const std::string& fname, size_t size, const IOOptions&,
                                 IODebugContext*) {
  return status_to_io_status(env_->Truncate(fname, size));
}

IOStatus EnvFileSystem::CreateDir(const std::string& fname, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->CreateDir(fname));
}

IOStatus EnvFileSystem::CreateDirIfMissing(const std::string& fname, const IOOptions&,
                                           IODebugContext*) {
  return status_to_io_status(env_->CreateDirIfMissing(fname));
}

IOStatus EnvFileSystem::DeleteDir(const std::string& fname, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->DeleteDir(fname));
}

IOStatus EnvFileSystem::GetFileSize(const std::string& fname, const IOOptions&, uint64_t* file_size,
                                    IODebugContext*) {
  return status_to_io_status(env_->GetFileSize(fname, file_size));
}

IOStatus EnvFileSystem::GetFileModificationTime(const std::string& fname, const IOOptions&,
                                                uint64_t* file_mtime, IODebugContext*) {
  return status_to_io_status(env_->GetFileModificationTime(fname, file_mtime));
}

IOStatus EnvFileSystem::RenameFile(const std::string& src, const std::string& target,
                                   const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->RenameFile(src, target));
}

IOStatus EnvFileSystem::LinkFile(const std::string& src, const std::string& target,
                                 const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->LinkFile(src, target));
}

IOStatus EnvFileSystem::NumFileLinks(const std::string& fname, const IOOptions&, uint64_t* count,
                                     IODebugContext*) {
  return status_to_io_status(env_->NumFileLinks(fname, count));
}

IOStatus EnvFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                     const IOOptions&, bool* res, IODebugContext*) {
  return status_to_io_status(env_->AreFilesSame(first, second, res));
}

IOStatus EnvFileSystem::LockFile(const std::string& fname, const IOOptions&, FileLock** lock,
                                 IODebugContext*) {
  return status_to_io_status(env_->LockFile(fname, lock));
}

IOStatus EnvFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  return status_to_io_status(env_->UnlockFile(lock));
}

IOStatus EnvFileSystem::GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) {
  return status_to_io_status(env_->GetTestDirectory(path));
}

IOStatus EnvFileSystem::NewLogger(const std::string& fname, const IOOptions&,
                                  std::shared_ptr<Logger>* result, IODebugContext*) {
  return status_to_io_status(env_->NewLogger(fname, result));
}

IOStatus EnvFileSystem::GetAbsolutePath(const std::string& fname, const IOOptions&,
                                        std::string* output_path, IODebugContext*) {
  return status_to_io_status(env_->GetAbsolutePath(fname, output_path));
}

IOStatus EnvFileSystem::GetFreeSpace(const std::string& fname, const IOOptions&, uint64_t* diskfree,
                                     IODebugContext*) {
  return status_to_io_status(env_->GetFreeSpace(fname, diskfree));
}

IOStatus EnvFileSystem::IsDirectory(const std::string& fname, const IOOptions&, bool* is_dir,
                                    IODebugContext*) {
  return status_to_io_status(env_->IsDirectory(fname, is_dir));
}

void EnvFileSystem::SanitizeFileOptions(FileOptions* opts) const {
  env_->SanitizeEnvOptions(opts);
}

FileOptions EnvFileSystem::OptimizeForLogRead(const FileOptions& file_options) const {
  return WithEnvOptions(file_options, env_->OptimizeForLogRead(file_options));
}

FileOptions EnvFileSystem::OptimizeForManifestRead(const FileOptions& file_options) const {
  return WithEnvOptions(file_options, env_->OptimizeForManifestRead(file_options));
}

FileOptions EnvFileSystem::OptimizeForLogWrite(const FileOptions& file_options,
                                               const DBOptions& db_options) const {
  return WithEnvOptions(file_options, env_->OptimizeForLogWrite(file_options, db_options));
}

FileOptions EnvFileSystem::OptimizeForManifestWrite(const FileOptions& file_options) const {
  return WithEnvOptions(file_options, env_->OptimizeForManifestWrite(file_options));
}

FileOptions EnvFileSystem::OptimizeForCompactionTableWrite(
    const FileOptions& file_options, const ImmutableDBOptions& db_options) const {
  return WithEnvOptions(file_options,
                        env_->OptimizeForCompactionTableWrite(file_options, db_options));
}

FileOptions EnvFileSystem::OptimizeForCompactionTableRead(
    const FileOptions& file_options, const ImmutableDBOptions& db_options) const {
  return WithEnvOptions(file_options,
                        env_->OptimizeForCompactionTableRead(file_options, db_options));
}

FileOptions EnvFileSystem::OptimizeForBlobFileRead(const FileOptions& file_options,
                                                   const ImmutableDBOptions& db_options) const {
  return WithEnvOptions(file_options, env_->OptimizeForBlobFileRead(file_options, db_options));
}

}  // namespace varve
