// SPDX-License-Identifier: Apache-2.0

// Goal: the installed RocksDB library ingests the tables of our writer, we read those of its
// writer, and both say the same of them. Method: both libraries in one process, one directory.

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "varve/comparator.h"
#include "varve/filter_policy.h"
#include "varve/sst_file_reader.h"
#include "varve/sst_file_writer.h"
#include "varve/table.h"

#include "table/inspect/inspect_table.h"

namespace varve {
namespace {

using Table = BlockBasedTableOptions;

// Joins operands with a comma.
class Joining final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result =
        existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "test.joining"; }
};

struct Layout {
  const char* name;
  std::function<void(Table*, Options*)> change;
};

const Layout kLayouts[] = {
    {"plain", [](Table*, Options* o) { o->compression = kNoCompression; }},
    {"snappy", [](Table*, Options* o) { o->compression = kSnappyCompression; }},
    {"zstd by two threads",
     [](Table*, Options* o) {
       o->compression = kZSTD;
       o->compression_opts.parallel_threads = 2;
     }},
    {"filter", [](Table* t, Options*) { t->filter_policy.reset(NewBloomFilterPolicy(10)); }},
    {"partitions",
     [](Table* t, Options*) {
       t->index_type = Table::kTwoLevelIndexSearch;
       t->partition_filters = true;
       t->filter_policy.reset(NewBloomFilterPolicy(10));
       t->metadata_block_size = 256;
     }},
    {"version 2",
     [](Table* t, Options*) {
       t->format_version = 2;
       t->checksum = kCRC32c;
     }},
};

std::string Key(int i) {
  return "key" + std::to_string(100000 + i);
}

class ExternalInterop : public ::testing::Test {
 protected:
  static constexpr int kKeys = 5000;

  void SetUp() override {
    directory_ =
        std::filesystem::temp_directory_path() / ("varve_external_" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    file_ = (directory_ / "file.sst").string();
    foreign_.create_if_missing = true;
    foreign_.merge_operator = std::make_shared<Joining>();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Options OurOptions(const Layout& layout) const {
    Options options;
    Table table;
    table.format_version = 5;
    layout.change(&table, &options);
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return options;
  }

  // Writes the same entries through either library's writer.
  template <typename Writer>
  void Fill(Writer* writer) {
    ASSERT_TRUE(writer->Open(file_).ok());
    for (int i = 0; i < kKeys; i++) {
      if (i % 7 == 1) {
        ASSERT_TRUE(writer->Delete(Key(i)).ok());
      } else if (i % 7 == 2) {
        ASSERT_TRUE(writer->Merge(Key(i), "operand").ok());
      } else {
        ASSERT_TRUE(writer->Put(Key(i), "value" + std::to_string(i)).ok());
      }
    }
    ASSERT_TRUE(writer->DeleteRange("z5", "z8").ok());
    ASSERT_TRUE(writer->DeleteRange("z1", "z6").ok());
    ASSERT_TRUE(writer->Finish().ok());
  }

  void CheckIngested(rocksdb::DB* db) {
    std::string value;
    for (int i = 0; i < kKeys; i += 3) {
      const rocksdb::Status s = db->Get(rocksdb::ReadOptions(), Key(i), &value);
      if (i % 7 == 1) {
        ASSERT_TRUE(s.IsNotFound()) << Key(i);
      } else {
        ASSERT_TRUE(s.ok()) << s.ToString();
        ASSERT_EQ(value, i % 7 != 2 ? "value" + std::to_string(i)
                         : i < 10   ? "old,operand"
                                    : "operand");
      }
    }
    ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), "z3", &value).IsNotFound());
    ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), "z9", &value).ok());
    ASSERT_TRUE(db->VerifyChecksum().ok());
  }

  std::unique_ptr<rocksdb::DB> OpenForeign() {
    rocksdb::DB* db = nullptr;
    const rocksdb::Status s = rocksdb::DB::Open(foreign_, (directory_ / "db").string(), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return std::unique_ptr<rocksdb::DB>(db);
  }

  Status InspectOurs(InspectedTable* table) {
    static const InternalKeyComparator icmp(BytewiseComparator());
    InspectOptions options;
    options.fs = FileSystem::Default().get();
    options.icmp = &icmp;
    options.factory.reset(NewBlockBasedTableFactory());
    options.every_block = true;
    return InspectTable(file_, options, table);
  }

  std::filesystem::path directory_;
  std::string file_;
  rocksdb::Options foreign_;
};

TEST_F(ExternalInterop, RocksDbIngestsWhatWeWrite) {
  for (const Layout& layout : kLayouts) {
    for (const bool write_number : {false, true}) {
      SCOPED_TRACE(layout.name);
      std::filesystem::remove_all(directory_ / "db");
      SstFileWriter writer(EnvOptions(), OurOptions(layout));
      Fill(&writer);
      auto db = OpenForeign();
      for (int i = 0; i < 10; i++) {
        ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), Key(i), "old").ok());
      }
      for (const char* const key : {"z3", "z9"}) {
        ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), key, "old").ok());
      }
      rocksdb::IngestExternalFileOptions ingest;
      ingest.verify_checksums_before_ingest = true;
      ingest.write_global_seqno = write_number;
      const rocksdb::Status s = db->IngestExternalFile({file_}, ingest);
      ASSERT_TRUE(s.ok()) << s.ToString();
      CheckIngested(db.get());
      db.reset();
      db = OpenForeign();
      CheckIngested(db.get());
      ASSERT_TRUE(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
      CheckIngested(db.get());
    }
  }
}

