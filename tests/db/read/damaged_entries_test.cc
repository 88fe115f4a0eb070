// SPDX-License-Identifier: Apache-2.0

// Goal: a value that cannot be had is Corruption which says where: the table and the offset of an
// entry that is ill-formed, the blob file and the offset of a damaged record, and the key, for each
// kind of read and for compactions.
// Method: bytes of a table are changed under checksums that fit, or bytes of a blob file.

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/merge_operator.h"
#include "varve/wide_columns.h"

#include "db/blob/blob_file_format.h"
#include "db/blob/blob_reference.h"
#include "tests/crash/reseal.h"
#include "tests/db/api/blob_database.h"
#include "util/key/entity.h"

namespace varve {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Joins operands to the base. Merges a base in any form.
class Joins final : public MergeOperator {
 public:
  const char* Name() const override { return "test.Joins"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value != nullptr) out->new_value = in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) out->new_value += operand.ToString();
    return true;
  }
};

// Looks at every value, and keeps it.
class LooksAtAll final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.LooksAtAll"; }
  Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                           std::string* /*skip_until*/) const override {
    return Decision::kUndetermined;
  }
};

class DamagedEntriesTest : public BlobDatabase {
 protected:
  DamagedEntriesTest() {
    options_.compression = kNoCompression;
    options_.merge_operator = std::make_shared<Joins>();
    Open();
  }
  // Writes one table: "bad" lies between two sound entries, one with a value in a blob file and one
  // with a plain one.
  void Fill(const std::function<void()>& put_bad) {
    Put("apart", Large('a'));
    put_bad();
    Put("plain", "p");
    Flush();
    table_ = Files(kTableFile).at(0);
    blobs_ = Blobs().at(0);
  }
  // Changes a byte of the file, at `at` after the only place that has these bytes.
  void Change(const std::string& name, const std::string& bytes, size_t at, char value) {
    ASSERT_TRUE(Close().ok());
    const std::string path = std::string(kName) + "/" + name;
    std::string file = ReadFile(path);
    const size_t begin = file.find(bytes);
    ASSERT_NE(begin, std::string::npos);
    ASSERT_EQ(file.find(bytes, begin + 1), std::string::npos);
    const testing::Seals seals = testing::Seals::OfTable(file);
    file[begin + at] = value;
    const bool fits = name != table_ || seals.Reseal(&file, begin + at);
    ASSERT_TRUE(fits);
    WriteFile(path, file);
    Open();
  }
  // Makes "bad" an entity whose index names more bytes than there are.
  void FillWithBadEntity() {
    const WideColumns columns = {{"", "default"}, {"name", "value"}};
    Fill([&] {
      ASSERT_TRUE(db()->PutEntity(WriteOptions(), Handle("default"), "bad", columns).ok());
    });
    std::string entity;
    ASSERT_TRUE(EncodeEntity(columns, &entity).ok());
    Change(table_, entity, 2, 100);
  }
  // Makes "bad" a value of a kind that references do not have.
  void FillWithBadReference() {
    Fill([&] { Put("bad", Large('b', 300)); });
    Change(table_, ReferenceOfBad(), 0, 9);
  }
  // Changes the value of "bad" in the blob file.
  void FillWithBadRecord() {
    Fill([&] { Put("bad", Large('b', 300)); });
    Change(blobs_, Large('b', 300), 7, 'x');
  }
  // Returns the reference of "bad", whose record follows that of "apart".
  std::string ReferenceOfBad() const {
    BlobReference reference;
    reference.file_number = std::stoull(blobs_);
    reference.offset = BlobFileHeader::kBytes + BlobRecordBytes(5, 200) + BlobRecordBytes(3, 0);
    reference.size = 300;
    std::string encoded;
    reference.EncodeTo(&encoded);
    return encoded;
  }

