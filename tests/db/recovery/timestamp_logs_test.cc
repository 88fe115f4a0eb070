// SPDX-License-Identifier: Apache-2.0

// Tests what logs record about timestamps, and how openings with other timestamps read them.
// Comparators of one name and different sizes stand for a setting that was changed.

#include <gmock/gmock.h>

#include <functional>

#include "varve/comparator.h"
#include "varve/write_batch.h"

#include "tests/db/wal/log_test_file.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

// Orders bytewise; the timestamp is a part of the key's order, as far as these tests are concerned.
class Sized final : public Comparator {
 public:
  explicit Sized(size_t size) : Comparator(size), zeros_(size, '\0'), ones_(size, '\xff') {}
  const char* Name() const override { return "test.Sized"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  Slice GetMinTimestamp() const override { return zeros_; }
  Slice GetMaxTimestamp() const override { return ones_; }
  int CompareTimestamp(const Slice& a, const Slice& b) const override { return a.compare(b); }
  int CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                              bool b_has_ts) const override {
    return Slice(a.data(), a.size() - (a_has_ts ? timestamp_size() : 0))
        .compare(Slice(b.data(), b.size() - (b_has_ts ? timestamp_size() : 0)));
  }

 private:
  const std::string zeros_;
  const std::string ones_;
};

const Sized kNone(0);
const Sized kFour(4);
const Sized kEight(8);

class TimestampLogsTest : public Database {
 protected:
  TimestampLogsTest() { options_.avoid_flush_during_recovery = true; }

  void SetUp() override {
    options_.comparator = &kEight;
    Open();
  }

  void PutAt(const std::string& key, const std::string& stamp,
             const std::string& family = "default") {
    WriteBatch batch;
    ASSERT_TRUE(batch.Put(Handle(family), key, stamp, "v").ok());
    ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  }

  // Returns what the newest log says before each of its records but the mark.
  std::vector<wal::TimestampSizes> Said() {
    std::vector<wal::TimestampSizes> said;
    const std::string path = std::string(kName) + "/" + Files(kWalFile).back();
    std::unique_ptr<SequentialFileReader> file;
    EXPECT_TRUE(SequentialFileReader::Open(&mem(), path, FileOptions(), &file).ok());
    wal::LogReader reader(std::move(file), 0, path, nullptr);
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kPointInTimeRecovery)) {
      if (WriteBatch(record.ToString()).Count() > 0) said.push_back(reader.timestamp_sizes());
    }
    EXPECT_TRUE(reader.io_status().ok());
    return said;
  }

  // Returns the record of each log that has one.
  std::vector<wal::TimestampSizes> SaidByLogs() {
    std::vector<wal::TimestampSizes> said;
    for (const std::string& name : Files(kWalFile)) {
      const std::string path = std::string(kName) + "/" + name;
      wal::LogReader reader(Reader(path), 0, path, nullptr);
      Slice record;
      std::string scratch;
      while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kPointInTimeRecovery)) {
      }
      if (!reader.timestamp_sizes().empty()) said.push_back(reader.timestamp_sizes());
    }
    return said;
  }

  // Makes the log look as RocksDB before 8.4 would have written it.
  void ForgetSizes(const std::string& path) {
    std::vector<std::string> batches;
    wal::LogReader reader(Reader(path), 0, path, nullptr);
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kPointInTimeRecovery)) {
      batches.push_back(record.ToString());
    }
    WriteFile(path, LogBytes(batches));
  }

  std::unique_ptr<SequentialFileReader> Reader(const std::string& path) {
    std::unique_ptr<SequentialFileReader> file;
    EXPECT_TRUE(SequentialFileReader::Open(&mem(), path, FileOptions(), &file).ok());
    return file;
  }

  Status ReopenWith(const Comparator* comparator) {
    Kill();
    options_.comparator = comparator;
    return TryOpen();
  }
};

