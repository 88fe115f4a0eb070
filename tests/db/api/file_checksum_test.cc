// SPDX-License-Identifier: Apache-2.0

// Goal: a table's checksum is that of the bytes of its file, comes with it through flushes,
// compactions and openings, and tells of every changed byte; without a factory there are none.
// Block checksums tell of every byte but those that no block and no footer field covers. Method:
// checksums computed beside the engine; one byte changed at a time.

#include "varve/file_checksum.h"

#include <gmock/gmock.h>

#include "varve/filter_policy.h"
#include "varve/table.h"

#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "util/coding/crc32c.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

std::string Crc32cOf(const std::string& bytes) {
  const uint32_t crc = crc32c::Value(bytes.data(), bytes.size());
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>((crc >> shift) & 0xff);
  return text;
}

// Adds bytes; knows its own function only.
class SumFactory final : public FileChecksumGenFactory {
 public:
  class Sum final : public FileChecksumGenerator {
   public:
    void Update(const char* data, size_t n) override {
      for (size_t i = 0; i < n; i++) sum_ += static_cast<unsigned char>(data[i]);
    }
    void Finalize() override {}
    std::string GetChecksum() const override { return std::to_string(sum_); }
    const char* Name() const override { return "Sum"; }

   private:
    uint64_t sum_ = 0;
  };
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) override {
    names.push_back(context.file_name);
    if (throws) throw std::runtime_error("no sum today");
    return std::make_unique<Sum>();
  }
  const char* Name() const override { return "SumFactory"; }

  std::vector<std::string> names;
  bool throws = false;
};

class CreationWatch final : public EventListener {
 public:
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    checksums.push_back(info.file_checksum);
    functions.push_back(info.file_checksum_func_name);
  }
  std::vector<std::string> checksums;
  std::vector<std::string> functions;
};

class FileChecksumTest : public Database {
 protected:
  static std::string Path(const std::string& name) { return std::string(kName) + "/" + name; }
  void ExpectChecksums() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    ASSERT_FALSE(files.empty());
    for (const LiveFileMetaData& file : files) {
      EXPECT_EQ(file.file_checksum_func_name, "FileChecksumCrc32c");
      EXPECT_EQ(file.file_checksum, Crc32cOf(ReadFile(Path(file.relative_filename))));
    }
  }
};

TEST_F(FileChecksumTest, TablesHaveTheirFilesChecksum) {
  const auto watch = std::make_shared<CreationWatch>();
  options_.listeners.push_back(watch);
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  MakeTable({"a", "b"});
  MakeTable({"b", "c"});
  ExpectChecksums();
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  ExpectChecksums();
  ASSERT_EQ(watch->checksums.size(), 3u);
  EXPECT_EQ(watch->checksums[2].size(), 4u);
  EXPECT_EQ(watch->functions[2], "FileChecksumCrc32c");
  Reopen();
  ExpectChecksums();
  const Status s = db()->VerifyFileChecksums(ReadOptions());
  EXPECT_TRUE(s.ok()) << s.ToString();
  ReadOptions late;
  late.deadline = std::chrono::microseconds(1);
  EXPECT_TRUE(db()->VerifyFileChecksums(late).IsTimedOut());
}

TEST_F(FileChecksumTest, WithoutAFactoryThereAreNone) {
  Open();
  MakeTable({"a"});
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].file_checksum, "");
  EXPECT_EQ(files[0].file_checksum_func_name, "");
  const Status s = db()->VerifyFileChecksums(ReadOptions());
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("file_checksum_gen_factory"));
  // Older tables stay without one, and are passed over.
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Reopen();
  EXPECT_TRUE(db()->VerifyFileChecksums(ReadOptions()).ok());
}

TEST_F(FileChecksumTest, EveryChangedByteIsToldOf) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options_.max_open_files = 100;  // or the opening refuses a damaged footer
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  MakeTable({"a", "b"});
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "x", "y").ok());
  Flush();
  ASSERT_TRUE(Close().ok());
  // The verification also reads a filter that no read uses.
  table.filter_policy.reset();
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  const std::string name = Path(Files(kTableFile)[0]);
  const std::string sound = ReadFile(name);
  const size_t first = FirstUnderSanitizer();
  size_t unnoticed = 0;
  for (size_t at = first; at < sound.size(); at += StepUnderSanitizer()) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    WriteFile(name, damaged);
    Open();
    const Status whole = db()->VerifyFileChecksums(ReadOptions());
    ASSERT_TRUE(whole.IsCorruption()) << at;
    if (at == first) {
      EXPECT_THAT(whole.ToString(), HasSubstr(name));
      EXPECT_THAT(whole.ToString(), HasSubstr(Slice(Crc32cOf(sound)).ToString(true)));
      EXPECT_THAT(whole.ToString(), HasSubstr(Slice(Crc32cOf(damaged)).ToString(true)));
    }
    const Status blocks = db()->VerifyChecksum();
    if (blocks.ok()) {
      // The bytes that pad the two handles in the footer have no checksum.
      EXPECT_GE(at, sound.size() - 53) << "VerifyChecksum overlooked it";
      unnoticed++;
    }
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_LE(unnoticed, 40u);
}

TEST_F(FileChecksumTest, OtherFunctionsAndFactories) {
  const auto factory = std::make_shared<SumFactory>();
  options_.file_checksum_gen_factory = factory;
  Open();
  MakeTable({"a"});
  EXPECT_EQ(factory->names, (std::vector<std::string>{Path(Files(kTableFile)[0])}));
  EXPECT_TRUE(db()->VerifyFileChecksums(ReadOptions()).ok());
  ASSERT_TRUE(Close().ok());
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  const Status s = db()->VerifyFileChecksums(ReadOptions());
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("Sum"));
  ASSERT_TRUE(Close().ok());
  factory->throws = true;
  options_.file_checksum_gen_factory = factory;
  Open();
  EXPECT_TRUE(db()->VerifyFileChecksums(ReadOptions()).IsAborted());
  Put("b", "1");
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(Get("b"), "1");
}

TEST_F(FileChecksumTest, AListOfThem) {
  const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
  EXPECT_TRUE(list->InsertOneFileChecksum(7, "x", "f").ok());
  EXPECT_TRUE(list->InsertOneFileChecksum(7, "y", "g").ok());
  std::string checksum;
  std::string function;
  EXPECT_TRUE(list->SearchOneFileChecksum(7, &checksum, &function).ok());
  EXPECT_EQ(checksum + function, "yg");
  EXPECT_TRUE(list->SearchOneFileChecksum(8, &checksum, &function).IsNotFound());
  EXPECT_TRUE(list->SearchOneFileChecksum(7, nullptr, &function).IsInvalidArgument());
  std::vector<uint64_t> numbers;
  std::vector<std::string> checksums;
  std::vector<std::string> functions;
  EXPECT_TRUE(list->GetAllFileChecksums(&numbers, &checksums, &functions).ok());
  EXPECT_EQ(numbers, (std::vector<uint64_t>{7}));
  EXPECT_TRUE(list->RemoveOneFileChecksum(7).ok());
  EXPECT_TRUE(list->RemoveOneFileChecksum(7).IsNotFound());
  EXPECT_EQ(list->size(), 0u);
}

}  // namespace
}  // namespace varve::testing