  // Each way to read "bad", and what it answers.
  std::vector<std::pair<std::string, Status>> Read() {
    std::vector<std::pair<std::string, Status>> answers;
    const auto note = [&](const char* what, const Status& s) { answers.emplace_back(what, s); };
    PinnableSlice value;
    note("Get", db()->Get(ReadOptions(), Handle("default"), "bad", &value));
    PinnableWideColumns columns;
    note("GetEntity", db()->GetEntity(ReadOptions(), Handle("default"), "bad", &columns));
    std::vector<std::string> values;
    const std::vector<Status> many =
        db()->MultiGet(ReadOptions(), {"apart", "bad", "plain"}, &values);
    EXPECT_TRUE(many[0].ok() && many[2].ok());
    note("MultiGet", many[1]);
    std::vector<PinnableSlice> operands(10);
    GetMergeOperandsOptions of_operands;
    of_operands.expected_max_number_of_operands = 10;
    int count = 0;
    note("GetMergeOperands", db()->GetMergeOperands(ReadOptions(), Handle("default"), "bad",
                                                    operands.data(), &of_operands, &count));
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    const auto walk = [&](const char* what, const std::function<void()>& move) {
      move();
      EXPECT_FALSE(it->Valid()) << what;
      note(what, it->status());
      it->Next();  // does nothing, and does not lengthen the error
      EXPECT_EQ(it->status().ToString(), answers.back().second.ToString());
    };
    walk("Seek", [&] { it->Seek("bad"); });
    walk("SeekForPrev", [&] { it->SeekForPrev("bad"); });
    walk("Next", [&] {
      it->SeekToFirst();
      EXPECT_TRUE(it->Valid());
      it->Next();
    });
    walk("Prev", [&] {
      it->SeekToLast();
      EXPECT_TRUE(it->Valid());
      it->Prev();
    });
    it->Seek("plain");
    EXPECT_TRUE(it->Valid() && it->status().ok()) << "a seek leads out of the error";
    return answers;
  }
  // Expects every read to fail with Corruption that has all of these texts.
  void ExpectReadsSay(const std::vector<std::string>& texts) {
    for (const auto& [what, s] : Read()) {
      SCOPED_TRACE(what);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      for (const std::string& text : texts) EXPECT_THAT(s.ToString(), HasSubstr(text));
    }
  }
  // Returns what a compaction of everything answers.
  Status CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db()->CompactRange(options, nullptr, nullptr);
  }

  std::string table_;  // name of the file that has "bad"
  std::string blobs_;  // name of the blob file
};

TEST_F(DamagedEntriesTest, AnIllFormedEntityNamesItsTable) {
  FillWithBadEntity();
  ExpectReadsSay({"wide columns", "key 626164", "in " + table_ + " offset "});
  ASSERT_TRUE(db()->Merge(WriteOptions(), "bad", "operand").ok());
  std::vector<std::pair<std::string, Status>> merged = Read();
  for (const auto& [what, s] : merged) {
    SCOPED_TRACE(what);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_THAT(s.ToString(), AllOf(HasSubstr("wide columns"), HasSubstr("in " + table_)));
  }
}

TEST_F(DamagedEntriesTest, AnIllFormedReferenceNamesItsTable) {
  for (const bool shows_keys : {false, true}) {
    options_.allow_data_in_errors = shows_keys;
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    FillWithBadReference();
    const std::string key = shows_keys ? "of 3 bytes (0x626164)" : "of 3 bytes";
    ExpectReadsSay({"blob reference", "unknown kind", key, "in " + table_ + " offset "});
    ASSERT_TRUE(db()->Merge(WriteOptions(), "bad", "operand").ok());
    ExpectReadsSay({"blob reference", "unknown kind", key, "in " + table_ + " offset "});
    if (shows_keys) continue;
    for (const auto& [what, s] : Read())
      EXPECT_THAT(s.ToString(), Not(HasSubstr("626164"))) << what;
  }
}

TEST_F(DamagedEntriesTest, ADamagedRecordNamesItsBlobFile) {
  for (const bool shows_keys : {false, true}) {
    options_.allow_data_in_errors = shows_keys;
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    FillWithBadRecord();
    const std::string key = shows_keys ? "of 3 bytes (0x626164)" : "of 3 bytes";
    const std::string path = std::string(kName) + "/" + blobs_;
    ExpectReadsSay({path, "checksum mismatch", "at offset 267", key});
    ASSERT_TRUE(db()->Merge(WriteOptions(), "bad", "operand").ok());
    ExpectReadsSay({path, "checksum mismatch", "at offset 267", key});
  }
}

