// SPDX-License-Identifier: Apache-2.0
//
// FileSystemEnv: the file functions of an Env on top of a FileSystem.

#include <utility>

#include "util/env/env_adapters.h"

namespace varve {

namespace {

class SequentialFileOfFs final : public SequentialFile {
 public:
  explicit SequentialFileOfFs(std::unique_ptr<FSSequentialFile> file) : file_(std::move(file)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return file_->Read(n, IOOptions(), result, scratch, nullptr);
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return file_->PositionedRead(offset, n, IOOptions(), result, scratch, nullptr);
  }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
};

class RandomAccessFileOfFs final : public RandomAccessFile {
 public:
  explicit RandomAccessFileOfFs(std::unique_ptr<FSRandomAccessFile> file)
      : file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, IOOptions(), result, scratch, nullptr);
  }
  Status Prefetch(uint64_t offset, size_t n) override {
    return file_->Prefetch(offset, n, IOOptions(), nullptr);
  }
  Status MultiRead(ReadRequest* reqs, size_t num_reqs) override;
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<FSRandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status GetFileSize(uint64_t* result) override { return file_->GetFileSize(result); }

 private:
  const std::unique_ptr<FSRandomAccessFile> file_;
};

class WritableFileOfFs final : public WritableFile {
 public:
  explicit WritableFileOfFs(std::unique_ptr<FSWritableFile> file) : file_(std::move(file)) {}

  Status Append(const Slice& data) override { return file_->Append(data, IOOptions(), nullptr); }
  Status Append(const Slice& data, const DataVerificationInfo& info) override {
    return file_->Append(data, IOOptions(), info, nullptr);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return file_->PositionedAppend(data, offset, IOOptions(), nullptr);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset,
                          const DataVerificationInfo& info) override {
    return file_->PositionedAppend(data, offset, IOOptions(), info, nullptr);
  }
  Status Truncate(uint64_t size) override { return file_->Truncate(size, IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }
  Status Flush() override { return file_->Flush(IOOptions(), nullptr); }
  Status Sync() override { return file_->Sync(IOOptions(), nullptr); }
  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize() override { return file_->GetFileSize(IOOptions(), nullptr); }
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_block) override {
    file_->GetPreallocationStatus(block_size, last_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t nbytes) override {
    return file_->RangeSync(offset, nbytes, IOOptions(), nullptr);
  }
  void PrepareWrite(size_t offset, size_t len) override {
    file_->PrepareWrite(offset, len, IOOptions(), nullptr);
  }
  Status Allocate(uint64_t offset, uint64_t len) override {
    return file_->Allocate(offset, len, IOOptions(), nullptr);
  }

 private:
  const std::unique_ptr<FSWritableFile> file_;
};

class RandomRWFileOfFs final : public RandomRWFile {
 public:
  explicit RandomRWFileOfFs(std::unique_ptr<FSRandomRWFile> file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status Write(uint64_t offset, const Slice& data) override {
    return file_->Write(offset, data, IOOptions(), nullptr);
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, IOOptions(), result, scratch, nullptr);
  }
  Status Flush() override { return file_->Flush(IOOptions(), nullptr); }
  Status Sync() override { return file_->Sync(IOOptions(), nullptr); }
  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }

 private:
  const std::unique_ptr<FSRandomRWFile> file_;
};

class DirectoryOfFs final : public Directory {
 public:
  explicit DirectoryOfFs(std::unique_ptr<FSDirectory> file) : file_(std::move(file)) {}

  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }

 private:
  const std::unique_ptr<FSDirectory> file_;
};

Status RandomAccessFileOfFs::MultiRead(ReadRequest* reqs, size_t num_reqs) {
  std::vector<FSReadRequest> requests(num_reqs);
  for (size_t i = 0; i < num_reqs; ++i) {
    requests[i].offset = reqs[i].offset;
    requests[i].len = reqs[i].len;
    requests[i].scratch = reqs[i].scratch;
  }
  Status s = file_->MultiRead(requests.data(), num_reqs, IOOptions(), nullptr);
  for (size_t i = 0; i < num_reqs; ++i) {
    reqs[i].result = requests[i].result;
    reqs[i].status = requests[i].status;
  }
  return s;
}

}  // namespace

