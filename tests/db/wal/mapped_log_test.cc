// SPDX-License-Identifier: Apache-2.0

// Tests the bytes of a mapped log: those that the log writer makes, in whatever order places are
// filled.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "tests/db/wal/mapped_log_harness.h"

namespace varve {
namespace {

std::string RandomRecord(std::mt19937* random, size_t n) {
  std::string out(n, '\0');
  for (char& c : out) c = static_cast<char>((*random)());
  return out;
}

// Sizes around what matters to the framing, given where the record starts.
size_t RandomSize(std::mt19937* random, uint64_t at) {
  const size_t left = wal::kBlockBytes - at % wal::kBlockBytes;
  switch ((*random)() % 8) {
    case 0:
      return (*random)() % 3;
    case 1:  // ends near the block's end
      return std::max<size_t>(left, 20) - (*random)() % 20;
    case 2:  // several blocks, ending near a border
      return left + 16 + (wal::kBlockBytes - wal::kHeaderBytes) * ((*random)() % 4) -
             (*random)() % 16;
    case 3:
      return (*random)() % 200000;
    default:
      return (*random)() % 1000;
  }
}

TEST(MappedLog, WritesWhatTheLogWriterWrites) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    std::mt19937 random(seed);
    MappedLogOnDisk disk;
    std::vector<std::string> records;
    for (int i = 0; i < 120; i++) {
      records.push_back(RandomRecord(&random, RandomSize(&random, disk.log->size())));
      ASSERT_TRUE(disk.Add(records.back()).ok());
    }
    EXPECT_EQ(disk.log->last_ticket(), records.size());
    const uint64_t size = disk.log->size();
    ASSERT_TRUE(disk.log->Close().ok());
    const std::string bytes = disk.Bytes();
    ASSERT_EQ(bytes.size(), size);
    ASSERT_TRUE(bytes == LogBytes(records)) << "seed " << seed;
  }
}

TEST(MappedLog, EveryDistanceFromTheEndOfABlock) {
  for (size_t left = 0; left <= 40; left++) {
    const std::vector<std::string> records = {
        std::string(wal::kBlockBytes - wal::kHeaderBytes - left, 'a'), std::string(left, 'b'),
        std::string(3 * wal::kBlockBytes, 'c'), "", "end"};
    MappedLogOnDisk disk;
    for (const std::string& record : records) ASSERT_TRUE(disk.Add(record).ok());
    ASSERT_TRUE(disk.log->Close().ok());
    ASSERT_TRUE(disk.Bytes() == LogBytes(records)) << left;
  }
}

// The border between the two parts lies before, on and after that between two fragments.
TEST(MappedLog, ARecordInTwoPartsIsThatOfOnePart) {
  constexpr size_t kFirst = 100;  // bytes in front of the record under test, header and all
  constexpr size_t kRoom = wal::kBlockBytes - kFirst - wal::kHeaderBytes;
  std::mt19937 random(3);
  const std::string record = RandomRecord(&random, 4 * wal::kBlockBytes);
  std::vector<std::pair<size_t, size_t>> splits = {{0, 0}, {0, 10}, {10, 0}, {1, 1}, {30, 4000}};
  for (size_t near = 0; near <= 4; near++) {
    splits.emplace_back(30, kRoom - 32 + near);  // the record ends about where its block does
    splits.emplace_back(kRoom - 2 + near, 1000);
    splits.emplace_back(kRoom - 2 + near, 0);
    splits.emplace_back(kRoom + wal::kBlockBytes - wal::kHeaderBytes - 2 + near, 40000);
  }
  for (const auto& [head, tail] : splits) {
    SCOPED_TRACE(std::to_string(head) + " and " + std::to_string(tail));
    const std::vector<std::string> records = {std::string(kFirst - wal::kHeaderBytes, 'a'),
                                              record.substr(0, head + tail), "end"};
    MappedLogOnDisk disk;
    ASSERT_TRUE(disk.Add(records[0]).ok());
    wal::LogReservation place;
    ASSERT_TRUE(disk.log->Reserve(head + tail, &place).ok());
    // These are copies, so that bytes beyond an end would not be the right ones.
    const std::string own_head = record.substr(0, head);
    const std::string own_tail = record.substr(head, tail);
    disk.log->Fill(place, own_head, own_tail);
    ASSERT_TRUE(disk.Add(records[2]).ok());
    ASSERT_TRUE(disk.log->Close().ok());
    ASSERT_TRUE(disk.Bytes() == LogBytes(records));
  }
}

