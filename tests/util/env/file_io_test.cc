// SPDX-License-Identifier: Apache-2.0
//
// The buffered writer, the readers, and the read-ahead, against plain strings.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/harness/fault_file_system.h"
#include "util/env/aligned_buffer.h"
#include "util/env/durable_write.h"
#include "util/env/file_prefetcher.h"
#include "util/env/mem_file_system.h"
#include "util/env/random_access_file_reader.h"
#include "util/env/sequential_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve {
namespace {

const IOOptions kFileIo;

std::string RandomBytes(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string out(n, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

std::shared_ptr<MemFileSystem> NewFs() {
  auto fs = std::make_shared<MemFileSystem>();
  EXPECT_TRUE(fs->CreateDir("/d", kFileIo, nullptr).ok());
  return fs;
}

std::string Contents(FileSystem* fs, const std::string& path) {
  std::string out;
  IOStatus s = ReadFileToString(fs, path, 1 << 30, &out);
  return s.ok() ? out : s.ToString();
}

TEST(WritableFileWriterTest, AppendsOfAllSizesArriveInOrder) {
  const auto fs = NewFs();
  for (const size_t buffer : {size_t{1}, size_t{5000}, size_t{100000}, size_t{1} << 20}) {
    WritableFileWriter::Options options;
    options.max_buffer_size = buffer;
    options.bytes_per_sync = 4096;
    std::unique_ptr<WritableFileWriter> w;
    ASSERT_TRUE(WritableFileWriter::Create(fs.get(), "/d/a", {}, options, &w).ok());
    std::mt19937_64 random(buffer);
    std::string expected;
    for (int i = 0; i < 300; ++i) {
      const std::string a = RandomBytes(random() % 50, random());
      const std::string b = RandomBytes(random() % (i % 10 == 0 ? 300000 : 3000), random());
      const Slice parts[] = {a, b};
      ASSERT_TRUE(w->Append(parts, 2).ok());
      expected += a + b;
      if (i % 17 == 0) {
        ASSERT_TRUE(w->Pad(i * 31).ok());
        expected.append(i * 31, '\0');
      }
      if (i % 23 == 0) {
        ASSERT_TRUE(w->Flush().ok());
        EXPECT_EQ(w->flushed_size(), expected.size());
      }
      ASSERT_EQ(w->GetFileSize(), expected.size());
    }
    ASSERT_TRUE(w->Sync(false).ok());
    EXPECT_TRUE(Contents(fs.get(), "/d/a") == expected);
    ASSERT_TRUE(w->Append(Slice("end")).ok());
    ASSERT_TRUE(w->Close().ok());
    ASSERT_TRUE(w->Close().ok());
    EXPECT_FALSE(w->Append(Slice("late")).ok());
    EXPECT_TRUE(Contents(fs.get(), "/d/a") == expected + "end");
  }
}

TEST(WritableFileWriterTest, WriteBackBeginsWhileTheFileGrows) {
  FaultFileSystem fs(NewFs());
  for (const size_t piece : {size_t{1000}, size_t{100000}}) {
    WritableFileWriter::Options options;
    options.bytes_per_sync = 1 << 20;
    std::unique_ptr<WritableFileWriter> w;
    ASSERT_TRUE(WritableFileWriter::Create(&fs, "/d/a", {}, options, &w).ok());
    fs.ResetCounters();
    const std::string bytes = RandomBytes(piece, 9);
    while (w->GetFileSize() < 8 << 20) ASSERT_TRUE(w->Append(Slice(bytes)).ok());
    EXPECT_GE(fs.calls(FaultCall::kRangeSync), 5u) << piece;
    EXPECT_LE(fs.calls(FaultCall::kRangeSync), 8u) << piece;
    ASSERT_TRUE(w->Close().ok());
  }
}

// Notes where the appended bytes lay.
class AppendedPlaces final : public FSWritableFileOwnerWrapper {
 public:
  AppendedPlaces(std::unique_ptr<FSWritableFile> file, std::vector<Slice>* appended)
      : FSWritableFileOwnerWrapper(std::move(file)), appended_(appended) {}
  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    appended_->push_back(data);
    return FSWritableFileOwnerWrapper::Append(data, options, dbg);
  }

 private:
  std::vector<Slice>* const appended_;
};

TEST(WritableFileWriterTest, LargePiecesAreNotCopied) {
  const auto fs = NewFs();
  std::unique_ptr<FSWritableFile> file;
  ASSERT_TRUE(fs->NewWritableFile("/d/a", {}, &file, nullptr).ok());
  std::vector<Slice> appended;
  WritableFileWriter w(std::make_unique<AppendedPlaces>(std::move(file), &appended), "/d/a", {});
  const std::string small = RandomBytes(100, 1);
  const std::string large = RandomBytes(100000, 2);
  const Slice parts[] = {small, large, small};
  ASSERT_TRUE(w.Append(parts, 3).ok());
  ASSERT_TRUE(w.Append(large).ok());
  ASSERT_TRUE(w.Close().ok());
  ASSERT_EQ(appended.size(), 4u) << "what was small came first, in order";
  EXPECT_EQ(appended[1].data(), large.data());
  EXPECT_EQ(appended[3].data(), large.data());
  EXPECT_TRUE(Contents(fs.get(), "/d/a") == small + large + small + large);
}

TEST(WritableFileWriterTest, AWriterThatIsNotClosedWritesNothingMore) {
  const auto fs = NewFs();
  {
    std::unique_ptr<WritableFileWriter> w;
    ASSERT_TRUE(WritableFileWriter::Create(fs.get(), "/d/a", {}, {}, &w).ok());
    ASSERT_TRUE(w->Append(Slice("given up")).ok());
  }
  EXPECT_EQ(Contents(fs.get(), "/d/a"), "");
}

// A file that insists on the rules of direct I/O.
class AlignedOnlyFile final : public FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  using FSWritableFileWrapper::Append;
  using FSWritableFileWrapper::PositionedAppend;
  bool use_direct_io() const override { return true; }
  size_t GetRequiredBufferAlignment() const override { return 512; }
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override {
    return IOStatus::InvalidArgument("Append with direct I/O");
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    if (offset % 512 != 0 || data.size() % 512 != 0 ||
        reinterpret_cast<uintptr_t>(data.data()) % 512 != 0) {
      return IOStatus::InvalidArgument("not aligned");
    }
    return target()->PositionedAppend(data, offset, options, dbg);
  }
};

TEST(WritableFileWriterTest, DirectWritesAreAlignedAndTheTailIsRewritten) {
  const auto fs = NewFs();
  std::unique_ptr<FSWritableFile> f;
  ASSERT_TRUE(fs->NewWritableFile("/d/a", {}, &f, nullptr).ok());
  WritableFileWriter::Options options;
  options.max_buffer_size = 10000;
  WritableFileWriter w(std::make_unique<AlignedOnlyFile>(std::move(f)), "/d/a", options);
  std::mt19937_64 random(3);
  std::string expected;
  for (int i = 0; i < 400; ++i) {
    const std::string data = RandomBytes(random() % 3000, random());
    ASSERT_TRUE(w.Append(data).ok());
    expected += data;
    if (i % 7 == 0) {
      ASSERT_TRUE(w.Flush().ok());
      ASSERT_EQ(w.flushed_size(), expected.size());
      ASSERT_TRUE(Contents(fs.get(), "/d/a").substr(0, expected.size()) == expected);
    }
  }
  ASSERT_TRUE(w.Close().ok());
  EXPECT_TRUE(Contents(fs.get(), "/d/a") == expected);
}

TEST(DirectIoTest, TheOperatingSystemAcceptsWhatWeSend) {
  // tmpfs refuses O_DIRECT on older kernels, so the file lies beside the test.
  const std::string path = "varve_direct_test-" + std::to_string(::getpid());
  FileOptions options;
  options.use_direct_writes = true;
  options.use_direct_reads = true;
  const auto fs = FileSystem::Default();
  std::unique_ptr<WritableFileWriter> w;
  IOStatus s = WritableFileWriter::Create(fs.get(), path, options, {}, &w);
  if (!s.ok()) GTEST_SKIP() << s.ToString();
  const std::string expected = RandomBytes(200001, 9);
  for (size_t at = 0; at < expected.size(); at += 7777) {
    ASSERT_TRUE(w->Append(expected.substr(at, 7777)).ok());
    ASSERT_TRUE(w->Flush().ok());
  }
  ASSERT_TRUE(w->Close().ok());
  std::unique_ptr<RandomAccessFileReader> r;
  ASSERT_TRUE(RandomAccessFileReader::Open(fs.get(), path, options, {}, &r).ok());
  EXPECT_TRUE(r->use_direct_io());
  std::string scratch(expected.size() + 10, '\0');
  Slice result;
  ASSERT_TRUE(r->Read(12345, 54321, &result, scratch.data()).ok());
  EXPECT_TRUE(result == Slice(expected).ToString().substr(12345, 54321));
  ASSERT_TRUE(r->ReadUpTo(200000, 10, &result, scratch.data()).ok());
  EXPECT_EQ(result.size(), 1u);
  FSReadRequest requests[3];
  for (size_t i = 0; i < 3; i++) {
    requests[i].offset = 777 + i * 99000;
    requests[i].len = 5000;
    requests[i].scratch = scratch.data() + i * 5000;
  }
  ASSERT_TRUE(r->MultiRead(requests, 3).ok());
  EXPECT_TRUE(requests[0].status.ok() && requests[1].status.ok());
  EXPECT_TRUE(requests[1].result == Slice(expected.data() + 99777, 5000));
  EXPECT_TRUE(requests[2].status.IsCorruption()) << "it ends behind the file";
  std::unique_ptr<SequentialFileReader> seq;
  ASSERT_TRUE(SequentialFileReader::Open(fs.get(), path, options, &seq).ok());
  ASSERT_TRUE(seq->Read(scratch.size(), &result, scratch.data()).ok());
  EXPECT_TRUE(result == Slice(expected));
  EXPECT_EQ(Contents(fs.get(), path).size(), expected.size());
  ASSERT_TRUE(fs->DeleteFile(path, kFileIo, nullptr).ok());
}

TEST(DirectIoTest, ReadsTakeTheSectorsThatTheyNeed) {
  const std::string path = "varve_sector_test-" + std::to_string(::getpid());
  const auto fs = FileSystem::Default();
  const std::string expected = RandomBytes(20000, 10);
  ASSERT_TRUE(WriteFileDurably(fs.get(), ".", "t", path, expected).ok());
  FileOptions options;
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_TRUE(fs->NewRandomAccessFile(path, options, &file, nullptr).ok());
  EXPECT_EQ(file->GetRequiredBufferAlignment(), kDefaultPageSize) << "without direct I/O";
  options.use_direct_reads = true;
  const IOStatus s = fs->NewRandomAccessFile(path, options, &file, nullptr);
  if (!s.ok()) {
    ASSERT_TRUE(fs->DeleteFile(path, kFileIo, nullptr).ok());
    GTEST_SKIP() << s.ToString();
  }
  const size_t sector = file->GetRequiredBufferAlignment();
  EXPECT_TRUE(sector >= 512 && sector <= kDefaultPageSize && std::has_single_bit(sector)) << sector;
#ifdef STATX_DIOALIGN
  struct statx told = {};
  ASSERT_EQ(::statx(AT_FDCWD, path.c_str(), 0, STATX_DIOALIGN, &told), 0);
  if (told.stx_dio_offset_align == 512 && told.stx_dio_mem_align <= 512) {
    EXPECT_EQ(sector, 512u);
  }
#endif
  AlignedBuffer buffer;
  ASSERT_TRUE(buffer.Allocate(2 * sector, sector));
  Slice result;
  ASSERT_TRUE(file->Read(3 * sector, 2 * sector, kFileIo, &result, buffer.data(), nullptr).ok());
  EXPECT_TRUE(result == Slice(expected.data() + 3 * sector, 2 * sector));
  ASSERT_TRUE(fs->DeleteFile(path, kFileIo, nullptr).ok());
}

TEST(RandomAccessFileReaderTest, AFileThatEndsEarlyIsCorrupt) {
  const auto fs = NewFs();
  ASSERT_TRUE(WriteFileDurably(fs.get(), "/d", "t", "a", std::string("0123456789")).ok());
  std::unique_ptr<RandomAccessFileReader> r;
  ASSERT_TRUE(RandomAccessFileReader::Open(fs.get(), "/d/a", {}, {}, &r).ok());
  char scratch[32];
  Slice result;
  ASSERT_TRUE(r->Read(2, 8, &result, scratch).ok());
  EXPECT_EQ(result.ToString(), "23456789");
  EXPECT_TRUE(r->Read(2, 9, &result, scratch).IsCorruption());
  EXPECT_TRUE(r->Read(100, 1, &result, scratch).IsCorruption());
  EXPECT_FALSE(r->Read(~uint64_t{0} - 2, 8, &result, scratch).ok());
  ASSERT_TRUE(r->ReadUpTo(8, 20, &result, scratch).ok());
  EXPECT_EQ(result.ToString(), "89");
  FSReadRequest requests[2];
  requests[0].offset = 0;
  requests[0].len = 2;
  requests[0].scratch = scratch;
  requests[1].offset = 8;
  requests[1].len = 4;
  requests[1].scratch = scratch + 8;
  ASSERT_TRUE(r->MultiRead(requests, 2).ok());
  EXPECT_TRUE(requests[0].status.ok());
  EXPECT_TRUE(requests[1].status.IsCorruption());
}

// Files of the operating system, with and without direct I/O, and one in memory.
TEST(RandomAccessFileReaderTest, ReadsOfSeveralFilesAreThoseOfEach) {
  const std::shared_ptr<FileSystem> system = FileSystem::Default();
  const auto mem = NewFs();
  const std::string folder = ::testing::TempDir() + "several_files_" + std::to_string(::getpid());
  ASSERT_TRUE(system->CreateDirIfMissing(folder, kFileIo, nullptr).ok());
  struct File {
    FileSystem* fs;
    std::string folder;
    bool direct;
    size_t bytes;
  };
  const File files[] = {{system.get(), folder, false, 100000},
                        {system.get(), folder, true, 70001},
                        {mem.get(), "/d", false, 50000},
                        {system.get(), folder, true, 300000}};
  constexpr size_t kRequests = 3;
  constexpr size_t kLength = 5000;
  std::string contents[std::size(files)];
  std::unique_ptr<RandomAccessFileReader> readers[std::size(files)];
  FSReadRequest requests[std::size(files)][kRequests];
  std::string scratch(std::size(files) * kRequests * kLength, '\0');
  std::vector<FileReads> reads;
  for (size_t f = 0; f < std::size(files); f++) {
    const std::string name = std::to_string(f);
    contents[f] = RandomBytes(files[f].bytes, f);
    ASSERT_TRUE(WriteFileDurably(files[f].fs, files[f].folder, "t", name, contents[f]).ok());
    FileOptions options;
    options.use_direct_reads = files[f].direct;
    const std::string path = files[f].folder + "/" + name;
    ASSERT_TRUE(RandomAccessFileReader::Open(files[f].fs, path, options, {}, &readers[f]).ok());
    for (size_t i = 0; i < kRequests; i++) {
      // The last one of each second file ends behind the file.
      const bool behind = f % 2 == 1 && i == kRequests - 1;
      requests[f][i].offset = behind ? files[f].bytes - 17 : 777 + i * (kLength + 100 * f);
      requests[f][i].len = kLength;
      requests[f][i].scratch = scratch.data() + (f * kRequests + i) * kLength;
    }
    reads.push_back({readers[f].get(), requests[f], &kFileIo, {}});
  }
  RandomAccessFileReader::MultiReadFiles(reads);
  for (size_t f = 0; f < std::size(files); f++) {
    EXPECT_TRUE(reads[f].status.ok());
    for (size_t i = 0; i < kRequests; i++) {
      const FSReadRequest& request = requests[f][i];
      if (f % 2 == 1 && i == kRequests - 1) {
        EXPECT_TRUE(request.status.IsCorruption()) << request.status.ToString();
        EXPECT_NE(request.status.ToString().find(readers[f]->file_name()), std::string::npos);
      } else {
        EXPECT_TRUE(request.status.ok()) << request.status.ToString();
        EXPECT_TRUE(request.result == Slice(contents[f].data() + request.offset, kLength));
      }
    }
    ASSERT_TRUE(files[f].fs->DeleteFile(readers[f]->file_name(), kFileIo, nullptr).ok());
  }
  ASSERT_TRUE(system->DeleteDir(folder, kFileIo, nullptr).ok());
}

TEST(SequentialFileReaderTest, PiecesOfAnySizeAddUpDespiteShortReads) {
  const auto mem = NewFs();
  const std::string expected = RandomBytes(500000, 4);
  ASSERT_TRUE(WriteFileDurably(mem.get(), "/d", "t", "a", expected).ok());
  FaultFileSystem fs(mem);
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.effect = FaultEffect::kShortRead;
  rule.sticky = true;
  fs.Inject(rule);
  std::unique_ptr<SequentialFileReader> r;
  ASSERT_TRUE(SequentialFileReader::Open(&fs, "/d/a", {}, &r, 64 * 1024).ok());
  std::mt19937_64 random(5);
  std::string got;
  std::string scratch(100000, '\0');
  for (;;) {
    const size_t n = 1 + random() % scratch.size();
    Slice result;
    ASSERT_TRUE(r->Read(n, &result, scratch.data()).ok());
    got.append(result.data(), result.size());
    EXPECT_EQ(r->position(), got.size());
    if (result.size() < n) break;
    if (random() % 4 == 0) {
      const size_t skip = std::min<size_t>(random() % 5000, expected.size() - got.size());
      ASSERT_TRUE(r->Skip(skip).ok());
      got += expected.substr(got.size(), skip);
    }
  }
  EXPECT_TRUE(got == expected);
}

TEST(FilePrefetcherTest, ScansReadFewerAndLargerPieces) {
  const auto mem = NewFs();
  const std::string expected = RandomBytes(1 << 20, 6);
  ASSERT_TRUE(WriteFileDurably(mem.get(), "/d", "t", "a", expected).ok());
  FaultFileSystem fs(mem);
  std::unique_ptr<RandomAccessFileReader> r;
  ASSERT_TRUE(RandomAccessFileReader::Open(&fs, "/d/a", {}, {}, &r).ok());
  std::string scratch(8192, '\0');
  for (const bool fixed : {false, true}) {
    FilePrefetcher p = fixed ? FilePrefetcher::Fixed() : FilePrefetcher::Adaptive();
    fs.ResetCounters();
    size_t pieces = 0;
    for (uint64_t at = 0; at < expected.size(); ++pieces) {
      const size_t n = std::min<size_t>(1000 + at % 7000, expected.size() - at);
      Slice result;
      ASSERT_TRUE(p.Read(*r, at, n, expected.size(), &result, scratch.data()).ok());
      ASSERT_TRUE(result == Slice(expected.data() + at, n));
      at += n;
    }
    const uint64_t reads = fs.calls(FaultCall::kRead);
    EXPECT_LE(reads, fixed ? 1u : 13u);
    EXPECT_GT(pieces, 100u);
  }
}

TEST(FilePrefetcherTest, LargeReadsOfAScanGoWhereTheyAreWanted) {
  const auto mem = NewFs();
  const std::string expected = RandomBytes(2 << 20, 8);
  ASSERT_TRUE(WriteFileDurably(mem.get(), "/d", "t", "a", expected).ok());
  std::unique_ptr<RandomAccessFileReader> r;
  ASSERT_TRUE(RandomAccessFileReader::Open(mem.get(), "/d/a", {}, {}, &r).ok());
  constexpr size_t kRead = 132000;
  std::string scratch(kRead, '\0');
  for (const bool fixed : {false, true}) {
    FilePrefetcher p = fixed ? FilePrefetcher::Fixed() : FilePrefetcher::Adaptive();
    for (uint64_t at = 0; at + kRead <= expected.size(); at += kRead) {
      Slice result;
      ASSERT_TRUE(p.Read(*r, at, kRead, expected.size(), &result, scratch.data()).ok());
      ASSERT_TRUE(result == Slice(expected.data() + at, kRead));
      EXPECT_EQ(result.data() == scratch.data(), !fixed) << at;
    }
  }
}

TEST(FilePrefetcherTest, JumpsReadNothingAheadAndReadsStopAtTheLimit) {
  const auto mem = NewFs();
  const std::string expected = RandomBytes(1 << 20, 7);
  ASSERT_TRUE(WriteFileDurably(mem.get(), "/d", "t", "a", expected).ok());
  std::unique_ptr<RandomAccessFileReader> r;
  ASSERT_TRUE(RandomAccessFileReader::Open(mem.get(), "/d/a", {}, {}, &r).ok());
  FilePrefetcher p = FilePrefetcher::Adaptive();
  std::string scratch(8192, '\0');
  std::mt19937_64 random(8);
  Slice result;
  for (int i = 0; i < 200; ++i) {
    const uint64_t at = random() % 2 * 600000 + random() % 1000;
    ASSERT_TRUE(p.Read(*r, at, 4096, expected.size(), &result, scratch.data()).ok());
    ASSERT_TRUE(result == Slice(expected.data() + at, 4096));
  }
  FilePrefetcher q = FilePrefetcher::Fixed();
  ASSERT_TRUE(q.Read(*r, 0, 100, 5000, &result, scratch.data()).ok());
  EXPECT_TRUE(q.Holds(0, 5000));
  EXPECT_FALSE(q.Holds(0, 5001));
  EXPECT_TRUE(
      q.Read(*r, expected.size() - 10, 20, ~uint64_t{0}, &result, scratch.data()).IsCorruption());
}

// Holds bytes in memory; records requests for reading ahead.
class AskedFile final : public FSRandomAccessFile {
 public:
  struct Asked {
    uint64_t offset;
    size_t n;
    bool operator==(const Asked&) const = default;
  };

