// SPDX-License-Identifier: Apache-2.0

// Goal: a trace has exactly the calls that its options ask for, and its replay gives the same
// database. Method: databases in memory, whose trace lies beside them; writers that fail on demand.

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "varve/env.h"
#include "varve/trace_reader_writer.h"
#include "varve/trace_record.h"
#include "varve/trace_record_result.h"
#include "varve/utilities/replayer.h"
#include "varve/utilities/transaction_db.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Result = std::unique_ptr<TraceRecordResult>;

constexpr const char* kTrace = "/trace";

// Notes the bytes of its calls; fails from the given call on, and calls the database back.
class NotingWriter final : public TraceWriter {
 public:
  struct Seen {
    std::vector<std::string> records;
    int closes = 0;
    size_t fails_from = SIZE_MAX;
    DB* calls = nullptr;
    bool puts = false;
  };
  explicit NotingWriter(Seen* seen) : seen_(seen) {}

  Status Write(const Slice& data) override {
    if (seen_->records.size() >= seen_->fails_from) return Status::IOError("planted");
    seen_->records.push_back(data.ToString());
    if (seen_->calls != nullptr) {
      std::string value;
      seen_->calls->Get(ReadOptions(), "k", &value).PermitUncheckedError();
      EXPECT_TRUE(seen_->calls->EndTrace().IsAborted());
      EXPECT_TRUE(!seen_->puts || seen_->calls->Put(WriteOptions(), "p", "v").ok());
    }
    return Status::OK();
  }
  Status Close() override {
    seen_->closes++;
    return Status::OK();
  }
  uint64_t GetFileSize() override { return 100 * seen_->records.size(); }

 private:
  Seen* const seen_;
};

