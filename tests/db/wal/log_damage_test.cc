// SPDX-License-Identifier: Apache-2.0

// Tests what each recovery mode does with each kind of damage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/db/wal/log_test_file.h"
#include "tests/harness/environment.h"

namespace varve {
namespace {

using ::testing::ElementsAre;

enum class Verdict {
  kClean,    // no damage noted
  kTorn,     // the log just ends too early: only absolute consistency minds
  kCorrupt,  // damage that only point-in-time and skipping open with
};

struct DamageCase {
  const char* name;
  std::string bytes;
  Verdict verdict;
  std::vector<std::string> before;   // records up to the damage
  std::vector<std::string> skipped;  // records without the damaged ones
};

std::string Big(char c) {
  return std::string(40000, c);
}

// Returns three records that share a block.
std::string Three() {
  return LogBytes({"aaaa", "bbbb", "cccc"});
}
constexpr size_t kSmall = wal::kHeaderBytes + 4;

std::string Flipped(std::string bytes, size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
  return bytes;
}

std::vector<DamageCase> Cases() {
  const std::string padded_block = Three() + std::string(wal::kBlockBytes - 3 * kSmall, '\0');
  const std::string next_block =
      LogBytes({"aaaa", std::string(wal::kBlockBytes - 20, 'b'), "cccc"});
  return {
      {"body cut",
       Three().substr(0, 3 * kSmall - 1),
       Verdict::kTorn,
       {"aaaa", "bbbb"},
       {"aaaa", "bbbb"}},
      {"header cut",
       Three().substr(0, 2 * kSmall + 3),
       Verdict::kTorn,
       {"aaaa", "bbbb"},
       {"aaaa", "bbbb"}},
      {"cut between records",
       Three().substr(0, 2 * kSmall),
       Verdict::kClean,
       {"aaaa", "bbbb"},
       {"aaaa", "bbbb"}},
      {"fragments cut inside one",
       LogBytes({"aaaa", Big('b')}).substr(0, 35000),
       Verdict::kTorn,
       {"aaaa"},
       {"aaaa"}},
      {"fragments cut between two",
       LogBytes({"aaaa", Big('b')}).substr(0, wal::kBlockBytes),
       Verdict::kTorn,
       {"aaaa"},
       {"aaaa"}},
      {"checksum of the last",
       Flipped(Three(), 3 * kSmall - 1),
       Verdict::kCorrupt,
       {"aaaa", "bbbb"},
       {"aaaa", "bbbb"}},
      {"checksum in the middle",
       Flipped(Three(), 2 * kSmall - 1),
       Verdict::kCorrupt,
       {"aaaa"},
       {"aaaa"}},
      {"checksum, good record in the next block",
       Flipped(next_block, kSmall + 20),
       Verdict::kCorrupt,
       {"aaaa"},
       {"aaaa", "cccc"}},
      {"zeros to the end",
       Three() + std::string(100, '\0'),
       Verdict::kClean,
       {"aaaa", "bbbb", "cccc"},
       {"aaaa", "bbbb", "cccc"}},
      {"a few zeros at the end",
       Three() + std::string(3, '\0'),
       Verdict::kClean,
       {"aaaa", "bbbb", "cccc"},
       {"aaaa", "bbbb", "cccc"}},
      {"zeros over several blocks",
       Three() + std::string(100000, '\0'),
       Verdict::kClean,
       {"aaaa", "bbbb", "cccc"},
       {"aaaa", "bbbb", "cccc"}},
      {"zeros to the end of the block",
       padded_block + PhysicalRecord(wal::kFullType, "dddd"),
       Verdict::kClean,
       {"aaaa", "bbbb", "cccc", "dddd"},
       {"aaaa", "bbbb", "cccc", "dddd"}},
      {"zeros, then data in the block",
       LogBytes({"aaaa"}) + std::string(50, '\0') + PhysicalRecord(wal::kFullType, "cccc"),
       Verdict::kCorrupt,
       {"aaaa"},
       {"aaaa"}},
      {"length flipped, whole records behind",
       Flipped(Three(), kSmall + 5),
       Verdict::kCorrupt,
       {"aaaa"},
       {"aaaa"}},
      {"length past the block",
       Flipped(padded_block, kSmall + 5),
       Verdict::kCorrupt,
       {"aaaa"},
       {"aaaa"}},
      {"start missing",
       PhysicalRecord(wal::kMiddleType, "m") + PhysicalRecord(wal::kLastType, "l") +
           PhysicalRecord(wal::kFullType, "z"),
       Verdict::kCorrupt,
       {},
       {"z"}},
      {"end missing",
       PhysicalRecord(wal::kFirstType, "f") + PhysicalRecord(wal::kFullType, "z"),
       Verdict::kCorrupt,
       {},
       {"z"}},
      {"type 0 with bytes", PhysicalRecord(wal::kZeroType, "x"), Verdict::kCorrupt, {}, {}},
  };
}

TEST(LogDamage, EachModeOnEachKind) {
  for (const DamageCase& c : Cases()) {
    SCOPED_TRACE(c.name);
    for (WALRecoveryMode mode :
         {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
          WALRecoveryMode::kPointInTimeRecovery}) {
      const LogContents log = ReadLogBytes(c.bytes, mode);
      EXPECT_TRUE(log.io_status.ok());
      EXPECT_EQ(log.records, c.before);
      EXPECT_EQ(log.damaged(), c.verdict != Verdict::kClean) << log.damage.reason;
      EXPECT_EQ(log.damage.torn_tail, c.verdict == Verdict::kTorn) << log.damage.reason;
    }
    const LogContents log = ReadLogBytes(c.bytes, WALRecoveryMode::kSkipAnyCorruptedRecords);
    EXPECT_EQ(log.records, c.skipped);
    EXPECT_EQ(log.damaged(), c.verdict != Verdict::kClean);
  }
}

TEST(LogDamage, EveryCutOfALogIsATornTailOrClean) {
  const std::string bytes = LogBytes({"aaaa", Big('b'), "cccc", std::string(70000, 'd'), ""});
  const LogContents whole = ReadLogBytes(bytes);
  for (size_t cut = 0; cut <= bytes.size(); cut += cut % 997 < 20 ? 1 : 37) {
    const LogContents log = ReadLogBytes(bytes.substr(0, cut));
    ASSERT_LE(log.records.size(), whole.records.size());
    for (size_t i = 0; i < log.records.size(); i++) {
      ASSERT_EQ(log.records[i], whole.records[i]);
      ASSERT_LE(whole.ends[i], cut);
    }
    ASSERT_TRUE(!log.damaged() || log.damage.torn_tail) << cut << " " << log.damage.reason;
  }
}

// A MANIFEST's last record, as a power loss leaves it: each of its sectors kept or zero, the size
// anywhere. Whatever lies where in a sector, headers, zero bytes, a block's end: it is a torn tail.
TEST(LogDamage, AnySectorsOfTheLastManifestRecordMayBeLost) {
  constexpr size_t kSector = 512;
  size_t rounds = 0;
  size_t losses = 0;
  for (uint32_t round = testing::FirstSample(); round < 6000; round += testing::SampleStep()) {
    std::mt19937 random(round);
    rounds++;
    const size_t near = random() % 3 == 0 ? wal::kBlockBytes : kSector * (1 + random() % 4);
    const size_t first = near - wal::kHeaderBytes - random() % (round % 2 == 0 ? 20 : 400);
    std::string last(random() % (round % 50 == 0 ? 3 * wal::kBlockBytes : 3 * kSector), '\0');
    // Mostly zeros, as numbers are.
    for (char& c : last) c = static_cast<char>(random() % 3 == 0 ? random() : 0);
    const std::vector<std::string> synced = {std::string(first, 's')};
    const size_t durable = LogBytes(synced).size();
    std::string bytes = LogBytes({synced[0], last});
    const std::string whole = bytes;
    const uint32_t lost_one_in = 1 + random() % 4;
    for (size_t at = durable; at < bytes.size();) {
      const size_t end = std::min(bytes.size(), at - at % kSector + kSector);
      if (random() % lost_one_in == 0) bytes.replace(at, end - at, end - at, '\0');
      at = end;
    }
    if (random() % 4 == 0) bytes.resize(durable + random() % (bytes.size() - durable));
    const LogContents log =
        ReadLogBytes(bytes, WALRecoveryMode::kTolerateCorruptedTailRecords, /*log_number=*/0);
    ASSERT_TRUE(log.io_status.ok());
    if (bytes == whole) {
      ASSERT_EQ(log.records.size(), 2u);
      continue;
    }
    losses++;
    ASSERT_EQ(log.records, synced) << round;
    const bool clean = !log.damaged() && !log.damage.hole;
    ASSERT_TRUE(clean || log.damage.torn_tail) << round << ": " << log.damage.reason;
  }
  EXPECT_GT(losses, rounds / 2);
}

// Followed by a whole record, which was synced later, the same losses are damage.
TEST(LogDamage, SectorsOfAManifestBeforeItsLastRecordMayNotBeLost) {
  constexpr size_t kSector = 512;
  for (size_t from = 0; from < 3 * kSector; from += kSector) {
    std::string bytes = LogBytes({"aaaa", std::string(3 * kSector, 'b'), "cccc"});
    bytes.replace(from, kSector, kSector, '\0');
    const LogContents log =
        ReadLogBytes(bytes, WALRecoveryMode::kTolerateCorruptedTailRecords, /*log_number=*/0);
    EXPECT_TRUE(log.damaged());
    EXPECT_FALSE(log.damage.torn_tail) << from;
  }
  // Across blocks, too.
  std::string bytes = LogBytes({"aaaa", Big('b'), "cccc"});
  for (size_t from : {size_t{0}, wal::kBlockBytes - kSector, size_t{wal::kBlockBytes}}) {
    std::string lost = bytes;
    lost.replace(from, kSector, kSector, '\0');
    const LogContents log =
        ReadLogBytes(lost, WALRecoveryMode::kTolerateCorruptedTailRecords, /*log_number=*/0);
    EXPECT_TRUE(log.damaged());
    EXPECT_FALSE(log.damage.torn_tail) << from;
  }
}

TEST(LogDamage, CountsWhatIsDroppedFromTheDamageOn) {
  const LogContents log = ReadLogBytes(Flipped(Three(), 2 * kSmall - 1) + std::string(500, '\0'));
  EXPECT_EQ(log.damage.first_bad_offset, kSmall);
  EXPECT_EQ(log.damage.dropped_bytes, 2 * kSmall);
}

TEST(LogDamage, TheDamageOfACutRecordStartsWithItsFirstFragment) {
  const LogContents log = ReadLogBytes(LogBytes({"aaaa", Big('b')}).substr(0, 35000));
  EXPECT_EQ(log.damage.first_bad_offset, kSmall);
  EXPECT_EQ(log.damage.dropped_bytes, 35000 - kSmall);
}

TEST(LogDamage, ZerosBetweenRecordsAreReportedAsAHole) {
  std::string bytes = Three();
  bytes.resize(wal::kBlockBytes, '\0');
  EXPECT_FALSE(ReadLogBytes(bytes).damage.hole);
  EXPECT_TRUE(ReadLogBytes(bytes + PhysicalRecord(wal::kFullType, "d")).damage.hole);
  EXPECT_TRUE(ReadLogBytes(LogBytes({"a"}) + std::string(20, '\0') + "x").damage.hole);
}

TEST(LogDamage, ARecordWhoseMiddleIsZeroIsNotJoined) {
  std::string bytes = LogBytes({"a", std::string(4 * wal::kBlockBytes, 'm'), "b"});
  bytes.replace(2 * wal::kBlockBytes, wal::kBlockBytes, wal::kBlockBytes, '\0');
  const LogContents stopped = ReadLogBytes(bytes);
  EXPECT_EQ(stopped.records, std::vector<std::string>{"a"});
  EXPECT_TRUE(stopped.damage.hole);
  EXPECT_EQ(stopped.damage.reason, "a record without its end");
  const LogContents skipped = ReadLogBytes(bytes, WALRecoveryMode::kSkipAnyCorruptedRecords);
  EXPECT_EQ(skipped.records, (std::vector<std::string>{"a", "b"}));
}

TEST(LogDamage, SkippingResumesAfterARecordThatLostItsStart) {
  // The first fragment of b is damaged; its other two are no damage of their own.
  const std::string bytes = LogBytes({"aaaa", std::string(80000, 'b'), "cccc"});
  const LogContents log =
      ReadLogBytes(Flipped(bytes, kSmall + 100), WALRecoveryMode::kSkipAnyCorruptedRecords);
  EXPECT_THAT(log.records, ElementsAre("aaaa", "cccc"));
  EXPECT_EQ(log.damage.dropped_bytes, bytes.size() - 2 * kSmall);
}

class Recorder : public wal::LogReader::Reporter {
 public:
  void Corruption(size_t bytes, const Status& status) override {
    calls++;
    total += bytes;
    last = status;
  }
  int calls = 0;
  size_t total = 0;
  Status last;
};

TEST(LogDamage, TellsTheReporter) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> writer;
  ASSERT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &writer).ok());
  ASSERT_TRUE(writer->Append(Flipped(Three(), 2 * kSmall - 1)).ok());
  ASSERT_TRUE(writer->Close().ok());
  std::unique_ptr<SequentialFileReader> file;
  ASSERT_TRUE(SequentialFileReader::Open(&fs, "/log", FileOptions(), &file).ok());
  Recorder recorder;
  wal::LogReader reader(std::move(file), 1, "/log", &recorder);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kSkipAnyCorruptedRecords)) {
  }
  EXPECT_EQ(recorder.calls, 1);
  EXPECT_EQ(recorder.total, 2 * kSmall);
  EXPECT_TRUE(recorder.last.IsCorruption());
}

