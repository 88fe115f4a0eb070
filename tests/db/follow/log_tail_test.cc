// SPDX-License-Identifier: Apache-2.0

// Goal: whatever part of a log is there already, its reader gives the records that are whole, in
// order, and the rest once it is there; from bytes that are no log it gives nothing that was not
// written, and never reads out of bounds. Method: logs of every kind are read while they grow, by
// random steps, and after random damage; nothing but what was written may come out.

#include "db/wal/log_tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "db/wal/log_writer.h"
#include "db/wal/timestamp_sizes.h"
#include "tests/harness/random.h"
#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"
#include "util/env/writable_file_writer.h"

namespace varve::testing {
namespace {

using Met = wal::LogTail::Met;

constexpr uint64_t kNumber = 7;
constexpr const char* kPath = "/000007.log";

struct Writing {
  const char* name;
  wal::LogWriterOptions options;
};

const std::vector<Writing>& Writings() {
  static const std::vector<Writing> writings = [] {
    std::vector<Writing> all(3);
    all[0].name = "plain";
    all[1].name = "recyclable";
    all[1].options.recyclable = true;
    all[2].name = "compressed";
    all[2].options.compression = kZSTD;
    return all;
  }();
  return writings;
}

std::vector<std::string> SomeRecords(Random* random) {
  std::vector<std::string> records;
  for (int i = 0; i < 60; i++) {
    const uint64_t sizes[] = {random->Below(200), 32768 - 7 * random->Below(8),
                              random->Below(400000)};
    records.push_back(random->Text(sizes[random->OneIn(8) ? 1 + random->Below(2) : 0]));
  }
  return records;
}

// The bytes, and where each record ends.
std::string WriteLog(const std::vector<std::string>& records, const wal::LogWriterOptions& options,
                     std::vector<uint64_t>* ends) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  EXPECT_TRUE(WritableFileWriter::Create(&fs, kPath, FileOptions(), {}, &file).ok());
  wal::LogWriter writer(std::move(file), kNumber, options);
  for (size_t i = 0; i < records.size(); i++) {
    if (i % 20 == 10) {
      const wal::TimestampSizes sizes = {{static_cast<uint32_t>(i), 8}};
      EXPECT_TRUE(writer.AddTimestampSizes(wal::EncodeTimestampSizes(sizes).front()).ok());
    }
    EXPECT_TRUE(writer.AddRecord(records[i]).ok());
    ends->push_back(writer.file_size());
  }
  EXPECT_TRUE(writer.Close().ok());
  std::string bytes;
  EXPECT_TRUE(ReadFileToString(&fs, kPath, UINT64_MAX, &bytes).ok());
  return bytes;
}

class LogTailTest : public ::testing::Test {
 protected:
  void SetFile(const std::string& bytes) {
    std::unique_ptr<WritableFileWriter> file;
    ASSERT_TRUE(WritableFileWriter::Create(&fs_, kPath, FileOptions(), {}, &file).ok());
    ASSERT_TRUE(file->Append(bytes).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  std::unique_ptr<wal::LogTail> Tail() {
    std::unique_ptr<wal::LogTail> tail;
    EXPECT_TRUE(wal::LogTail::Open(&fs_, kPath, kNumber, FileOptions(), &tail).ok());
    return tail;
  }

  MemFileSystem fs_;
};

TEST_F(LogTailTest, GivesWhatIsWholeAndTheRestLater) {
  for (const Writing& writing : Writings()) {
    SCOPED_TRACE(writing.name);
    for (uint64_t seed = 1; seed <= 2; seed++) {
      Random random(seed);
      const std::vector<std::string> records = SomeRecords(&random);
      std::vector<uint64_t> ends;
      const std::string bytes = WriteLog(records, writing.options, &ends);
      SetFile(bytes + std::string(100000, '\0'));
      const auto tail = Tail();
      size_t next = 0;
      for (uint64_t end = 0; next < records.size();) {
        end = std::min<uint64_t>(end + random.Below(20000), bytes.size());
        Slice record;
        Met met = Met::kEnd;
        while ((met = tail->Next(end, &record)) == Met::kRecord) {
          ASSERT_LT(next, records.size());
          ASSERT_LE(ends[next], end);
          ASSERT_TRUE(record == Slice(records[next]));
          if (random.OneIn(3)) {
            tail->PutBack();
          } else {
            next++;
          }
        }
        ASSERT_EQ(met, Met::kEnd) << tail->status().ToString();
        ASSERT_TRUE(next == records.size() || ends[next] > end);
      }
      EXPECT_EQ(tail->timestamp_sizes().size(), 3u);
      Slice record;
      EXPECT_EQ(tail->Next(bytes.size() + 100000, &record), Met::kEnd);
      EXPECT_EQ(tail->offset(), bytes.size());
    }
  }
}

// A record's place begins with zeros until all of it is there; those after it may be.
TEST_F(LogTailTest, StopsAtAPlaceThatIsNotFilled) {
  std::vector<uint64_t> ends;
  const std::string bytes = WriteLog({"first", "second", "third"}, {}, &ends);
  std::string unfilled = bytes;
  std::fill_n(unfilled.begin() + static_cast<long>(ends[0]), 7, '\0');
  SetFile(unfilled);
  const auto tail = Tail();
  Slice record;
  ASSERT_EQ(tail->Next(bytes.size(), &record), Met::kRecord);
  EXPECT_EQ(tail->Next(bytes.size(), &record), Met::kEnd);
  EXPECT_EQ(tail->offset(), ends[0]);
  SetFile(bytes);
  const auto later = Tail();
  for (const char* expected : {"first", "second", "third"}) {
    ASSERT_EQ(later->Next(bytes.size(), &record), Met::kRecord);
    EXPECT_EQ(record.ToString(), expected);
  }
}

TEST_F(LogTailTest, WhatAnOlderLogLeftEndsARecycledOne) {
  wal::LogWriterOptions options;
  options.recyclable = true;
  std::vector<uint64_t> ends;
  const std::string bytes = WriteLog({"one", "two"}, options, &ends);
  SetFile(bytes);
  std::unique_ptr<wal::LogTail> other;
  ASSERT_TRUE(wal::LogTail::Open(&fs_, kPath, kNumber + 1, FileOptions(), &other).ok());
  Slice record;
  EXPECT_EQ(other->Next(bytes.size(), &record), Met::kEnd);
}

TEST_F(LogTailTest, DamageGivesNothingThatWasNotWritten) {
  for (const Writing& writing : Writings()) {
    SCOPED_TRACE(writing.name);
    for (uint64_t seed = 1; seed <= 12; seed++) {
      Random random(seed);
      const std::vector<std::string> records = SomeRecords(&random);
      std::vector<uint64_t> ends;
      std::string bytes = WriteLog(records, writing.options, &ends);
      const uint64_t at = random.Below(bytes.size());
      for (uint64_t i = 0; i < 1 + random.Below(30) && at + i < bytes.size(); i++) {
        bytes[at + i] = static_cast<char>(random.Below(256));
      }
      if (random.OneIn(3)) bytes.resize(random.Below(bytes.size()));
      SetFile(bytes);
      const auto tail = Tail();
      Slice record;
      size_t next = 0;
      Met met = Met::kEnd;
      while ((met = tail->Next(bytes.size(), &record)) == Met::kRecord) {
        ASSERT_LT(next, records.size());
        ASSERT_TRUE(record == Slice(records[next]));
        next++;
      }
      if (met != Met::kEnd) {
        EXPECT_NE(tail->status().ToString().find(kPath), std::string::npos);
      }
      EXPECT_TRUE(next == records.size() || ends[next] > std::min<uint64_t>(at, bytes.size()));
    }
  }
}

}  // namespace
}  // namespace varve::testing
