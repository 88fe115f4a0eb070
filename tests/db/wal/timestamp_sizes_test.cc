// SPDX-License-Identifier: Apache-2.0

// Tests what a log records about timestamps: the bytes, their place in a block, and how a reader
// takes invalid bytes.

#include "db/wal/timestamp_sizes.h"

#include <gmock/gmock.h>

#include "db/wal/buffered_log.h"
#include "tests/db/wal/mapped_log_harness.h"
#include "util/compress/codec.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Writes each item as a record of the log, or (with a '!' in front) as a payload of timestamp
// sizes.
std::string LogOf(const wal::LogWriterOptions& options, const std::vector<std::string>& items) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  std::string bytes;
  EXPECT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok());
  wal::LogWriter writer(std::move(file), 1, options);
  for (const std::string& item : items) {
    const bool sizes = item[0] == '!';
    EXPECT_TRUE((sizes ? writer.AddTimestampSizes(item.substr(1)) : writer.AddRecord(item)).ok());
  }
  EXPECT_TRUE(writer.Close().ok());
  EXPECT_TRUE(ReadFileToString(&fs, "/log", UINT64_MAX, &bytes).ok());
  return bytes;
}

std::string Sizes(const wal::TimestampSizes& sizes) {
  return "!" + wal::EncodeTimestampSizes(sizes)[0];
}

// The records, and the timestamp sizes known when each was read.
struct Contents {
  std::vector<std::string> records;
  std::vector<wal::TimestampSizes> known;
  wal::TimestampSizes last;
  uint64_t end = 0;
  wal::LogDamage damage;
};

Contents ReadBack(const std::string& bytes,
                  WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> out;
  EXPECT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &out).ok());
  EXPECT_TRUE(out->Append(bytes).ok());
  EXPECT_TRUE(out->Close().ok());
  std::unique_ptr<SequentialFileReader> file;
  EXPECT_TRUE(SequentialFileReader::Open(&fs, "/log", FileOptions(), &file).ok());
  wal::LogReader reader(std::move(file), 1, "/log", nullptr);
  Contents contents;
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, mode)) {
    contents.records.push_back(record.ToString());
    contents.known.push_back(reader.timestamp_sizes());
  }
  EXPECT_TRUE(reader.io_status().ok());
  contents.last = reader.timestamp_sizes();
  contents.end = reader.LastRecordEnd();
  contents.damage = reader.damage();
  return contents;
}

TEST(TimestampSizes, TheKnownBytes) {
  const std::string known = FromHex("da5ab0bc 0600 0a 00000000 0800");
  EXPECT_EQ(Slice(LogOf({}, {Sizes({{0, 8}})})).ToString(true), Slice(known).ToString(true));
  EXPECT_THAT(ReadBack(known).last, ElementsAre(Pair(0, 8)));
  wal::LogWriterOptions numbered;
  numbered.recyclable = true;
  const std::string bytes = LogOf(numbered, {Sizes({{0, 8}})});
  EXPECT_EQ(bytes, PhysicalRecord(11, FromHex("00000000 0800"), 1, true));
  EXPECT_THAT(ReadBack(bytes).last, ElementsAre(Pair(0, 8)));
}

TEST(TimestampSizes, ApplyToLaterRecords) {
  for (const bool recyclable : {false, true}) {
    for (const CompressionType codec : {kNoCompression, kZSTD}) {
      if (codec == kZSTD && !CodecSupported(kZSTD)) continue;
      wal::LogWriterOptions options;
      options.recyclable = recyclable;
      options.compression = codec;
      for (const bool first : {false, true}) {
        std::vector<std::string> items = {"a", Sizes({{0, 8}, {7, 16}}), "b", Sizes({{3, 8}}), "c"};
        if (first) items.erase(items.begin());
        const Contents log = ReadBack(LogOf(options, items));
        ASSERT_FALSE(log.damage.hole);
        ASSERT_EQ(log.damage.reason, "");
        ASSERT_EQ(log.records.size(), first ? 2u : 3u);
        if (!first) {
          EXPECT_THAT(log.known[0], IsEmpty());
        }
        EXPECT_THAT(log.known[log.known.size() - 2], ElementsAre(Pair(0, 8), Pair(7, 16)));
        EXPECT_THAT(log.known.back(), ElementsAre(Pair(0, 8), Pair(3, 8), Pair(7, 16)));
      }
    }
  }
}

// A log may end with one: recovery compares that end with what the next log's mark says.
TEST(TimestampSizes, CountAsTheLogsEnd) {
  const std::string bytes = LogOf({}, {"a", Sizes({{0, 8}})});
  EXPECT_EQ(ReadBack(bytes).end, bytes.size());
  // It is refused in the middle of a record that has no end.
  const std::string open = PhysicalRecord(wal::kFirstType, "bb");
  EXPECT_EQ(ReadBack(open + bytes.substr(8)).end, 0u);
}

