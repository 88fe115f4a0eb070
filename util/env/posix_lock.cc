// SPDX-License-Identifier: Apache-2.0
#include "util/env/posix_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <map>
#include <memory>
#include <vector>

#include "util/env/io_error.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

// The holder of a locked file.
struct Holder {
  pid_t pid = 0;
  // Descriptors that could not be closed without dropping the lock.
  std::vector<PosixFd> parked;
};

// The files that this process has locked: the kernel's locks belong to a process, and would let it
// lock a file twice.
struct LockTable final : private ForkWatch {
  LockTable() { Watch(&mutex); }

  Mutex mutex{lock_ranks::kPosixLocks};
  std::map<FileIdentity, Holder> held VARVE_GUARDED_BY(mutex);
};

// Never destroyed: locks may be released while the process ends.
LockTable& Table() {
  static LockTable* const table = std::make_unique<LockTable>().release();
  return *table;
}

FileIdentity IdentityOf(const struct stat& st) {
  return {static_cast<uint64_t>(st.st_dev), static_cast<uint64_t>(st.st_ino)};
}

struct flock WholeFile(int16_t type) {
  struct flock request = {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  return request;
}

IOStatus HeldHere(const std::string& path) {
  return IOStatus::IOError("lock " + path, "already held by this process (pid " +
                                               std::to_string(::getpid()) +
                                               "); close the other instance first");
}

// Writes the holder's identity for people and for the error of a later opener. Failures are
// ignored, because only the lock matters.
void NoteHolder(int fd) {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  char when[32] = {};
  const time_t now = ::time(nullptr);
  struct tm utc = {};
  if (::gmtime_r(&now, &utc) != nullptr) {
    (void)::strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
  }
  const std::string text =
      "process " + std::to_string(::getpid()) + " on host \"" + host + "\" since " + when + "\n";
  if (::ftruncate(fd, 0) != 0) return;
  (void)!::pwrite(fd, text.data(), text.size(), 0);
}

// Returns the recorded holder, printable and short, because anyone can write to the file.
std::string NotedHolder(int fd) {
  char bytes[400];
  const ssize_t n = ::pread(fd, bytes, sizeof(bytes), 0);
  std::string text;
  for (ssize_t i = 0; i < n && bytes[i] != '\n'; i++) {
    text += bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '?';
  }
  return text;
}

// Asks the kernel for the holder's process, which is right for holders on this machine, and reads
// the file, which also names the host and the time, but may be stale.
IOStatus HeldElsewhere(const std::string& path, int fd, int err) {
  struct flock query = WholeFile(F_WRLCK);
  std::string holder = "another process";
  const std::string noted = NotedHolder(fd);
  if (::fcntl(fd, F_GETLK, &query) == 0 && query.l_type != F_UNLCK && query.l_pid > 0) {
    holder = "process " + std::to_string(query.l_pid);
  }
  if (!noted.empty()) holder += " (the file says: " + noted + ")";
  IOStatus cause = IoErrorFromErrno("lock", path, err);
  return IOStatus::IOError(cause.getState() == nullptr ? path : cause.getState(),
                           "held by " + holder);
}

// True if this process has an entry for `identity`. A child of fork() inherits the table, not the
// locks, so an entry of the parent is dropped. This closes parked descriptors of the child only,
// which does not touch the parent's lock.
bool HeldByThisProcess(LockTable& table, const FileIdentity& identity) VARVE_REQUIRES(table.mutex) {
  const auto it = table.held.find(identity);
  if (it == table.held.end()) return false;
  if (it->second.pid == ::getpid()) return true;
  table.held.erase(it);
  return false;
}

}  // namespace

PosixFileLock::PosixFileLock(std::string path, PosixFd fd, FileIdentity identity)
    : path_(std::move(path)), fd_(std::move(fd)), identity_(identity), owner_(::getpid()) {}

// The order matters: the table is asked by the name's inode before the file is opened, and again by
// the inode that was opened. Closing that descriptor when the second answer is "held" would drop
// the other holder's lock, so it is parked in the table until that lock is released.
IOStatus LockPosixFile(const std::string& path, FileLock** lock) {
  *lock = nullptr;
  LockTable& table = Table();
  MutexLock guard(&table.mutex);
  struct stat st = {};
  if (::stat(path.c_str(), &st) == 0 && HeldByThisProcess(table, IdentityOf(st))) {
    return HeldHere(path);
  }
  const int opened =
      OpenRetrying(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (opened < 0) return IoErrorFromErrno("open lock file", path, -opened);
  PosixFd fd(opened);
  if (::fstat(fd.get(), &st) != 0) return IoErrorFromErrno("fstat", path, errno);
  const FileIdentity identity = IdentityOf(st);
  if (HeldByThisProcess(table, identity)) {
    // The name was moved onto a locked file between the two checks.
    table.held[identity].parked.push_back(std::move(fd));
    return HeldHere(path);
  }
  const struct flock request = WholeFile(F_WRLCK);
  if (::fcntl(fd.get(), F_SETLK, &request) != 0) return HeldElsewhere(path, fd.get(), errno);
  // An exception after this point closes the file and so releases the lock.
  NoteHolder(fd.get());
  auto made = std::make_unique<PosixFileLock>(path, std::move(fd), identity);
  table.held[identity].pid = ::getpid();
  *lock = made.release();
  return IOStatus::OK();
}

IOStatus UnlockPosixFile(FileLock* lock) {
  if (lock == nullptr) return IOStatus::InvalidArgument("unlock: no lock given");
  LockTable& table = Table();
  MutexLock guard(&table.mutex);
  // The descriptor is closed before the mutex is released: closing it drops every lock that this
  // process has on the file, and another thread may lock it next.
  const std::unique_ptr<PosixFileLock> owned(static_cast<PosixFileLock*>(lock));
  if (owned->owner_ == ::getpid()) table.held.erase(owned->identity_);
  const struct flock request = WholeFile(F_UNLCK);
  if (::fcntl(owned->fd_.get(), F_SETLK, &request) != 0) {
    return IoErrorFromErrno("unlock", owned->path_, errno);
  }
  return IOStatus::OK();
}

}  // namespace varve
