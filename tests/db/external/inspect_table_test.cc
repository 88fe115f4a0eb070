// SPDX-License-Identifier: Apache-2.0

// Goal: the description of a foreign table is true, and a table that contradicts itself is refused.
// Method: tables of the writer and of the builder, with all kinds of keys; each byte flipped.

#include "table/inspect/inspect_table.h"

#include <gmock/gmock.h>

#include "varve/comparator.h"

#include "tests/db/external/external_files.h"
#include "tests/harness/environment.h"
#include "tests/table/table_file.h"

namespace varve::testing {
namespace {

using test::BuiltTable;
using test::IKey;
using Writer = InspectOptions::Writer;

class InspectTableTest : public ExternalFiles {
 protected:
  InspectTableTest() {
    inspect_.fs = mem_.get();
    inspect_.icmp = &icmp_;
    inspect_.factory = options_.table_factory;
    inspect_.every_block = true;
  }

  Status Inspect(InspectedTable* table) { return InspectTable(kFile, inspect_, table); }
  Status Inspect() {
    InspectedTable table;
    return Inspect(&table);
  }

  void WriteFile(const std::string& content) {
    std::unique_ptr<FSWritableFile> out;
    ASSERT_TRUE(mem_->NewWritableFile(kFile, FileOptions(), &out, nullptr).ok());
    ASSERT_TRUE(out->Append(content, IOOptions(), nullptr).ok());
    ASSERT_TRUE(out->Close(IOOptions(), nullptr).ok());
  }

  static BlockTableBuildOptions BuildOptions(bool by_program) {
    BlockTableBuildOptions options;
    options.icmp = &test::Bytewise();
    options.table.block_size = 64;
    if (by_program) {
      options.added_properties["rocksdb.external_sst_file.version"] = std::string("\2\0\0\0", 4);
      options.added_properties["rocksdb.external_sst_file.global_seqno"] = std::string(8, '\0');
    }
    return options;
  }
  // Builds a table with these internal keys.
  static std::string Build(const std::vector<std::string>& keys, bool by_program) {
    BuiltTable table(BuildOptions(by_program));
    EXPECT_TRUE(table.create_status.ok());
    for (const std::string& key : keys) table.builder->Add(key, "value");
    EXPECT_TRUE(table.Finish().ok());
    return table.file;
  }

  InspectOptions inspect_;
};

TEST_F(InspectTableTest, TellsBoundsAndCounts) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.Put("d", "1").ok());
  ASSERT_TRUE(writer.Delete("f").ok());
  ASSERT_TRUE(writer.DeleteRange("c", "e").ok());
  ASSERT_TRUE(writer.DeleteRange("a", "b").ok());
  ASSERT_TRUE(writer.Finish().ok());
  for (const bool every_block : {false, true}) {
    inspect_.every_block = every_block;
    InspectedTable table;
    const Status s = Inspect(&table);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(table.external_version, 2u);
    EXPECT_EQ(table.global_seqno, 0u);
    EXPECT_EQ(table.smallest_point, InternalKey("d", 0, kTypeValue));
    EXPECT_EQ(table.largest_point, InternalKey("f", 0, kTypeDeletion));
    EXPECT_EQ(table.smallest_tombstone, InternalKey("a", 0, kTypeRangeDeletion));
    EXPECT_EQ(table.largest_tombstone_end,
              InternalKey("e", kMaxSequenceNumber, kTypeRangeDeletion));
    EXPECT_EQ(table.smallest, table.smallest_tombstone);
    EXPECT_EQ(table.largest, table.largest_point);
    EXPECT_EQ(table.smallest_seq, 0u);
    EXPECT_EQ(table.largest_seq, 0u);
    EXPECT_EQ(table.points, every_block ? 2u : 0u);
    EXPECT_EQ(table.unique_id.size(), 16u);
    EXPECT_EQ(table.properties->num_range_deletions, 2u);
    ASSERT_NE(table.reader, nullptr);
  }
}

TEST_F(InspectTableTest, OnlyRanges) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.DeleteRange("a", "b").ok());
  ASSERT_TRUE(writer.Finish().ok());
  InspectedTable table;
  ASSERT_TRUE(Inspect(&table).ok());
  EXPECT_TRUE(table.smallest_point.empty());
  EXPECT_EQ(table.largest, InternalKey("b", kMaxSequenceNumber, kTypeRangeDeletion));
}

TEST_F(InspectTableTest, ATableWithoutEntriesIsNoError) {
  WriteFile(Build({}, true));
  InspectedTable table;
  const Status s = Inspect(&table);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(table.empty());
}

TEST_F(InspectTableTest, AMissingOrShortFile) {
  EXPECT_TRUE(Inspect().IsPathNotFound());
  WriteFile("no table");
  EXPECT_TRUE(Inspect().IsCorruption());
}

