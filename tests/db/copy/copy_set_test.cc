// SPDX-License-Identifier: Apache-2.0

// Goal: the files that are listed as those of one moment are a database with a prefix of the
// writes, whatever goes on beside, and they stay while a CopySet holds them. Method: lists are
// copied by the sizes that they say to a disk of their own and opened with kAbsoluteConsistency, in
// every way to write a log; logs and tables are made obsolete while a set is held.

#include "db/copy/copy_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "varve/file_checksum.h"

#include "db/copy/copy_host.h"
#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

constexpr uint64_t kNever = UINT64_MAX;

struct LogKind {
  const char* name;
  void (*tune)(DBOptions*);
};
const LogKind kLogKinds[] = {
    {"Mapped", [](DBOptions*) {}},  // where the file system offers that
    {"Buffered", [](DBOptions* o) { o->allow_fallocate = false; }},
    {"HeldBack", [](DBOptions* o) { o->manual_wal_flush = true; }},
    {"Recycled", [](DBOptions* o) { o->recycle_log_file_num = 2; }},
    {"Compressed", [](DBOptions* o) { o->wal_compression = kZSTD; }},
    {"Unordered", [](DBOptions* o) { o->unordered_write = true; }},
};

class CopySetTest : public Database {
 protected:
  std::vector<LiveFileStorageInfo> List(uint64_t log_bytes_for_flush) {
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = log_bytes_for_flush;
    std::vector<LiveFileStorageInfo> files;
    const Status s = db()->GetLiveFilesStorageInfo(options, &files);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return files;
  }

  static size_t Count(const std::vector<LiveFileStorageInfo>& files, FileType type) {
    return static_cast<size_t>(std::ranges::count(files, type, &LiveFileStorageInfo::file_type));
  }

  // Opens the copy on a disk of its own; the opening writes nothing to the original.
  void OpenCopy(const std::vector<LiveFileStorageInfo>& files) {
    copy_.reset();
    disk_ = std::make_shared<MemFileSystem>();
    copy_env_ = NewCompositeEnv(disk_);
    ASSERT_TRUE(copy_env_->CreateDir("/copy").ok());
    for (const LiveFileStorageInfo& file : files) {
      std::string bytes = file.replacement_contents;
      if (bytes.empty()) {
        bytes = ReadFile(file.directory + "/" + file.relative_filename);
        ASSERT_GE(bytes.size(), file.size) << file.relative_filename;
        EXPECT_TRUE(file.trim_to_size || bytes.size() == file.size) << file.relative_filename;
        bytes.resize(file.size);
      }
      const std::string path = "/copy/" + file.relative_filename;
      ASSERT_TRUE(WriteStringToFile(copy_env_.get(), bytes, path).ok());
    }
    Options options = options_;
    options.env = copy_env_.get();
    options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
    options.create_if_missing = false;
    DB* raw = nullptr;
    const Status s = DB::Open(options, "/copy", &raw);
    copy_.reset(raw);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  std::string GetFromCopy(const std::string& key) {
    std::string value;
    const Status s = copy_->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.ToString();
  }

  Status Take(const CopyWanted& wanted, std::unique_ptr<CopySet>* set) {
    auto* const host = dynamic_cast<CopyHost*>(db()->GetRootDB());
    return host->WithEngine([&](Engine* engine) { return CopySet::Take(engine, wanted, set); });
  }

  std::shared_ptr<MemFileSystem> disk_;
  std::unique_ptr<Env> copy_env_;
  std::unique_ptr<DB> copy_;
};

TEST_F(CopySetTest, WithoutAFlushTheLogsHaveTheRest) {
  Open();
  Put("in table", "1");
  Flush();
  Put("in log", "2");
  const auto files = List(kNever);
  EXPECT_EQ(Count(files, kTableFile), 1u);
  EXPECT_EQ(Count(files, kCurrentFile), 1u);
  EXPECT_EQ(Count(files, kDescriptorFile), 1u);
  EXPECT_EQ(Count(files, kOptionsFile), 1u);
  EXPECT_GE(Count(files, kWalFile), 1u);
  OpenCopy(files);
  EXPECT_EQ(GetFromCopy("in table"), "1");
  EXPECT_EQ(GetFromCopy("in log"), "2");
}

TEST_F(CopySetTest, FlushesIfTheLogsAreLarge) {
  Open();
  Put("k", std::string(1000, 'v'));
  EXPECT_EQ(Count(List(1 << 20), kTableFile), 0u);
  EXPECT_EQ(Count(List(1000), kTableFile), 1u);
  Put("l", "v");
  EXPECT_EQ(Count(List(0), kTableFile), 2u);
}

TEST_F(CopySetTest, WhatNoLogHasIsFlushedAndNothingElse) {
  Open({"default", "logged"});
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "k", "no log has it").ok());
  Put("k", "a log has it", "logged");
  const auto files = List(kNever);
  EXPECT_EQ(Count(files, kTableFile), 1u);
  // All of it is in tables now.
  EXPECT_EQ(Count(List(kNever), kTableFile), 1u);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("l", "no log has it").ok());
  ASSERT_TRUE(batch.Put(Handle("logged"), "m", "1").ok());
  ASSERT_TRUE(db()->Write(unlogged, &batch).ok());
  EXPECT_EQ(Count(List(kNever), kTableFile), 3u);
}

TEST_F(CopySetTest, AWriteBesideAFlushThatIsKeptOutIsAborted) {
  Open();
  Put("k", "v");
  ASSERT_TRUE(db()->LockWAL().ok());
  LiveFilesStorageInfoOptions options;
  std::vector<LiveFileStorageInfo> files(1);
  EXPECT_TRUE(db()->GetLiveFilesStorageInfo(options, &files).IsAborted());
  EXPECT_TRUE(files.empty());
  EXPECT_FALSE(List(kNever).empty());
  ASSERT_TRUE(db()->UnlockWAL().ok());
  EXPECT_FALSE(List(0).empty());
}

