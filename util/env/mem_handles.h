// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the open files of a MemFileSystem. They keep the file's contents alive, as an open
// descriptor does, even if its name is removed. Writers and directories must not outlive their file
// system.
//
// Every change is told to the file system before it takes effect (NoteCall), so that a test can
// take a crash image at that moment. Reading changes nothing and is not told.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/file_system.h"

#include "util/env/mem_file.h"
#include "util/env/mem_file_system.h"

namespace varve {

// A file that is read from its beginning. Thread safety: none, as for all of FSSequentialFile.
class MemSequentialFile final : public FSSequentialFile {
 public:
  explicit MemSequentialFile(std::shared_ptr<MemFile> file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    IOStatus s = PositionedRead(position_, n, options, result, scratch, dbg);
    position_ += result->size();
    return s;
  }
  IOStatus Skip(uint64_t n) override {
    position_ += n;
    return IOStatus::OK();
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    *result = Slice(scratch, file_->Read(offset, n, scratch));
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<MemFile> file_;
  // Offset of the next byte to be read.
  uint64_t position_ = 0;
};

// A file that is read at any offset, by any thread.
class MemRandomAccessFile final : public FSRandomAccessFile {
 public:
  explicit MemRandomAccessFile(std::shared_ptr<MemFile> file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    *result = Slice(scratch, file_->Read(offset, n, scratch));
    return IOStatus::OK();
  }
  IOStatus Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }
  IOStatus GetFileSize(uint64_t* result) override {
    *result = file_->size();
    return IOStatus::OK();
  }

 private:
  const std::shared_ptr<MemFile> file_;
};

// A file that is appended to. What was appended is visible to readers at once, and durable after
// Sync.
class MemWritableFile final : public FSWritableFile {
 public:
  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;

  MemWritableFile(MemFileSystem* fs, std::string path, std::shared_ptr<MemFile> file,
                  uint64_t position, const FileOptions& options)
      : FSWritableFile(options),
        fs_(fs),
        path_(std::move(path)),
        file_(std::move(file)),
        position_(position) {}

  // Appends at the writer's own end, which is that of the file unless another writer has it open.
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return PositionedAppend(data, position_, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    if (closed_) return IOStatus::IOError(path_, "write after Close");
    fs_->NoteCall(MemCall::kAppend, path_);
    file_->Write(offset, data, fs_->NowSeconds());
    position_ = std::max(position_, offset + data.size());
    return IOStatus::OK();
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    fs_->NoteCall(MemCall::kTruncate, path_);
    file_->Truncate(size, fs_->NowSeconds());
    position_ = size;
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    closed_ = true;
    return IOStatus::OK();
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    if (closed_) return IOStatus::IOError(path_, "sync after Close");
    fs_->NoteCall(MemCall::kSync, path_);
    file_->Sync();
    return IOStatus::OK();
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return position_; }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }
  // Write-back without waiting guarantees nothing.
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }

 private:
  MemFileSystem* const fs_;
  const std::string path_;
  const std::shared_ptr<MemFile> file_;
  // End of what this writer has written; appends go there.
  uint64_t position_;
  // True after Close: writes and syncs fail then, which uncovers callers that go on.
  bool closed_ = false;
};

// A file that is read and written at any offset.
class MemRandomRWFile final : public FSRandomRWFile {
 public:
  MemRandomRWFile(MemFileSystem* fs, std::string path, std::shared_ptr<MemFile> file)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    fs_->NoteCall(MemCall::kAppend, path_);
    file_->Write(offset, data, fs_->NowSeconds());
    return IOStatus::OK();
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    *result = Slice(scratch, file_->Read(offset, n, scratch));
    return IOStatus::OK();
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    fs_->NoteCall(MemCall::kSync, path_);
    file_->Sync();
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  MemFileSystem* const fs_;
  const std::string path_;
  const std::shared_ptr<MemFile> file_;
};

// An open directory, whose sync makes the names in it durable.
class MemDirectory final : public FSDirectory {
 public:
  MemDirectory(MemFileSystem* fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return fs_->SyncDir(path_); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  MemFileSystem* const fs_;
  const std::string path_;
};

}  // namespace varve