// A family that is refused takes no id, so the log must say nothing of it: the next family has
// timestamps of another size.
TEST_F(TimestampLogsTest, ARefusedFamilyLeavesNothingInTheLog) {
  ColumnFamilyOptions stamped(options_);
  stamped.comparator = &kFour;
  ColumnFamilyHandle* handle = nullptr;
  const Status s = db()->CreateColumnFamily(stamped, std::string(5000, 'f'), &handle);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  ColumnFamilyOptions plain(options_);
  plain.comparator = &kNone;
  ASSERT_TRUE(db()->CreateColumnFamily(plain, "plain", &handle).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), handle, "a key of its own", "v").ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  Kill();
  ASSERT_TRUE(TryOpenWith({{"default", options_}, {"plain", plain}}).ok());
  EXPECT_EQ(Get("a key of its own", "plain"), "v");
}

TEST_F(TimestampLogsTest, EveryLogNamesTheFamilies) {
  PutAt("k", "11111111");
  EXPECT_THAT(Said(), ElementsAre(ElementsAre(Pair(0, 8))));
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(ReopenWith(&kEight).ok());
    PutAt("k", "22222222");
    EXPECT_THAT(Said(), ElementsAre(ElementsAre(Pair(0, 8))));
  }
}

TEST_F(TimestampLogsTest, AFamilyThatIsMadeLaterIsNamedThen) {
  PutAt("k", "11111111");
  ColumnFamilyHandle* handle = nullptr;
  ColumnFamilyOptions four = options_;
  four.comparator = &kFour;
  ASSERT_TRUE(db()->CreateColumnFamily(four, "four", &handle).ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(handle, "k", "4444", "v").ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  ColumnFamilyHandle* plain = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(ColumnFamilyOptions(), "plain", &plain).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), plain, "k", "v").ok());
  const auto both = ElementsAre(Pair(0, 8), Pair(1, 4));
  EXPECT_THAT(Said(), ElementsAre(ElementsAre(Pair(0, 8)), both, both));
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(plain).ok());
}

TEST_F(TimestampLogsTest, AFamilyThatIsMadeAtOpeningIsNamed) {
  options_.create_missing_column_families = true;
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpen({"default", "other"}).ok());
  PutAt("k", "11111111", "other");
  EXPECT_THAT(Said(), ElementsAre(ElementsAre(Pair(0, 8), Pair(1, 8))));
}

// The log ends with the record; the next one's mark must not call that a loss.
TEST_F(TimestampLogsTest, ALogMayEndWithTheRecord) {
  PutAt("k", "11111111");
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "other", &handle).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  for (int i = 0; i < 3; i++) {
    Kill();
    ASSERT_TRUE(TryOpen({"default", "other"}).ok());
    EXPECT_THAT(Text("varve.recovery"), HasSubstr("dropped_bytes=0 "));
  }
  EXPECT_EQ(Files(kWalFile).size(), 2u) << "that with the write, and the current one";
}

TEST_F(TimestampLogsTest, ALogThatCannotBeToldMakesNoFamily) {
  PutAt("k", "11111111");
  faults().Inject({.calls = Only(FaultCall::kSync), .path_contains = ".log"});
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db()->CreateColumnFamily(options_, "other", &handle).IsIOError());
  EXPECT_EQ(handle, nullptr);
}

TEST_F(TimestampLogsTest, TimestampsThatWereSwitchedOffAreTakenAway) {
  PutAt("a", "11111111");
  PutAt("b", "22222222");
  ASSERT_TRUE(ReopenWith(&kNone).ok());
  EXPECT_EQ(Scan(), "a=v b=v");
  Put("c", "v");
  EXPECT_THAT(Said(), ElementsAre(IsEmpty()));
  ASSERT_TRUE(ReopenWith(&kNone).ok());
  EXPECT_EQ(Scan(), "a=v b=v c=v");
}

TEST_F(TimestampLogsTest, TimestampsThatWereSwitchedOnAreTheSmallest) {
  ASSERT_TRUE(Close().ok());
  Remount(std::make_shared<MemFileSystem>());
  options_.comparator = BytewiseComparator();
  options_.persist_user_defined_timestamps = false;  // or they cannot be switched on
  options_.allow_concurrent_memtable_write = false;
  Open();
  Put("a", "v");
  const Status s = ReopenWith(BytewiseComparatorWithU64Ts());
  ASSERT_TRUE(s.ok()) << s.ToString();
  PutAt("b", "22222222");
  // Both keys have eight bytes more now, in logs that stay. After another opening without
  // timestamps, only the one that was logged with a timestamp loses it.
  ASSERT_TRUE(ReopenWith(BytewiseComparatorWithU64Ts()).ok());
  ASSERT_TRUE(ReopenWith(BytewiseComparator()).ok());
  EXPECT_EQ(Scan(), "a=v b=v");
}

