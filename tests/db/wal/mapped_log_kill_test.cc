// SPDX-License-Identifier: Apache-2.0

// Kills a process while several threads fill a mapped log: all acknowledged records are there, and
// the records are a prefix.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <random>
#include <thread>

#include "tests/db/wal/mapped_log_harness.h"

namespace varve {
namespace {

constexpr int kWriters = 3;

// Memory that the parent shares: outlives the child.
struct Told {
  std::atomic<uint32_t> whole[kWriters];
};

[[noreturn]] void WriteUntilKilled(const std::string& path, Told* told) {
  std::unique_ptr<MappedFile> file;
  if (!NewMappedFile(FileSystem::Default().get(), path, FileOptions(), &file).ok()) _exit(1);
  std::unique_ptr<wal::MappedLog> log;
  if (!wal::MappedLog::Open(std::move(file), 1, &log).ok()) _exit(1);
  Mutex mu;
  uint32_t next = 0;
  const auto write = [&](int thread) {
    for (;;) {
      wal::LogReservation place;
      std::string record;
      uint32_t number = 0;
      {
        MutexLock lock(&mu);
        number = ++next;
        record = NumberedRecord(number);
        if (!log->Reserve(record.size(), &place).ok()) _exit(1);
      }
      log->Fill(place, record);
      if (!log->WaitWhole(place).ok()) _exit(1);
      told->whole[thread].store(number);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < kWriters; t++) threads.emplace_back(write, t);
  write(0);
  _exit(1);
}

}  // namespace

TEST(MappedLogKill, AKilledProcessLeavesAPrefixWithAllThatWasTold) {
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  const std::string path = ::testing::TempDir() + "/mapped_log_kill_" + std::to_string(getpid());
  std::unique_ptr<MappedFile> probe;
  if (NewMappedFile(fs.get(), path, FileOptions(), &probe).IsNotSupported()) GTEST_SKIP();
  void* const shared =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::mt19937 random(3);
  uint64_t records = 0;
  int torn = 0;
  for (int round = 0; round < 60; round++) {
    Told* const told = new (shared) Told{};
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteUntilKilled(path, told);
    usleep(500 + random() % 15000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    uint32_t least = 0;
    for (const auto& whole : told->whole) least = std::max(least, whole.load());
    const LogContents log = ReadLog(fs.get(), path, WALRecoveryMode::kPointInTimeRecovery, 1);
    CheckNumberedPrefix(log, least);
    ASSERT_FALSE(HasFailure()) << "round " << round;
    records += log.records.size();
    torn += log.damaged() || log.damage.hole ? 1 : 0;
  }
  printf("RESULT mapped_log_kill rounds=60 records=%llu unclean_ends=%d lost=0 wrong=0\n",
         static_cast<unsigned long long>(records), torn);
  munmap(shared, sizeof(Told));
  ASSERT_TRUE(fs->DeleteFile(path, IOOptions(), nullptr).ok());
}

}  // namespace varve
