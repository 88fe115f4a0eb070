// SPDX-License-Identifier: Apache-2.0

// Goal: a directory with blob files that RocksDB wrote gives RocksDB's answers here, in every kind
// of read, and goes back there; and bytes of a blob file that are missing or wrong give an error
// that names the file, never another value. Method: RocksDB's library writes through its C API,
// Varve reads and compares with a map, and in the second half after damage to a blob file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "varve/c.h"
#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/statistics.h"
#include "varve/utilities/backup_engine.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/repair.h"

#include "tests/older_writers/old_database.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Model = std::map<std::string, std::string>;

class BlobFilesOfOthersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RocksDbLibrary::Get() == nullptr) GTEST_SKIP() << "no library of RocksDB was found";
    const char* const root = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = std::string(root) + "/varve_blobs_of_others_" + std::to_string(::getpid());
    fs::remove_all(path_);
    SetCompression(0);
  }
  void TearDown() override {
    db_.reset();
    if (!path_.empty()) fs::remove_all(path_);
  }

  void SetCompression(int compression) {
    setup_.adjust = [compression](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
      library.Call<void>("options_set_enable_blob_files", options, static_cast<unsigned char>(1));
      library.Call<void>("options_set_min_blob_size", options, uint64_t{8});
      library.Call<void>("options_set_blob_compression_type", options, compression);
      library.Call<void>("options_set_disable_auto_compactions", options, 1);
    };
  }

  static std::string Value(const std::string& key, size_t bytes) {
    std::string value = "value of " + key + ": ";
    while (value.size() < bytes) value += key + value.substr(0, 9);
    value.resize(bytes);
    return value;
  }

  // Fills the database: values inline and apart, overwritten and deleted ones, sums over both kinds
  // of bases, in two tables and the log.
  void Fill(Model* model) {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    const auto put = [&](const std::string& key, size_t bytes) {
      (*model)[key] = Value(key, bytes);
      old.Put("default", key, (*model)[key]);
    };
    for (int i = 0; i < 40; i++) put("k" + std::to_string(100 + i), i % 3 == 0 ? 5 : 20 + 97 * i);
    old.Put("default", "sum", StampOf(40));
    old.Flush("default");
    for (int i = 0; i < 40; i += 4) put("k" + std::to_string(100 + i), 300);
    for (int i = 1; i < 40; i += 8) {
      old.Delete("default", "k" + std::to_string(100 + i));
      model->erase("k" + std::to_string(100 + i));
    }
    old.Add("default", "sum", 2);
    old.Flush("default");
    put("k100", 6);
    put("l", 1000);
    (*model)["sum"] = StampOf(42);
  }

  Options OurOptions() const {
    Options options;
    options.merge_operator = MergeOperators::CreateUInt64AddOperator();
    options.disable_auto_compactions = true;
    return options;
  }
  void Open() {
    const Status s = DB::Open(OurOptions(), path_, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  Status Repair(RepairReport* report) {
    return RepairDB(path_, OurOptions(), {{"default", OurOptions()}}, nullptr, RepairOptions(),
                    report);
  }

  // Compares all kinds of reads.
  void ExpectReads(const Model& model, const ReadOptions& read = ReadOptions()) {
    std::vector<std::string> names;
    for (const auto& [key, value] : model) names.push_back(key);
    names.push_back("absent");
    std::vector<Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(read, keys, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      std::string value;
      const Status s = db_->Get(read, keys[i], &value);
      const auto expected = model.find(names[i]);
      if (expected == model.end()) {
        EXPECT_TRUE(s.IsNotFound() && statuses[i].IsNotFound()) << names[i];
        continue;
      }
      EXPECT_TRUE(s.ok()) << names[i] << ": " << s.ToString();
      EXPECT_TRUE(statuses[i].ok()) << names[i] << ": " << statuses[i].ToString();
      EXPECT_EQ(value, expected->second) << names[i];
      EXPECT_EQ(values[i], expected->second) << names[i];
    }
    ExpectScans(model, read);
  }
  void ExpectScans(const Model& model, const ReadOptions& options) {
    for (const bool lazy : {false, true}) {
      ReadOptions read = options;
      read.allow_unprepared_value = lazy;
      const std::unique_ptr<Iterator> it(db_->NewIterator(read));
      Model seen;
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        ASSERT_TRUE(it->PrepareValue()) << it->status().ToString();
        seen[it->key().ToString()] = it->value().ToString();
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
      EXPECT_EQ(seen, model) << "forward, lazy " << lazy;
      seen.clear();
      for (it->SeekToLast(); it->Valid(); it->Prev()) {
        ASSERT_TRUE(it->PrepareValue()) << it->status().ToString();
        seen[it->key().ToString()] = it->value().ToString();
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
      EXPECT_EQ(seen, model) << "backward, lazy " << lazy;
      // Steps to and fro around each key.
      for (const auto& [key, value] : model) {
        it->Seek(key);
        ASSERT_TRUE(it->Valid() && it->PrepareValue()) << it->status().ToString();
        EXPECT_EQ(it->value(), Slice(value)) << key;
        it->Prev();
        if (key != model.begin()->first) {
          ASSERT_TRUE(it->Valid()) << it->status().ToString();
          it->Next();
          ASSERT_TRUE(it->Valid() && it->PrepareValue()) << it->status().ToString();
          EXPECT_EQ(it->value(), Slice(value)) << key;
        }
      }
    }
  }

  std::vector<std::string> BlobFilesHere() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() == ".blob") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
  }

  std::string path_;
  OldDatabase::Setup setup_;
  std::unique_ptr<DB> db_;
};

