// SPDX-License-Identifier: Apache-2.0

// Goal: after Close every call returns a status and nothing crashes, and what users still hold,
// iterators, handles, snapshots, can be used and released in any order. Method: a table of calls on
// a closed database; holders that outlive Close, and the DB itself (sanitizers judge); calls that
// are stopped in the middle of a change to a file while another thread closes.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/listener.h"
#include "varve/rate_limiter.h"
#include "varve/slice_transform.h"
#include "varve/snapshot.h"
#include "varve/statistics.h"

#include "tests/harness/database.h"
#include "util/env/mem_file_system.h"
#include "util/sync/mutex.h"

namespace varve::testing {
namespace {

class DbCloseTest : public Database {};

TEST_F(DbCloseTest, EveryCallReturnsAStatus) {
  Open({"default", "a"});
  MakeTable({"k"});
  Put("m", "memory");
  ASSERT_TRUE(db()->Close().ok());
  ColumnFamilyHandle* const a = Handle("a");
  const Slice begin("a");
  const Slice end("z");
  const RangePtr range_ptr(&begin, &end);
  const Range range("a", "z");
  std::string text;
  std::vector<std::string> names;
  uint64_t number = 0;
  ColumnFamilyHandle* made = nullptr;
  std::vector<ColumnFamilyHandle*> many;
  std::vector<Iterator*> iterators;
  std::unique_ptr<LogFile> current_log;
  VectorLogPtr logs;
  TablePropertiesCollection properties;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "v").ok());
  const auto files = Files(kTableFile);
  struct Case {
    const char* name;
    std::function<Status()> call;
  };
  const Case kRefused[] = {
      {"Put", [&] { return db()->Put(WriteOptions(), "k", "v"); }},
      {"Put in a", [&] { return db()->Put(WriteOptions(), a, "k", "v"); }},
      {"Delete", [&] { return db()->Delete(WriteOptions(), "k"); }},
      {"SingleDelete", [&] { return db()->SingleDelete(WriteOptions(), "k"); }},
      {"DeleteRange", [&] { return db()->DeleteRange(WriteOptions(), "a", "z"); }},
      {"Write", [&] { return db()->Write(WriteOptions(), &batch); }},
      {"Get", [&] { return db()->Get(ReadOptions(), "k", &text); }},
      {"MultiGet", [&] { return db()->MultiGet(ReadOptions(), {"k"}, &names)[0]; }},
      {"NewIterators", [&] { return db()->NewIterators(ReadOptions(), {a}, &iterators); }},
      {"NewIterator",
       [&] { return std::unique_ptr<Iterator>(db()->NewIterator(ReadOptions()))->status(); }},
      {"Flush", [&] { return db()->Flush(FlushOptions()); }},
      {"Flush both",
       [&] {
         return db()->Flush(FlushOptions(), {a, db()->DefaultColumnFamily()});
       }},
      {"FlushWAL", [&] { return db()->FlushWAL(true); }},
      {"SyncWAL", [&] { return db()->SyncWAL(); }},
      {"LockWAL", [&] { return db()->LockWAL(); }},
      {"CompactRange", [&] { return db()->CompactRange(CompactRangeOptions(), nullptr, nullptr); }},
      {"CompactFiles", [&] { return db()->CompactFiles(CompactionOptions(), files, 1); }},
      {"SuggestCompactRange", [&] { return db()->SuggestCompactRange(a, nullptr, nullptr); }},
      {"DeleteFilesInRanges", [&] { return db()->DeleteFilesInRanges(a, &range_ptr, 1); }},
      {"WaitForCompact", [&] { return db()->WaitForCompact(WaitForCompactOptions()); }},
      {"SetOptions",
       [&] {
         return db()->SetOptions({{"write_buffer_size", "1M"}});
       }},
      {"SetDBOptions",
       [&] {
         return db()->SetDBOptions({{"max_background_jobs", "3"}});
       }},
      {"PauseBackgroundWork", [&] { return db()->PauseBackgroundWork(); }},
      {"EnableAutoCompaction", [&] { return db()->EnableAutoCompaction({a}); }},
      {"Resume", [&] { return db()->Resume(); }},
      {"CreateColumnFamily",
       [&] { return db()->CreateColumnFamily(ColumnFamilyOptions(), "new", &made); }},
      {"CreateColumnFamilies",
       [&] { return db()->CreateColumnFamilies(ColumnFamilyOptions(), {"new"}, &many); }},
      {"DropColumnFamily", [&] { return db()->DropColumnFamily(a); }},
      {"DisableFileDeletions", [&] { return db()->DisableFileDeletions(); }},
      {"EnableFileDeletions", [&] { return db()->EnableFileDeletions(); }},
      {"GetLiveFiles", [&] { return db()->GetLiveFiles(names, &number); }},
      {"GetSortedWalFiles", [&] { return db()->GetSortedWalFiles(logs); }},
      {"GetCurrentWalFile", [&] { return db()->GetCurrentWalFile(&current_log); }},
      {"GetCreationTimeOfOldestFile", [&] { return db()->GetCreationTimeOfOldestFile(&number); }},
      {"VerifyChecksum", [&] { return db()->VerifyChecksum(); }},
      {"GetPropertiesOfAllTables", [&] { return db()->GetPropertiesOfAllTables(&properties); }},
      {"GetApproximateSizes", [&] { return db()->GetApproximateSizes(&range, 1, &number); }},
  };
  for (const Case& c : kRefused) {
    const Status s = c.call();
    EXPECT_TRUE(s.IsShutdownInProgress()) << c.name << ": " << s.ToString();
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_TRUE(db()->Close().ok());
  EXPECT_FALSE(db()->ContinueBackgroundWork().ok());
  EXPECT_FALSE(db()->UnlockWAL().ok());
  EXPECT_EQ(db()->GetSnapshot(), nullptr);
  EXPECT_TRUE(db()->KeyMayExist(ReadOptions(), "k", &text));
  // These answer from memory, and must only not crash.
  std::vector<LiveFileMetaData> metadata;
  std::vector<ColumnFamilyMetaData> families;
  ColumnFamilyMetaData family;
  db()->GetLiveFilesMetaData(&metadata);
  db()->GetAllColumnFamilyMetaData(&families);
  db()->GetColumnFamilyMetaData(&family);
  db()->GetApproximateMemTableStats(range, &number, &number);
  for (const std::string& property : {DB::Properties::kStats, DB::Properties::kEstimateNumKeys,
                                      DB::Properties::kMinLogNumberToKeep,
                                      DB::Properties::kSSTables, std::string("varve.memory")}) {
    EXPECT_TRUE(db()->GetProperty(property, &text)) << property;
  }
  EXPECT_EQ(db()->GetOptions().write_buffer_size, options_.write_buffer_size);
  EXPECT_EQ(db()->NumberLevels(), 7);
  EXPECT_GT(db()->GetLatestSequenceNumber(), 0u);
  EXPECT_TRUE(db()->GetDbIdentity(text).ok());
  db()->DisableManualCompaction();
  db()->EnableManualCompaction();
  db()->CancelAllBackgroundWork(true);
}

TEST_F(DbCloseTest, IteratorsOutliveCloseAndTheDb) {
  Open({"default", "a"});
  MakeTable({"t"});
  Put("m", "memory");
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  std::unique_ptr<Iterator> of_a(db()->NewIterator(ReadOptions(), Handle("a")));
  ASSERT_TRUE(db()->Close().ok());
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "m=memory t=of t");
  it->Refresh().PermitUncheckedError();
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "m=memory t=of t");
  ASSERT_TRUE(Close().ok());
  ASSERT_EQ(db(), nullptr);
  for (Iterator* left : {it.get(), of_a.get()}) {
    left->Refresh().PermitUncheckedError();
    left->SeekToFirst();
    left->status().PermitUncheckedError();
    std::string property;
    left->GetProperty("rocksdb.iterator.super-version-number", &property).PermitUncheckedError();
  }
}

