// SPDX-License-Identifier: Apache-2.0

// Goal: the files that GetLiveFiles names, with the MANIFEST up to the given size, and the logs
// make up a database with every write that had returned, whatever else runs. Method: a copy before
// every change to a MANIFEST or CURRENT, by flushes, compactions and column families that come and
// go; all copies are opened.

#include <gmock/gmock.h>

#include <map>
#include <memory>

#include "varve/env.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"
#include "util/sync/mutex.h"

namespace varve::testing {
namespace {

struct Copy {
  std::map<std::string, std::string> files;         // by name
  std::map<std::string, std::string> acknowledged;  // writes of the default family
};

class LiveFilesTest : public Database, protected MemFileSystem::CallHook {
 protected:
  void BeforeCall(uint64_t, MemCall, const std::string& path) override {
    const bool concerned = path.find("MANIFEST") != std::string::npos ||
                           path.find("CURRENT") != std::string::npos ||
                           path.find(".dbtmp") != std::string::npos;
    if (concerned) TakeCopy();
  }

  void TakeCopy() {
    Copy copy;
    std::vector<std::string> names;
    uint64_t manifest_bytes = 0;
    ASSERT_TRUE(db()->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false).ok());
    for (const std::string& name : names) {
      std::string bytes = ReadFile(kName + name);
      if (name.find("MANIFEST") != std::string::npos) {
        ASSERT_LE(manifest_bytes, bytes.size()) << "is not there yet";
        bytes.resize(manifest_bytes);
        copy.files["/CURRENT"] = name.substr(1) + "\n";
      }
      if (name != "/CURRENT") copy.files[name] = bytes;
    }
    VectorLogPtr logs;
    ASSERT_TRUE(db()->GetSortedWalFiles(logs).ok());
    for (const auto& log : logs) {
      copy.files[log->PathName()] =
          ReadFile(kName + log->PathName()).substr(0, log->SizeFileBytes());
    }
    MutexLock lock(&mu_);
    copy.acknowledged = acknowledged_;
    copies_.push_back(std::move(copy));
  }

  void Write(const std::string& key, const std::string& value) {
    Put(key, value);
    MutexLock lock(&mu_);
    acknowledged_[key] = value;
  }

  // Opens the copy as a new process would, on its own disk.
  void Check(const Copy& copy) {
    const auto disk = std::make_shared<MemFileSystem>();
    const std::unique_ptr<Env> env = NewCompositeEnv(disk);
    ASSERT_TRUE(env->CreateDir("/copy").ok());
    for (const auto& [name, bytes] : copy.files) {
      ASSERT_TRUE(WriteStringToFile(env.get(), bytes, "/copy" + name, true).ok());
    }
    Options options = options_;
    options.env = env.get();
    std::vector<std::string> names;
    ASSERT_TRUE(DB::ListColumnFamilies(options, "/copy", &names).ok());
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options);
    std::vector<ColumnFamilyHandle*> handles;
    DB* raw = nullptr;
    const Status s = DB::Open(options, "/copy", families, &handles, &raw);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<DB> opened(raw);
    EXPECT_TRUE(opened->VerifyChecksum().ok());
    for (const auto& [key, value] : copy.acknowledged) {
      std::string found;
      EXPECT_TRUE(opened->Get(ReadOptions(), key, &found).ok()) << key;
      EXPECT_EQ(found, value);
    }
    for (ColumnFamilyHandle* handle : handles) {
      EXPECT_TRUE(opened->DestroyColumnFamilyHandle(handle).ok());
    }
  }

  void ChangeTheTree() {
    {
      MutexLock lock(&mu_);
      acknowledged_.clear();
    }
    ColumnFamilyHandle* made = nullptr;
    ASSERT_TRUE(db()->CreateColumnFamily(ColumnFamilyOptions(options_), "new", &made).ok());
    for (int i = 0; i < 3; i++) {
      const std::string round = std::to_string(i);
      Write("a", round);
      Write("in " + round, round);
      Put("k", round, "a");
      ASSERT_TRUE(db()->Put(WriteOptions(), made, "k", round).ok());
      ASSERT_TRUE(
          db()->Flush(FlushOptions(), {db()->DefaultColumnFamily(), Handle("a"), made}).ok());
      Write("only in the log", round);
    }
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_TRUE(db()->DropColumnFamily(made).ok());
    ASSERT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("a"), nullptr, nullptr).ok());
  }

  void CheckCopies() {
    MutexLock lock(&mu_);
    EXPECT_GT(copies_.size(), 10u);
    for (size_t i = 0; i < copies_.size(); i++) {
      SCOPED_TRACE("copy " + std::to_string(i));
      Check(copies_[i]);
      if (HasFatalFailure()) return;
    }
  }

 private:
  Mutex mu_;
  std::map<std::string, std::string> acknowledged_ VARVE_GUARDED_BY(mu_);
  std::vector<Copy> copies_ VARVE_GUARDED_BY(mu_);
};

