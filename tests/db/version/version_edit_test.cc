// SPDX-License-Identifier: Apache-2.0

// Edits as bytes.

#include "db/version/version_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/db/wal/log_test_file.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const char kComparator[] = "01 1a 6c6576656c64622e4279746577697365436f6d70617261746f72";

std::string Encoded(const VersionEdit& edit) {
  std::string bytes;
  EXPECT_TRUE(edit.EncodeTo(&bytes));
  return bytes;
}

// Records of other writers, byte for byte.
struct Golden {
  const char* name;
  std::string hex;
};

std::vector<Golden> GoldenRecords() {
  const std::string comparator = kComparator;
  return {
      {"comparator", comparator},
      {"log and sequence", "0200 0400"},
      {"counters", "0900 0306 0400"},
      {"flush",
       "0208 0900 030a 0402 67 0009 fa07 0a6b310101000000000000 0a6b320102000000000000 0102"
       "0505c8e281d806 0605c8e281d806 0700 0807556e6b6e6f776e 0c107ad8955e31560a45fa06cd7cfcfb8990"
       "01"},
      {"min log", "0900 030a 0a08 0402"},
      {"family add", comparator + "020c 030e 04ac02 c80101 c9010563666f6e65"},
      {"family drop", "0314 cb0102 04ad02 c80102 ca01"},
      {"compaction start", "0900 0317 04ad02 060009 06000b 06000d"},
      {"db id", "8140 24 36393362376261642d633464642d343236622d623930322d646436373830326235623030"},
  };
}

TEST(VersionEditGolden, DecodesAndEncodesTheSameBytes) {
  for (const Golden& golden : GoldenRecords()) {
    SCOPED_TRACE(golden.name);
    const std::string bytes = FromHex(golden.hex);
    VersionEdit edit;
    ASSERT_TRUE(edit.DecodeFrom(bytes).ok());
    EXPECT_EQ(Slice(Encoded(edit)).ToString(true), Slice(bytes).ToString(true));
  }
}

TEST(VersionEditGolden, TheFlushRecordsFields) {
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(FromHex(GoldenRecords()[3].hex)).ok());
  EXPECT_EQ(edit.log_number, 8u);
  EXPECT_EQ(edit.numbers.next_file, 10u);
  EXPECT_EQ(edit.numbers.last_sequence, 2u);
  ASSERT_EQ(edit.new_files.size(), 1u);
  const NewFile& file = edit.new_files[0];
  EXPECT_EQ(file.level, 0);
  EXPECT_EQ(file.number, 9u);
  EXPECT_EQ(file.size, 1018u);
  EXPECT_EQ(file.smallest, InternalKey("k1", 1, kTypeValue));
  EXPECT_EQ(file.largest, InternalKey("k2", 2, kTypeValue));
  EXPECT_EQ(file.smallest_seq, 1u);
  EXPECT_EQ(file.largest_seq, 2u);
  EXPECT_EQ(file.times.oldest_ancestor, file.times.created);
  EXPECT_EQ(file.checksum.function, "Unknown");
  EXPECT_EQ(Slice(file.unique_id).ToString(true), "7AD8955E31560A45FA06CD7CFCFB8990");
  EXPECT_EQ(file.epoch_number, kUnknownEpochNumber);
}

TEST(VersionEditGolden, TheMinimalDirectorysRecord) {
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(FromHex(std::string(kComparator) +
                                      "0205 0306 0402 67 0003 fd02 0a6b310101000000000000"
                                      "0a6b320102000000000000 0102 01"))
                  .ok());
  EXPECT_EQ(edit.family.comparator, "leveldb.BytewiseComparator");
  ASSERT_EQ(edit.new_files.size(), 1u);
  EXPECT_EQ(edit.new_files[0].size, 381u);
}

TEST(VersionEdit, SkipsWhatMayBeIgnored) {
  VersionEdit edit;
  const std::string hex = std::string(kComparator) +
                          "89400101"          // timestamps persisted
                          "8740 04 04023101"  // log addition
                          "8840 01 05"        // log deletion
                          "8b40 02 ffff"      // last compacted size
                          "ff7f 03 aabbcc"    // unknown, with bit 13
                          "8440 04 02 31 01"  // log addition, without a length
                          "8540 07"           // log deletion, without a length
                          "0402";
  ASSERT_TRUE(edit.DecodeFrom(FromHex(hex)).ok());
  EXPECT_EQ(edit.numbers.last_sequence, 2u);
}

