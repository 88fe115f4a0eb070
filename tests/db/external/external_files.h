// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides files of programs in memory, over a file system that fails on demand.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/env.h"
#include "varve/options.h"
#include "varve/sst_file_writer.h"

#include "table/table_reader.h"
#include "tests/harness/fault_file_system.h"
#include "util/coding/fixed.h"
#include "util/env/mem_file_system.h"
#include "util/env/random_access_file_reader.h"

namespace varve::testing {

class ExternalFiles : public ::testing::Test {
 protected:
  static constexpr char kFile[] = "/ext/a.sst";

  ExternalFiles() {
    EXPECT_TRUE(mem_->CreateDir("/ext", IOOptions(), nullptr).ok());
    options_.env = env_.get();
    options_.compression = kNoCompression;
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    EXPECT_TRUE(mem_->GetChildren("/ext", IOOptions(), &names, nullptr).ok());
    return names;
  }

  // Returns the table, or null after a failure. Its comparator is that of icmp_.
  std::unique_ptr<TableReader> OpenTable(const std::string& path = kFile) {
    uint64_t size = 0;
    EXPECT_TRUE(mem_->GetFileSize(path, IOOptions(), &size, nullptr).ok());
    std::unique_ptr<RandomAccessFileReader> file;
    EXPECT_TRUE(RandomAccessFileReader::Open(mem_.get(), path, FileOptions(),
                                             RandomAccessFileReader::Options(), &file)
                    .ok());
    TableOpenOptions open;
    open.icmp = &icmp_;
    open.factory = options_.table_factory;
    std::unique_ptr<TableReader> table;
    const Status s = TableReader::Open(open, std::move(file), size, &table);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return table;
  }

  // Points as "key@sequence.type=value", with types in hex.
  std::string Points(const TableReader& table) {
    std::string text;
    const ReadOptions options;
    const auto it = table.NewIterator(options, TableIterOptions());
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ParsedInternalKey key;
      EXPECT_TRUE(ParseInternalKey(it->key(), &key));
      text += (text.empty() ? "" : " ") + key.user_key.ToString() + "@" +
              std::to_string(key.sequence) + "." + std::to_string(key.type) + "=" +
              it->value().ToString();
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return text;
  }

  std::shared_ptr<MemFileSystem> mem_ = std::make_shared<MemFileSystem>();
  std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(mem_);
  std::unique_ptr<Env> env_ = NewCompositeEnv(faults_);
  Options options_;
  InternalKeyComparator icmp_{BytewiseComparator()};
};

// Returns the number big-endian, so that numbers sort as keys.
inline std::string NumberKey(uint64_t number) {
  std::string key(8, '\0');
  for (size_t i = 8; i > 0; i--, number >>= 8) key[i - 1] = static_cast<char>(number & 0xff);
  return key;
}

}  // namespace varve::testing