class TraceTest : public Database {
 protected:
  void Start(const TraceOptions& options = TraceOptions()) {
    std::unique_ptr<TraceWriter> writer;
    ASSERT_TRUE(NewFileTraceWriter(db()->GetEnv(), EnvOptions(), kTrace, &writer).ok());
    ASSERT_TRUE(db()->StartTrace(options, std::move(writer)).ok());
  }
  void End() {
    const Status s = db()->EndTrace();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  std::unique_ptr<Replayer> NewReplayer(const std::vector<std::string>& families = {"default"}) {
    std::vector<ColumnFamilyHandle*> handles;
    for (const std::string& family : families) handles.push_back(Handle(family));
    std::unique_ptr<TraceReader> reader;
    Status s = NewFileTraceReader(db()->GetEnv(), EnvOptions(), kTrace, &reader);
    EXPECT_TRUE(s.ok()) << s.ToString();
    std::unique_ptr<Replayer> replayer;
    s = db()->NewDefaultReplayer(handles, std::move(reader), &replayer);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return replayer;
  }

  // Returns the types of the trace's records, and what ended the reading.
  std::string Types() {
    const std::unique_ptr<Replayer> replayer = NewReplayer();
    if (const Status s = replayer->Prepare(); !s.ok()) return s.ToString();
    std::string types;
    for (;;) {
      std::unique_ptr<TraceRecord> record;
      const Status s = replayer->Next(&record);
      if (!s.ok()) return types + (s.IsIncomplete() ? "." : s.ToString());
      switch (record->GetTraceType()) {
        case kTraceWrite:
          types += 'w';
          break;
        case kTraceGet:
          types += 'g';
          break;
        case kTraceIteratorSeek:
          types += 's';
          break;
        case kTraceIteratorSeekForPrev:
          types += 'p';
          break;
        case kTraceMultiGet:
          types += 'm';
          break;
        default:
          types += '?';
      }
    }
  }

  // Makes one call of each kind.
  void CallAll() {
    Put("k", "v");
    EXPECT_EQ(Get("k"), "v");
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    it->Seek("k");
    it->SeekForPrev("k");
    it->SeekToFirst();
    std::vector<std::string> values;
    const std::vector<Slice> keys = {"k", "l"};
    db()->MultiGet(ReadOptions(), keys, &values);
  }

  // Replays everything and returns what came of it.
  Status Replay(const ReplayOptions& options = ReplayOptions(1, 1000),
                const std::vector<std::string>& families = {"default"}) {
    const std::unique_ptr<Replayer> replayer = NewReplayer(families);
    if (const Status s = replayer->Prepare(); !s.ok()) return s;
    return replayer->Replay(options, [this](const Status& s, Result&& /*result*/) {
      const std::lock_guard lock(mutex_);
      outcomes_.push_back(s.ToString());
    });
  }

  std::mutex mutex_;
  std::vector<std::string> outcomes_;
};

TEST_F(TraceTest, RecordsEveryKindOfCall) {
  Open();
  const std::unique_ptr<Iterator> older(db()->NewIterator(ReadOptions()));
  Start();
  CallAll();
  older->Seek("k");
  PinnableWideColumns columns;
  ASSERT_TRUE(db()->GetEntity(ReadOptions(), db()->DefaultColumnFamily(), "k", &columns).ok());
  End();
  CallAll();
  EXPECT_EQ(Types(), "wgspmsg.");
}

TEST_F(TraceTest, FilterLeavesCallsOut) {
  Open();
  const std::vector<std::pair<uint64_t, std::string>> cases = {
      {kTraceFilterGet, "wspm."},          {kTraceFilterWrite, "gspm."},
      {kTraceFilterIteratorSeek, "wgpm."}, {kTraceFilterIteratorSeekForPrev, "wgsm."},
      {kTraceFilterMultiGet, "wgsp."},     {kTraceFilterGet | kTraceFilterMultiGet, "wsp."},
  };
  for (const auto& [filter, types] : cases) {
    TraceOptions options;
    options.filter = filter;
    Start(options);
    CallAll();
    End();
    EXPECT_EQ(Types(), types);
  }
}

TEST_F(TraceTest, SamplingCountsWhatPassesTheFilter) {
  Open();
  TraceOptions options;
  options.sampling_frequency = 3;
  options.filter = kTraceFilterGet;
  Start(options);
  for (int i = 0; i < 9; i++) {
    Put("k", "v");
    Get("k");
  }
  End();
  EXPECT_EQ(Types(), "www.");
}

TEST_F(TraceTest, FileEndsAtItsSize) {
  Open();
  TraceOptions options;
  options.max_trace_file_size = 400;
  Start(options);
  for (int i = 0; i < 100; i++) Put("k", "v");
  End();
  const std::string bytes = ReadFile(kTrace);
  EXPECT_GT(bytes.size(), 400U);
  EXPECT_LT(bytes.size(), 500U);
  EXPECT_THAT(Types(), ::testing::EndsWith("w."));
}

TEST_F(TraceTest, ReplayGivesTheSameDatabase) {
  Open({"default", "other"});
  Start();
  WriteBatch batch;
  for (int i = 0; i < 300; i++) {
    const std::string key = std::to_string(i % 97);
    Put(key, "v" + std::to_string(i), i % 3 == 0 ? "other" : "default");
    if (i % 7 == 0) Delete(key);
    batch.Clear();
    ASSERT_TRUE(batch.Put(Handle("other"), "b" + key, key).ok());
    ASSERT_TRUE(batch.Delete("c" + key).ok());
    ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  }
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("other"), "2", "3").ok());
  End();
  const std::string expected = Scan() + "|" + Scan(ReadOptions(), "other");
  const std::string trace = ReadFile(kTrace);
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  Remount(std::make_shared<MemFileSystem>());
  Open({"default", "other"});
  WriteFile(kTrace, trace);
  ASSERT_TRUE(Replay(ReplayOptions(1, 1000), {"default", "other"}).ok());
  EXPECT_EQ(Scan() + "|" + Scan(ReadOptions(), "other"), expected);
  EXPECT_EQ(outcomes_.size(), 300U + 43U + 300U + 1U);
  EXPECT_EQ(std::ranges::count(outcomes_, "OK"), static_cast<int64_t>(outcomes_.size()));
}

