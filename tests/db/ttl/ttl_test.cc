// SPDX-License-Identifier: Apache-2.0

// Goal: an entry is visible until its lifetime has passed and never afterwards, whichever call
// reads it and whatever compactions have done; a snapshot always shows the same. Method: one
// database in memory, with a clock that the test sets.

#include <cstring>

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/utilities/checkpoint.h"
#include "varve/write_batch.h"

#include "tests/db/ttl/ttl_fixture.h"
#include "util/coding/fixed.h"

namespace varve::testing {
namespace {

using TtlTest = TtlDatabase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(TtlTest, StoresTheTimeBehindTheValue) {
  OpenTtl(10);
  Put("k", "v");
  std::string stored;
  ASSERT_TRUE(ttl_->GetBaseDB()->Get(ReadOptions(), "k", &stored).ok());
  ASSERT_EQ(stored.size(), 5U);
  EXPECT_EQ(stored[0], 'v');
  EXPECT_EQ(DecodeFixed<uint32_t>(stored.data() + 1), 1'700'000'000U);
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(TtlTest, HidesFromEveryReadWhatIsExpired) {
  OpenTtl(10);
  Put("a", "1");
  Pass(5);
  Put("b", "2");
  Pass(5);
  EXPECT_EQ(ScanTtl(), "a=1 b=2");  // the last second of "a"
  Pass(1);
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_EQ(Get("b"), "2");
  EXPECT_EQ(ScanTtl(), "b=2");
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      ttl_->MultiGet(ReadOptions(), std::vector<Slice>{"a", "b", "c"}, &values);
  EXPECT_TRUE(statuses[0].IsNotFound());
  EXPECT_EQ(Text(statuses[1]), value_);
  EXPECT_EQ(values[1], "2");
  EXPECT_TRUE(statuses[2].IsNotFound());
  bool found = true;
  EXPECT_FALSE(ttl_->KeyMayExist(ReadOptions(), "a", &value_, &found));
  EXPECT_FALSE(found);
  EXPECT_TRUE(ttl_->KeyMayExist(ReadOptions(), "b", &value_, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ(value_, "2");
  EXPECT_EQ(Beneath("a"), "1");
  CompactAll();
  EXPECT_EQ(Beneath("a"), "-");
  EXPECT_EQ(Beneath("b"), "2");
}

TEST_F(TtlTest, IteratorsPassOverItBothWays) {
  OpenTtl(10);
  for (const char* key : {"a", "c", "e"}) Put(key, "old");
  Pass(11);
  for (const char* key : {"b", "d"}) Put(key, "new");
  const std::unique_ptr<Iterator> it(ttl_->NewIterator(ReadOptions()));
  it->SeekToLast();
  EXPECT_EQ(it->key(), "d");
  it->Prev();
  EXPECT_EQ(it->key(), "b");
  it->Prev();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  it->Seek("c");
  EXPECT_EQ(it->key(), "d");
  EXPECT_EQ(it->value(), "new");
  it->SeekForPrev("c");
  EXPECT_EQ(it->key(), "b");
  // An iterator judges by the time at which it was made, until it is refreshed.
  Pass(100);
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  ASSERT_TRUE(it->Refresh().ok());
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
}

TEST_F(TtlTest, ReadsThroughASnapshotRepeat) {
  OpenTtl(10);
  Put("k", "v");
  Pass(9);
  const Snapshot* snapshot = ttl_->GetSnapshot();
  Put("later", "w");
  Pass(1000);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_EQ(Get("k", snapshot), "v");
  EXPECT_EQ(ScanTtl(snapshot), "k=v");
  CompactAll();
  EXPECT_EQ(Get("k", snapshot), "v");
  EXPECT_EQ(Get("later"), "NOT_FOUND");
  ttl_->ReleaseSnapshot(snapshot);
  CompactAll();
  EXPECT_EQ(Beneath("k"), "-");
  EXPECT_EQ(Beneath("later"), "-");
}

// The horizon of a compaction is that of the oldest snapshot, one of the database beneath, too.
TEST_F(TtlTest, ASnapshotOfTheDatabaseBeneathCounts) {
  OpenTtl(10);
  Put("k", "v");
  const Snapshot* snapshot = ttl_->GetBaseDB()->GetSnapshot();
  Pass(1000);
  CompactAll();
  EXPECT_EQ(Get("k", snapshot), "v");
  ttl_->ReleaseSnapshot(snapshot);
}

TEST_F(TtlTest, BatchesAreStampedAsAWhole) {
  OpenTtl(10);
  Put("gone", "1");
  Put("single", "1");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("gone").ok());
  ASSERT_TRUE(batch.SingleDelete("single").ok());
  ASSERT_TRUE(batch.PutLogData("blob").ok());
  ASSERT_TRUE(batch.Put("b", std::string(5000, 'x')).ok());
  ASSERT_TRUE(batch.DeleteRange("x", "z").ok());
  const std::string bytes = batch.Data();
  ASSERT_TRUE(ttl_->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(batch.Data().substr(8), bytes.substr(8));
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), std::string(5000, 'x'));
  EXPECT_EQ(Get("gone"), "NOT_FOUND");
  EXPECT_EQ(Get("single"), "NOT_FOUND");
  // Again, as a batch may be, and with checksums.
  Pass(8);
  WriteBatch checked(0, 0, 8, 0);
  ASSERT_TRUE(checked.Put("a", "2").ok());
  ASSERT_TRUE(ttl_->Write(WriteOptions(), &checked).ok());
  Pass(4);
  EXPECT_EQ(ScanTtl(), "a=2");
  WriteBatch damaged(std::string("0123456789ab"));
  EXPECT_FALSE(ttl_->Write(WriteOptions(), &damaged).ok());
}

TEST_F(TtlTest, BatchesWithEntitiesAreRefused) {
  OpenTtl(10);
  Put("k", "v");
  for (const bool has_put : {false, true}) {
    WriteBatch batch;
    ASSERT_TRUE(batch.Delete("k").ok());
    ASSERT_TRUE(batch.PutEntity(ttl_->DefaultColumnFamily(), "e", WideColumns{{"c", "1"}}).ok());
    if (has_put) {
      ASSERT_TRUE(batch.Put("a", "1").ok());
    }
    const Status s = ttl_->Write(WriteOptions(), &batch);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_EQ(ScanTtl(), "k=v");
  }
}

TEST_F(TtlTest, ValuesWithoutATimeAreCorruptForTheirKeysAlone) {
  Open();
  Database::Put("a", "abc");
  Database::Put("b", "0000");
  Database::Put("c", "a longer one, which does not end with a time\n\n\n\n");
  ASSERT_TRUE(Close().ok());
  OpenTtl(10);
  Put("d", "4");
  for (const char* key : {"a", "b", "c"}) EXPECT_THAT(Get(key), HasSubstr("Corruption")) << key;
  EXPECT_EQ(Get("d"), "4");
  const std::unique_ptr<Iterator> it(ttl_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption());
  it->Seek("d");
  EXPECT_TRUE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  Pass(100);
  CompactAll();
  EXPECT_THAT(Get("a"), HasSubstr("Corruption"));
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      ttl_->MultiGet(ReadOptions(), std::vector<Slice>{"a", "d"}, &values);
  EXPECT_TRUE(statuses[0].IsCorruption());
  EXPECT_TRUE(statuses[1].IsNotFound());
  bool found = true;
  EXPECT_TRUE(ttl_->KeyMayExist(ReadOptions(), "a", &value_, &found));
  EXPECT_FALSE(found);
}

TEST_F(TtlTest, AKeyCanHaveALifetimeOfItsOwn) {
  OpenTtl(100);
  ASSERT_TRUE(ttl_->PutWithTtl(WriteOptions(), "short", "1", 10).ok());
  ASSERT_TRUE(ttl_->PutWithTtl(WriteOptions(), "long", "2", 1000).ok());
  Put("common", "3");
  Pass(10);
  EXPECT_EQ(ScanTtl(), "common=3 long=2 short=1");
  Pass(1);
  EXPECT_EQ(ScanTtl(), "common=3 long=2");
  Pass(90);
  EXPECT_EQ(ScanTtl(), "long=2");
  CompactAll();
  Pass(899);
  EXPECT_EQ(ScanTtl(), "long=2");
  Pass(1);
  EXPECT_EQ(ScanTtl(), "");
  EXPECT_TRUE(ttl_->PutWithTtl(WriteOptions(), "k", "v", 0).IsInvalidArgument());
  EXPECT_TRUE(ttl_->PutWithTtl(WriteOptions(), "k", "v", -1).IsInvalidArgument());
  ttl_->SetTtl(2'000'000'000);
  EXPECT_TRUE(ttl_->PutWithTtl(WriteOptions(), "k", "v", 1).IsInvalidArgument());
  ttl_->SetTtl(0);
  EXPECT_TRUE(ttl_->PutWithTtl(WriteOptions(), "k", "v", 1).IsInvalidArgument());
}

TEST_F(TtlTest, LifetimesAreOfThisOpening) {
  OpenTtl(0);
  int32_t ttl = -1;
  ASSERT_TRUE(ttl_->GetTtl(ttl_->DefaultColumnFamily(), &ttl).ok());
  EXPECT_EQ(ttl, 0);
  EXPECT_TRUE(ttl_->GetTtl(ttl_->DefaultColumnFamily(), nullptr).IsInvalidArgument());
  EXPECT_TRUE(ttl_->GetTtl(nullptr, &ttl).IsInvalidArgument());
  Put("k", "v");
  Pass(1'000'000'000);
  EXPECT_EQ(Get("k"), "v");
  ttl_->SetTtl(10);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  ttl_->SetTtl(-5);
  CompactAll();
  EXPECT_EQ(Get("k"), "v");
  OpenTtl(10, /*read_only=*/true);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_TRUE(ttl_->Put(WriteOptions(), "k", "w").IsNotSupported());
}

// Past 2038, where signed seconds end.
TEST_F(TtlTest, TimesReachTo2106) {
  clock_->now = 4'294'000'000;
  OpenTtl(100);
  Put("k", "v");
  EXPECT_EQ(Get("k"), "v");
  Pass(101);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  ttl_->SetTtl(2'000'000'000);
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(TtlTest, FamiliesHaveTheirOwn) {
  options_.create_missing_column_families = true;
  const std::vector<ColumnFamilyDescriptor> families = {{"default", ColumnFamilyOptions(options_)},
                                                        {"other", ColumnFamilyOptions(options_)}};
  std::vector<ColumnFamilyHandle*> handles;
  DBWithTTL* db = nullptr;
  EXPECT_TRUE(DBWithTTL::Open(options_, kName, families, &handles, &db, {1}).IsInvalidArgument());
  EXPECT_EQ(db, nullptr);
  ASSERT_TRUE(DBWithTTL::Open(options_, kName, families, &handles, &db, {10, 20}).ok());
  ttl_.reset(db);
  ColumnFamilyHandle* third = nullptr;
  ASSERT_TRUE(ttl_->CreateColumnFamilyWithTtl(options_, "third", &third, 30).ok());
  handles.push_back(third);
  ASSERT_TRUE(ttl_->CreateColumnFamily(options_, "for ever", &third).ok());
  handles.push_back(third);
  WriteBatch batch;
  for (ColumnFamilyHandle* handle : handles) ASSERT_TRUE(batch.Put(handle, "k", "v").ok());
  ASSERT_TRUE(ttl_->Write(WriteOptions(), &batch).ok());
  std::vector<std::string> left;
  for (int i = 0; i < 4; ++i) {
    std::string found;
    for (ColumnFamilyHandle* handle : handles) {
      found += ttl_->Get(ReadOptions(), handle, "k", &value_).ok() ? '1' : '0';
      ASSERT_TRUE(ttl_->Flush(FlushOptions(), handle).ok());
      ASSERT_TRUE(ttl_->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr).ok());
    }
    left.push_back(found);
    Pass(11);
  }
  EXPECT_THAT(left, ElementsAre("1111", "0111", "0011", "0001"));
  std::vector<Iterator*> iterators;
  ASSERT_TRUE(ttl_->NewIterators(ReadOptions(), handles, &iterators).ok());
  for (size_t i = 0; i < iterators.size(); ++i) {
    iterators[i]->SeekToFirst();
    EXPECT_EQ(iterators[i]->Valid(), i == 3) << i;
    delete iterators[i];
  }
  for (ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(ttl_->DestroyColumnFamilyHandle(handle).ok());
  }
}

// Families that were made are there with their lifetimes, also if they could not be written down.
TEST_F(TtlTest, FamiliesAreThereAlthoughTheOptionsFileIsNot) {
  options_.fail_if_options_file_error = true;
  OpenTtl(10);
  std::unique_ptr<Checkpoint> checkpoint;
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(ttl_->GetBaseDB(), &made).ok());
  checkpoint.reset(made);
  Put("k", "v");
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_TRUE(
      checkpoint->ExportColumnFamily(ttl_->DefaultColumnFamily(), "/export", &exported).ok());
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = "OPTIONS";
  rule.sticky = true;
  faults().Inject(rule);
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_FALSE(ttl_->CreateColumnFamilyWithTtl(options_, "one", &handle, 20).ok());
  ASSERT_NE(handle, nullptr);
  int32_t ttl = 0;
  EXPECT_TRUE(ttl_->GetTtl(handle, &ttl).ok());
  EXPECT_EQ(ttl, 20);
  EXPECT_TRUE(ttl_->Put(WriteOptions(), handle, "k", "v").ok());
  std::vector<ColumnFamilyHandle*> handles;
  EXPECT_FALSE(ttl_->CreateColumnFamilies(options_, {"two", "three"}, &handles).ok());
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_TRUE(ttl_->Put(WriteOptions(), handles[0], "k", "v").ok());
  handles.push_back(handle);
  handle = nullptr;
  EXPECT_FALSE(ttl_->CreateColumnFamilyWithImport(options_, "imported", ImportColumnFamilyOptions(),
                                                  *metadata, &handle)
                   .ok());
  ASSERT_NE(handle, nullptr);
  EXPECT_TRUE(ttl_->Get(ReadOptions(), handle, "k", &value_).ok());
  handles.push_back(handle);
  faults().ClearFaults();
  for (ColumnFamilyHandle* const each : handles) {
    ASSERT_TRUE(ttl_->DestroyColumnFamilyHandle(each).ok());
  }
}

TEST_F(TtlTest, UserTimestampsAreRefused) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  DBWithTTL* db = nullptr;
  EXPECT_TRUE(DBWithTTL::Open(options_, kName, &db, 10).IsNotSupported());
  EXPECT_EQ(db, nullptr);
  options_.comparator = BytewiseComparator();
  OpenTtl(10);
  ColumnFamilyOptions with_timestamps;
  with_timestamps.comparator = BytewiseComparatorWithU64Ts();
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(ttl_->CreateColumnFamily(with_timestamps, "t", &handle).IsNotSupported());
  EXPECT_EQ(handle, nullptr);
}

TEST_F(TtlTest, FilesThatHaveNoTimesAreRefused) {
  OpenTtl(10);
  EXPECT_TRUE(ttl_->IngestExternalFile({"/x.sst"}, IngestExternalFileOptions()).IsNotSupported());
  EXPECT_TRUE(ttl_->IngestExternalFiles({}).IsNotSupported());
  std::unique_ptr<FileIngestionHandle> handle;
  EXPECT_TRUE(ttl_->PrepareFileIngestion({}, &handle).IsNotSupported());
}

// Keys that begin with 'x' go, values 'old' become 'new'.
class Renewing final : public CompactionFilter {
 public:
  const char* Name() const override { return "Renewing"; }
  Decision FilterV2(int /*level*/, const Slice& key, ValueType /*type*/, const Slice& value,
                    std::string* new_value, std::string* /*skip_until*/) const override {
    if (key.starts_with("x")) return Decision::kRemove;
    if (value != "old") return Decision::kKeep;
    *new_value = "new";
    return Decision::kChangeValue;
  }
};

class RenewingFactory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "RenewingFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<Renewing>();
  }
};

TEST_F(TtlTest, TheUsersFilterSeesValuesAlone) {
  const Renewing filter;
  for (const bool by_factory : {false, true}) {
    SCOPED_TRACE(by_factory);
    options_.compaction_filter = by_factory ? nullptr : &filter;
    options_.compaction_filter_factory = by_factory ? std::make_shared<RenewingFactory>() : nullptr;
    OpenTtl(10);
    Put("a", "old");
    Put("b", "kept");
    Put("x", "removed");
    CompactAll();
    EXPECT_EQ(ScanTtl(), "a=new b=kept");
    Pass(10);
    EXPECT_EQ(ScanTtl(), "a=new b=kept");
    // Beside a filter, too, the lifetime can be changed.
    ttl_->SetTtl(100);
    Pass(10);
    CompactAll();
    EXPECT_EQ(ScanTtl(), "a=new b=kept");
    ttl_->SetTtl(5);
    CompactAll();
    EXPECT_EQ(Beneath("a"), "-");
    // Options that the database gives out have the filter once.
    options_.compaction_filter = ttl_->GetOptions().compaction_filter;
    options_.compaction_filter_factory = ttl_->GetOptions().compaction_filter_factory;
    OpenTtl(10);
    Put("a", "old");
    CompactAll();
    EXPECT_EQ(Get("a"), "new");
  }
}

// If a compaction removes a value above older versions, it leaves a Delete, which a SingleDelete
// may follow.
TEST_F(TtlTest, SingleDeletesMeetExpiredValues) {
  OpenTtl(10);
  Put("k", "v");
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  CompactAll();
  Put("k", "w");
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  Pass(20);
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  CompactAll();
  ASSERT_TRUE(ttl_->SingleDelete(WriteOptions(), "k").ok());
  ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok());
  CompactAll();
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_FALSE(ttl_->GetDBOptions().enforce_single_del_contracts);
}

}  // namespace
}  // namespace varve::testing