TEST_F(BlobFilesOfOthersTest, EveryKindOfReadGivesTheirAnswers) {
  for (const int compression : {0, 1, 4, 7}) {
    SCOPED_TRACE(compression);
    fs::remove_all(path_);
    SetCompression(compression);
    Model model;
    Fill(&model);
    Open();
    ExpectReads(model);
    if (HasFailure()) return;
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
    Open();
    ExpectReads(model);
    db_.reset();
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    std::string text;
    for (const auto& [key, value] : model) text += (text.empty() ? "" : " ") + key + "=" + value;
    EXPECT_EQ(old.Scan("default"), text);
  }
}

TEST_F(BlobFilesOfOthersTest, SnapshotsKeepTheirValues) {
  Model model;
  Fill(&model);
  Open();
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_TRUE(db_->Put(WriteOptions(), "k104", "new").ok());
  ASSERT_TRUE(db_->Delete(WriteOptions(), "k108").ok());
  ASSERT_TRUE(db_->Merge(WriteOptions(), "sum", StampOf(8)).ok());
  ReadOptions then;
  then.snapshot = snapshot;
  ExpectReads(model, then);
  model["k104"] = "new";
  model.erase("k108");
  model["sum"] = StampOf(50);
  ExpectReads(model);
  db_->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ExpectReads(model);
}

TEST_F(BlobFilesOfOthersTest, OperandsComeWithTheirBase) {
  Model model;
  Fill(&model);
  Open();
  std::vector<PinnableSlice> operands(4);
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 4;
  int count = 0;
  ASSERT_TRUE(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "sum",
                                    operands.data(), &options, &count)
                  .ok());
  ASSERT_EQ(count, 2);
  EXPECT_EQ(operands[0].ToString(), StampOf(40));
  EXPECT_EQ(operands[1].ToString(), StampOf(2));
}

TEST_F(BlobFilesOfOthersTest, NoReadWithoutReading) {
  Model model;
  Fill(&model);
  Open();
  ReadOptions no_io;
  no_io.read_tier = kBlockCacheTier;
  std::string value;
  ASSERT_TRUE(db_->Get(ReadOptions(), "k104", &value).ok());
  EXPECT_TRUE(db_->Get(no_io, "k104", &value).IsIncomplete());
}

// Each byte of a small file is changed in turn.
TEST_F(BlobFilesOfOthersTest, DamageIsAnErrorThatNamesTheFile) {
  {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    old.Put("default", "a", "the first value");
    old.Put("default", "b", "the second value");
    old.Flush("default");
  }
  const std::vector<std::string> files = BlobFilesHere();
  ASSERT_EQ(files.size(), 1u);
  std::string bytes;
  {
    std::ifstream in(files[0], std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto try_with = [&](const std::string& changed, const std::string& what) {
    std::ofstream(files[0], std::ios::binary) << changed;
    std::unique_ptr<DB> db;
    const Status opened = DB::OpenForReadOnly(OurOptions(), path_, &db);
    ASSERT_TRUE(opened.ok()) << what << ": " << opened.ToString();
    for (const auto& [key, right] : Model{{"a", "the first value"}, {"b", "the second value"}}) {
      std::string value;
      const Status s = db->Get(ReadOptions(), key, &value);
      if (s.ok()) {
        EXPECT_EQ(value, right) << what;
        continue;
      }
      EXPECT_FALSE(s.IsNotFound()) << what;
      EXPECT_THAT(s.ToString(), HasSubstr(".blob")) << what;
    }
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      EXPECT_EQ(it->value().starts_with("the "), true) << what;
    }
  };
  for (size_t i = 0; i < bytes.size(); i++) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    try_with(changed, "byte " + std::to_string(i));
    if (HasFailure()) return;
  }
  for (const size_t size : {size_t{0}, size_t{29}, size_t{80}, bytes.size() - 1}) {
    try_with(bytes.substr(0, size), "cut to " + std::to_string(size));
  }
  fs::remove(files[0]);
  const Status refused = DB::OpenForReadOnly(OurOptions(), path_, &db_);
  EXPECT_TRUE(refused.IsCorruption()) << refused.ToString();
  EXPECT_THAT(refused.ToString(), HasSubstr(".blob"));
  Open();
  std::string value;
  const Status s = db_->Get(ReadOptions(), "a", &value);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("is missing"));
  EXPECT_THAT(s.ToString(), HasSubstr("offset"));
}

