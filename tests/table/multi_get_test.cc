// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/cache.h"
#include "varve/file_system.h"
#include "varve/file_system_wrappers.h"
#include "varve/filter_policy.h"
#include "varve/statistics.h"

#include "table/reader/probe_batch.h"
#include "tests/table/table_harness.h"
#include "util/env/io_ring.h"
#include "util/env/posix_fd.h"
#include "util/mem/bounded_array.h"

namespace varve::test {
namespace {

// A table of key0000, key0002 ... whose blocks hold one entry of 1,000 bytes or a little more.
class TableMultiGetTest : public ::testing::Test {
 protected:
  static constexpr size_t kEntries = 400;

  static std::string Key(size_t i) {
    std::string digits = std::to_string(i);
    return "key" + std::string(4 - digits.size(), '0') + digits;
  }
  static std::string Value(size_t i) { return Key(i) + std::string(1000, 'v'); }

  void SetUp() override {
    BlockTableBuildOptions build;
    build.icmp = &table_.icmp;
    build.table.block_size = 1000;
    build.table.filter_policy.reset(NewBloomFilterPolicy(10));
    BuiltTable built(build);
    ASSERT_TRUE(built.create_status.ok());
    for (size_t i = 0; i < kEntries; i++) built.builder->Add(IKey(Key(2 * i), 1), Value(2 * i));
    ASSERT_TRUE(built.Finish().ok());
    content_ = built.file;
    table_.options.table = build.table;
    table_.options.table.block_cache = NewLRUCache(8 << 20);
    statistics_ = CreateDBStatistics();
    table_.options.statistics = statistics_.get();
  }

  void Open() {
    ASSERT_TRUE(table_.Open(content_).ok());
    *table_.reads = 0;
  }

  // Returns the value or the status of each key; "" for one that is not there.
  std::vector<std::string> Get(const std::vector<size_t>& numbers,
                               const ReadOptions& options = ReadOptions()) {
    std::vector<PinnableSlice> values(numbers.size());
    BoundedArray<PointLookup, kProbesMax> lookups;
    std::vector<TableProbe> probes;
    for (size_t i = 0; i < numbers.size(); i++) {
      lookups.emplace_back(Key(numbers[i]), kMaxSequenceNumber, &values[i]);
      probes.push_back({table_.reader.get(), &lookups.back()});
    }
    reads_ = MultiGetFromTables(options, probes);
    std::vector<std::string> answers;
    for (size_t i = 0; i < numbers.size(); i++) {
      const bool failed = lookups[i].state() == PointLookup::State::kFailed;
      answers.push_back(failed ? lookups[i].status().ToString() : values[i].ToString());
    }
    return answers;
  }

