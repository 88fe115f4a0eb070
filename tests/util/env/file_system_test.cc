// SPDX-License-Identifier: Apache-2.0
//
// What every FileSystem promises, checked on the operating system's, on the one in memory, on both
// through the Env adapters, and through a fault file system without faults.

#include "varve/file_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/harness/fault_file_system.h"
#include "util/env/durable_write.h"
#include "util/env/env_adapters.h"
#include "util/env/io_error.h"
#include "util/env/mem_file_system.h"

namespace varve {
namespace {

const IOOptions kFsIo;

struct Posix {
  std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::string root = "/tmp/varve_fs_test-" + std::to_string(::getpid());
};
struct PosixMapped : Posix {};
// Uses a file system in memory where there is one, else works as Posix does.
struct PosixInMemory : Posix {
  PosixInMemory() {
    if (::access("/dev/shm", W_OK) == 0) root.replace(0, strlen("/tmp"), "/dev/shm");
  }
};
struct Memory {
  std::shared_ptr<FileSystem> fs = std::make_shared<MemFileSystem>();
  std::string root = "/root";
};
struct Faulty {
  std::shared_ptr<FileSystem> fs =
      std::make_shared<FaultFileSystem>(std::make_shared<MemFileSystem>());
  std::string root = "/root";
};
// A FileSystem over an Env over a FileSystem.
struct ThroughEnv {
  std::unique_ptr<Env> inner = std::unique_ptr<Env>(NewMemEnv(Env::Default()));
  std::unique_ptr<Env> outer = std::make_unique<EnvWrapper>(inner.get());
  std::shared_ptr<FileSystem> fs = outer->GetFileSystem();
  std::string root = "/root";
};

template <typename Place>
class FileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.use_mmap_reads = std::is_same_v<Place, PosixMapped>;
    options_.use_mmap_writes = std::is_same_v<Place, PosixMapped>;
    ASSERT_TRUE(fs().CreateDirIfMissing(place_.root, kFsIo, nullptr).ok());
  }
  void TearDown() override { RemoveAll(place_.root); }

  void RemoveAll(const std::string& dir) {
    std::vector<std::string> names;
    (void)fs().GetChildren(dir, kFsIo, &names, nullptr).ok();
    for (const std::string& name : names) {
      const std::string path = dir + "/" + name;
      bool is_dir = false;
      (void)fs().IsDirectory(path, kFsIo, &is_dir, nullptr).ok();
      if (is_dir) {
        RemoveAll(path);
      } else {
        (void)fs().DeleteFile(path, kFsIo, nullptr).ok();
      }
    }
    (void)fs().DeleteDir(dir, kFsIo, nullptr).ok();
  }

  FileSystem& fs() { return *place_.fs; }
  std::string P(const std::string& name) { return place_.root + "/" + name; }

  void Write(const std::string& name, const std::string& contents) {
    std::unique_ptr<FSWritableFile> f;
    ASSERT_TRUE(fs().NewWritableFile(P(name), options_, &f, nullptr).ok());
    ASSERT_TRUE(f->Append(contents, kFsIo, nullptr).ok());
    ASSERT_TRUE(f->Close(kFsIo, nullptr).ok());
  }
  std::string Read(const std::string& name) {
    std::string out;
    IOStatus s = ReadFileToString(&fs(), P(name), 1 << 30, &out);
    return s.ok() ? out : s.ToString();
  }
  std::vector<std::string> List(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs().GetChildren(dir, kFsIo, &names, nullptr).ok());
    std::sort(names.begin(), names.end());
    return names;
  }

  Place place_;
  FileOptions options_;
};

using Places = testing::Types<Posix, PosixMapped, PosixInMemory, Memory, Faulty, ThroughEnv>;
TYPED_TEST_SUITE(FileSystemTest, Places);

