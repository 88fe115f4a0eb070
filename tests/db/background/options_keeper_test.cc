// SPDX-License-Identifier: Apache-2.0

// Goal: the OPTIONS file follows every change, also where it is too large to be written with each,
// and no reader or copy of it gets an older one. Method: a database with a hundred families whose
// options change, with files that cannot be made, calls from within its job, and closing.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "varve/utilities/options_util.h"

#include "db/api/c/c_types.h"
#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Holds threads up that make an OPTIONS file: one, or all but one.
class HeldFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "HeldFiles"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    const std::thread::id here = std::this_thread::get_id();
    const bool held =
        holds.load() == here || (spares.load() != std::thread::id() && spares != here);
    if (held && name.find("OPTIONS") != std::string::npos) {
      arrived = true;
      EXPECT_TRUE(Eventually([&] { return open.load(); }));
    }
    return FileSystemWrapper::NewWritableFile(name, options, file, dbg);
  }
  std::atomic<std::thread::id> holds{};
  std::atomic<std::thread::id> spares{};
  std::atomic<bool> arrived{false};
  std::atomic<bool> open{false};
};

// Calls the database once, where a job makes an OPTIONS file.
class CallingFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CallingFiles"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    const bool in_job = std::this_thread::get_id() != caller;
    if (in_job && name.find("OPTIONS") != std::string::npos) {
      if (DB* const to = of_job.exchange(nullptr); to != nullptr) {
        closing = to->Close();
        change = to->SetOptions({{"write_buffer_size", "100007"}});
        std::vector<std::string> files;
        uint64_t manifest_bytes = 0;
        list = to->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/false);
        called = true;
      }
    }
    return FileSystemWrapper::NewWritableFile(name, options, file, dbg);
  }
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<DB*> of_job{nullptr};
  Status closing;
  Status change;
  Status list;
  std::atomic<bool> called{false};
};

class OptionsKeeperTest : public Database {
 protected:
  void OpenMany() {
    std::vector<std::string> names = {"default"};
    for (int i = 0; i < 100; i++) names.push_back("f" + std::to_string(i));
    Open(names);
  }
  Status Change(const std::string& family, uint64_t write_buffer_size) {
    return db()->SetOptions(Handle(family),
                            {{"write_buffer_size", std::to_string(write_buffer_size)}});
  }
  // Returns the family's value in the newest file; 0: none.
  uint64_t Told(const std::string& family) {
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    const Status s = LoadLatestOptions(kName, options_.env, &db_options, &families);
    EXPECT_TRUE(s.ok()) << s.ToString();
    for (const ColumnFamilyDescriptor& told : families) {
      if (told.name == family) return told.options.write_buffer_size;
    }
    return 0;
  }
  uint64_t NewestNumber() {
    std::string name;
    EXPECT_TRUE(GetLatestOptionsFileName(kName, options_.env, &name).ok());
    uint64_t number = 0;
    FileType type;
    EXPECT_TRUE(ParseFileName(name, &number, &type));
    return number;
  }
  void BreakOptionsFiles() {
    FaultRule rule;
    rule.calls = Only(FaultCall::kCreate);
    rule.path_contains = "OPTIONS";
    rule.sticky = true;
    faults().Inject(rule);
  }
};

TEST_F(OptionsKeeperTest, WithFewFamiliesItIsWrittenWithTheChange) {
  Open({"default", "a"});
  for (uint64_t size = 100001; size < 100010; size++) {
    ASSERT_TRUE(Change("a", size).ok());
    EXPECT_EQ(Told("a"), size);
    EXPECT_EQ(Files(kOptionsFile).size(), 2u);
  }
  BreakOptionsFiles();
  EXPECT_FALSE(Change("a", 200000).ok());
}

TEST_F(OptionsKeeperTest, WithManyFamiliesItFollowsSoon) {
  OpenMany();
  ASSERT_TRUE(Change("f7", 123456).ok());
  EXPECT_TRUE(Eventually([&] { return Told("f7") == 123456; }));
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "made", &made).ok());
  EXPECT_TRUE(Eventually([&] { return Told("made") != 0; }));
  ASSERT_TRUE(db()->DropColumnFamily(made).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
  EXPECT_TRUE(Eventually([&] { return Told("made") == 0; }));
  EXPECT_EQ(Told("f7"), 123456u);
  EXPECT_EQ(Files(kOptionsFile).size(), 2u);
}

