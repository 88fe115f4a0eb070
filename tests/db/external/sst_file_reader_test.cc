// SPDX-License-Identifier: Apache-2.0

// Goal: a table read by itself answers as a database would that has nothing else. Method: tables of
// the writer, of the builder, and of a database, asked in every way.

#include "varve/sst_file_reader.h"

#include <gtest/gtest.h>

#include <functional>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/filter_policy.h"
#include "varve/snapshot.h"
#include "varve/sst_file_writer.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/types_util.h"

#include "tests/db/external/external_files.h"
#include "tests/table/table_file.h"

namespace varve::testing {
namespace {

using test::IKey;

class SstFileReaderTest : public ExternalFiles {
 protected:
  void Write(const std::function<void(SstFileWriter*)>& fill) {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_TRUE(writer.Open(kFile).ok());
    fill(&writer);
    ASSERT_TRUE(writer.Finish().ok());
  }
  void WriteBytes(const std::string& content) {
    std::unique_ptr<FSWritableFile> out;
    ASSERT_TRUE(mem_->NewWritableFile(kFile, FileOptions(), &out, nullptr).ok());
    ASSERT_TRUE(out->Append(content, IOOptions(), nullptr).ok());
    ASSERT_TRUE(out->Close(IOOptions(), nullptr).ok());
  }
  // Writes a table like a flushed one: versions, and a range deletion over the older ones.
  void WriteHistory() {
    BlockTableBuildOptions build;
    build.icmp = &test::Bytewise();
    test::BuiltTable table(build);
    table.builder->Add(IKey("a", 9), "new");
    table.builder->Add(IKey("a", 3), "old");
    table.builder->Add(IKey("b", 4), "covered");
    table.builder->Add(IKey("c", 8, kTypeDeletion), "");
    table.builder->Add(IKey("c", 2), "deleted");
    table.builder->Add(IKey("d", 7), "after");
    table.builder->AddTombstone(IKey("b", 6, kTypeRangeDeletion), "e");
    ASSERT_TRUE(table.Finish().ok());
    WriteBytes(table.file);
  }
  static std::string Scan(Iterator* raw) {
    const std::unique_ptr<Iterator> it(raw);
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    std::string back;
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      back = it->key().ToString() + "=" + it->value().ToString() + " " + back;
    }
    EXPECT_EQ(text, back);
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return text;
  }
  static std::string Get(SstFileReader* reader, const Slice& key,
                         const ReadOptions& options = ReadOptions()) {
    std::string value;
    const Status s = reader->Get(options, key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }
};

// Stands for its number alone.
class Moment final : public Snapshot {
 public:
  explicit Moment(SequenceNumber sequence) : sequence_(sequence) {}
  SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return 0; }
  uint64_t GetTimestamp() const override { return 0; }

 private:
  const SequenceNumber sequence_;
};

TEST_F(SstFileReaderTest, NothingBeforeItIsOpen) {
  SstFileReader reader(options_);
  EXPECT_TRUE(reader.Open(kFile).IsPathNotFound());
  std::string value;
  EXPECT_TRUE(reader.Get(ReadOptions(), "a", &value).IsInvalidArgument());
  std::vector<std::string> values;
  EXPECT_TRUE(reader.MultiGet(ReadOptions(), {"a"}, &values)[0].IsInvalidArgument());
  const std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  EXPECT_TRUE(it->status().IsInvalidArgument());
  EXPECT_EQ(reader.NewTableIterator(), nullptr);
  EXPECT_EQ(reader.GetTableProperties(), nullptr);
  EXPECT_TRUE(reader.VerifyChecksum().IsInvalidArgument());
  EXPECT_TRUE(reader.VerifyNumEntries(ReadOptions()).IsInvalidArgument());
  ParsedEntryInfo parsed;
  EXPECT_TRUE(reader.ParseTableIteratorKey("123456789", &parsed).IsInvalidArgument());
  bool may = false;
  const Slice key("a");
  reader.MayMatch(&key, 1, &may);
  EXPECT_TRUE(may);
}

TEST_F(SstFileReaderTest, ShowsTheColumnsOfEntities) {
  Write([](SstFileWriter* writer) {
    ASSERT_TRUE(writer->PutEntity("a", {{"x", "1"}, {"", "d"}}).ok());
    ASSERT_TRUE(writer->Put("b", "v").ok());
    ASSERT_TRUE(writer->PutEntity("c", {{"y", "2"}}).ok());
  });
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(kFile).ok());
  EXPECT_EQ(Get(&reader, "a"), "d");
  EXPECT_EQ(Get(&reader, "c"), "");
  EXPECT_EQ(Scan(reader.NewIterator(ReadOptions())), "a=d b=v c= ");
  const std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_EQ(it->columns(), (WideColumns{{"", "d"}, {"x", "1"}}));
  it->Next();
  EXPECT_EQ(it->columns(), (WideColumns{{"", "v"}}));
  it->Next();
  EXPECT_EQ(it->columns(), (WideColumns{{"y", "2"}}));
}

