// SPDX-License-Identifier: Apache-2.0
// Implements the reading half of posix_files.h.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "util/base/status_macros.h"
#include "util/env/io_error.h"
#include "util/env/posix_files.h"

namespace varve {

namespace {

int AdviceFor(FSRandomAccessFile::AccessPattern pattern) {
  switch (pattern) {
    case FSRandomAccessFile::kRandom:
      return POSIX_FADV_RANDOM;
    case FSRandomAccessFile::kSequential:
      return POSIX_FADV_SEQUENTIAL;
    case FSRandomAccessFile::kWillNeed:
      return POSIX_FADV_WILLNEED;
    case FSRandomAccessFile::kWontNeed:
      return POSIX_FADV_DONTNEED;
    case FSRandomAccessFile::kNormal:
      break;
  }
  return POSIX_FADV_NORMAL;
}

IOStatus DropCache(int fd, const std::string& path, size_t offset, size_t length) {
  const int err = ::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length),
                                  POSIX_FADV_DONTNEED);
  return err == 0 ? IOStatus::OK() : IoErrorAt("fadvise", path, offset, err);
}

IOStatus SizeOfFd(int fd, const std::string& path, uint64_t* size) {
  struct stat st = {};
  if (::fstat(fd, &st) != 0) return IoErrorFromErrno("fstat", path, errno);
  *size = static_cast<uint64_t>(st.st_size);
  return IOStatus::OK();
}

}  // namespace

PosixSequentialFile::PosixSequentialFile(std::string path, PosixFd fd, bool direct)
    : path_(std::move(path)), fd_(std::move(fd)), direct_(direct) {}

IOStatus PosixSequentialFile::Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                                   IODebugContext* dbg) {
  IOStatus s = PositionedRead(position_, n, options, result, scratch, dbg);
  position_ += result->size();
  return s;
}

IOStatus PosixSequentialFile::Skip(uint64_t n) {
  position_ += n;
  return IOStatus::OK();
}

IOStatus PosixSequentialFile::InvalidateCache(size_t offset, size_t length) {
  return direct_ ? IOStatus::OK() : DropCache(fd_.get(), path_, offset, length);
}

IOStatus PosixSequentialFile::PositionedRead(uint64_t offset, size_t n, const IOOptions&,
                                             Slice* result, char* scratch, IODebugContext*) {
  size_t got = 0;
  IOStatus s = PreadFully(fd_.get(), path_, offset, n, scratch, &got);
  *result = Slice(scratch, s.ok() ? got : 0);
  return s;
}

PosixRandomAccessFile::PosixRandomAccessFile(std::string path, PosixFd fd, bool direct,
                                             std::shared_ptr<IoRingPool> rings)
    : path_(std::move(path)),
      fd_(std::move(fd)),
      direct_(direct),
      in_memory_(IsInMemory(fd_.get())),
      rings_(std::move(rings)),
      mapped_(fd_.get()) {}

IOStatus PosixRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                     char* scratch, IODebugContext*) const {
  if (!direct_ && mapped_.Read(offset, n, scratch)) {
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }
  size_t got = 0;
  IOStatus s = PreadFully(fd_.get(), path_, offset, n, scratch, &got);
  *result = Slice(scratch, s.ok() ? got : 0);
  return s;
}

IOStatus PosixRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions&,
                                          IODebugContext*) {
  std::vector<FSReadRequest*> requests;
  std::vector<RingRead> reads;
  requests.reserve(num_reqs);
  for (size_t i = 0; i < num_reqs; i++) {
    FSReadRequest& request = reqs[i];
    if (!direct_ && mapped_.Read(request.offset, request.len, request.scratch)) {
      request.result = Slice(request.scratch, request.len);
    } else {
      requests.push_back(&request);
    }
  }
  reads.reserve(requests.size());
  for (const FSReadRequest* request : requests) {
    reads.push_back({fd_.get(), request->offset, request->len, request->scratch, 0});
  }
  if (!in_memory_ && !reads.empty() && !rings_->ReadAll(reads) && !direct_) {
    for (const RingRead& read : reads) {
      (void)::posix_fadvise(fd_.get(), static_cast<off_t>(read.offset),
                            static_cast<off_t>(read.bytes), POSIX_FADV_WILLNEED);
    }
  }
  for (size_t i = 0; i < reads.size(); i++) {
    FSReadRequest& request = *requests[i];
    // Reads what the ring has left: perhaps the end of the file, or an error to be met again.
    const size_t here = reads[i].result > 0 ? static_cast<size_t>(reads[i].result) : 0;
    size_t more = 0;
    // A partial direct read has reached the end: the rest is not aligned.
    if (here == 0 || !direct_) {
      request.status = PreadFully(fd_.get(), path_, request.offset + here, request.len - here,
                                  request.scratch + here, &more);
    }
    request.result = Slice(request.scratch, request.status.ok() ? here + more : 0);
  }
  return IOStatus::OK();
}

