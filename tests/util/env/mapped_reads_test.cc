// SPDX-License-Identifier: Apache-2.0

// Tests that reads out of a mapping return what pread returns, and what becomes of the process when
// the file is truncated beneath them or the program uses SIGBUS itself.

#include "util/env/mapped_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "util/env/file_prefetcher.h"
#include "util/env/guarded_copy.h"
#include "util/env/parallel_reads.h"
#include "util/env/posix_files.h"
#include "util/env/random_access_file_reader.h"

namespace varve {
namespace {

constexpr size_t kFileBytes = 300 * 1000;

void ForgetTurns() {
  for (int i = 0; i <= GuardedCopy::kTurns; i++) (void)GuardedCopy::Ready();
}

class MappedReadsTest : public ::testing::Test {
 protected:
  MappedReadsTest() {
    path_ = "/tmp/varve_mapped_reads-" + std::to_string(::getpid());
    std::mt19937_64 random(301);
    while (content_.size() < kFileBytes) content_.push_back(static_cast<char>(random()));
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(::pwrite(fd_, content_.data(), content_.size(), 0),
              static_cast<ssize_t>(content_.size()));
  }
  ~MappedReadsTest() override {
    (void)::close(fd_);
    (void)::unlink(path_.c_str());
  }
  void SetUp() override {
    ForgetTurns();
    if (!GuardedCopy::Ready()) GTEST_SKIP() << "no guarded copies here, or a sanitizer has SIGBUS";
  }
  // Reads until the file is mapped. Returns false if it never is.
  static bool Warm(MappedReads* reads) {
    char scratch[16];
    // A busy machine makes copies look as if they had waited.
    for (int i = 0; i < 100000; i++) {
      if (reads->Read(0, sizeof(scratch), scratch)) return true;
    }
    return false;
  }