  AskedFile(std::string bytes, bool can_prefetch, std::vector<Asked>* asked)
      : bytes_(std::move(bytes)), can_prefetch_(can_prefetch), asked_(asked) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    n = std::min(n, bytes_.size() - std::min<size_t>(offset, bytes_.size()));
    memcpy(scratch, bytes_.data() + offset, n);
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    asked_->push_back({offset, n});
    return can_prefetch_ ? IOStatus::OK() : IOStatus::NotSupported("Prefetch");
  }

 private:
  const std::string bytes_;
  const bool can_prefetch_;
  std::vector<Asked>* const asked_;
};

TEST(FilePrefetcherTest, AsksForWhatTheNextRefillReads) {
  std::string scratch(4096, '\0');
  Slice result;
  for (const bool can_prefetch : {true, false}) {
    std::vector<AskedFile::Asked> asked;
    const RandomAccessFileReader r(
        std::make_unique<AskedFile>(RandomBytes(1 << 20, 9), can_prefetch, &asked), "file", {});
    FilePrefetcher p = FilePrefetcher::Adaptive(8192, 16384);
    p.AskAhead();
    for (uint64_t at = 0; at < 50000; at += 4096) {
      ASSERT_TRUE(p.Read(r, at, 4096, 48000, &result, scratch.data()).ok());
    }
    const std::vector<AskedFile::Asked> expected = {{20480, 16384}, {40960, 7040}};
    EXPECT_EQ(asked, can_prefetch
                         ? expected
                         : std::vector<AskedFile::Asked>(expected.begin(), expected.begin() + 1));
  }
}

