// SPDX-License-Identifier: Apache-2.0

// Goal: a directory as another version of RocksDB leaves it gives the same answers here, whatever
// that version did not write down, and goes back there with all that was added; what Varve does
// not have is refused at the opening, by name, with nothing changed. Method: RocksDB's library
// writes through its C API, in every state (in logs, in tables, in both), and is closed; Varve
// opens, compares, adds, closes; RocksDB opens again, compares, and adds; and so on. Of libraries
// that tools/peers has brought each goes through the same tests, in a process of its own.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/transaction_db.h"

#include "tests/harness/source_root.h"
#include "tests/older_writers/old_database.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

// Part of the data that is in tables when the database moves.
enum class Extent : uint8_t { kLogs, kBoth, kTables };
constexpr Extent kExtents[] = {Extent::kLogs, Extent::kBoth, Extent::kTables};

class OlderWritersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RocksDbLibrary::Get() == nullptr) {
      std::printf("SKIPPED: no library of RocksDB was found, older writers are not tested\n");
      GTEST_SKIP();
    }
    const char* const root = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = std::string(root) + "/varve_older_writers_" + std::to_string(::getpid());
    fs::remove_all(path_);
  }
  void TearDown() override {
    if (!path_.empty()) fs::remove_all(path_);
  }

  Options OurOptions(bool timestamps) const {
    Options options;
    options.merge_operator = MergeOperators::CreateUInt64AddOperator();
    if (timestamps) options.comparator = BytewiseComparatorWithU64Ts();
    options.avoid_flush_during_recovery = keep_logs_;
    return options;
  }

  // Opens the directory with Varve, with the families of the setup.
  Status TryOpen() {
    std::vector<ColumnFamilyDescriptor> families;
    for (const auto& [name, timestamps] : setup_.families) {
      families.emplace_back(name, OurOptions(timestamps));
    }
    std::vector<ColumnFamilyHandle*> handles;
    Status s;
    if (setup_.transactions) {
      TransactionDB* made = nullptr;
      s = TransactionDB::Open(OurOptions(false), TransactionDBOptions(), path_, families, &handles,
                              &made);
      transactions_ = made;
      db_.reset(made);
    } else {
      s = DB::Open(OurOptions(false), path_, families, &handles, &db_);
    }
    for (size_t i = 0; i < handles.size(); i++) handles_[families[i].name] = handles[i];
    return s;
  }
  void Open() {
    const Status s = TryOpen();
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::string recovery;
    ASSERT_TRUE(db_->GetProperty("varve.recovery", &recovery));
    EXPECT_NE(recovery.find("dropped_bytes=0 "), std::string::npos) << recovery;
  }
  void Close() {
    for (const auto& [name, handle] : handles_) {
      ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    }
    handles_.clear();
    const Status s = db_->Close();
    EXPECT_TRUE(s.ok()) << s.ToString();
    db_.reset();
  }
  ColumnFamilyHandle* Handle(const std::string& family) { return handles_.at(family); }
  void Put(const std::string& family, const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(WriteOptions(), Handle(family), key, value).ok());
  }
  void PutAt(const std::string& family, const std::string& key, uint64_t stamp,
             const std::string& value) {
    ASSERT_TRUE(db_->Put(WriteOptions(), Handle(family), key, StampOf(stamp), value).ok());
  }
  std::string Scan(const std::string& family, uint64_t stamp = 0) {
    ReadOptions read;
    const std::string at = StampOf(stamp);
    const Slice timestamp(at);
    if (stamp != 0) read.timestamp = &timestamp;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, Handle(family)));
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += (text.empty() ? "" : " ") + it->key().ToString() + "=" + it->value().ToString();
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return text;
  }

  // Expects that answer for the family from both; RocksDB is asked first, and closed again.
  void ExpectBoth(const std::string& family, const std::string& expected, uint64_t stamp = 0) {
    {
      OldDatabase old(path_, setup_);
      ASSERT_TRUE(old.is_open()) << old.error();
      EXPECT_EQ(old.Scan(family, stamp), expected) << "there";
    }
    Open();
    EXPECT_EQ(Scan(family, stamp), expected) << "here";
    Close();
  }
  // Expects a refusal that says this and leaves the directory to RocksDB.
  void ExpectRefusal(const std::string& what, const std::string& expected) {
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(what), std::string::npos) << s.ToString();
    EXPECT_EQ(s.ToString().find("RepairDB"), std::string::npos) << s.ToString();
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    EXPECT_EQ(old.Scan("default"), expected);
  }

  std::string path_;
  OldDatabase::Setup setup_;
  bool keep_logs_ = false;  // avoid_flush_during_recovery
  std::unique_ptr<DB> db_;
  TransactionDB* transactions_ = nullptr;  // the database, if it is one
  std::map<std::string, ColumnFamilyHandle*> handles_;
};

