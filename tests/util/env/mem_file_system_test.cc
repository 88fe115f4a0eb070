// SPDX-License-Identifier: Apache-2.0
//
// What a crash leaves of a MemFileSystem, policy by policy.

#include "util/env/mem_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "util/env/durable_write.h"

namespace varve {
namespace {

const IOOptions kMemIo;
constexpr uint64_t kSeeds = 200;

class CrashTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_->CreateDir("/db", kMemIo, nullptr).ok());
    ASSERT_TRUE(SyncDirectory(fs_.get(), "/").ok());
  }

  std::unique_ptr<FSWritableFile> Create(const std::string& name) {
    std::unique_ptr<FSWritableFile> f;
    EXPECT_TRUE(fs_->NewWritableFile("/db/" + name, {}, &f, nullptr).ok());
    return f;
  }
  void Write(const std::string& name, const std::string& contents, bool sync) {
    auto f = Create(name);
    ASSERT_TRUE(f->Append(contents, kMemIo, nullptr).ok());
    if (sync) {
      ASSERT_TRUE(f->Sync(kMemIo, nullptr).ok());
    }
    ASSERT_TRUE(f->Close(kMemIo, nullptr).ok());
  }
  void SyncDir() { ASSERT_TRUE(SyncDirectory(fs_.get(), "/db").ok()); }

  // Names and contents of /db after a crash.
  std::map<std::string, std::string> After(CrashPolicy policy, uint64_t seed = 1) {
    const auto clone = fs_->CrashClone(policy, seed);
    std::map<std::string, std::string> out;
    std::vector<std::string> names;
    if (!clone->GetChildren("/db", kMemIo, &names, nullptr).ok()) return {{"<no directory>", ""}};
    for (const std::string& name : names) {
      EXPECT_TRUE(ReadFileToString(clone.get(), "/db/" + name, 1 << 30, &out[name]).ok());
    }
    return out;
  }

  using State = std::map<std::string, std::string>;
  std::shared_ptr<MemFileSystem> fs_ = std::make_shared<MemFileSystem>();
};

TEST_F(CrashTest, SyncingAFileDoesNotMakeItsNameDurable) {
  Write("a", "synced", true);
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), State{});
  SyncDir();
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"a", "synced"}}));
}

TEST_F(CrashTest, SyncingADirectoryDoesNotMakeBytesDurable) {
  Write("a", "not synced", false);
  SyncDir();
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"a", ""}}));
  EXPECT_EQ(After(CrashPolicy::kKill), (State{{"a", "not synced"}}));
}

TEST_F(CrashTest, ADirectoryItselfNeedsItsParentsSync) {
  ASSERT_TRUE(fs_->CreateDir("/other", kMemIo, nullptr).ok());
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(fs_->NewWritableFile("/other/a", {}, &f, nullptr).ok());
  ASSERT_TRUE(SyncDirectory(fs_.get(), "/other").ok());
  EXPECT_TRUE(fs_->CrashClone(CrashPolicy::kSyncedOnly, 1)
                  ->FileExists("/other/a", kMemIo, nullptr)
                  .IsNotFound());
  ASSERT_TRUE(SyncDirectory(fs_.get(), "/").ok());
  EXPECT_TRUE(
      fs_->CrashClone(CrashPolicy::kSyncedOnly, 1)->FileExists("/other/a", kMemIo, nullptr).ok());
}

TEST_F(CrashTest, OldBytesComeBackWhenAFileIsEmptiedOrOverwrittenWithoutSync) {
  Write("a", "old contents", true);
  SyncDir();
  Write("a", "new", false);
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"a", "old contents"}}));
  ASSERT_TRUE(fs_->Truncate("/db/a", 0, kMemIo, nullptr).ok());
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"a", "old contents"}}));
  EXPECT_EQ(After(CrashPolicy::kKill), (State{{"a", ""}}));
}

TEST_F(CrashTest, BytesWrittenOverSyncedOnesWaitForTheirSync) {
  Write("a", std::string(10000, 'o'), true);
  SyncDir();
  std::unique_ptr<FSRandomRWFile> f;
  ASSERT_TRUE(fs_->NewRandomRWFile("/db/a", {}, &f, nullptr).ok());
  ASSERT_TRUE(f->Write(4000, std::string(200, 'n'), kMemIo, nullptr).ok());
  EXPECT_TRUE(After(CrashPolicy::kSyncedOnly)["a"] == std::string(10000, 'o'));
  ASSERT_TRUE(f->Sync(kMemIo, nullptr).ok());
  const std::string expected =
      std::string(4000, 'o') + std::string(200, 'n') + std::string(5800, 'o');
  EXPECT_TRUE(After(CrashPolicy::kSyncedOnly)["a"] == expected);
}

