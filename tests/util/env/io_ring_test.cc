// SPDX-License-Identifier: Apache-2.0
#include "util/env/io_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace varve::test {
namespace {

class IoRingTest : public ::testing::Test {
 protected:
  // A file of kBytes bytes that tell their place.
  static constexpr size_t kBytes = 200000;

  void SetUp() override {
    std::string path = ::testing::TempDir() + "io_ring_XXXXXX";
    fd_ = PosixFd(::mkstemp(path.data()));
    ASSERT_TRUE(fd_.valid());
    ::unlink(path.c_str());
    for (size_t i = 0; i < kBytes; i++) content_.push_back(static_cast<char>(i * 7 + i / 256));
    ASSERT_EQ(::write(fd_.get(), content_.data(), kBytes), static_cast<ssize_t>(kBytes));
    int error = 0;
    if (IoRing::Create(&error) == nullptr) GTEST_SKIP() << "no io_uring here: errno " << error;
  }

  // Reads of 100 bytes each, `n` of them, all over the file.
  void CheckReads(IoRingPool* pool, size_t n) {
    std::vector<std::string> buffers(n, std::string(100, '\0'));
    std::vector<RingRead> reads(n);
    for (size_t i = 0; i < n; i++) {
      reads[i] = {fd_.get(), i * 7919 % (kBytes - 100), 100, buffers[i].data(), 0};
    }
    ASSERT_TRUE(pool->ReadAll(reads));
    for (size_t i = 0; i < n; i++) {
      ASSERT_EQ(100, reads[i].result);
      ASSERT_EQ(buffers[i], content_.substr(reads[i].offset, 100));
    }
  }

  // Returns true if `n` such reads return the file's content.
  bool Reads(IoRingPool* pool, size_t n) {
    std::vector<char> buffer(n * 100);
    std::vector<RingRead> reads(n);
    for (size_t i = 0; i < n; i++) {
      reads[i] = {fd_.get(), i * 7919 % (kBytes - 100), 100, &buffer[i * 100], 0};
    }
    if (!pool->ReadAll(reads)) return false;
    for (const RingRead& read : reads) {
      if (read.result != 100 || content_.compare(read.offset, 100, read.buffer, 100) != 0) {
        return false;
      }
    }
    return true;
  }

  PosixFd fd_;
  std::string content_;
};

TEST_F(IoRingTest, ReadsMoreRangesThanTheRingHasPlaces) {
  IoRingPool pool;
  for (const size_t n : {1, 2, 63, 64, 65, 500}) CheckReads(&pool, n);
}

TEST_F(IoRingTest, TellsTheEndOfTheFileAndAnErrorByRead) {
  IoRingPool pool;
  char buffers[3][10];
  RingRead reads[] = {{fd_.get(), kBytes - 4, 10, buffers[0], 0},
                      {-1, 0, 10, buffers[1], 0},
                      {fd_.get(), 20, 10, buffers[2], 0}};
  ASSERT_TRUE(pool.ReadAll(reads));
  EXPECT_EQ(4, reads[0].result);
  EXPECT_EQ(-EBADF, reads[1].result);
  EXPECT_EQ(10, reads[2].result);
  EXPECT_EQ(std::string(buffers[2], 10), content_.substr(20, 10));
}

TEST_F(IoRingTest, ThreadsShareAPool) {
  IoRingPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; i++) CheckReads(&pool, 70);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Idle rings, rings under way and the mutex are inherited.
TEST_F(IoRingTest, AChildOfForkReadsBesideItsParent) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not follow a process of several threads through fork()";
#endif
  IoRingPool pool;
  ASSERT_TRUE(Reads(&pool, 10));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; t++) {
    readers.emplace_back([&, t] {
      for (size_t i = 0; !stop.load(); i++) wrong += Reads(&pool, i % 70 + t) ? 0 : 1;
    });
  }
  for (int round = 0; round < 10; round++) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // a child that hangs
      for (size_t i = 0; i < 100; i++) {
        if (!Reads(&pool, i)) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
  }
  stop = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(IoRingTest, WantOfDescriptorsPasses) {
  struct rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit none = {0, limit.rlim_max};
  IoRingPool pool;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool read = Reads(&pool, 5);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(read);
  int calls = 1;
  while (!Reads(&pool, 5) && calls < 1000) calls++;
  EXPECT_LT(calls, 1000);
  EXPECT_GT(calls, 1) << "an attempt costs more than the reads";
}

}  // namespace
}  // namespace varve::test
