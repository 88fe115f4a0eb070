// SPDX-License-Identifier: Apache-2.0

// Goal: each ticker and histogram is fed, or stands here among those whose event cannot occur; and
// no duration is recorded at a level that has none.

#include <gmock/gmock.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/file_checksum.h"
#include "varve/filter_policy.h"
#include "varve/merge_operator.h"
#include "varve/metadata.h"
#include "varve/rate_limiter.h"
#include "varve/slice_transform.h"
#include "varve/sst_file_writer.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/transaction_log.h"
#include "varve/utilities/optimistic_transaction_db.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using Numbers = std::set<uint32_t>;

// Adds the entries of a name's group of the map.
template <typename Map>
void AddGroup(const Map& names, const std::string& group, Numbers* numbers) {
  for (const auto& [number, name] : names) {
    if (name.find(group) != std::string::npos) numbers->insert(number);
  }
}

Numbers TickersThatStayZero() {
  Numbers none = {
      // A table's dictionary lives with the table; of two threads that read a block, one has its
      // block in the cache, and the other's is not counted.
      BLOCK_CACHE_COMPRESSION_DICT_MISS, BLOCK_CACHE_COMPRESSION_DICT_HIT,
      BLOCK_CACHE_COMPRESSION_DICT_ADD, BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT,
      BLOCK_CACHE_ADD_REDUNDANT, BLOCK_CACHE_INDEX_ADD_REDUNDANT, BLOCK_CACHE_FILTER_ADD_REDUNDANT,
      BLOCK_CACHE_DATA_ADD_REDUNDANT, BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT,
      // These belong to refused features: caches of rows, on disk or simulated, updates in place,
      // estimates of read amplification, styles of compaction.
      PERSISTENT_CACHE_HIT, PERSISTENT_CACHE_MISS, SIM_BLOCK_CACHE_HIT, SIM_BLOCK_CACHE_MISS,
      ROW_CACHE_HIT, ROW_CACHE_MISS, NUMBER_KEYS_UPDATED, READ_AMP_ESTIMATE_USEFUL_BYTES,
      READ_AMP_TOTAL_READ_BYTES, SST_USER_DEFINED_INDEX_LOAD_FAIL_COUNT, FIFO_MAX_SIZE_COMPACTIONS,
      FIFO_TTL_COMPACTIONS, FIFO_CHANGE_TEMPERATURE_COMPACTIONS,
      // Each writer inserts its own batch. Transactions have no such mutexes and never ask to be
      // tried again; no batch becomes a memtable.
      WRITE_DONE_BY_OTHER, TXN_PREPARE_MUTEX_OVERHEAD, TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD,
      TXN_DUPLICATE_KEY_OVERHEAD, TXN_SNAPSHOT_MUTEX_OVERHEAD, TXN_GET_TRY_AGAIN,
      NUMBER_WBWI_INGEST,
      // Reads are not repeated when they meet damage, nor asynchronous. Tables are opened for their
      // properties.
      FILE_READ_CORRUPTION_RETRY_COUNT, FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT,
      MULTIGET_COROUTINE_COUNT, READ_ASYNC_MICROS, ASYNC_READ_ERROR_COUNT,
      NUMBER_DIRECT_LOAD_TABLE_PROPERTIES,
      // Backups are made by an engine of their own, and tested there.
      BACKUP_READ_BYTES, BACKUP_WRITE_BYTES,
      // These belong to missing features.
      REMOTE_COMPACT_READ_BYTES, REMOTE_COMPACT_WRITE_BYTES, REMOTE_COMPACT_RESUMED_BYTES,
      COMPACTION_ABORTED, PREFETCH_MEMORY_BYTES_GRANTED, PREFETCH_MEMORY_BYTES_RELEASED,
      PREFETCH_MEMORY_REQUESTS_BLOCKED, MANIFEST_VALIDATION_FAILURE_COUNT,
      FILE_SUBMIT_ASYNC_READ_FALLBACK};
  // Nor are these counted: logs are made when they are wanted, a limiter counts for itself, and
  // checkpoints are tested with copies.
  for (const char* group : {"wal.precreate", "rate.limiter.", "read.path.range.tombstones",
                            "file.open.metadata", "checkpoint"}) {
    AddGroup(TickersNameMap, group, &none);
  }
  AddGroup(TickersNameMap, "blobdb", &none);
  AddGroup(TickersNameMap, "blob_db", &none);
  AddGroup(TickersNameMap, "secondary.cache", &none);
  AddGroup(TickersNameMap, "multiscan", &none);
  return none;
}