TEST_F(CrashTest, DeletesAndRenamesWaitForTheDirectory) {
  Write("a", "A", true);
  Write("b", "B", true);
  SyncDir();
  ASSERT_TRUE(fs_->DeleteFile("/db/a", kMemIo, nullptr).ok());
  ASSERT_TRUE(fs_->RenameFile("/db/b", "/db/c", kMemIo, nullptr).ok());
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"a", "A"}, {"b", "B"}}));
  EXPECT_EQ(After(CrashPolicy::kAllNames), (State{{"c", "B"}}));
  SyncDir();
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"c", "B"}}));
}

TEST_F(CrashTest, OrderedPrefixesKeepTheOrderOfNames) {
  for (const char* name : {"1", "2", "3", "4"}) Write(name, "x", true);
  std::set<State> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    State state = After(CrashPolicy::kOrderedPrefix, seed);
    seen.insert(state);
    // A name implies all earlier ones.
    for (const auto& [name, contents] : state) {
      EXPECT_EQ(contents, "x");
      if (name == "1") continue;
      EXPECT_EQ(state.count(std::string(1, static_cast<char>(name[0] - 1))), 1u);
    }
  }
  EXPECT_EQ(seen.size(), 5u);
}

TEST_F(CrashTest, UnsyncedTailsEndAnywhereButKeepWhatWasSynced) {
  auto f = Create("a");
  ASSERT_TRUE(f->Append("0123456789", kMemIo, nullptr).ok());
  ASSERT_TRUE(f->Sync(kMemIo, nullptr).ok());
  ASSERT_TRUE(f->Append("abcdef", kMemIo, nullptr).ok());
  SyncDir();
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    seen.insert(After(CrashPolicy::kAllNames, seed)["a"]);
  }
  EXPECT_EQ(seen.size(), 7u);
  for (const std::string& contents : seen) {
    EXPECT_EQ(contents, std::string("0123456789abcdef").substr(0, contents.size()));
    EXPECT_GE(contents.size(), 10u);
  }
}

TEST_F(CrashTest, AdversarialCrashesNeverHarmSyncedBytes) {
  const std::string synced(5000, 's');
  auto f = Create("a");
  ASSERT_TRUE(f->Append(synced, kMemIo, nullptr).ok());
  ASSERT_TRUE(f->Sync(kMemIo, nullptr).ok());
  SyncDir();
  ASSERT_TRUE(f->Append(std::string(9000, 'u'), kMemIo, nullptr).ok());
  bool zeros = false;
  bool torn = false;
  bool shorter = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string contents = After(CrashPolicy::kAdversarial, seed)["a"];
    ASSERT_GE(contents.size(), synced.size());
    ASSERT_LE(contents.size(), synced.size() + 9000);
    EXPECT_EQ(contents.substr(0, synced.size()), synced);
    const std::string tail = contents.substr(synced.size());
    for (const char c : tail) ASSERT_TRUE(c == 'u' || c == '\0');
    zeros |= tail.find('\0') != std::string::npos;
    torn |= tail.find(std::string("\0u", 2)) != std::string::npos;
    shorter |= tail.size() < 9000;
  }
  EXPECT_TRUE(zeros);
  EXPECT_TRUE(torn);
  EXPECT_TRUE(shorter);
}

TEST_F(CrashTest, AdversarialCrashesReorderNames) {
  Write("1", "x", true);
  Write("2", "x", true);
  std::set<State> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    seen.insert(After(CrashPolicy::kAdversarial, seed));
  }
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen.count(State{{"2", "x"}}), 1u);
}

TEST_F(CrashTest, NamesMayBeKeptWithSyncedBytesOnly) {
  Write("1", "x", true);
  Write("2", "x", false);
  std::set<State> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    seen.insert(After(CrashPolicy::kSyncedBytes, seed));
  }
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen.count(State{{"1", "x"}, {"2", ""}}), 1u);
}

TEST_F(CrashTest, CloningIsAFunctionOfTheSeed) {
  auto f = Create("a");
  ASSERT_TRUE(f->Append(std::string(100000, 'q'), kMemIo, nullptr).ok());
  SyncDir();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(After(CrashPolicy::kAdversarial, seed), After(CrashPolicy::kAdversarial, seed));
  }
}

TEST_F(CrashTest, ARenameIntoASyncedDirectoryBringsItsSourceAlong) {
  ASSERT_TRUE(fs_->CreateDir("/db/archive", kMemIo, nullptr).ok());
  SyncDir();
  Write("1.log", "log", true);
  ASSERT_TRUE(fs_->RenameFile("/db/1.log", "/db/archive/1.log", kMemIo, nullptr).ok());
  ASSERT_TRUE(SyncDirectory(fs_.get(), "/db/archive").ok());
  const auto clone = fs_->CrashClone(CrashPolicy::kSyncedOnly, 1);
  EXPECT_TRUE(clone->FileExists("/db/archive/1.log", kMemIo, nullptr).ok());
  EXPECT_TRUE(clone->FileExists("/db/1.log", kMemIo, nullptr).IsNotFound());
  SyncDir();
  EXPECT_TRUE(fs_->CrashClone(CrashPolicy::kSyncedOnly, 1)
                  ->FileExists("/db/1.log", kMemIo, nullptr)
                  .IsNotFound());
}

