// SPDX-License-Identifier: Apache-2.0

// Goal: each engine reads and compacts the tables of the other, of any format version and codec.
// Method: one directory a version and codec, to which both engines add in turn. Which versions and
// codecs there are is RocksDB's to say: VARVE_ROCKSDB_LIBRARY names a newer one than 7.8.3, which
// knows no version above 5.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/table_properties.h"

#include "tests/harness/rocksdb_library.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

using Entries = std::map<std::string, std::string>;

constexpr int kKeysOfEach = 400;
constexpr uint64_t kNewestVersion = 7;
constexpr uint64_t kVersionOf7_8 = 5;

const char* const kVersionCodecs[] = {"kNoCompression",    "kSnappyCompression", "kZlibCompression",
                                      "kBZip2Compression", "kLZ4Compression",    "kZSTD"};

std::string OptionsText(uint64_t version, const char* codec) {
  return "create_if_missing=true;disable_auto_compactions=true;compression=" + std::string(codec) +
         ";block_based_table_factory={format_version=" + std::to_string(version) +
         ";block_size=512;filter_policy=bloomfilter:10:false}";
}

// Holds RocksDB with one family, through its C API.
class TheirDb {
 public:
  using Opaque = void;

  ~TheirDb() {
    if (db_ != nullptr) library_.Call<void>("close", db_);
    for (Opaque* options : {base_, options_}) library_.Call<void>("options_destroy", options);
    library_.Call<void>("readoptions_destroy", read_);
    library_.Call<void>("writeoptions_destroy", write_);
    library_.Call<void>("flushoptions_destroy", flush_);
  }

  // Returns "" or the reason of the failure.
  std::string Open(const std::string& directory, const std::string& options_text) {
    std::string error;
    library_.Checked<void>(&error, "get_options_from_string", base_, options_text.c_str(),
                           options_);
    if (!error.empty()) return error;
    db_ = library_.Checked<Opaque*>(&error, "open", options_, directory.c_str());
    return error;
  }

  std::string Add(const Entries& content) {
    std::string error;
    for (const auto& [key, value] : content) {
      library_.Checked<void>(&error, "put", db_, write_, key.data(), key.size(), value.data(),
                             value.size());
      if (!error.empty()) return error;
    }
    library_.Checked<void>(&error, "flush", db_, flush_);
    return error;
  }

  void Compact() {
    const char* const no_key = nullptr;
    library_.Call<void>("compact_range", db_, no_key, size_t{0}, no_key, size_t{0});
  }

  std::string Read(Entries* content) {
    auto* const it = library_.Call<Opaque*>("create_iterator", db_, read_);
    library_.Call<void>("iter_seek_to_first", it);
    while (library_.Call<unsigned char>("iter_valid", it) != 0) {
      size_t size = 0;
      const char* const key = library_.Call<const char*>("iter_key", it, &size);
      std::string& value = (*content)[std::string(key, size)];
      const char* const bytes = library_.Call<const char*>("iter_value", it, &size);
      value.assign(bytes, size);
      library_.Call<void>("iter_next", it);
    }
    std::string error;
    library_.Checked<void>(&error, "iter_get_error", it);
    library_.Call<void>("iter_destroy", it);
    return error;
  }

 private:
  RocksDbLibrary& library_ = *RocksDbLibrary::Get();
  Opaque* const base_ = library_.Call<Opaque*>("options_create");
  Opaque* const options_ = library_.Call<Opaque*>("options_create");
  Opaque* const read_ = library_.Call<Opaque*>("readoptions_create");
  Opaque* const write_ = library_.Call<Opaque*>("writeoptions_create");
  Opaque* const flush_ = library_.Call<Opaque*>("flushoptions_create");
  Opaque* db_ = nullptr;
};

// Holds Varve in the same form.
class OurDb {
 public:
  std::string Open(const std::string& directory, const std::string& options_text) {
    Options options;
    Status s = GetOptionsFromString(ConfigOptions(), Options(), options_text, &options);
    if (s.ok()) s = DB::Open(options, directory, &db_);
    return Told(s);
  }