// Entries that an iterator reads stay, whatever kind it is, when its family is dropped, the handle
// given back, and the database closed and deleted.
TEST_F(DbCloseTest, EveryKindOfIteratorOutlivesItsFamilyAndTheDb) {
  std::string early;
  std::string late;
  EncodeU64Ts(1, &early);
  EncodeU64Ts(9, &late);
  const Slice since(early);
  const Slice as_of(late);
  const Slice lower("a");
  const Slice upper("z");
  options_.comparator = BytewiseComparatorWithU64Ts();
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  options_.statistics = CreateDBStatistics();
  std::vector<ColumnFamilyHandle*> handles;
  DB* opened = nullptr;
  const ColumnFamilyOptions family(options_);
  options_.create_if_missing = options_.create_missing_column_families = true;
  ASSERT_TRUE(
      DB::Open(options_, kName, {{"default", family}, {"timed", family}}, &handles, &opened).ok());
  std::unique_ptr<DB> db(opened);
  ASSERT_TRUE(db->Put(WriteOptions(), handles[1], "m", early, "table").ok());
  ASSERT_TRUE(db->DeleteRange(WriteOptions(), handles[1], "x", "y", early).ok());
  ASSERT_TRUE(db->Flush(FlushOptions(), handles[1]).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), handles[1], "n", late, "memory").ok());
  const Snapshot* const snapshot = db->GetSnapshot();
  struct Kind {
    const char* name;
    std::function<void(ReadOptions*)> set;
  };
  const Kind kKinds[] = {
      {"plain", [](ReadOptions*) {}},
      {"history", [&](ReadOptions* o) { o->iter_start_ts = &since; }},
      {"tailing", [](ReadOptions* o) { o->tailing = true; }},
      {"pinning", [](ReadOptions* o) { o->pin_data = true; }},
      {"within a prefix", [](ReadOptions* o) { o->prefix_same_as_start = true; }},
      {"in total order", [](ReadOptions* o) { o->total_order_seek = true; }},
      {"at a snapshot", [&](ReadOptions* o) { o->snapshot = snapshot; }},
      {"following",
       [&](ReadOptions* o) {
         o->snapshot = snapshot;
         o->auto_refresh_iterator_with_snapshot = true;
       }},
      {"within bounds",
       [&](ReadOptions* o) {
         o->iterate_lower_bound = &lower;
         o->iterate_upper_bound = &upper;
       }},
      {"of memtables", [](ReadOptions* o) { o->read_tier = kMemtableTier; }},
      {"refused", [](ReadOptions* o) { o->read_tier = kPersistedTier; }},
      {"refused history",
       [&](ReadOptions* o) {
         o->tailing = true;
         o->iter_start_ts = &since;
       }},
  };
  std::vector<std::unique_ptr<Iterator>> all;
  const auto walk = [](Iterator* it) {
    std::string shown;
    for (it->SeekToFirst(); it->Valid(); it->Next()) shown += it->value().ToString() + " ";
    for (it->SeekToLast(); it->Valid(); it->Prev()) shown += it->value().ToString() + " ";
    return shown + it->status().ToString();
  };
  std::vector<std::string> shown;
  int64_t valid = 0;
  for (const Kind& kind : kKinds) {
    ReadOptions options;
    options.timestamp = &as_of;
    kind.set(&options);
    std::vector<Iterator*> several;
    all.emplace_back(db->NewIterator(options, handles[1]));
    ASSERT_TRUE(db->NewIterators(options, {handles[1]}, &several).ok()) << kind.name;
    all.emplace_back(several[0]);
    valid += all.back()->status().ok() ? 2 : 0;
    std::string held;
    ASSERT_TRUE(db->GetProperty("varve.holders", &held));
    EXPECT_THAT(held, ::testing::HasSubstr(" " + std::to_string(valid) + " iterators"))
        << kind.name;
  }
  for (const auto& it : all) shown.push_back(walk(it.get()));
  EXPECT_EQ(shown[0], "table memory memory table OK");
  EXPECT_EQ(shown[2], shown[0]);
  db->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(db->DropColumnFamily(handles[1]).ok());
  for (ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  }
  for (size_t i = 0; i < all.size(); i++) EXPECT_EQ(walk(all[i].get()), shown[i]) << i;
  EXPECT_TRUE(db->Close().ok());
  for (size_t i = 0; i < all.size(); i++) EXPECT_EQ(walk(all[i].get()), shown[i]) << i;
  db.reset();
  for (size_t i = 0; i < all.size(); i++) EXPECT_EQ(walk(all[i].get()), shown[i]) << i;
  const auto count = [&](Tickers ticker) { return options_.statistics->getTickerCount(ticker); };
  EXPECT_EQ(count(NO_ITERATOR_CREATED) - count(NO_ITERATOR_DELETED), static_cast<uint64_t>(valid));
  all.clear();
  EXPECT_EQ(count(NO_ITERATOR_CREATED), count(NO_ITERATOR_DELETED));
}

