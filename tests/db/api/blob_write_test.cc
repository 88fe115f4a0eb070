// SPDX-License-Identifier: Apache-2.0

// Tests what flushes and compactions do with large values: which leave their tables, when blob
// files go, what a failure leaves, and that readers get what they would get without blob files.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/convenience.h"
#include "varve/listener.h"
#include "varve/merge_operator.h"
#include "varve/snapshot.h"
#include "varve/sst_file_manager.h"
#include "varve/sst_file_reader.h"
#include "varve/statistics.h"
#include "varve/utilities/checkpoint.h"

#include "db/backup/restored_state.h"
#include "tests/db/api/blob_database.h"
#include "tests/harness/random.h"
#include "util/compress/codec.h"

namespace varve {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class BlobWriteTest : public BlobDatabase {};

TEST_F(BlobWriteTest, AFlushKeepsLargeValuesApart) {
  Open();
  Put("large", Large('l'));
  Put("small", "s");
  Put("limit", Large('x', 100));
  Put("below", Large('y', 99));
  Flush();
  ASSERT_THAT(Blobs(), SizeIs(1));
  // Two records of 32 bytes, key and value, between header and footer.
  EXPECT_EQ(ReadFile(std::string(kName) + "/" + Blobs()[0]).size(), 62u + 2 * (32 + 5) + 200 + 100);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Get("large"), Large('l'));
    EXPECT_EQ(Get("limit"), Large('x', 100));
    EXPECT_EQ(Get("below"), Large('y', 99));
    EXPECT_EQ(Scan(), "below=" + Large('y', 99) + " large=" + Large('l') +
                          " limit=" + Large('x', 100) + " small=s");
    Reopen();
  }
}

TEST_F(BlobWriteTest, AFileOfFullSizeIsClosed) {
  options_.blob_file_size = 1000;
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), Large('v', 400));
  Flush();
  EXPECT_THAT(Blobs(), SizeIs(4));
  Reopen();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(Key(i)), Large('v', 400));
}

TEST_F(BlobWriteTest, FewOpenFilesSuffice) {
  options_.blob_file_size = 1000;
  options_.max_open_files = 20;
  Open();
  for (int i = 0; i < 100; ++i) Put(Key(i), Large(static_cast<char>('a' + i % 26), 600));
  Flush();
  ASSERT_THAT(Blobs(), SizeIs(50));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Get(Key(i)), Large(static_cast<char>('a' + i % 26), 600));
  }
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(Key(i));
  const std::vector<Slice> keys(names.begin(), names.end());
  std::vector<std::string> values;
  for (const Status& s : db()->MultiGet(ReadOptions(), keys, &values)) EXPECT_TRUE(s.ok());
  EXPECT_EQ(values[99], Large(static_cast<char>('a' + 99 % 26), 600));
  EXPECT_TRUE(db()->VerifyChecksum().ok());
  // The first file's reader has made room, and the last one's is still open.
  for (const std::string& name : {Blobs().front(), Blobs().back()}) {
    ASSERT_TRUE(options_.env->DeleteFile(std::string(kName) + "/" + name).ok());
  }
  std::string value;
  EXPECT_TRUE(db()->Get(ReadOptions(), Key(0), &value).IsCorruption());
  EXPECT_TRUE(db()->Get(ReadOptions(), Key(99), &value).ok());
}

TEST_F(BlobWriteTest, ARestoreNeedsItsBlobFiles) {
  Open();
  Put("large", Large('l'));
  Flush();
  ASSERT_TRUE(Close().ok());
  std::map<uint64_t, std::string> files;
  for (const FileType kind : {kTableFile, kBlobFile}) {
    for (const std::string& name : Files(kind)) {
      files[std::stoull(name)] = std::string(kName) + "/" + name;
    }
  }
  FileSystem* const fs = options_.env->GetFileSystem().get();
  const Status whole = CheckRestoredState(fs, kName, files);
  EXPECT_TRUE(whole.ok()) << whole.ToString();
  files.erase(std::stoull(Blobs().at(0)));
  const Status s = CheckRestoredState(fs, kName, files);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_THAT(s.ToString(), ::testing::HasSubstr("names blob file"));
}