TEST_F(InspectTableTest, AnotherComparatorIsAnotherTable) {
  WriteFile(Build({IKey("a", 0)}, true));
  const InternalKeyComparator reverse(ReverseBytewiseComparator());
  inspect_.icmp = &reverse;
  EXPECT_TRUE(Inspect().IsInvalidArgument());
}

TEST_F(InspectTableTest, WhoMayHaveWrittenIt) {
  const auto accepts = [&](Writer writer) {
    inspect_.writer = writer;
    return Inspect().ok();
  };
  WriteFile(Build({IKey("a", 7)}, false));
  EXPECT_FALSE(accepts(Writer::kProgram));
  EXPECT_TRUE(accepts(Writer::kDatabase));
  EXPECT_TRUE(accepts(Writer::kEither));
  WriteFile(Build({IKey("a", 0)}, true));
  EXPECT_TRUE(accepts(Writer::kProgram));
  EXPECT_FALSE(accepts(Writer::kDatabase));
  EXPECT_TRUE(accepts(Writer::kEither));
}

TEST_F(InspectTableTest, WhatNoProgramCanWrite) {
  WriteFile(Build({IKey("a", 0), IKey("b", 5)}, true));
  EXPECT_TRUE(Inspect().IsCorruption());
  WriteFile(Build({IKey("a", 0, kTypeSingleDeletion)}, true));
  EXPECT_TRUE(Inspect().IsCorruption());
  WriteFile(Build({IKey("a", 0, kTypeValue), IKey("a", 0, kTypeDeletion)}, true));
  EXPECT_TRUE(Inspect().IsCorruption());
  inspect_.every_block = false;
  WriteFile(Build({IKey("a", 0), IKey("b", 5)}, true));
  EXPECT_TRUE(Inspect().IsCorruption()) << "at an end";
}

TEST_F(InspectTableTest, SequencesOfADatabase) {
  inspect_.writer = Writer::kDatabase;
  WriteFile(Build({IKey("a", 9), IKey("a", 4, kTypeSingleDeletion), IKey("b", 12)}, false));
  InspectedTable table;
  const Status s = Inspect(&table);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(table.smallest_seq, 4u);
  EXPECT_EQ(table.largest_seq, 12u);
  EXPECT_EQ(table.points, 3u);
}

TEST_F(InspectTableTest, TheUniqueIdThatIsExpected) {
  BlockTableBuildOptions options = BuildOptions(true);
  options.db_id = "id";
  options.db_session_id = "ABCDEFGHIJKLM1234567";
  options.file_number = 3;
  BuiltTable built(options);
  built.builder->Add(IKey("a", 0), "");
  ASSERT_TRUE(built.Finish().ok());
  WriteFile(built.file);
  InspectedTable table;
  ASSERT_TRUE(Inspect(&table).ok());
  inspect_.expected_unique_id = table.unique_id;
  EXPECT_TRUE(Inspect().ok());
  inspect_.expected_unique_id[3] ^= 1;
  EXPECT_TRUE(Inspect().IsCorruption());
}

TEST_F(InspectTableTest, ThePaceCanEndIt) {
  WriteFile(Build({IKey("a", 0)}, true));
  uint64_t bytes = 0;
  inspect_.pace = [&](uint64_t read) {
    bytes += read;
    return Status::OK();
  };
  EXPECT_TRUE(Inspect().ok());
  EXPECT_GT(bytes, 0u);
  inspect_.pace = [](uint64_t) { return Status::ShutdownInProgress(); };
  EXPECT_TRUE(Inspect().IsShutdownInProgress());
}

// Two places are excepted: the number that a database writes in place, which no checksum covers,
// and the padding of the footer.
TEST_F(InspectTableTest, NoFlippedByteIsOverlooked) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 20; i++) keys.push_back(IKey("key" + NumberKey(i), 0));
  const std::string file = Build(keys, true);
  for (size_t i = FirstSample(); i < file.size(); i += SampleStep()) {
    if (file[i] == '\0' && i >= file.size() - Footer::kMaxBytes) continue;
    std::string damaged = file;
    damaged[i] ^= 0x10;
    WriteFile(damaged);
    InspectedTable table;
    const Status s = Inspect(&table);
    EXPECT_TRUE(!s.ok() || table.global_seqno != 0) << "byte " << i;
  }
}

TEST_F(InspectTableTest, EachFailedReadIsAnError) {
  inspect_.fs = faults_.get();
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 50; i++) keys.push_back(IKey(NumberKey(i), 0));
  WriteFile(Build(keys, true));
  uint64_t nth = 0;
  for (bool struck = true; struck;) {
    FaultRule rule;
    rule.nth = ++nth;
    faults_->ClearFaults();
    faults_->Inject(rule);
    const Status s = Inspect();
    struck = faults_->strikes() > 0;
    EXPECT_EQ(s.ok(), !struck) << "call " << nth << ": " << s.ToString();
  }
  EXPECT_GT(nth, 3u);
}

}  // namespace
}  // namespace varve::testing
