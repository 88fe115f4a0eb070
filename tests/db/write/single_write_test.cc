// SPDX-License-Identifier: Apache-2.0

// Goal: Put, Delete, SingleDelete and DeleteRange do what a batch of one update does: the same
// bytes in the log, sequences, counts and errors; only without the batch. Method: two databases of
// equal options, one written by those calls, the other by batches; then what a killed process
// leaves.

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "varve/statistics.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "util/compress/codec.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAreArray;

constexpr size_t kBlockBytes = 32768;

struct Update {
  enum Kind { kPut, kDelete, kSingleDelete, kDeleteRange } kind = kPut;
  std::string family = "default";
  std::string key;
  std::string value;  // the end, if it is a range
  WriteOptions options = {};
};

// Records that end everywhere around the ends of blocks, and a mixture of all.
std::vector<Update> MakeUpdates(bool with_disabled_log) {
  std::vector<Update> updates;
  for (size_t i = 0; i < 90; i++) {
    updates.push_back(
        {.key = "block" + std::to_string(i),
         .value = std::string(kBlockBytes - 60 + i % 50, static_cast<char>('a' + i % 26))});
  }
  std::mt19937 random(11);
  const size_t kSizes[] = {0, 1, 100, 2000, 2100, 20000, kBlockBytes, 100000};
  for (size_t i = 0; i < 400; i++) {
    Update update;
    update.kind = static_cast<Update::Kind>(random() % 8 < 4 ? 0 : random() % 4);
    update.family = random() % 3 == 0 ? "other" : "default";
    update.key = std::string(random() % 20 == 0 ? random() % 1500 : 5, 'k') + std::to_string(i);
    if (update.kind == Update::kPut) {
      update.value.assign(kSizes[random() % std::size(kSizes)] + random() % 40, 'v');
    } else if (update.kind == Update::kDeleteRange) {
      update.value = update.key + "z";
    }
    update.options.sync = random() % 10 == 0;
    update.options.disableWAL = with_disabled_log && !update.options.sync && random() % 20 == 0;
    update.options.protection_bytes_per_key = random() % 10 == 0 ? 8 : 0;
    updates.push_back(update);
  }
  return updates;
}

struct LogKind {
  const char* name;
  bool mapped = false;
  bool manual = false;
  size_t recycled = 0;
  CompressionType compression = kNoCompression;
};

std::ostream& operator<<(std::ostream& out, const LogKind& kind) {
  return out << kind.name;
}

struct Outcome {
  std::vector<std::string> logs;
  SequenceNumber sequence = 0;
  std::vector<uint64_t> counts;
  std::string recovered;

  bool operator==(const Outcome&) const = default;
};

class SingleWriteTest : public Database, public ::testing::WithParamInterface<LogKind> {
 protected:
  // Begins with an empty database, which has nothing of the one before.
  void Begin(const LogKind& kind) {
    EXPECT_TRUE(Close().ok());
    Remount(std::make_shared<MemFileSystem>());
    if (kind.mapped) {
      mem().OfferMappedFiles();
      faults().OfferMappedFiles();
    }
    options_.manual_wal_flush = kind.manual;
    options_.recycle_log_file_num = kind.recycled;
    options_.wal_compression = kind.compression;
    options_.avoid_flush_during_recovery = true;
    options_.statistics = CreateDBStatistics();
    Open({"default", "other"});
  }

  Status WriteAlone(const Update& update) {
    ColumnFamilyHandle* const family = Handle(update.family);
    switch (update.kind) {
      case Update::kPut:
        return db()->Put(update.options, family, update.key, update.value);
      case Update::kDelete:
        return db()->Delete(update.options, family, update.key);
      case Update::kSingleDelete:
        return db()->SingleDelete(update.options, family, update.key);
      case Update::kDeleteRange:
        return db()->DeleteRange(update.options, family, update.key, update.value);
    }
    return Status::Corruption("no such update");
  }

  Status WriteAsBatch(const Update& update) {
    ColumnFamilyHandle* const family = Handle(update.family);
    WriteBatch batch;
    Status s;
    switch (update.kind) {
      case Update::kPut:
        s = batch.Put(family, update.key, update.value);
        break;
      case Update::kDelete:
        s = batch.Delete(family, update.key);
        break;
      case Update::kSingleDelete:
        s = batch.SingleDelete(family, update.key);
        break;
      case Update::kDeleteRange:
        s = batch.DeleteRange(family, update.key, update.value);
        break;
    }
    return s.ok() ? db()->Write(update.options, &batch) : s;
  }

  Status Write(const Update& update, bool alone) {
    return alone ? WriteAlone(update) : WriteAsBatch(update);
  }