TEST_F(DbCloseTest, HandlesOutliveTheDb) {
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  const ColumnFamilyOptions family(options_);
  ASSERT_TRUE(
      DB::Open(options_, kName, {{"default", family}, {"a", family}, {"b", family}}, &handles, &db)
          .ok());
  for (ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(db->Put(WriteOptions(), handle, "k", "v").ok());
  }
  ASSERT_TRUE(db->Flush(FlushOptions(), handles).ok());
  ASSERT_TRUE(db->DropColumnFamily(handles[2]).ok());
  std::unique_ptr<Iterator> of_dropped(db->NewIterator(ReadOptions(), handles[2]));
  delete db;
  EXPECT_EQ(handles[1]->GetName(), "a");
  ColumnFamilyDescriptor descriptor;
  EXPECT_TRUE(handles[2]->GetDescriptor(&descriptor).ok());
  for (ColumnFamilyHandle* handle : handles) delete handle;
  of_dropped->Refresh().PermitUncheckedError();
  of_dropped->SeekToFirst();
  EXPECT_EQ(Rest(of_dropped.get()), "k=v");
}

TEST_F(DbCloseTest, SnapshotsHoldCloseBack) {
  Open();
  const Snapshot* const held = db()->GetSnapshot();
  EXPECT_TRUE(db()->Close().IsAborted());
  Put("still", "open");
  db()->ReleaseSnapshot(held);
  const Snapshot* const left = db()->GetSnapshot();
  EXPECT_TRUE(Close().IsAborted()) << "the destructor closes all the same";
  (void)left;
  Open();
  EXPECT_EQ(Get("still"), "open");
  {
    auto managed = std::make_unique<ManagedSnapshot>(db());
    EXPECT_TRUE(db()->Close().IsAborted());
    managed.reset();
  }
  EXPECT_TRUE(db()->Close().ok());
  const ManagedSnapshot none(db());
}

