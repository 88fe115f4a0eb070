// SPDX-License-Identifier: Apache-2.0

// Goal: a table that a program writes has the entries and properties that databases of both kinds
// expect of it; what is refused changes nothing; whatever fails leaves no file. Method: files in
// memory, each call of the file system made to fail in turn.

#include "varve/sst_file_writer.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/file_checksum.h"
#include "varve/rate_limiter.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/table_properties_collectors.h"

#include "tests/db/external/external_files.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string U64Timestamp(uint64_t time) {
  std::string text;
  PutFixed64(&text, time);
  return text;
}

class SstFileWriterTest : public ExternalFiles {
 protected:
  // Writes a file with a few entries of each kind.
  Status WriteSmallFile(SstFileWriter* writer, ExternalSstFileInfo* info = nullptr,
                        const std::string& path = kFile) {
    Status s = writer->Open(path);
    if (s.ok()) s = writer->Put("a", "1");
    if (s.ok()) s = writer->DeleteRange("m", "p");
    if (s.ok()) s = writer->Delete("b");
    if (s.ok()) s = writer->DeleteRange("c", "n");
    if (s.ok()) s = writer->Merge("c", "2");
    if (!s.ok()) {
      // A program would do so: the error stays, whatever is called.
      EXPECT_EQ(writer->Finish(info).ok(), false);
      return s;
    }
    return writer->Finish(info);
  }
};

TEST_F(SstFileWriterTest, HasEntriesOfSequenceZero) {
  SstFileWriter writer(EnvOptions(), options_);
  ExternalSstFileInfo info;
  ASSERT_TRUE(WriteSmallFile(&writer, &info).ok());
  const auto table = OpenTable();
  EXPECT_EQ(Points(*table), "a@0.1=1 b@0.0= c@0.2=2");
  ASSERT_NE(table->tombstones(), nullptr);
  EXPECT_EQ(table->tombstones()->tombstone_count(), 2u);
  EXPECT_TRUE(table->VerifyChecksum(ReadOptions()).ok());
}

TEST_F(SstFileWriterTest, HasThePropertiesOfItsKind) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(WriteSmallFile(&writer).ok());
  ASSERT_TRUE(WriteSmallFile(&writer, nullptr, "/ext/b.sst").ok());
  const auto first = OpenTable()->properties();
  const auto second = OpenTable("/ext/b.sst")->properties();

  EXPECT_EQ(first->db_id, "SST Writer");
  EXPECT_EQ(first->db_session_id.size(), 20u);
  EXPECT_EQ(first->db_session_id, second->db_session_id);
  EXPECT_EQ(first->orig_file_number, 1u);
  EXPECT_EQ(second->orig_file_number, 2u);
  EXPECT_EQ(first->user_collected_properties.at("rocksdb.external_sst_file.version"),
            std::string("\2\0\0\0", 4));
  EXPECT_EQ(first->user_collected_properties.at("rocksdb.external_sst_file.global_seqno"),
            std::string(8, '\0'));
  EXPECT_NE(first->external_sst_file_global_seqno_offset, 0u);
  EXPECT_TRUE(SstFileWriter::CreatedBySstFileWriter(*first));
  EXPECT_FALSE(SstFileWriter::CreatedBySstFileWriter(TableProperties()));
  EXPECT_EQ(first->creation_time, 0u);
  EXPECT_EQ(first->file_creation_time, 0u);
  EXPECT_EQ(first->oldest_key_time, 0u);
  EXPECT_EQ(first->column_family_id,
            TablePropertiesCollectorFactory::Context::kUnknownColumnFamily);
  EXPECT_EQ(first->column_family_name, "");
  EXPECT_EQ(first->comparator_name, "leveldb.BytewiseComparator");
  EXPECT_EQ(first->merge_operator_name, options_.merge_operator->Name());
  EXPECT_EQ(first->property_collectors_names, "[]");
  EXPECT_EQ(first->num_entries, 5u);
  EXPECT_EQ(first->num_deletions, 3u);
  EXPECT_EQ(first->num_merge_operands, 1u);
  EXPECT_EQ(first->num_range_deletions, 2u);
}