  OpenTable table_;
  std::string content_;
  std::shared_ptr<Statistics> statistics_;
  ProbeReads reads_;
};

TEST_F(TableMultiGetTest, ReadsNeighbouringBlocksAtOnceAndEachOnlyOnce) {
  Open();
  // Three blocks close together, wanted twice, and one far away.
  const std::vector<size_t> numbers = {10, 10, 12, 16, 16, 700};
  const std::vector<std::string> answers = Get(numbers);
  for (size_t i = 0; i < numbers.size(); i++) EXPECT_EQ(Value(numbers[i]), answers[i]);
  EXPECT_EQ(2u, *table_.reads);
  EXPECT_EQ(1u, reads_.tables);
  EXPECT_EQ(4u, reads_.blocks);
  EXPECT_EQ(4u, statistics_->getTickerCount(BLOCK_CACHE_DATA_MISS));
  EXPECT_EQ(4u, statistics_->getTickerCount(BLOCK_CACHE_DATA_ADD));
  HistogramData batches;
  statistics_->histogramData(MULTIGET_IO_BATCH_SIZE, &batches);
  EXPECT_EQ(2.0, batches.max);
  // Now they are cached.
  Get(numbers);
  EXPECT_EQ(2u, *table_.reads);
  EXPECT_EQ(4u, statistics_->getTickerCount(BLOCK_CACHE_DATA_HIT));
}

TEST_F(TableMultiGetTest, WhatIsReadForOthersDoesNotEnterTheCache) {
  Open();
  Get({10, 14});
  EXPECT_EQ(1u, *table_.reads);
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  EXPECT_NE(Value(12), Get({12}, cached)[0]);
}

TEST_F(TableMultiGetTest, TheFilterSparesBlocks) {
  Open();
  std::vector<size_t> absent;
  for (size_t i = 0; i < kProbesMax; i++) absent.push_back(2 * i + 1);
  Get(absent);
  EXPECT_LE(reads_.blocks, 4u);
  EXPECT_GE(statistics_->getTickerCount(BLOOM_FILTER_USEFUL), 28u);
}

TEST_F(TableMultiGetTest, ADamagedBlockFailsItsOwnKeysOnly) {
  // Damages one byte in the middle of the value of key0012.
  const size_t place = content_.find(Value(12));
  ASSERT_NE(std::string::npos, place);
  content_[place + 500] = 'x';
  Open();
  const std::vector<std::string> answers = Get({10, 12, 12, 14});
  EXPECT_EQ(Value(10), answers[0]);
  EXPECT_TRUE(Slice(answers[1]).starts_with("Corruption")) << answers[1];
  EXPECT_EQ(answers[1], answers[2]);
  EXPECT_NE(std::string::npos, answers[1].find("000007.sst"));
  EXPECT_EQ(Value(14), answers[3]);
  ReadOptions trusting;
  trusting.verify_checksums = false;
  EXPECT_EQ(Value(12).size(), Get({10, 12}, trusting)[1].size());
}

TEST_F(TableMultiGetTest, AStrictCacheOfAFewBlocksAnswersEveryKey) {
  BlockTableBuildOptions build;
  build.icmp = &table_.icmp;
  build.table.block_size = 150;
  BuiltTable built(build);
  for (size_t i = 0; i < 64; i++)
    built.builder->Add(IKey(Key(i), 1), Key(i) + std::string(150, 'v'));
  ASSERT_TRUE(built.Finish().ok());
  content_ = built.file;
  LRUCacheOptions cache;
  cache.capacity = 2000;
  cache.num_shard_bits = 0;
  cache.strict_capacity_limit = true;
  table_.options.table.block_cache = cache.MakeSharedCache();
  Open();
  std::vector<size_t> numbers;
  for (size_t i = 0; i < kProbesMax; i++) numbers.push_back(2 * i);
  const std::vector<std::string> answers = Get(numbers);
  for (size_t i = 0; i < numbers.size(); i++) {
    EXPECT_EQ(Key(numbers[i]) + std::string(150, 'v'), answers[i]);
  }
}

TEST_F(TableMultiGetTest, PastTheDeadlineOnlyCachedBlocksAnswer) {
  Open();
  Get({10});
  *table_.reads = 0;
  ReadOptions late;
  late.deadline = std::chrono::microseconds(1);
  const std::vector<std::string> answers = Get({10, 100, 102}, late);
  EXPECT_EQ(Value(10), answers[0]);
  EXPECT_TRUE(Slice(answers[1]).starts_with("Operation timed out")) << answers[1];
  EXPECT_EQ(0u, *table_.reads);
}

TEST_F(TableMultiGetTest, WithoutACacheOrWithAMappedFileItIsTheSame) {
  for (const bool mapped : {false, true}) {
    table_.mapped = mapped;
    table_.options.table.block_cache = nullptr;
    table_.options.table.no_block_cache = true;
    Open();
    const std::vector<size_t> numbers = {0, 1, 2, 2, 300, 302, 798, 799};
    const std::vector<std::string> answers = Get(numbers);
    for (size_t i = 0; i < numbers.size(); i++) {
      EXPECT_EQ(numbers[i] % 2 == 0 ? Value(numbers[i]) : "", answers[i]);
    }
  }
}

// A program's file system that starts reads and makes them when it is polled.
class PolledFileSystem final : public FileSystemWrapper {
 public:
  PolledFileSystem() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "PolledFileSystem"; }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    IOStatus s = FileSystemWrapper::NewRandomAccessFile(path, options, result, dbg);
    if (s.ok()) *result = std::make_unique<File>(std::move(*result), this);
    return s;
  }
  void SupportedOps(int64_t& ops) override { ops = int64_t{1} << FSSupportedOps::kAsyncIO; }
  IOStatus Poll(std::vector<void*>& handles, size_t least) override {
    EXPECT_EQ(least, handles.size());
    most_at_once_ = std::max(most_at_once_, handles.size());
    for (size_t i = 0; i < handles.size(); i++) {
      if (loses_one_ && i == 1) continue;
      auto* const read = static_cast<Started*>(handles[i]);
      FSReadRequest answer;
      answer.status = read->file->Read(read->request->offset, read->request->len, IOOptions(),
                                       &answer.result, read->request->scratch, nullptr);
      read->answer(answer, read->arg);
    }
    return IOStatus::OK();
  }
  IOStatus AbortIO(std::vector<void*>& /*handles*/) override {
    aborts_++;
    return IOStatus::OK();
  }

