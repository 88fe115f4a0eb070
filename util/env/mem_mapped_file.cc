// SPDX-License-Identifier: Apache-2.0

// Implements the mapped files of a MemFileSystem, and their part of MemFile: stored bytes are
// copied into the contents whenever those are read.

#include <algorithm>
#include <cstring>

#include "util/env/mem_file_system.h"

// Copies bytes as the kernel reads a page that a thread is storing into: each byte as it is at that
// moment. A thread that must see a store (a later sync, a reader) is ordered after it by other
// means.
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define VARVE_READS_LIKE_A_KERNEL __attribute__((no_sanitize("thread"), noinline))
#else
#define VARVE_READS_LIKE_A_KERNEL
#endif

namespace varve {

namespace {

VARVE_READS_LIKE_A_KERNEL void CopyStored(char* out, const char* stored, size_t n) {
  const volatile char* from = stored;
  volatile char* to = out;
  for (size_t i = 0; i < n; i++) to[i] = from[i];
}

class MemMappedFile final : public MappedFile {
 public:
  MemMappedFile(MemFileSystem* fs, std::string path, std::shared_ptr<MemFile> file)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}

  IOStatus Map(uint64_t offset, size_t bytes, char** base) override {
    fs_->NoteCall(MemCall::kMap, path_);
    *base = file_->Map(offset, bytes, fs_->NowSeconds());
    return IOStatus::OK();
  }
  void Unmap(char* base, size_t) override { file_->Unmap(base); }
  IOStatus Write(uint64_t offset, const Slice* parts, size_t count) override {
    fs_->NoteCall(MemCall::kAppend, path_);
    for (size_t i = 0; i < count; i++) {
      file_->Write(offset, parts[i], fs_->NowSeconds());
      offset += parts[i].size();
    }
    return IOStatus::OK();
  }
  IOStatus Sync(bool) override {
    fs_->NoteCall(MemCall::kSync, path_);
    file_->Sync();
    return IOStatus::OK();
  }
  IOStatus Truncate(uint64_t size) override {
    fs_->NoteCall(MemCall::kTruncate, path_);
    file_->Truncate(size, fs_->NowSeconds());
    return IOStatus::OK();
  }
  IOStatus Close() override { return IOStatus::OK(); }

 private:
  MemFileSystem* const fs_;
  const std::string path_;
  const std::shared_ptr<MemFile> file_;
};

}  // namespace

// A piece is memory of its own beside data_, because data_ moves when it grows, and stores into the
// piece are not announced. Everything that reads the contents calls TakeStored first.
char* MemFile::Map(uint64_t offset, size_t bytes, uint64_t mtime) {
  MutexLock lock(&mutex_);
  const auto end = static_cast<size_t>(offset) + bytes;
  if (data_.size() < end) data_.resize(end);
  mtime_ = mtime;
  Piece piece;
  piece.offset = offset;
  piece.bytes = bytes;
  piece.memory = std::make_unique<char[]>(bytes);
  std::memcpy(piece.memory.get(), data_.data() + offset, bytes);
  pieces_.push_back(std::move(piece));
  return pieces_.back().memory.get();
}

void MemFile::Unmap(const char* base) {
  MutexLock lock(&mutex_);
  TakeStored();
  pieces_.erase(std::find_if(pieces_.begin(), pieces_.end(),
                             [&](const Piece& piece) { return piece.memory.get() == base; }));
}

// Compares page by page, so that only pages which were stored into save their durable bytes and
// count as changed. The interface demands whole pages, and no piece behind the end of the file.
void MemFile::TakeStored() const {
  char page[kPage];
  for (const Piece& piece : pieces_) {
    for (size_t at = 0; at < piece.bytes; at += kPage) {
      CopyStored(page, piece.memory.get() + at, kPage);
      const uint64_t offset = piece.offset + at;
      if (std::memcmp(page, data_.data() + offset, kPage) == 0) continue;
      SaveDurable(offset, offset + kPage);
      std::memcpy(data_.data() + offset, page, kPage);
    }
  }
}

IOStatus MemFileSystem::NewMappedFile(const std::string& fname, const FileOptions& options,
                                      std::unique_ptr<MappedFile>* result) {
  result->reset();
  if (!offers_mapped_files_) return IOStatus::NotSupported(fname, "mapped files are switched off");
  // Creates the file, or empties it, through the usual path, so that the hook sees the call.
  std::unique_ptr<FSWritableFile> made;
  IOStatus s = NewWritableFile(fname, options, &made, nullptr);
  std::shared_ptr<MemFile> file;
  if (s.ok()) s = Find(fname, &file);
  if (s.ok()) *result = std::make_unique<MemMappedFile>(this, fname, std::move(file));
  return s;
}

}  // namespace varve
