// SPDX-License-Identifier: Apache-2.0
#pragma once

// Wraps the operating system's files as the FS* file types. Each object owns its descriptor and
// closes it when it is destroyed. Errors name the path and the call (io_error.h).

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "varve/file_system.h"

#include "util/env/mapped_reads.h"
#include "util/env/parallel_reads.h"
#include "util/env/posix_fd.h"

namespace varve {

// Reads a file of the operating system from start to end. With direct I/O, PositionedRead replaces
// Read.
class PosixSequentialFile final : public FSSequentialFile {
 public:
  PosixSequentialFile(std::string path, PosixFd fd, bool direct);

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override;
  IOStatus Skip(uint64_t n) override;
  bool use_direct_io() const override { return direct_; }
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override;

 private:
  const std::string path_;
  const PosixFd fd_;
  const bool direct_;
  uint64_t position_ = 0;
};

// Reads small pieces from a mapping if that is quicker, else with pread, and several ranges at once
// through a ring, also those of several files. Without a ring it first requests read-ahead of all
// of them, so that their transfers overlap. Ranges of a file in memory are read one after the
// other: there is usually nothing to wait for, and a ring would use threads for them.
class PosixRandomAccessFile final : public FSRandomAccessFile {
 public:
  // The ranges to read of one file.
  struct Reads {
    PosixRandomAccessFile* file;
    FSReadRequest* requests;
    size_t count;
  };

  PosixRandomAccessFile(std::string path, PosixFd fd, bool direct,
                        std::shared_ptr<ParallelReads> parallel);

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override;
  // Does what MultiRead does for each file; all their reads are in flight together.
  static void MultiReadFiles(std::span<const Reads> files);
  // True if a read is likely to wait for a device: lately the mapping has not served one quickly.
  [[nodiscard]] bool MayWait() const { return !in_memory_ && (direct_ || mapped_.rests()); }
  // True if a read of `n` bytes is likely to be copied out of the mapping, without a system call.
  [[nodiscard]] bool CopiesFromMapping(size_t n) const {
    return !direct_ && n <= MappedReads::kBytesMost && mapped_.copies();
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  bool use_direct_io() const override { return direct_; }
  size_t GetRequiredBufferAlignment() const override { return alignment_; }
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus GetFileSize(uint64_t* result) override;

 private:
  // Starts reading these pages, and only these, into the page cache.
  void AskAhead(uint64_t offset, size_t n) const;
  // True for small reads whose pages probably are not in the page cache. They are asked for first:
  // from a bare read of a block or two the system concludes that the next ones are wanted too.
  [[nodiscard]] bool WaitsForPages(size_t n) const {
    return !direct_ && n <= MappedReads::kBytesMost && mapped_.waits();
  }
  // Sets the request's result, of which the first `here` bytes have been read. Reads what is left:
  // perhaps the end of the file, or an error to be met again.
  void FinishRead(FSReadRequest* request, size_t here) const;

  const std::string path_;
  const PosixFd fd_;
  const bool direct_;
  const size_t alignment_;  // of direct reads
  const bool in_memory_;
  const std::shared_ptr<ParallelReads> parallel_;
  mutable MappedReads mapped_;  // used without direct I/O
};

// Reads from a mapping made at open: results point into it and stay valid until the file is
// destroyed. Bytes appended later are not visible.
class PosixMappedReadFile final : public FSRandomAccessFile {
 public:
  // Takes the mapping [base, base + size); base is null for an empty file.
  PosixMappedReadFile(std::string path, PosixFd fd, void* base, size_t size);
  ~PosixMappedReadFile() override;

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  IOStatus GetFileSize(uint64_t* result) override;

 private:
  const std::string path_;
  const PosixFd fd_;
  char* const base_;
  const size_t size_;
};

// Writes with pwrite at a position that it maintains itself.
class PosixWritableFile final : public FSWritableFile {
 public:
  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;

  // Appends go to `position`.
  PosixWritableFile(std::string path, PosixFd fd, uint64_t position, const FileOptions& options);
  ~PosixWritableFile() override;

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override;
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  bool IsSyncThreadSafe() const override { return true; }
  bool use_direct_io() const override { return direct_; }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override;

 private:
  // Frees the space that was reserved and not written, which may be part of the file's size.
  IOStatus GiveBackPreallocation();

  const std::string path_;
  PosixFd fd_;
  const bool direct_;
  const bool allow_fallocate_;  // FileOptions::allow_fallocate
  const bool keep_size_;        // FileOptions::fallocate_with_keep_size
  uint64_t size_;
  // End of the furthest reservation.
  uint64_t reserved_end_ = 0;
};

// Appends by copying into mappings of successive pieces of the file. Space is allocated before a
// piece is mapped, so that a full disk is an error and not a signal. The file is cut to its real
// size when it is closed.
class PosixMappedWritableFile final : public FSWritableFile {
 public:
  using FSWritableFile::Append;

  PosixMappedWritableFile(std::string path, PosixFd fd, const FileOptions& options);
  ~PosixMappedWritableFile() override;

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;

 private:
  // Maps the piece after the current one, which may make the file longer.
  IOStatus MapNextPiece();
  // Ends the mapping of the current piece; the next one begins behind it.
  void Unmap();

  const std::string path_;
  PosixFd fd_;
  char* piece_ = nullptr;
  size_t piece_size_ = 0;
  size_t piece_used_ = 0;
  // File offset of the piece that is mapped or comes next.
  uint64_t piece_offset_ = 0;
};

// Reads and writes a file at any offset, by pread and pwrite, without a position of its own.
class PosixRandomRWFile final : public FSRandomRWFile {
 public:
  PosixRandomRWFile(std::string path, PosixFd fd);

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override;
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;

 private:
  const std::string path_;
  PosixFd fd_;
};

// An open directory. Fsync makes its entries durable.
class PosixDirectory final : public FSDirectory {
 public:
  PosixDirectory(std::string path, PosixFd fd);

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;

 private:
  const std::string path_;
  PosixFd fd_;
};

// A mapping of a whole file for reading and writing.
class PosixMappedBuffer final : public MemoryMappedFileBuffer {
 public:
  PosixMappedBuffer(void* base, size_t length) : MemoryMappedFileBuffer(base, length) {}
  ~PosixMappedBuffer() override;
};

}  // namespace varve