  std::string Add(const Entries& content) {
    Status s;
    for (const auto& [key, value] : content) s.UpdateIfOk(db_->Put(WriteOptions(), key, value));
    if (s.ok()) s = db_->Flush(FlushOptions());
    return Told(s);
  }

  std::string Compact() { return Told(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); }

  std::string Read(Entries* content) {
    Status s = db_->VerifyChecksum();
    if (!s.ok()) return Told(s);
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      (*content)[it->key().ToString()] = it->value().ToString();
    }
    return Told(it->status());
  }

  // Returns the format version of the newest table.
  uint64_t NewestTablesVersion() {
    TablePropertiesCollection tables;
    EXPECT_TRUE(db_->GetPropertiesOfAllTables(&tables).ok());
    uint64_t number = 0;
    uint64_t version = 0;
    for (const auto& [name, table] : tables) {
      if (table->orig_file_number < number) continue;
      number = table->orig_file_number;
      version = table->format_version;
    }
    return version;
  }

 private:
  static std::string Told(const Status& s) { return s.ok() ? "" : s.ToString(); }

  std::unique_ptr<DB> db_;
};

class TableVersionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RocksDbLibrary::Get() == nullptr) GTEST_SKIP() << "there is no library of RocksDB";
    directory_ = fs::temp_directory_path() / ("varve_versions_" + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  // Returns keys that lie between those of other rounds, so that a compaction rewrites all tables.
  Entries NextKeys() {
    Entries added;
    for (int i = 0; i < kKeysOfEach; i++) {
      const std::string key = std::to_string(10000 + i) + "." + std::to_string(round_);
      added[key] = "value " + std::to_string(i * 7919 % 1000) + std::string(60, 'v');
    }
    round_++;
    expected_.insert(added.begin(), added.end());
    return added;
  }

  template <typename Db>
  void ExpectAll(Db* db) {
    Entries content;
    ASSERT_EQ(db->Read(&content), "");
    EXPECT_TRUE(content == expected_) << content.size() << " entries of " << expected_.size();
  }

  // Requires that theirs is open and empty.
  void Exchange(std::unique_ptr<TheirDb> theirs, const std::string& path, const std::string& text,
                uint64_t version) {
    ASSERT_EQ(theirs->Add(NextKeys()), "");
    theirs.reset();
    {
      OurDb ours;
      ASSERT_EQ(ours.Open(path, text), "");
      ExpectAll(&ours);
      ASSERT_EQ(ours.Add(NextKeys()), "");
      EXPECT_EQ(ours.NewestTablesVersion(), version);
    }
    theirs = std::make_unique<TheirDb>();
    ASSERT_EQ(theirs->Open(path, text), "");
    ExpectAll(theirs.get());
    theirs->Compact();
    ASSERT_EQ(theirs->Add(NextKeys()), "");
    ExpectAll(theirs.get());
    theirs.reset();
    {
      OurDb ours;
      ASSERT_EQ(ours.Open(path, text), "");
      ExpectAll(&ours);
      ASSERT_EQ(ours.Compact(), "");
      EXPECT_EQ(ours.NewestTablesVersion(), version);
    }
    theirs = std::make_unique<TheirDb>();
    ASSERT_EQ(theirs->Open(path, text), "");
    ExpectAll(theirs.get());
  }

  fs::path directory_;
  Entries expected_;
  int round_ = 0;
};

TEST_F(TableVersionsTest, EachEngineReadsWhatTheOtherWrote) {
  uint64_t newest = 0;
  for (uint64_t version = 2; version <= kNewestVersion; version++) {
    for (const char* codec : kVersionCodecs) {
      SCOPED_TRACE("version " + std::to_string(version) + ", " + codec);
      const std::string path = directory_ / (std::to_string(version) + codec);
      const std::string text = OptionsText(version, codec);
      auto theirs = std::make_unique<TheirDb>();
      if (!theirs->Open(path, text).empty()) continue;
      newest = version;
      expected_.clear();
      Exchange(std::move(theirs), path, text, version);
      if (HasFatalFailure()) return;
    }
  }
  RecordProperty("newest_version", std::to_string(newest));
  EXPECT_GE(newest, kVersionOf7_8);
}

}  // namespace

}  // namespace varve::testing
