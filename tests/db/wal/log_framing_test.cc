// SPDX-License-Identifier: Apache-2.0

// Tests how records are cut into blocks, and put together again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/wal/log_test_file.h"
#include "tests/harness/fault_file_system.h"
#include "util/compress/codec.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr WALRecoveryMode kModes[] = {
    WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
    WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords};

std::string Patterned(size_t n, char first) {
  std::string out(n, '\0');
  for (size_t i = 0; i < n; i++) out[i] = static_cast<char>(first + i % 61);
  return out;
}

const char kPutAt5[] = "0500000000000000 01000000 01 016b0176";
const char kPutAt6[] = "0600000000000000 01000000 05 01 016b0176";

TEST(LogFraming, WritesTheKnownBytes) {
  EXPECT_EQ(LogBytes({FromHex(kPutAt5), FromHex(kPutAt6)}),
            FromHex("c96f53f5 1100 01 0500000000000000 01000000 01 016b0176"
                    "90c47069 1200 01 0600000000000000 01000000 05 01 016b0176"));
}

TEST(LogFraming, ReadsTheKnownBytes) {
  const LogContents log =
      ReadLogBytes(FromHex("c96f53f5 1100 01 0500000000000000 01000000 01 016b0176"
                           "90c47069 1200 01 0600000000000000 01000000 05 01 016b0176"));
  EXPECT_THAT(log.records, ElementsAre(FromHex(kPutAt5), FromHex(kPutAt6)));
  EXPECT_THAT(log.offsets, ElementsAre(0, 24));
  EXPECT_THAT(log.ends, ElementsAre(24, 49));
  EXPECT_FALSE(log.damaged());
}

// Returns the bytes that LogWriter writes for these records with options, as the log of this
// number.
std::string LogBytesWith(const wal::LogWriterOptions& options, uint64_t number,
                         const std::vector<std::string>& records) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  std::string bytes;
  EXPECT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok());
  wal::LogWriter writer(std::move(file), number, options);
  for (const std::string& record : records) EXPECT_TRUE(writer.AddRecord(record).ok());
  EXPECT_TRUE(writer.Close().ok());
  EXPECT_TRUE(ReadFileToString(&fs, "/log", UINT64_MAX, &bytes).ok());
  return bytes;
}

TEST(LogFraming, WritesTheKnownBytesOfRecyclableLogs) {
  wal::LogWriterOptions options;
  options.recyclable = true;
  EXPECT_EQ(LogBytesWith(options, 16, {FromHex("e903000000000000 01000000 01 026b31 027631")}),
            FromHex("c4d2dc72 1300 05 10000000 e903000000000000 01000000 01 026b31 027631"));
}

TEST(LogFraming, WritesTheKnownBytesOfCompressedLogs) {
  if (!CodecSupported(kZSTD)) GTEST_SKIP();
  wal::LogWriterOptions options;
  options.compression = kZSTD;
  const std::string log =
      LogBytesWith(options, 1, {FromHex("0100000000000000 01000000 01 026b31 027631")});
  EXPECT_EQ(log.substr(0, 11), FromHex("e12c08f8 0400 09 07000000"));
  EXPECT_EQ(log[17], 1) << "a full fragment";
  EXPECT_EQ(log.substr(18, 5), FromHex("28b52ffd 24")) << "one segment, with size and checksum";
}

TEST(LogFraming, EveryKindOfLogIsReadBack) {
  const std::vector<std::string> records = {Patterned(100, 'a'), "",
                                            Patterned(5 * wal::kBlockBytes, 'A'),
                                            Patterned(wal::kBlockBytes - 40, 'b'), "end"};
  for (const bool recyclable : {false, true}) {
    for (const CompressionType codec : {kNoCompression, kZSTD}) {
      if (codec == kZSTD && !CodecSupported(kZSTD)) continue;
      wal::LogWriterOptions options;
      options.recyclable = recyclable;
      options.compression = codec;
      const LogContents log = ReadLogBytes(LogBytesWith(options, 1, records));
      EXPECT_EQ(log.records, records) << recyclable << " " << int{codec};
      EXPECT_FALSE(log.damaged()) << recyclable << " " << int{codec};
    }
  }
}

TEST(LogFraming, EmptyLogAndEmptyRecords) {
  EXPECT_THAT(ReadLogBytes("").records, IsEmpty());
  EXPECT_FALSE(ReadLogBytes("").damaged());
  EXPECT_THAT(ReadLogBytes(LogBytes({"", "x", ""})).records, ElementsAre("", "x", ""));
}