// Timestamps are part of the key in a blob file.
TEST_F(BlobFilesOfOthersTest, KeysWithTimestamps) {
  setup_.families = {{"default", false}, {"timed", true}};
  {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    old.PutAt("timed", "a", 1, Value("a1", 50));
    old.PutAt("timed", "a", 3, Value("a3", 60));
    old.PutAt("timed", "b", 2, Value("b2", 70));
    old.Flush("timed");
  }
  Options timed = OurOptions();
  timed.comparator = BytewiseComparatorWithU64Ts();
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(
      DB::Open(OurOptions(), path_, {{"default", OurOptions()}, {"timed", timed}}, &handles, &db_)
          .ok());
  for (const auto& [stamp, expected] :
       std::map<uint64_t, Model>{{1, {{"a", Value("a1", 50)}}},
                                 {2, {{"a", Value("a1", 50)}, {"b", Value("b2", 70)}}},
                                 {9, {{"a", Value("a3", 60)}, {"b", Value("b2", 70)}}}}) {
    const std::string at = StampOf(stamp);
    const Slice timestamp(at);
    ReadOptions read;
    read.timestamp = &timestamp;
    for (const auto& [key, right] : expected) {
      std::string value;
      const Status s = db_->Get(read, handles[1], key, &value);
      EXPECT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(value, right);
    }
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, handles[1]));
    Model seen;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      seen[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_EQ(seen, expected) << it->status().ToString();
    seen.clear();
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      seen[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_EQ(seen, expected) << it->status().ToString();
  }
  // All versions of each key, newest first.
  const std::string first = StampOf(0);
  const std::string last = StampOf(9);
  const Slice from(first);
  const Slice to(last);
  ReadOptions history;
  history.iter_start_ts = &from;
  history.timestamp = &to;
  std::unique_ptr<Iterator> it(db_->NewIterator(history, handles[1]));
  std::vector<std::string> versions;
  for (it->SeekToFirst(); it->Valid(); it->Next()) versions.push_back(it->value().ToString());
  EXPECT_EQ(versions, (std::vector<std::string>{Value("a3", 60), Value("a1", 50), Value("b2", 70)}))
      << it->status().ToString();
  versions.clear();
  for (it->SeekToLast(); it->Valid(); it->Prev()) versions.push_back(it->value().ToString());
  EXPECT_EQ(versions, (std::vector<std::string>{Value("b2", 70), Value("a1", 50), Value("a3", 60)}))
      << it->status().ToString();
  it.reset();
  for (ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }
}

// No function of the C API prepares a value: the call for the value does.
TEST_F(BlobFilesOfOthersTest, IteratorsOfTheCApiHaveTheirValues) {
  {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    old.Put("default", "a", "the value of a");
    old.Flush("default");
  }
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_options_enable_statistics(options);
  const auto bytes_read = [&] {
    return rocksdb_options_statistics_get_ticker_count(options, BLOB_DB_BLOB_FILE_BYTES_READ);
  };
  char* error = nullptr;
  rocksdb_t* const db = rocksdb_open(options, path_.c_str(), &error);
  ASSERT_EQ(error, nullptr) << error;
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_allow_unprepared_value(read, 1);
  rocksdb_iterator_t* const it = rocksdb_create_iterator(db, read);
  rocksdb_iter_seek_to_first(it);
  ASSERT_TRUE(rocksdb_iter_valid(it));
  EXPECT_EQ(bytes_read(), 0u);
  size_t size = 0;
  const char* const value = rocksdb_iter_value(it, &size);
  EXPECT_EQ(std::string(value, size), "the value of a");
  EXPECT_GT(bytes_read(), 0u);
  rocksdb_iter_destroy(it);
  rocksdb_readoptions_destroy(read);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

TEST_F(BlobFilesOfOthersTest, CopiesHaveThem) {
  Model model;
  Fill(&model);
  Open();
  const std::string copy = path_ + "_copy";
  const std::string backups = path_ + "_backups";
  fs::remove_all(copy);
  fs::remove_all(backups);
  std::vector<std::string> files;
  uint64_t bytes = 0;
  ASSERT_TRUE(db_->GetLiveFiles(files, &bytes).ok());
  EXPECT_EQ(std::ranges::count_if(files, [](const auto& name) { return name.ends_with(".blob"); }),
            2);
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(copy).ok());
  ExportImportFilesMetaData* metadata = nullptr;
  const Status exported =
      checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), path_ + "_export", &metadata);
  EXPECT_TRUE(exported.IsNotSupported()) << exported.ToString();
  {
    BackupEngine* engine = nullptr;
    ASSERT_TRUE(BackupEngine::Open(BackupEngineOptions(backups), Env::Default(), &engine).ok());
    const std::unique_ptr<BackupEngine> owned(engine);
    for (int i = 0; i < 2; i++) {
      const Status s = engine->CreateNewBackup(db_.get());
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    EXPECT_TRUE(engine->VerifyBackup(2, /*verify_with_checksum=*/true).ok());
    db_.reset();
    fs::remove_all(path_);
    ASSERT_TRUE(engine->RestoreDBFromBackup(2, path_, path_).ok());
  }
  Open();
  ExpectReads(model);
  db_.reset();
  fs::remove_all(path_);
  fs::rename(copy, path_);
  Open();
  ExpectReads(model);
  fs::remove_all(backups);
}