TEST_F(CrashTest, FilesOfARenamedDirectoryBecomeDurableUnderItsNewName) {
  ASSERT_TRUE(fs_->CreateDir("/db/x.tmp", kMemIo, nullptr).ok());
  Write("x.tmp/f", "inside", true);
  ASSERT_TRUE(fs_->RenameFile("/db/x.tmp", "/db/x", kMemIo, nullptr).ok());
  ASSERT_TRUE(SyncDirectory(fs_.get(), "/db/x").ok());
  SyncDir();
  std::string contents;
  ASSERT_TRUE(ReadFileToString(fs_->CrashClone(CrashPolicy::kSyncedOnly, 1).get(), "/db/x/f", 100,
                               &contents)
                  .ok());
  EXPECT_EQ(contents, "inside");
}

TEST_F(CrashTest, ARenamedDirectoryTakesItsFilesAlongBesideNamesThatSortBetween) {
  for (const char* directory : {"/db/d", "/db/d-copy", "/db/d.old", "/db/d/below"}) {
    ASSERT_TRUE(fs_->CreateDir(directory, kMemIo, nullptr).ok());
    Write(std::string(directory).substr(4) + "/f", directory, true);
  }
  ASSERT_TRUE(fs_->RenameFile("/db/d", "/db/e", kMemIo, nullptr).ok());
  for (const char* file : {"/db/e/f", "/db/e/below/f", "/db/d-copy/f", "/db/d.old/f"}) {
    EXPECT_TRUE(fs_->FileExists(file, kMemIo, nullptr).ok()) << file;
  }
  EXPECT_TRUE(fs_->FileExists("/db/d/f", kMemIo, nullptr).IsNotFound());
}

TEST_F(CrashTest, LinksStayLinksInAClone) {
  Write("a", "A", true);
  ASSERT_TRUE(fs_->LinkFile("/db/a", "/db/b", kMemIo, nullptr).ok());
  SyncDir();
  const auto clone = fs_->CrashClone(CrashPolicy::kSyncedOnly, 1);
  bool same = false;
  ASSERT_TRUE(clone->AreFilesSame("/db/a", "/db/b", kMemIo, &same, nullptr).ok());
  EXPECT_TRUE(same);
}

// Takes a clone in front of every changing call of the durable-write helper: whatever the policy,
// the file has its old or its new contents.
class CloneAtEveryCall final : public MemFileSystem::CallHook {
 public:
  explicit CloneAtEveryCall(MemFileSystem* fs) : fs_(fs) {}
  void BeforeCall(uint64_t, MemCall, const std::string&) override {
    for (const CrashPolicy policy :
         {CrashPolicy::kSyncedOnly, CrashPolicy::kOrderedPrefix, CrashPolicy::kAllNames,
          CrashPolicy::kAdversarial, CrashPolicy::kKill}) {
      for (uint64_t seed = 0; seed < 20; ++seed) {
        clones.push_back(fs_->CrashClone(policy, seed));
      }
    }
  }
  std::vector<std::shared_ptr<MemFileSystem>> clones;

 private:
  MemFileSystem* const fs_;
};

TEST_F(CrashTest, TheDurableWriteHelperIsAtomicAtEveryCall) {
  ASSERT_TRUE(WriteFileDurably(fs_.get(), "/db", "0.tmp", "CURRENT", std::string(6000, 'o')).ok());
  CloneAtEveryCall hook(fs_.get());
  fs_->SetCallHook(&hook);
  ASSERT_TRUE(WriteFileDurably(fs_.get(), "/db", "1.tmp", "CURRENT", std::string(7000, 'n')).ok());
  fs_->SetCallHook(nullptr);
  EXPECT_EQ(After(CrashPolicy::kSyncedOnly), (State{{"CURRENT", std::string(7000, 'n')}}));
  EXPECT_EQ(hook.clones.size(), 5u * 20 * 5);
  size_t with_new = 0;
  for (const auto& clone : hook.clones) {
    std::string contents;
    ASSERT_TRUE(ReadFileToString(clone.get(), "/db/CURRENT", 1 << 20, &contents).ok());
    ASSERT_TRUE(contents == std::string(6000, 'o') || contents == std::string(7000, 'n'));
    with_new += contents[0] == 'n' ? 1 : 0;
  }
  EXPECT_GT(with_new, 0u);
  EXPECT_LT(with_new, hook.clones.size());
}

}  // namespace
}  // namespace varve
