// SPDX-License-Identifier: Apache-2.0
#include "util/env/posix_file_system.h"

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

#include "util/env/io_error.h"
#include "util/env/posix_fd.h"
#include "util/env/posix_files.h"
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

// Opens for writing: `extra` says how an existing file is treated.
IOStatus OpenForWriting(const std::string& fname, int extra, const FileOptions& options,
                        PosixFd* fd) {
  IOStatus s = RefuseBothDirectAndMapped(options.use_direct_writes, options.use_mmap_writes, fname);
  if (!s.ok()) return s;
  // Mapping for writing needs read permission as well.
  int flags = O_CREAT | O_NOFOLLOW | CloexecFlag(options) | extra;
  flags |= options.use_mmap_writes ? O_RDWR : O_WRONLY;
  if (options.use_direct_writes) flags |= O_DIRECT;
  return OpenFile(fname, flags, "open for writing", fd);
}

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

}  // namespace

IOStatus PosixFileSystem::NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                                            std::unique_ptr<FSSequentialFile>* result,
                                            IODebugContext*) {
  result->reset();
  const bool direct = file_opts.use_direct_reads && !file_opts.use_mmap_reads;
  PosixFd fd;
  IOStatus s = OpenFile(fname, O_RDONLY | CloexecFlag(file_opts) | (direct ? O_DIRECT : 0),
                        "open for reading", &fd);
  if (!s.ok()) return s;
  *result = std::make_unique<PosixSequentialFile>(fname, std::move(fd), direct);
  return s;
}

IOStatus PosixFileSystem::NewRandomAccessFile(const std::string& fname,
                                              const FileOptions& file_opts,
                                              std::unique_ptr<FSRandomAccessFile>* result,
                                              IODebugContext*) {
  result->reset();
  IOStatus s =
      RefuseBothDirectAndMapped(file_opts.use_direct_reads, file_opts.use_mmap_reads, fname);
  if (!s.ok()) return s;
  const bool direct = file_opts.use_direct_reads;
  PosixFd fd;
  s = OpenFile(fname, O_RDONLY | CloexecFlag(file_opts) | (direct ? O_DIRECT : 0),
               "open for reading", &fd);
  if (!s.ok()) return s;
  if (!file_opts.use_mmap_reads) {
    *result = std::make_unique<PosixRandomAccessFile>(fname, std::move(fd), direct, rings_);
    return s;
  }
  struct stat st = {};
  if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", fname, errno);
  const uint64_t size = static_cast<uint64_t>(st.st_size);
  void* base = nullptr;
  if (size > 0) {
    base = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) return IoErrorFromErrno("mmap", fname, errno);
  }
  *result = std::make_unique<PosixMappedReadFile>(fname, std::move(fd), base, size);
  return s;
}

IOStatus PosixFileSystem::NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                                          std::unique_ptr<FSWritableFile>* result,
                                          IODebugContext*) {
  result->reset();
  PosixFd fd;
  IOStatus s = OpenForWriting(fname, O_TRUNC, file_opts, &fd);
  if (s.ok()) *result = MakeWritable(fname, std::move(fd), 0, file_opts);
  return s;
}

IOStatus PosixFileSystem::ReopenWritableFile(const std::string& fname, const FileOptions& file_opts,
                                             std::unique_ptr<FSWritableFile>* result,
                                             IODebugContext*) {
  result->reset();
  PosixFd fd;
  IOStatus s = OpenForWriting(fname, 0, file_opts, &fd);
  if (!s.ok()) return s;
  struct stat st = {};
  if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", fname, errno);
  *result = MakeWritable(fname, std::move(fd), static_cast<uint64_t>(st.st_size), file_opts);
  return s;
}

IOStatus PosixFileSystem::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                            const FileOptions& file_opts,
                                            std::unique_ptr<FSWritableFile>* result,
                                            IODebugContext* dbg) {
  result->reset();
  IOStatus s = RenameFile(old_fname, fname, IOOptions(), dbg);
  if (!s.ok()) return s;
  PosixFd fd;
  s = OpenForWriting(fname, 0, file_opts, &fd);
  if (s.ok()) *result = MakeWritable(fname, std::move(fd), 0, file_opts);
  return s;
}

IOStatus PosixFileSystem::NewRandomRWFile(const std::string& fname, const FileOptions& file_opts,
                                          std::unique_ptr<FSRandomRWFile>* result,
                                          IODebugContext*) {
  result->reset();
  PosixFd fd;
  IOStatus s = OpenFile(fname, O_RDWR | O_NOFOLLOW | CloexecFlag(file_opts),
                        "open for reading and writing", &fd);
  if (s.ok()) *result = std::make_unique<PosixRandomRWFile>(fname, std::move(fd));
  return s;
}