TEST_F(SstFileWriterTest, TellsOfTheFile) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  SstFileWriter writer(EnvOptions(), options_);
  EXPECT_EQ(writer.FileSize(), 0u);
  ExternalSstFileInfo info;
  ASSERT_TRUE(WriteSmallFile(&writer, &info).ok());
  EXPECT_EQ(info.file_path, kFile);
  EXPECT_EQ(info.smallest_key, "a");
  EXPECT_EQ(info.largest_key, "c");
  EXPECT_EQ(info.smallest_range_del_key, "c");
  EXPECT_EQ(info.largest_range_del_key, "p");
  EXPECT_EQ(info.num_entries, 3u);
  EXPECT_EQ(info.num_range_del_entries, 2u);
  EXPECT_EQ(info.sequence_number, 0u);
  EXPECT_EQ(info.version, 2);
  EXPECT_EQ(info.file_checksum_func_name, "FileChecksumCrc32c");
  EXPECT_EQ(info.file_checksum.size(), 4u);
  uint64_t size = 0;
  ASSERT_TRUE(mem_->GetFileSize(kFile, IOOptions(), &size, nullptr).ok());
  EXPECT_EQ(info.file_size, size);
  EXPECT_EQ(writer.FileSize(), size);
}

TEST_F(SstFileWriterTest, OnlyRangesMakeATableToo) {
  SstFileWriter writer(EnvOptions(), options_);
  ExternalSstFileInfo info;
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.DeleteRange("b", "d").ok());
  ASSERT_TRUE(writer.DeleteRange("a", "c").ok());
  ASSERT_TRUE(writer.DeleteRange("a", "b").ok());
  ASSERT_TRUE(writer.Finish(&info).ok());
  EXPECT_EQ(info.smallest_key + info.largest_key, "");
  EXPECT_EQ(info.smallest_range_del_key + info.largest_range_del_key, "ad");
  const auto table = OpenTable();
  EXPECT_EQ(Points(*table), "");
  EXPECT_EQ(table->properties()->num_range_deletions, 3u);
}