TEST_F(BlobWriteTest, AllCodecsStoreValues) {
  for (const CompressionType type :
       {kSnappyCompression, kZlibCompression, kLZ4Compression, kZSTD}) {
    if (!CodecSupported(type)) continue;
    options_.blob_compression_type = type;
    Open();
    Put(Key(type), Large('c', 5000));
    Flush();
    EXPECT_EQ(Get(Key(type)), Large('c', 5000));
    ASSERT_TRUE(Close().ok());
  }
  options_.enable_blob_files = false;
  Open();
  EXPECT_EQ(Get(Key(kSnappyCompression)), Large('c', 5000));
}

TEST_F(BlobWriteTest, AFileWithoutReferencesGoes) {
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), Large('a'));
  Flush();
  const std::vector<std::string> first = Blobs();
  ASSERT_THAT(first, SizeIs(1));
  for (int i = 0; i < 9; ++i) Put(Key(i), Large('b'));
  Flush();
  Compact();
  EXPECT_THAT(Blobs(), SizeIs(2)) << "one value is still there";
  Delete(Key(9));
  Flush();
  Compact();
  EXPECT_THAT(Blobs(), SizeIs(1));
  EXPECT_NE(Blobs(), first);
  Reopen();
  for (int i = 0; i < 9; ++i) EXPECT_EQ(Get(Key(i)), Large('b'));
  EXPECT_EQ(Get(Key(9)), "NOT_FOUND");
}

TEST_F(BlobWriteTest, GarbageCollectionWritesOldValuesAnew) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 0.5;
  Open();
  for (int file = 0; file < 4; ++file) {
    for (int i = 0; i < 5; ++i) Put(Key(file * 5 + i), Large(static_cast<char>('a' + file)));
    Flush();
  }
  const std::vector<std::string> before = Blobs();
  ASSERT_THAT(before, SizeIs(4));
  Compact();
  const std::vector<std::string> after = Blobs();
  ASSERT_THAT(after, SizeIs(3)) << "the oldest two became one";
  EXPECT_EQ(after[0], before[2]);
  EXPECT_EQ(after[1], before[3]);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get(Key(i)), Large(static_cast<char>('a' + i / 5)));
}

// A compaction that meets both writes two files.
TEST_F(BlobWriteTest, SurvivorsOfGarbageCollectionLieApartFromNewValues) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  for (int i = 0; i < 5; ++i) Put(Key(2 * i), Large('a'));
  Flush();
  Set("blob_file_starting_level", "1");
  for (int i = 0; i < 3; ++i) Put(Key(2 * i + 1), Large('b'));
  Flush();
  const std::vector<std::string> before = Blobs();
  ASSERT_THAT(before, SizeIs(1));
  Compact();
  EXPECT_THAT(Blobs(), Not(Contains(before[0])));
  ColumnFamilyMetaData metadata;
  db()->GetColumnFamilyMetaData(&metadata);
  ASSERT_THAT(metadata.blob_files, SizeIs(2));
  EXPECT_EQ(metadata.blob_files[0].total_blob_count, 5u);
  EXPECT_EQ(metadata.blob_files[1].total_blob_count, 3u);
  Reopen();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Get(Key(2 * i)), Large('a'));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(Key(2 * i + 1)), Large('b'));
}

// CompactRange decides about garbage of blob files in place of the family's options.
TEST_F(BlobWriteTest, ACallSaysWhetherItCollectsGarbage) {
  using Policy = BlobGarbageCollectionPolicy;
  struct Case {
    bool enabled;
    Policy policy;
    double cutoff;
    size_t rewritten;  // of four files
  };
  for (const Case& c : {Case{false, Policy::kUseDefault, 1, 0}, Case{false, Policy::kForce, 0.5, 2},
                        Case{false, Policy::kForce, 1, 4}, Case{true, Policy::kDisable, 1, 0},
                        Case{true, Policy::kUseDefault, -1, 1}, Case{true, Policy::kForce, 2, 1},
                        Case{true, Policy::kUseDefault, 0.75, 3}}) {
    SCOPED_TRACE(std::to_string(static_cast<int>(c.policy)) + " " + std::to_string(c.cutoff));
    options_.enable_blob_garbage_collection = c.enabled;
    options_.blob_garbage_collection_age_cutoff = 0.25;
    Open();
    for (int file = 0; file < 4; ++file) {
      Put(Key(file), Large(static_cast<char>('a' + file)));
      Flush();
    }
    const std::vector<std::string> before = Blobs();
    ASSERT_THAT(before, SizeIs(4));
    CompactRangeOptions call;
    call.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    call.blob_garbage_collection_policy = c.policy;
    call.blob_garbage_collection_age_cutoff = c.cutoff;
    ASSERT_TRUE(db()->CompactRange(call, nullptr, nullptr).ok());
    const std::vector<std::string> after = Blobs();
    size_t left = 0;
    for (const std::string& name : before) left += std::ranges::count(after, name);
    EXPECT_EQ(4 - left, c.rewritten);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Get(Key(i)), Large(static_cast<char>('a' + i)));
    for (int i = 0; i < 4; ++i) Delete(Key(i));
    Flush();
    Compact();
    ASSERT_THAT(Blobs(), IsEmpty());
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(BlobWriteTest, ValuesComeBackIntoTablesIfWanted) {
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), Large('a'));
  Flush();
  Set("enable_blob_files", "false");
  Set("enable_blob_garbage_collection", "true");
  Set("blob_garbage_collection_age_cutoff", "1.0");
  Compact();
  EXPECT_THAT(Blobs(), IsEmpty());
  Reopen();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(Key(i)), Large('a'));
}

