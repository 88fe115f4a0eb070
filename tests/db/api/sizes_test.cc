// SPDX-License-Identifier: Apache-2.0

// Goal: sizes at the edges. What has one byte, one update, one operand or one tombstone less or
// more than a power of two, or just as many, is written, read, replayed from the log, flushed,
// compacted, and there after reopening. Method: keys, values, batches, operands, tombstones, and
// blocks, arenas and buffers of all such sizes; values are known by length and hash. What takes
// hundreds of megabytes each runs only when VARVE_SIZES_MIB says up to which size
// (tests/README.md); up to 257 MiB always.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/merge_operator.h"
#include "varve/table.h"

#include "tests/harness/database.h"
#include "util/coding/hash.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {
namespace {

size_t cases = 0;
size_t wrong = 0;

// Returns 2^low - 1 to 2^high + 1, without zero.
std::vector<size_t> Edges(int low, int high) {
  std::vector<size_t> sizes;
  for (int k = low; k <= high; k++) {
    for (const size_t n : {(size_t{1} << k) - 1, size_t{1} << k, (size_t{1} << k) + 1}) {
      if (n != 0 && (sizes.empty() || n > sizes.back())) sizes.push_back(n);
    }
  }
  return sizes;
}

// Each KiB is another, and none compresses to nothing.
std::string Filled(size_t size, uint64_t seed) {
  std::string bytes(size, static_cast<char>('a' + seed % 26));
  for (size_t at = 0; at < size; at += 1024) {
    const uint64_t mark = (at + seed) * 0x9e3779b97f4a7c15;
    memcpy(bytes.data() + at, &mark, std::min(sizeof(mark), size - at));
  }
  return bytes;
}

class Appending final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Appending"; }
  bool Merge(const Slice& /*key*/, const Slice* existing, const Slice& value, std::string* result,
             Logger* /*logger*/) const override {
    result->clear();
    result->reserve((existing != nullptr ? existing->size() : 0) + value.size());
    if (existing != nullptr) result->append(existing->data(), existing->size());
    result->append(value.data(), value.size());
    return true;
  }
};

// Compares a database with its expected contents.
class SizesTest : public ::testing::Test {
 protected:
  struct Content {
    size_t size;
    uint64_t hash;
  };

  SizesTest() {
    options_.env = memory_.get();
    options_.create_if_missing = true;
    options_.info_log = SilentLogger();
    options_.merge_operator = std::make_shared<Appending>();
    options_.compression = kNoCompression;
    options_.avoid_flush_during_shutdown = true;
    // The test runs one compaction at a time.
    options_.disable_auto_compactions = true;
  }
  static void TearDownTestSuite() {
    printf("RESULT sizes cases=%zu wrong=%zu lost=0 crash=0 hang=0\n", cases, wrong);
    EXPECT_EQ(wrong, 0u);
  }

  void SetTable(const BlockBasedTableOptions& table) {
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  void Open() {
    db_.reset();
    const Status s = DB::Open(options_, directory_, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void Ok(const Status& s) { EXPECT_TRUE(s.ok()) << s.ToString(); }

  static Content ContentOf(const Slice& bytes) {
    return {bytes.size(), XXH3Hash64(bytes.data(), bytes.size(), 0)};
  }
  void Expect(const std::string& key, const Slice& value) { expected_[key] = ContentOf(value); }

  void Put(const std::string& key, const std::string& value) {
    Ok(db_->Put(WriteOptions(), key, value));
    Expect(key, value);
  }

  void CheckOne(const Slice& key, const Slice& value, const char* how) {
    const auto found = expected_.find(key.ToString());
    cases++;
    const bool right = found != expected_.end() && found->second.size == value.size() &&
                       found->second.hash == XXH3Hash64(value.data(), value.size(), 0);
    if (right) return;
    wrong++;
    ADD_FAILURE() << how << ": key of " << key.size() << " bytes, value of " << value.size();
  }

  // Checks by each way to read.
  void Check(const std::string& stage) {
    SCOPED_TRACE(stage);
    std::vector<Slice> keys;
    for (const auto& [key, content] : expected_) {
      PinnableSlice value;
      const Status s = db_->Get(ReadOptions(), db_->DefaultColumnFamily(), key, &value);
      if (s.ok()) {
        CheckOne(key, value, "Get");
      } else {
        wrong++;
        ADD_FAILURE() << "Get, value of " << content.size << " bytes: " << s.ToString();
      }
      keys.emplace_back(key);
    }
    for (size_t at = 0; at < keys.size(); at += 32) {
      const size_t n = std::min<size_t>(32, keys.size() - at);
      std::vector<PinnableSlice> values(n);
      std::vector<Status> statuses(n);
      db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), n, &keys[at], values.data(),
                    statuses.data());
      for (size_t i = 0; i < n; i++) {
        Ok(statuses[i]);
        if (statuses[i].ok()) CheckOne(keys[at + i], values[i], "MultiGet");
      }
    }
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    size_t seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), seen++) {
      CheckOne(it->key(), it->value(), "Next");
    }
    EXPECT_EQ(seen, expected_.size());
    for (it->SeekToLast(); it->Valid(); it->Prev(), seen--) {
      CheckOne(it->key(), it->value(), "Prev");
    }
    EXPECT_EQ(seen, 0u);
    Ok(it->status());
  }

  // Checks the entries at every stage of a database's life.
  void CheckAllStages() {
    Check("in the memtable");
    Open();
    Check("from the log");
    Ok(db_->Flush(FlushOptions()));
    Check("flushed");
    Ok(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Check("compacted");
    Open();
    Check("opened again");
    Ok(db_->VerifyChecksum());
  }

  const std::unique_ptr<Env> memory_ = NewCompositeEnv(std::make_shared<MemFileSystem>());
  std::string directory_ = "/sizes";
  Options options_;
  std::unique_ptr<DB> db_;
  std::map<std::string, Content> expected_;
};