Numbers HistogramsThatStayEmpty() {
  Numbers none = {ASYNC_READ_BYTES, POLL_WAIT_MICROS, ASYNC_PREFETCH_ABORT_MICROS,
                  // Flushes do not read, and tables are opened when they are wanted.
                  FILE_READ_FLUSH_MICROS, FILE_READ_DB_OPEN_MICROS};
  for (const char* group :
       {"iodispatcher", "block.key.distribution", "rate.limiter.wait", "open.and.compact"}) {
    AddGroup(HistogramsNameMap, group, &none);
  }
  AddGroup(HistogramsNameMap, "blobdb", &none);
  AddGroup(HistogramsNameMap, "blob_db", &none);
  AddGroup(HistogramsNameMap, "multiscan", &none);
  return none;
}

// Lists tickers that other tests raise: it takes time, luck, or files of another engine.
Numbers TickersFedElsewhere() {
  return {FLUSH_REASON_WRITE_BUFFER_FULL,
          FLUSH_REASON_WRITE_BUFFER_MANAGER,
          FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
          ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL,
          ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER,
          ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
          ATOMIC_FLUSH_REQUEST_REASON_OTHER,
          STALL_MICROS,
          DB_MUTEX_WAIT_MICROS,
          TABLE_OPEN_PREFETCH_TAIL_MISS,
          TIMESTAMP_FILTER_TABLE_CHECKED,
          TIMESTAMP_FILTER_TABLE_FILTERED,
          FILES_MARKED_TRASH,
          FILES_DELETED_FROM_TRASH_QUEUE,
          BLOCK_CACHE_ADD_FAILURES,
          COMPACT_READ_BYTES_MARKED,
          COMPACT_WRITE_BYTES_MARKED,
          COMPACTION_CANCELLED,
          COMPACT_READ_BYTES_PERIODIC,
          COMPACT_READ_BYTES_TTL,
          COMPACT_WRITE_BYTES_PERIODIC,
          COMPACT_WRITE_BYTES_TTL,
          HOT_FILE_READ_BYTES,
          HOT_FILE_READ_COUNT,
          WARM_FILE_READ_BYTES,
          WARM_FILE_READ_COUNT,
          COOL_FILE_READ_BYTES,
          COOL_FILE_READ_COUNT,
          COLD_FILE_READ_BYTES,
          COLD_FILE_READ_COUNT,
          ICE_FILE_READ_BYTES,
          ICE_FILE_READ_COUNT};
}

Numbers HistogramsFedElsewhere() {
  return {WRITE_STALL, FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES,
          FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES};
}

// Fails to merge keys that end with 7; for others it keeps the newest operand.
class PickyMerge final : public MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.key.ends_with("7")) return false;
    out->new_value = in.operand_list.back().ToString();
    return true;
  }
  const char* Name() const override { return "PickyMerge"; }
};

// Removes keys that end with 3.
class PickyFilter final : public CompactionFilter {
 public:
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return key.ends_with("3");
  }
  const char* Name() const override { return "PickyFilter"; }
};

