// SPDX-License-Identifier: Apache-2.0

// Goal: an exported family, imported here or elsewhere, reads as it did; an import is all there or
// not at all, for writers beside it, too; and no metadata, and no bytes of a table or of EXPORT,
// make it read anything else. Method: round trips of a tree with several levels, merges of old and
// new values and range deletions; bytes of EXPORT and of tables changed one by one; each call of
// the file system fails once, and the power goes before each; threads that write to the family
// while it is imported.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/column_family.h"
#include "varve/comparator.h"
#include "varve/file_checksum.h"
#include "varve/utilities/checkpoint.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using Metadata = std::unique_ptr<ExportImportFilesMetaData>;

class ExportImportTest : public Database, protected MemFileSystem::CallHook {
 protected:
  ExportImportTest() {
    options_.disable_auto_compactions = true;
    options_.create_missing_column_families = true;
  }

  // Writes values that are overwritten, deleted in ranges, and moved to deeper levels.
  void MakeSource() {
    Open({"default", "a"});
    for (int i = 0; i < 20; i++) Put(Key(i), "old", "a");
    Flush("a");
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("a"), nullptr, nullptr).ok());
    for (int i = 5; i < 10; i++) Put(Key(i), "new", "a");
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("a"), Key(12), Key(15)).ok());
    Flush("a");
    Put(Key(7), "newest", "a");
    Put("not mine", "v");
    expected_ = Scan(ReadOptions(), "a");
  }

  static std::string Key(int i) { return "k" + std::to_string(100 + i); }

  Status Export(const std::string& directory, Metadata* metadata, const std::string& family = "a") {
    Checkpoint* raw = nullptr;
    Status s = Checkpoint::Create(db(), &raw);
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    ExportImportFilesMetaData* made = nullptr;
    if (s.ok()) s = checkpoint->ExportColumnFamily(Handle(family), directory, &made);
    metadata->reset(made);
    return s;
  }

  Status Read(const std::string& directory, Metadata* metadata) {
    ExportImportFilesMetaData* made = nullptr;
    Status s = ReadExport(options_.env, directory, &made);
    metadata->reset(made);
    return s;
  }

  Status Import(const std::string& name, const std::vector<const ExportImportFilesMetaData*>& from,
                bool move_files = false) {
    ImportColumnFamilyOptions options;
    options.move_files = move_files;
    ColumnFamilyHandle* handle = nullptr;
    Status s = db()->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_), name, options,
                                                  from, &handle);
    EXPECT_TRUE(!s.ok() || handle != nullptr);
    imported_.reset(handle);
    return s;
  }

  std::string ScanImported() {
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), imported_.get()));
    it->SeekToFirst();
    return Rest(it.get());
  }

  // Nothing of a failed import is left.
  void ExpectNothingLeft(const std::string& name) {
    EXPECT_TRUE(options_.env->FileExists(std::string(kName) + "/ingest").IsNotFound());
    std::vector<LiveFileMetaData> live;
    db()->GetLiveFilesMetaData(&live);
    EXPECT_EQ(Files(kTableFile).size(), live.size());
    std::vector<ColumnFamilyMetaData> families;
    db()->GetAllColumnFamilyMetaData(&families);
    for (const auto& family : families) EXPECT_NE(family.name, name);
  }

  void BeforeCall(uint64_t index, MemCall, const std::string&) override {
    for (const CrashPolicy policy :
         {CrashPolicy::kSyncedOnly, CrashPolicy::kOrderedPrefix, CrashPolicy::kAllNames,
          CrashPolicy::kAdversarial, CrashPolicy::kSyncedBytes, CrashPolicy::kKill}) {
      clones_.push_back(mem().CrashClone(policy, index));
    }
  }

  // Checks that each clone has nothing or all of the imported family. Returns how many have it.
  size_t CheckClones(const std::string& family) {
    size_t there = 0;
    for (size_t i = 0; i < clones_.size(); i++) {
      const std::unique_ptr<Env> env = NewCompositeEnv(clones_[i]);
      Options options = options_;
      options.env = env.get();
      std::vector<std::string> names;
      EXPECT_TRUE(DB::ListColumnFamilies(options, kName, &names).ok()) << i;
      const bool has_it = std::ranges::find(names, family) != names.end();
      there += has_it ? 1 : 0;
      std::vector<ColumnFamilyDescriptor> families;
      for (const std::string& name : names) families.emplace_back(name, options);
      std::vector<ColumnFamilyHandle*> handles;
      DB* raw = nullptr;
      const Status s = DB::Open(options, kName, families, &handles, &raw);
      const std::unique_ptr<DB> opened(raw);
      EXPECT_TRUE(s.ok()) << i << " " << s.ToString();
      for (ColumnFamilyHandle* handle : handles) {
        if (handle->GetName() == family || handle->GetName() == "a") {
          const std::unique_ptr<Iterator> it(opened->NewIterator(ReadOptions(), handle));
          it->SeekToFirst();
          EXPECT_EQ(Rest(it.get()), expected_) << i << " " << handle->GetName();
        }
        EXPECT_TRUE(opened->DestroyColumnFamilyHandle(handle).ok());
      }
    }
    clones_.clear();
    return there;
  }

  std::string expected_;
  std::unique_ptr<ColumnFamilyHandle> imported_;
  std::vector<std::shared_ptr<MemFileSystem>> clones_;
};