// num_file_reads_for_auto_readahead.
TEST(FilePrefetcherTest, ReadsAheadAfterSoManyReadsAsAreAskedFor) {
  std::string scratch(4096, '\0');
  Slice result;
  for (const uint64_t reads : {0, 1, 2, 3, 5}) {
    SCOPED_TRACE(reads);
    std::vector<AskedFile::Asked> asked;
    const RandomAccessFileReader r(
        std::make_unique<AskedFile>(RandomBytes(1 << 20, 9), false, &asked), "file", {});
    FilePrefetcher p = FilePrefetcher::Adaptive(8192, 65536, reads);
    for (const uint64_t base : {0, 500000}) {  // a jump starts the count anew
      for (uint64_t i = 1; i <= 5; i++) {
        const uint64_t at = base + i * 4096;
        ASSERT_TRUE(p.Read(r, at, 4096, 1 << 20, &result, scratch.data()).ok());
        EXPECT_EQ(p.Holds(at, 4096), i > reads) << "read number " << i;
      }
    }
  }
}

TEST(FilePrefetcherTest, AScanGoesOnInTheNextFile) {
  std::string scratch(4096, '\0');
  Slice result;
  std::vector<AskedFile::Asked> asked;
  const RandomAccessFileReader r(
      std::make_unique<AskedFile>(RandomBytes(1 << 20, 9), false, &asked), "file", {});
  FilePrefetcher p = FilePrefetcher::Adaptive(8192, 65536);
  p.GoOnFrom(32768);
  ASSERT_TRUE(p.Read(r, 1000, 4096, 1 << 20, &result, scratch.data()).ok());
  EXPECT_TRUE(p.Holds(1000, 4096 + 32768));
  EXPECT_EQ(p.readahead(), 65536U);
  // Only the first read goes on from there.
  ASSERT_TRUE(p.Read(r, 500000, 4096, 1 << 20, &result, scratch.data()).ok());
  EXPECT_FALSE(p.Holds(500000, 4096));
  p.GoOnFrom(1 << 20);
  EXPECT_EQ(p.readahead(), 65536U);
}

}  // namespace
}  // namespace varve