TEST_F(SizesTest, KeysAndValues) {
  for (int variant = 0; variant < 3; variant++) {
    SCOPED_TRACE(variant);
    BlockBasedTableOptions table;
    if (variant == 1) {
      table.block_size = 1024;
      table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table.metadata_block_size = 1024;
      options_.arena_block_size = 4096;
      options_.wal_compression = kZSTD;
      options_.compression = kZSTD;
    } else if (variant == 2) {
      table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
      table.block_size = 65537;
      table.no_block_cache = true;
      options_.recycle_log_file_num = 2;
      options_.wal_compression = kNoCompression;
      options_.compression = kSnappyCompression;
      options_.memtable_factory = std::make_shared<VectorRepFactory>();
      options_.allow_concurrent_memtable_write = false;
    }
    SetTable(table);
    Open();
    expected_.clear();
    for (const size_t n : Edges(0, 17)) {
      Put("value of " + std::to_string(n), Filled(n, n));
      Put("key" + Filled(n, 7), "of " + std::to_string(n));
      if (n < 5000) Put(Filled(n, 11) + "both", Filled(n, 5));
    }
    Put("", "");
    CheckAllStages();
    db_.reset();
    Ok(DestroyDB(directory_, options_));
  }
}

TEST_F(SizesTest, BatchesOperandsAndTombstones) {
  Open();
  for (const size_t n : Edges(0, 10)) {
    const std::string name = std::to_string(n);
    WriteBatch batch;
    for (size_t i = 0; i < n; i++) {
      const std::string key = "batch" + name + "/" + std::to_string(i);
      const std::string value = std::to_string(n * i);
      Ok(batch.Put(key, value));
      Expect(key, value);
    }
    Ok(db_->Write(WriteOptions(), &batch));
    std::string merged;
    for (size_t i = 0; i < n; i++) {
      const std::string operand = std::to_string(i) + ",";
      Ok(db_->Merge(WriteOptions(), "merged" + name, operand));
      merged += operand;
    }
    Expect("merged" + name, merged);
  }
  // Every second key of a range is deleted, by one tombstone each.
  for (const size_t n : Edges(0, 8)) {
    const std::string name = "range" + std::to_string(n) + "/";
    for (size_t i = 0; i < 2 * n; i++) {
      const std::string key = name + std::to_string(10000 + i);
      if (i % 2 == 0) {
        Ok(db_->Put(WriteOptions(), key, "deleted"));
        Ok(db_->DeleteRange(WriteOptions(), key, key + "+"));
      } else {
        Put(key, key);
      }
    }
  }
  CheckAllStages();
}

TEST_F(SizesTest, BlocksArenasAndBuffers) {
  for (const size_t n : {4095u, 4096u, 4097u, 65535u, 65536u, 65537u, 1048575u, 1048576u}) {
    SCOPED_TRACE(n);
    BlockBasedTableOptions table;
    table.block_size = n;
    table.metadata_block_size = n;
    SetTable(table);
    options_.arena_block_size = n;
    options_.write_buffer_size = std::max<size_t>(n, 65535);
    Open();
    expected_.clear();
    for (size_t i = 0; i < 150; i++) {
      const size_t size = i % 3 == 0 ? n - i : 100 + i;
      Put("key" + std::to_string(1000 + i), Filled(std::min<size_t>(size, 20000), i));
    }
    CheckAllStages();
    db_.reset();
    Ok(DestroyDB(directory_, options_));
  }
}

// A table's first and last key are in one record of the MANIFEST, which is read at the next
// opening.
TEST_F(SizesTest, LongKeysOfOneTable) {
  Open();
  for (const char* last : {"a", "z"}) Put(Filled((size_t{1} << 25) + 1, 3) + last, last);
  Ok(db_->Flush(FlushOptions()));
  Open();
  Check("opened again");
}

// --- Hundreds of megabytes.

class LargeSizesTest : public SizesTest {
 protected:
  static size_t MostBytes() {
    const char* const text = getenv("VARVE_SIZES_MIB");
    return (text != nullptr ? strtoull(text, nullptr, 10) : 0) << 20;
  }