TEST_F(TraceTest, ResultsTellWhatWasRead) {
  Open();
  Put("k", "v");
  Start();
  CallAll();
  EXPECT_EQ(Get("absent"), "NOT_FOUND");
  End();
  struct Reader final : public TraceRecordResult::Handler {
    Status Handle(const StatusOnlyTraceExecutionResult& result) override {
      text += "write " + result.GetStatus().ToString() + ";";
      return Status::OK();
    }
    Status Handle(const SingleValueTraceExecutionResult& result) override {
      EXPECT_LE(result.GetStartTimestamp(), result.GetEndTimestamp());
      text += "get " + (result.GetStatus().ok() ? result.GetValue() : "NotFound") + ";";
      return Status::OK();
    }
    Status Handle(const MultiValuesTraceExecutionResult& result) override {
      text += "multiget " + result.GetValues().at(0) + " " +
              result.GetMultiStatus().at(1).ToString() + ";";
      return Status::OK();
    }
    Status Handle(const IteratorTraceExecutionResult& result) override {
      text += "seek " + (result.GetValid() ? result.GetKey().ToString() : "-") + "=" +
              result.GetValue().ToString() + ";";
      return Status::OK();
    }
    std::string text;
  } reader;
  const std::unique_ptr<Replayer> replayer = NewReplayer();
  EXPECT_EQ(replayer->GetHeaderTimestamp(), 0U);
  ASSERT_TRUE(replayer->Prepare().ok());
  EXPECT_GT(replayer->GetHeaderTimestamp(), 0U);
  const Status s =
      replayer->Replay(ReplayOptions(1, 1000), [&](const Status& each, Result&& result) {
        ASSERT_TRUE(each.ok()) << each.ToString();
        ASSERT_NE(result, nullptr);
        EXPECT_TRUE(result->Accept(nullptr).IsInvalidArgument());
        EXPECT_TRUE(result->Accept(&reader).ok());
      });
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(reader.text, "write OK;get v;seek k=v;seek k=v;multiget v NotFound: ;get NotFound;");
}

TEST_F(TraceTest, SeveralThreadsReplayEveryCall) {
  Open();
  Start();
  for (int i = 0; i < 5000; i++) Put("k" + std::to_string(i), "v");
  End();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "k", "l").ok());
  ASSERT_TRUE(Replay(ReplayOptions(4, 1e6)).ok());
  EXPECT_EQ(outcomes_.size(), 5000U);
  EXPECT_EQ(Get("k4999"), "v");
  EXPECT_EQ(Get("k0"), "v");
}

