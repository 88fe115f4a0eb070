// SPDX-License-Identifier: Apache-2.0
// Implements the writing half of posix_files.h, and directories.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/env/io_error.h"
#include "util/env/posix_files.h"
#include "util/metrics/iostats.h"

namespace varve {

namespace {

// In bytes; multiples of every page size in use. Pieces grow so that small files stay small and
// large ones need few mappings.
constexpr size_t kFirstPiece = 64 * 1024;
constexpr size_t kLargestPiece = 2 * 1024 * 1024;

}  // namespace

PosixWritableFile::PosixWritableFile(std::string path, PosixFd fd, uint64_t position,
                                     const FileOptions& options)
    : FSWritableFile(options),
      path_(std::move(path)),
      fd_(std::move(fd)),
      direct_(options.use_direct_writes),
      allow_fallocate_(options.allow_fallocate),
      keep_size_(options.fallocate_with_keep_size),
      size_(position) {}

PosixWritableFile::~PosixWritableFile() {
  // A file that was not closed was abandoned by its owner.
  if (fd_.valid()) (void)GiveBackPreallocation().ok();
}

// Bytes that were written before an error count, so that size_ is where the file really ends.
// Writing at size_ and not in O_APPEND mode is what makes reserved space behind the end harmless.
IOStatus PosixWritableFile::Append(const Slice& data, const IOOptions&, IODebugContext*) {
  size_t written = 0;
  IOStatus s = PwriteFully(fd_.get(), path_, size_, data.data(), data.size(), &written);
  size_ += written;
  return s;
}

// Direct I/O writes the last page again with more in it, so the end only moves forward.
IOStatus PosixWritableFile::PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                                             IODebugContext*) {
  size_t written = 0;
  IOStatus s = PwriteFully(fd_.get(), path_, offset, data.data(), data.size(), &written);
  size_ = std::max(size_, offset + written);
  return s;
}

IOStatus PosixWritableFile::Truncate(uint64_t size, const IOOptions&, IODebugContext*) {
  IOStatus s = TruncateFd(fd_.get(), path_, size);
  if (s.ok()) size_ = size;
  return s;
}

// A reservation may lie behind the end of the file, unseen by readers, or be part of the size
// (keep_size_ false), where readers would find zeros.
IOStatus PosixWritableFile::GiveBackPreallocation() {
  if (reserved_end_ <= size_) return IOStatus::OK();
  // This also shortens a file whose reservation had moved its end.
  IOStatus s = TruncateFd(fd_.get(), path_, size_);
  if (s.ok()) reserved_end_ = size_;
  return s;
}

IOStatus PosixWritableFile::Close(const IOOptions&, IODebugContext*) {
  if (!fd_.valid()) return IOStatus::OK();
  IOStatus s = GiveBackPreallocation();
  const int err = fd_.Close();
  if (s.ok() && err != 0) s = IoErrorFromErrno("close", path_, err);
  return s;
}

IOStatus PosixWritableFile::Flush(const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

IOStatus PosixWritableFile::Sync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, false);
}

IOStatus PosixWritableFile::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, true);
}

uint64_t PosixWritableFile::GetFileSize(const IOOptions&, IODebugContext*) {
  return size_;
}

size_t PosixWritableFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOfFd(fd_.get(), id, max_size);
}

IOStatus PosixWritableFile::InvalidateCache(size_t offset, size_t length) {
  if (direct_) return IOStatus::OK();
  const int err = ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(length),
                                  POSIX_FADV_DONTNEED);
  return err == 0 ? IOStatus::OK() : IoErrorAt("fadvise", path_, offset, err);
}

IOStatus PosixWritableFile::RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                                      IODebugContext* dbg) {
  // In strict mode everything up to here must have been written by the disk before more is queued,
  // which bounds the backlog to one request.
  const bool strict = strict_bytes_per_sync_;
  const unsigned flags =
      strict ? SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE : SYNC_FILE_RANGE_WRITE;
  const uint64_t first = strict ? 0 : offset;
  if (::sync_file_range(fd_.get(), static_cast<off_t>(first),
                        static_cast<off_t>(offset + nbytes - first), flags) == 0) {
    return IOStatus::OK();
  }
  // The kernel or the file system has no such call. The default syncs in strict mode, else does
  // nothing.
  if (errno == ENOSYS || errno == EINVAL || errno == ESPIPE) {
    return FSWritableFile::RangeSync(offset, nbytes, options, dbg);
  }
  return IoErrorAt("sync_file_range", path_, offset, errno);
}

IOStatus PosixWritableFile::Allocate(uint64_t offset, uint64_t len, const IOOptions&,
                                     IODebugContext*) {
  if (!allow_fallocate_ || len == 0) return IOStatus::OK();
  const IOTimer<&IOStatsContext::allocate_nanos> timer;
  int r = 0;
  do {
    r = ::fallocate(fd_.get(), keep_size_ ? FALLOC_FL_KEEP_SIZE : 0, static_cast<off_t>(offset),
                    static_cast<off_t>(len));
  } while (r != 0 && errno == EINTR);
  if (r != 0) return IoErrorAt("fallocate", path_, offset, errno);
  reserved_end_ = std::max(reserved_end_, offset + len);
  return IOStatus::OK();
}

