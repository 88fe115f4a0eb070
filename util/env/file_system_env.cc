// SPDX-License-Identifier: Apache-2.0

// Implements files of an Env on top of files of a FileSystem.

#include <utility>

#include "util/env/env_adapters.h"

namespace varve {

namespace {

class SequentialFileOfFs final : public SequentialFile {
 public:
  explicit SequentialFileOfFs(std::unique_ptr<FSSequentialFile> file) : target_(std::move(file)) {}

  VARVE_SEQUENTIAL_FILE_CALLS(VARVE_CALL_FS, VARVE_FORWARD_ENV_BARE)

 private:
  const std::unique_ptr<FSSequentialFile> target_;
};

class RandomAccessFileOfFs final : public RandomAccessFile {
 public:
  explicit RandomAccessFileOfFs(std::unique_ptr<FSRandomAccessFile> file)
      : target_(std::move(file)) {}

  VARVE_RANDOM_ACCESS_FILE_CALLS(VARVE_CALL_FS, VARVE_FORWARD_ENV_BARE)
  Status MultiRead(ReadRequest* reqs, size_t num_reqs) override;
  void Hint(AccessPattern pattern) override {
    target_->Hint(static_cast<FSRandomAccessFile::AccessPattern>(pattern));
  }

 private:
  const std::unique_ptr<FSRandomAccessFile> target_;
};

class WritableFileOfFs final : public WritableFile {
 public:
  explicit WritableFileOfFs(std::unique_ptr<FSWritableFile> file) : target_(std::move(file)) {}

  VARVE_WRITABLE_FILE_CALLS(VARVE_CALL_FS, VARVE_FORWARD_ENV_BARE)
  uint64_t GetFileSize() override { return target_->GetFileSize(IOOptions(), nullptr); }
  void PrepareWrite(size_t offset, size_t len) override {
    target_->PrepareWrite(offset, len, IOOptions(), nullptr);
  }

 private:
  const std::unique_ptr<FSWritableFile> target_;
};

class RandomRWFileOfFs final : public RandomRWFile {
 public:
  explicit RandomRWFileOfFs(std::unique_ptr<FSRandomRWFile> file) : target_(std::move(file)) {}

  VARVE_RANDOM_RW_FILE_CALLS(VARVE_CALL_FS)

 private:
  const std::unique_ptr<FSRandomRWFile> target_;
};

class DirectoryOfFs final : public Directory {
 public:
  explicit DirectoryOfFs(std::unique_ptr<FSDirectory> file) : target_(std::move(file)) {}

  VARVE_DIRECTORY_CALLS(VARVE_CALL_FS)

 private:
  const std::unique_ptr<FSDirectory> target_;
};

Status RandomAccessFileOfFs::MultiRead(ReadRequest* reqs, size_t num_reqs) {
  std::vector<FSReadRequest> requests(num_reqs);
  for (size_t i = 0; i < num_reqs; ++i) {
    requests[i].offset = reqs[i].offset;
    requests[i].len = reqs[i].len;
    requests[i].scratch = reqs[i].scratch;
  }
  Status s = target_->MultiRead(requests.data(), num_reqs, IOOptions(), nullptr);
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