TEST_F(ExportImportTest, ARoundTripReadsTheSame) {
  MakeSource();
  Metadata metadata;
  ASSERT_TRUE(Export("/export", &metadata).ok());
  EXPECT_EQ(metadata->db_comparator_name, BytewiseComparator()->Name());
  ASSERT_EQ(metadata->files.size(), 3u);
  for (const LiveFileMetaData& file : metadata->files) {
    EXPECT_EQ(file.db_path, "/export");
    EXPECT_FALSE(file.smallest.empty() || file.largest.empty());
    EXPECT_TRUE(options_.env->FileExists(file.db_path + file.name).ok());
  }
  ASSERT_TRUE(Import("b", {metadata.get()}).ok());
  EXPECT_EQ(ScanImported(), expected_);
  EXPECT_EQ(Scan(ReadOptions(), "a"), expected_);
  // It is a family like others.
  ASSERT_TRUE(db()->Put(WriteOptions(), imported_.get(), "z", "written").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions(), imported_.get()).ok());
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), imported_.get(), nullptr, nullptr).ok());
  EXPECT_EQ(ScanImported(), expected_ + " z=written");
  imported_.reset();
  ASSERT_TRUE(Close().ok());
  Open({"default", "a", "b"});
  EXPECT_EQ(Scan(ReadOptions(), "b"), expected_ + " z=written");
  EXPECT_TRUE(options_.env->FileExists("/export" + metadata->files[0].name).ok());
}

TEST_F(ExportImportTest, ADirectoryAloneIsEnoughForAnotherDatabase) {
  MakeSource();
  Metadata exported;
  ASSERT_TRUE(Export("/export", &exported).ok());
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  Open();
  Put("k", "of a database that is younger than the export");
  Metadata read;
  ASSERT_TRUE(Read("/export", &read).ok());
  ASSERT_EQ(read->files.size(), exported->files.size());
  for (size_t i = 0; i < read->files.size(); i++) {
    EXPECT_EQ(read->files[i].name, exported->files[i].name);
    EXPECT_EQ(read->files[i].smallest, exported->files[i].smallest);
    EXPECT_EQ(read->files[i].largest, exported->files[i].largest);
    EXPECT_EQ(read->files[i].level, exported->files[i].level);
    EXPECT_EQ(read->files[i].epoch_number, exported->files[i].epoch_number);
  }
  ASSERT_TRUE(Import("b", {read.get()}, /*move_files=*/true).ok());
  EXPECT_EQ(ScanImported(), expected_);
  EXPECT_TRUE(options_.env->FileExists("/export" + read->files[0].name).IsNotFound());
  // The sequence numbers of the tables are behind those of all writes from now on.
  Put("k", "newer");
  EXPECT_GT(db()->GetLatestSequenceNumber(), exported->files[0].largest_seqno);
  imported_.reset();
  Kill();
  Open({"default", "b"});
  EXPECT_EQ(Scan(ReadOptions(), "b"), expected_);
  EXPECT_EQ(Get("k"), "newer");
  EXPECT_TRUE(Read("/nowhere", &read).IsNotFound() || Read("/nowhere", &read).IsPathNotFound());
}