TEST(MappedLog, PlacesMayBeFilledInAnyOrder) {
  std::mt19937 random(7);
  MappedLogOnDisk disk;
  std::vector<std::string> records;
  std::vector<wal::LogReservation> places;
  for (int i = 0; i < 500; i++) {
    records.push_back(RandomRecord(&random, RandomSize(&random, disk.log->size())));
    places.emplace_back();
    ASSERT_TRUE(disk.log->Reserve(records.back().size(), &places.back()).ok());
  }
  std::vector<size_t> order(records.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  for (size_t i : order) disk.log->Fill(places[i], records[i]);
  for (const wal::LogReservation& place : places) ASSERT_TRUE(disk.log->WaitWhole(place).ok());
  ASSERT_TRUE(disk.log->Close().ok());
  EXPECT_TRUE(disk.Bytes() == LogBytes(records));
}

// At every moment a reader finds a prefix that holds all acknowledged records.
TEST(MappedLog, AReaderSeesAPrefixWhileManyFill) {
  constexpr int kThreads = 4;
  constexpr uint32_t kRecords = 4000;
  MappedLogOnDisk disk;
  Mutex mu;
  uint32_t next = 0;
  std::atomic<uint32_t> whole[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (;;) {
        wal::LogReservation place;
        std::string record;
        uint32_t number = 0;
        {
          MutexLock lock(&mu);
          if (next == kRecords) return;
          number = ++next;
          record = NumberedRecord(number);
          ASSERT_TRUE(disk.log->Reserve(record.size(), &place).ok());
        }
        disk.log->Fill(place, record);
        if (number % 40 == 0) {
          ASSERT_TRUE(disk.log->Sync(false).ok());
        }
        ASSERT_TRUE(disk.log->WaitWhole(place).ok());
        whole[t].store(number);
      }
    });
  }
  for (int round = 0; round < 5; round++) {
    uint32_t least = 0;
    for (const auto& w : whole) least = std::max(least, w.load());
    const std::shared_ptr<MemFileSystem> killed = disk.fs->CrashClone(CrashPolicy::kKill, 1);
    CheckNumberedPrefix(ReadLog(killed.get(), "/log", WALRecoveryMode::kPointInTimeRecovery, 1),
                        least);
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(disk.log->Close().ok());
  const LogContents log = ReadLog(disk.fs.get(), "/log", WALRecoveryMode::kAbsoluteConsistency, 1);
  CheckNumberedPrefix(log, kRecords);
  EXPECT_FALSE(log.damaged());
}

TEST(MappedLog, MoreWritersThanPlaces) {
  constexpr size_t kExtra = 5;
  MappedLogOnDisk disk;
  std::vector<wal::LogReservation> places(wal::MappedLog::kPlacesMax + kExtra);
  std::atomic<size_t> reserved{0};
  std::thread reserver([&] {
    for (wal::LogReservation& place : places) {
      ASSERT_TRUE(disk.log->Reserve(1, &place).ok());
      reserved.fetch_add(1);
    }
  });
  while (reserved.load() < wal::MappedLog::kPlacesMax) std::this_thread::yield();
  for (size_t i = 0; i < places.size(); i++) {
    while (reserved.load() <= i) std::this_thread::yield();
    disk.log->Fill(places[i], "x");
  }
  reserver.join();
  ASSERT_TRUE(disk.log->WaitWhole(places.back()).ok());
  ASSERT_TRUE(disk.log->Close().ok());
  EXPECT_EQ(ReadLog(disk.fs.get(), "/log", WALRecoveryMode::kAbsoluteConsistency, 1).records.size(),
            places.size());
}

