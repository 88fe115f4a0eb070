// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a mapped log on a file system in memory, and records that tell their number.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "db/wal/mapped_log.h"
#include "tests/db/wal/log_test_file.h"
#include "util/env/mapped_file.h"

namespace varve {

struct MappedLogOnDisk {
  MappedLogOnDisk() : fs(std::make_shared<MemFileSystem>()) {
    fs->OfferMappedFiles();
    std::unique_ptr<MappedFile> file;
    EXPECT_TRUE(NewMappedFile(fs.get(), "/log", FileOptions(), &file).ok());
    std::unique_ptr<FSDirectory> root;
    EXPECT_TRUE(fs->NewDirectory("/", IOOptions(), &root, nullptr).ok());
    EXPECT_TRUE(root->Fsync(IOOptions(), nullptr).ok());
    EXPECT_TRUE(wal::MappedLog::Open(std::move(file), 1, &log).ok());
  }

  IOStatus Add(const std::string& record) {
    wal::LogReservation place;
    IOStatus s = log->Reserve(record.size(), &place);
    if (!s.ok()) return s;
    log->Fill(place, record);
    return log->WaitWhole(place);
  }

  std::string Bytes() {
    std::string bytes;
    EXPECT_TRUE(ReadFileToString(fs.get(), "/log", UINT64_MAX, &bytes).ok());
    return bytes;
  }

  std::shared_ptr<MemFileSystem> fs;
  std::unique_ptr<wal::MappedLog> log;
};

// Says its number, and is as long as the number asks: some go over several blocks.
inline std::string NumberedRecord(uint32_t number) {
  std::string record;
  PutFixed32(&record, number);
  const size_t medium = number % 20 == 7 ? 9000 : number % 211;
  const size_t more = number % 50 == 0 ? 70000 : medium;
  for (size_t i = 0; i < more; i++) record.push_back(static_cast<char>(number + i * 7));
  return record;
}

// Checks that records are numbered 1, 2, ... without a gap, at least up to `least`. (Their
// checksums prove their contents.)
inline void CheckNumberedPrefix(const LogContents& log, uint64_t least) {
  ASSERT_TRUE(log.io_status.ok()) << log.io_status.ToString();
  for (size_t i = 0; i < log.records.size(); i++) {
    // A reader goes on after a hole in whole blocks, and says so: replay stops there.
    if (log.damage.hole && log.ends[i] > (i == 0 ? 0 : log.ends[i - 1]) &&
        DecodeFixed32(log.records[i].data()) != i + 1) {
      ASSERT_GE(i, least);
      return;
    }
    ASSERT_GE(log.records[i].size(), 4u);
    ASSERT_EQ(DecodeFixed32(log.records[i].data()), i + 1);
  }
  ASSERT_GE(log.records.size(), least);
}

}  // namespace varve