TEST(VersionEdit, AnEmptyRecordIsLegal) {
  VersionEdit edit;
  EXPECT_TRUE(edit.DecodeFrom("").ok());
  EXPECT_EQ(Encoded(edit), "");
}

const char kFileHead[] = "67 0009 fa07 0a6b310101000000000000 0a6b320102000000000000 0102";

TEST(VersionEdit, RefusesWhatMayNotBeIgnored) {
  const std::pair<const char*, std::string> cases[] = {
      {"unknown tag", "0b 00"},
      {"tag without the ignorable bit", "ad02 00"},
      {"unknown custom field with bit 6", std::string(kFileHead) + "42 00 01"},
      {"short boundary key", "67 0009 fa07 07 00000000000000 0a6b320102000000000000 0102 01"},
      {"path id 4", std::string(kFileHead) + "41 01 04 01"},
      {"unique id of 15 bytes", std::string(kFileHead) + "0c 0f 000000000000000000000000000000 01"},
      {"level out of range", "06 8002 01"},
      {"no end of custom fields", std::string(kFileHead) + "05 01 00"},
      {"empty timestamp", "8640 00"},
      {"sequence over 56 bits", "04 ffffffffffffffffff01"},
  };
  for (const auto& [name, hex] : cases) {
    VersionEdit edit;
    const Status s = edit.DecodeFrom(FromHex(hex));
    EXPECT_TRUE(s.IsCorruption()) << name;
    EXPECT_THAT(s.ToString(), HasSubstr("byte"));
  }
}

// RocksDB 7.8.3 wrote these bytes when it flushed k1=hello, k2=abc and k3=world! with min_blob_size
// 4, and when it compacted after k1 was overwritten and k3 deleted.
TEST(VersionEditGolden, BlobFilesAndTheirGarbage) {
  VersionEdit edit;
  const std::string addition = FromHex("9003 0a 02 4f 00 00 00");
  ASSERT_TRUE(edit.DecodeFrom(addition).ok());
  EXPECT_THAT(edit.new_blob_files, ElementsAre(BlobFileFacts{10, 2, 0x4f, {}}));
  EXPECT_EQ(edit.new_blob_files[0].FileSize(), 141u);
  EXPECT_EQ(Slice(Encoded(edit)).ToString(true), Slice(addition).ToString(true));
  const std::string garbage = FromHex("9103 0a 02 4f 00");
  ASSERT_TRUE(edit.DecodeFrom(garbage).ok());
  EXPECT_THAT(edit.blob_garbage, ElementsAre(BlobGarbage{10, 2, 0x4f}));
  EXPECT_EQ(Slice(Encoded(edit)).ToString(true), Slice(garbage).ToString(true));
  const std::string flush = FromHex(
      "0205 0900 030b 0403 67 0008 fa07 0a6b311101000000000000 0a6b331103000000000000 0103"
      "0505cddeb2d806 0601 00 0700 0807556e6b6e6f776e 040109"
      "0c10aa5da454eaef7f179e82d4bd6b15f72e 01 9003 09 02 4f 00 00 00");
  ASSERT_TRUE(edit.DecodeFrom(flush).ok());
  ASSERT_EQ(edit.new_files.size(), 1u);
  EXPECT_EQ(edit.new_files[0].oldest_blob_file_number, 9u);
  EXPECT_EQ(edit.new_blob_files.size(), 1u);
  EXPECT_THAT(edit.DebugString(false), HasSubstr("blob file 9 of 2 values"));
}

TEST(VersionEdit, BlobFilesInOlderAndNewerForms) {
  VersionEdit edit;
  // The old numbers of both tags, and fields that may be skipped.
  ASSERT_TRUE(
      edit.DecodeFrom(FromHex("8240 05 01 02 00 00 02 01 ff 00 8340 05 01 02 03 00 00")).ok());
  EXPECT_THAT(edit.new_blob_files, ElementsAre(BlobFileFacts{5, 1, 2, {}}));
  EXPECT_THAT(edit.blob_garbage, ElementsAre(BlobGarbage{5, 1, 2}));
  ASSERT_TRUE(edit.DecodeFrom(FromHex("9003 05 01 02 03 637263 04 01020304 00")).ok());
  EXPECT_EQ(edit.new_blob_files[0].checksum.function, "crc");
  EXPECT_EQ(edit.new_blob_files[0].checksum.value, "\1\2\3\4");
  EXPECT_EQ(Encoded(edit), FromHex("9003 05 01 02 03 637263 04 01020304 00"));
  EXPECT_FALSE(edit.new_blob_files[0].referred_once);
  // Our own field, which RocksDB skips.
  ASSERT_TRUE(edit.DecodeFrom(FromHex("9003 05 01 02 00 00 8120 00 00")).ok());
  EXPECT_TRUE(edit.new_blob_files[0].referred_once);
  EXPECT_EQ(Encoded(edit), FromHex("9003 05 01 02 00 00 8120 00 00"));
  for (const char* bad : {"9003 05 01 02 00 00 42 00 00", "9103 05 01 02 42 00 00", "9003 05 01",
                          "9003 05 01 02 00 00", "9103 05 01 02", "9003 05 01 02 01 61 00 00"}) {
    EXPECT_TRUE(edit.DecodeFrom(FromHex(bad)).IsCorruption()) << bad;
  }
}

