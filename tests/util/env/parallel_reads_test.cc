// SPDX-License-Identifier: Apache-2.0

// Goal: reads that threads make in place of io_uring give what the file has, each with its own
// result. Method: a file whose bytes tell their place, and a limit of descriptors at which no ring
// can be made.

#include "util/env/parallel_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "util/env/posix_files.h"

namespace varve::test {
namespace {

class ParallelReadsTest : public ::testing::Test {
 protected:
  static constexpr size_t kBytes = 1 << 20;
  static constexpr size_t kRead = 4096;

  void SetUp() override {
    path_ = ::testing::TempDir() + "parallel_reads_XXXXXX";
    fd_ = PosixFd(::mkstemp(path_.data()));
    ASSERT_TRUE(fd_.valid());
    ::unlink(path_.c_str());
    for (size_t i = 0; i < kBytes; i++) content_.push_back(static_cast<char>(i * 7 + i / 4096));
    ASSERT_EQ(::write(fd_.get(), content_.data(), kBytes), static_cast<ssize_t>(kBytes));
  }

  // Returns true if `n` reads return the file's content.
  bool Reads(ParallelReads* parallel, size_t n) {
    std::vector<char> buffer(n * kRead);
    std::vector<RingRead> reads(n);
    for (size_t i = 0; i < n; i++) {
      reads[i] = {fd_.get(), i * 7919 % (kBytes - kRead), kRead, &buffer[i * kRead], -EAGAIN};
    }
    parallel->ReadWithThreads(reads);
    return std::ranges::all_of(reads, [&](const RingRead& read) {
      return read.result == static_cast<int32_t>(kRead) &&
             content_.compare(read.offset, kRead, read.buffer, kRead) == 0;
    });
  }

  std::string path_;
  PosixFd fd_;
  std::string content_;
};

TEST_F(ParallelReadsTest, AnyNumberIsRead) {
  ParallelReads parallel;
  for (const size_t n : {1, 2, 7, 8, 9, 100, 3, 1}) EXPECT_TRUE(Reads(&parallel, n)) << n;
}

TEST_F(ParallelReadsTest, TellsTheEndOfTheFileAndAnErrorByRead) {
  ParallelReads parallel;
  char buffers[3][10];
  RingRead reads[] = {{fd_.get(), kBytes - 4, 10, buffers[0], 0},
                      {-1, 0, 10, buffers[1], 0},
                      {fd_.get(), 20, 10, buffers[2], 0}};
  parallel.ReadWithThreads(reads);
  EXPECT_EQ(4, reads[0].result);
  EXPECT_EQ(-EBADF, reads[1].result);
  EXPECT_EQ(10, reads[2].result);
  EXPECT_EQ(std::string(buffers[2], 10), content_.substr(20, 10));
}

TEST_F(ParallelReadsTest, CallersShareThreads) {
  ParallelReads parallel;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 200; i++) wrong += Reads(&parallel, 1 + (i + t) % 20) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ParallelReadsTest, AChildOfForkHasThreadsOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork from several";
#endif
  ParallelReads parallel;
  ASSERT_TRUE(Reads(&parallel, 20));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    ::_exit(Reads(&parallel, 20) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(Reads(&parallel, 20));
}

// Returns the number of this process's threads with that word in their names.
int ThreadsNamed(const std::string& word) {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    count += name.find(word) != std::string::npos ? 1 : 0;
  }
  return count;
}

// Where no ring can be made, a file that is read past the page cache asks threads.
TEST_F(ParallelReadsTest, AFileReadsWithoutRings) {
  const auto parallel = std::make_shared<ParallelReads>();
  PosixRandomAccessFile file(path_, PosixFd(::dup(fd_.get())), /*direct=*/true, parallel);
  std::vector<char> buffer(20 * kRead);
  std::vector<FSReadRequest> requests(20);
  for (size_t i = 0; i < requests.size(); i++) {
    requests[i].offset = i * 8 * kRead;
    requests[i].len = kRead;
    requests[i].scratch = &buffer[i * kRead];
  }
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{3, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const IOStatus s = file.MultiRead(requests.data(), requests.size(), IOOptions(), nullptr);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(s.ok()) << s.ToString();
  // A thread names itself when it first runs. One is enough: a thread that is free before the next
  // job is scheduled takes that job too.
  for (int i = 0; i < 1000 && ThreadsNamed("reads") == 0; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GE(ThreadsNamed("reads"), 1);
  EXPECT_LT(ThreadsNamed("reads"), ParallelReads::kReadsAtOnce);
  for (const FSReadRequest& request : requests) {
    ASSERT_TRUE(request.status.ok()) << request.status.ToString();
    EXPECT_EQ(request.result.ToString(), content_.substr(request.offset, kRead));
  }
}

}  // namespace
}  // namespace varve::test