std::string NumberText(uint64_t number) {
  return StampOf(number);  // form that the adding operator stores
}

TEST_F(OlderWritersTest, EveryKindOfUpdateInEveryState) {
  setup_.families = {{"default", false}, {"other", false}};
  for (const bool keep : {false, true}) {
    keep_logs_ = keep;
    for (const Extent extent : kExtents) {
      fs::remove_all(path_);
      {
        OldDatabase old(path_, setup_);
        ASSERT_TRUE(old.is_open()) << old.error();
        for (const char* key : {"a", "b", "c", "d", "e", "f"}) old.Put("default", key, "1");
        old.Put("other", "o", "1");
        old.Add("other", "sum", 5);
        if (extent == Extent::kBoth) old.Flush("default");
        if (extent == Extent::kBoth) old.Compact("other");
        old.Put("default", "a", "2");
        old.Delete("default", "b");
        old.SingleDelete("default", "c");
        old.DeleteRange("default", "d", "f");
        old.Put("default", "e", "3");
        old.Add("other", "sum", 7);
        if (extent == Extent::kTables) {
          old.Flush("default");
          old.Flush("other");
        }
      }
      ExpectBoth("default", "a=2 e=3 f=1");
      ExpectBoth("other", "o=1 sum=" + NumberText(12));
      Open();
      Put("default", "g", "ours");
      ASSERT_TRUE(db_->Delete(WriteOptions(), Handle("other"), "o").ok());
      ASSERT_TRUE(db_->Merge(WriteOptions(), Handle("other"), "sum", NumberText(1)).ok());
      Close();
      ExpectBoth("default", "a=2 e=3 f=1 g=ours");
      ExpectBoth("other", "sum=" + NumberText(13));
    }
  }
}

// Logs of RocksDB before 8.4 do not say that keys have timestamps; and it reads no log that does.
TEST_F(OlderWritersTest, TimestampsInEveryState) {
  setup_.families = {{"default", false}, {"timed", true}};
  for (const bool keep : {false, true}) {
    keep_logs_ = keep;
    for (const Extent extent : kExtents) {
      SCOPED_TRACE(static_cast<int>(extent) + (keep ? 10 : 0));
      fs::remove_all(path_);
      {
        OldDatabase old(path_, setup_);
        ASSERT_TRUE(old.is_open()) << old.error();
        old.PutAt("timed", "a", 1, "a1");
        old.PutAt("timed", "b", 1, "b1");
        old.Put("default", "p", "1");
        if (extent == Extent::kBoth) old.Flush("timed");
        old.PutAt("timed", "a", 3, "a3");
        old.DeleteAt("timed", "b", 3);
        old.PutAt("timed", "c", 3, "c3");
        old.Put("default", "q", "1");
        if (extent == Extent::kTables) {
          old.Flush("timed");
          old.Flush("default");
        }
      }
      Open();
      EXPECT_EQ(Scan("timed", 1), "a=a1 b=b1");
      EXPECT_EQ(Scan("timed", 9), "a=a3 c=c3");
      EXPECT_EQ(Scan("default"), "p=1 q=1");
      PutAt("timed", "d", 5, "d5");
      Put("default", "r", "ours");
      Close();
      ExpectBoth("timed", "a=a3 c=c3 d=d5", 9);
      ExpectBoth("timed", "a=a1 b=b1", 2);
      ExpectBoth("default", "p=1 q=1 r=ours");
      {
        OldDatabase old(path_, setup_);
        ASSERT_TRUE(old.is_open()) << old.error();
        old.PutAt("timed", "e", 6, "e6");
      }
      Open();
      Close();  // nothing is written
      ExpectBoth("timed", "a=a3 c=c3 d=d5 e=e6", 9);
    }
  }
}