IOStatus PosixFileSystem::NewMemoryMappedFileBuffer(
    const std::string& fname, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  result->reset();
  PosixFd fd;
  IOStatus s = OpenFile(fname, O_RDWR | O_NOFOLLOW | O_CLOEXEC, "open for mapping", &fd);
  if (!s.ok()) return s;
  struct stat st = {};
  if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", fname, errno);
  const auto size = static_cast<size_t>(st.st_size);
  if (size == 0) return IOStatus::InvalidArgument(fname, "an empty file cannot be mapped");
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return IoErrorFromErrno("mmap", fname, errno);
  *result = std::make_unique<PosixMappedBuffer>(base, size);
  return s;
}

IOStatus PosixFileSystem::NewMappedFile(const std::string& fname, const FileOptions& options,
                                        std::unique_ptr<MappedFile>* result) {
  result->reset();
  if (!MayMapBeside(fname)) return IOStatus::NotSupported(fname, "is not on a disk to be mapped");
  PosixFd fd;
  IOStatus s = OpenFile(fname, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | CloexecFlag(options),
                        "open for mapping", &fd);
  if (s.ok()) *result = std::make_unique<PosixMappedFile>(fname, std::move(fd));
  return s;
}

IOStatus PosixFileSystem::NewDirectory(const std::string& name, const IOOptions&,
                                       std::unique_ptr<FSDirectory>* result, IODebugContext*) {
  result->reset();
  PosixFd fd;
  IOStatus s = OpenFile(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, "open directory", &fd);
  if (s.ok()) *result = std::make_unique<PosixDirectory>(name, std::move(fd));
  return s;
}

IOStatus PosixFileSystem::FileExists(const std::string& fname, const IOOptions&, IODebugContext*) {
  if (::access(fname.c_str(), F_OK) == 0) return IOStatus::OK();
  const int err = errno;
  switch (err) {
    case EACCES:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
      return IOStatus::NotFound(fname, "no such file can be reached");
    default:
      return IoErrorFromErrno("access", fname, err);
  }
}

IOStatus PosixFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                      std::vector<std::string>* result, IODebugContext*) {
  result->clear();
  const std::unique_ptr<DIR, DirectoryCloser> stream(::opendir(dir.c_str()));
  if (stream == nullptr) {
    const int err = errno;
    if (err == ENOENT || err == ENOTDIR || err == EACCES) {
      return IOStatus::NotFound("open directory " + dir, IoErrorFromErrno("", "", err).ToString());
    }
    return IoErrorFromErrno("open directory", dir, err);
  }
  for (;;) {
    errno = 0;
    const struct dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") result->emplace_back(name);
  }
  if (errno != 0) return IoErrorFromErrno("read directory", dir, errno);
  return IOStatus::OK();
}

IOStatus PosixFileSystem::DeleteFile(const std::string& fname, const IOOptions&, IODebugContext*) {
  return ::unlink(fname.c_str()) == 0 ? IOStatus::OK() : IoErrorFromErrno("unlink", fname, errno);
}

IOStatus PosixFileSystem::Truncate(const std::string& fname, size_t size, const IOOptions&,
                                   IODebugContext*) {
  PosixFd fd;
  IOStatus s = OpenFile(fname, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, "open to truncate", &fd);
  return s.ok() ? TruncateFd(fd.get(), fname, size) : s;
}

IOStatus PosixFileSystem::CreateDir(const std::string& dirname, const IOOptions&, IODebugContext*) {
  return MakeDirectory(dirname);
}

IOStatus PosixFileSystem::CreateDirIfMissing(const std::string& dirname, const IOOptions&,
                                             IODebugContext*) {
  IOStatus s = MakeDirectory(dirname);
  struct stat st = {};
  if (!s.ok() && ::stat(dirname.c_str(), &st) == 0) {
    return S_ISDIR(st.st_mode) ? IOStatus::OK()
                               : IOStatus::IOError(dirname, "exists and is not a directory");
  }
  return s;
}

IOStatus PosixFileSystem::DeleteDir(const std::string& dirname, const IOOptions&, IODebugContext*) {
  return ::rmdir(dirname.c_str()) == 0 ? IOStatus::OK() : IoErrorFromErrno("rmdir", dirname, errno);
}

IOStatus PosixFileSystem::GetFileSize(const std::string& fname, const IOOptions&,
                                      uint64_t* file_size, IODebugContext*) {
  struct stat st = {};
  IOStatus s = StatPath(fname, &st);
  *file_size = s.ok() ? static_cast<uint64_t>(st.st_size) : 0;
  return s;
}