PosixMappedWritableFile::PosixMappedWritableFile(std::string path, PosixFd fd,
                                                 const FileOptions& options)
    : FSWritableFile(options), path_(std::move(path)), fd_(std::move(fd)) {}

PosixMappedWritableFile::~PosixMappedWritableFile() {
  (void)Close(IOOptions(), nullptr).ok();
}

void PosixMappedWritableFile::Unmap() {
  if (piece_ == nullptr) return;
  (void)::munmap(piece_, piece_size_);
  piece_ = nullptr;
}

// One piece is mapped at a time; the file ends with it until Close cuts the rest off:
//
//   0              piece_offset_    + piece_used_     + piece_size_
//   |  unmapped pieces  |  written  |  zeros          |  end of the file
//
// The blocks are allocated before the piece is mapped, as a full disk must be an error here and not
// a signal at a store. After a failure the file ends at piece_offset_, and the next attempt begins
// with a small piece.
IOStatus PosixMappedWritableFile::MapNextPiece() {
  if (piece_ != nullptr) {
    Unmap();
    piece_offset_ += piece_size_;
  }
  const size_t size = piece_size_ == 0 ? kFirstPiece : std::min(piece_size_ * 2, kLargestPiece);
  piece_used_ = 0;
  piece_size_ = 0;
  const int err =
      ::posix_fallocate(fd_.get(), static_cast<off_t>(piece_offset_), static_cast<off_t>(size));
  if (err != 0) return IoErrorAt("allocate", path_, piece_offset_, err);
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(),
                      static_cast<off_t>(piece_offset_));
  if (base == MAP_FAILED) return IoErrorAt("mmap", path_, piece_offset_, errno);
  piece_ = static_cast<char*>(base);
  piece_size_ = size;
  return IOStatus::OK();
}

IOStatus PosixMappedWritableFile::Append(const Slice& data, const IOOptions&, IODebugContext*) {
  Slice rest = data;
  while (!rest.empty()) {
    if (piece_ == nullptr || piece_used_ == piece_size_) {
      IOStatus s = MapNextPiece();
      if (!s.ok()) return s;
    }
    const size_t n = std::min(rest.size(), piece_size_ - piece_used_);
    std::memcpy(piece_ + piece_used_, rest.data(), n);
    piece_used_ += n;
    rest.remove_prefix(n);
  }
  return IOStatus::OK();
}

IOStatus PosixMappedWritableFile::Close(const IOOptions&, IODebugContext*) {
  if (!fd_.valid()) return IOStatus::OK();
  Unmap();
  IOStatus s = TruncateFd(fd_.get(), path_, piece_offset_ + piece_used_);
  const int err = fd_.Close();
  if (s.ok() && err != 0) s = IoErrorFromErrno("close", path_, err);
  return s;
}

IOStatus PosixMappedWritableFile::Flush(const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

// The kernel knows which mapped pages are dirty, so a sync of the descriptor covers them. The size
// is reduced at Close; until then readers after a crash may see zeros after the data.
IOStatus PosixMappedWritableFile::Sync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, false);
}

IOStatus PosixMappedWritableFile::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, true);
}

uint64_t PosixMappedWritableFile::GetFileSize(const IOOptions&, IODebugContext*) {
  return piece_offset_ + piece_used_;
}

size_t PosixMappedWritableFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOfFd(fd_.get(), id, max_size);
}

PosixRandomRWFile::PosixRandomRWFile(std::string path, PosixFd fd)
    : path_(std::move(path)), fd_(std::move(fd)) {}

IOStatus PosixRandomRWFile::Write(uint64_t offset, const Slice& data, const IOOptions&,
                                  IODebugContext*) {
  size_t written = 0;
  return PwriteFully(fd_.get(), path_, offset, data.data(), data.size(), &written);
}

IOStatus PosixRandomRWFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                 char* scratch, IODebugContext*) const {
  size_t got = 0;
  IOStatus s = PreadFully(fd_.get(), path_, offset, n, scratch, &got);
  *result = Slice(scratch, s.ok() ? got : 0);
  return s;
}

IOStatus PosixRandomRWFile::Flush(const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

IOStatus PosixRandomRWFile::Sync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, false);
}

IOStatus PosixRandomRWFile::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, true);
}

IOStatus PosixRandomRWFile::Close(const IOOptions&, IODebugContext*) {
  const int err = fd_.Close();
  return err == 0 ? IOStatus::OK() : IoErrorFromErrno("close", path_, err);
}

PosixDirectory::PosixDirectory(std::string path, PosixFd fd)
    : path_(std::move(path)), fd_(std::move(fd)) {}

// Names are metadata, so fdatasync would not be enough everywhere.
IOStatus PosixDirectory::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, true);
}

IOStatus PosixDirectory::Close(const IOOptions&, IODebugContext*) {
  const int err = fd_.Close();
  return err == 0 ? IOStatus::OK() : IoErrorFromErrno("close", path_, err);
}

size_t PosixDirectory::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOfFd(fd_.get(), id, max_size);
}

}  // namespace varve
