// SPDX-License-Identifier: Apache-2.0

// Compares tables whose blocks go through a pipeline with the same tables written by one thread;
// and tests a file that fails, throws, or is given up on the way.

#include "table/builder/block_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/table/table_file.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::Bytewise;
using test::Entries;
using test::IKey;
using test::TableParts;

BlockTableBuildOptions OptionsFor(CompressionType codec, uint32_t threads) {
  BlockTableBuildOptions options;
  options.icmp = &Bytewise();
  options.file_number = 9;
  options.compression = codec;
  options.compression_opts.parallel_threads = threads;
  return options;
}

// About 1 MB, in which stretches that compress well and stretches that do not take turns.
Entries MixedEntries() {
  Entries entries;
  uint64_t state = 12345;
  for (int i = 0; i < 8000; i++) {
    std::string value(100, static_cast<char>('a' + i % 7));
    if (i / 500 % 2 == 1) {
      for (char& c : value) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        c = static_cast<char>(state >> 56);
      }
    }
    entries.emplace_back(IKey("key" + std::to_string(1000000 + i), 5), value);
  }
  return entries;
}

std::string FileOf(const BlockTableBuildOptions& options, const Entries& entries) {
  BuiltTable table(options);
  EXPECT_TRUE(table.create_status.ok()) << table.create_status.ToString();
  for (const auto& [key, value] : entries) table.builder->Add(key, value);
  const Status s = table.Finish();
  EXPECT_TRUE(s.ok()) << s.ToString();
  return table.file;
}

TEST(BlockPipeline, TheFileIsTheSameWithAnyNumberOfThreads) {
  const Entries entries = MixedEntries();
  const std::function<void(BlockTableBuildOptions*)> variations[] = {
      [](BlockTableBuildOptions*) {},
      [](BlockTableBuildOptions* o) { o->table.block_size = 300; },
      [](BlockTableBuildOptions* o) { o->table.block_size = 200000; },
      [](BlockTableBuildOptions* o) { o->table.verify_compression = true; },
      [](BlockTableBuildOptions* o) { o->table.format_version = 6; },
      [](BlockTableBuildOptions* o) { o->table.super_block_alignment_size = 16384; },
      [](BlockTableBuildOptions* o) {
        o->compression_opts.max_dict_bytes = 4096;
        o->compression_opts.max_dict_buffer_bytes = 100000;
      },
      [](BlockTableBuildOptions* o) {
        o->table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      },
  };
  for (const CompressionType codec : {kLZ4Compression, kZSTD, kSnappyCompression}) {
    for (const auto& vary : variations) {
      BlockTableBuildOptions options = OptionsFor(codec, 0);
      vary(&options);
      const std::string expected = FileOf(options, entries);
      for (const uint32_t threads : {1u, 2u, 5u, 1000u}) {
        options.compression_opts.parallel_threads = threads;
        EXPECT_EQ(FileOf(options, entries) == expected, true) << "threads " << threads;
      }
      TableParts parts;
      ASSERT_TRUE(parts.Open(expected).ok());
      Entries read;
      ASSERT_TRUE(parts.ReadAll(&read).ok());
      EXPECT_EQ(read, entries);
    }
  }
}

// Returns where a writer of several files would end this one, for each target size.
std::vector<size_t> CutPoints(uint32_t threads, const Entries& entries) {
  std::vector<size_t> cuts;
  for (const uint64_t target : {50000u, 100000u, 300000u, 500001u, 77777777u}) {
    BuiltTable table(OptionsFor(kLZ4Compression, threads));
    size_t i = 0;
    while (i < entries.size() && !table.builder->Reaches(target)) {
      table.builder->Add(entries[i].first, entries[i].second);
      i++;
    }
    cuts.push_back(i);
    EXPECT_TRUE(table.Finish().ok());
    EXPECT_EQ(table.builder->FileSize(), table.file.size());
  }
  return cuts;
}

TEST(BlockPipeline, FilesEndWhereTheyWouldWithoutIt) {
  const Entries entries = MixedEntries();
  const std::vector<size_t> expected = CutPoints(0, entries);
  EXPECT_EQ(expected.back(), entries.size());
  for (int round = 0; round < 5; round++) {
    EXPECT_EQ(CutPoints(1, entries), expected);
    EXPECT_EQ(CutPoints(3, entries), expected);
  }
}

// A file that fails or throws after so many bytes, and notes whether it is touched after that; or
// that takes nothing for a while.
struct BadFileState {
  size_t fails_behind = 0;
  bool throws = false;
  size_t size = 0;
  std::atomic<size_t> later_calls{0};
  std::atomic<bool> closed_to_writers{false};
  std::atomic<bool> held{false};
};

class BadFile final : public FSWritableFile {
 public:
  explicit BadFile(BadFileState* state) : state_(state) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    while (state_->held) std::this_thread::yield();
    if (state_->closed_to_writers) state_->later_calls++;
    if (state_->size >= state_->fails_behind) {
      state_->closed_to_writers = true;
      if (state_->throws) throw std::runtime_error("disk on fire");
      return IOStatus::IOError("disk full");
    }
    state_->size += data.size();
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  BadFileState* const state_;
};

std::unique_ptr<WritableFileWriter> WriterOf(BadFileState* state) {
  WritableFileWriter::Options options;
  options.max_buffer_size = 4096;
  return std::make_unique<WritableFileWriter>(std::make_unique<BadFile>(state), "bad.sst", options);
}

