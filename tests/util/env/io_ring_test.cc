// SPDX-License-Identifier: Apache-2.0
#include "util/env/io_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
    if (IoRing::Create() == nullptr) GTEST_SKIP() << "no io_uring here";
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

}  // namespace
}  // namespace varve::test