TEST_F(SstFileWriterTest, RefusedCallsChangeNothing) {
  SstFileWriter writer(EnvOptions(), options_);
  EXPECT_TRUE(writer.Put("a", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_TRUE(writer.Open(kFile).ok());
  EXPECT_TRUE(writer.Open("/ext/other").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_TRUE(writer.DeleteRange("b", "b").ok());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_TRUE(writer.Put("b", "1").ok());
  EXPECT_TRUE(writer.Put("b", "2").IsInvalidArgument());
  EXPECT_TRUE(writer.Delete("b").IsInvalidArgument());
  EXPECT_TRUE(writer.Merge("a", "2").IsInvalidArgument());
  EXPECT_TRUE(writer.Put("c", U64Timestamp(1), "2").IsInvalidArgument());
  EXPECT_TRUE(writer.Delete("c", U64Timestamp(1)).IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("c", "b").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("c", "d", U64Timestamp(1)).IsInvalidArgument());
  const Slice too_large("x", size_t{1} << 32);
  EXPECT_TRUE(writer.Put("c", too_large).IsInvalidArgument());
  EXPECT_TRUE(writer.Put(too_large, "c").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("c", too_large).IsInvalidArgument());
  EXPECT_TRUE(writer.PutEntity("c", {{"a", "1"}, {"a", "2"}}).IsCorruption());
  ASSERT_TRUE(writer.Put("c", "3").ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(writer.Put("d", "1").IsInvalidArgument());
  EXPECT_EQ(Points(*OpenTable()), "b@0.1=1 c@0.1=3");
  EXPECT_THAT(Names(), ElementsAre("a.sst"));
}

TEST_F(SstFileWriterTest, KeysAndValuesMayBeEmpty) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.Put(Slice(nullptr, 0), Slice(nullptr, 0)).ok());
  EXPECT_TRUE(writer.Put("", "1").IsInvalidArgument());
  ASSERT_TRUE(writer.DeleteRange(Slice(nullptr, 0), "b").ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(Points(*OpenTable()), "@0.1=");
}

TEST_F(SstFileWriterTest, RefusedOptionsMakeNoFile) {
  options_.compression = static_cast<CompressionType>(0x60);
  SstFileWriter writer(EnvOptions(), options_);
  EXPECT_FALSE(writer.Open(kFile).ok());
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(SstFileWriterTest, AnAbandonedFileGoes) {
  {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_TRUE(writer.Open(kFile).ok());
    ASSERT_TRUE(writer.Put("a", "1").ok());
    EXPECT_THAT(Names(), ElementsAre("a.sst"));
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(SstFileWriterTest, ItsContentIsDurableWhenItIsFinished) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(WriteSmallFile(&writer).ok());
  EXPECT_EQ(faults_->calls(FaultCall::kSync), 1u);
}

// Large enough for writes before the end.
TEST_F(SstFileWriterTest, WhateverFailsLeavesNoFile) {
  EnvOptions env_options;
  env_options.writable_file_max_buffer_size = 4096;
  const auto write = [&](SstFileWriter* writer) {
    Status s = writer->Open(kFile);
    const bool opened = s.ok();
    for (uint64_t i = 0; s.ok() && i < 1000; i++) s = writer->Put(NumberKey(i), "value");
    if (s.ok()) s = writer->DeleteRange("x", "y");
    if (s.ok()) return writer->Finish();
    if (opened) {
      EXPECT_EQ(writer->Put("z", "").ToString(), s.ToString());
      EXPECT_EQ(writer->DeleteRange("z", "zz").ToString(), s.ToString());
      EXPECT_EQ(writer->Finish().ToString(), s.ToString());
    }
    return s;
  };
  uint64_t nth = 0;
  for (bool struck = true; struck;) {
    nth++;
    faults_->ClearFaults();
    FaultRule rule;
    rule.calls = kMutatingFaultCalls & ~Only(FaultCall::kDelete);
    rule.nth = nth;
    faults_->Inject(rule);
    SstFileWriter writer(env_options, options_);
    const Status s = write(&writer);
    struck = faults_->strikes() > 0;
    // Space that could not be had in advance is no failure.
    if (!s.ok()) {
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      EXPECT_THAT(Names(), IsEmpty()) << "call " << nth;
    }
    faults_->ClearFaults();
    if (!s.ok()) {
      ASSERT_TRUE(write(&writer).ok()) << "call " << nth;
    }
    EXPECT_EQ(OpenTable()->properties()->num_entries, 1001u);
    ASSERT_TRUE(mem_->DeleteFile(kFile, IOOptions(), nullptr).ok());
  }
  EXPECT_GT(nth, 8u);
}

TEST_F(SstFileWriterTest, AFullDiskLeavesNoFile) {
  faults_->SetByteQuota(3000);
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(kFile).ok());
  for (uint64_t i = 0; i < 1000; i++) ASSERT_TRUE(writer.Put(NumberKey(i), "value").ok());
  EXPECT_TRUE(writer.Finish().IsNoSpace());
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(SstFileWriterTest, AnOlderFileIsReplacedAndItsOtherNamesKeepIt) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(WriteSmallFile(&writer).ok());
  ASSERT_TRUE(mem_->LinkFile(kFile, "/ext/linked", IOOptions(), nullptr).ok());
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.Put("new", "1").ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(Points(*OpenTable()), "new@0.1=1");
  EXPECT_EQ(Points(*OpenTable("/ext/linked")), "a@0.1=1 b@0.0= c@0.2=2");
}

TEST_F(SstFileWriterTest, KeysSortByTheComparator) {
  icmp_ = InternalKeyComparator(ReverseBytewiseComparator());
  options_.comparator = ReverseBytewiseComparator();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.Put("b", "1").ok());
  EXPECT_TRUE(writer.Put("c", "1").IsInvalidArgument());
  ASSERT_TRUE(writer.Put("a", "1").ok());
  EXPECT_TRUE(writer.DeleteRange("a", "b").IsInvalidArgument());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(Points(*OpenTable()), "b@0.1=1 a@0.1=1");
}

TEST_F(SstFileWriterTest, TimestampsArePartOfTheKey) {
  icmp_ = InternalKeyComparator(BytewiseComparatorWithU64Ts());
  options_.comparator = BytewiseComparatorWithU64Ts();
  SstFileWriter writer(EnvOptions(), options_);
  ExternalSstFileInfo info;
  ASSERT_TRUE(writer.Open(kFile).ok());
  EXPECT_TRUE(writer.Put("a", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.Merge("a", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.Delete("a").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("a", "b").IsInvalidArgument());
  EXPECT_TRUE(writer.Put("a", "short", "1").IsInvalidArgument());
  ASSERT_TRUE(writer.Put("a", U64Timestamp(9), "1").ok());
  ASSERT_TRUE(writer.Put("a", U64Timestamp(8), "2").ok());
  EXPECT_TRUE(writer.Put("a", U64Timestamp(8), "3").IsInvalidArgument());
  ASSERT_TRUE(writer.Delete("b", U64Timestamp(3)).ok());
  ASSERT_TRUE(writer.DeleteRange("c", "d", U64Timestamp(4)).ok());
  ASSERT_TRUE(writer.Finish(&info).ok());
  EXPECT_EQ(info.smallest_key, "a" + U64Timestamp(9));
  EXPECT_EQ(info.largest_key, "b" + U64Timestamp(3));
  EXPECT_EQ(info.largest_range_del_key, "d" + U64Timestamp(4));
  const auto table = OpenTable();
  EXPECT_EQ(Points(*table), "a" + U64Timestamp(9) + "@0.1=1 a" + U64Timestamp(8) + "@0.1=2 b" +
                                U64Timestamp(3) + "@0.20=");
  const auto& collected = table->properties()->user_collected_properties;
  EXPECT_EQ(collected.at("rocksdb.timestamp_min"), U64Timestamp(3));
  EXPECT_EQ(collected.at("rocksdb.timestamp_max"), U64Timestamp(9));
}

TEST_F(SstFileWriterTest, TimestampsCanBeLeftOut) {
  icmp_ = InternalKeyComparator(BytewiseComparatorWithU64Ts());
  options_.comparator = BytewiseComparatorWithU64Ts();
  options_.persist_user_defined_timestamps = false;
  SstFileWriter writer(EnvOptions(), options_);
  ExternalSstFileInfo info;
  ASSERT_TRUE(writer.Open(kFile).ok());
  EXPECT_TRUE(writer.Put("a", U64Timestamp(9), "1").IsInvalidArgument());
  ASSERT_TRUE(writer.Put("a", U64Timestamp(0), "1").ok());
  EXPECT_TRUE(writer.Put("a", U64Timestamp(0), "2").IsInvalidArgument());
  ASSERT_TRUE(writer.DeleteRange("b", "c", U64Timestamp(0)).ok());
  ASSERT_TRUE(writer.Finish(&info).ok());
  EXPECT_EQ(info.smallest_key, "a" + U64Timestamp(0));
  const auto table = OpenTable();
  EXPECT_EQ(table->properties()->user_defined_timestamps_persisted, 0u);
  EXPECT_EQ(table->properties()->comparator_name, "leveldb.BytewiseComparator.u64ts");
  EXPECT_EQ(table->properties()->raw_key_size, 2u + 2 * kInternalKeyTrailerBytes);
  EXPECT_EQ(Points(*table), "a" + U64Timestamp(0) + "@0.1=1");
}

TEST_F(SstFileWriterTest, CompressesAsTheLastLevel) {
  const auto codec = [&] {
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_TRUE(WriteSmallFile(&writer).ok());
    return OpenTable()->properties()->compression_name;
  };
  options_.compression = kLZ4Compression;
  EXPECT_EQ(codec(), "LZ4");
  options_.compression_per_level = {kNoCompression, kLZ4Compression, kZSTD};
  EXPECT_EQ(codec(), "ZSTD");
  options_.bottommost_compression = kZlibCompression;
  EXPECT_EQ(codec(), "Zlib");
}

// The number of compressing threads changes no byte, though a collector would have to be asked for
// more than the data.
TEST_F(SstFileWriterTest, ThreadsChangeNoByte) {
  options_.compression = kZSTD;
  const auto content = [&](uint32_t threads) {
    options_.compression_opts.parallel_threads = threads;
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_TRUE(writer.Open(kFile).ok());
    for (uint64_t i = 0; i < 20000; i++) {
      EXPECT_TRUE(writer.Put(NumberKey(i), "value " + std::to_string(i % 77)).ok());
    }
    EXPECT_TRUE(writer.Finish().ok());
    return Points(*OpenTable());
  };
  EXPECT_EQ(content(1), content(3));
}

TEST_F(SstFileWriterTest, AFamilysHandleIsRecorded) {
  options_.create_if_missing = true;
  DB* raw = nullptr;
  ASSERT_TRUE(DB::Open(options_, "/db", &raw).ok());
  const std::unique_ptr<DB> db(raw);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options_, "other", &family).ok());
  SstFileWriter writer(EnvOptions(), options_, family);
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  ASSERT_TRUE(WriteSmallFile(&writer).ok());
  EXPECT_EQ(OpenTable()->properties()->column_family_id, 1u);
  EXPECT_EQ(OpenTable()->properties()->column_family_name, "other");
}

// Throws at the second entry.
class Thrower final : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice&, const Slice&, EntryType, SequenceNumber, uint64_t) override {
    if (++entries_ == 2) throw std::runtime_error("of the collector");
    return Status::OK();
  }
  Status Finish(UserCollectedProperties*) override { return Status::OK(); }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "thrower"; }

 private:
  int entries_ = 0;
};