// The first record ends at every distance from the end of a block that matters, and the second is
// short, as long as what is left, or over several blocks.
TEST(LogFraming, SurvivesEveryDistanceFromTheEndOfABlock) {
  for (size_t left = 0; left <= 40; left++) {
    const std::string first = Patterned(wal::kBlockBytes - wal::kHeaderBytes - left, 'a');
    for (size_t size : {size_t{0}, size_t{1}, left, size_t{100}, size_t{3} * wal::kBlockBytes}) {
      const std::vector<std::string> records = {first, Patterned(size, 'A'), "end"};
      const std::string bytes = LogBytes(records);
      for (WALRecoveryMode mode : kModes) {
        const LogContents log = ReadLogBytes(bytes, mode);
        ASSERT_EQ(log.records, records) << "left " << left << " size " << size;
        ASSERT_FALSE(log.damaged()) << log.damage.reason;
        ASSERT_FALSE(log.damage.hole);
        ASSERT_EQ(log.ends.back(), bytes.size());
      }
    }
  }
}

TEST(LogFraming, FillsTheEndOfABlockWithZerosWhenNoHeaderFits) {
  const std::string first(wal::kBlockBytes - wal::kHeaderBytes - 6, 'x');
  const std::string bytes = LogBytes({first, "y"});
  EXPECT_EQ(bytes.size(), wal::kBlockBytes + wal::kHeaderBytes + 1);
  EXPECT_EQ(bytes.substr(wal::kBlockBytes - 6, 6), std::string(6, '\0'));
}

TEST(LogFraming, WritesAnEmptyFirstFragmentWhenJustAHeaderFits) {
  const std::string first(wal::kBlockBytes - 2 * wal::kHeaderBytes, 'x');
  const std::string bytes = LogBytes({first, "y"});
  EXPECT_EQ(bytes.substr(wal::kBlockBytes - wal::kHeaderBytes + 4, 3), FromHex("0000 02"));
  EXPECT_THAT(ReadLogBytes(bytes).records, ElementsAre(first, "y"));
}

TEST(LogFraming, AnEmptyFirstFragmentMayBeBegunAnew) {
  const std::string bytes = PhysicalRecord(wal::kFirstType, "") +
                            PhysicalRecord(wal::kFirstType, "a") +
                            PhysicalRecord(wal::kLastType, "b");
  EXPECT_THAT(ReadLogBytes(bytes).records, ElementsAre("ab"));
  EXPECT_FALSE(ReadLogBytes(bytes).damaged());
}

TEST(LogFraming, RecordsLargerThanTheReadersBuffer) {
  const std::vector<std::string> records = {Patterned(1 << 20, 'a'), "b", Patterned(3 << 18, 'c')};
  EXPECT_EQ(ReadLogBytes(LogBytes(records)).records, records);
}

TEST(LogFraming, ReadsRecyclableRecords) {
  const std::string record =
      FromHex("c4d2dc72 1300 05 10000000 e903000000000000 01000000 01026b31027631");
  LogContents log = ReadLogBytes(record, WALRecoveryMode::kAbsoluteConsistency, 16);
  EXPECT_THAT(log.records, ElementsAre(FromHex("e903000000000000 01000000 01026b31027631")));
  EXPECT_FALSE(log.damaged());
}

TEST(LogFraming, ARecordOfAnotherLogEndsARecycledOne) {
  const std::string bytes = PhysicalRecord(5, "mine", 16, true) +
                            PhysicalRecord(5, "stale", 15, true) +
                            PhysicalRecord(5, "mine?", 16, true);
  for (WALRecoveryMode mode : kModes) {
    const LogContents log = ReadLogBytes(bytes, mode, 16);
    EXPECT_THAT(log.records, ElementsAre("mine"));
    EXPECT_FALSE(log.damaged());
  }
}

TEST(LogFraming, WhatFollowsInARecycledLogCountsAsItsTail) {
  const std::string bytes = PhysicalRecord(5, "mine", 16, true) + std::string(40, 'g');
  EXPECT_THAT(ReadLogBytes(bytes, kModes[0], 16).records, ElementsAre("mine"));
  EXPECT_TRUE(ReadLogBytes(bytes, kModes[0], 16).damage.torn_tail);
}

TEST(LogFraming, AManifestHasNoRecyclableRecords) {
  const LogContents log = ReadLogBytes(PhysicalRecord(5, "x", 16, true), kModes[0], 0);
  EXPECT_TRUE(log.damaged());
  EXPECT_FALSE(log.damage.torn_tail);
}