Status FileSystemEnv::RegisterDbPaths(const std::vector<std::string>& paths) {
  return file_system_->RegisterDbPaths(paths);
}

Status FileSystemEnv::UnregisterDbPaths(const std::vector<std::string>& paths) {
  return file_system_->UnregisterDbPaths(paths);
}

Status FileSystemEnv::NewSequentialFile(const std::string& fname,
                                        std::unique_ptr<SequentialFile>* result,
                                        const EnvOptions& options) {
  result->reset();
  std::unique_ptr<FSSequentialFile> file;
  Status s = file_system_->NewSequentialFile(fname, FileOptions(options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<SequentialFileOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::NewRandomAccessFile(const std::string& fname,
                                          std::unique_ptr<RandomAccessFile>* result,
                                          const EnvOptions& options) {
  result->reset();
  std::unique_ptr<FSRandomAccessFile> file;
  Status s = file_system_->NewRandomAccessFile(fname, FileOptions(options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<RandomAccessFileOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::NewWritableFile(const std::string& fname,
                                      std::unique_ptr<WritableFile>* result,
                                      const EnvOptions& options) {
  result->reset();
  std::unique_ptr<FSWritableFile> file;
  Status s = file_system_->NewWritableFile(fname, FileOptions(options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<WritableFileOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::ReopenWritableFile(const std::string& fname,
                                         std::unique_ptr<WritableFile>* result,
                                         const EnvOptions& options) {
  result->reset();
  std::unique_ptr<FSWritableFile> file;
  Status s = file_system_->ReopenWritableFile(fname, FileOptions(options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<WritableFileOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                        std::unique_ptr<WritableFile>* result,
                                        const EnvOptions& options) {
  result->reset();
  std::unique_ptr<FSWritableFile> file;
  Status s =
      file_system_->ReuseWritableFile(fname, old_fname, FileOptions(options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<WritableFileOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::NewRandomRWFile(const std::string& fname,
                                      std::unique_ptr<RandomRWFile>* result,
                                      const EnvOptions& options) {
  result->reset();
  std::unique_ptr<FSRandomRWFile> file;
  Status s = file_system_->NewRandomRWFile(fname, FileOptions(options), &file, nullptr);
  if (s.ok()) *result = std::make_unique<RandomRWFileOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::NewMemoryMappedFileBuffer(const std::string& fname,
                                                std::unique_ptr<MemoryMappedFileBuffer>* result) {
  return file_system_->NewMemoryMappedFileBuffer(fname, result);
}

Status FileSystemEnv::NewDirectory(const std::string& fname, std::unique_ptr<Directory>* result) {
  result->reset();
  std::unique_ptr<FSDirectory> file;
  Status s = file_system_->NewDirectory(fname, IOOptions(), &file, nullptr);
  if (s.ok()) *result = std::make_unique<DirectoryOfFs>(std::move(file));
  return s;
}

Status FileSystemEnv::FileExists(const std::string& fname) {
  return file_system_->FileExists(fname, IOOptions(), nullptr);
}

Status FileSystemEnv::GetChildren(const std::string& fname, std::vector<std::string>* result) {
  return file_system_->GetChildren(fname, IOOptions(), result, nullptr);
}

Status FileSystemEnv::GetChildrenFileAttributes(const std::string& fname,
                                                std::vector<FileAttributes>* result) {
  return file_system_->GetChildrenFileAttributes(fname, IOOptions(), result, nullptr);
}

Status FileSystemEnv::DeleteFile(const std::string& fname) {
  return file_system_->DeleteFile(fname, IOOptions(), nullptr);
}

Status FileSystemEnv::Truncate(const std::string& fname, size_t size) {
  return file_system_->Truncate(fname, size, IOOptions(), nullptr);
}

Status FileSystemEnv::CreateDir(const std::string& fname) {
  return file_system_->CreateDir(fname, IOOptions(), nullptr);
}

Status FileSystemEnv::CreateDirIfMissing(const std::string& fname) {
  return file_system_->CreateDirIfMissing(fname, IOOptions(), nullptr);
}

Status FileSystemEnv::DeleteDir(const std::string& fname) {
  return file_system_->DeleteDir(fname, IOOptions(), nullptr);
}

Status FileSystemEnv::GetFileSize(const std::string& fname, uint64_t* file_size) {
  return file_system_->GetFileSize(fname, IOOptions(), file_size, nullptr);
}

Status FileSystemEnv::GetFileModificationTime(const std::string& fname, uint64_t* file_mtime) {
  return file_system_->GetFileModificationTime(fname, IOOptions(), file_mtime, nullptr);
}

Status FileSystemEnv::RenameFile(const std::string& src, const std::string& target) {
  return file_system_->RenameFile(src, target, IOOptions(), nullptr);
}

Status FileSystemEnv::LinkFile(const std::string& src, const std::string& target) {
  return file_system_->LinkFile(src, target, IOOptions(), nullptr);
}

Status FileSystemEnv::NumFileLinks(const std::string& fname, uint64_t* count) {
  return file_system_->NumFileLinks(fname, IOOptions(), count, nullptr);
}

Status FileSystemEnv::AreFilesSame(const std::string& first, const std::string& second, bool* res) {
  return file_system_->AreFilesSame(first, second, IOOptions(), res, nullptr);
}

Status FileSystemEnv::LockFile(const std::string& fname, FileLock** lock) {
  return file_system_->LockFile(fname, IOOptions(), lock, nullptr);
}

Status FileSystemEnv::UnlockFile(FileLock* lock) {
  return file_system_->UnlockFile(lock, IOOptions(), nullptr);
}

Status FileSystemEnv::GetTestDirectory(std::string* path) {
  return file_system_->GetTestDirectory(IOOptions(), path, nullptr);
}

Status FileSystemEnv::NewLogger(const std::string& fname, std::shared_ptr<Logger>* result) {
  return file_system_->NewLogger(fname, IOOptions(), result, nullptr);
}

Status FileSystemEnv::GetAbsolutePath(const std::string& fname, std::string* output_path) {
  return file_system_->GetAbsolutePath(fname, IOOptions(), output_path, nullptr);
}

Status FileSystemEnv::GetFreeSpace(const std::string& fname, uint64_t* diskfree) {
  return file_system_->GetFreeSpace(fname, IOOptions(), diskfree, nullptr);
}

Status FileSystemEnv::IsDirectory(const std::string& fname, bool* is_dir) {
  return file_system_->IsDirectory(fname, IOOptions(), is_dir, nullptr);
}

EnvOptions FileSystemEnv::OptimizeForLogRead(const EnvOptions& o) const {
  return file_system_->OptimizeForLogRead(FileOptions(o));
}

EnvOptions FileSystemEnv::OptimizeForManifestRead(const EnvOptions& o) const {
  return file_system_->OptimizeForManifestRead(FileOptions(o));
}

EnvOptions FileSystemEnv::OptimizeForLogWrite(const EnvOptions& o,
                                              const DBOptions& db_options) const {
  return file_system_->OptimizeForLogWrite(FileOptions(o), db_options);
}

EnvOptions FileSystemEnv::OptimizeForManifestWrite(const EnvOptions& o) const {
  return file_system_->OptimizeForManifestWrite(FileOptions(o));
}

EnvOptions FileSystemEnv::OptimizeForCompactionTableWrite(
    const EnvOptions& o, const ImmutableDBOptions& db_options) const {
  return file_system_->OptimizeForCompactionTableWrite(FileOptions(o), db_options);
}

EnvOptions FileSystemEnv::OptimizeForCompactionTableRead(
    const EnvOptions& o, const ImmutableDBOptions& db_options) const {
  return file_system_->OptimizeForCompactionTableRead(FileOptions(o), db_options);
}

EnvOptions FileSystemEnv::OptimizeForBlobFileRead(const EnvOptions& o,
                                                  const ImmutableDBOptions& db_options) const {
  return file_system_->OptimizeForBlobFileRead(FileOptions(o), db_options);
}

void FileSystemEnv::SanitizeEnvOptions(EnvOptions* o) const {
  FileOptions adjusted(*o);
  file_system_->SanitizeFileOptions(&adjusted);
  *o = adjusted;
}

}  // namespace varve
