// SPDX-License-Identifier: Apache-2.0

// Reads tables that the installed RocksDB library has written, over its table options, and expects
// what RocksDB itself reads from them.

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

#include "tests/table/iterator_walk.h"
#include "tests/table/table_harness.h"

namespace varve {
namespace {

using test::Entries;
using test::IKey;
using test::InternalKeyLess;
using test::Model;
using test::OpenTable;
using Foreign = rocksdb::BlockBasedTableOptions;

struct Layout {
  const char* name;
  std::function<void(Foreign*, rocksdb::Options*)> change;
};

const Layout kLayouts[] = {
    {"defaults", [](Foreign*, rocksdb::Options*) {}},
    {"version 0",
     [](Foreign* t, rocksdb::Options*) {
       t->format_version = 0;
       t->checksum = rocksdb::kCRC32c;
     }},
    {"version 1", [](Foreign* t, rocksdb::Options*) { t->format_version = 1; }},
    {"version 2", [](Foreign* t, rocksdb::Options*) { t->format_version = 2; }},
    {"version 3", [](Foreign* t, rocksdb::Options*) { t->format_version = 3; }},
    {"version 4",
     [](Foreign* t, rocksdb::Options*) {
       t->format_version = 4;
       t->index_block_restart_interval = 8;
     }},
    {"no checksum", [](Foreign* t, rocksdb::Options*) { t->checksum = rocksdb::kNoChecksum; }},
    {"crc32c", [](Foreign* t, rocksdb::Options*) { t->checksum = rocksdb::kCRC32c; }},
    {"xxhash", [](Foreign* t, rocksdb::Options*) { t->checksum = rocksdb::kxxHash; }},
    {"xxhash64", [](Foreign* t, rocksdb::Options*) { t->checksum = rocksdb::kxxHash64; }},
    {"xxh3", [](Foreign* t, rocksdb::Options*) { t->checksum = rocksdb::kXXH3; }},
    {"none", [](Foreign*, rocksdb::Options* o) { o->compression = rocksdb::kNoCompression; }},
    {"zlib", [](Foreign*, rocksdb::Options* o) { o->compression = rocksdb::kZlibCompression; }},
    {"bzip2", [](Foreign*, rocksdb::Options* o) { o->compression = rocksdb::kBZip2Compression; }},
    {"lz4", [](Foreign*, rocksdb::Options* o) { o->compression = rocksdb::kLZ4Compression; }},
    {"lz4 version 1",
     [](Foreign* t, rocksdb::Options* o) {
       t->format_version = 1;
       o->compression = rocksdb::kLZ4Compression;
     }},
    {"zstd", [](Foreign*, rocksdb::Options* o) { o->compression = rocksdb::kZSTD; }},
    {"zstd dictionary",
     [](Foreign*, rocksdb::Options* o) {
       o->compression = rocksdb::kZSTD;
       o->compression_opts.max_dict_bytes = 4096;
       o->compression_opts.zstd_max_train_bytes = 65536;
     }},
    {"lz4 dictionary",
     [](Foreign*, rocksdb::Options* o) {
       o->compression = rocksdb::kLZ4Compression;
       o->compression_opts.max_dict_bytes = 4096;
     }},
    {"partitions",
     [](Foreign* t, rocksdb::Options*) {
       t->index_type = Foreign::kTwoLevelIndexSearch;
       t->partition_filters = true;
       t->metadata_block_size = 256;
     }},
    {"partitions, restarts",
     [](Foreign* t, rocksdb::Options*) {
       t->index_type = Foreign::kTwoLevelIndexSearch;
       t->metadata_block_size = 256;
       t->index_block_restart_interval = 4;
     }},
    {"hash index",
     [](Foreign* t, rocksdb::Options* o) {
       t->index_type = Foreign::kHashSearch;
       o->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(7));
     }},
    {"first keys",
     [](Foreign* t, rocksdb::Options*) { t->index_type = Foreign::kBinarySearchWithFirstKey; }},
    {"data block hash",
     [](Foreign* t, rocksdb::Options*) {
       t->data_block_index_type = Foreign::kDataBlockBinaryAndHash;
     }},
    {"ribbon",
     [](Foreign* t, rocksdb::Options*) {
       t->filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1));
     }},
    {"old bloom", [](Foreign* t, rocksdb::Options*) { t->format_version = 4; }},
    {"prefixes only",
     [](Foreign* t, rocksdb::Options* o) {
       t->whole_key_filtering = false;
       o->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(7));
     }},
    {"aligned",
     [](Foreign* t, rocksdb::Options* o) {
       t->block_align = true;
       t->block_size = 4096;
       o->compression = rocksdb::kNoCompression;
     }},
    {"whole keys", [](Foreign* t, rocksdb::Options*) { t->use_delta_encoding = false; }},
    {"reverse",
     [](Foreign*, rocksdb::Options* o) { o->comparator = rocksdb::ReverseBytewiseComparator(); }},
};

