// SPDX-License-Identifier: Apache-2.0

// A pipeline gives what its reader would have given, whatever the log's size, and can be left at
// any time.

#include "db/recovery/record_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "varve/write_batch.h"

#include "tests/db/wal/log_test_file.h"
#include "tests/harness/random.h"

namespace varve {
namespace {

constexpr char kPath[] = "/log";
constexpr WALRecoveryMode kMode = WALRecoveryMode::kPointInTimeRecovery;

class RecordPipelineTest : public ::testing::TestWithParam<size_t> {
 protected:
  // A log of about GetParam() bytes: batches of all sizes, and every 50th record is none.
  void SetUp() override {
    testing::Random random(301);
    size_t bytes = 0;
    while (bytes < GetParam()) {
      WriteBatch batch;
      ASSERT_TRUE(batch.Put("key", std::string(random.Below(3000), 'v')).ok());
      records_.push_back(records_.size() % 50 == 49 ? "no batch" : batch.Data());
      bytes += records_.back().size();
    }
    log_ = LogBytes(records_);
  }

  std::unique_ptr<wal::LogReader> NewReader() {
    std::unique_ptr<WritableFileWriter> out;
    EXPECT_TRUE(WritableFileWriter::Create(&fs_, kPath, FileOptions(), {}, &out).ok());
    EXPECT_TRUE(out->Append(log_).ok());
    EXPECT_TRUE(out->Close().ok());
    std::unique_ptr<SequentialFileReader> file;
    EXPECT_TRUE(SequentialFileReader::Open(&fs_, kPath, FileOptions(), &file).ok());
    return std::make_unique<wal::LogReader>(std::move(file), 1, kPath, nullptr);
  }

  TimestampAdapter adapter_{{}};
  MemFileSystem fs_;
  std::string log_;
  std::vector<std::string> records_;
};

TEST_P(RecordPipelineTest, GivesEveryRecordInOrder) {
  const auto plain = NewReader();
  const auto reader = NewReader();
  RecordPipeline pipeline(reader.get(), &adapter_, kMode, GetParam());
  RecordPipeline::Record record;
  Slice expected;
  std::string scratch;
  for (size_t i = 0; i < records_.size(); i++) {
    ASSERT_TRUE(pipeline.Next(&record)) << i;
    ASSERT_TRUE(plain->ReadRecord(&expected, &scratch, kMode));
    ASSERT_EQ(record.bytes, expected);
    ASSERT_EQ(record.bytes, records_[i]);
    ASSERT_EQ(record.offset, plain->LastRecordOffset());
    ASSERT_EQ(record.structure.ok(), i % 50 != 49);
    ASSERT_FALSE(record.after_hole);
  }
  EXPECT_FALSE(pipeline.Next(&record));
  EXPECT_FALSE(pipeline.Next(&record));
  EXPECT_TRUE(pipeline.status().ok());
}

TEST_P(RecordPipelineTest, RecordsStayUntilOneSaysSo) {
  const auto reader = NewReader();
  RecordPipeline pipeline(reader.get(), &adapter_, kMode, GetParam());
  RecordPipeline::Record record;
  std::vector<Slice> kept;
  size_t first_kept = 0;
  size_t longest = 0;
  while (pipeline.Next(&record)) {
    kept.push_back(record.bytes);
    if (!record.last_to_stay) continue;
    for (size_t i = 0; i < kept.size(); i++) ASSERT_EQ(kept[i], records_[first_kept + i]);
    longest = std::max(longest, kept.size());
    first_kept += kept.size();
    kept.clear();
  }
  EXPECT_TRUE(kept.empty());  // the last one says so, too
  EXPECT_EQ(first_kept, records_.size());
  EXPECT_GT(longest, 1u);
}

TEST_P(RecordPipelineTest, CanBeLeftAnywhere) {
  for (size_t wanted = 0; wanted < records_.size(); wanted += 1 + records_.size() / 7) {
    const auto reader = NewReader();
    RecordPipeline pipeline(reader.get(), &adapter_, kMode, GetParam());
    RecordPipeline::Record record;
    for (size_t i = 0; i < wanted; i++) ASSERT_TRUE(pipeline.Next(&record));
  }
}

TEST_P(RecordPipelineTest, TellsOfAHole) {
  const size_t hole = log_.size() / 2 / wal::kBlockBytes * wal::kBlockBytes;
  log_.replace(hole, wal::kBlockBytes, wal::kBlockBytes, '\0');
  const auto plain = NewReader();
  const auto reader = NewReader();
  RecordPipeline pipeline(reader.get(), &adapter_, kMode, GetParam());
  RecordPipeline::Record record;
  Slice expected;
  std::string scratch;
  while (plain->ReadRecord(&expected, &scratch, kMode)) {
    ASSERT_TRUE(pipeline.Next(&record));
    ASSERT_EQ(record.after_hole, plain->damage().hole) << record.offset;
  }
  EXPECT_FALSE(pipeline.Next(&record));
  EXPECT_TRUE(reader->damage().hole);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RecordPipelineTest,
                         ::testing::Values(size_t{100} << 10, size_t{3} << 20));

}  // namespace
}  // namespace varve