// Two writers on one key: the last record of the trace must be the value that stays.
TEST_F(TraceTest, OrderOfWritesIsKeptOnDemand) {
  Open();
  TraceOptions options;
  options.preserve_write_order = true;
  for (int round = 0; round < 20; round++) {
    Start(options);
    std::vector<std::thread> writers;
    for (int t = 0; t < 2; t++) {
      writers.emplace_back([this, t] {
        for (int i = 0; i < 200; i++) {
          ASSERT_TRUE(
              db()->Put(WriteOptions(), "k", std::to_string(t) + "-" + std::to_string(i)).ok());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    End();
    const std::string expected = Get("k");
    ASSERT_TRUE(Replay(ReplayOptions(1, 1e6)).ok());
    ASSERT_EQ(Get("k"), expected);
  }
  EXPECT_EQ(outcomes_.size(), 20U * 400U);
}

TEST_F(TraceTest, PreparedTransactionsAreTracedByTheirCommit) {
  options_.create_if_missing = true;
  Options options = options_;
  options.env = options_.env;
  TransactionDB* transactions = nullptr;
  ASSERT_TRUE(TransactionDB::Open(options, TransactionDBOptions(), "/tdb", &transactions).ok());
  const std::unique_ptr<TransactionDB> owner(transactions);
  NotingWriter::Seen seen;
  ASSERT_TRUE(transactions->StartTrace(TraceOptions(), std::make_unique<NotingWriter>(&seen)).ok());
  const std::unique_ptr<Transaction> transaction(
      transactions->BeginTransaction(WriteOptions(), TransactionOptions(), nullptr));
  ASSERT_TRUE(transaction->SetName("t").ok());
  ASSERT_TRUE(transaction->Put("k", "v").ok());
  ASSERT_TRUE(transaction->Prepare().ok());
  EXPECT_EQ(seen.records.size(), 1U);
  ASSERT_TRUE(transaction->Commit().ok());
  ASSERT_TRUE(transactions->EndTrace().ok());
  ASSERT_EQ(seen.records.size(), 3U);
  EXPECT_EQ(Slice(seen.records[1]).ToString(/*hex=*/true).substr(26),
            "0200000000000000"
            "11"
            "000000000000000001000000"
            "01016B0176");
}

TEST_F(TraceTest, FailureOfTheWriterEndsTheTraceOnly) {
  Open();
  NotingWriter::Seen seen;
  seen.fails_from = 2;
  ASSERT_TRUE(db()->StartTrace(TraceOptions(), std::make_unique<NotingWriter>(&seen)).ok());
  for (int i = 0; i < 10; i++) Put("k", std::to_string(i));
  EXPECT_EQ(Get("k"), "9");
  EXPECT_THAT(db()->EndTrace().ToString(), HasSubstr("planted"));
  EXPECT_EQ(seen.closes, 1);
  EXPECT_EQ(seen.records.size(), 2U);
  EXPECT_TRUE(db()->EndTrace().IsIOError());
  seen.fails_from = 0;
  EXPECT_THAT(db()->StartTrace(TraceOptions(), std::make_unique<NotingWriter>(&seen)).ToString(),
              HasSubstr("planted"));
}

TEST_F(TraceTest, CallsOfTheWriterAreNotRecorded) {
  Open();
  NotingWriter::Seen seen;
  seen.calls = db();
  ASSERT_TRUE(db()->StartTrace(TraceOptions(), std::make_unique<NotingWriter>(&seen)).ok());
  Put("k", "v");
  ASSERT_TRUE(db()->EndTrace().ok());
  EXPECT_EQ(seen.records.size(), 3U);
}

// The writer puts while another thread's write holds the order and waits for the writer.
TEST_F(TraceTest, WriterMayWriteWhileTheOrderIsKept) {
  Open();
  NotingWriter::Seen seen;
  seen.calls = db();
  seen.puts = true;
  TraceOptions options;
  options.preserve_write_order = true;
  ASSERT_TRUE(db()->StartTrace(options, std::make_unique<NotingWriter>(&seen)).ok());
  std::atomic<bool> done{false};
  std::thread writer([this, &done] {
    for (int i = 0; i < 3000; i++) Put("w", std::to_string(i));
    done = true;
  });
  size_t gets = 0;
  for (; !done; gets++) Get("r");
  writer.join();
  ASSERT_TRUE(db()->EndTrace().ok());
  EXPECT_EQ(seen.records.size(), 3002U + gets);
}

TEST_F(TraceTest, WrongUseIsRefused) {
  Open();
  NotingWriter::Seen seen;
  const auto writer = [&] { return std::make_unique<NotingWriter>(&seen); };
  EXPECT_TRUE(db()->EndTrace().IsIOError());
  EXPECT_TRUE(db()->StartTrace(TraceOptions(), nullptr).IsInvalidArgument());
  TraceOptions options;
  options.filter = 32;
  EXPECT_TRUE(db()->StartTrace(options, writer()).IsInvalidArgument());
  ASSERT_TRUE(db()->StartTrace(TraceOptions(), writer()).ok());
  EXPECT_TRUE(db()->StartTrace(TraceOptions(), writer()).IsBusy());
  EXPECT_TRUE(db()->StartBlockCacheTrace(TraceOptions(), writer()).IsNotSupported());
  EXPECT_TRUE(db()->EndBlockCacheTrace().IsNotSupported());
  EXPECT_TRUE(db()->StartIOTrace(TraceOptions(), writer()).IsNotSupported());
  EXPECT_TRUE(db()->EndIOTrace().IsNotSupported());
  std::unique_ptr<Replayer> replayer;
  EXPECT_TRUE(db()->NewDefaultReplayer({}, nullptr, &replayer).IsInvalidArgument());
  ASSERT_TRUE(db()->EndTrace().ok());
  Start();
  End();
  replayer = NewReplayer();
  std::unique_ptr<TraceRecord> record;
  EXPECT_TRUE(replayer->Next(&record).IsIncomplete());
  EXPECT_TRUE(replayer->Replay(ReplayOptions(), nullptr).IsIncomplete());
  ASSERT_TRUE(replayer->Prepare().ok());
  EXPECT_TRUE(replayer->Execute(nullptr, nullptr).IsInvalidArgument());
  EXPECT_TRUE(replayer->Next(nullptr).IsInvalidArgument());
  for (const double speed : {0.0, -1.0, std::nan("")}) {
    EXPECT_TRUE(replayer->Replay(ReplayOptions(1, speed), nullptr).IsInvalidArgument());
  }
  EXPECT_TRUE(replayer->Replay(ReplayOptions(1025, 1), nullptr).IsInvalidArgument());
  EXPECT_TRUE(replayer->Replay(ReplayOptions(), nullptr).ok());
}

TEST_F(TraceTest, CloseEndsTheTrace) {
  Open();
  Start();
  Put("k", "v");
  DB* const closed = db();
  ASSERT_TRUE(closed->Close().ok());
  EXPECT_TRUE(closed->EndTrace().IsShutdownInProgress());
  Reopen();
  EXPECT_EQ(Types(), "w.");
  ASSERT_TRUE(Replay().ok());
}

TEST_F(TraceTest, WriterNeedsItsEnvOnlyWhileItIsMade) {
  Open();
  std::unique_ptr<TraceWriter> writer;
  {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    ASSERT_TRUE(NewFileTraceWriter(env.get(), EnvOptions(), kTrace, &writer).ok());
  }
  ASSERT_TRUE(db()->StartTrace(TraceOptions(), std::move(writer)).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(Close().ok());
}

TEST_F(TraceTest, FamiliesWithoutHandlesFailTheirCallsOnly) {
  Open({"default", "other"});
  Start();
  Put("k", "1", "other");
  EXPECT_EQ(Get("k", "other"), "1");
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  End();
  ASSERT_TRUE(Replay().ok());
  EXPECT_THAT(outcomes_, ElementsAre("OK", HasSubstr("column family 1"), "OK"));
}

// Every prefix of a file gives the calls before the cut, and then a message.
TEST_F(TraceTest, CutFileGivesItsPrefix) {
  Open();
  Start();
  Put("k", "v");
  Get("k");
  End();
  const std::string whole = ReadFile(kTrace);
  size_t complete = 0;
  for (size_t n = 0; n < whole.size(); n++) {
    WriteFile(kTrace, whole.substr(0, n));
    outcomes_.clear();
    const Status s = Replay();
    EXPECT_TRUE(s.IsCorruption() || s.IsIncomplete()) << n << ": " << s.ToString();
    EXPECT_GE(outcomes_.size(), complete);
    complete = outcomes_.size();
  }
  EXPECT_EQ(complete, 2U);
}

// A length of 4 GiB in a short file must not cost 4 GiB.
TEST_F(TraceTest, LyingLengthIsRefused) {
  Open();
  WriteFile(kTrace, std::string(8, '\0') + "\x01\xff\xff\xff\xff" + "short");
  EXPECT_THAT(Replay().ToString(), HasSubstr("ends within the record at offset 0"));
}

}  // namespace
}  // namespace varve::testing