TEST_F(SstFileReaderTest, ReadsWhatTheWriterWrote) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Write([](SstFileWriter* writer) {
    EXPECT_TRUE(writer->Put("a", "1").ok());
    EXPECT_TRUE(writer->Delete("b").ok());
    EXPECT_TRUE(writer->Merge("c", "2").ok());
    EXPECT_TRUE(writer->DeleteRange("a", "z").ok());
  });
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(kFile).ok());
  EXPECT_TRUE(reader.Open(kFile).IsInvalidArgument());
  // Points have the same sequence number as the range, which does not hide them.
  EXPECT_EQ(Get(&reader, "a"), "1");
  EXPECT_EQ(Get(&reader, "b"), "NOT_FOUND");
  EXPECT_EQ(Get(&reader, "c"), "2");
  EXPECT_EQ(Get(&reader, "d"), "NOT_FOUND");
  EXPECT_EQ(Scan(reader.NewIterator(ReadOptions())), "a=1 c=2 ");
  EXPECT_TRUE(reader.VerifyChecksum().ok());
  EXPECT_TRUE(reader.VerifyNumEntries(ReadOptions()).ok());
  EXPECT_EQ(reader.GetTableProperties()->num_entries, 4u);
}

TEST_F(SstFileReaderTest, AppliesRangeDeletionsAndSnapshots) {
  WriteHistory();
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(kFile).ok());
  EXPECT_EQ(Scan(reader.NewIterator(ReadOptions())), "a=new d=after ");
  EXPECT_EQ(Get(&reader, "b"), "NOT_FOUND");
  const Moment moment(5);
  ReadOptions past;
  past.snapshot = &moment;
  EXPECT_EQ(Scan(reader.NewIterator(past)), "a=old b=covered c=deleted ");
  EXPECT_EQ(Get(&reader, "b", past), "covered");
  EXPECT_EQ(Get(&reader, "d", past), "NOT_FOUND");
  std::vector<std::string> values;
  const std::vector<Slice> keys = {"d", "a", "x", "b"};
  std::vector<Status> statuses = reader.MultiGet(ReadOptions(), keys, &values);
  EXPECT_EQ(values, std::vector<std::string>({"after", "new", "", ""}));
  EXPECT_TRUE(statuses[0].ok() && statuses[1].ok());
  EXPECT_TRUE(statuses[2].IsNotFound() && statuses[3].IsNotFound());
  std::vector<PinnableSlice> pinned;
  statuses = reader.MultiGet(past, keys, &pinned);
  EXPECT_TRUE(statuses[0].IsNotFound());
  EXPECT_EQ(pinned[3].ToString(), "covered");
}

TEST_F(SstFileReaderTest, RawEntriesAreAllThere) {
  WriteHistory();
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(kFile).ok());
  const std::unique_ptr<Iterator> it = reader.NewTableIterator();
  std::string text;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ParsedEntryInfo entry;
    ASSERT_TRUE(reader.ParseTableIteratorKey(it->key(), &entry).ok());
    EXPECT_TRUE(entry.timestamp.empty());
    text += entry.user_key.ToString() + "@" + std::to_string(entry.sequence) + "." +
            std::to_string(entry.type) + " ";
  }
  EXPECT_EQ(text, "a@9.0 a@3.0 b@4.0 c@8.1 c@2.0 d@7.0 ");
  std::string target;
  ASSERT_TRUE(GetInternalKeyForSeek("c", BytewiseComparator(), &target).ok());
  it->Seek(target);
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), IKey("c", 8, kTypeDeletion));
  ASSERT_TRUE(GetInternalKeyForSeekForPrev("a", BytewiseComparator(), &target).ok());
  it->SeekForPrev(target);
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), IKey("a", 3));
  it->Seek("short");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument());
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
}

