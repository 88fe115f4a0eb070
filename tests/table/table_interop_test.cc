// SPDX-License-Identifier: Apache-2.0

// Checks our tables with RocksDB's own sst_dump. Skipped where that program is not installed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

#include "tests/table/table_file.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::IKey;

std::string RunCommand(const std::string& command, int* exit_code) {
  std::string output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
  *exit_code = pclose(pipe);
  return output;
}

size_t CountLines(const std::string& text, const std::string& containing) {
  size_t count = 0;
  for (size_t at = text.find(containing); at != std::string::npos;
       at = text.find(containing, at + 1)) {
    count++;
  }
  return count;
}

class TableInterop : public ::testing::Test {
 protected:
  void SetUp() override {
    int exit_code = 0;
    (void)RunCommand("command -v sst_dump", &exit_code);
    if (exit_code != 0) GTEST_SKIP() << "sst_dump is not installed";
    directory_ =
        std::filesystem::temp_directory_path() / ("varve_interop_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  std::filesystem::path directory_;
};

TEST_F(TableInterop, SstDumpVerifiesAndScansEveryLayout) {
  using Table = BlockBasedTableOptions;
  const std::vector<std::function<void(BlockTableBuildOptions*)>> variations = {
      [](BlockTableBuildOptions*) {},
      [](BlockTableBuildOptions* o) { o->table.format_version = 2; },
      [](BlockTableBuildOptions* o) { o->table.format_version = 3; },
      [](BlockTableBuildOptions* o) {
        o->table.format_version = 4;
        o->table.checksum = kCRC32c;
      },
      [](BlockTableBuildOptions* o) { o->table.checksum = kxxHash; },
      [](BlockTableBuildOptions* o) { o->table.checksum = kxxHash64; },
      [](BlockTableBuildOptions* o) {
        o->table.index_type = Table::kTwoLevelIndexSearch;
        o->table.metadata_block_size = 256;
        o->table.index_block_restart_interval = 4;
      },
      [](BlockTableBuildOptions* o) {
        o->table.index_type = Table::kTwoLevelIndexSearch;
        o->table.partition_filters = true;
        o->table.metadata_block_size = 256;
      },
      [](BlockTableBuildOptions* o) {
        static const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(6));
        o->table.index_type = Table::kHashSearch;
        o->prefix_extractor = extractor.get();
      },
      [](BlockTableBuildOptions* o) { o->table.block_align = true; },
      [](BlockTableBuildOptions* o) { o->table.index_type = Table::kBinarySearchWithFirstKey; },
      [](BlockTableBuildOptions* o) {
        o->table.data_block_index_type = Table::kDataBlockBinaryAndHash;
      },
      [](BlockTableBuildOptions* o) {
        o->table.block_size = 1000;
        o->table.index_block_restart_interval = 8;
        o->table.super_block_alignment_size = 4096;
        o->table.super_block_alignment_space_overhead_ratio = 2;
      },
      [](BlockTableBuildOptions* o) {
        o->compression = kLZ4Compression;
        o->compression_opts.parallel_threads = 2;
        o->table.index_type = Table::kTwoLevelIndexSearch;
        o->table.metadata_block_size = 256;
        o->table.index_block_restart_interval = 8;
        o->table.super_block_alignment_size = 4096;
        o->table.super_block_alignment_space_overhead_ratio = 2;
      },
      [](BlockTableBuildOptions* o) { o->compression = kSnappyCompression; },
      [](BlockTableBuildOptions* o) { o->compression = kLZ4Compression; },
      [](BlockTableBuildOptions* o) { o->compression = kBZip2Compression; },
      [](BlockTableBuildOptions* o) {
        o->compression = kZSTD;
        o->compression_opts.max_dict_bytes = 4096;
        o->compression_opts.zstd_max_train_bytes = 100000;
      },
  };
  const InternalKeyComparator icmp(BytewiseComparator());
  for (size_t v = 0; v < variations.size(); v++) {
    // There is one version per key, then several, so that both forms of index keys occur.
    for (const int versions : {1, 40}) {
      SCOPED_TRACE("variation " + std::to_string(v) + " versions " + std::to_string(versions));
      BlockTableBuildOptions options;
      options.icmp = &icmp;
      options.table.filter_policy.reset(NewBloomFilterPolicy(10));
      options.column_family_name = "default";
      options.db_id = "db";
      options.db_session_id = "5ORSHT3GGKGFEY5MNVDB";
      options.file_number = 5;
      variations[v](&options);
      BuiltTable table(options);
      ASSERT_TRUE(table.create_status.ok()) << table.create_status.ToString();
      constexpr int kKeys = 2000;
      for (int i = 0; i < kKeys; i++) {
        table.builder->Add(IKey("key" + std::to_string(100000 + i / versions),
                                static_cast<SequenceNumber>(kKeys + 1 - i % versions)),
                           "value" + std::to_string(i) + std::string(100, 'x'));
      }
      if (versions == 1) {
        table.builder->AddTombstone(IKey("ra", 8, kTypeRangeDeletion), "rb");
      }
      ASSERT_TRUE(table.Finish().ok());
      const std::string path = directory_ / "000005.sst";
      std::ofstream(path, std::ios::binary) << table.file;

      int exit_code = 0;
      std::string output = RunCommand("sst_dump --file=" + path + " --command=verify", &exit_code);
      EXPECT_EQ(exit_code, 0);
      EXPECT_NE(output.find("The file is ok"), std::string::npos) << output;
      output =
          RunCommand("sst_dump --file=" + path + " --command=check --verify_checksum", &exit_code);
      EXPECT_EQ(exit_code, 0) << output;
      output = RunCommand("sst_dump --file=" + path + " --command=scan", &exit_code);
      EXPECT_EQ(exit_code, 0);
      EXPECT_EQ(CountLines(output, "=> value"), static_cast<size_t>(kKeys))
          << output.substr(0, 500);
      output =
          RunCommand("sst_dump --file=" + path + " --command=none --show_properties", &exit_code);
      EXPECT_EQ(exit_code, 0);
      EXPECT_NE(output.find("filter policy name: bloomfilter"), std::string::npos) << output;
    }
  }
}

}  // namespace
}  // namespace varve