  Outcome Run(const LogKind& kind, bool alone) {
    Begin(kind);
    for (const Update& update : MakeUpdates(/*with_disabled_log=*/kind.recycled == 0)) {
      const Status s = Write(update, alone);
      EXPECT_TRUE(s.ok()) << s.ToString();
    }
    EXPECT_TRUE(db()->FlushWAL(/*sync=*/false).ok());
    Outcome outcome;
    for (const std::string& name : Files(kWalFile)) {
      std::string bytes = ReadFile(std::string(kName) + "/" + name);
      // The bytes allocated ahead depend on time.
      bytes.resize(bytes.find_last_not_of('\0') + 1);
      outcome.logs.push_back(bytes);
    }
    outcome.sequence = db()->GetLatestSequenceNumber();
    outcome.counts = Counts();
    Kill();
    Open({"default", "other"});
    outcome.recovered = Scan() + " / " + Scan(ReadOptions(), "other");
    return outcome;
  }

  std::vector<uint64_t> Counts() {
    std::vector<uint64_t> counts;
    for (const Tickers ticker : {NUMBER_KEYS_WRITTEN, BYTES_WRITTEN, WAL_FILE_BYTES,
                                 WAL_FILE_SYNCED, WRITE_DONE_BY_SELF, WRITE_WITH_WAL}) {
      counts.push_back(options_.statistics->getTickerCount(ticker));
    }
    for (const Histograms histogram : {BYTES_PER_WRITE, DB_WRITE}) {
      HistogramData data;
      options_.statistics->histogramData(histogram, &data);
      counts.push_back(data.count);
      if (histogram == BYTES_PER_WRITE) counts.push_back(data.sum);
    }
    return counts;
  }
};

TEST_P(SingleWriteTest, LeavesWhatABatchLeaves) {
  if (GetParam().compression != kNoCompression && FindCodec(GetParam().compression) == nullptr) {
    GTEST_SKIP() << "no such codec";
  }
  const Outcome alone = Run(GetParam(), /*alone=*/true);
  const Outcome batches = Run(GetParam(), /*alone=*/false);
  ASSERT_EQ(alone.logs.size(), batches.logs.size());
  for (size_t i = 0; i < alone.logs.size(); i++) {
    ASSERT_EQ(alone.logs[i].size(), batches.logs[i].size());
    ASSERT_TRUE(alone.logs[i] == batches.logs[i]) << "log " << i;
  }
  EXPECT_GT(alone.logs.back().size(),
            GetParam().compression == kNoCompression ? 90 * kBlockBytes : 0);
  EXPECT_EQ(alone.sequence, batches.sequence);
  EXPECT_THAT(alone.counts, ElementsAreArray(batches.counts));
  EXPECT_TRUE(alone.recovered == batches.recovered);
}

TEST_P(SingleWriteTest, IsRefusedAsABatchIs) {
  struct Case {
    const char* name;
    Update update;
  };
  std::vector<Case> cases = {
      {"a reversed range", {.kind = Update::kDeleteRange, .key = "b", .value = "a"}},
      {"a dropped family", {.family = "other", .key = "k", .value = "v"}},
      {"a range in a dropped family",
       {.kind = Update::kDeleteRange, .family = "other", .key = "b", .value = "a"}},
  };
  Update update{.key = "k", .value = "v"};
  update.options.sync = update.options.disableWAL = true;
  cases.push_back({"sync without a log", update});
  update.options = WriteOptions();
  update.options.rate_limiter_priority = Env::IO_LOW;
  cases.push_back({"a priority that is none", update});
  Begin(GetParam());
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  ASSERT_TRUE(db()->DropColumnFamily(Handle("other")).ok());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Status alone = WriteAlone(c.update);
    EXPECT_TRUE(alone.IsInvalidArgument()) << alone.ToString();
    EXPECT_EQ(alone.ToString(), WriteAsBatch(c.update).ToString());
  }
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before);
  EXPECT_TRUE(db()->Put(WriteOptions(), nullptr, "k", "v").IsInvalidArgument());

  // An update of no open family still uses a sequence number, if options ask to ignore it.
  Update ignored{.family = "other", .key = "k", .value = "v"};
  ignored.options.ignore_missing_column_families = true;
  EXPECT_TRUE(WriteAlone(ignored).ok());
  EXPECT_TRUE(WriteAsBatch(ignored).ok());
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before + 2);
  EXPECT_EQ(options_.statistics->getTickerCount(NUMBER_KEYS_WRITTEN), 0u);
}

TEST_P(SingleWriteTest, WithoutKeyOrValue) {
  Begin(GetParam());
  const Slice null(nullptr, 0);
  ASSERT_TRUE(db()->Put(WriteOptions(), null, null).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), "k", null).ok());
  EXPECT_EQ(Scan(), "= k=");
  ASSERT_TRUE(db()->Delete(WriteOptions(), null).ok());
  ASSERT_TRUE(db()->FlushWAL(/*sync=*/false).ok());
  Kill();
  Open({"default", "other"});
  EXPECT_EQ(Scan(), "k=");
}

INSTANTIATE_TEST_SUITE_P(Logs, SingleWriteTest,
                         ::testing::Values(LogKind{.name = "Mapped", .mapped = true},
                                           LogKind{.name = "Buffered"},
                                           LogKind{.name = "Held", .manual = true},
                                           LogKind{.name = "Recycled", .recycled = 1},
                                           LogKind{.name = "Compressed", .compression = kZSTD}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace varve::testing