  // Uses a disk if there are several sizes, as files in memory exist twice.
  LargeSizesTest() {
    if (MostBytes() != 0) {
      const char* const base = getenv("TEST_TMPDIR");
      directory_ =
          std::string(base != nullptr ? base : "/tmp") + "/varve_sizes_" + std::to_string(getpid());
      options_.env = Env::Default();
    }
    options_.write_buffer_size = size_t{64} << 20;
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    SetTable(table);
  }

  ~LargeSizesTest() override {
    db_.reset();
    DestroyDB(directory_, options_).PermitUncheckedError();
  }

  void Read(const std::string& key, const char* stage) {
    SCOPED_TRACE(stage);
    PinnableSlice value;
    const Status s = db_->Get(ReadOptions(), db_->DefaultColumnFamily(), key, &value);
    Ok(s);
    wrong += s.ok() ? 0 : 1;
    if (s.ok()) CheckOne(key, value, "Get");
    value.Reset();
    if (MostBytes() == 0) return;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(key);
    EXPECT_TRUE(it->Valid()) << it->status().ToString();
    if (it->Valid()) CheckOne(it->key(), it->value(), "Seek");
  }

  void Compact() {
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    Ok(db_->CompactRange(force, nullptr, nullptr));
  }
};

// One value fits only into a block above 256 MiB, and another grows to that by merging.
TEST_F(LargeSizesTest, AValueAbove256MiB) {
  constexpr size_t kBytes = (size_t{1} << 28) + 1;
  Open();
  const std::string value = Filled(kBytes, 1);
  Expect("large", value);
  WriteOptions unlogged;  // a log is a matter of the long run
  unlogged.disableWAL = true;
  Ok(db_->Put(unlogged, "large", value));
  Ok(db_->Flush(FlushOptions()));
  Read("large", "flushed");
  Open();
  Read("large", "opened again");
}

TEST_F(LargeSizesTest, AMergeThatGrowsAbove256MiB) {
  if (MostBytes() == 0) GTEST_SKIP() << "VARVE_SIZES_MIB is not set";
  const std::string half = Filled((size_t{1} << 27) + 1, 2);
  Open();
  for (int i = 0; i < 2; i++) {
    Ok(db_->Merge(WriteOptions(), "grown", half));
    Ok(db_->Flush(FlushOptions()));
  }
  Expect("grown", half + half);
  Compact();
  Read("grown", "compacted");
  Open();
  Read("grown", "opened again");
}

TEST_F(LargeSizesTest, ValuesUpToTheSizeAskedFor) {
  if (MostBytes() == 0) GTEST_SKIP() << "VARVE_SIZES_MIB is not set";
  for (const size_t n : Edges(28, 31)) {
    if (n > MostBytes() + 1) break;
    SCOPED_TRACE(n);
    expected_.clear();
    Open();
    Put("large", Filled(n, n));
    Read("large", "in the memtable");
    Open();
    Read("large", "from the log");
    Ok(db_->Flush(FlushOptions()));
    Read("large", "flushed");
    Compact();
    Read("large", "compacted");
    Open();
    Read("large", "opened again");
    db_.reset();
    Ok(DestroyDB(directory_, options_));
  }
}

TEST_F(LargeSizesTest, ABatchThatACompressedLogCannotHoldIsRefused) {
  if (MostBytes() < size_t{1} << 30) GTEST_SKIP() << "VARVE_SIZES_MIB is not 1024";
  options_.wal_compression = kZSTD;
  Open();
  WriteBatch batch;
  const std::string value(size_t{1} << 30, 'v');
  for (const char* key : {"a", "b", "c", "d"}) Ok(batch.Put(key, value));
  const Status s = db_->Write(WriteOptions(), &batch);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  Put("k", "writes go on");
  Open();
  Read("k", "opened again");
}

// Keys so long that the index, or the block of range tombstones, is above 256 MiB.
TEST_F(LargeSizesTest, IndexesAndTombstonesAbove256MiB) {
  if (MostBytes() == 0) GTEST_SKIP() << "VARVE_SIZES_MIB is not set";
  const std::string prefix = Filled(size_t{68} << 20, 3);
  Open();
  for (const char* last : {"a", "b", "c", "d"}) {
    Put(prefix + last, "of " + std::string(last));
    Ok(db_->Flush(FlushOptions()));
  }
  Compact();
  Open();
  for (const auto& [key, content] : expected_) Read(key, "a long index");
  expected_.clear();
  db_.reset();
  Ok(DestroyDB(directory_, options_));
  Open();
  for (const char* begin : {"e", "f"}) {
    Ok(db_->DeleteRange(WriteOptions(), prefix + begin, prefix + begin + "+"));
  }
  Put("z", "last");
  Ok(db_->Flush(FlushOptions()));
  Open();
  Read("z", "long tombstones");
}

}  // namespace
}  // namespace varve::testing