TEST_F(SstFileReaderTest, KeysThatAreNone) {
  ParsedEntryInfo entry;
  EXPECT_TRUE(ParseEntry("short", BytewiseComparator(), &entry).IsInvalidArgument());
  EXPECT_TRUE(
      ParseEntry(std::string(12, '\xff'), BytewiseComparator(), &entry).IsInvalidArgument());
  EXPECT_TRUE(ParseEntry(IKey("a", 1), BytewiseComparatorWithU64Ts(), &entry).IsInvalidArgument());
  EXPECT_TRUE(ParseEntry(IKey("a", 1), nullptr, &entry).IsInvalidArgument());
  std::string key;
  EXPECT_TRUE(GetInternalKeyForSeek("a", BytewiseComparatorWithU64Ts(), &key).IsInvalidArgument());
  EXPECT_TRUE(GetInternalKeyForSeek("a", BytewiseComparator(), nullptr).IsInvalidArgument());
  const std::string whole = IKey("keytimestamp", 1);
  ASSERT_TRUE(ParseEntry(whole, BytewiseComparatorWithU64Ts(), &entry).ok());
  EXPECT_EQ(entry.user_key.ToString() + " " + entry.timestamp.ToString(), "keyt imestamp");
}

TEST_F(SstFileReaderTest, Timestamps) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  const std::string at_3("\3\0\0\0\0\0\0\0", 8);
  const std::string at_5("\5\0\0\0\0\0\0\0", 8);
  for (const bool persisted : {true, false}) {
    options_.persist_user_defined_timestamps = persisted;
    Write([&](SstFileWriter* writer) {
      if (persisted) {
        EXPECT_TRUE(writer->Put("a", at_5, "new").ok());
      }
      EXPECT_TRUE(writer->Put("a", persisted ? at_3 : std::string(8, '\0'), "old").ok());
    });
    SstFileReader reader(options_);
    ASSERT_TRUE(reader.Open(kFile).ok());
    std::string value;
    EXPECT_TRUE(reader.Get(ReadOptions(), "a", &value).IsInvalidArgument());
    ReadOptions read;
    const Slice now(at_3);
    read.timestamp = &now;
    EXPECT_EQ(Get(&reader, "a", read), "old");
    const Slice later(at_5);
    read.timestamp = &later;
    EXPECT_EQ(Get(&reader, "a", read), persisted ? "new" : "old");
    bool may[2] = {};
    const Slice keys[] = {"a", "b"};
    reader.MayMatch(keys, 2, may);
    EXPECT_TRUE(may[0]);
  }
}

TEST_F(SstFileReaderTest, FiltersSayWhatCannotBeThere) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(20));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Write([](SstFileWriter* writer) { EXPECT_TRUE(writer->Put("a", "1").ok()); });
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(kFile).ok());
  const Slice keys[] = {"a", "b", "c", "d"};
  bool may[4] = {};
  reader.MayMatch(keys, 4, may);
  EXPECT_TRUE(may[0]);
  EXPECT_FALSE(may[1] && may[2] && may[3]);
}

TEST_F(SstFileReaderTest, IteratorsAndValuesOutliveTheReader) {
  const std::string large(3000, 'v');
  Write([&](SstFileWriter* writer) { EXPECT_TRUE(writer->Put("a", large).ok()); });
  std::unique_ptr<Iterator> it;
  std::unique_ptr<Iterator> raw;
  PinnableSlice value;
  {
    SstFileReader reader(options_);
    ASSERT_TRUE(reader.Open(kFile).ok());
    it.reset(reader.NewIterator(ReadOptions()));
    raw = reader.NewTableIterator();
    ASSERT_TRUE(reader.Get(ReadOptions(), "a", &value).ok());
  }
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), large);
  raw->SeekToFirst();
  ASSERT_TRUE(raw->Valid());
  EXPECT_EQ(value, large);
}

TEST_F(SstFileReaderTest, ATableWithoutEntries) {
  BlockTableBuildOptions build;
  build.icmp = &test::Bytewise();
  test::BuiltTable table(build);
  ASSERT_TRUE(table.Finish().ok());
  WriteBytes(table.file);
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(kFile).ok());
  EXPECT_EQ(Scan(reader.NewIterator(ReadOptions())), "");
  EXPECT_EQ(Get(&reader, "a"), "NOT_FOUND");
  EXPECT_TRUE(reader.VerifyNumEntries(ReadOptions()).ok());
}

}  // namespace
}  // namespace varve::testing