TEST_F(BlobFilesOfOthersTest, ARepairFindsThemWithoutAManifest) {
  Model model;
  Fill(&model);
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename();
    if (name == "CURRENT" || name.starts_with("MANIFEST")) fs::remove(entry.path());
  }
  RepairReport report;
  const Status s = Repair(&report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(report.lost.empty()) << report.ToString();
  Open();
  ExpectReads(model);
  db_.reset();
  EXPECT_EQ(BlobFilesHere().size(), 2u);
}

TEST_F(BlobFilesOfOthersTest, ARepairTellsOfAMissingFile) {
  Model model;
  Fill(&model);
  fs::remove(BlobFilesHere().back());
  RepairReport report;
  const Status s = Repair(&report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(report.lost.size(), 1u) << report.ToString();
  EXPECT_THAT(report.lost[0].name, HasSubstr(".blob"));
  Open();
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "k102", &value).ok()) << "of the other file";
  EXPECT_EQ(value, model["k102"]);
  EXPECT_TRUE(db_->Get(ReadOptions(), "k104", &value).IsCorruption());
}

TEST_F(BlobFilesOfOthersTest, BestEffortsGoBackBeforeAMissingFile) {
  Model model;
  Fill(&model);
  fs::remove(BlobFilesHere().back());
  Options options = OurOptions();
  options.best_efforts_recovery = true;
  const Status s = DB::Open(options, path_, &db_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  size_t seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen++;
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(seen, 41u) << "the keys of the first flush";
}

TEST_F(BlobFilesOfOthersTest, FilesWithoutReferencesGo) {
  setup_.families = {{"default", false}, {"other", false}};
  {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    for (const char* family : {"default", "other"}) {
      old.Put(family, "a", Value("a", 50));
      old.Flush(family);
      old.Compact(family);
      old.Put(family, "b", Value("b", 50));
      old.Flush(family);
      old.Compact(family);
    }
  }
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(DB::Open(OurOptions(), path_, {{"default", OurOptions()}, {"other", OurOptions()}},
                       &handles, &db_)
                  .ok());
  EXPECT_EQ(BlobFilesHere().size(), 4u);
  uint64_t number = 0;
  EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kNumBlobFiles, &number));
  EXPECT_EQ(number, 2u);
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  ASSERT_EQ(metadata.blob_files.size(), 2u);
  EXPECT_EQ(metadata.blob_files[0].total_blob_count, 1u);
  ASSERT_TRUE(db_->DropColumnFamily(handles[1]).ok());
  for (ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }
  const auto eventually = [&](size_t files) {
    for (int i = 0; i < 500 && BlobFilesHere().size() != files; i++) ::usleep(10000);
    return BlobFilesHere().size();
  };
  EXPECT_EQ(eventually(2), 2u) << "the family's files";
  // A held iterator keeps the file of a table that is gone.
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  const Slice a("a");
  ASSERT_TRUE(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &a, &a).ok());
  it->Seek("a");
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->value(), Slice(Value("a", 50)));
  EXPECT_EQ(BlobFilesHere().size(), 2u);
  it.reset();
  EXPECT_EQ(eventually(1), 1u) << "the deleted table's file";
  ASSERT_TRUE(db_->VerifyChecksum().ok());
  ASSERT_TRUE(db_->Close().ok());
  db_.reset();
  {
    setup_.families = {{"default", false}};
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    EXPECT_EQ(old.Scan("default"), "b=" + Value("b", 50));
  }
  ASSERT_TRUE(DestroyDB(path_, OurOptions()).ok());
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace

}  // namespace varve::testing