TEST_F(DbCloseTest, WhatIsStillHeldIsNamed) {
  Open({"default", "a"});
  std::unique_ptr<Iterator> first(db()->NewIterator(ReadOptions()));
  std::unique_ptr<Iterator> second(db()->NewIterator(ReadOptions(), Handle("a")));
  const Snapshot* const snapshot = db()->GetSnapshot();
  const std::string all = "1 snapshot, 2 iterators, 2 column family handles";
  const Status s = db()->Close();
  EXPECT_TRUE(s.IsAborted());
  EXPECT_THAT(s.ToString(), ::testing::HasSubstr(all));
  EXPECT_EQ(Text("varve.holders"), all);
  first.reset();
  second.reset();
  db()->ReleaseSnapshot(snapshot);
  EXPECT_EQ(Text("varve.holders"), "2 column family handles");
  EXPECT_TRUE(db()->Close().ok()) << "handles may outlive it";
}

TEST_F(DbCloseTest, WhatNoLogHoldsIsFlushed) {
  struct Case {
    const char* name;
    std::function<void(DB*)> before;
  };
  const Case kCases[] = {
      {"plain", [](DB*) {}},
      {"paused", [](DB* db) { EXPECT_TRUE(db->PauseBackgroundWork().ok()); }},
      {"cancelled", [](DB* db) { CancelAllBackgroundWork(db, /*wait=*/true); }},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Open({"default", "a"});
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    ASSERT_TRUE(db()->Put(unlogged, Handle("a"), c.name, "kept").ok());
    c.before(db());
    ASSERT_TRUE(Close().ok());
    Open({"default", "a"});
    EXPECT_EQ(Get(c.name, "a"), "kept");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(DbCloseTest, AFailedFlushIsReported) {
  Open();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "k", "v").ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate) | Only(FaultCall::kWrite) | Only(FaultCall::kSync);
  rule.path_contains = ".sst";
  rule.sticky = true;
  for (const bool cancelled : {false, true}) {
    SCOPED_TRACE(cancelled);
    faults().Inject(rule);
    if (cancelled) CancelAllBackgroundWork(db(), /*wait=*/true);
    EXPECT_FALSE(Close().ok());
    faults().ClearFaults();
    Open();
    EXPECT_EQ(Get("k"), "NOT_FOUND");
    ASSERT_TRUE(db()->Put(unlogged, "k", "v").ok());
  }
}