TEST_F(TimestampLogsTest, ALogThatDoesNotSayWasWrittenWithThem) {
  PutAt("a", "11111111");
  PutAt("b", "22222222");
  const std::string path = std::string(kName) + "/" + Files(kWalFile).back();
  Kill();
  ForgetSizes(path);
  Open();
  const Slice at("22222222");
  ReadOptions read;
  read.timestamp = &at;
  std::string value;
  std::string stamp;
  ASSERT_TRUE(db()->Get(read, Handle("default"), "b", &value, &stamp).ok());
  EXPECT_EQ(stamp, "22222222");
  EXPECT_EQ(value, "v");
}

TEST_F(TimestampLogsTest, ALogWithKeysThatAreTooShortForThemIsRefused) {
  ASSERT_TRUE(Close().ok());
  options_.comparator = &kNone;
  ASSERT_TRUE(TryOpen().ok());
  Put("a", "v");
  const Status s = ReopenWith(&kEight);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("Flush the database with the version that wrote it"));
  ASSERT_TRUE(ReopenWith(&kNone).ok()) << "nothing was changed";
  EXPECT_EQ(Scan(), "a=v");
}

// RocksDB before 8.4 reads no further than such a record.
TEST_F(TimestampLogsTest, ClosingLeavesNoLogThatNamesThem) {
  options_.create_missing_column_families = true;
  ASSERT_TRUE(Close().ok());
  ColumnFamilyOptions plain = options_;
  plain.comparator = BytewiseComparator();
  ASSERT_TRUE(TryOpenWith({{"default", options_}, {"plain", plain}}).ok());
  const std::function<void()> writes[] = {
      [] {},
      [&] { PutAt("k", "11111111"); },
      [&] { Put("k", "v", "plain"); },
      [&] {
        PutAt("k", "22222222");
        Flush();
        Put("l", "v", "plain");
      },
      [&] {
        ColumnFamilyHandle* gone = nullptr;
        ASSERT_TRUE(db()->CreateColumnFamily(options_, "gone", &gone).ok());
        ASSERT_TRUE(db()->DropColumnFamily(gone).ok());
        ASSERT_TRUE(db()->DestroyColumnFamilyHandle(gone).ok());
        Put("m", "v", "plain");
      },
  };
  for (const auto& write : writes) {
    write();
    EXPECT_THAT(SaidByLogs(), Not(IsEmpty()));
    ASSERT_TRUE(Close().ok());
    EXPECT_THAT(SaidByLogs(), IsEmpty());
    ASSERT_TRUE(TryOpenWith({{"default", options_}, {"plain", plain}}).ok());
    EXPECT_THAT(Text("varve.recovery"), HasSubstr("dropped_bytes=0 "));
  }
  EXPECT_EQ(Scan(ReadOptions(), "plain"), "k=v l=v m=v");
  options_.avoid_flush_during_shutdown = true;
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenWith({{"default", options_}, {"plain", plain}}).ok());
  Put("n", "v", "plain");
  ASSERT_TRUE(Close().ok());
  EXPECT_THAT(SaidByLogs(), Not(IsEmpty())) << "as the user wishes";
}

TEST_F(TimestampLogsTest, AnotherSizeIsRefused) {
  PutAt("a", "11111111");
  const Status s = ReopenWith(&kFour);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("column family default has timestamps of 4 bytes, but was "
                                      "written with timestamps of 8 bytes"));
  options_.comparator = &kEight;
  EXPECT_TRUE(TryOpen().ok());
}

class PlainLogsTest : public Database {};

TEST_F(PlainLogsTest, WithoutTimestampsThereIsNoRecord) {
  Open();
  Put("a", "v");
  const std::string log = ReadFile(std::string(kName) + "/" + Files(kWalFile).back());
  EXPECT_EQ(log[6], wal::kFullType);
  const LogContents contents = ReadLogBytes(log);
  ASSERT_EQ(contents.records.size(), 1u);
  EXPECT_EQ(contents.offsets[0], 0u);
}

}  // namespace
}  // namespace varve::testing