TEST_F(OptionsKeeperTest, ChangesThatComeTogetherAreToldTogether) {
  OpenMany();
  const uint64_t before = NewestNumber();
  for (uint64_t i = 0; i < 100; i++) ASSERT_TRUE(Change("f" + std::to_string(i), 70000 + i).ok());
  EXPECT_TRUE(Eventually([&] { return Told("f99") == 70099; }));
  EXPECT_EQ(Told("f0"), 70000u);
  EXPECT_LT(NewestNumber(), before + 60) << "no file but these has taken a number";
}

TEST_F(OptionsKeeperTest, CloseAndCopiesHaveTheLastChange) {
  OpenMany();
  for (uint64_t size = 100001; size < 100006; size++) {
    ASSERT_TRUE(Change("f7", size).ok());
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    ASSERT_TRUE(db()->GetLiveFiles(files, &manifest_bytes).ok());
    EXPECT_EQ(Told("f7"), size);
    EXPECT_THAT(files, Contains("/" + OptionsFileBaseName(NewestNumber())));
  }
  ASSERT_TRUE(Change("f8", 99999).ok());
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(Told("f8"), 99999u);
}

// The caller waits for the disk only for the MANIFEST.
TEST_F(OptionsKeeperTest, WithManyFamiliesAChangeWaitsForOneSyncAtMost) {
  const auto files = std::make_shared<HeldFiles>(file_system());
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  options_.env = env.get();
  OpenMany();
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db()->GetLiveFiles(names, &manifest_bytes).ok());
  files->spares = std::this_thread::get_id();
  faults().ResetCounters();
  const FaultCalls others = Only(FaultCall::kSyncDir) | Only(FaultCall::kRename) |
                            Only(FaultCall::kCreate) | Only(FaultCall::kDelete);
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "made", &made).ok());
  EXPECT_EQ(faults().calls(FaultCall::kSync), 1u);
  ASSERT_TRUE(Change("f7", 123456).ok());
  EXPECT_EQ(faults().calls(FaultCall::kSync), 1u);
  ASSERT_TRUE(db()->DropColumnFamily(made).ok());
  EXPECT_EQ(faults().calls(FaultCall::kSync), 2u);
  EXPECT_EQ(faults().calls_in(others), 0u);
  files->open = true;
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
  ASSERT_TRUE(Close().ok());
}