TEST_F(CopySetTest, EveryKindOfLogIsCopiedUpToAWholeRecord) {
  for (const LogKind& kind : kLogKinds) {
    SCOPED_TRACE(kind.name);
    auto disk = std::make_shared<MemFileSystem>();
    disk->OfferMappedFiles();
    Remount(std::move(disk));
    faults().OfferMappedFiles();
    const Options before = options_;
    kind.tune(&options_);
    Open();
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    for (int w = 0; w < 3; w++) {
      writers.emplace_back([&, w] {
        for (int i = 0; !stop.load(); i++) {
          WriteBatch batch;
          const std::string number = std::to_string(i);
          ASSERT_TRUE(batch.Put("first" + std::to_string(w), number).ok());
          ASSERT_TRUE(batch.Put("filler", std::string(100, 'f')).ok());
          ASSERT_TRUE(batch.Put("second" + std::to_string(w), number).ok());
          ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
        }
      });
    }
    for (int i = 0; i < 5; i++) {
      ASSERT_TRUE(db()->Put(WriteOptions(), "known", std::to_string(i)).ok());
      ASSERT_TRUE(db()->DisableFileDeletions().ok());
      OpenCopy(List(i == 3 ? 0 : kNever));
      ASSERT_TRUE(db()->EnableFileDeletions().ok());
      if (HasFatalFailure()) break;
      EXPECT_EQ(GetFromCopy("known"), std::to_string(i));
      for (int w = 0; w < 3; w++) {
        EXPECT_EQ(GetFromCopy("first" + std::to_string(w)),
                  GetFromCopy("second" + std::to_string(w)));
      }
    }
    stop.store(true);
    for (std::thread& writer : writers) writer.join();
    copy_.reset();
    EXPECT_TRUE(Close().ok());
    options_ = before;
  }
}

TEST_F(CopySetTest, WhatASetHoldsStays) {
  Open();
  MakeTable({"a"});
  Put("a", "in the log");
  std::unique_ptr<CopySet> set;
  ASSERT_TRUE(Take(CopyWanted(), &set).ok());
  EXPECT_GE(set->sequence(), 2u);
  // The table is compacted away, and the log is obsolete.
  Flush();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  const auto all_there = [&] {
    return std::ranges::all_of(set->files(), [&](const CopyFile& file) {
      return file.contents.has_value() || options_.env->FileExists(file.Path()).ok();
    });
  };
  EXPECT_TRUE(all_there());
  std::vector<std::string> paths;
  for (const CopyFile& file : set->files()) {
    if (!file.contents.has_value()) paths.push_back(file.Path());
  }
  EXPECT_EQ(paths.size(), 2u);
  set.reset();
  for (const std::string& path : paths) {
    EXPECT_TRUE(Eventually([&] { return options_.env->FileExists(path).IsNotFound(); })) << path;
  }
}

TEST_F(CopySetTest, SetsAreApart) {
  Open();
  Put("k", "1");
  std::unique_ptr<CopySet> first;
  std::unique_ptr<CopySet> second;
  ASSERT_TRUE(Take(CopyWanted(), &first).ok());
  ASSERT_TRUE(Take(CopyWanted(), &second).ok());
  const auto is_log = [](const CopyFile& file) { return file.type == kWalFile; };
  const std::string log = std::ranges::find_if(first->files(), is_log)->Path();
  first.reset();
  Flush();
  EXPECT_TRUE(options_.env->FileExists(log).ok());
  second.reset();
  EXPECT_TRUE(Eventually([&] { return options_.env->FileExists(log).IsNotFound(); }));
}

TEST_F(CopySetTest, ChecksumsAreThoseOfTheManifest) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  MakeTable({"a"});
  const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
  ASSERT_TRUE(list->InsertOneFileChecksum(99999, "x", "y").ok());
  ASSERT_TRUE(db()->GetLiveFilesChecksumInfo(list.get()).ok());
  EXPECT_EQ(list->size(), 1u);
  EXPECT_TRUE(db()->GetLiveFilesChecksumInfo(nullptr).IsInvalidArgument());
  LiveFilesStorageInfoOptions options;
  options.include_checksum_info = true;
  std::vector<LiveFileStorageInfo> files;
  ASSERT_TRUE(db()->GetLiveFilesStorageInfo(options, &files).ok());
  for (const LiveFileStorageInfo& file : files) {
    if (file.file_type != kTableFile) {
      EXPECT_EQ(file.file_checksum_func_name, kUnknownFileChecksumFuncName);
      continue;
    }
    std::string checksum;
    std::string function;
    ASSERT_TRUE(list->SearchOneFileChecksum(file.file_number, &checksum, &function).ok());
    EXPECT_EQ(file.file_checksum, checksum);
    EXPECT_EQ(file.file_checksum_func_name, kStandardDbFileChecksumFuncName);
    EXPECT_EQ(checksum.size(), 4u);
  }
  EXPECT_TRUE(db()->GetLiveFilesStorageInfo(options, nullptr).IsInvalidArgument());
}

TEST_F(CopySetTest, AReadOnlyDatabaseIsListedWithItsLogs) {
  Open();
  Put("k", "1");
  Kill();
  ASSERT_TRUE(TryOpenReadOnly().ok());
  OpenCopy(List(0));
  EXPECT_EQ(GetFromCopy("k"), "1");
}

}  // namespace
}  // namespace varve::testing