TEST_F(BlobWriteTest, ACompactionSeparatesFromItsLevelOn) {
  options_.blob_file_starting_level = 1;
  Open();
  Put("k", Large('a'));
  Flush();
  EXPECT_THAT(Blobs(), IsEmpty());
  Compact();
  EXPECT_THAT(Blobs(), SizeIs(1));
  EXPECT_EQ(Get("k"), Large('a'));
}

TEST_F(BlobWriteTest, ASnapshotKeepsItsValues) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  Put("k", Large('a'));
  Flush();
  const Snapshot* const snapshot = db()->GetSnapshot();
  Put("k", Large('b'));
  Flush();
  Compact();
  EXPECT_EQ(Get("k", "default", snapshot), Large('a'));
  EXPECT_EQ(Get("k"), Large('b'));
  db()->ReleaseSnapshot(snapshot);
  Compact();
  EXPECT_EQ(Get("k"), Large('b'));
  EXPECT_THAT(Blobs(), SizeIs(1));
}

class Appends : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice& /*key*/, const Slice* existing, const Slice& value, std::string* result,
             Logger* /*logger*/) const override {
    *result = existing == nullptr ? "" : existing->ToString();
    result->append(value.data(), value.size());
    return true;
  }
  const char* Name() const override { return "Appends"; }
};

TEST_F(BlobWriteTest, AMergeReadsItsBase) {
  options_.merge_operator = std::make_shared<Appends>();
  Open();
  Put("k", Large('a'));
  Flush();
  ASSERT_TRUE(db()->Merge(WriteOptions(), "k", "!").ok());
  Flush();
  Compact();
  EXPECT_EQ(Get("k"), Large('a') + "!");
  EXPECT_THAT(Blobs(), SizeIs(1)) << "the result is as large as its base was";
}

// Drops keys with a 1, shows itself those with a 2, and replaces those with a 3.
class BlobFilter : public CompactionFilter {
 public:
  Decision FilterBlobByKey(int /*level*/, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override {
    switch (key[key.size() - 1]) {
      case '1':
        return Decision::kRemove;
      case '2':
        return Decision::kUndetermined;
      case '3':
        *new_value = "changed";
        return Decision::kChangeValue;
      case '5':
        *skip_until = Key(8);
        return Decision::kRemoveAndSkipUntil;
      default:
        return Decision::kKeep;
    }
  }
  Decision FilterV2(int /*level*/, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* /*skip_until*/) const override {
    EXPECT_EQ(type, ValueType::kValue);
    if (value == "seen" || value == "changed") return Decision::kKeep;
    EXPECT_EQ(value, Large('v')) << key.ToString();
    *new_value = "seen";
    return Decision::kChangeValue;
  }
  const char* Name() const override { return "BlobFilter"; }
};

TEST_F(BlobWriteTest, AFilterSeesValuesOnlyIfItWants) {
  const BlobFilter filter;
  options_.compaction_filter = &filter;
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), Large('v'));
  Flush();
  Compact();
  EXPECT_EQ(Get(Key(0)), Large('v'));
  EXPECT_EQ(Get(Key(1)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(2)), "seen");
  EXPECT_EQ(Get(Key(3)), "changed");
  for (int i = 5; i < 8; ++i) EXPECT_EQ(Get(Key(i)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(9)), Large('v'));
  for (const int i : {0, 4, 8, 9}) Delete(Key(i));
  Flush();
  Compact();
  EXPECT_THAT(Blobs(), IsEmpty()) << "what the filter dropped and skipped was counted";
  ASSERT_TRUE(Close().ok());
}