TYPED_TEST(FileSystemTest, BytesComeBackAsWritten) {
  std::string contents;
  for (int i = 0; i < 300000; ++i) contents.push_back(static_cast<char>(i * 7 + i / 251));
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(this->fs().NewWritableFile(this->P("a"), this->options_, &f, nullptr).ok());
  for (size_t at = 0; at < contents.size(); at += 10007) {
    ASSERT_TRUE(f->Append(contents.substr(at, 10007), kFsIo, nullptr).ok());
  }
  EXPECT_EQ(f->GetFileSize(kFsIo, nullptr), contents.size());
  ASSERT_TRUE(f->Sync(kFsIo, nullptr).ok());
  ASSERT_TRUE(f->Close(kFsIo, nullptr).ok());
  EXPECT_TRUE(this->Read("a") == contents);
  uint64_t size = 0;
  ASSERT_TRUE(this->fs().GetFileSize(this->P("a"), kFsIo, &size, nullptr).ok());
  EXPECT_EQ(size, contents.size());
}

TYPED_TEST(FileSystemTest, ReadsAtAnyOffsetEndAtTheFile) {
  this->Write("a", "0123456789");
  std::unique_ptr<FSRandomAccessFile> f;
  ASSERT_TRUE(this->fs().NewRandomAccessFile(this->P("a"), this->options_, &f, nullptr).ok());
  char scratch[32];
  Slice r;
  ASSERT_TRUE(f->Read(3, 4, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "3456");
  ASSERT_TRUE(f->Read(8, 20, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "89");
  ASSERT_TRUE(f->Read(10, 5, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "");
  uint64_t size = 0;
  ASSERT_TRUE(f->GetFileSize(&size).ok());
  EXPECT_EQ(size, 10u);
  char a[4];
  char b[4];
  FSReadRequest requests[2];
  requests[0].offset = 1;
  requests[0].len = 2;
  requests[0].scratch = a;
  requests[1].offset = 7;
  requests[1].len = 4;
  requests[1].scratch = b;
  ASSERT_TRUE(f->MultiRead(requests, 2, kFsIo, nullptr).ok());
  EXPECT_EQ(requests[0].result.ToString(), "12");
  EXPECT_EQ(requests[1].result.ToString(), "789");
}

TYPED_TEST(FileSystemTest, ReadsManyRangesAtOnce) {
  std::string content;
  for (int i = 0; i < 30000; i++) content += std::to_string(i);
  this->Write("a", content);
  std::unique_ptr<FSRandomAccessFile> f;
  ASSERT_TRUE(this->fs().NewRandomAccessFile(this->P("a"), this->options_, &f, nullptr).ok());
  std::vector<std::string> buffers(100, std::string(500, '\0'));
  std::vector<FSReadRequest> requests(buffers.size());
  for (size_t i = 0; i < requests.size(); i++) {
    requests[i].offset = i * 1500;  // the last ones lie after the end
    requests[i].len = 500;
    requests[i].scratch = buffers[i].data();
    requests[i].status = IOStatus::IOError("an earlier read");  // must be replaced
  }
  ASSERT_TRUE(f->MultiRead(requests.data(), requests.size(), kFsIo, nullptr).ok());
  for (const FSReadRequest& request : requests) {
    ASSERT_TRUE(request.status.ok()) << request.status.ToString();
    const size_t offset = static_cast<size_t>(request.offset);
    ASSERT_EQ(request.result.ToString(),
              offset < content.size() ? content.substr(offset, 500) : std::string());
  }
}

TYPED_TEST(FileSystemTest, SequentialReadsSkip) {
  this->Write("a", "0123456789");
  std::unique_ptr<FSSequentialFile> f;
  ASSERT_TRUE(this->fs().NewSequentialFile(this->P("a"), this->options_, &f, nullptr).ok());
  char scratch[32];
  Slice r;
  ASSERT_TRUE(f->Read(2, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "01");
  ASSERT_TRUE(f->Skip(3).ok());
  ASSERT_TRUE(f->Read(20, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "56789");
  ASSERT_TRUE(f->Read(20, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_TRUE(r.empty());
}

TYPED_TEST(FileSystemTest, MissingFilesAreSaidToBeMissing) {
  std::unique_ptr<FSSequentialFile> seq;
  std::unique_ptr<FSRandomAccessFile> random;
  std::unique_ptr<FSWritableFile> writable;
  uint64_t size = 1;
  EXPECT_TRUE(this->fs().NewSequentialFile(this->P("x"), {}, &seq, nullptr).IsPathNotFound());
  EXPECT_TRUE(this->fs().NewRandomAccessFile(this->P("x"), {}, &random, nullptr).IsPathNotFound());
  EXPECT_TRUE(this->fs().NewWritableFile(this->P("no/x"), {}, &writable, nullptr).IsPathNotFound());
  EXPECT_EQ(seq, nullptr);
  EXPECT_EQ(random, nullptr);
  EXPECT_EQ(writable, nullptr);
  EXPECT_TRUE(this->fs().FileExists(this->P("x"), kFsIo, nullptr).IsNotFound());
  EXPECT_TRUE(this->fs().DeleteFile(this->P("x"), kFsIo, nullptr).IsPathNotFound());
  EXPECT_TRUE(this->fs().GetFileSize(this->P("x"), kFsIo, &size, nullptr).IsPathNotFound());
  EXPECT_TRUE(this->fs().RenameFile(this->P("x"), this->P("y"), kFsIo, nullptr).IsPathNotFound());
  std::vector<std::string> names;
  EXPECT_TRUE(this->fs().GetChildren(this->P("no"), kFsIo, &names, nullptr).IsNotFound());
}

TYPED_TEST(FileSystemTest, CreatingEmptiesReopeningAppendsReusingOverwrites) {
  this->Write("a", "first contents");
  this->Write("a", "second");
  EXPECT_EQ(this->Read("a"), "second");
  FileOptions plain;
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(this->fs().ReopenWritableFile(this->P("a"), plain, &f, nullptr).ok());
  ASSERT_TRUE(f->Append(" and more", kFsIo, nullptr).ok());
  ASSERT_TRUE(f->Close(kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("a"), "second and more");
  ASSERT_TRUE(this->fs().ReuseWritableFile(this->P("b"), this->P("a"), plain, &f, nullptr).ok());
  ASSERT_TRUE(f->Append("SEC", kFsIo, nullptr).ok());
  ASSERT_TRUE(f->Close(kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("b").substr(0, 3), "SEC");
  EXPECT_TRUE(this->fs().FileExists(this->P("a"), kFsIo, nullptr).IsNotFound());
}

TYPED_TEST(FileSystemTest, PreallocatedSpaceIsNotPartOfTheFile) {
  std::unique_ptr<FSWritableFile> f;
  FileOptions plain;
  ASSERT_TRUE(this->fs().NewWritableFile(this->P("a"), plain, &f, nullptr).ok());
  f->SetPreallocationBlockSize(1 << 20);
  f->PrepareWrite(0, 5, kFsIo, nullptr);
  ASSERT_TRUE(f->Append("hello", kFsIo, nullptr).ok());
  size_t block = 0;
  size_t last = 0;
  f->GetPreallocationStatus(&block, &last);
  EXPECT_EQ(block, size_t{1} << 20);
  EXPECT_EQ(last, 1u);
  EXPECT_EQ(this->Read("a"), "hello");
  ASSERT_TRUE(f->Close(kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("a"), "hello");
}

TYPED_TEST(FileSystemTest, TruncationShortens) {
  this->Write("a", "0123456789");
  ASSERT_TRUE(this->fs().Truncate(this->P("a"), 4, kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("a"), "0123");
}

TYPED_TEST(FileSystemTest, RandomWritesLandWhereTheyShould) {
  this->Write("a", "0123456789");
  std::unique_ptr<FSRandomRWFile> f;
  ASSERT_TRUE(this->fs().NewRandomRWFile(this->P("a"), {}, &f, nullptr).ok());
  ASSERT_TRUE(f->Write(3, "xyz", kFsIo, nullptr).ok());
  ASSERT_TRUE(f->Write(12, "end", kFsIo, nullptr).ok());
  char scratch[32];
  Slice r;
  ASSERT_TRUE(f->Read(2, 5, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "2xyz6");
  ASSERT_TRUE(f->Close(kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("a"), std::string("012xyz6789\0\0end", 15));
}

TYPED_TEST(FileSystemTest, DirectoriesListTheirEntries) {
  ASSERT_TRUE(this->fs().CreateDir(this->P("d"), kFsIo, nullptr).ok());
  EXPECT_FALSE(this->fs().CreateDir(this->P("d"), kFsIo, nullptr).ok());
  EXPECT_TRUE(this->fs().CreateDirIfMissing(this->P("d"), kFsIo, nullptr).ok());
  this->Write("d/one", "1");
  this->Write("d/two", "22");
  this->Write("dx", "");
  EXPECT_EQ(this->List(this->P("d")), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(this->List(this->P("")), (std::vector<std::string>{"d", "dx"}));
  std::vector<FileAttributes> attributes;
  ASSERT_TRUE(this->fs().GetChildrenFileAttributes(this->P("d"), kFsIo, &attributes, nullptr).ok());
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes[0].size_bytes + attributes[1].size_bytes, 3u);
  EXPECT_FALSE(this->fs().DeleteDir(this->P("d"), kFsIo, nullptr).ok());
  EXPECT_FALSE(this->fs().CreateDirIfMissing(this->P("dx"), kFsIo, nullptr).ok());
  bool is_dir = false;
  ASSERT_TRUE(this->fs().IsDirectory(this->P("d"), kFsIo, &is_dir, nullptr).ok());
  EXPECT_TRUE(is_dir);
  ASSERT_TRUE(this->fs().IsDirectory(this->P("dx"), kFsIo, &is_dir, nullptr).ok());
  EXPECT_FALSE(is_dir);
}

TYPED_TEST(FileSystemTest, RenamesReplaceAndMoveDirectories) {
  this->Write("a", "new");
  this->Write("b", "old");
  ASSERT_TRUE(this->fs().RenameFile(this->P("a"), this->P("b"), kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("b"), "new");
  EXPECT_TRUE(this->fs().FileExists(this->P("a"), kFsIo, nullptr).IsNotFound());
  ASSERT_TRUE(this->fs().CreateDir(this->P("d.tmp"), kFsIo, nullptr).ok());
  this->Write("d.tmp/x", "inside");
  ASSERT_TRUE(this->fs().RenameFile(this->P("d.tmp"), this->P("d"), kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("d/x"), "inside");
  EXPECT_EQ(this->List(this->P("")), (std::vector<std::string>{"b", "d"}));
}

TYPED_TEST(FileSystemTest, LinksShareTheFile) {
  this->Write("a", "shared");
  ASSERT_TRUE(this->fs().LinkFile(this->P("a"), this->P("b"), kFsIo, nullptr).ok());
  EXPECT_FALSE(this->fs().LinkFile(this->P("a"), this->P("b"), kFsIo, nullptr).ok());
  uint64_t links = 0;
  ASSERT_TRUE(this->fs().NumFileLinks(this->P("a"), kFsIo, &links, nullptr).ok());
  EXPECT_EQ(links, 2u);
  bool same = false;
  ASSERT_TRUE(this->fs().AreFilesSame(this->P("a"), this->P("b"), kFsIo, &same, nullptr).ok());
  EXPECT_TRUE(same);
  ASSERT_TRUE(this->fs().DeleteFile(this->P("a"), kFsIo, nullptr).ok());
  EXPECT_EQ(this->Read("b"), "shared");
}

// A file system without holes says so. Otherwise the hole reads as zeros, and all else stays.
TYPED_TEST(FileSystemTest, AHoleReadsAsZeros) {
  const std::string before(100000, 'x');
  this->Write("a", before);
  const IOStatus s = this->fs().PunchHole(this->P("a"), 8192, 40960, kFsIo, nullptr);
  std::string expected = before;
  if (s.ok()) {
    expected.replace(8192, 40960, 40960, '\0');
  } else {
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  }
  EXPECT_TRUE(this->Read("a") == expected);
  EXPECT_FALSE(this->fs().PunchHole(this->P("b"), 0, 4096, kFsIo, nullptr).ok());
}

TYPED_TEST(FileSystemTest, AnOpenFileOutlivesItsName) {
  this->Write("a", "still here");
  std::unique_ptr<FSSequentialFile> f;
  ASSERT_TRUE(this->fs().NewSequentialFile(this->P("a"), {}, &f, nullptr).ok());
  ASSERT_TRUE(this->fs().DeleteFile(this->P("a"), kFsIo, nullptr).ok());
  char scratch[32];
  Slice r;
  ASSERT_TRUE(f->Read(20, kFsIo, &r, scratch, nullptr).ok());
  EXPECT_EQ(r.ToString(), "still here");
}

TYPED_TEST(FileSystemTest, ALockHasOneHolder) {
  FileLock* first = nullptr;
  FileLock* second = nullptr;
  ASSERT_TRUE(this->fs().LockFile(this->P("LOCK"), kFsIo, &first, nullptr).ok());
  ASSERT_NE(first, nullptr);
  IOStatus s = this->fs().LockFile(this->P("LOCK"), kFsIo, &second, nullptr);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_EQ(second, nullptr);
  ASSERT_TRUE(this->fs().UnlockFile(first, kFsIo, nullptr).ok());
  ASSERT_TRUE(this->fs().LockFile(this->P("LOCK"), kFsIo, &second, nullptr).ok());
  ASSERT_TRUE(this->fs().UnlockFile(second, kFsIo, nullptr).ok());
  EXPECT_FALSE(this->fs().UnlockFile(nullptr, kFsIo, nullptr).ok());
}

TYPED_TEST(FileSystemTest, DurableFilesReplaceTheOldOnes) {
  ASSERT_TRUE(WriteFileDurably(&this->fs(), this->P(""), "1.tmp", "FILE", std::string("one")).ok());
  ASSERT_TRUE(WriteFileDurably(&this->fs(), this->P(""), "2.tmp", "FILE", std::string("two")).ok());
  EXPECT_EQ(this->Read("FILE"), "two");
  ASSERT_TRUE(SetCurrentFile(&this->fs(), this->place_.root, 5).ok());
  EXPECT_EQ(this->Read("CURRENT"), "MANIFEST-000005\n");
  EXPECT_EQ(this->List(this->P("")), (std::vector<std::string>{"CURRENT", "FILE"}));
}

TYPED_TEST(FileSystemTest, ReadingAWholeFileObeysItsLimit) {
  this->Write("a", std::string(100000, 'x'));
  std::string data = "before";
  EXPECT_TRUE(ReadFileToString(&this->fs(), this->P("a"), 100000, &data).ok());
  EXPECT_EQ(data.size(), 100000u);
  EXPECT_TRUE(ReadFileToString(&this->fs(), this->P("a"), 99999, &data).IsCorruption());
  EXPECT_TRUE(data.empty());
}

// It is unknown what a directory contains that may not be read.
TEST(PosixPermissions, WhatMayNotBeSeenIsNotMissing) {
  const Posix place;
  FileSystem& fs = *place.fs;
  const std::string closed = place.root + "/closed";
  ASSERT_TRUE(fs.CreateDirIfMissing(place.root, kFsIo, nullptr).ok());
  ASSERT_TRUE(fs.CreateDirIfMissing(closed, kFsIo, nullptr).ok());
  ASSERT_EQ(::chmod(closed.c_str(), 0), 0);
  constexpr uid_t kNobody = 65534;
  const uid_t before = ::geteuid();
  if (before == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  std::vector<std::string> names;
  uint64_t size = 0;
  const IOStatus answers[] = {
      fs.GetChildren(closed, kFsIo, &names, nullptr),
      fs.FileExists(closed + "/CURRENT", kFsIo, nullptr),
      fs.GetFileSize(closed + "/CURRENT", kFsIo, &size, nullptr),
  };
  ASSERT_EQ(::seteuid(before), 0);
  for (const IOStatus& s : answers) {
    EXPECT_TRUE(s.IsIOError() && !IsMissing(s)) << s.ToString();
    EXPECT_NE(s.ToString().find("Permission denied"), std::string::npos) << s.ToString();
  }
  ASSERT_TRUE(fs.DeleteDir(closed, kFsIo, nullptr).ok());
  EXPECT_TRUE(IsMissing(fs.GetChildren(closed, kFsIo, &names, nullptr)));
  EXPECT_TRUE(IsMissing(fs.FileExists(closed, kFsIo, nullptr)));
  ASSERT_TRUE(fs.DeleteDir(place.root, kFsIo, nullptr).ok());
}

}  // namespace
}  // namespace varve