TEST_F(LiveFilesTest, ACopyAtAnyMomentIsADatabase) {
  struct Case {
    uint64_t manifest_bytes;
    bool atomic_flush;
  };
  for (const Case& c : {Case{1 << 30, true}, Case{1, false}}) {  // 1: a new one for each edit
    SCOPED_TRACE(c.manifest_bytes);
    options_.max_manifest_file_size = c.manifest_bytes;
    options_.atomic_flush = c.atomic_flush;
    Open({"default", "a"});
    ASSERT_TRUE(db()->DisableFileDeletions().ok());
    mem().SetCallHook(this);
    ChangeTheTree();
    mem().SetCallHook(nullptr);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
  CheckCopies();
}

// Nothing has been written to its MANIFEST since it was opened.
TEST_F(LiveFilesTest, AReadOnlyDatabaseIsCopiedToo) {
  Open({"default", "a"});
  Write("a", "1");
  Flush();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly({"default", "a"}).ok());
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db()->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false).ok());
  const std::string manifest = Files(kDescriptorFile).back();
  EXPECT_EQ(manifest_bytes, ReadFile(std::string(kName) + "/" + manifest).size());
}

TEST_F(LiveFilesTest, ACopyThroughAReadOnlyInstanceHasItsLogs) {
  for (const bool killed : {false, true}) {
    Open({"default", "a"});
    Write("in a table", "1");
    Flush();
    Write("only in the log", "2");
    if (killed) {
      Kill();
    } else {
      ASSERT_TRUE(Close().ok());
    }
    ASSERT_TRUE(TryOpenReadOnly({"default", "a"}).ok());
    for (int i = 0; i < 6; i++) TakeCopy();
    ASSERT_TRUE(Close().ok());
  }
  CheckCopies();
}

// The list has the logs that recovery keeps, and none that the opening has deleted.
TEST_F(LiveFilesTest, LogsThatAreListedAreThere) {
  for (const bool dropped : {true, false}) {
    SCOPED_TRACE(dropped);
    options_.avoid_flush_during_recovery = false;
    Open({"default", "a"});
    Put("k", "1");
    Put("k", "1", "a");
    Flush(dropped ? "default" : "a");
    Put("b", "2");
    if (dropped) {
      ASSERT_TRUE(db()->DropColumnFamily(Handle("a")).ok());
    }
    Kill();
    options_.avoid_flush_during_recovery = true;
    Open(dropped ? std::vector<std::string>{"default"} : std::vector<std::string>{"default", "a"});
    VectorLogPtr logs;
    ASSERT_TRUE(db()->GetSortedWalFiles(logs).ok());
    EXPECT_GE(logs.size(), 2u);
    for (const auto& log : logs) {
      EXPECT_TRUE(mem().FileExists(kName + log->PathName(), IOOptions(), nullptr).ok())
          << log->PathName();
    }
    EXPECT_EQ(Scan(), "b=2 k=1");
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// A damaged log would look whole if it were cut off after its last sound record.
TEST_F(LiveFilesTest, ADamagedLogIsListedWhole) {
  Open({"default", "a"});
  Write("a", "1");
  Write("b", "2");
  ASSERT_TRUE(Close().ok());
  const std::string path = std::string(kName) + "/" + Files(kWalFile).back();
  std::string bytes = ReadFile(path);
  bytes.back() ^= 1;
  WriteFile(path, bytes);
  ASSERT_TRUE(TryOpenReadOnly({"default", "a"}).ok());
  EXPECT_EQ(Scan(), "a=1");
  VectorLogPtr logs;
  ASSERT_TRUE(db()->GetSortedWalFiles(logs).ok());
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0]->SizeFileBytes(), bytes.size());
}

// CURRENT may name the new MANIFEST, or, after a power loss, the old one.
TEST_F(LiveFilesTest, AManifestThatMayBeInForceIsReplacedBeforeItIsCopied) {
  options_.max_manifest_file_size = 1;
  Open();
  Put("a", "1");
  Flush();
  const auto named = [](const std::vector<std::string>& names) {
    std::string manifest;
    for (const std::string& name : names) {
      if (name.find("MANIFEST") != std::string::npos) manifest = name.substr(1) + "\n";
    }
    return manifest;
  };
  std::vector<std::string> names;
  uint64_t bytes = 0;
  uint64_t doubts = 0;
  CompactRangeOptions anew;
  anew.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (uint64_t nth = 1; nth <= 3; nth++) {
    SCOPED_TRACE(nth);
    FaultRule rule;
    rule.calls = Only(FaultCall::kSyncDir);
    rule.nth = nth;
    faults().Inject(rule);
    EXPECT_FALSE(db()->CompactRange(anew, nullptr, nullptr).ok());
    faults().ClearFaults();
    const std::string current = ReadFile(CurrentFileName(kName));
    ASSERT_TRUE(db()->GetLiveFiles(names, &bytes, /*flush_memtable=*/false).ok());
    EXPECT_EQ(ReadFile(CurrentFileName(kName)), named(names));
    doubts += current == named(names) ? 0 : 1;
    EXPECT_EQ(ReadFile(kName + ("/" + named(names).substr(0, named(names).size() - 1))).size(),
              bytes);
  }
  EXPECT_EQ(doubts, 1u) << "the last sync is that of CURRENT";
}

// An edit that failed is in no copy: it is unknown whether it happened.
TEST_F(LiveFilesTest, ACopyAfterAFailedEditIsADatabase) {
  options_.max_bgerror_resume_count = 0;
  Open({"default", "a"});
  Write("a", "1");
  Flush();
  Write("b", "2");
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.path_contains = "MANIFEST";
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  for (int i = 0; i < 11; i++) TakeCopy();
  CheckCopies();
}

}  // namespace
}  // namespace varve::testing