TEST_F(OlderWritersTest, FamiliesThatComeAndGo) {
  setup_.families = {{"default", false}, {"gone", false}, {"timed_and_gone", true}};
  {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    old.Put("default", "a", "1");
    old.Put("gone", "g", "1");
    old.PutAt("timed_and_gone", "t", 1, "1");
    old.Drop("gone");
    old.Drop("timed_and_gone");
    old.Put("default", "b", "1");
  }
  setup_.families = {{"default", false}};
  Open();
  EXPECT_EQ(Scan("default"), "a=1 b=1");
  ColumnFamilyHandle* timed = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(OurOptions(true), "timed", &timed).ok());
  handles_["timed"] = timed;
  PutAt("timed", "t", 1, "1");
  Put("default", "c", "ours");
  Close();
  setup_.families["timed"] = true;
  ExpectBoth("timed", "t=1", 1);
  ExpectBoth("default", "a=1 b=1 c=ours");
}

TEST_F(OlderWritersTest, TransactionsThatArePrepared) {
  setup_.transactions = true;
  setup_.families = {{"default", false}, {"other", false}};
  for (const bool flushed : {false, true}) {
    fs::remove_all(path_);
    {
      OldDatabase old(path_, setup_);
      ASSERT_TRUE(old.is_open()) << old.error();
      old.Put("default", "a", "1");
      old.Prepare("done", "default", "d", "1");
      old.Prepare("first", "default", "f", "1");
      old.Prepare("second", "other", "s", "1");
      old.Commit("done");
      if (flushed) old.Flush("default");
      old.Put("other", "o", "1");
    }
    Open();
    EXPECT_EQ(Scan("default"), "a=1 d=1");
    std::vector<Transaction*> prepared;
    transactions_->GetAllPreparedTransactions(&prepared);
    ASSERT_EQ(prepared.size(), 2u);
    for (Transaction* transaction : prepared) {
      if (transaction->GetName() == "first") {
        EXPECT_TRUE(transaction->Commit().ok());
      }
      delete transaction;
    }
    Close();
    {
      OldDatabase old(path_, setup_);
      ASSERT_TRUE(old.is_open()) << old.error();
      EXPECT_EQ(old.Prepared(), "second ");
      EXPECT_EQ(old.Scan("default"), "a=1 d=1 f=1");
      EXPECT_EQ(old.Scan("other"), "o=1");
      old.Rollback("second");
    }
    Open();
    EXPECT_EQ(Scan("other"), "o=1");
    transactions_->GetAllPreparedTransactions(&prepared);
    EXPECT_TRUE(prepared.empty());
    Close();
  }
}

TEST_F(OlderWritersTest, OtherOptionsOfWriters) {
  const std::function<void(const RocksDbLibrary&, OldDatabase::Opaque*)> all[] = {
      [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
        library.Call<void>("options_set_wal_compression", options, 7);
      },
      [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
        library.Call<void>("options_set_recycle_log_file_num", options, size_t{2});
      },
      [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
        library.Call<void>("options_set_compaction_style", options, 1);
      },
      [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
        library.Call<void>("options_set_atomic_flush", options, static_cast<unsigned char>(1));
      },
      [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
        library.Call<void>("options_set_num_levels", options, 3);
      },
  };
  setup_.families = {{"default", false}, {"other", false}};
  for (const auto& adjust : all) {
    fs::remove_all(path_);
    setup_.adjust = adjust;
    {
      OldDatabase old(path_, setup_);
      ASSERT_TRUE(old.is_open()) << old.error();
      for (int round = 0; round < 5; round++) {
        old.Put("default", "k" + std::to_string(round), "1");
        old.Put("other", "same", std::to_string(round));
        if (round < 4) old.Flush("default");
        if (round == 2) old.Compact("default");
      }
    }
    Open();
    EXPECT_EQ(Scan("default"), "k0=1 k1=1 k2=1 k3=1 k4=1");
    Put("other", "z", "ours");
    Close();
    ExpectBoth("other", "same=4 z=ours");
  }
}