TEST(BlockPipeline, AFailedWriteEndsTheTable) {
  const Entries entries = MixedEntries();
  for (const uint32_t threads : {1u, 3u}) {
    BadFileState state;
    state.fails_behind = 200000;
    const auto writer = WriterOf(&state);
    std::unique_ptr<TableBuilder> builder;
    ASSERT_TRUE(
        BlockTableBuilder::Create(OptionsFor(kLZ4Compression, threads), writer.get(), &builder)
            .ok());
    for (const auto& [key, value] : entries) builder->Add(key, value);
    // Seen on the way, not only at the end.
    EXPECT_TRUE(builder->status().IsIOError()) << builder->status().ToString();
    EXPECT_TRUE(builder->Finish().IsIOError());
    EXPECT_EQ(state.later_calls, 0u);
  }
}

TEST(BlockPipeline, WhatAFileSystemThrowsBecomesAnError) {
  const Entries entries = MixedEntries();
  BadFileState state;
  state.fails_behind = 200000;
  state.throws = true;
  const auto writer = WriterOf(&state);
  std::unique_ptr<TableBuilder> builder;
  ASSERT_TRUE(BlockTableBuilder::Create(OptionsFor(kZSTD, 2), writer.get(), &builder).ok());
  for (const auto& [key, value] : entries) builder->Add(key, value);
  EXPECT_TRUE(builder->Finish().IsAborted());
  EXPECT_NE(builder->status().ToString().find("disk on fire"), std::string::npos);
}

TEST(BlockPipeline, NobodyTouchesTheFileOfATableThatWasGivenUp) {
  const Entries entries = MixedEntries();
  for (size_t count = 500; count < entries.size(); count += 700) {
    BadFileState state;
    state.fails_behind = SIZE_MAX;
    const auto writer = WriterOf(&state);
    std::unique_ptr<TableBuilder> builder;
    ASSERT_TRUE(BlockTableBuilder::Create(OptionsFor(kZSTD, 2), writer.get(), &builder).ok());
    for (size_t i = 0; i < count; i++) builder->Add(entries[i].first, entries[i].second);
    builder->Abandon();
    state.closed_to_writers = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    builder.reset();
    EXPECT_EQ(state.later_calls, 0u);
  }
}

// However many blocks of the usual size the ring has room for.
TEST(BlockPipeline, LargeBlocksDoNotPileUp) {
  BadFileState state;
  state.fails_behind = SIZE_MAX;
  state.held = true;
  const auto file_writer = WriterOf(&state);
  BlockWriter::Options options;
  options.compression = kLZ4Compression;
  BlockWriter writer(options, file_writer.get());
  BlockPipeline pipeline(&writer, Slice(), 1, 4096);
  std::string block(1 << 20, '\0');
  uint64_t random = 1;
  for (char& c : block) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(random >> 56);
  }
  std::atomic<int> pushed{0};
  std::thread maker([&] {
    for (int i = 0; i < 40; i++, pushed++) EXPECT_TRUE(pipeline.Push(Slice(block)).ok());
    std::deque<BlockPipeline::Written> written;
    EXPECT_TRUE(pipeline.Drain(&written).ok());
    EXPECT_EQ(written.size(), 40u);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(pushed, 2);
  state.held = false;
  maker.join();
  EXPECT_EQ(pushed, 40);
  pipeline.Stop();
}

TEST(BlockPipeline, SaysWhereEachBlockWentAndNeverTooLittleOfTheFile) {
  std::string file;
  WritableFileWriter file_writer(std::make_unique<test::StringFile>(&file), "test.sst",
                                 WritableFileWriter::Options());
  BlockWriter::Options options;
  options.compression = kLZ4Compression;
  BlockWriter writer(options, &file_writer);
  BlockPipeline pipeline(&writer, Slice(), 2, 1000);
  uint64_t end = 0;
  for (int round = 0; round < 20; round++) {
    std::vector<size_t> sizes;
    for (size_t i = 0; i < 100; i++) {
      sizes.push_back(1 + i * 37 % 3000);
      ASSERT_TRUE(pipeline.Push(Slice(std::string(sizes.back(), 'x'))).ok());
      EXPECT_FALSE(pipeline.drained());
    }
    const uint64_t bound = pipeline.bytes_bound();
    std::deque<BlockPipeline::Written> written;
    ASSERT_TRUE(pipeline.Drain(&written).ok());
    EXPECT_TRUE(pipeline.drained());
    ASSERT_EQ(written.size(), sizes.size());
    for (size_t i = 0; i < sizes.size(); i++) {
      EXPECT_EQ(written[i].raw_bytes, sizes[i]);
      EXPECT_EQ(written[i].handle.offset, end);
      end = written[i].handle.offset + written[i].handle.size + kBlockTrailerBytes;
      const bool tiny = sizes[i] < 16;
      EXPECT_EQ(written[i].outcome == BlockWriter::Outcome::kRejected, tiny) << sizes[i];
    }
    EXPECT_GE(bound, end);
    EXPECT_EQ(pipeline.bytes_bound(), end);
  }
  pipeline.Stop();
  ASSERT_TRUE(file_writer.Flush().ok());
  EXPECT_EQ(file.size(), end);
}

}  // namespace
}  // namespace varve