TEST_F(DbCloseTest, ALockedLogHoldsCloseBackButNotTheDestructor) {
  Open();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "k", "v").ok());
  ASSERT_TRUE(db()->LockWAL().ok());
  EXPECT_TRUE(db()->Close().IsAborted());
  EXPECT_TRUE(Close().IsAborted());
  Open();
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(DbCloseTest, CancelledWorkRefusesWritesAndAnswersReads) {
  Open();
  Put("k", "v");
  CancelAllBackgroundWork(db(), /*wait=*/true);
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "w").IsShutdownInProgress());
  EXPECT_FALSE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Get("k"), "v");
  Reopen();
  EXPECT_EQ(Get("k"), "v");
}

// Close in the middle of writing and compacting in other threads' background work.
TEST_F(DbCloseTest, BackgroundWorkIsStoppedInTheMiddle) {
  options_.write_buffer_size = 64 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  options_.target_file_size_base = 64 << 10;
  for (int round = 0; round < 5; round++) {
    Open();
    for (int i = 0; i < 60; i++) {
      Put(std::to_string(i), std::string(8 << 10, static_cast<char>('a' + round)));
    }
    ASSERT_TRUE(Close().ok());
    Open();
    EXPECT_EQ(Get("59"), std::string(8 << 10, static_cast<char>('a' + round)));
    ASSERT_TRUE(Close().ok());
  }
}

// Stops the first change that one thread makes to a file, until it is released.
class StopsOneThread final : public MemFileSystem::CallHook {
 public:
  void Choose() {  // the calling thread
    MutexLock lock(&mu_);
    thread_ = std::this_thread::get_id();
  }
  bool stopped() {
    MutexLock lock(&mu_);
    return stopped_;
  }
  void LetGo() {
    MutexLock lock(&mu_);
    let_go_ = true;
    changed_.SignalAll();
  }
  void BeforeCall(uint64_t, MemCall, const std::string&) override {
    MutexLock lock(&mu_);
    if (std::this_thread::get_id() != thread_) return;
    stopped_ = true;
    while (!let_go_) changed_.Wait();
  }

 private:
  Mutex mu_;
  CondVar changed_{&mu_};
  std::thread::id thread_ VARVE_GUARDED_BY(mu_);
  bool stopped_ VARVE_GUARDED_BY(mu_) = false;
  bool let_go_ VARVE_GUARDED_BY(mu_) = false;
};

class CallsBesideCloseTest : public DbCloseTest {
 protected:
  // Time for a Close that does not wait to return.
  static constexpr std::chrono::milliseconds kMoment{5};

