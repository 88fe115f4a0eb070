// SPDX-License-Identifier: Apache-2.0
//
// LOCK between openers of one process and between processes.

#include "util/env/posix_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace varve {
namespace {

class PosixLockTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkdir(dir_.c_str(), 0700), 0); }
  void TearDown() override {
    (void)::unlink(path_.c_str());
    (void)::unlink((dir_ + "/alias").c_str());
    (void)::unlink((dir_ + "/target").c_str());
    (void)::rmdir(dir_.c_str());
  }

  // Returns true if a child process gets the lock. Children only call into the lock.
  bool ChildGetsLock() {
    const pid_t child = ::fork();
    if (child == 0) {
      FileLock* lock = nullptr;
      ::_exit(LockPosixFile(path_, &lock).ok() ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status) == 1;
  }

  const std::string dir_ = "/tmp/varve_lock_test-" + std::to_string(::getpid());
  const std::string path_ = dir_ + "/LOCK";
};

TEST_F(PosixLockTest, AFailedSecondOpenDoesNotGiveTheLockAway) {
  FileLock* lock = nullptr;
  ASSERT_TRUE(LockPosixFile(path_, &lock).ok());
  EXPECT_FALSE(ChildGetsLock());
  FileLock* second = nullptr;
  IOStatus s = LockPosixFile(path_, &second);
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(s.ToString().find(std::to_string(::getpid())), std::string::npos) << s.ToString();
  EXPECT_FALSE(ChildGetsLock());
  // Under another name it is the same file.
  ASSERT_EQ(::link(path_.c_str(), (dir_ + "/alias").c_str()), 0);
  EXPECT_FALSE(LockPosixFile(dir_ + "/alias", &second).ok());
  EXPECT_FALSE(ChildGetsLock());
  ASSERT_TRUE(UnlockPosixFile(lock).ok());
  EXPECT_TRUE(ChildGetsLock());
}

// Locks of open file descriptions conflict with those of this process, so they tell whether there
// is one. Method: two threads take the lock in turn, and ask as soon as they have it.
TEST_F(PosixLockTest, AReleaseDoesNotDropTheLockOfTheNextHolder) {
  FileLock* first = nullptr;
  ASSERT_TRUE(LockPosixFile(path_, &first).ok());
  ASSERT_TRUE(UnlockPosixFile(first).ok());
  // It stays open to the end, as closing it would drop a lock.
  const int asking = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(asking, 0);
  std::atomic<int> taken = 0;
  std::atomic<int> dropped = 0;
  const auto take_turns = [&] {
    for (int i = 0; i < 20000; i++) {
      FileLock* lock = nullptr;
      if (!LockPosixFile(path_, &lock).ok()) continue;
      taken++;
      struct flock query = {};
      query.l_type = F_WRLCK;
      query.l_whence = SEEK_SET;
      for (int look = 0; look < 3; look++) {
        if (::fcntl(asking, F_OFD_GETLK, &query) == 0 && query.l_type == F_UNLCK) dropped++;
        query.l_type = F_WRLCK;
        query.l_pid = 0;
      }
      EXPECT_TRUE(UnlockPosixFile(lock).ok());
    }
  };
  std::thread other(take_turns);
  take_turns();
  other.join();
  EXPECT_GT(taken, 0);
  EXPECT_EQ(dropped, 0);
  ::close(asking);
}

TEST_F(PosixLockTest, TheErrorNamesTheProcessThatHoldsTheLock) {
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    FileLock* lock = nullptr;
    const char answer = LockPosixFile(path_, &lock).ok() ? 'y' : 'n';
    char ignored = 0;
    (void)!::write(ready[1], &answer, 1);
    (void)!::read(done[0], &ignored, 1);
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  FileLock* lock = nullptr;
  IOStatus s = LockPosixFile(path_, &lock);
  EXPECT_TRUE(s.IsIOError());
  for (const std::string& part :
       {"held by process " + std::to_string(child),
        "the file says: process " + std::to_string(child) + " on host", std::string("since 20")}) {
    EXPECT_NE(s.ToString().find(part), std::string::npos) << s.ToString();
  }
  ASSERT_EQ(::write(done[1], "x", 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(LockPosixFile(path_, &lock).ok());
  ASSERT_TRUE(UnlockPosixFile(lock).ok());
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
}

TEST_F(PosixLockTest, SymbolicLinksAreNotFollowed) {
  const std::string target = dir_ + "/target";
  ASSERT_EQ(::symlink(target.c_str(), path_.c_str()), 0);
  FileLock* lock = nullptr;
  EXPECT_FALSE(LockPosixFile(path_, &lock).ok());
  EXPECT_NE(::access(target.c_str(), F_OK), 0);
}

TEST_F(PosixLockTest, ModesAreNotWidened) {
  const int fd = ::open(path_.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(fd, 0);
  ::close(fd);
  FileLock* lock = nullptr;
  ASSERT_TRUE(LockPosixFile(path_, &lock).ok());
  struct stat st = {};
  ASSERT_EQ(::stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  ASSERT_TRUE(UnlockPosixFile(lock).ok());
}

}  // namespace
}  // namespace varve
