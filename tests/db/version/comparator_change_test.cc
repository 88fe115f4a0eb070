// SPDX-License-Identifier: Apache-2.0

// Tests what the MANIFEST records about timestamps, and families that are opened with or without
// timestamps unlike they were written.

#include "db/version/comparator_change.h"

#include <gmock/gmock.h>

#include "tests/db/version/set_fixture.h"

namespace varve {
namespace {

using ::testing::HasSubstr;

FamilyToOpen Stamped(const std::string& name, bool persist) {
  FamilyToOpen family = Named(name, BytewiseComparatorWithU64Ts());
  family.persist_timestamps = persist;
  return family;
}

std::string Stamp(uint64_t time) {
  std::string bytes;
  EncodeU64Ts(time, &bytes);
  return bytes;
}

class TimestampedSetTest : public VersionSetTest {
 protected:
  void CreateWithTimestamps(bool persist) {
    set_ = NewSet(fs_);
    ASSERT_TRUE(set()->CreateNew(Stamped("default", persist), "the-db-id").ok());
  }

  // Recovers into set_, and begins a new MANIFEST, as every opening does.
  Status Reopen(const FamilyToOpen& family) {
    set_ = NewSet(fs_);
    Status s = set()->Recover({family});
    VersionEdit edit;
    edit.log_number = 0;
    return s.ok() ? Apply(&edit, "default", /*fresh=*/true) : s;
  }

  NewFile MakeWithTimestamps(const std::string& smallest, const std::string& largest,
                             bool persisted) {
    NewFile file = MakeTable(1, smallest + Stamp(7), largest + Stamp(9), 3, 4);
    file.timestamps_persisted = persisted;
    return file;
  }

  const FileMetaData& OnlyFile() { return *Family()->current->level(1).files().at(0); }

  // Returns the bytes of all records.
  std::string Manifest() { return BytesOf(mem_.get(), ManifestPath()); }
};

TEST_F(TimestampedSetTest, TheMarkSurvives) {
  CreateWithTimestamps(true);
  VersionEdit edit;
  edit.family.full_history_ts_low = Stamp(5);
  ASSERT_TRUE(Apply(&edit).ok());
  EXPECT_EQ(Family()->full_history_ts_low, Stamp(5));
  for (int i = 0; i < 3; i++) {  // the edit, then two snapshots
    ASSERT_TRUE(Reopen(Stamped("default", true)).ok());
    EXPECT_EQ(Family()->full_history_ts_low, Stamp(5));
  }
}

TEST_F(TimestampedSetTest, TheMarkNeverGoesBack) {
  CreateWithTimestamps(true);
  for (const uint64_t time : {5, 9, 300, 8}) {  // 300 has the smaller first byte
    VersionEdit edit;
    edit.family.full_history_ts_low = Stamp(time);
    ASSERT_TRUE(Apply(&edit).ok());
  }
  EXPECT_EQ(Family()->full_history_ts_low, Stamp(300));
  ASSERT_TRUE(Reopen(Stamped("default", true)).ok());
  EXPECT_EQ(Family()->full_history_ts_low, Stamp(300));
}

TEST_F(TimestampedSetTest, AMarkOfAnotherSizeIsRefused) {
  CreateWithTimestamps(true);
  VersionEdit comparator;
  NameComparator(*BytewiseComparatorWithU64Ts(), true, &comparator);
  VersionEdit edit;
  edit.family.full_history_ts_low = "short";
  edit.log_number = 0;
  edit.numbers.next_file = 3;
  edit.numbers.last_sequence = 0;
  std::vector<std::string> records(2);
  ASSERT_TRUE(comparator.EncodeTo(&records[0]) && edit.EncodeTo(&records[1]));
  WriteManifest(records);
  again_ = NewSet(mem_);
  const Status s = again()->Recover({Stamped("default", true)});
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("column family default: has timestamps of 8 bytes, but a "
                                      "full_history_ts_low of 5"));
}

TEST_F(TimestampedSetTest, PersistIsWrittenBesideTheComparator) {
  for (const bool persist : {true, false}) {
    mem_->CreateDirIfMissing(kDir, IOOptions(), nullptr).PermitUncheckedError();
    CreateWithTimestamps(persist);
    const std::string name = "leveldb.BytewiseComparator.u64ts";
    const std::string field = std::string("\x01\x20") + name;
    const std::string flag = std::string("\x89\x40\x01") + (persist ? '\1' : '\0');
    EXPECT_THAT(Manifest(), HasSubstr(field));
    EXPECT_THAT(Manifest(), HasSubstr(flag));
    ASSERT_TRUE(Reopen(Stamped("default", persist)).ok());
    EXPECT_THAT(Manifest(), HasSubstr(field));
    EXPECT_THAT(Manifest(), HasSubstr(flag));
    {
      DbLock lock(&mu_);
      std::shared_ptr<FamilyVersions> other;
      ASSERT_TRUE(set()->CreateFamily(Stamped("o", !persist), 0, nullptr, &other).ok());
    }
    EXPECT_THAT(Manifest(), HasSubstr(std::string("\x89\x40\x01") + (persist ? '\0' : '\1')));
    // It is not to change.
    const Status s = Reopen(Stamped("default", !persist));
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_THAT(s.ToString(), HasSubstr("persist_user_defined_timestamps cannot change"));
  }
  Create();
  EXPECT_THAT(Manifest(), Not(HasSubstr("\x89\x40\x01")));
}

TEST_F(TimestampedSetTest, BoundsOfFilesWithoutTimestampsAreStoredWithoutThem) {
  CreateWithTimestamps(false);
  ASSERT_TRUE(Apply(Adding({MakeWithTimestamps("a", "b", false)})).ok());
  VersionEdit stored;
  std::string bytes;
  ASSERT_TRUE(Adding({MakeWithTimestamps("a", "b", false)}).EncodeTo(&bytes, 8));
  ASSERT_TRUE(stored.DecodeFrom(bytes).ok());
  ASSERT_EQ(stored.new_files.size(), 1u);
  EXPECT_FALSE(stored.new_files[0].timestamps_persisted);
  EXPECT_EQ(stored.new_files[0].smallest, InternalKey("a", 3, kTypeValue));
  EXPECT_EQ(stored.new_files[0].largest, InternalKey("b", 3, kTypeValue));
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(Reopen(Stamped("default", false)).ok());
    EXPECT_FALSE(OnlyFile().timestamps_persisted);
    EXPECT_EQ(OnlyFile().smallest, InternalKey("a" + Stamp(0), 3, kTypeValue));
    EXPECT_EQ(OnlyFile().largest, InternalKey("b" + Stamp(0), 3, kTypeValue));
  }
}