IOStatus PosixFileSystem::GetFileModificationTime(const std::string& fname, const IOOptions&,
                                                  uint64_t* file_mtime, IODebugContext*) {
  struct stat st = {};
  IOStatus s = StatPath(fname, &st);
  if (s.ok()) *file_mtime = static_cast<uint64_t>(st.st_mtime);
  return s;
}

IOStatus PosixFileSystem::RenameFile(const std::string& src, const std::string& target,
                                     const IOOptions&, IODebugContext*) {
  if (std::rename(src.c_str(), target.c_str()) == 0) return IOStatus::OK();
  return IoErrorFromErrno("rename to " + target, src, errno);
}

IOStatus PosixFileSystem::LinkFile(const std::string& src, const std::string& target,
                                   const IOOptions&, IODebugContext*) {
  if (::link(src.c_str(), target.c_str()) == 0) return IOStatus::OK();
  const int err = errno;
  // Callers copy instead when they hear NotSupported.
  if (err == EXDEV || err == EOPNOTSUPP || err == ENOSYS) {
    return IOStatus::NotSupported("no hard link between " + src, target);
  }
  return IoErrorFromErrno("link to " + target, src, err);
}

IOStatus PosixFileSystem::SyncFile(const std::string& fname, const FileOptions&, const IOOptions&,
                                   bool use_fsync, IODebugContext*) {
  PosixFd fd;
  IOStatus s = OpenFile(fname, O_RDONLY | O_CLOEXEC, "open to sync", &fd);
  return s.ok() ? SyncFd(fd.get(), fname, use_fsync) : s;
}

IOStatus PosixFileSystem::NumFileLinks(const std::string& fname, const IOOptions&, uint64_t* count,
                                       IODebugContext*) {
  struct stat st = {};
  IOStatus s = StatPath(fname, &st);
  if (s.ok()) *count = static_cast<uint64_t>(st.st_nlink);
  return s;
}

IOStatus PosixFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                       const IOOptions&, bool* res, IODebugContext*) {
  struct stat a = {};
  struct stat b = {};
  IOStatus s = StatPath(first, &a);
  if (s.ok()) s = StatPath(second, &b);
  if (s.ok()) *res = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  return s;
}

IOStatus PosixFileSystem::LockFile(const std::string& fname, const IOOptions&, FileLock** lock,
                                   IODebugContext*) {
  return LockPosixFile(fname, lock);
}

IOStatus PosixFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  return UnlockPosixFile(lock);
}

IOStatus PosixFileSystem::GetTestDirectory(const IOOptions& options, std::string* path,
                                           IODebugContext* dbg) {
  const char* const chosen = std::getenv("TEST_TMPDIR");
  *path = chosen != nullptr && *chosen != '\0' ? std::string(chosen)
                                               : "/tmp/varve_test-" + std::to_string(::geteuid());
  return CreateDirIfMissing(*path, options, dbg);
}

IOStatus PosixFileSystem::GetAbsolutePath(const std::string& db_path, const IOOptions&,
                                          std::string* output_path, IODebugContext*) {
  if (!db_path.empty() && db_path.front() == '/') {
    *output_path = db_path;
    return IOStatus::OK();
  }
  std::array<char, PATH_MAX> cwd = {};
  if (::getcwd(cwd.data(), cwd.size()) == nullptr) {
    return IoErrorFromErrno("working directory", db_path, errno);
  }
  *output_path = std::string(cwd.data()) + "/" + db_path;
  return IOStatus::OK();
}

IOStatus PosixFileSystem::GetFreeSpace(const std::string& path, const IOOptions&,
                                       uint64_t* diskfree, IODebugContext*) {
  struct statvfs st = {};
  if (::statvfs(path.c_str(), &st) != 0) return IoErrorFromErrno("statvfs", path, errno);
  const uint64_t blocks = ::geteuid() == 0 ? st.f_bfree : st.f_bavail;
  *diskfree = blocks * static_cast<uint64_t>(st.f_frsize);
  return IOStatus::OK();
}

IOStatus PosixFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                                      IODebugContext*) {
  struct stat st = {};
  IOStatus s = StatPath(path, &st);
  if (s.ok()) *is_dir = S_ISDIR(st.st_mode);
  return s;
}

std::shared_ptr<FileSystem> FileSystem::Default() {
  // One reference is never given up, so that the object outlives every static destructor.
  static const auto* const instance =
      std::make_unique<std::shared_ptr<FileSystem>>(std::make_shared<PosixFileSystem>()).release();
  return *instance;
}

}  // namespace varve