// Long enough for pieces that are made in the background, and given back.
TEST(MappedLog, GrowsInStepsAndGivesBackWhatIsBehind) {
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  const std::string path = ::testing::TempDir() + "/mapped_log_grows";
  std::unique_ptr<MappedFile> file;
  IOStatus s = NewMappedFile(fs.get(), path, FileOptions(), &file);
  if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::unique_ptr<wal::MappedLog> log;
  ASSERT_TRUE(wal::MappedLog::Open(std::move(file), 1, &log).ok());
  uint64_t occupied = 0;
  ASSERT_TRUE(fs->GetFileSize(path, IOOptions(), &occupied, nullptr).ok());
  EXPECT_EQ(occupied, wal::LogSegments::kFirstBytes);
  for (uint32_t i = 1; i <= 3000; i++) {
    wal::LogReservation place;
    const std::string record = NumberedRecord(i) + std::string(i % 17 == 0 ? 50000 : 5000, 'x');
    ASSERT_TRUE(log->Reserve(record.size(), &place).ok());
    log->Fill(place, record);
    ASSERT_TRUE(log->WaitWhole(place).ok());
    ASSERT_TRUE(fs->GetFileSize(path, IOOptions(), &occupied, nullptr).ok());
    ASSERT_LE(occupied, 2 * std::max<uint64_t>(log->size(), wal::LogSegments::kFirstBytes) +
                            2 * wal::LogSegments::kLargestBytes);
  }
  const uint64_t size = log->size();
  ASSERT_TRUE(log->Seal().ok());
  ASSERT_TRUE(fs->GetFileSize(path, IOOptions(), &occupied, nullptr).ok());
  EXPECT_EQ(occupied, size);
  ASSERT_TRUE(log->Sync(false).ok());
  ASSERT_TRUE(log->Close().ok());
  CheckNumberedPrefix(ReadLog(fs.get(), path, WALRecoveryMode::kAbsoluteConsistency, 1), 3000);
  ASSERT_TRUE(fs->DeleteFile(path, IOOptions(), nullptr).ok());
}

TEST(MappedLog, ClosingCutsAtTheFirstPlaceThatIsNotFilled) {
  MappedLogOnDisk disk;
  ASSERT_TRUE(disk.Add("first").ok());
  wal::LogReservation never;
  ASSERT_TRUE(disk.log->Reserve(1000, &never).ok());
  wal::LogReservation later;
  ASSERT_TRUE(disk.log->Reserve(5, &later).ok());
  disk.log->Fill(later, "later");
  ASSERT_TRUE(disk.log->Close().ok());
  EXPECT_EQ(disk.Bytes(), LogBytes({"first"}));
}

// A copy of the log ends with a whole record, however late the records before it are filled.
TEST(MappedLog, ACopyWaitsForThePlacesBeforeItsEnd) {
  MappedLogOnDisk disk;
  ASSERT_TRUE(disk.Add("first").ok());
  wal::LogReservation slow;
  ASSERT_TRUE(disk.log->Reserve(6, &slow).ok());
  wal::LogReservation quick;
  ASSERT_TRUE(disk.log->Reserve(5, &quick).ok());
  disk.log->Fill(quick, "quick");
  std::future<uint64_t> end = std::async(std::launch::async, [&] {
    uint64_t bytes = 0;
    EXPECT_TRUE(disk.log->HandOver(&bytes).ok());
    return bytes;
  });
  EXPECT_EQ(end.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  disk.log->Fill(slow, "slower");
  EXPECT_EQ(end.get(), disk.log->size());
  ASSERT_TRUE(disk.log->Close().ok());
  EXPECT_EQ(disk.Bytes(), LogBytes({"first", "slower", "quick"}));
}

}  // namespace
}  // namespace varve