  // Stops `call` at its first change to a file, closes in another thread, and lets it go on.
  Status CloseBeside(const std::function<Status()>& call) {
    StopsOneThread hook;
    mem().SetCallHook(&hook);
    std::atomic<bool> ended{false};
    Status status;
    std::thread caller([&] {
      hook.Choose();
      status = call();
      ended = true;
    });
    EXPECT_TRUE(Eventually([&] { return hook.stopped() || ended.load(); }));
    EXPECT_TRUE(hook.stopped()) << "it changes no file";
    std::atomic<bool> closed{false};
    Status close_status;
    std::thread closer([&] {
      close_status = db()->Close();
      closed = true;
    });
    std::this_thread::sleep_for(kMoment);
    EXPECT_FALSE(closed.load()) << "Close returned while the call was inside";
    hook.LetGo();
    caller.join();
    closer.join();
    mem().SetCallHook(nullptr);
    // The call is Aborted if the log is locked now.
    EXPECT_TRUE(close_status.ok() || close_status.IsAborted()) << close_status.ToString();
    return status;
  }
};

TEST_F(CallsBesideCloseTest, CloseWaitsForThem) {
  options_.write_buffer_size = 64 << 10;
  options_.disable_auto_compactions = true;
  options_.manual_wal_flush = true;
  ColumnFamilyHandle* made = nullptr;
  std::vector<std::string> names;
  uint64_t number = 0;
  const Slice begin("a");
  const Slice end("z");
  const RangePtr all(&begin, &end);
  struct Case {
    const char* name;
    std::function<Status()> call;
    std::function<void()> before = [] {};
  };
  const Case kCases[] = {
      {"CreateColumnFamily",
       [&] { return db()->CreateColumnFamily(ColumnFamilyOptions(options_), "new", &made); }},
      {"DropColumnFamily", [&] { return db()->DropColumnFamily(Handle("b")); }},
      {"FlushWAL", [&] { return db()->FlushWAL(false); }},
      {"SyncWAL", [&] { return db()->SyncWAL(); }},
      {"LockWAL",
       [&] {
         const Status s = db()->LockWAL();
         return s.ok() ? db()->UnlockWAL() : s;
       }},
      {"Flush", [&] { return db()->Flush(FlushOptions()); }},
      {"GetLiveFiles", [&] { return db()->GetLiveFiles(names, &number, true); }},
      {"CompactRange", [&] { return db()->CompactRange(CompactRangeOptions(), nullptr, nullptr); }},
      {"CompactFiles",
       [&] { return db()->CompactFiles(CompactionOptions(), Files(kTableFile), 1); }},
      {"DeleteFilesInRanges",
       [&] { return db()->DeleteFilesInRanges(db()->DefaultColumnFamily(), &all, 1); },
       // DeleteFilesInRanges finds no files in L0.
       [&] { ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok()); }},
      {"SetOptions",
       [&] {
         return db()->SetOptions({{"write_buffer_size", "1M"}});
       }},
      {"SetDBOptions",
       [&] {
         return db()->SetDBOptions({{"max_background_jobs", "3"}});
       }},
      {"EnableFileDeletions", [&] { return db()->EnableFileDeletions(); },
       [&] {
         ASSERT_TRUE(db()->DisableFileDeletions().ok());
         ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
       }},
      {"a Put that switches a memtable", [&] { return db()->Put(WriteOptions(), "k", "v"); },
       [&] { Put("large", std::string(63 << 10, 'l')); }},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    made = nullptr;
    Open({"default", "a", "b"});
    MakeTable({"b", "m"});
    MakeTable({"c", "n"});
    c.before();
    Put("zz kept", c.name);  // beyond the deleted range
    const Status s = CloseBeside(c.call);
    EXPECT_TRUE(s.ok() || s.IsShutdownInProgress()) << s.ToString();
    if (made != nullptr) {
      EXPECT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
    }
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DB::ListColumnFamilies(options_, kName, &names).ok());
    Open(names);
    EXPECT_EQ(Get("zz kept"), c.name);
    EXPECT_TRUE(db()->VerifyChecksum().ok());
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(CallsBesideCloseTest, ASecondCloseWaitsForTheFirst) {
  Open();
  Put("k", "v");
  EXPECT_TRUE(CloseBeside([&] { return db()->Close(); }).ok());
  EXPECT_TRUE(db()->Close().ok());
}

