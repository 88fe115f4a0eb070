// SPDX-License-Identifier: Apache-2.0
// Implements the reading half of posix_files.h.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
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

// Returns the alignment of direct reads of a file: that of its device, often 512 bytes, if the
// system tells it, else a page. A block of 4 KiB that does not begin at a page takes two pages, but
// only one sector more than it has.
size_t AlignmentOfDirectReads(int fd) {
#ifdef STATX_DIOALIGN
  constexpr size_t kSmallestSector = 512;  // A smaller alignment saves nothing.
  struct statx found = {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &found) != 0) return kDefaultPageSize;
  const uint32_t alignment = std::max(found.stx_dio_mem_align, found.stx_dio_offset_align);
  const bool tells = (found.stx_mask & STATX_DIOALIGN) != 0 && found.stx_dio_offset_align != 0;
  if (tells && std::has_single_bit(alignment) && alignment <= kDefaultPageSize) {
    return std::max<size_t>(alignment, kSmallestSector);
  }
#else
  (void)fd;
#endif
  return kDefaultPageSize;
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

// The position is kept here and not in the descriptor, so that an interrupted or failed read leaves
// it where it was.
IOStatus PosixSequentialFile::Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                                   IODebugContext* dbg) {
  IOStatus s = PositionedRead(position_, n, options, result, scratch, dbg);
  position_ += result->size();
  return s;
}

// May go past the end of the file; the next read is then empty.
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
                                             std::shared_ptr<ParallelReads> parallel)
    : path_(std::move(path)),
      fd_(std::move(fd)),
      direct_(direct),
      alignment_(direct ? AlignmentOfDirectReads(fd_.get()) : kDefaultPageSize),
      in_memory_(IsInMemory(fd_.get())),
      parallel_(std::move(parallel)),
      mapped_(fd_.get()) {}

// The mapping is tried first, and whatever it cannot serve, errors and ends of the file included,
// is left to pread, which says what is wrong.
IOStatus PosixRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                     char* scratch, IODebugContext*) const {
  if (!direct_ && mapped_.Read(offset, n, scratch)) {
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }
  if (WaitsForPages(n)) AskAhead(offset, n);
  size_t got = 0;
  IOStatus s = PreadFully(fd_.get(), path_, offset, n, scratch, &got);
  *result = Slice(scratch, s.ok() ? got : 0);
  return s;
}

IOStatus PosixRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions&,
                                          IODebugContext*) {
  const Reads reads{this, reqs, num_reqs};
  MultiReadFiles({&reads, 1});
  return IOStatus::OK();
}

// Serves at once what needs no device, and gathers the rest for one call of the ring:
//
//   in the mapping, or a file in memory   -> done at once
//   one read left                         -> pread, as a ring gains nothing
//   a ring                                -> all in flight together
//   no ring, direct I/O                   -> threads, each in a pread
//   no ring, page cache                   -> all pages asked for, then one pread after the other
//
// Every request ends in FinishRead, which also reads what the way before it has left undone. The
// files are all direct or all not, so the first one speaks for them.
void PosixRandomAccessFile::MultiReadFiles(std::span<const Reads> files) {
  struct Waiting {
    const PosixRandomAccessFile* file;
    FSReadRequest* request;
  };
  std::vector<Waiting> waiting;
  std::vector<RingRead> reads;
  for (const Reads& of_file : files) {
    const PosixRandomAccessFile& file = *of_file.file;
    for (size_t i = 0; i < of_file.count; i++) {
      FSReadRequest& request = of_file.requests[i];
      const bool copied =
          !file.direct_ && file.mapped_.Read(request.offset, request.len, request.scratch);
      if (copied || file.in_memory_) {
        file.FinishRead(&request, copied ? request.len : 0);
        continue;
      }
      if (file.WaitsForPages(request.len)) file.AskAhead(request.offset, request.len);
      waiting.push_back({&file, &request});
      reads.push_back({file.fd_.get(), request.offset, request.len, request.scratch, 0});
    }
  }
  ParallelReads* const parallel = files.front().file->parallel_.get();
  if (reads.size() > 1 && !parallel->ReadWithRing(reads)) {
    if (files.front().file->direct_) {
      parallel->ReadWithThreads(reads);
    } else {
      for (const Waiting& each : waiting) {
        each.file->AskAhead(each.request->offset, each.request->len);
      }
    }
  }
  for (size_t i = 0; i < reads.size(); i++) {
    // A failed read counts as nothing read: pread meets the error again and describes it.
    const int32_t here = std::max(reads[i].result, 0);
    waiting[i].file->FinishRead(waiting[i].request, static_cast<size_t>(here));
  }
}

void PosixRandomAccessFile::AskAhead(uint64_t offset, size_t n) const {
  (void)::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                        POSIX_FADV_WILLNEED);
}

void PosixRandomAccessFile::FinishRead(FSReadRequest* request, size_t here) const {
  request->status = IOStatus::OK();  // It may still have the error of an earlier read.
  size_t more = 0;
  // With direct I/O a read that brought only a part has reached the end of the file, and a read of
  // the rest would not be aligned. One that brought nothing may have failed, and is made again.
  if (here < request->len && (here == 0 || !direct_)) {
    request->status = PreadFully(fd_.get(), path_, request->offset + here, request->len - here,
                                 request->scratch + here, &more);
  }
  request->result = Slice(request->scratch, request->status.ok() ? here + more : 0);
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

// The advice must go to the mapping: that for the descriptor has no effect on page faults.
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