// The value is not read before it is asked for.
TEST_F(DamagedEntriesTest, AValueThatIsPreparedLateNamesItsPlace) {
  FillWithBadReference();
  ReadOptions lazily;
  lazily.allow_unprepared_value = true;
  for (const bool backward : {false, true}) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(lazily));
    backward ? it->SeekForPrev("bad") : it->Seek("bad");
    ASSERT_TRUE(it->Valid());
    EXPECT_FALSE(it->PrepareValue());
    EXPECT_TRUE(it->status().IsCorruption());
    EXPECT_THAT(it->status().ToString(), HasSubstr("in " + table_ + " offset "));
  }
}

// The entry is found in the table that has it, among others with the same key.
TEST_F(DamagedEntriesTest, TheTableIsTheOneWithTheEntry) {
  Put("bad", "older, and sound");
  Flush();
  Compact();
  ASSERT_EQ(Levels(), "0,0,0,0,0,0,1");
  const std::string older = Files(kTableFile).at(0);
  Put("apart", Large('a'));
  Put("bad", Large('b', 300));
  Put("plain", "p");
  Flush();
  table_ = Files(kTableFile).at(1);
  blobs_ = Blobs().at(0);
  Change(table_, ReferenceOfBad(), 0, 9);
  ASSERT_TRUE(db()->Merge(WriteOptions(), "bad", "operand").ok());
  Flush();
  ExpectReadsSay({"in " + table_ + " offset "});
}

TEST_F(DamagedEntriesTest, CompactionsNameThePlace) {
  const LooksAtAll filter;
  options_.compaction_filter = &filter;
  struct Case {
    const char* name;
    std::function<void()> fill;
    std::function<std::string()> place;
  };
  const Case kCases[] = {
      {"entity", [this] { FillWithBadEntity(); }, [this] { return "in " + table_ + " offset "; }},
      {"reference", [this] { FillWithBadReference(); },
       [this] { return "in " + table_ + " offset "; }},
      {"record", [this] { FillWithBadRecord(); }, [this] { return blobs_ + ": "; }},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    c.fill();
    const Status s = CompactAll();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(c.place()));
  }
  ASSERT_TRUE(Close().ok());
}

// Here the collection of garbage meets the entry, not a filter.
TEST_F(DamagedEntriesTest, CollectionsOfGarbageNameThePlace) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  for (const bool reference : {true, false}) {
    SCOPED_TRACE(reference);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    reference ? FillWithBadReference() : FillWithBadRecord();
    const Status s = CompactAll();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(reference ? "in " + table_ + " offset " : blobs_ + ": "));
    EXPECT_THAT(s.ToString(), HasSubstr("a key of 3 bytes"));
  }
}

// An iterator over versions has a walk of its own.
TEST_F(DamagedEntriesTest, AWalkOverVersionsNamesThePlace) {
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  options_.comparator = BytewiseComparatorWithU64Ts();
  Open();
  const std::string first(8, '\1');
  const std::string last(8, '\2');
  ASSERT_TRUE(db()->Put(WriteOptions(), "bad", first, Large('b', 300)).ok());
  Flush();
  table_ = Files(kTableFile).at(0);
  blobs_ = Blobs().at(0);
  BlobReference reference;
  reference.file_number = std::stoull(blobs_);
  reference.offset = BlobFileHeader::kBytes + BlobRecordBytes(3 + 8, 0);
  reference.size = 300;
  std::string encoded;
  reference.EncodeTo(&encoded);
  Change(table_, encoded, 0, 9);
  ReadOptions options;
  const Slice from(first);
  const Slice to(last);
  options.iter_start_ts = &from;
  options.timestamp = &to;
  const std::unique_ptr<Iterator> it(db()->NewIterator(options));
  for (const bool backward : {false, true}) {
    backward ? it->SeekToLast() : it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsCorruption());
    EXPECT_THAT(it->status().ToString(), HasSubstr("in " + table_ + " offset "));
  }
  PinnableSlice value;
  options.iter_start_ts = nullptr;
  const Status s = db()->Get(options, Handle("default"), "bad", &value);
  EXPECT_THAT(s.ToString(), HasSubstr("in " + table_ + " offset "));
}

}  // namespace
}  // namespace varve