IOStatus PosixRandomAccessFile::Prefetch(uint64_t offset, size_t n, const IOOptions&,
                                         IODebugContext*) {
  if (direct_) return IOStatus::NotSupported("Prefetch: direct I/O has no page cache");
  const int err = ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                                  POSIX_FADV_WILLNEED);
  return err == 0 ? IOStatus::OK() : IoErrorAt("fadvise", path_, offset, err);
}

size_t PosixRandomAccessFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOfFd(fd_.get(), id, max_size);
}

void PosixRandomAccessFile::Hint(AccessPattern pattern) {
  // This is advice only; nothing depends on it.
  if (!direct_) (void)::posix_fadvise(fd_.get(), 0, 0, AdviceFor(pattern));
}

IOStatus PosixRandomAccessFile::InvalidateCache(size_t offset, size_t length) {
  mapped_.Forget();
  return direct_ ? IOStatus::OK() : DropCache(fd_.get(), path_, offset, length);
}

IOStatus PosixRandomAccessFile::GetFileSize(uint64_t* result) {
  return SizeOfFd(fd_.get(), path_, result);
}

PosixMappedReadFile::PosixMappedReadFile(std::string path, PosixFd fd, void* base, size_t size)
    : path_(std::move(path)), fd_(std::move(fd)), base_(static_cast<char*>(base)), size_(size) {}

PosixMappedReadFile::~PosixMappedReadFile() {
  if (base_ != nullptr) (void)::munmap(base_, size_);
}

IOStatus PosixMappedReadFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                   char*, IODebugContext*) const {
  if (offset >= size_) {
    *result = Slice();
    return IOStatus::OK();
  }
  // Touching pages past the end of a file that has shrunk raises SIGBUS; the check narrows the
  // window in which that can happen.
  uint64_t now = 0;
  VARVE_RETURN_IF_ERROR(SizeOfFd(fd_.get(), path_, &now));
  if (now < size_) {
    *result = Slice();
    return IOStatus::Corruption(path_, "shrank from " + std::to_string(size_) + " to " +
                                           std::to_string(now) + " bytes while it was mapped");
  }
  *result = Slice(base_ + offset, static_cast<size_t>(std::min<uint64_t>(n, size_ - offset)));
  return IOStatus::OK();
}

IOStatus PosixMappedReadFile::Prefetch(uint64_t offset, size_t n, const IOOptions&,
                                       IODebugContext*) {
  const int err = ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                                  POSIX_FADV_WILLNEED);
  return err == 0 ? IOStatus::OK() : IoErrorAt("fadvise", path_, offset, err);
}

size_t PosixMappedReadFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOfFd(fd_.get(), id, max_size);
}

void PosixMappedReadFile::Hint(AccessPattern pattern) {
  if (base_ == nullptr) return;
  const int advice = pattern == kRandom       ? MADV_RANDOM
                     : pattern == kSequential ? MADV_SEQUENTIAL
                     : pattern == kWillNeed   ? MADV_WILLNEED
                     : pattern == kWontNeed   ? MADV_DONTNEED
                                              : MADV_NORMAL;
  (void)::madvise(base_, size_, advice);
}

IOStatus PosixMappedReadFile::GetFileSize(uint64_t* result) {
  return SizeOfFd(fd_.get(), path_, result);
}

PosixMappedBuffer::~PosixMappedBuffer() {
  if (base_ != nullptr) (void)::munmap(base_, length_);
}

}  // namespace varve