TEST_F(BlobWriteTest, ARangeTombstoneFreesValues) {
  Open();
  for (int i = 0; i < 500; ++i) Put(Key(i), Large('v'));
  Flush();
  Compact();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Key(0), Key(499)).ok());
  Flush();
  Compact();
  EXPECT_THAT(Blobs(), SizeIs(1));
  Delete(Key(499));
  Flush();
  Compact();
  EXPECT_THAT(Blobs(), IsEmpty());
}

TEST_F(BlobWriteTest, DroppedTablesFreeValues) {
  Open();
  for (int i = 0; i < 100; ++i) Put(Key(i), Large('v'));
  Flush();
  Compact();
  ASSERT_THAT(Blobs(), SizeIs(1));
  const RangePtr all(nullptr, nullptr);
  ASSERT_TRUE(DeleteFilesInRanges(db(), db()->DefaultColumnFamily(), &all, 1).ok());
  EXPECT_EQ(Get(Key(1)), "NOT_FOUND");
  EXPECT_THAT(Blobs(), IsEmpty());
}

class BlobEvents : public EventListener {
 public:
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override {
    EXPECT_FALSE(info.file_path.empty());
    started++;
  }
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override {
    created += static_cast<int>(info.total_blob_count);
  }
  void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& info) override {
    for (const auto& file : info.blob_file_addition_infos) {
      flushed_bytes += file.total_blob_bytes;
      EXPECT_EQ(info.oldest_blob_file_number, file.blob_file_number);
    }
  }
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    for (const auto& file : info.blob_file_garbage_infos) garbage += file.garbage_blob_count;
  }
  int started = 0;
  int created = 0;
  uint64_t flushed_bytes = 0;
  uint64_t garbage = 0;
};

TEST_F(BlobWriteTest, ListenersAndTickersHearOfBlobFiles) {
  const auto listener = std::make_shared<BlobEvents>();
  options_.listeners = {listener};
  options_.statistics = CreateDBStatistics();
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  Put("k1", Large('a'));
  Put("k2", Large('a'));
  Flush();
  EXPECT_EQ(listener->flushed_bytes, 2u * (32 + 2 + 200));
  Put("k1", Large('b'));
  Flush();
  Compact();
  EXPECT_EQ(listener->started, 3);
  EXPECT_EQ(listener->created, 2 + 1 + 2);
  EXPECT_EQ(listener->garbage, 3u);
  const Statistics& statistics = *options_.statistics;
  EXPECT_EQ(statistics.getTickerCount(BLOB_DB_GC_NUM_KEYS_RELOCATED), 2u);
  EXPECT_EQ(statistics.getTickerCount(BLOB_DB_GC_BYTES_RELOCATED), 400u);
  EXPECT_EQ(statistics.getTickerCount(BLOB_DB_BLOB_FILE_SYNCED), 3u);
  EXPECT_EQ(statistics.getTickerCount(BLOB_DB_BLOB_FILE_BYTES_WRITTEN), 3u * 62 + 5 * 234);
}

TEST_F(BlobWriteTest, AFailureLeavesNoBlobFile) {
  for (const FaultCall call :
       {FaultCall::kCreate, FaultCall::kWrite, FaultCall::kSync, FaultCall::kClose}) {
    for (uint64_t nth = 1, strikes = 1; strikes > 0; ++nth) {
      SCOPED_TRACE(static_cast<int>(call) * 100 + static_cast<int>(nth));
      options_.blob_file_size = 1000;
      Open();
      for (int i = 0; i < 10; ++i) Put(Key(i), Large('a', 400));
      FaultRule rule;
      rule.calls = Only(call);
      rule.path_contains = ".blob";
      rule.nth = nth;
      faults().Inject(rule);
      const Status s = db()->Flush(FlushOptions());
      strikes = faults().strikes();
      EXPECT_EQ(s.ok(), strikes == 0) << s.ToString();
      faults().ClearFaults();
      if (!s.ok()) {
        EXPECT_THAT(Blobs(), IsEmpty());
        ASSERT_TRUE(db()->Resume().ok());
      }
      Flush();
      EXPECT_THAT(Blobs(), SizeIs(4));
      for (int i = 0; i < 10; ++i) EXPECT_EQ(Get(Key(i)), Large('a', 400));
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }
}

// Tables whose values are elsewhere are no use without them.
class BlobMoveTest : public BlobWriteTest {
 protected:
  // Makes a table with references, and returns its path.
  std::string MakeSource() {
    Put("a", "small");
    Put("b", Large('b'));
    Put("c", "small");
    Flush();
    return std::string(kName) + "/" + Files(kTableFile)[0];
  }
};

TEST_F(BlobMoveTest, AnIngestionRefusesReferences) {
  Open();
  const std::string table = MakeSource();
  const std::string bytes = ReadFile(table);
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  WriteFile("/other.sst", bytes);
  Open();
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  const Status s = db()->IngestExternalFile({"/other.sst"}, options);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("/other.sst"));
  EXPECT_EQ(Scan(), "");
  EXPECT_EQ(ReadFile("/other.sst"), bytes);
}

