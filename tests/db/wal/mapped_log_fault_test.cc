// SPDX-License-Identifier: Apache-2.0

// Tests what a mapped log does when space, mapping or a sync fails, and what a power loss leaves of
// it.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/db/wal/mapped_log_harness.h"
#include "tests/harness/environment.h"
#include "tests/harness/fault_file_system.h"

namespace varve {
namespace {

struct FaultyLog {
  FaultyLog() : mem(std::make_shared<MemFileSystem>()), fs(mem) {
    mem->OfferMappedFiles();
    fs.OfferMappedFiles();
    std::unique_ptr<MappedFile> file;
    EXPECT_TRUE(NewMappedFile(&fs, "/log", FileOptions(), &file).ok());
    EXPECT_TRUE(wal::MappedLog::Open(std::move(file), 1, &log).ok());
  }

  // The error of the first record that does not go in, and how many did before.
  IOStatus FillUp(uint32_t* count) {
    for (*count = 0;; ++*count) {
      const std::string record = NumberedRecord(*count + 1);
      wal::LogReservation place;
      IOStatus s = log->Reserve(record.size(), &place);
      if (!s.ok()) return s;
      log->Fill(place, record);
      s = log->WaitWhole(place);
      if (!s.ok()) return s;
    }
  }

  std::shared_ptr<MemFileSystem> mem;
  FaultFileSystem fs;
  std::unique_ptr<wal::MappedLog> log;
};

TEST(MappedLogFault, AFullDiskIsAnErrorOfTheWriterAndNotACrash) {
  FaultyLog faulty;
  faulty.fs.SetByteQuota(100 << 10);
  uint32_t count = 0;
  EXPECT_TRUE(faulty.FillUp(&count).IsNoSpace());
  EXPECT_GT(count, 50u);
  EXPECT_TRUE(faulty.log->failed());
  faulty.fs.ReleaseQuota();
  wal::LogReservation place;
  EXPECT_TRUE(faulty.log->Reserve(1, &place).IsNoSpace()) << "not appended to any more";
  EXPECT_TRUE(faulty.log->Sync(false).IsNoSpace());
  EXPECT_FALSE(faulty.log->Close().ok());
  const LogContents log =
      ReadLog(faulty.mem.get(), "/log", WALRecoveryMode::kAbsoluteConsistency, 1);
  CheckNumberedPrefix(log, count);
  EXPECT_EQ(log.records.size(), count);
}

TEST(MappedLogFault, WhatWasReservedBeforeTheDiskWasFullIsStillWritten) {
  FaultyLog faulty;
  const std::string record(wal::MappedLog::kWrittenBytes - 1, 'r');
  std::vector<wal::LogReservation> places(1);
  faulty.fs.SetByteQuota(0);
  IOStatus s;
  while ((s = faulty.log->Reserve(record.size(), &places.back())).ok()) places.emplace_back();
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  places.pop_back();
  EXPECT_GE(places.size(), 7u);
  for (const wal::LogReservation& place : places) faulty.log->Fill(place, record);
  for (const wal::LogReservation& place : places) EXPECT_TRUE(faulty.log->WaitWhole(place).ok());
}

// Large records have no space before they are written.
TEST(MappedLogFault, AFullDiskIsAnErrorOfTheLargeRecordThatMeetsIt) {
  for (const size_t room : {0, 7, 100000, 200000, 399990}) {
    FaultyLog faulty;
    uint32_t added = 0;
    const auto add = [&](size_t bytes) {
      wal::LogReservation place;
      IOStatus s = faulty.log->Reserve(bytes, &place);
      if (!s.ok()) return s;
      std::string record;
      PutFixed32(&record, ++added);
      record.resize(bytes, 'x');
      faulty.log->Fill(place, record);
      return faulty.log->WaitWhole(place);
    };
    ASSERT_TRUE(add(4).ok());
    ASSERT_TRUE(add(300000).ok());
    faulty.fs.SetByteQuota(room);
    EXPECT_TRUE(add(400000).IsNoSpace()) << room;
    faulty.fs.ReleaseQuota();
    EXPECT_TRUE(add(4).IsNoSpace()) << "not appended to any more";
    EXPECT_TRUE(faulty.log->Sync(false).IsNoSpace());
    EXPECT_FALSE(faulty.log->Close().ok());
    const LogContents log =
        ReadLog(faulty.mem.get(), "/log", WALRecoveryMode::kPointInTimeRecovery, 1);
    CheckNumberedPrefix(log, 2);
    EXPECT_EQ(log.records.size(), 2u);
  }
}

TEST(MappedLogFault, EveryFailedWriteIsToldToTheWriter) {
  for (const FaultEffect effect : {FaultEffect::kIoError, FaultEffect::kShortWrite}) {
    for (uint64_t nth = 1; nth <= 6; nth++) {
      FaultyLog faulty;
      FaultRule rule;
      rule.calls = Only(FaultCall::kWrite);
      rule.nth = nth;
      rule.effect = effect;
      faulty.fs.Inject(rule);
      uint32_t count = 0;
      EXPECT_TRUE(faulty.FillUp(&count).IsIOError());
      EXPECT_EQ(faulty.fs.strikes(), 1u);
      wal::LogReservation place;
      EXPECT_TRUE(faulty.log->Reserve(1, &place).IsIOError());
      EXPECT_FALSE(faulty.log->Close().ok());
      const LogContents log =
          ReadLog(faulty.mem.get(), "/log", WALRecoveryMode::kPointInTimeRecovery, 1);
      CheckNumberedPrefix(log, count);
      // The header is the last of a record: if half of it was written, it is none.
      EXPECT_EQ(log.records.size(), count);
    }
  }
}

TEST(MappedLogFault, AFailedSyncIsFinal) {
  FaultyLog faulty;
  wal::LogReservation first;
  wal::LogReservation second;
  ASSERT_TRUE(faulty.log->Reserve(5, &first).ok());
  faulty.log->Fill(first, "first");
  ASSERT_TRUE(faulty.log->Reserve(6, &second).ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  faulty.fs.Inject(rule);
  faulty.log->Fill(second, "second");
  EXPECT_FALSE(faulty.log->Sync(false).ok());
  faulty.fs.ClearFaults();
  EXPECT_FALSE(faulty.log->WaitWhole(second).ok());
  EXPECT_FALSE(faulty.log->Sync(false).ok());
  EXPECT_FALSE(faulty.log->Reserve(1, &first).ok());
  EXPECT_FALSE(faulty.log->Close().ok());
}

TEST(MappedLogFault, EveryFailedAllocationIsToldToTheWriter) {
  constexpr uint64_t kCases = 8;
  const uint64_t step = testing::StepUnderSanitizer(kCases);
  for (uint64_t nth = 1 + testing::FirstUnderSanitizer(kCases); nth <= kCases; nth += step) {
    FaultyLog faulty;
    FaultRule rule;
    rule.calls = Only(FaultCall::kAllocate);
    rule.nth = nth;
    rule.sticky = true;
    faulty.fs.Inject(rule);
    uint32_t count = 0;
    EXPECT_TRUE(faulty.FillUp(&count).IsIOError());
    EXPECT_FALSE(faulty.log->Close().ok());
    CheckNumberedPrefix(ReadLog(faulty.mem.get(), "/log", WALRecoveryMode::kAbsoluteConsistency, 1),
                        count);
  }
}

// A failure in the background alone is tried again when the piece is needed.
TEST(MappedLogFault, AFailedAllocationAheadIsNoFailure) {
  FaultyLog faulty;
  FaultRule rule;
  rule.calls = Only(FaultCall::kAllocate);
  rule.nth = 5;  // 64, 128, 256, 512 KiB are mapped, and then what follows 1 MiB
  faulty.fs.Inject(rule);
  for (uint32_t i = 1; i <= 2000; i++) {
    wal::LogReservation place;
    const std::string record(1000 + i % 211, 'x');
    ASSERT_TRUE(faulty.log->Reserve(record.size(), &place).ok());
    faulty.log->Fill(place, record);
  }
  EXPECT_EQ(faulty.fs.strikes(), 1u);
  EXPECT_TRUE(faulty.log->Close().ok());
}

// Any subset of the pages that were not synced may be missing, stale or torn.
TEST(MappedLogFault, APowerLossLeavesAPrefixWithAllThatWasSynced) {
  for (uint32_t seed = 1; seed <= 15; seed++) {
    std::mt19937 random(seed);
    MappedLogOnDisk disk;
    uint32_t synced = 0;
    const uint32_t records = 20 + random() % 200;
    for (uint32_t i = 1; i <= records; i++) {
      ASSERT_TRUE(disk.Add(NumberedRecord(i)).ok());
      if (random() % 16 != 0) continue;
      ASSERT_TRUE(disk.log->Sync(false).ok());
      synced = i;
    }
    for (CrashPolicy policy :
         {CrashPolicy::kSyncedOnly, CrashPolicy::kOrderedPrefix, CrashPolicy::kAllNames,
          CrashPolicy::kAdversarial, CrashPolicy::kKill}) {
      for (uint64_t crash = 0; crash < 10; crash++) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " crash " + std::to_string(crash));
        const std::shared_ptr<MemFileSystem> after = disk.fs->CrashClone(policy, crash);
        CheckNumberedPrefix(ReadLog(after.get(), "/log", WALRecoveryMode::kPointInTimeRecovery, 1),
                            policy == CrashPolicy::kKill ? records : synced);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// Bytes of a log that was not closed, spoiled: never a record that was not written, nor out of
// order, and in time although the tail is long.
TEST(MappedLogFault, DamageYieldsAPrefix) {
  MappedLogOnDisk disk;
  for (uint32_t i = 1; i <= 120; i++) ASSERT_TRUE(disk.Add(NumberedRecord(i)).ok());
  std::string good = disk.Bytes();
  // Zeros behind the log, as in a mapped piece.
  good.resize(disk.log->size() + 3 * size_t{wal::kBlockBytes});
  std::mt19937 random(5);
  for (int round = 0; round < 200; round++) {
    std::string bytes = good;
    for (int n = 0; n < 3; n++) bytes[random() % disk.log->size()] = static_cast<char>(random());
    if (round % 4 == 0) {
      const size_t at = random() % disk.log->size();
      for (size_t i = at; i < std::min<size_t>(at + 5000, bytes.size()); i++) bytes[i] = 0;
    }
    CheckNumberedPrefix(ReadLogBytes(bytes), 0);
    ASSERT_FALSE(HasFailure());
  }
}

// The place before is not filled: what a process leaves that is killed at that moment.
TEST(MappedLogFault, PiecesBehindAnUnfilledPlaceAreATornTailAndRecordsAHole) {
  const std::string spans(100000, 's');
  for (bool whole_record_behind : {false, true}) {
    MappedLogOnDisk disk;
    ASSERT_TRUE(disk.Add("first").ok());
    wal::LogReservation place;
    wal::LogReservation next;
    ASSERT_TRUE(disk.log->Reserve(spans.size(), &place).ok());
    ASSERT_TRUE(disk.log->Reserve(5, &next).ok());
    if (whole_record_behind) disk.log->Fill(next, "later");
    std::string bytes = disk.Bytes();
    // The log looks as if the writer had been stopped just before its first header.
    const std::string filled = LogBytes({"first", spans});
    const size_t at = LogBytes({"first"}).size();
    bytes.resize(std::max(bytes.size(), filled.size()));
    for (size_t i = at + wal::kHeaderBytes; i < filled.size(); i++) bytes[i] = filled[i];
    const LogContents log = ReadLogBytes(bytes);
    EXPECT_EQ(log.records, std::vector<std::string>{"first"});
    EXPECT_TRUE(log.damaged());
    EXPECT_TRUE(log.damage.hole);
    EXPECT_EQ(log.damage.torn_tail, !whole_record_behind);
    EXPECT_EQ(log.damage.first_bad_offset, at);
    EXPECT_GE(log.damage.dropped_bytes, filled.size() - at);
  }
}

TEST(MappedLogFault, PiecesOnBothSidesOfAHoleAreNotOneRecord) {
  std::string bytes = LogBytes({std::string(90000, 'x'), "end"});
  // A page of the middle fragment, with its header, and all up to the block's end.
  for (size_t i = wal::kBlockBytes; i < 2 * size_t{wal::kBlockBytes}; i++) bytes[i] = 0;
  for (int mode = 0; mode < 4; mode++) {
    const LogContents log = ReadLogBytes(bytes, static_cast<WALRecoveryMode>(mode));
    for (const std::string& record : log.records) EXPECT_EQ(record, "end");
    EXPECT_TRUE(log.damaged());
  }
}

}  // namespace
}  // namespace varve
