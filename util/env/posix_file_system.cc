// SPDX-License-Identifier: Apache-2.0

// Implements the operating system's file system as a FileSystem.

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_system.h"

#include "util/base/status_macros.h"
#include "util/env/io_error.h"
#include "util/env/mapped_file.h"
#include "util/env/parallel_reads.h"
#include "util/env/posix_fd.h"
#include "util/env/posix_files.h"
#include "util/env/posix_kernel_copy.h"
#include "util/env/posix_lock.h"
#include "util/env/posix_mapped_file.h"

namespace varve {

namespace {

constexpr int kFileMode = 0644;
constexpr int kDirectoryMode = 0755;

int CloexecFlag(const EnvOptions& options) {
  return options.set_fd_cloexec ? O_CLOEXEC : 0;
}

IOStatus OpenFile(const std::string& path, int flags, const char* what, PosixFd* fd) {
  const int opened = OpenRetrying(path, flags, kFileMode);
  if (opened < 0) return IoErrorFromErrno(what, path, -opened);
  *fd = PosixFd(opened);
  return IOStatus::OK();
}

IOStatus StatPath(const std::string& path, struct stat* st) {
  return ::stat(path.c_str(), st) == 0 ? IOStatus::OK() : IoErrorFromErrno("stat", path, errno);
}

IOStatus RefuseBothDirectAndMapped(bool direct, bool mapped, const std::string& path) {
  if (!direct || !mapped) return IOStatus::OK();
  return IOStatus::InvalidArgument(path, "direct I/O and mapped I/O exclude each other");
}

// Opens for writing; `extra` has the flags that determine how an existing file is treated.
// O_NOFOLLOW: a symbolic link that another user has placed at the name must not lead the database
// to overwrite another file.
IOStatus OpenForWriting(const std::string& fname, int extra, const FileOptions& options,
                        PosixFd* fd) {
  VARVE_RETURN_IF_ERROR(
      RefuseBothDirectAndMapped(options.use_direct_writes, options.use_mmap_writes, fname));
  // Mapping for writing also needs read permission.
  int flags = O_CREAT | O_NOFOLLOW | CloexecFlag(options) | extra;
  flags |= options.use_mmap_writes ? O_RDWR : O_WRONLY;
  if (options.use_direct_writes) flags |= O_DIRECT;
  return OpenFile(fname, flags, "open for writing", fd);
}

// A mapped file can only be begun, not continued: a piece must start at the beginning of a page,
// where files rarely end.
std::unique_ptr<FSWritableFile> MakeWritable(const std::string& fname, PosixFd fd,
                                             uint64_t position, const FileOptions& options) {
  if (options.use_mmap_writes && position == 0) {
    return std::make_unique<PosixMappedWritableFile>(fname, std::move(fd), options);
  }
  return std::make_unique<PosixWritableFile>(fname, std::move(fd), position, options);
}

struct DirectoryCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

IOStatus MakeDirectory(const std::string& dirname) {
  if (::mkdir(dirname.c_str(), kDirectoryMode) == 0) return IOStatus::OK();
  return IoErrorFromErrno("mkdir", dirname, errno);
}

// The operating system's file system. Thread-safe; its only state is the rings of its files. New
// files get mode 0644 and new directories 0755, less the umask; modes of existing files are never
// changed. Files are not created or written through symbolic links; reads follow them.
class PosixFileSystem final : public FileSystem, public MappedFileSource, public KernelCopySource {
 public:
  const char* Name() const override { return kDefaultName(); }
  const char* NickName() const override { return "posix"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result, IODebugContext*) override {
    result->reset();
    // Mapping a file that is read once is no gain, so the option only switches direct reads off
    // here.
    const bool direct = options.use_direct_reads && !options.use_mmap_reads;
    PosixFd fd;
    IOStatus s = OpenFile(path, O_RDONLY | CloexecFlag(options) | (direct ? O_DIRECT : 0),
                          "open for reading", &fd);
    if (!s.ok()) return s;
    *result = std::make_unique<PosixSequentialFile>(path, std::move(fd), direct);
    return s;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext*) override {
    result->reset();
    IOStatus s = RefuseBothDirectAndMapped(options.use_direct_reads, options.use_mmap_reads, path);
    if (!s.ok()) return s;
    const bool direct = options.use_direct_reads;
    PosixFd fd;
    s = OpenFile(path, O_RDONLY | CloexecFlag(options) | (direct ? O_DIRECT : 0),
                 "open for reading", &fd);
    if (!s.ok()) return s;
    if (!options.use_mmap_reads) {
      *result = std::make_unique<PosixRandomAccessFile>(path, std::move(fd), direct, parallel_);
      return s;
    }
    struct stat st = {};
    if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", path, errno);
    // The whole file is mapped now, and only as much as it has now: the files that are opened like
    // this are immutable. An empty mapping would be an error, so an empty file has none.
    const uint64_t size = static_cast<uint64_t>(st.st_size);
    void* base = nullptr;
    if (size > 0) {
      base = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
      if (base == MAP_FAILED) return IoErrorFromErrno("mmap", path, errno);
    }
    *result = std::make_unique<PosixMappedReadFile>(path, std::move(fd), base, size);
    return s;
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    result->reset();
    PosixFd fd;
    IOStatus s = OpenForWriting(path, O_TRUNC, options, &fd);
    if (s.ok()) *result = MakeWritable(path, std::move(fd), 0, options);
    return s;
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result, IODebugContext*) override {
    result->reset();
    PosixFd fd;
    IOStatus s = OpenForWriting(path, 0, options, &fd);
    if (!s.ok()) return s;
    struct stat st = {};
    if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", path, errno);
    // Writing goes on where the file ends.
    *result = MakeWritable(path, std::move(fd), static_cast<uint64_t>(st.st_size), options);
    return s;
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    result->reset();
    IOStatus s = RenameFile(old_path, path, IOOptions(), dbg);
    if (!s.ok()) return s;
    // The file is not truncated: the new writer overwrites the old bytes from the start on, in
    // blocks that the file has already. What it does not reach stays.
    PosixFd fd;
    s = OpenForWriting(path, 0, options, &fd);
    if (s.ok()) *result = MakeWritable(path, std::move(fd), 0, options);
    return s;
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) override {
    result->reset();
    PosixFd fd;
    IOStatus s = OpenFile(path, O_RDWR | O_NOFOLLOW | CloexecFlag(options),
                          "open for reading and writing", &fd);
    if (s.ok()) *result = std::make_unique<PosixRandomRWFile>(path, std::move(fd));
    return s;
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    result->reset();
    PosixFd fd;
    IOStatus s = OpenFile(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, "open for mapping", &fd);
    if (!s.ok()) return s;
    struct stat st = {};
    if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", path, errno);
    const auto size = static_cast<size_t>(st.st_size);
    if (size == 0) return IOStatus::InvalidArgument(path, "an empty file cannot be mapped");
    void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) return IoErrorFromErrno("mmap", path, errno);
    *result = std::make_unique<PosixMappedBuffer>(base, size);
    return s;
  }
  IOStatus NewMappedFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<MappedFile>* result) override {
    result->reset();
    // Before the file is made: a refusal must leave nothing behind.
    if (!MayMapBeside(path)) return IOStatus::NotSupported(path, "is not on a disk to be mapped");
    PosixFd fd;
    IOStatus s = OpenFile(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | CloexecFlag(options),
                          "open for mapping", &fd);
    if (s.ok()) *result = std::make_unique<PosixMappedFile>(path, std::move(fd));
    return s;
  }
  IOStatus NewKernelCopy(const std::string& source, const std::string& target, uint64_t size,
                         std::unique_ptr<KernelCopy>* result) override {
    return NewPosixKernelCopy(source, target, size, result);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions&,
                        std::unique_ptr<FSDirectory>* result, IODebugContext*) override {
    result->reset();
    PosixFd fd;
    IOStatus s = OpenFile(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, "open directory", &fd);
    if (s.ok()) *result = std::make_unique<PosixDirectory>(name, std::move(fd));
    return s;
  }

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    // Checks the rights with which files are opened.
    if (::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_EACCESS) == 0) return IOStatus::OK();
    const int err = errno;
    switch (err) {
      case ENAMETOOLONG:
      case ENOENT:
      case ENOTDIR:
        return IOStatus::NotFound(path, "no such file can be reached");
      default:
        return IoErrorFromErrno("access", path, err);
    }
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    result->clear();
    const std::unique_ptr<DIR, DirectoryCloser> stream(::opendir(dir.c_str()));
    if (stream == nullptr) {
      const int err = errno;
      if (err == ENOENT || err == ENOTDIR) {
        return IOStatus::NotFound("open directory " + dir,
                                  IoErrorFromErrno("", "", err).ToString());
      }
      return IoErrorFromErrno("open directory", dir, err);
    }
    for (;;) {
      // A null entry means the end of the directory or an error, which only errno tells apart.
      errno = 0;
      const struct dirent* const entry = ::readdir(stream.get());
      if (entry == nullptr) break;
      const std::string_view name(entry->d_name);
      if (name != "." && name != "..") result->emplace_back(name);
    }
    if (errno != 0) return IoErrorFromErrno("read directory", dir, errno);
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ::unlink(path.c_str()) == 0 ? IOStatus::OK() : IoErrorFromErrno("unlink", path, errno);
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions&,
                    IODebugContext*) override {
    PosixFd fd;
    IOStatus s = OpenFile(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, "open to truncate", &fd);
    return s.ok() ? TruncateFd(fd.get(), path, size) : s;
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return MakeDirectory(path);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    IOStatus s = MakeDirectory(path);
    struct stat st = {};
    // Looks after the attempt and not before: another process may make the directory in between.
    if (!s.ok() && ::stat(path.c_str(), &st) == 0) {
      return S_ISDIR(st.st_mode) ? IOStatus::OK()
                                 : IOStatus::IOError(path, "exists and is not a directory");
    }
    return s;
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return ::rmdir(path.c_str()) == 0 ? IOStatus::OK() : IoErrorFromErrno("rmdir", path, errno);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* file_size,
                       IODebugContext*) override {
    struct stat st = {};
    IOStatus s = StatPath(path, &st);
    *file_size = s.ok() ? static_cast<uint64_t>(st.st_size) : 0;
    return s;
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, uint64_t* file_mtime,
                                   IODebugContext*) override {
    struct stat st = {};
    IOStatus s = StatPath(path, &st);
    if (s.ok()) *file_mtime = static_cast<uint64_t>(st.st_mtime);
    return s;
  }
  IOStatus RenameFile(const std::string& src, const std::string& target, const IOOptions&,
                      IODebugContext*) override {
    if (std::rename(src.c_str(), target.c_str()) == 0) return IOStatus::OK();
    return IoErrorFromErrno("rename to " + target, src, errno);
  }
  IOStatus LinkFile(const std::string& src, const std::string& target, const IOOptions&,
                    IODebugContext*) override {
    if (::link(src.c_str(), target.c_str()) == 0) return IOStatus::OK();
    const int err = errno;
    // Callers copy instead after NotSupported: the target is on another file system or one without
    // links, the file has the maximum number of names, or the kernel protects it.
    if (err == EXDEV || err == EOPNOTSUPP || err == ENOSYS || err == EMLINK || err == EPERM) {
      return IOStatus::NotSupported("no hard link between " + src, target);
    }
    return IoErrorFromErrno("link to " + target, src, err);
  }
  // Linux syncs a file through any descriptor, so one for reading suffices, also for files that
  // this process may not write.
  IOStatus SyncFile(const std::string& path, const FileOptions&, const IOOptions&, bool use_fsync,
                    IODebugContext*) override {
    PosixFd fd;
    IOStatus s = OpenFile(path, O_RDONLY | O_CLOEXEC, "open to sync", &fd);
    return s.ok() ? SyncFd(fd.get(), path, use_fsync) : s;
  }
  IOStatus NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    struct stat st = {};
    IOStatus s = StatPath(path, &st);
    if (s.ok()) *count = static_cast<uint64_t>(st.st_nlink);
    return s;
  }
  IOStatus PunchHole(const std::string& path, uint64_t offset, uint64_t bytes, const IOOptions&,
                     IODebugContext*) override {
    PosixFd fd;
    VARVE_RETURN_IF_ERROR(OpenFile(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, "open to punch", &fd));
    int r = 0;
    do {
      r = ::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (r != 0 && errno == EINTR);
    if (r == 0) return IOStatus::OK();
    const int err = errno;
    if (err == EOPNOTSUPP || err == ENOSYS) {
      return IOStatus::NotSupported("no holes in files of this file system", path);
    }
    return IoErrorAt("punch a hole", path, offset, err);
  }
  IOStatus AreFilesSame(const std::string& first, const std::string& second, const IOOptions&,
                        bool* res, IODebugContext*) override {
    struct stat a = {};
    struct stat b = {};
    IOStatus s = StatPath(first, &a);
    if (s.ok()) s = StatPath(second, &b);
    if (s.ok()) *res = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return s;
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                    IODebugContext*) override {
    return LockPosixFile(path, lock);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override {
    return UnlockPosixFile(lock);
  }
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override {
    const char* const chosen = std::getenv("TEST_TMPDIR");
    *path = chosen != nullptr && *chosen != '\0' ? std::string(chosen)
                                                 : "/tmp/varve_test-" + std::to_string(::geteuid());
    return CreateDirIfMissing(*path, options, dbg);
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* output_path,
                           IODebugContext*) override {
    if (!path.empty() && path.front() == '/') {
      *output_path = path;
      return IOStatus::OK();
    }
    std::array<char, PATH_MAX> cwd = {};
    if (::getcwd(cwd.data(), cwd.size()) == nullptr) {
      return IoErrorFromErrno("working directory", path, errno);
    }
    *output_path = std::string(cwd.data()) + "/" + path;
    return IOStatus::OK();
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* diskfree,
                        IODebugContext*) override {
    struct statvfs st = {};
    if (::statvfs(path.c_str(), &st) != 0) return IoErrorFromErrno("statvfs", path, errno);
    // File systems keep some blocks for the superuser.
    const uint64_t blocks = ::geteuid() == 0 ? st.f_bfree : st.f_bavail;
    *diskfree = blocks * static_cast<uint64_t>(st.f_frsize);
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    struct stat st = {};
    IOStatus s = StatPath(path, &st);
    if (s.ok()) *is_dir = S_ISDIR(st.st_mode);
    return s;
  }

 private:
  // Shared, because files may outlive the file system.
  const std::shared_ptr<ParallelReads> parallel_ = std::make_shared<ParallelReads>();
};

}  // namespace

std::shared_ptr<FileSystem> FileSystem::Default() {
  // One reference is never released, so that the object outlives every static destructor.
  static const auto* const instance =
      std::make_unique<std::shared_ptr<FileSystem>>(std::make_shared<PosixFileSystem>()).release();
  return *instance;
}

}  // namespace varve