// A handle that names a family by its number, which is there before or after the family.
class NumberedFamily final : public ColumnFamilyHandle {
 public:
  explicit NumberedFamily(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor*) override { return Status::NotSupported("test"); }
  const Comparator* GetComparator() const override { return BytewiseComparator(); }

 private:
  const uint32_t id_;
  const std::string name_ = "numbered";
};

// Writers are refused until the family exists, and from then on their writes are newer than its
// tables, whose sequence numbers are larger than any that the database had before.
TEST_F(ExportImportTest, WritersBesideAnImportFindAWholeFamily) {
  MakeSource();
  Metadata exported;
  ASSERT_TRUE(Export("/export", &exported).ok());
  std::string expected = expected_;
  const std::string deleted = Key(0) + "=old " + Key(1) + "=old ";
  const std::string replaced = Key(7) + "=newest";
  ASSERT_TRUE(expected.starts_with(deleted));
  expected.erase(0, deleted.size());
  ASSERT_NE(expected.find(replaced), std::string::npos);
  expected.replace(expected.find(replaced), replaced.size(), Key(7) + "=written");
  for (int round = 0; round < 10; round++) {
    SCOPED_TRACE(round);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Open();
    Metadata read;
    ASSERT_TRUE(Read("/export", &read).ok());
    std::atomic<int> ready{0};
    std::atomic<bool> given_up{false};
    std::vector<std::thread> writers;
    for (int i = 0; i < 2; i++) {
      writers.emplace_back([&, i] {
        NumberedFamily family(1);
        WriteBatch batch;
        EXPECT_TRUE(batch.Put(&family, Key(7), "written").ok());
        EXPECT_TRUE(batch.Delete(&family, Key(i)).ok());
        ready++;
        Status s;
        do {
          s = db()->Write(WriteOptions(), &batch);
        } while (s.IsInvalidArgument() && !given_up);
        EXPECT_TRUE(s.ok()) << s.ToString();
      });
    }
    while (ready < 2) std::this_thread::yield();
    const Status s = Import("b", {read.get()});
    given_up = !s.ok();
    for (std::thread& writer : writers) writer.join();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(imported_->GetID(), 1u);
    EXPECT_EQ(ScanImported(), expected);
    imported_.reset();
    Kill();
    Open({"default", "b"});
    EXPECT_EQ(Scan(ReadOptions(), "b"), expected);
    if (HasFailure()) return;
  }
}

TEST_F(ExportImportTest, SeveralExportsMakeOneFamilyIfTheyAreApart) {
  MakeSource();
  Metadata first;
  ASSERT_TRUE(Export("/export", &first).ok());
  ColumnFamilyHandle* raw = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(ColumnFamilyOptions(options_), "c", &raw).ok());
  const std::unique_ptr<ColumnFamilyHandle> c(raw);
  ASSERT_TRUE(db()->Put(WriteOptions(), raw, "x", "1").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions(), raw).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), raw, "x", "2").ok());
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* second_raw = nullptr;
  ASSERT_TRUE(checkpoint->ExportColumnFamily(raw, "/export2", &second_raw).ok());
  const Metadata second(second_raw);
  ASSERT_TRUE(Import("b", {first.get(), second.get()}).ok());
  EXPECT_EQ(ScanImported(), expected_ + " x=2");
  imported_.reset();
  EXPECT_TRUE(Import("d", {first.get(), first.get()}).IsInvalidArgument());
  ExpectNothingLeft("d");
}

