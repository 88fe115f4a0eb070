// SPDX-License-Identifier: Apache-2.0
#include "util/env/posix_mapped_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

#include "util/env/io_error.h"
#include "util/metrics/iostats.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace varve {

namespace {

// Bytes populated at once: meanwhile no other thread of the process can map or unmap anything.
constexpr size_t kPopulatedAtOnce = 128 << 10;

// Takes the page faults now, which is far cheaper than one at a time later. If the kernel cannot,
// they happen later. Returns 0 or an errno value.
int Populate(char* base, size_t bytes) {
  for (size_t done = 0; done < bytes; done += kPopulatedAtOnce) {
    const size_t piece = std::min(kPopulatedAtOnce, bytes - done);
    if (::madvise(base + done, piece, MADV_POPULATE_WRITE) == 0) continue;
    const int err = errno;
    // A page is not available, so that a store would have raised a signal.
    return err == EFAULT || err == EHWPOISON ? err : 0;
  }
  return 0;
}

}  // namespace

bool MayMapBeside(const std::string& fname) {
  const size_t slash = fname.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : fname.substr(0, slash + 1);
  struct statfs st = {};
  if (::statfs(directory.c_str(), &st) != 0) return false;
  // ext2 and ext3 share ext4's number; without extents they refuse the allocation.
  const auto type = static_cast<unsigned long>(st.f_type);
  return type == EXT4_SUPER_MAGIC || type == TMPFS_MAGIC || type == XFS_SUPER_MAGIC;
}

// Allocate, map, populate: a store into a page without a block on the device would end in SIGBUS
// when the disk is full. After fallocate the blocks exist, although they may still be marked as
// unwritten, and populating takes the page faults before the log needs the piece.
IOStatus PosixMappedFile::Map(uint64_t offset, size_t bytes, char** base) {
  const IOTimer<&IOStatsContext::allocate_nanos> timer;
  int r = 0;
  do {
    r = ::fallocate(fd_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (r != 0 && errno == EINTR);
  if (r != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
    return IOStatus::NotSupported(path_, "no space can be reserved");
  }
  if (r != 0) return IoErrorAt("allocate", path_, offset, errno);
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(),
                              static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return IoErrorAt("mmap", path_, offset, errno);
  const int err = Populate(static_cast<char*>(mapped), bytes);
  if (err != 0) {
    (void)::munmap(mapped, bytes);
    return IoErrorAt("populate", path_, offset, err);
  }
  *base = static_cast<char*>(mapped);
  return IOStatus::OK();
}

void PosixMappedFile::Unmap(char* base, size_t bytes) {
  (void)::munmap(base, bytes);
}

IOStatus PosixMappedFile::Write(uint64_t offset, const Slice* parts, size_t count) {
  const IOTimer<&IOStatsContext::write_nanos, &IOStatsContext::cpu_write_nanos> timer;
  return PwritevFully(fd_.get(), path_, offset, parts, count);
}

IOStatus PosixMappedFile::Close() {
  const int err = fd_.Close();
  return err == 0 ? IOStatus::OK() : IoErrorFromErrno("close", path_, err);
}

}  // namespace varve