// A copy of the files writes it as well, and a change may come in the meantime.
TEST_F(OptionsKeeperTest, WhatChangesWhileACopyIsMadeIsToldToo) {
  const auto files = std::make_shared<HeldFiles>(file_system());
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  options_.env = env.get();
  OpenMany();
  std::atomic<bool> copied{false};
  for (uint64_t size = 100001; !files->arrived; size++) {
    ASSERT_LT(size, 100100u) << "the job was always first";
    ASSERT_TRUE(Change("f7", size).ok());
    std::thread copier([&] {
      files->holds = std::this_thread::get_id();
      std::vector<std::string> names;
      uint64_t manifest_bytes = 0;
      EXPECT_TRUE(db()->GetLiveFiles(names, &manifest_bytes).ok());
      copied = true;
    });
    EXPECT_TRUE(Eventually([&] { return files->arrived || copied; }));
    if (files->arrived) {
      EXPECT_TRUE(Change("f8", 99999).ok());
      // The timer finds that a thread is writing.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    files->open = true;
    copier.join();
    copied = false;
  }
  EXPECT_TRUE(Eventually([&] { return Told("f8") == 99999; }, /*seconds=*/3));
  ASSERT_TRUE(Close().ok());
}

// Close would wait for the job that it is called from. Calls that need not wait go on.
TEST_F(OptionsKeeperTest, ItsJobDoesNotWaitForItself) {
  const auto files = std::make_shared<CallingFiles>(file_system());
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  options_.env = env.get();
  OpenMany();
  files->of_job = db();
  ASSERT_TRUE(Change("f7", 123456).ok());
  ASSERT_TRUE(Eventually([&] { return files->called.load(); }));
  EXPECT_TRUE(files->closing.IsBusy()) << files->closing.ToString();
  EXPECT_THAT(files->closing.ToString(), HasSubstr("the writing of the OPTIONS file"));
  EXPECT_TRUE(files->change.ok()) << files->change.ToString();
  EXPECT_TRUE(files->list.ok()) << files->list.ToString();
  EXPECT_TRUE(Eventually([&] { return Told("default") == 100007; })) << "another job tells it";
  EXPECT_EQ(Told("f7"), 123456u);
  ASSERT_TRUE(Close().ok());
}

// The one with the largest number is the newest, also after a kill.
TEST_F(OptionsKeeperTest, AnOpeningTakesANumberAboveAllBefore) {
  Open({"default", "a"});
  for (uint64_t size = 100001; size < 100010; size++) ASSERT_TRUE(Change("a", size).ok());
  const uint64_t before = NewestNumber();
  Kill();
  options_.write_buffer_size = 222222;
  Open({"default", "a"});
  EXPECT_GT(NewestNumber(), before);
  EXPECT_EQ(Told("a"), 222222u);
  MakeTable({"k"});
  for (const std::string& name : Files(kTableFile)) EXPECT_GT(std::stoull(name), before);
}

TEST_F(OptionsKeeperTest, AFailureIsToldToTheNextChangeOrByClose) {
  OpenMany();
  BreakOptionsFiles();
  ASSERT_TRUE(Change("f7", 100001).ok());
  EXPECT_TRUE(Eventually([&] { return faults().strikes() > 0; }));
  EXPECT_TRUE(Eventually([&] { return !Change("f7", 100002).ok(); }));
  faults().ClearFaults();
  EXPECT_TRUE(Change("f7", 100003).ok());
  EXPECT_EQ(Told("f7"), 100003u);
  ASSERT_TRUE(Change("f7", 100004).ok());
  BreakOptionsFiles();
  Change("f7", 100005).PermitUncheckedError();
  EXPECT_FALSE(Close().ok());
}

// Changes that happened are reported, also if they could not be written down.
TEST_F(OptionsKeeperTest, FamiliesAndOptionsAreThereAlthoughTheFileIsNot) {
  options_.fail_if_options_file_error = true;
  Open();
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = "OPTIONS";
  rule.sticky = true;
  faults().Inject(rule);
  std::vector<ColumnFamilyHandle*> handles;
  EXPECT_FALSE(db()->CreateColumnFamilies(options_, {"a", "b"}, &handles).ok());
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_TRUE(db()->Put(WriteOptions(), handles[0], "k", "v").ok());
  EXPECT_TRUE(db()->DestroyColumnFamilyHandle(handles[0]).ok());
  const Status s = db()->SetOptions({{"write_buffer_size", "1000000"}});
  EXPECT_THAT(s.ToString(), HasSubstr("changed all the same"));
  EXPECT_EQ(db()->GetOptions().write_buffer_size, 1000000u);
  faults().ClearFaults();
}

TEST_F(OptionsKeeperTest, TheCApiGivesHandlesOfSuchFamilies) {
  rocksdb_options_t options;
  options.rep = options_;
  options.rep.create_if_missing = true;
  options.rep.fail_if_options_file_error = true;
  char* error = nullptr;
  rocksdb_t* const c_db = rocksdb_open(&options, kName, &error);
  ASSERT_EQ(error, nullptr) << error;
  BreakOptionsFiles();
  std::vector<rocksdb_column_family_handle_t*> handles;
  handles.push_back(rocksdb_create_column_family(c_db, &options, "a", &error));
  EXPECT_NE(error, nullptr);
  const char* const names[] = {"b", "c"};
  size_t made = 0;
  rocksdb_column_family_handle_t** const list =
      rocksdb_create_column_families(c_db, &options, 2, names, &made, &error);
  EXPECT_NE(error, nullptr);
  rocksdb_free(error);
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(made, 1u);
  handles.push_back(list[0]);
  rocksdb_create_column_families_destroy(list);
  faults().ClearFaults();
  rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
  for (rocksdb_column_family_handle_t* const handle : handles) {
    ASSERT_NE(handle, nullptr);
    error = nullptr;
    rocksdb_put_cf(c_db, write, handle, "k", 1, "v", 1, &error);
    EXPECT_EQ(error, nullptr) << error;
    rocksdb_column_family_handle_destroy(handle);
  }
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(c_db);
}

// Otherwise the next flush would fail, and then every write.
TEST_F(OptionsKeeperTest, WhatNoTableCanBeBuiltWithIsRefused) {
  Open();
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"compression", "kDisableCompressionOption"},
      {"compression_per_level", "kNoCompression:kDisableCompressionOption"},
      {"block_based_table_factory", "{super_block_alignment_size=3}"},
      {"block_based_table_factory", "{block_size=2147483648}"},
  };
  for (const auto& [name, value] : wrong) {
    EXPECT_FALSE(db()->SetOptions({{name, value}}).ok()) << name << "=" << value;
    Put("k", value);
    Flush();
  }
  EXPECT_TRUE(db()->SetOptions({{"bottommost_compression", "kDisableCompressionOption"}}).ok());
  ASSERT_TRUE(Close().ok());
  options_.compression_per_level = {kNoCompression, kDisableCompressionOption};
  EXPECT_FALSE(TryOpen().ok());
}

}  // namespace
}  // namespace varve::testing