class ForeignTables : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        std::filesystem::temp_directory_path() / ("varve_foreign_" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static std::string ReadFile(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  // Returns the only table in the directory.
  std::string TheTable(const std::filesystem::path& where) {
    std::string content;
    for (const auto& entry : std::filesystem::directory_iterator(where)) {
      if (entry.path().extension() == ".sst") content = ReadFile(entry.path());
    }
    return content;
  }

  std::filesystem::path directory_;
};

rocksdb::Options ForeignOptions(const Layout& layout) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kSnappyCompression;
  options.disable_auto_compactions = true;
  Foreign table;
  table.block_size = 700;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  layout.change(&table, &options);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

void CheckTable(OpenTable* table, const Model& model) {
  const Status verified = table->reader->VerifyChecksum(ReadOptions());
  ASSERT_TRUE(verified.ok()) << verified.ToString();
  Entries entries;
  const Status s = table->ReadAll(&entries);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(entries, Entries(model.begin(), model.end()));
  const std::vector<std::string> targets = test::TargetsFor(model, 1);
  const ReadOptions read;
  const auto iter = table->reader->NewIterator(read, TableIterOptions());
  test::WalkAtRandom(iter.get(), model, targets, 1, 500);
  if (::testing::Test::HasFatalFailure()) return;
  size_t negatives = 0;
  for (const std::string& target : targets) {
    const Slice user_key = ExtractUserKey(target);
    const auto it = model.lower_bound(IKey(user_key, kMaxSequenceNumber, kValueTypeForSeek));
    const bool present = it != model.end() && ExtractUserKey(it->first) == user_key;
    std::string value;
    const PointLookup::State state = table->Get(user_key, kMaxSequenceNumber - 1, &value);
    if (!present) {
      ASSERT_EQ(state, PointLookup::State::kSearching);
      const PointLookup lookup(user_key, 9, nullptr);
      negatives += table->reader->KeyMayMatch(read, lookup) ? 0 : 1;
    } else if (ExtractValueType(it->first) == kTypeValue) {
      ASSERT_EQ(state, PointLookup::State::kFound) << table->status.ToString();
      ASSERT_EQ(value, it->second);
    } else {
      ASSERT_EQ(state, PointLookup::State::kDeleted);
    }
  }
  EXPECT_GT(negatives, 0u) << "the filter never helps";
}

TEST_F(ForeignTables, OfEveryLayoutAreReadAsTheyWereWritten) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(layout.name);
    const rocksdb::Options options = ForeignOptions(layout);
    const bool reverse = options.comparator == rocksdb::ReverseBytewiseComparator();
    OpenTable table(reverse ? ReverseBytewiseComparator() : BytewiseComparator());
    Model model{InternalKeyLess{&table.icmp}};
    const std::filesystem::path path = directory_ / layout.name;
    rocksdb::DB* raw = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options, path.string(), &raw);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    const std::unique_ptr<rocksdb::DB> db(raw);
    std::mt19937 random(5);
    std::vector<const rocksdb::Snapshot*> snapshots;
    for (int i = 0; i < 3000; i++) {
      char key[32];
      snprintf(key, sizeof(key), "key%05u", static_cast<unsigned>(random() % 1500));
      const SequenceNumber seq = db->GetLatestSequenceNumber() + 1;
      if (random() % 8 == 0) {
        ASSERT_TRUE(db->Delete(rocksdb::WriteOptions(), key).ok());
        model[IKey(key, seq, kTypeDeletion)] = "";
      } else {
        const std::string value(random() % 20 == 0 ? 900 : random() % 60, "xyz"[i % 3]);
        ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), key, value).ok());
        model[IKey(key, seq)] = value;
      }
      // With a snapshot after each write, no version is dropped.
      snapshots.push_back(db->GetSnapshot());
    }
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
    const std::string file = TheTable(path);
    table.options.table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.options.table.block_cache = NewLRUCache(8 << 20);
    if (options.prefix_extractor != nullptr) {
      table.options.prefix_extractor.reset(NewFixedPrefixTransform(7));
    }
    const Status s = table.Open(file);
    ASSERT_TRUE(s.ok()) << s.ToString();
    CheckTable(&table, model);
    for (const rocksdb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(ForeignTables, OfSstFileWriterTakeTheirGlobalSequenceNumber) {
  const rocksdb::Options options = ForeignOptions(kLayouts[0]);
  const std::string external = (directory_ / "external.sst").string();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ASSERT_TRUE(writer.Open(external).ok());
  for (int i = 0; i < 500; i++) {
    char key[32];
    snprintf(key, sizeof(key), "key%05d", i);
    ASSERT_TRUE(writer.Put(key, "value").ok());
  }
  ASSERT_TRUE(writer.DeleteRange("x", "y").ok());
  ASSERT_TRUE(writer.Finish().ok());
  for (const bool write_global_seqno : {false, true}) {
    const std::filesystem::path path = directory_ / (write_global_seqno ? "written" : "kept");
    rocksdb::DB* raw = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, path.string(), &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    // Something that overlaps, so that the file gets a number of its own.
    ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key00100", "old").ok());
    const rocksdb::Snapshot* const snapshot = db->GetSnapshot();
    rocksdb::IngestExternalFileOptions ingest;
    ingest.write_global_seqno = write_global_seqno;
    ingest.move_files = false;
    ASSERT_TRUE(db->IngestExternalFile({external}, ingest).ok());
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    bool seen = false;
    for (const auto& file : files) {
      if (file.largest_seqno == 1) continue;  // the flushed one
      seen = true;
      OpenTable table;
      table.options.largest_seq = file.largest_seqno;
      const Status s = table.Open(ReadFile(path / file.relative_filename));
      ASSERT_TRUE(s.ok()) << s.ToString();
      Entries entries;
      ASSERT_TRUE(table.ReadAll(&entries).ok());
      ASSERT_EQ(entries.size(), 500u);
      EXPECT_EQ(entries[7].first, IKey("key00007", file.largest_seqno));
      ASSERT_NE(table.reader->tombstones(), nullptr);
      EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq("x5", 1000), file.largest_seqno);
      EXPECT_GT(file.largest_seqno, 1u);
    }
    EXPECT_TRUE(seen);
    db->ReleaseSnapshot(snapshot);
  }
}

TEST_F(ForeignTables, RangeDeletionsAreRead) {
  const rocksdb::Options options = ForeignOptions(kLayouts[0]);
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, (directory_ / "ranges").string(), &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "b", "1").ok());
  // Keeps the entry in the table although it is deleted.
  const rocksdb::Snapshot* const snapshot = db->GetSnapshot();
  ASSERT_TRUE(db->DeleteRange(rocksdb::WriteOptions(), db->DefaultColumnFamily(), "a", "m").ok());
  ASSERT_TRUE(db->DeleteRange(rocksdb::WriteOptions(), db->DefaultColumnFamily(), "f", "z").ok());
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "g", "2").ok());
  ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  OpenTable table;
  ASSERT_TRUE(table.Open(TheTable(directory_ / "ranges")).ok());
  ASSERT_NE(table.reader->tombstones(), nullptr);
  EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq("b", 100), 2u);
  EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq("g", 100), 3u);
  EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq("z", 100), 0u);
  std::string value;
  EXPECT_EQ(table.Get("b", 100, &value), PointLookup::State::kDeleted);
  EXPECT_EQ(table.Get("g", 100, &value), PointLookup::State::kFound);
  db->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace varve
