// SPDX-License-Identifier: Apache-2.0

// Implements files of an Env on top of files of a FileSystem.

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

std::unique_ptr<SequentialFile> EnvFileOf(std::unique_ptr<FSSequentialFile> file) {
  return std::make_unique<SequentialFileOfFs>(std::move(file));
}

std::unique_ptr<RandomAccessFile> EnvFileOf(std::unique_ptr<FSRandomAccessFile> file) {
  return std::make_unique<RandomAccessFileOfFs>(std::move(file));
}

std::unique_ptr<WritableFile> EnvFileOf(std::unique_ptr<FSWritableFile> file) {
  return std::make_unique<WritableFileOfFs>(std::move(file));
}

std::unique_ptr<RandomRWFile> EnvFileOf(std::unique_ptr<FSRandomRWFile> file) {
  return std::make_unique<RandomRWFileOfFs>(std::move(file));
}

std::unique_ptr<Directory> EnvFileOf(std::unique_ptr<FSDirectory> file) {
  return std::make_unique<DirectoryOfFs>(std::move(file));
}

}  // namespace varve