  size_t most_at_once_ = 0;
  size_t not_deleted_ = 0;
  size_t aborts_ = 0;
  bool loses_one_ = false;

 private:
  struct Started {
    const FSRandomAccessFile* file;
    FSReadRequest* request;
    std::function<void(FSReadRequest&, void*)> answer;
    void* arg;
  };
  class File final : public FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSRandomAccessFile> file, PolledFileSystem* fs)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), fs_(fs) {}
    IOStatus ReadAsync(FSReadRequest& request, const IOOptions& /*options*/,
                       std::function<void(FSReadRequest&, void*)> answer, void* arg, void** handle,
                       IOHandleDeleter* deleter, IODebugContext* /*dbg*/) override {
      *handle = new Started{this, &request, std::move(answer), arg};
      fs_->not_deleted_++;
      *deleter = [fs = fs_](void* started) {
        delete static_cast<Started*>(started);
        fs->not_deleted_--;
      };
      return IOStatus::OK();
    }

   private:
    PolledFileSystem* const fs_;
  };
};

// Tables of the operating system's files: the blocks of all of them are read together.
class TablesMultiGetTest : public TableMultiGetTest {
 protected:
  static constexpr size_t kTables = 3;

  void SetUp() override {
    TableMultiGetTest::SetUp();
    folder_ = ::testing::TempDir() + "tables_" + std::to_string(::getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string Path(size_t t) const { return folder_ + "/" + std::to_string(t); }

  void OpenAll(const std::array<std::string, kTables>& contents, bool direct,
               FileSystem* fs = FileSystem::Default().get()) {
    for (size_t t = 0; t < kTables; t++) {
      std::ofstream(Path(t), std::ios::binary) << contents[t];
      FileOptions file_options;
      file_options.use_direct_reads = direct;
      std::unique_ptr<RandomAccessFileReader> file;
      ASSERT_TRUE(RandomAccessFileReader::Open(fs, Path(t), file_options, {}, &file).ok());
      BlockTableOpenOptions options = table_.options;
      options.file_name = Path(t);
      // Tables of the same content would find each other's blocks in one cache.
      options.table.block_cache = NewLRUCache(8 << 20);
      ASSERT_TRUE(
          BlockTableReader::Open(options, std::move(file), contents[t].size(), &tables_[t]).ok());
    }
  }

  // Returns the answers of all tables for these keys, table by table.
  std::vector<std::string> GetFromAll(const std::vector<size_t>& numbers,
                                      const ReadOptions& options = ReadOptions()) {
    std::vector<PinnableSlice> values(kTables * numbers.size());
    BoundedArray<PointLookup, kProbesMax> lookups;
    std::vector<TableProbe> probes;
    for (const std::unique_ptr<TableReader>& table : tables_) {
      for (const size_t number : numbers) {
        PinnableSlice* const value = &values[lookups.size()];
        lookups.emplace_back(Key(number), kMaxSequenceNumber, value);
        probes.push_back({table.get(), &lookups.back()});
      }
    }
    reads_ = MultiGetFromTables(options, probes);
    std::vector<std::string> answers;
    for (size_t i = 0; i < lookups.size(); i++) {
      const bool failed = lookups[i].state() == PointLookup::State::kFailed;
      answers.push_back(failed ? lookups[i].status().ToString() : values[i].ToString());
    }
    return answers;
  }

  // Returns how many times this process has called read or pread.
  static uint64_t ReadCalls() {
    std::ifstream io("/proc/self/io");
    std::string name;
    uint64_t value = 0;
    while (io >> name >> value) {
      if (name == "syscr:") return value;
    }
    return 0;
  }

  std::string folder_;
  std::unique_ptr<TableReader> tables_[kTables];
};

TEST_F(TablesMultiGetTest, OneBlockOfEachTableIsReadBesideTheOthers) {
  int error = 0;
  if (IoRing::Create(&error) == nullptr) GTEST_SKIP() << "no io_uring here: errno " << error;
  ASSERT_NO_FATAL_FAILURE(OpenAll({content_, content_, content_}, /*direct=*/true));
  const PosixFd file(::open(Path(0).c_str(), O_RDONLY));
  if (IsInMemory(file.get()) || ReadCalls() == 0) GTEST_SKIP() << "in memory, or reads uncounted";
  const uint64_t before = ReadCalls();
  const uint64_t of_counting = ReadCalls() - before;
  const std::vector<std::string> answers = GetFromAll({10});
  EXPECT_EQ(before + 2 * of_counting, ReadCalls()) << "a table's block was read alone";
  EXPECT_EQ(3u, reads_.blocks);
  for (const std::string& answer : answers) EXPECT_EQ(Value(10), answer);
}

TEST_F(TablesMultiGetTest, DamageAndTruncationFailTheirOwnKeysOnly) {
  const std::vector<size_t> numbers = {10, 300, 301, 700};
  std::string damaged = content_;
  const size_t place = damaged.find(Value(300));
  ASSERT_NE(std::string::npos, place);
  damaged[place + 500] = 'x';
  for (const bool direct : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(OpenAll({content_, damaged, content_}, direct));
    // The third table loses its end, from before key 300 on, after it was opened.
    std::filesystem::resize_file(Path(2), place - 2000);
    const std::vector<std::string> answers = GetFromAll(numbers);
    EXPECT_EQ(3u, reads_.tables);
    EXPECT_EQ(9u, reads_.blocks);
    for (size_t i = 0; i < answers.size(); i++) {
      const size_t table = i / numbers.size();
      const size_t number = numbers[i % numbers.size()];
      const bool lost = (table == 1 && number == 300) || (table == 2 && number >= 300);
      if (number == 301) {
        EXPECT_EQ("", answers[i]);
      } else if (!lost) {
        EXPECT_EQ(Value(number), answers[i]);
      } else {
        EXPECT_TRUE(Slice(answers[i]).starts_with("Corruption")) << answers[i];
        EXPECT_NE(answers[i].find(Path(table)), std::string::npos) << answers[i];
      }
    }
  }
}

TEST_F(TablesMultiGetTest, AsynchronousReadsOfAProgramsFileSystemOverlapIfWanted) {
  for (const bool direct : {false, true}) {
    PolledFileSystem fs;
    ReadOptions options;
    // A read without an answer is made again, alone.
    for (const bool loses_one : {false, true}) {
      fs.loses_one_ = loses_one;
      ASSERT_NO_FATAL_FAILURE(OpenAll({content_, content_, content_}, direct, &fs));
      options.async_io = false;
      for (const std::string& answer : GetFromAll({10}, options)) EXPECT_EQ(Value(10), answer);
      EXPECT_EQ(fs.most_at_once_, loses_one ? 6u : 0u) << "asynchronous reads were not asked for";
      options.async_io = true;
      const std::vector<std::string> answers = GetFromAll({20, 700}, options);
      for (size_t i = 0; i < answers.size(); i++) {
        EXPECT_EQ(Value(i % 2 == 0 ? 20 : 700), answers[i]);
      }
      EXPECT_EQ(fs.most_at_once_, 6u);
      EXPECT_EQ(fs.aborts_, loses_one ? 1u : 0u);
      EXPECT_EQ(fs.not_deleted_, 0u);
      for (std::unique_ptr<TableReader>& table : tables_) table.reset();
    }
  }
}

}  // namespace
}  // namespace varve::test