TEST_F(OlderWritersTest, PlainTablesAreReadAndConverted) {
  setup_.adjust = [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
    // Later versions have four more arguments.
    library.Call<void>("options_set_plain_table_factory", options, uint32_t{0}, 10, 0.75,
                       size_t{16}, size_t{0}, char{0}, static_cast<unsigned char>(0),
                       static_cast<unsigned char>(0));
    library.Call<void>("options_set_allow_mmap_reads", options, static_cast<unsigned char>(1));
    auto* const prefix =
        library.Call<OldDatabase::Opaque*>("slicetransform_create_fixed_prefix", size_t{1});
    library.Call<void>("options_set_prefix_extractor", options, prefix);
  };
  {
    OldDatabase old(path_, setup_);
    if (!old.is_open()) GTEST_SKIP() << "this version has none: " << old.error();
    old.Put("default", "a", "1");
    old.Put("default", "b", "2");
    old.Flush("default");
    old.Delete("default", "b");
    old.Put("default", "c", "3");
    old.Flush("default");
  }
  Open();
  EXPECT_EQ(Scan("default"), "a=1 c=3");
  Put("default", "d", "4");
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan("default"), "a=1 c=3 d=4");
  Close();
  // The tables are block-based now.
  setup_.adjust = nullptr;
  ExpectBoth("default", "a=1 c=3 d=4");
}

TEST_F(OlderWritersTest, CuckooTablesAreRefusedByName) {
  const auto cuckoo = [](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
    auto* const table = library.Call<OldDatabase::Opaque*>("cuckoo_options_create");
    library.Call<void>("options_set_cuckoo_table_factory", options, table);
    library.Call<void>("cuckoo_options_destroy", table);
    library.Call<void>("options_set_allow_mmap_reads", options, static_cast<unsigned char>(1));
  };
  setup_.adjust = cuckoo;
  {
    OldDatabase old(path_, setup_);
    if (!old.is_open()) GTEST_SKIP() << "this version has none: " << old.error();
    old.Put("default", "a", "1");
    old.Flush("default");
  }
  ExpectRefusal("CuckooTable", "a=1");
}

// RocksDB's OPTIONS files do not record where tables are.
TEST_F(OlderWritersTest, TablesInOtherDirectories) {
  const std::string fast = path_ + "_fast";
  setup_.adjust = [&fast](const RocksDbLibrary& library, OldDatabase::Opaque* options) {
    auto* const place =
        library.Call<OldDatabase::Opaque*>("dbpath_create", fast.c_str(), uint64_t{1} << 30);
    const OldDatabase::Opaque* const places[] = {place};
    library.Call<void>("options_set_db_paths", options, &places[0], size_t{1});
    library.Call<void>("dbpath_destroy", place);
  };
  {
    OldDatabase old(path_, setup_);
    ASSERT_TRUE(old.is_open()) << old.error();
    old.Put("default", "a", "1");
    old.Flush("default");
  }
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("db_paths or cf_paths must name where"), std::string::npos)
      << s.ToString();
  Options with_paths = OurOptions(false);
  with_paths.db_paths = {{fast, uint64_t{1} << 30}};
  ASSERT_TRUE(DB::Open(with_paths, path_, &db_).ok());
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "a", &value).ok());
  db_.reset();
  EXPECT_TRUE(RepairDB(path_, OurOptions(false)).IsInvalidArgument()) << "ours do say it";
  fs::remove_all(fast);
}

// Tests other libraries beside the one that the build used.
TEST(OlderWriters, OtherLibrariesGoThroughTheSame) {
  if (std::getenv("VARVE_ROCKSDB_LIBRARY") != nullptr) return;
  std::error_code error;
  int found = 0;
  int wrong = ::testing::UnitTest::GetInstance()->failed_test_count();
  for (const auto& entry : fs::directory_iterator(testing::SourceRoot() + "/build/peers", error)) {
    const std::string library = entry.path().string();
    if (entry.path().filename().string().rfind("librocksdb", 0) != 0) continue;
    found++;
    const std::string command = "VARVE_ROCKSDB_LIBRARY=" + library + " " +
                                fs::read_symlink("/proc/self/exe").string() +
                                " --gtest_brief=1 --gtest_filter=OlderWritersTest.*";
    const int status = std::system(command.c_str());
    EXPECT_EQ(status, 0) << command;
    wrong += status == 0 ? 0 : 1;
  }
  if (found == 0) std::printf("SKIPPED: tools/peers has brought no other version of RocksDB\n");
  std::printf("RESULT older_writers libraries=%d wrong=%d\n",
              found + (RocksDbLibrary::Get() == nullptr ? 0 : 1), wrong);
}

}  // namespace
}  // namespace varve::testing