TEST(VersionEdit, ReferencesToBlobFilesSurviveARoundTrip) {
  NewFile file;
  file.number = 7;
  file.smallest = file.largest = InternalKey("a", 1, kTypeBlobIndex);
  file.oldest_blob_file_number = 3;
  file.blob_shares = {{3, 1, 40}, {9, 200, uint64_t{1} << 40}};
  VersionEdit edit;
  edit.new_files = {file};
  VersionEdit again;
  const std::string bytes = Encoded(edit);
  ASSERT_TRUE(again.DecodeFrom(bytes).ok());
  EXPECT_EQ(again.new_files[0].oldest_blob_file_number, 3u);
  EXPECT_EQ(again.new_files[0].blob_shares, file.blob_shares);
  const std::vector<BlobShare> kept = file.blob_shares;
  const std::vector<std::vector<BlobShare>> wrong = {
      {{3, 0, 40}}, {{4, 1, 40}}, {{2, 1, 40}, {3, 1, 40}}};
  for (const std::vector<BlobShare>& shares : wrong) {
    edit.new_files[0].blob_shares = shares;
    EXPECT_TRUE(VersionEdit().DecodeFrom(Encoded(edit)).IsCorruption());
  }
  edit.new_files[0].blob_shares = kept;
  edit.new_files[0].oldest_blob_file_number = 0;
  EXPECT_TRUE(VersionEdit().DecodeFrom(Encoded(edit)).IsCorruption());
  edit.new_files[0].oldest_blob_file_number = 3;
  edit.new_files[0].blob_shares[1].file = 3;
  EXPECT_TRUE(again.DecodeFrom(Encoded(edit)).IsCorruption()) << "a file is there twice";
}

TEST(VersionEdit, OlderFileForms) {
  VersionEdit edit;
  ASSERT_TRUE(
      edit.DecodeFrom(FromHex("07 0009 fa07 0a6b310101000000000000 0a6b320102000000000000")).ok());
  EXPECT_FALSE(edit.new_files[0].seqs_known);
  ASSERT_TRUE(
      edit.DecodeFrom(FromHex("64 0009 fa07 0a6b310101000000000000 0a6b320102000000000000 0102"))
          .ok());
  EXPECT_TRUE(edit.new_files[0].seqs_known);
  ASSERT_TRUE(
      edit.DecodeFrom(FromHex("66 0009 01 fa07 0a6b310101000000000000 0a6b320102000000000000 0102"))
          .ok());
  EXPECT_EQ(edit.new_files[0].path_id, 1u);
}

VersionEdit Everything() {
  VersionEdit edit;
  edit.column_family = 7;
  edit.db_id = "an id";
  edit.family.comparator = "c";
  edit.log_number = 1;
  edit.numbers.prev_log = 0;
  edit.numbers.next_file = uint64_t{1} << 40;
  edit.numbers.last_sequence = kMaxSequenceNumber;
  edit.numbers.min_log_to_keep = 3;
  edit.numbers.max_column_family = 9;
  edit.family.full_history_ts_low = "ts";
  edit.family.merge_operator = "Append";
  edit.gone_tables = {1, uint64_t{1} << 50};
  edit.unread_logs = {{3, 9}, {9, uint64_t{1} << 40}};
  edit.ttl_clock = uint64_t{1} << 33;
  edit.atomic_group_remaining = 4;
  edit.deleted_files = {{0, 5}, {6, uint64_t{1} << 50}};
  edit.compact_cursors.emplace_back(2, InternalKey("cursor", 8, kTypeValue));
  NewFile file;
  file.level = 3;
  file.number = 77;
  file.size = 1 << 20;
  file.smallest = InternalKey("", 10, kTypeDeletion);
  file.largest = InternalKey(std::string("z\0z", 3), kMaxSequenceNumber, kTypeRangeDeletion);
  file.smallest_seq = 3;
  file.largest_seq = 10;
  file.marked_for_compaction = true;
  file.epoch_number = 12;
  file.times.oldest_ancestor = 1;
  file.times.created = 2;
  file.times.newest = 3;
  file.tail_size = 300;
  file.unique_id = "0123456789abcdef";
  file.checksum.value = std::string("\0\1", 2);
  file.checksum.function = "sum";
  file.temperature = Temperature::kWarm;
  file.path_id = 2;
  file.counts = {1000, 200, 3, 40000, uint64_t{1} << 40, 70, true};
  edit.new_files = {file, file};
  return edit;
}