std::string Key(int i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

// Returns a value of which half compresses well, half not at all.
std::string Value(int i) {
  if (i % 2 == 0) return std::string(300, 'v');
  std::string value(300, 0);
  uint64_t state = static_cast<uint64_t>(i) + 1;
  for (char& c : value) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return value;
}

class StatisticsFedTest : public Database {
 protected:
  StatisticsFedTest() {
    statistics_->set_stats_level(kAll);
    options_.statistics = statistics_;
    options_.merge_operator = std::make_shared<PickyMerge>();
    options_.compaction_filter = &filter_;
    options_.prefix_extractor.reset(NewFixedPrefixTransform(6));
    options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
    options_.compression_per_level = {kNoCompression, kZlibCompression};
    options_.disable_auto_compactions = true;
    options_.num_levels = 4;
    options_.max_sequential_skip_in_iterations = 2;
    options_.rate_limiter.reset(NewGenericRateLimiter(8 << 20, 1000));
    options_.memtable_prefix_bloom_size_ratio = 0.1;
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.block_cache = cache_;
    table.cache_index_and_filter_blocks = true;
    table.block_size = 1024;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  // Puts a hundred keys into each level.
  void Fill() {
    for (int level = 3; level >= 0; level--) {
      const int first = 100 * level;
      for (int i = first; i < first + 100; i++) Put(Key(i), Value(i));
      Flush();
      for (int i = first; i < first + 40; i++) {
        ASSERT_TRUE(db()->Merge(WriteOptions(), Key(i), "m").ok());
      }
      Put(Key(first + 41), Value(0));
      Delete(Key(first + 90));
      ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), Key(first + 50),
                                    Key(first + 60))
                      .ok());
      Flush();
      if (level == 0) break;
      std::vector<LiveFileMetaData> files;
      db()->GetLiveFilesMetaData(&files);
      std::vector<std::string> in_l0;
      for (const LiveFileMetaData& file : files) {
        if (file.level == 0) in_l0.push_back(file.name);
      }
      ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), in_l0, level).ok());
    }
    EXPECT_EQ(Levels(), "2,1,1,1");
  }

  // A deletion goes early: its key is in no deeper table, but others of the compaction are.
  void CompactInPieces() {
    const std::unique_ptr<Iterator> keeps_the_super_version(db()->NewIterator(ReadOptions()));
    Delete(Key(150) + "x");
    Put("zzz", "z");
    Flush();
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::vector<std::string> in_l0;
    for (const LiveFileMetaData& file : files) {
      if (file.level == 0) in_l0.push_back(file.name);
    }
    CompactionOptions pieces;
    pieces.max_subcompactions = 2;
    ASSERT_TRUE(db()->CompactFiles(pieces, in_l0, 1).ok());
  }

  void Read() {
    for (int i = 0; i < 10; i++) Put(Key(0), Value(i));  // versions to step over
    for (int i = 0; i < 400; i++) Get(Key(i));
    for (int i = 0; i < 200; i++) Get(Key(i) + "x");
    cache_->EraseUnRefEntries();
    std::vector<std::string> names;
    for (int i = 0; i < 60; i++) names.push_back(Key(5 * i));
    const std::vector<Slice> keys(names.begin(), names.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db()->MultiGet(ReadOptions(), db()->DefaultColumnFamily(), keys.size(), keys.data(),
                   values.data(), statuses.data());
    ReadOptions options;
    const std::string end = Key(200);
    const Slice bound = end;
    options.iterate_upper_bound = &bound;
    options.auto_readahead_size = true;
    options.total_order_seek = true;
    options.fill_cache = false;
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    options.iterate_upper_bound = nullptr;
    const std::unique_ptr<Iterator> everything(db()->NewIterator(options));
    for (int i = 0; i < 400; i += 3) everything->Seek(Key(i));
    for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
    for (it->SeekToLast(); it->Valid(); it->Prev()) continue;
    ReadOptions by_prefix;
    by_prefix.prefix_same_as_start = true;
    const std::unique_ptr<Iterator> found(db()->NewIterator(by_prefix));
    for (int i = 0; i < 400; i += 3) found->Seek(Key(i));
    for (int i = 0; i < 100; i++) found->Seek("kex" + Key(i));
    ASSERT_TRUE(db()->VerifyChecksum().ok());
    ASSERT_TRUE(db()->VerifyFileChecksums(ReadOptions()).ok());
    std::unique_ptr<TransactionLogIterator> updates;
    db()->GetUpdatesSince(0, &updates).PermitUncheckedError();
  }

  void WriteInOtherWays() {
    WriteOptions durable;
    durable.sync = true;
    ASSERT_TRUE(db()->Put(durable, Key(1), Value(1)).ok());
    OptimisticTransactionDB* other = nullptr;
    Options options = options_;
    options.create_if_missing = true;
    ASSERT_TRUE(OptimisticTransactionDB::Open(options, "/transactions", &other).ok());
    const std::unique_ptr<OptimisticTransactionDB> closes(other);
    const std::unique_ptr<Transaction> txn(other->BeginTransaction(WriteOptions()));
    ASSERT_TRUE(txn->Put("a", "1").ok());
    ASSERT_TRUE(txn->Commit().ok());
  }

  void TakeInATable() {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_TRUE(writer.Open("/outside.sst").ok());
    ASSERT_TRUE(writer.Put("of a program", "1").ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(db()->IngestExternalFile({"/outside.sst"}, IngestExternalFileOptions()).ok());
  }

  // A flush that fails, and is tried again until it does not.
  void FailAndRecover() {
    FaultRule rule;
    rule.calls = Only(FaultCall::kWrite);
    rule.path_contains = ".sst";
    rule.retryable = true;
    rule.sticky = true;
    faults().Inject(rule);
    Put(Key(2), Value(2));
    EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
    faults().ClearFaults();
    EXPECT_TRUE(Eventually(
        [&] { return statistics_->getTickerCount(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT) > 0; }));
  }

  // Meets a damaged block, a damaged footer, and a table that cannot be opened.
  void MeetDamage() {
    FaultRule rule;
    rule.calls = Only(FaultCall::kRead);
    rule.path_contains = ".sst";
    rule.sticky = true;
    rule.effect = FaultEffect::kCorruptRead;
    for (int i = 0; i < 3; i++) {  // whichever block it is that has the flipped bit
      faults().Inject(rule);
      EXPECT_FALSE(db()->VerifyChecksum().ok());
      faults().ClearFaults();
      ASSERT_TRUE(db()->VerifyChecksum().ok());
    }
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    ASSERT_FALSE(files.empty());
    const std::string path = std::string(kName) + files.front().name;
    ASSERT_TRUE(Close().ok());
    const std::string whole = ReadFile(path);
    WriteFile(path, whole.substr(0, whole.size() - 1) + "?");
    EXPECT_TRUE(TryOpen().IsCorruption());
    WriteFile(path, whole);
    rule.calls = Only(FaultCall::kOpenRead);
    rule.effect = FaultEffect::kIoError;
    faults().Inject(rule);
    EXPECT_FALSE(TryOpen().ok() && db()->VerifyChecksum().ok());
    faults().ClearFaults();
  }

  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  const std::shared_ptr<Cache> cache_ = NewLRUCache(64 << 10, 0);
  const PickyFilter filter_;
};

TEST_F(StatisticsFedTest, EachIsFedOrCannotBe) {
  options_.bgerror_resume_retry_interval = 1000;
  Open();
  Fill();
  Read();
  CompactInPieces();
  WriteInOtherWays();
  TakeInATable();
  Kill();
  Open();
  FailAndRecover();
  MeetDamage();
  std::string missing;
  const Numbers zero = TickersThatStayZero();
  const Numbers elsewhere = TickersFedElsewhere();
  for (const auto& [ticker, name] : TickersNameMap) {
    const uint64_t count = statistics_->getTickerCount(ticker);
    if (zero.count(ticker) != 0) {
      EXPECT_EQ(count, 0u) << name << " is fed";
    } else if (count == 0 && elsewhere.count(ticker) == 0) {
      missing += name + "\n";
    }
  }
  const Numbers empty = HistogramsThatStayEmpty();
  const Numbers filled_elsewhere = HistogramsFedElsewhere();
  for (const auto& [histogram, name] : HistogramsNameMap) {
    HistogramData data;
    statistics_->histogramData(histogram, &data);
    if (empty.count(histogram) != 0) {
      EXPECT_EQ(data.count, 0u) << name << " is fed";
    } else if (data.count == 0 && filled_elsewhere.count(histogram) == 0) {
      missing += name + "\n";
    }
  }
  EXPECT_EQ(missing, "");
}

TEST_F(StatisticsFedTest, LevelsWithoutTimesHaveNone) {
  statistics_->set_stats_level(kExceptTimers);
  Open();
  Fill();
  Read();
  CompactInPieces();
  WriteInOtherWays();
  TakeInATable();
  std::string times;
  for (const auto& [histogram, name] : HistogramsNameMap) {
    HistogramData data;
    statistics_->histogramData(histogram, &data);
    const bool is_time = name.ends_with("micros") || name.ends_with("nanos");
    if (is_time && data.count != 0) times += name + "\n";
  }
  EXPECT_EQ(times, "");
  HistogramData sizes;
  statistics_->histogramData(BYTES_PER_READ, &sizes);
  EXPECT_GT(sizes.count, 0u);
}

}  // namespace
}  // namespace varve::testing