  std::string path_;
  std::string content_;
  int fd_ = -1;
};

TEST_F(MappedReadsTest, EveryRangeIsReadAsItIsInTheFile) {
  const uint64_t before = MappedReads::MappedBytes();
  {
    MappedReads reads(fd_);
    std::string scratch(MappedReads::kBytesMost, '\0');
    for (uint32_t i = 0; i < MappedReads::kReadsBefore; i++) {
      EXPECT_FALSE(reads.Read(i, 1, scratch.data()));
    }
    EXPECT_EQ(MappedReads::MappedBytes(), before) << "mapped before it was read often";
    ASSERT_TRUE(Warm(&reads));
    EXPECT_EQ(MappedReads::MappedBytes(), before + kFileBytes);
    std::mt19937_64 random(7);
    int hits = 0;
    for (int i = 0; i < 2000; i++) {
      const size_t n = random() % MappedReads::kBytesMost + 1;
      const size_t offset = random() % (kFileBytes - n + 1);
      if (!reads.Read(offset, n, scratch.data())) continue;
      hits++;
      ASSERT_EQ(std::memcmp(scratch.data(), content_.data() + offset, n), 0);
    }
    EXPECT_GT(hits, 0);
    ASSERT_TRUE(Warm(&reads));
    EXPECT_FALSE(reads.Read(0, MappedReads::kBytesMost + 1, scratch.data()));
    EXPECT_FALSE(reads.Read(kFileBytes - 1, 2, scratch.data())) << "beyond the end";
    EXPECT_FALSE(reads.Read(UINT64_MAX, 2, scratch.data()));
  }
  EXPECT_EQ(MappedReads::MappedBytes(), before);
}

TEST_F(MappedReadsTest, ARequestKeepsNoErrorOfAnEarlierRead) {
  const uint64_t before = MappedReads::MappedBytes();
  PosixRandomAccessFile file(path_, PosixFd(::dup(fd_)), /*direct=*/false,
                             std::make_shared<ParallelReads>());
  char scratch[2][16];
  FSReadRequest requests[2];
  // The first rounds come before the file is mapped, and the others are copied from the mapping.
  for (size_t i = 0; i < 2 * MappedReads::kReadsBefore; i++) {
    for (size_t j = 0; j < 2; j++) {
      requests[j].offset = (i * 7919 + j * 4096) % (kFileBytes - sizeof(scratch[j]));
      requests[j].len = sizeof(scratch[j]);
      requests[j].scratch = scratch[j];
      requests[j].status = IOStatus::IOError("an earlier read");
    }
    ASSERT_TRUE(file.MultiRead(requests, 2, IOOptions(), nullptr).ok());
    for (const FSReadRequest& request : requests) {
      ASSERT_TRUE(request.status.ok()) << request.status.ToString();
      ASSERT_EQ(request.result.ToString(), content_.substr(request.offset, request.len));
    }
  }
  EXPECT_EQ(MappedReads::MappedBytes(), before + kFileBytes);
}

TEST_F(MappedReadsTest, WhatIsWrittenToTheFileIsSeen) {
  MappedReads reads(fd_);
  ASSERT_TRUE(Warm(&reads));
  ASSERT_EQ(::pwrite(fd_, "other", 5, 4096), 5);
  char scratch[5];
  reads.Forget();
  while (!reads.Read(4096, sizeof(scratch), scratch)) {
  }
  EXPECT_EQ(std::string(scratch, sizeof(scratch)), "other");
}

TEST_F(MappedReadsTest, ATruncatedFileEndsTheCopyAndNotTheProcess) {
  constexpr off_t kLeft = 8192;
  MappedReads reads(fd_);
  ASSERT_TRUE(Warm(&reads));
  ASSERT_EQ(::ftruncate(fd_, kLeft), 0);
  std::string scratch(4096, '\0');
  EXPECT_FALSE(reads.Read(100000, scratch.size(), scratch.data()));
  EXPECT_FALSE(reads.Read(0, scratch.size(), scratch.data())) << "the file is not trusted any more";
}

TEST_F(MappedReadsTest, ATruncatedTableIsCorruptToItsReader) {
  std::unique_ptr<RandomAccessFileReader> reader;
  const auto fs = FileSystem::Default();
  ASSERT_TRUE(RandomAccessFileReader::Open(fs.get(), path_, {}, {}, &reader).ok());
  EXPECT_TRUE(reader->page_cached());
  std::string scratch(4096, '\0');
  Slice result;
  const uint64_t before = MappedReads::MappedBytes();
  for (int i = 0; i < 1000; i++) {
    ASSERT_TRUE(reader->Read(200000, scratch.size(), &result, scratch.data()).ok());
    ASSERT_TRUE(result == Slice(content_.data() + 200000, scratch.size()));
  }
  EXPECT_EQ(MappedReads::MappedBytes(), before + kFileBytes);
  // The new end lies within the range, at its begin, and before it.
  for (const off_t end : {off_t{202000}, off_t{200000}, off_t{5000}, off_t{0}}) {
    ASSERT_EQ(::ftruncate(fd_, end), 0);
    const IOStatus s = reader->Read(200000, scratch.size(), &result, scratch.data());
    if (end == 202000 && s.ok()) {
      // The rest of a page that the file still has reads as zeros, which no checksum passes.
      EXPECT_EQ(scratch.substr(3000), std::string(scratch.size() - 3000, '\0'));
    } else {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    }
  }
}

// Reading ahead would copy each byte twice. A thread that may not copy out of the mapping needs it.
TEST_F(MappedReadsTest, ScansReadAheadOnlyIfTheyCannotCopy) {
  std::unique_ptr<RandomAccessFileReader> reader;
  const auto fs = FileSystem::Default();
  ASSERT_TRUE(RandomAccessFileReader::Open(fs.get(), path_, {}, {}, &reader).ok());
  std::string scratch(4096, '\0');
  Slice result;
  for (int i = 0; i < 100000 && !reader->copies_from_mapping(4096); i++) {
    ASSERT_TRUE(reader->Read(0, scratch.size(), &result, scratch.data()).ok());
  }
  ASSERT_TRUE(reader->copies_from_mapping(4096));
  EXPECT_FALSE(reader->copies_from_mapping(MappedReads::kBytesMost + 1));
  const auto blocks_ahead = [&] {
    FilePrefetcher prefetcher = FilePrefetcher::Adaptive();
    int ahead = 0;
    for (uint64_t at = 0; at < 20 * 4096; at += 4096) {
      EXPECT_TRUE(prefetcher.Read(*reader, at, 4096, kFileBytes, &result, scratch.data()).ok());
      EXPECT_TRUE(result == Slice(content_.data() + at, 4096));
      ahead += result.data() == scratch.data() ? 0 : 1;
    }
    return ahead;
  };
  EXPECT_EQ(blocks_ahead(), 0);
  int ahead = 0;
  std::thread thread([&] {
    sigset_t all;
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    EXPECT_FALSE(GuardedCopy::Ready());
    ahead = blocks_ahead();
  });
  thread.join();
  EXPECT_GT(ahead, 10);
}

TEST_F(MappedReadsTest, AnotherSignalHandlerIsLeftAlone) {
  struct sigaction ours = {};
  struct sigaction theirs = {};
  struct sigaction now = {};
  theirs.sa_handler = [](int) { ::_exit(3); };
  ASSERT_EQ(::sigaction(SIGBUS, &theirs, &ours), 0);
  ForgetTurns();
  EXPECT_FALSE(GuardedCopy::Ready());
  ASSERT_EQ(::sigaction(SIGBUS, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, theirs.sa_handler);
  MappedReads reads(fd_);
  char scratch[16];
  for (uint32_t i = 0; i < 4 * MappedReads::kReadsBefore; i++) {
    EXPECT_FALSE(reads.Read(0, sizeof(scratch), scratch));
  }
  ASSERT_EQ(::sigaction(SIGBUS, &ours, nullptr), 0);
  ForgetTurns();
  EXPECT_TRUE(GuardedCopy::Ready());
}

TEST_F(MappedReadsTest, AThreadThatBlocksTheSignalDoesNotCopy) {
  bool ready = true;
  std::thread thread([&ready] {
    sigset_t all;
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    ready = GuardedCopy::Ready();
  });
  thread.join();
  EXPECT_FALSE(ready);
}

using MappedReadsDeathTest = MappedReadsTest;

TEST_F(MappedReadsDeathTest, OtherBusErrorsEndTheProcessAsTheyWould) {
  EXPECT_EXIT(::raise(SIGBUS), ::testing::KilledBySignal(SIGBUS), "");
  const auto load_beyond_the_end = [this] {
    void* const memory = ::mmap(nullptr, kFileBytes, PROT_READ, MAP_SHARED, fd_, 0);
    if (memory == MAP_FAILED || ::ftruncate(fd_, 0) != 0) ::_exit(1);
    const volatile char byte = static_cast<const char*>(memory)[8192];
    ::_exit(byte == 0 ? 2 : 3);
  };
  EXPECT_EXIT(load_beyond_the_end(), ::testing::KilledBySignal(SIGBUS), "");
}

// Reads that follow each other look like a scan, of which the system would read more.
TEST_F(MappedReadsTest, SmallReadsThatWaitedFetchOnlyTheirPages) {
  ASSERT_EQ(::fsync(fd_), 0);
  PosixRandomAccessFile file(path_, PosixFd(::open(path_.c_str(), O_RDONLY)), /*direct=*/false,
                             std::make_shared<ParallelReads>());
  void* const memory = ::mmap(nullptr, kFileBytes, PROT_READ, MAP_SHARED, fd_, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto resident = [memory] {
    unsigned char pages[kFileBytes / 4096 + 1] = {};
    EXPECT_EQ(::mincore(memory, kFileBytes, pages), 0);
    return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
  };
  const auto read = [&](uint64_t offset) {
    std::string scratch(4096, '\0');
    Slice result;
    EXPECT_TRUE(file.Read(offset, scratch.size(), {}, &result, scratch.data(), nullptr).ok());
    EXPECT_EQ(result, Slice(content_.data() + offset, scratch.size()));
  };
  for (uint64_t i = 0; i < 300; i++) {
    ASSERT_TRUE(file.InvalidateCache(0, 0).ok());
    read(i * 7 % 70 * 4096);
  }
  for (int i = 0; i < 20 && resident() != 0; i++) ASSERT_TRUE(file.InvalidateCache(0, 0).ok());
  const bool can_tell = file.MayWait() && resident() == 0;
  if (can_tell) {
    read(100000);
    read(104096);
    EXPECT_LE(resident(), 3);
  }
  (void)::munmap(memory, kFileBytes);
  if (!can_tell) GTEST_SKIP() << "the file stays in memory, or its device is as quick";
}

}  // namespace
}  // namespace varve