TEST_F(BlobMoveTest, AnImportRefusesReferencesThatItsMetadataHides) {
  Open();
  MakeSource();
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData metadata;
  metadata.db_comparator_name = options_.comparator->Name();
  std::vector<LiveFileMetaData> live;
  db()->GetLiveFilesMetaData(&live);
  for (LiveFileMetaData& file : live) {
    EXPECT_NE(file.oldest_blob_file_number, 0u);
    file.oldest_blob_file_number = 0;
    metadata.files.push_back(file);
  }
  ColumnFamilyHandle* handle = nullptr;
  const Status s = db()->CreateColumnFamilyWithImport(options_, "copy", ImportColumnFamilyOptions(),
                                                      metadata, &handle);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(".sst"));
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(Get("b"), Large('b'));
}

TEST_F(BlobMoveTest, AReaderOfOneTableSaysThatAValueIsElsewhere) {
  options_.merge_operator = std::make_shared<Appends>();
  Open();
  Put("d", Large('d'));
  const ManagedSnapshot apart(db());
  ASSERT_TRUE(db()->Merge(WriteOptions(), "d", "!").ok());
  const std::string table = MakeSource();
  SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open(table).ok());
  std::string value = "before";
  EXPECT_TRUE(reader.Get(ReadOptions(), "a", &value).ok());
  EXPECT_EQ(value, "small");
  std::vector<std::string> values;
  std::vector<Status> many = reader.MultiGet(ReadOptions(), {"a", "b", "c", "d"}, &values);
  EXPECT_TRUE(many[0].ok() && many[2].ok());
  for (const Status& s : {reader.Get(ReadOptions(), "b", &value), many[1],
                          reader.Get(ReadOptions(), "d", &value), many[3]}) {
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(table));
  }
  const std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  it->Seek("b");
  EXPECT_FALSE(it->Valid());
  EXPECT_FALSE(it->status().ok());
}

// A blob file is gone for good: what does not need it goes on.
TEST_F(BlobWriteTest, ALostFileStopsNoCompaction) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  for (int i = 0; i < 5; ++i) Put(Key(i), Large('a'));
  Flush();
  const std::string lost = std::string(kName) + "/" + Blobs()[0];
  for (int i = 5; i < 10; ++i) Put(Key(i), Large('b'));
  Flush();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(mem().DeleteFile(lost, IOOptions(), nullptr).ok());
  Status s = RepairDB(kName, options_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  Open();
  Put(Key(4), Large('c'));
  Flush();
  Compact();
  EXPECT_THAT(Get(Key(0)), HasSubstr("Corruption"));
  EXPECT_EQ(Get(Key(4)), Large('c'));
  EXPECT_EQ(Get(Key(7)), Large('b'));
  const RangePtr all(nullptr, nullptr);
  s = DeleteFilesInRanges(db(), db()->DefaultColumnFamily(), &all, 1);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Scan(), "");
}

// Asks for every value.
class CuriousFilter : public CompactionFilter {
 public:
  Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                           std::string* /*skip_until*/) const override {
    return Decision::kUndetermined;
  }
  const char* Name() const override { return "CuriousFilter"; }
};