TEST_F(ExportImportTest, RefusesWhatCannotBe) {
  MakeSource();
  Metadata good;
  ASSERT_TRUE(Export("/export", &good).ok());
  Metadata again;
  EXPECT_TRUE(Export("/export", &again).IsInvalidArgument());
  EXPECT_EQ(again, nullptr);
  EXPECT_TRUE(Import("b", {}).IsInvalidArgument());
  EXPECT_TRUE(Import("b", {nullptr}).IsInvalidArgument());
  EXPECT_TRUE(Import("a", {good.get()}).IsInvalidArgument());
  EXPECT_TRUE(Import("default", {good.get()}).IsInvalidArgument());
  EXPECT_TRUE(Import("", {good.get()}).IsInvalidArgument());
  const auto refused = [&](void (*change)(ExportImportFilesMetaData*), Status::Code code) {
    ExportImportFilesMetaData changed = *good;
    change(&changed);
    const Status s = Import("b", {&changed});
    EXPECT_EQ(s.code(), code) << s.ToString();
    ExpectNothingLeft("b");
  };
  refused([](auto* m) { m->files.clear(); }, Status::kInvalidArgument);
  refused([](auto* m) { m->db_comparator_name = "other"; }, Status::kInvalidArgument);
  refused([](auto* m) { m->files[0].name = "/../000007.sst"; }, Status::kInvalidArgument);
  refused([](auto* m) { m->files[0].name = "/CURRENT"; }, Status::kInvalidArgument);
  refused([](auto* m) { m->files[0].level = 1000; }, Status::kInvalidArgument);
  refused([](auto* m) { m->files[0].level = -1; }, Status::kInvalidArgument);
  refused([](auto* m) { m->files[0].size--; }, Status::kCorruption);
  refused([](auto* m) { m->files[0].size++; }, Status::kCorruption);
  refused([](auto* m) { m->files[0].largest_seqno = 0; }, Status::kCorruption);
  refused([](auto* m) { m->files[1].smallest = m->files[1].largest; }, Status::kCorruption);
  refused([](auto* m) { m->files[1].smallest = "x"; }, Status::kCorruption);
  refused([](auto* m) { m->files[2].level = 0, m->files[1].level = 6, m->files[0].level = 6; },
          Status::kCorruption);
  // The second table has a range deletion.
  refused(
      [](auto* m) {
        for (LiveFileMetaData& file : m->files) file.smallest = file.largest = "";
      },
      Status::kInvalidArgument);
  refused([](auto* m) { m->files[0].db_path = "/nowhere"; }, Status::kIOError);
  Options other = options_;
  other.comparator = ReverseBytewiseComparator();
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db()->CreateColumnFamilyWithImport(ColumnFamilyOptions(other), "b",
                                                 ImportColumnFamilyOptions(), *good, &handle)
                  .IsInvalidArgument());
  ASSERT_TRUE(Import("b", {good.get()}).ok());
  EXPECT_EQ(ScanImported(), expected_);
}