TEST_F(ExternalInterop, WeReadWhatRocksDbWrites) {
  rocksdb::BlockBasedTableOptions plain;
  rocksdb::BlockBasedTableOptions partitioned;
  partitioned.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  partitioned.metadata_block_size = 256;
  rocksdb::BlockBasedTableOptions filtered;
  filtered.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  filtered.format_version = 4;
  for (const auto& table : {plain, partitioned, filtered}) {
    foreign_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), foreign_);
    Fill(&writer);
    InspectedTable inspected;
    Status s = InspectOurs(&inspected);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(inspected.points, uint64_t{kKeys});
    EXPECT_EQ(inspected.smallest.user_key().ToString(), Key(0));
    EXPECT_EQ(inspected.largest.user_key().ToString(), "z8");
    EXPECT_FALSE(inspected.unique_id.empty());

    SstFileReader reader((Options()));
    s = reader.Open(file_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_TRUE(SstFileWriter::CreatedBySstFileWriter(*reader.GetTableProperties()));
    EXPECT_TRUE(reader.VerifyNumEntries(ReadOptions()).ok());
    const std::unique_ptr<Iterator> it = reader.NewTableIterator();
    int n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), n++) {
      ParsedEntryInfo entry;
      ASSERT_TRUE(reader.ParseTableIteratorKey(it->key(), &entry).ok());
      EXPECT_EQ(entry.user_key.ToString(), Key(n));
      EXPECT_EQ(entry.sequence, 0u);
    }
    EXPECT_EQ(n, kKeys);
    std::string value;
    ASSERT_TRUE(reader.Get(ReadOptions(), Key(3), &value).ok());
    EXPECT_EQ(value, "value3");
  }
}

TEST_F(ExternalInterop, BothSayTheSameOfATable) {
  rocksdb::SstFileWriter theirs(rocksdb::EnvOptions(), foreign_);
  Fill(&theirs);
  InspectedTable of_theirs;
  ASSERT_TRUE(InspectOurs(&of_theirs).ok());
  const TableProperties expected = *of_theirs.properties;
  Options options = OurOptions(kLayouts[1]);
  SstFileWriter ours(EnvOptions(), options);
  Fill(&ours);
  InspectedTable of_ours;
  ASSERT_TRUE(InspectOurs(&of_ours).ok());
  const TableProperties found = *of_ours.properties;
  EXPECT_EQ(found.db_id, expected.db_id);
  EXPECT_EQ(found.db_session_id.size(), expected.db_session_id.size());
  EXPECT_EQ(found.orig_file_number, expected.orig_file_number);
  EXPECT_EQ(found.db_host_id, expected.db_host_id);
  EXPECT_EQ(found.column_family_id, expected.column_family_id);
  EXPECT_EQ(found.column_family_name, expected.column_family_name);
  EXPECT_EQ(found.comparator_name, expected.comparator_name);
  EXPECT_EQ(found.prefix_extractor_name, expected.prefix_extractor_name);
  EXPECT_EQ(found.property_collectors_names, expected.property_collectors_names);
  EXPECT_EQ(found.filter_policy_name, expected.filter_policy_name);
  EXPECT_EQ(found.compression_name, expected.compression_name);
  EXPECT_EQ(found.creation_time, expected.creation_time);
  EXPECT_EQ(found.file_creation_time, expected.file_creation_time);
  EXPECT_EQ(found.oldest_key_time, expected.oldest_key_time);
  EXPECT_EQ(found.num_entries, expected.num_entries);
  EXPECT_EQ(found.num_deletions, expected.num_deletions);
  EXPECT_EQ(found.num_merge_operands, expected.num_merge_operands);
  EXPECT_EQ(found.num_range_deletions, expected.num_range_deletions);
  EXPECT_EQ(found.raw_key_size, expected.raw_key_size);
  EXPECT_EQ(found.raw_value_size, expected.raw_value_size);
  EXPECT_EQ(found.num_data_blocks, expected.num_data_blocks);
  EXPECT_EQ(found.user_collected_properties.at("rocksdb.external_sst_file.version"),
            expected.user_collected_properties.at("rocksdb.external_sst_file.version"));
  EXPECT_EQ(found.user_collected_properties.at("rocksdb.external_sst_file.global_seqno"),
            expected.user_collected_properties.at("rocksdb.external_sst_file.global_seqno"));
  EXPECT_EQ(of_ours.smallest, of_theirs.smallest);
  EXPECT_EQ(of_ours.largest, of_theirs.largest);
}

}  // namespace
}  // namespace varve