class ThrowerFactory final : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override { return new Thrower; }
  const char* Name() const override { return "throwers"; }
};

TEST_F(SstFileWriterTest, WhatACollectorThrowsStays) {
  options_.table_properties_collector_factories.push_back(std::make_shared<ThrowerFactory>());
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(kFile).ok());
  ASSERT_TRUE(writer.Put("a", "1").ok());
  const Status s = writer.Put("b", "1");
  EXPECT_TRUE(s.IsAborted());
  EXPECT_THAT(s.ToString(), HasSubstr("of the collector"));
  EXPECT_TRUE(writer.Put("c", "1").IsAborted());
  EXPECT_TRUE(writer.DeleteRange("d", "e").IsAborted());
  EXPECT_TRUE(writer.Finish().IsAborted());
  EXPECT_THAT(Names(), IsEmpty());
  ASSERT_TRUE(writer.Open(kFile).ok());
}

TEST_F(SstFileWriterTest, WritesAreLimitedWithAPriority) {
  options_.rate_limiter.reset(NewGenericRateLimiter(int64_t{1} << 30));
  SstFileWriter free(EnvOptions(), options_);
  ASSERT_TRUE(WriteSmallFile(&free).ok());
  EXPECT_EQ(options_.rate_limiter->GetTotalBytesThrough(), 0);
  SstFileWriter limited(EnvOptions(), options_, nullptr, true, Env::IO_LOW);
  ASSERT_TRUE(WriteSmallFile(&limited).ok());
  EXPECT_EQ(options_.rate_limiter->GetTotalBytesThrough(Env::IO_LOW),
            static_cast<int64_t>(limited.FileSize()));
}

TEST_F(SstFileWriterTest, CollectorsSeeTheEntries) {
  options_.table_properties_collector_factories.push_back(
      NewCompactOnDeletionCollectorFactory(10, 5, 0));
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(WriteSmallFile(&writer).ok());
  EXPECT_EQ(OpenTable()->properties()->property_collectors_names, "[CompactOnDeletionCollector]");
}

}  // namespace
}  // namespace varve::testing
