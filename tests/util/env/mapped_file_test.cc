// SPDX-License-Identifier: Apache-2.0

// Mapped files on each file system that offers them, and on those that do not.

#include "util/env/mapped_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/harness/fault_file_system.h"
#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"
#include "util/env/posix_mapped_file.h"

namespace varve {
namespace {

constexpr size_t kUnit = MappedFile::kUnit;

std::string BytesOf(FileSystem* fs, const std::string& path) {
  std::string bytes;
  EXPECT_TRUE(ReadFileToString(fs, path, UINT64_MAX, &bytes).ok());
  return bytes;
}

void StoredBytesAreInTheFile(FileSystem* fs, const std::string& path) {
  std::unique_ptr<MappedFile> file;
  IOStatus s = NewMappedFile(fs, path, FileOptions(), &file);
  if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
  ASSERT_TRUE(s.ok()) << s.ToString();
  char* first = nullptr;
  char* second = nullptr;
  ASSERT_TRUE(file->Map(0, kUnit, &first).ok());
  ASSERT_TRUE(file->Map(kUnit, 2 * kUnit, &second).ok());
  EXPECT_EQ(BytesOf(fs, path), std::string(3 * kUnit, '\0'));
  std::memcpy(first + 100, "abc", 3);
  std::memcpy(second, "def", 3);
  std::string expected(3 * kUnit, '\0');
  expected.replace(100, 3, "abc").replace(kUnit, 3, "def");
  EXPECT_TRUE(BytesOf(fs, path) == expected);
  file->Unmap(first, kUnit);
  EXPECT_TRUE(BytesOf(fs, path) == expected);
  EXPECT_TRUE(file->Sync(false).ok());
  EXPECT_TRUE(file->Sync(true).ok());
  file->Unmap(second, 2 * kUnit);
  ASSERT_TRUE(file->Truncate(kUnit + 3).ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(BytesOf(fs, path) == expected.substr(0, kUnit + 3));
  ASSERT_TRUE(fs->DeleteFile(path, IOOptions(), nullptr).ok());
}

TEST(MappedFile, Posix) {
  StoredBytesAreInTheFile(FileSystem::Default().get(), ::testing::TempDir() + "/mapped_file");
}

TEST(MappedFile, InMemory) {
  MemFileSystem fs;
  fs.OfferMappedFiles();
  StoredBytesAreInTheFile(&fs, "/file");
}

TEST(MappedFile, ThroughTheFaultFileSystem) {
  auto mem = std::make_shared<MemFileSystem>();
  mem->OfferMappedFiles();
  FaultFileSystem fs(mem);
  fs.OfferMappedFiles();
  StoredBytesAreInTheFile(&fs, "/file");
}

TEST(MappedFile, OnlyListedFileSystemsAreMapped) {
  EXPECT_FALSE(MayMapBeside("/proc/self/log"));
  EXPECT_FALSE(MayMapBeside("/nowhere/at/all/log"));
  std::unique_ptr<MappedFile> file;
  EXPECT_TRUE(NewMappedFile(FileSystem::Default().get(), "/proc/log", FileOptions(), &file)
                  .IsNotSupported());
}

class PlainWrapper final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "PlainWrapper"; }
};

TEST(MappedFile, WrappersThatDoNotKnowThemHideThem) {
  PlainWrapper wrapper(FileSystem::Default());
  std::unique_ptr<MappedFile> file;
  const std::string path = ::testing::TempDir() + "/mapped_file_hidden";
  EXPECT_TRUE(NewMappedFile(&wrapper, path, FileOptions(), &file).IsNotSupported());
  EXPECT_FALSE(FileSystem::Default()->FileExists(path, IOOptions(), nullptr).ok());
  MemFileSystem mem;
  EXPECT_TRUE(NewMappedFile(&mem, "/file", FileOptions(), &file).IsNotSupported());
}

TEST(MappedFile, FaultsReachMappedFiles) {
  auto mem = std::make_shared<MemFileSystem>();
  mem->OfferMappedFiles();
  FaultFileSystem fs(mem);
  fs.OfferMappedFiles();
  std::unique_ptr<MappedFile> file;
  ASSERT_TRUE(NewMappedFile(&fs, "/file", FileOptions(), &file).ok());
  char* base = nullptr;
  for (FaultCall call : {FaultCall::kAllocate, FaultCall::kSync, FaultCall::kTruncate}) {
    FaultRule rule;
    rule.calls = Only(call);
    fs.Inject(rule);
    const IOStatus allocated = file->Map(0, kUnit, &base);
    EXPECT_EQ(allocated.ok(), call != FaultCall::kAllocate);
    if (allocated.ok()) file->Unmap(base, kUnit);
    EXPECT_EQ(file->Sync(false).ok(), call != FaultCall::kSync);
    EXPECT_EQ(file->Truncate(0).ok(), call != FaultCall::kTruncate);
    EXPECT_EQ(fs.strikes(), 1u);
    fs.ClearFaults();
  }
  fs.SetByteQuota(kUnit);
  EXPECT_TRUE(file->Map(0, kUnit, &base).ok());
  file->Unmap(base, kUnit);
  EXPECT_TRUE(file->Map(kUnit, kUnit, &base).IsNoSpace());
}

// Each page that was stored into since the sync is there, or not, whatever became of the others.
TEST(MappedFile, AnySubsetOfUnsyncedPagesMayBeLost) {
  MemFileSystem fs;
  fs.OfferMappedFiles();
  std::unique_ptr<MappedFile> file;
  ASSERT_TRUE(NewMappedFile(&fs, "/file", FileOptions(), &file).ok());
  std::unique_ptr<FSDirectory> root;
  ASSERT_TRUE(fs.NewDirectory("/", IOOptions(), &root, nullptr).ok());
  ASSERT_TRUE(root->Fsync(IOOptions(), nullptr).ok());
  char* base = nullptr;
  ASSERT_TRUE(file->Map(0, kUnit, &base).ok());
  base[0] = 's';
  ASSERT_TRUE(file->Sync(false).ok());
  constexpr size_t kPages = 4;
  for (size_t page = 0; page < kPages; page++) base[page * MemFile::kPage + 1] = 'u';
  bool seen[1 << kPages] = {};
  for (uint64_t seed = 0; seed < 500; seed++) {
    const auto after = fs.CrashClone(CrashPolicy::kAdversarial, seed);
    const std::string bytes = BytesOf(after.get(), "/file");
    ASSERT_EQ(bytes[0], 's');
    size_t subset = 0;
    for (size_t page = 0; page < kPages; page++) {
      if (bytes[page * MemFile::kPage + 1] == 'u') subset |= size_t{1} << page;
    }
    seen[subset] = true;
  }
  for (size_t subset = 0; subset < std::size(seen); subset++) EXPECT_TRUE(seen[subset]) << subset;
  EXPECT_EQ(BytesOf(fs.CrashClone(CrashPolicy::kSyncedOnly, 1).get(), "/file")[1], '\0');
  EXPECT_EQ(BytesOf(fs.CrashClone(CrashPolicy::kKill, 1).get(), "/file")[1], 'u');
  file->Unmap(base, kUnit);
}

}  // namespace
}  // namespace varve