TEST(LogFraming, SkipsRecordsThatMayBeIgnored) {
  const std::string bytes =
      FromHex("7868574a 1800 82 0400000000000000 6e0f000000000000 3200000000000000") +
      PhysicalRecord(wal::kFullType, "a") + PhysicalRecord(0x84, "from the future") +
      PhysicalRecord(0x85, "with a log number", 1, true) + PhysicalRecord(wal::kFullType, "b");
  const LogContents log = ReadLogBytes(bytes, WALRecoveryMode::kAbsoluteConsistency);
  EXPECT_THAT(log.records, ElementsAre("a", "b"));
  EXPECT_FALSE(log.damaged());
}

TEST(LogFraming, RefusesRecordsThatMayNotBeIgnored) {
  for (uint8_t type : {12, 20, 126}) {
    const LogContents log = ReadLogBytes(PhysicalRecord(type, "?"));
    EXPECT_THAT(log.damage.reason, HasSubstr("unknown type"));
  }
}

TEST(LogFraming, TheZerosBeforeAnUncutRecordAreNoHole) {
  std::string bytes = PhysicalRecord(wal::kFullType, std::string(30000, 'x'));
  bytes.resize(wal::kBlockBytes, '\0');
  bytes += PhysicalRecord(wal::kPredecessorWalInfoType, std::string(24, 'p'));
  bytes += PhysicalRecord(wal::kFullType, "y");
  const LogContents log = ReadLogBytes(bytes, WALRecoveryMode::kAbsoluteConsistency);
  EXPECT_EQ(log.records.size(), 2u);
  EXPECT_FALSE(log.damage.hole);
}

TEST(LogFraming, ReadsCompressedLogs) {
  if (!CodecSupported(kZSTD)) GTEST_SKIP();
  const std::string bytes = FromHex(
      "e12c08f8 0400 09 07000000"
      "eda68c8d 2000 01 28b52ffd 241399000001000000000000000100000001026b3102763181f1b6bd");
  const LogContents log = ReadLogBytes(bytes);
  EXPECT_TRUE(log.io_status.ok()) << log.io_status.ToString();
  EXPECT_THAT(log.records, ElementsAre(FromHex("0100000000000000 01000000 01026b31027631")));
}

TEST(LogFraming, RefusesUnknownCompressionByNumber) {
  const LogContents log = ReadLogBytes(PhysicalRecord(9, std::string("\x04\0\0\0", 4)));
  EXPECT_TRUE(log.io_status.IsNotSupported()) << log.io_status.ToString();
  EXPECT_THAT(log.io_status.ToString(), HasSubstr("type 4"));
}

TEST(LogFraming, GarbageInsteadOfAFrameIsDamage) {
  if (!CodecSupported(kZSTD)) GTEST_SKIP();
  const std::string bytes =
      PhysicalRecord(9, std::string("\x07\0\0\0", 4)) + PhysicalRecord(wal::kFullType, "no frame");
  EXPECT_TRUE(ReadLogBytes(bytes).damaged());
}

TEST(LogFraming, AReadErrorIsNotTheEnd) {
  auto mem = std::make_shared<MemFileSystem>();
  FaultFileSystem fs(mem);
  std::unique_ptr<WritableFileWriter> file;
  ASSERT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok());
  wal::LogWriter writer(std::move(file), 1);
  ASSERT_TRUE(writer.AddRecord(std::string(600 << 10, 'x')).ok());
  ASSERT_TRUE(writer.Close().ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.nth = 2;
  rule.sticky = true;
  fs.Inject(rule);
  for (WALRecoveryMode mode : kModes) {
    const LogContents log = ReadLog(&fs, "/log", mode, 1);
    EXPECT_TRUE(log.io_status.IsIOError());
    EXPECT_FALSE(log.damaged());
  }
}

TEST(LogFraming, AFailedAppendOrSyncIsFinal) {
  for (FaultCall call : {FaultCall::kWrite, FaultCall::kSync}) {
    FaultFileSystem fs(std::make_shared<MemFileSystem>());
    std::unique_ptr<WritableFileWriter> file;
    ASSERT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok());
    wal::LogWriter writer(std::move(file), 1);
    ASSERT_TRUE(writer.AddRecord("a").ok());
    FaultRule rule;
    rule.calls = Only(call);
    fs.Inject(rule);
    IOStatus s = writer.AddRecord("b");
    if (s.ok()) s = writer.Sync(false);
    EXPECT_FALSE(s.ok());
    fs.ClearFaults();
    EXPECT_FALSE(writer.AddRecord("c").ok());
    EXPECT_FALSE(writer.Sync(false).ok());
  }
}

}  // namespace
}  // namespace varve