TEST_F(TimestampedSetTest, BoundsOfFilesWithTimestampsStay) {
  CreateWithTimestamps(true);
  ASSERT_TRUE(Apply(Adding({MakeWithTimestamps("a", "b", true)})).ok());
  ASSERT_TRUE(Reopen(Stamped("default", true)).ok());
  EXPECT_TRUE(OnlyFile().timestamps_persisted);
  EXPECT_EQ(OnlyFile().smallest, InternalKey("a" + Stamp(7), 3, kTypeValue));
  NewFile bad = MakeWithTimestamps("", "", true);
  bad.largest = InternalKey("1234567", 3, kTypeValue);
  VersionEdit edit = Adding({bad});
  EXPECT_TRUE(AdaptFiles(TimestampSwitch::kSame, *Family()->icmp, &edit).IsCorruption());
  VersionEdit apart = Adding({MakeWithTimestamps("a", "b", true)});
  apart.new_files[0].oldest_blob_file_number = 4;
  EXPECT_TRUE(AdaptFiles(TimestampSwitch::kSame, *Family()->icmp, &apart).ok());
  const Status s = AdaptFiles(TimestampSwitch::kOn, *Family()->icmp, &apart);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("enable_blob_files"));
}

TEST_F(TimestampedSetTest, TimestampsAreSwitchedOnAndOff) {
  Create();
  NewFile file = MakeTable(1, "a", "b", 3, 4);
  NewFile next = MakeTable(1, "c", "d", 3, 4);
  file.largest = InternalKey("c", kMaxSequenceNumber, kTypeRangeDeletion);
  ASSERT_TRUE(Apply(Adding({file, next})).ok());
  const Status refused = Reopen(Stamped("default", true));
  EXPECT_TRUE(refused.IsInvalidArgument());
  EXPECT_THAT(refused.ToString(),
              HasSubstr("was created with comparator leveldb.BytewiseComparator, not "
                        "leveldb.BytewiseComparator.u64ts: timestamps need"));
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(Reopen(Stamped("default", false)).ok());
    EXPECT_FALSE(OnlyFile().timestamps_persisted);
    EXPECT_EQ(OnlyFile().smallest, InternalKey("a" + Stamp(0), 3, kTypeValue));
    EXPECT_EQ(OnlyFile().largest,
              InternalKey("c" + std::string(8, '\xff'), kMaxSequenceNumber, kTypeRangeDeletion));
  }
  VersionEdit mark;
  mark.family.full_history_ts_low = Stamp(5);
  ASSERT_TRUE(Apply(&mark).ok());
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(Reopen(Named("default")).ok());
    EXPECT_EQ(OnlyFile().smallest, InternalKey("a", 3, kTypeValue));
    EXPECT_EQ(OnlyFile().largest, InternalKey("c", kMaxSequenceNumber, kTypeRangeDeletion));
    EXPECT_EQ(Family()->full_history_ts_low, "");
  }
  ASSERT_TRUE(Reopen(Stamped("default", false)).ok());
}