TEST(LogDamage, RandomBytesNeverYieldARecordNorHang) {
  for (uint32_t round = testing::FirstSample(); round < 300; round += testing::SampleStep()) {
    std::mt19937 random(round);
    std::string bytes(random() % 70000, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 16 == 0 ? random() : random() % 6);
    for (int mode = 0; mode < 4; mode++) {
      const LogContents log = ReadLogBytes(bytes, static_cast<WALRecoveryMode>(mode), round % 3);
      ASSERT_TRUE(log.records.empty());
    }
  }
}

TEST(LogDamage, RandomlyDamagedLogsYieldOnlyWhatWasWritten) {
  const std::vector<std::string> records = {"aaaa", Big('b'), "cccc", std::string(90000, 'd'), "e"};
  const std::string good = LogBytes(records);
  for (uint32_t round = testing::FirstSample(); round < 300; round += testing::SampleStep()) {
    std::mt19937 random(round);
    std::string bytes = good;
    for (int n = 0; n < 3; n++) bytes[random() % bytes.size()] = static_cast<char>(random());
    for (int mode = 0; mode < 4; mode++) {
      const LogContents log = ReadLogBytes(bytes, static_cast<WALRecoveryMode>(mode));
      size_t next = 0;
      for (const std::string& record : log.records) {
        while (next < records.size() && records[next] != record) next++;
        ASSERT_LT(next, records.size()) << "a record that was never written, or out of order";
        next++;
      }
      const bool skips = mode == static_cast<int>(WALRecoveryMode::kSkipAnyCorruptedRecords);
      if (!skips) {
        ASSERT_EQ(next, log.records.size()) << "not a prefix";
      }
    }
  }
}

// A record of timestamp sizes that is nonsense may lie within a record that is dropped as a whole.
TEST(LogDamage, EveryByteIsCountedOnce) {
  const std::string start = PhysicalRecord(wal::kFirstType, "begun");
  const std::string nonsense = PhysicalRecord(wal::kTimestampSizeType, "nonsense");
  const std::string last = PhysicalRecord(wal::kFullType, "last");
  const std::string log = start + nonsense + nonsense + last;
  const LogContents contents = ReadLogBytes(log, WALRecoveryMode::kSkipAnyCorruptedRecords);
  EXPECT_EQ(contents.records, std::vector<std::string>{"last"});
  EXPECT_EQ(contents.damage.dropped_bytes, log.size() - last.size());
}

}  // namespace
}  // namespace varve