TEST_F(BlobWriteTest, CompactionsOpenBlobFilesWithinTheLimit) {
  const CuriousFilter filter;
  options_.compaction_filter = &filter;
  options_.blob_file_size = 1000;
  options_.max_open_files = 20;
  Open();
  for (int i = 0; i < 100; ++i) Put(Key(i), Large('v', 600));
  Flush();
  ASSERT_THAT(Blobs(), SizeIs(50));
  Compact();
  ASSERT_THAT(Blobs(), SizeIs(50));
  // The first file's reader has made room.
  ASSERT_TRUE(options_.env->DeleteFile(std::string(kName) + "/" + Blobs().front()).ok());
  EXPECT_THAT(Get(Key(0)), HasSubstr("Corruption"));
  EXPECT_EQ(Get(Key(99)), Large('v', 600));
  ASSERT_TRUE(Close().ok());
}

TEST_F(BlobWriteTest, MergesAndFiltersLeaveLostValuesAsTheyAre) {
  const CuriousFilter filter;
  options_.compaction_filter = &filter;
  options_.merge_operator = std::make_shared<Appends>();
  Open();
  for (int i = 0; i < 5; ++i) Put(Key(i), Large('a'));
  Flush();
  const std::string lost = std::string(kName) + "/" + Blobs()[0];
  Put(Key(5), Large('b'));
  Flush();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(mem().DeleteFile(lost, IOOptions(), nullptr).ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  for (const int i : {1, 5}) {
    ASSERT_TRUE(db()->Merge(WriteOptions(), Key(i), "!").ok());
    ASSERT_TRUE(db()->Merge(WriteOptions(), Key(i), "?").ok());
  }
  Flush();
  Compact();
  EXPECT_EQ(Get(Key(5)), Large('b') + "!?");
  EXPECT_THAT(Get(Key(0)), HasSubstr("Corruption"));
  EXPECT_THAT(Get(Key(1)), HasSubstr("Corruption")) << "no operand stands alone";
  Put(Key(1), "new");
  Flush();
  Compact();
  EXPECT_EQ(Get(Key(1)), "new");
  ASSERT_TRUE(Close().ok());
}

// The operands come in several batches of the input, and must be copied before it moves on.
TEST_F(BlobWriteTest, ManyOperandsAboveALostValueStayAsTheyAre) {
  options_.merge_operator = std::make_shared<Appends>();
  options_.disable_auto_compactions = true;
  Open();
  Put("k", Large('a'));
  Flush();
  const std::string lost = std::string(kName) + "/" + Blobs()[0];
  Put("z", Large('b'));
  Flush();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(mem().DeleteFile(lost, IOOptions(), nullptr).ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  std::string operands;
  for (int i = 0; i < 300; ++i) {
    const std::string operand =
        "operand " + std::to_string(i) + std::string(40, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(db()->Merge(WriteOptions(), "k", operand).ok());
    operands += operand;
    if (i % 100 == 99) Flush();
  }
  Compact();
  std::vector<LiveFileMetaData> tables;
  db()->GetLiveFilesMetaData(&tables);
  std::string found;
  for (const LiveFileMetaData& table : tables) {
    SstFileReader reader(options_);
    ASSERT_TRUE(reader.Open(table.db_path + table.name).ok());
    const std::unique_ptr<Iterator> it = reader.NewTableIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ParsedEntryInfo entry;
      ASSERT_TRUE(reader.ParseTableIteratorKey(it->key(), &entry).ok());
      if (entry.type == kEntryMerge) found.insert(0, it->value().ToString());
    }
  }
  EXPECT_EQ(found, operands) << "flushes combine operands of one memtable";
  ASSERT_TRUE(Close().ok());
}

TEST_F(BlobWriteTest, ACompactionReservesSpaceForBlobFiles) {
  const std::shared_ptr<SstFileManager> manager(NewSstFileManager(options_.env));
  options_.sst_file_manager = manager;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  for (int file = 0; file < 2; ++file) {
    for (int i = 0; i < 100; ++i) Put(Key(i * 2 + file), Large('a', 1000));
    Flush();
  }
  const uint64_t total = manager->GetTotalSize();
  ASSERT_GT(total, 200'000u);
  manager->SetMaxAllowedSpaceUsage(total + total / 2);
  CompactRangeOptions options;
  EXPECT_TRUE(db()->CompactRange(options, nullptr, nullptr).IsCompactionTooLarge());
  manager->SetMaxAllowedSpaceUsage(3 * total);
  Compact();
  EXPECT_FALSE(manager->IsMaxAllowedSpaceReachedIncludingCompactions());
}

// Skips everything from the first key on, and cancels the compaction by the way.
class CancellingFilter : public CompactionFilter {
 public:
  Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                           std::string* skip_until) const override {
    cancelled = true;
    *skip_until = "z";
    return Decision::kRemoveAndSkipUntil;
  }
  const char* Name() const override { return "CancellingFilter"; }
  mutable std::atomic<bool> cancelled = false;
};

TEST_F(BlobWriteTest, ASkipOverManyReferencesCanBeCancelled) {
  const CancellingFilter filter;
  options_.compaction_filter = &filter;
  Open();
  for (int i = 0; i < 2000; ++i) Put(Key(i), Large('v'));
  Flush();
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  options.canceled = &filter.cancelled;
  const Status s = db()->CompactRange(options, nullptr, nullptr);
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_EQ(Get(Key(1)), Large('v')) << "nothing was installed";
  ASSERT_TRUE(Close().ok());
}

TEST_F(BlobWriteTest, ReadsTakeNoMoreThanTheyMay) {
  options_.merge_operator = std::make_shared<Appends>();
  options_.statistics = CreateDBStatistics();
  Open();
  for (int i = 0; i < 20; ++i) Put(Key(i), Large('v', 1000));
  Flush();
  ASSERT_TRUE(db()->Merge(WriteOptions(), Key(0), "!").ok());
  EXPECT_EQ(Get(Key(0)), Large('v', 1000) + "!");
  const auto read = [&] {
    return options_.statistics->getTickerCount(BLOB_DB_BLOB_FILE_BYTES_READ);
  };
  uint64_t before = read();
  std::string value;
  bool found = true;
  EXPECT_TRUE(db()->KeyMayExist(ReadOptions(), Key(0), &value, &found));
  EXPECT_FALSE(found);
  EXPECT_EQ(read(), before) << "KeyMayExist reads nothing";

  std::vector<std::string> keys;
  for (int i = 1; i < 20; ++i) keys.push_back(Key(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  ReadOptions options;
  options.value_size_soft_limit = 2500;
  std::vector<PinnableSlice> results(keys.size());
  std::vector<Status> statuses(keys.size());
  db()->MultiGet(options, db()->DefaultColumnFamily(), keys.size(), slices.data(), results.data(),
                 statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(i < 3 ? statuses[i].ok() : statuses[i].IsAborted()) << statuses[i].ToString();
  }
  EXPECT_LT(read() - before, 5000u) << "what is beyond the limit stays unread";
}

class DeletionEvents : public EventListener {
 public:
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    EXPECT_THAT(info.file_path, HasSubstr(".sst"));
    tables++;
  }
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override {
    EXPECT_THAT(info.file_path, HasSubstr(".blob"));
    blobs++;
  }
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    EXPECT_EQ(info.blob_compression_type, kSnappyCompression);
    compactions++;
  }
  std::atomic<int> tables = 0;
  std::atomic<int> blobs = 0;
  std::atomic<int> compactions = 0;
};

// Keeps all values, and calls back.
class CallingFilter : public CompactionFilter {
 public:
  Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                           std::string* /*skip_until*/) const override {
    call();
    return Decision::kKeep;
  }
  const char* Name() const override { return "CallingFilter"; }
  std::function<void()> call;
};

TEST_F(BlobWriteTest, FilesThatWereNotInstalledAreReportedAsWhatTheyAre) {
  const auto listener = std::make_shared<DeletionEvents>();
  CallingFilter filter;
  filter.call = [this] { ASSERT_TRUE(db()->DropColumnFamily(Handle("other")).ok()); };
  options_.listeners = {listener};
  options_.compaction_filter = &filter;
  options_.blob_compression_type = kSnappyCompression;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open({"default", "other"});
  Put("k", Large('v'), "other");
  Flush("other");
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_FALSE(db()->CompactRange(options, Handle("other"), nullptr, nullptr).ok());
  EXPECT_EQ(listener->compactions, 1);
  EXPECT_EQ(listener->tables, 1);
  EXPECT_EQ(listener->blobs, 1);
  ASSERT_TRUE(Close().ok());
}

// Takes what a power loss would leave at each call.
class LossAtEveryCall : public MemFileSystem::CallHook {
 public:
  explicit LossAtEveryCall(MemFileSystem* fs) : fs_(fs) {}
  void BeforeCall(uint64_t index, MemCall /*call*/, const std::string& /*path*/) override {
    left.push_back(fs_->CrashClone(
        index % 2 == 0 ? CrashPolicy::kSyncedOnly : CrashPolicy::kAdversarial, index));
  }
  std::vector<std::shared_ptr<MemFileSystem>> left;

 private:
  MemFileSystem* const fs_;
};

TEST_F(BlobWriteTest, NoPowerLossLosesAValue) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 0.7;
  options_.blob_file_size = 2000;
  Open();
  WriteOptions synced;
  synced.sync = true;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(db()->Put(synced, Key(i), Large('a')).ok());
  Flush();
  for (int i = 0; i < 20; i += 2) ASSERT_TRUE(db()->Put(synced, Key(i), Large('b', 300)).ok());
  const std::string expected = Scan();
  LossAtEveryCall losses(&mem());
  mem().SetCallHook(&losses);
  Flush();
  Compact();
  mem().SetCallHook(nullptr);
  ASSERT_TRUE(Close().ok());
  EXPECT_GT(losses.left.size(), 20u);
  for (size_t i = 0; i < losses.left.size(); ++i) {
    SCOPED_TRACE(i);
    Remount(losses.left[i]);
    Open();
    EXPECT_TRUE(Scan() == expected);
    ASSERT_TRUE(db()->VerifyChecksum().ok());
    Compact();
    EXPECT_TRUE(Scan() == expected);
    ASSERT_TRUE(Close().ok());
  }
}