TEST_F(ExportImportTest, ChangedBytesAreFound) {
  MakeSource();
  Metadata good;
  ASSERT_TRUE(Export("/export", &good).ok());
  const std::string path = std::string("/export/") + "EXPORT";
  const std::string bytes = ReadFile(path);
  Metadata read;
  for (size_t i = 0; i < bytes.size(); i++) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    WriteFile(path, changed);
    EXPECT_FALSE(Read("/export", &read).ok()) << i;
    WriteFile(path, bytes.substr(0, i));
    EXPECT_FALSE(Read("/export", &read).ok()) << i;
  }
  WriteFile(path, bytes);
  ASSERT_TRUE(Read("/export", &read).ok());
  const std::string table_path = read->files[1].db_path + read->files[1].name;
  const std::string table = ReadFile(table_path);
  for (size_t i = 0; i < table.size(); i += 7) {
    std::string changed = table;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    WriteFile(table_path, changed);
    const Status s = Import("b", {read.get()});
    if (!s.ok()) continue;
    // A byte that says nothing.
    EXPECT_EQ(ScanImported(), expected_) << i;
    ASSERT_TRUE(db()->DropColumnFamily(imported_.get()).ok());
    imported_.reset();
  }
}

TEST_F(ExportImportTest, ChecksumsTravel) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  MakeSource();
  Metadata exported;
  ASSERT_TRUE(Export("/export", &exported).ok());
  Metadata read;
  ASSERT_TRUE(Read("/export", &read).ok());
  ASSERT_FALSE(read->files[0].file_checksum.empty());
  ASSERT_TRUE(Import("b", {read.get()}).ok());
  EXPECT_TRUE(db()->VerifyFileChecksums(ReadOptions()).ok());
  imported_.reset();
  read->files[0].file_checksum[0]++;
  EXPECT_TRUE(Import("c", {read.get()}).IsCorruption());
  ExpectNothingLeft("c");
}

TEST_F(ExportImportTest, EveryCallOfTheFileSystemFailsOnce) {
  MakeSource();
  for (uint64_t nth = 1;; nth++) {
    ASSERT_LT(nth, 300u);
    FaultRule rule;
    rule.nth = nth;
    Metadata metadata;
    faults().Inject(rule);
    const std::string directory = "/export" + std::to_string(nth);
    const Status s = Export(directory, &metadata);
    const bool struck = faults().strikes() > 0;
    faults().ClearFaults();
    EXPECT_EQ(s.ok(), metadata != nullptr);
    EXPECT_EQ(s.ok(), options_.env->FileExists(directory).ok()) << nth;
    if (!struck) break;
    ASSERT_TRUE(db()->Resume().ok());
  }
  Metadata metadata;
  ASSERT_TRUE(Export("/export", &metadata).ok());
  for (uint64_t nth = 1;; nth++) {
    ASSERT_LT(nth, 500u);
    FaultRule rule;
    rule.nth = nth;
    faults().Inject(rule);
    const Status s = Import("b", {metadata.get()});
    const bool struck = faults().strikes() > 0;
    faults().ClearFaults();
    ASSERT_TRUE(db()->Resume().ok()) << nth;
    if (imported_ != nullptr) {  // also where the OPTIONS file could not be written
      EXPECT_EQ(ScanImported(), expected_) << nth;
      ASSERT_TRUE(db()->DropColumnFamily(imported_.get()).ok());
      imported_.reset();
    }
    if (!struck) {
      ASSERT_TRUE(s.ok()) << s.ToString();
      break;
    }
  }
  EXPECT_EQ(Scan(ReadOptions(), "a"), expected_);
}

TEST_F(ExportImportTest, ThePowerGoesBeforeEachCall) {
  MakeSource();
  Flush("a");
  Metadata metadata;
  ASSERT_TRUE(db()->SyncWAL().ok());
  ASSERT_TRUE(Export("/export", &metadata).ok());
  for (const bool move : {false, true}) {
    const std::string name = move ? "moved" : "copied";
    mem().SetCallHook(this);
    const Status s = Import(name, {metadata.get()}, move);
    mem().SetCallHook(nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_GT(clones_.size(), 6 * 8u);
    EXPECT_GT(CheckClones(name), 0u);
    BeforeCall(0, MemCall::kSync, "");
    EXPECT_EQ(CheckClones(name), 6u);
    imported_.reset();
  }
}

}  // namespace
}  // namespace varve::testing