TEST_F(TimestampedSetTest, TimestampsInTablesAreNotSwitchedOff) {
  CreateWithTimestamps(true);
  Status s = Reopen(Named("default"));
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("tables hold timestamps"));
  CreateWithTimestamps(false);
  ASSERT_TRUE(Apply(Adding({MakeWithTimestamps("a", "b", true)})).ok());
  s = Reopen(Named("default"));
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(),
              HasSubstr("holds timestamps, which leveldb.BytewiseComparator has not"));
}

TEST_F(TimestampedSetTest, OtherComparatorsStayRefused) {
  Create();
  FamilyToOpen reverse = Named("default", ReverseBytewiseComparatorWithU64Ts());
  reverse.persist_timestamps = false;
  EXPECT_TRUE(Reopen(reverse).IsInvalidArgument());
  EXPECT_TRUE(Reopen(Named("default", ReverseBytewiseComparator())).IsInvalidArgument());
  CreateWithTimestamps(false);
  EXPECT_TRUE(Reopen(Named("default", ReverseBytewiseComparator())).IsInvalidArgument());
  EXPECT_TRUE(Reopen(reverse).IsInvalidArgument());
}

TEST(TimestampEdits, GoldenBytes) {
  VersionEdit edit;
  edit.family.full_history_ts_low = Stamp(5);
  std::string bytes;
  ASSERT_TRUE(edit.EncodeTo(&bytes));
  EXPECT_EQ(bytes, FromHex("8640 08 0500000000000000"));
  const struct {
    const char* hex;
    bool good;
  } cases[] = {{"8940 01 01", true},    {"8940 01 00", true}, {"8940 00", false},
               {"8940 02 0101", false}, {"8940 01", false},   {"8640 00", false}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.hex);
    const std::string record = FromHex(c.hex);
    ASSERT_EQ(edit.DecodeFrom(record).ok(), c.good);
    if (!c.good) continue;
    bytes.clear();
    ASSERT_TRUE(edit.EncodeTo(&bytes));
    EXPECT_EQ(bytes, record);
  }
}

// Minimum and maximum of timestamps are passed over; persisted is one byte.
TEST(TimestampEdits, FieldsOfFiles) {
  const std::string start = "67 0009 fa07 0a6b310101000000000000 0a6b320102000000000000 0102 ";
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(FromHex(start + "0a02 aaaa 0b02 bbbb 1001 00 01")).ok());
  ASSERT_EQ(edit.new_files.size(), 1u);
  EXPECT_FALSE(edit.new_files[0].timestamps_persisted);
  std::string bytes;
  ASSERT_TRUE(edit.EncodeTo(&bytes));
  EXPECT_THAT(bytes, HasSubstr(FromHex("1001 00")));
  ASSERT_TRUE(edit.DecodeFrom(FromHex(start + "01")).ok());
  EXPECT_TRUE(edit.new_files[0].timestamps_persisted);
  EXPECT_TRUE(edit.DecodeFrom(FromHex(start + "1002 0000 01")).IsCorruption());
  // Bounds that are too short to have had one.
  edit = VersionEdit();
  NewFile file;
  file.smallest = InternalKey("short", 1, kTypeValue);
  file.largest = InternalKey("longer than short", 1, kTypeValue);
  file.timestamps_persisted = false;
  edit.new_files.push_back(file);
  bytes.clear();
  EXPECT_FALSE(edit.EncodeTo(&bytes, 8));
}

}  // namespace
}  // namespace varve
