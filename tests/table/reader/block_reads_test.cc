// SPDX-License-Identifier: Apache-2.0

// Goal: bytes that a read of several blocks has handed over are not handed out again. Method: the
// index of a damaged table, which names one place twice.

#include "table/reader/block_reads.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "util/env/mem_file_system.h"
#include "util/env/writable_file_writer.h"

namespace varve {
namespace {

TEST(BlockReadsTest, APlaceThatIsNamedTwiceIsHandedOverOnce) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> writer;
  ASSERT_TRUE(WritableFileWriter::Create(&fs, "/table", FileOptions(), {}, &writer).ok());
  const BlockHandle block{0, 2 * BlockReads::kRequestBytesMax};
  ASSERT_TRUE(writer->Append(std::string(block.size + kBlockTrailerBytes, 'b')).ok());
  ASSERT_TRUE(writer->Close().ok());
  std::unique_ptr<RandomAccessFileReader> file;
  ASSERT_TRUE(RandomAccessFileReader::Open(&fs, "/table", FileOptions(), {}, &file).ok());

  BlockReads reads(*file, IOOptions(), BlockRoom());
  reads.Add(block);
  reads.Add(block);
  ASSERT_EQ(reads.requests(), 2u);
  BlockReads::Run({&reads, 1});
  Slice bytes;
  uint64_t offset = 1;
  {
    BlockBuffer first;
    ASSERT_TRUE(reads.Find(block, &bytes, &offset, &first));
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(bytes.size(), block.size + kBlockTrailerBytes);
    EXPECT_EQ(bytes[bytes.size() - 1], 'b');
    EXPECT_NE(first, nullptr);
  }
  BlockBuffer second;
  EXPECT_FALSE(reads.Find(block, &bytes, &offset, &second));
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace varve