TEST_F(CallsBesideCloseTest, WhatFailedOnceFailsAgain) {
  Open();
  Put("k", "v");
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.path_contains = ".log";
  faults().Inject(rule);
  const Status s = db()->Close();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_EQ(db()->Close(), s);
}

// Syncs of MANIFESTs take their time while they are asked to.
class SlowManifests final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "SlowManifests"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    IOStatus s = FileSystemWrapper::NewWritableFile(name, options, file, dbg);
    if (s.ok() && name.find("MANIFEST") != std::string::npos) {
      *file = std::make_unique<Slow>(std::move(*file), &slow);
    }
    return s;
  }
  std::atomic<bool> slow{false};

 private:
  class Slow final : public FSWritableFileOwnerWrapper {
   public:
    Slow(std::unique_ptr<FSWritableFile> file, const std::atomic<bool>* slow)
        : FSWritableFileOwnerWrapper(std::move(file)), slow_(slow) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      if (*slow_) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return FSWritableFileOwnerWrapper::Sync(options, dbg);
    }

   private:
    const std::atomic<bool>* const slow_;
  };
};

// Keeps writers out while it is asked to.
class HeldSeal final : public EventListener {
 public:
  void OnMemTableSealed(const MemTableInfo& info) override {
    if (info.cf_name != "held") return;
    sealing = true;
    EXPECT_TRUE(Eventually([&] { return !hold; }));
  }
  std::atomic<bool> hold{true};
  std::atomic<bool> sealing{false};
};

// Either of the two may come first; both are let go at once, a few times.
TEST_F(DbCloseTest, WhatIsNotLoggedIsFlushedBesideADropOfAnotherFamily) {
  for (int round = 0; round < 6; round++) {
    const auto manifests = std::make_shared<SlowManifests>(file_system());
    const auto env = NewCompositeEnv(manifests);
    const auto listener = std::make_shared<HeldSeal>();
    Env* const own = std::exchange(options_.env, env.get());
    options_.listeners = {listener};
    Open({"default", "a", "b", "held"});
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    for (const char* const family : {"a", "b", "held"}) {
      ASSERT_TRUE(db()->Put(unlogged, Handle(family), "k", "v").ok());
    }
    FlushOptions no_wait;
    no_wait.wait = false;
    std::thread flush([&] { EXPECT_TRUE(db()->Flush(no_wait, Handle("held")).ok()); });
    ASSERT_TRUE(Eventually([&] { return listener->sealing.load(); }));
    std::thread drop([&] { (void)db()->DropColumnFamily(Handle("a")).ok(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::thread close([&] { EXPECT_TRUE(db()->Close().ok()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    manifests->slow = true;
    listener->hold = false;
    for (std::thread* const thread : {&flush, &drop, &close}) thread->join();
    manifests->slow = false;
    Close().PermitUncheckedError();
    options_.listeners.clear();
    Open({"default", "b", "held"});
    EXPECT_EQ(Get("k", "b"), "v");
    EXPECT_EQ(Get("k", "held"), "v");
    ASSERT_TRUE(Close().ok());
    options_.env = own;
    Remount(std::make_shared<MemFileSystem>());
  }
}

// 20 kB/s would take a minute, whatever waits for the limiter when closing begins.
TEST_F(DbCloseTest, ClosingLiftsTheRateLimit) {
  options_.rate_limiter.reset(NewGenericRateLimiter(20 << 10));
  options_.compression = kNoCompression;
  const auto load = [&] {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    ASSERT_TRUE(db()->Put(unlogged, "k", std::string(1 << 20, 'v')).ok());
  };
  for (const bool under_way : {false, true}) {
    Open();
    load();
    FlushOptions no_wait;
    no_wait.wait = false;
    if (under_way) {
      ASSERT_TRUE(db()->Flush(no_wait).ok());
    }
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(Close().ok());
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  }
  Open();
  EXPECT_EQ(Get("k").size(), size_t{1} << 20);
  load();
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  const auto begun = std::chrono::steady_clock::now();
  CancelAllBackgroundWork(db(), /*wait=*/true);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

}  // namespace
}  // namespace varve::testing