TEST(VersionEdit, EveryFieldSurvivesARoundTrip) {
  const std::string bytes = Encoded(Everything());
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(bytes).ok());
  EXPECT_EQ(Encoded(edit), bytes);
  EXPECT_THAT(edit.deleted_files, ElementsAre(Pair(0, 5), Pair(6, uint64_t{1} << 50)));
  EXPECT_EQ(edit.family.full_history_ts_low, "ts");
  EXPECT_EQ(edit.family.merge_operator, "Append");
  EXPECT_THAT(edit.gone_tables, ElementsAre(1, uint64_t{1} << 50));
  EXPECT_THAT(edit.unread_logs, ElementsAre(Pair(3, 9), Pair(9, uint64_t{1} << 40)));
  EXPECT_EQ(edit.ttl_clock, uint64_t{1} << 33);
  EXPECT_EQ(edit.atomic_group_remaining, 4u);
  EXPECT_EQ(edit.column_family, 7u);
  const NewFile& file = edit.new_files.at(1);
  EXPECT_TRUE(file.marked_for_compaction);
  EXPECT_EQ(file.epoch_number, 12u);
  EXPECT_EQ(file.times.newest, 3u);
  EXPECT_EQ(file.tail_size, 300u);
  EXPECT_EQ(file.unique_id, "0123456789abcdef");
  EXPECT_EQ(file.temperature, Temperature::kWarm);
  EXPECT_EQ(file.path_id, 2u);
  EXPECT_EQ(file.counts, Everything().new_files[0].counts);
  EXPECT_EQ(file.largest.type(), kTypeRangeDeletion);
  EXPECT_THAT(edit.DebugString(true), HasSubstr("L3 77"));
}

TEST(VersionEdit, UnknownChecksumsAreLeftOut) {
  NewFile file = Everything().new_files[0];
  file.checksum.function.clear();
  file.checksum.value.clear();
  VersionEdit edit;
  edit.new_files = {file};
  VersionEdit again;
  ASSERT_TRUE(again.DecodeFrom(Encoded(edit)).ok());
  EXPECT_EQ(again.new_files[0].checksum.function, "");
}

TEST(VersionEdit, AFileWithoutBoundsIsNotEncoded) {
  VersionEdit edit = Everything();
  edit.new_files[1].largest.Clear();
  std::string bytes;
  EXPECT_FALSE(edit.EncodeTo(&bytes));
}

TEST(VersionEdit, EveryCutAndEveryFlippedByteIsHandled) {
  const std::string bytes = Encoded(Everything());
  for (size_t cut = 0; cut < bytes.size(); cut++) {
    // Uses memory of exactly this size, so that a sanitizer sees a read after its end.
    const std::vector<char> exact(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(cut));
    VersionEdit edit;
    edit.DecodeFrom(Slice(exact.data(), exact.size())).PermitUncheckedError();
    for (int bit = 0; bit < 8; bit++) {
      std::string flipped = bytes;
      flipped[cut] = static_cast<char>(flipped[cut] ^ (1 << bit));
      edit.DecodeFrom(flipped).PermitUncheckedError();
    }
  }
}

TEST(VersionEdit, RandomBytesNeverCrash) {
  std::mt19937 random(5);
  const char tags[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 100, 102, 103, 65, 12, 13, '\x81', '\x40'};
  for (int round = 0; round < 20000; round++) {
    std::vector<char> bytes(random() % 80);
    for (char& c : bytes) {
      c = random() % 2 == 0 ? tags[random() % sizeof(tags)] : static_cast<char>(random());
    }
    VersionEdit edit;
    if (edit.DecodeFrom(Slice(bytes.data(), bytes.size())).ok()) {
      (void)edit.DebugString(true);
    }
  }
}

}  // namespace
}  // namespace varve