// Random changes under options that change at random, beside a map.
TEST_F(BlobWriteTest, RandomHistoriesAnswerAsAMap) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    options_.merge_operator = std::make_shared<Appends>();
    options_.write_buffer_size = 64 << 10;
    options_.max_subcompactions = seed % 2 == 0 ? 4 : 1;
    options_.target_file_size_base = 8 << 10;
    Open();
    std::map<std::string, std::string> model;
    for (int step = 0; step < 1500; ++step) {
      const std::string key = Key(static_cast<int>(random.Below(200)));
      const std::string value = random.Text(random.OneIn(3) ? random.Below(900) : random.Below(90));
      switch (random.Below(20)) {
        case 0:
          Delete(key);
          model.erase(key);
          break;
        case 1:
          ASSERT_TRUE(db()->Merge(WriteOptions(), key, value).ok());
          model[key] += value;
          break;
        case 2: {
          const std::string end = key + "5";
          ASSERT_TRUE(db()->DeleteRange(WriteOptions(), key, end).ok());
          model.erase(model.lower_bound(key), model.lower_bound(end));
          break;
        }
        case 3:
          if (random.OneIn(3)) Flush();
          break;
        case 4:
          if (random.OneIn(8)) Compact();
          break;
        case 5:
          if (random.OneIn(4)) Set("enable_blob_files", random.OneIn(4) ? "false" : "true");
          if (random.OneIn(4)) Set("min_blob_size", std::to_string(random.Below(300)));
          if (random.OneIn(4)) Set("blob_file_size", std::to_string(1 + random.Below(20000)));
          if (random.OneIn(4)) Set("blob_file_starting_level", std::to_string(random.Below(3)));
          if (random.OneIn(4)) Set("blob_compression_type", "kSnappyCompression");
          if (random.OneIn(4)) {
            Set("enable_blob_garbage_collection", random.OneIn(2) ? "false" : "true");
          }
          if (random.OneIn(4)) {
            Set("blob_garbage_collection_age_cutoff", random.OneIn(2) ? "1.0" : "0.4");
          }
          if (random.OneIn(4)) Set("blob_compaction_readahead_size", "4096");
          break;
        default:
          Put(key, value);
          model[key] = value;
      }
    }
    for (int round = 0; round < 3; ++round) {
      std::string expected;
      for (const auto& [key, value] : model) {
        EXPECT_EQ(Get(key), value) << key;
        expected += (expected.empty() ? "" : " ") + key + "=" + value;
      }
      EXPECT_TRUE(Scan() == expected);
      if (round == 0) Reopen();
      if (round == 1) Compact();
    }
    // With everything gone, no blob file stays.
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "", "z").ok());
    Flush();
    Compact();
    EXPECT_THAT(Blobs(), IsEmpty());
    ASSERT_TRUE(Close().ok());
  }
}

}  // namespace
}  // namespace varve