TEST(TimestampSizes, AreNeverCut) {
  const size_t whole = 7 + 6;
  for (size_t left = 0; left <= 2 * whole; left++) {
    SCOPED_TRACE(left);
    const std::string first(wal::kBlockBytes - wal::kHeaderBytes - left, 'a');
    const std::string bytes = LogOf({}, {first, Sizes({{9, 8}}), "b"});
    const size_t at = left < whole ? wal::kBlockBytes : wal::kBlockBytes - left;
    ASSERT_EQ(bytes.substr(at, whole), LogOf({}, {Sizes({{9, 8}})}));
    const Contents log = ReadBack(bytes);
    EXPECT_THAT(log.records, ElementsAre(first, "b"));
    EXPECT_THAT(log.known[1], ElementsAre(Pair(9, 8)));
    EXPECT_FALSE(log.damage.hole);
    MappedLogOnDisk disk;
    ASSERT_TRUE(disk.Add(first).ok());
    ASSERT_TRUE(disk.log->AddTimestampSizes(Sizes({{9, 8}}).substr(1)).ok());
    EXPECT_EQ(disk.log->size(), at + whole);
    ASSERT_TRUE(disk.Add("b").ok());
    ASSERT_TRUE(disk.log->Sync(false).ok());
    ASSERT_TRUE(disk.log->Close().ok());
    EXPECT_TRUE(disk.Bytes() == bytes);
  }
}

TEST(TimestampSizes, ABufferedLogPutsThemInOrder) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  ASSERT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok());
  wal::BufferedLog log(
      std::make_unique<wal::LogWriter>(std::move(file), 1, wal::LogWriterOptions()));
  ASSERT_TRUE(log.AddTimestampSizes(Sizes({{9, 8}}).substr(1)).ok());
  wal::LogReservation place;
  ASSERT_TRUE(log.Reserve(1, &place).ok());
  log.Fill(place, "a");
  ASSERT_TRUE(log.WaitWhole(place).ok());
  ASSERT_TRUE(log.AddTimestampSizes(Sizes({{4, 8}}).substr(1)).ok());
  ASSERT_TRUE(log.Close().ok());
  std::string bytes;
  ASSERT_TRUE(ReadFileToString(&fs, "/log", UINT64_MAX, &bytes).ok());
  EXPECT_EQ(bytes, LogOf({}, {Sizes({{9, 8}}), "a", Sizes({{4, 8}})}));
}

TEST(TimestampSizes, ManyFamiliesTakeSeveralRecords) {
  wal::TimestampSizes sizes;
  for (uint32_t family = 0; family < 3000; family++) sizes[family * 3] = 1 + family % 9;
  std::vector<std::string> items;
  for (const std::string& payload : wal::EncodeTimestampSizes(sizes))
    items.push_back("!" + payload);
  EXPECT_EQ(items.size(), 3u);
  items.push_back("a");
  for (size_t before : {size_t{10}, size_t{28000}}) {
    items.insert(items.begin(), std::string(before, 'x'));
    EXPECT_EQ(ReadBack(LogOf({}, items)).known.back(), sizes);
  }
}

TEST(TimestampSizes, NonsenseIsDamage) {
  const struct {
    const char* reason;
    std::string payload;
  } cases[] = {
      {"of 5 bytes", FromHex("00000000 08")},
      {"of 7 bytes", FromHex("01000000 0800 01")},
      {"column family 1 has size 0", FromHex("02000000 0800 01000000 0000")},
      {"column family 0 is named twice", FromHex("00000000 0800")},
      {"column family 2 is named twice", FromHex("02000000 0800 02000000 0800")},
  };
  const std::string start = LogOf({}, {Sizes({{0, 8}}), "a"});
  for (const auto& c : cases) {
    SCOPED_TRACE(c.reason);
    const std::string bytes = start + PhysicalRecord(10, c.payload) + LogOf({}, {"b"});
    const Contents stopped = ReadBack(bytes);
    EXPECT_THAT(stopped.records, ElementsAre("a"));
    EXPECT_THAT(stopped.damage.reason, HasSubstr(c.reason));
    EXPECT_EQ(stopped.damage.first_bad_offset, start.size());
    EXPECT_FALSE(stopped.damage.torn_tail);
    EXPECT_THAT(stopped.last, ElementsAre(Pair(0, 8)));
    const Contents skipped = ReadBack(bytes, WALRecoveryMode::kSkipAnyCorruptedRecords);
    EXPECT_THAT(skipped.records, ElementsAre("a", "b"));
    EXPECT_THAT(skipped.last, ElementsAre(Pair(0, 8)));
  }
}

}  // namespace
}  // namespace varve
