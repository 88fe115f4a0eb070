// SPDX-License-Identifier: Apache-2.0

// Goal: an object in options is one object, however many families and databases have it: each finds
// the object that its program gave, each uses it, and none that is closed keeps it. An object that
// Varve makes by default is one for those who share its owner, too. Method: a row for each member
// of an option struct that points to an object (object_rows.h); these are read from the public
// headers, so that a new one without a row fails. Each object is given to two databases of several
// families, which write, flush, compact, change options, make and drop families, and are closed;
// meanwhile and afterwards the object's state and use count are checked.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/cache.h"
#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/table.h"
#include "varve/utilities/object_registry.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"
#include "varve/utilities/transaction_db_mutex.h"

#include "tests/harness/database.h"
#include "tests/harness/source_root.h"
#include "tests/shared_objects/object_rows.h"
#include "tests/shared_objects/option_members.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr const char* kFamilies[] = {"default", "a", "b"};

// A database with families of one and the same Options, and all that happens to them.
class Tenant {
 public:
  Tenant(std::string name, const Options& options) : name_(std::move(name)) { Open(options); }
  ~Tenant() { Close(); }
  Tenant(const Tenant&) = delete;
  Tenant& operator=(const Tenant&) = delete;

  void Open(const Options& options) {
    std::vector<ColumnFamilyDescriptor> families;
    for (const char* family : kFamilies) families.emplace_back(family, options);
    DB* db = nullptr;
    const Status s = DB::Open(options, name_, families, &handles_, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    db_.reset(db);
  }
  void Close() {
    if (db_ == nullptr) return;
    for (ColumnFamilyHandle* handle : handles_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    }
    handles_.clear();
    EXPECT_TRUE(db_->Close().ok());
    db_.reset();
  }

  DB* db() { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  // Returns the options of each family.
  std::vector<Options> AllOptions() {
    std::vector<Options> all;
    for (ColumnFamilyHandle* handle : handles_) all.push_back(db_->GetOptions(handle));
    return all;
  }

  void Fill(ColumnFamilyHandle* handle) {
    const bool merges = db_->GetOptions(handle).merge_operator != nullptr;
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 50; i++) {
        const std::string key = "key" + std::to_string(i);
        const std::string value(200, 'v');
        EXPECT_TRUE(db_->Put(WriteOptions(), handle, key, value).ok());
        if (!merges) continue;
        EXPECT_TRUE(db_->Merge(WriteOptions(), handle, key, value).ok());
      }
      EXPECT_TRUE(db_->Flush(FlushOptions(), handle).ok());
    }
  }
  void Read(ColumnFamilyHandle* handle) {
    std::string value;
    EXPECT_TRUE(db_->Get(ReadOptions(), handle, "key7", &value).ok());
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    EXPECT_EQ(count, 50);
  }
  void Work() {
    for (ColumnFamilyHandle* handle : handles_) {
      Fill(handle);
      Read(handle);
      EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr).ok());
      Read(handle);
      EXPECT_TRUE(db_->SetOptions(handle, {{"max_write_buffer_number", "4"}}).ok());
      Fill(handle);
      // Into the memtable, which takes memory in large pieces.
      EXPECT_TRUE(db_->Put(WriteOptions(), handle, "key3", std::string(1 << 20, 'v')).ok());
    }
    EXPECT_TRUE(db_->SetDBOptions({{"max_background_jobs", "3"}}).ok());
  }
  // Creates a family and drops it again.
  void WorkInAnotherFamily(const Options& options) {
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(options, "late", &handle).ok());
    Fill(handle);
    Read(handle);
    ASSERT_TRUE(db_->DropColumnFamily(handle).ok());
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }

 private:
  const std::string name_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> db_;
};

class SharedObjectsTest : public ::testing::Test {
 protected:
  Options MakeOptions() const {
    Options options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.env = env_.get();
    options.info_log = SilentLogger();
    options.compression = kNoCompression;
    return options;
  }

  const std::unique_ptr<Env> env_ = NewCompositeEnv(std::make_shared<MemFileSystem>());
};

// ---- Which objects there are ----

// The engine refuses these whenever they are given.
const std::set<std::string> kRefused = {
    "BlockBasedTableOptions::persistent_cache",
    "BlockBasedTableOptions::user_defined_index_factory",
    "DBOptions::row_cache",
    "ShardedCacheOptions::secondary_cache",
    "TransactionDBOptions::lock_mgr_handle",
    "TransactionDBOptions::secondary_indices",
};

// These have a test of their own below.
const std::set<std::string> kApart = {
    "ConfigOptions::env",
    "ConfigOptions::registry",
    "OptimisticTransactionDBOptions::shared_lock_buckets",
    "TransactionDBOptions::custom_mutex_factory",
};

// These belong to no database, for the reasons given.
const std::set<std::string> kOfNoDatabase = {
    // These belong to an engine for backups, which its opener deletes.
    "BackupEngineOptions::backup_env",
    "BackupEngineOptions::info_log",
    "BackupEngineOptions::listeners",
    "CheckpointEngineOptions::backup_rate_limiter",
    "CopyPlanOptions::rate_limiter",      // belongs to one plan, while it is made
    "DBOptions::wal_filter",              // belongs to one opening, as it is not owned
    "EnvOptions::rate_limiter",           // belongs to one file, which its opener closes
    "OptimisticTransactionOptions::cmp",  // belongs to one transaction
};

TEST_F(SharedObjectsTest, EveryMemberOfThePublicHeadersHasARow) {
  std::set<std::string> covered = kRefused;
  covered.insert(kApart.begin(), kApart.end());
  covered.insert(kOfNoDatabase.begin(), kOfNoDatabase.end());
  for (const ObjectRow& row : ObjectRows()) {
    EXPECT_TRUE(covered.insert(row.member).second) << row.member << " has two rows";
  }
  EXPECT_THAT(SharedMembers(testing::SourceRoot() + "/include/varve"), ElementsAreArray(covered));
}

// ---- What the program gives ----

struct Watched {
  const ObjectRow* row;
  SharedObject object;
  long holders = 0;  // the options and the test
  uint64_t seen = 0;
};

void ExpectUsed(Watched* watched) {
  if (watched->object.used == nullptr) return;
  const uint64_t used = watched->object.used();
  EXPECT_GT(used, watched->seen) << watched->row->member << ": a database does not use it";
  watched->seen = used;
}

void ExpectFound(const Watched& watched, Tenant* tenant) {
  for (const Options& options : tenant->AllOptions()) {
    EXPECT_EQ(watched.row->find(options), watched.row->find(tenant->AllOptions()[0]))
        << watched.row->member << ": not the same in each family";
    EXPECT_EQ(watched.row->find(options), watched.object.object.get())
        << watched.row->member << ": not the one that the program gave";
  }
}

// All that happens to two databases with these options, which hold the objects; they are gone
// afterwards.
void Share(std::vector<Watched> all, Options options) {
  for (Watched& watched : all) watched.holders = watched.object.object.use_count();
  {
    Tenant one("/one", options);
    Tenant two("/two", options);
    for (Tenant* tenant : {&one, &two}) {
      tenant->Work();
      tenant->WorkInAnotherFamily(options);
      for (Watched& watched : all) ExpectUsed(&watched);
    }
    one.Close();
    one.Open(options);
    for (const Watched& watched : all) {
      ExpectFound(watched, &one);
      ExpectFound(watched, &two);
    }
  }
  for (const Watched& watched : all) {
    EXPECT_TRUE(Eventually([&] { return watched.object.object.use_count() == watched.holders; }, 2))
        << watched.row->member << ": closed databases hold it, "
        << watched.object.object.use_count() << " holders instead of " << watched.holders;
  }
  Env* const env = options.env;
  for (const char* name : {"/one", "/two"}) EXPECT_TRUE(DestroyDB(name, options).ok());
  options = Options();
  options.env = env;
  for (const Watched& watched : all) {
    if (watched.object.held == nullptr) continue;
    EXPECT_TRUE(Eventually([&] { return watched.object.held() == 0; }, 2))
        << watched.row->member << ": " << watched.object.held() << " left of closed databases";
  }
}

TEST_F(SharedObjectsTest, EachObjectIsOneForAllWhoShareIt) {
  for (const ObjectRow& row : ObjectRows()) {
    SCOPED_TRACE(row.member);
    Options options = MakeOptions();
    SharedObject object = row.give(&options);
    std::vector<Watched> all;
    all.push_back({&row, std::move(object)});
    Share(std::move(all), std::move(options));
  }
}

TEST_F(SharedObjectsTest, AllObjectsTogetherAreOneEach) {
  const std::vector<ObjectRow> rows = ObjectRows();
  Options options = MakeOptions();
  std::vector<Watched> all;
  for (const ObjectRow& row : rows) {
    // A table factory has only one of the objects of tables, and a filter excludes a filter
    // factory.
    if (row.member.starts_with("BlockBased") || row.member.starts_with("Sharded")) continue;
    if (row.member == "ColumnFamilyOptions::compaction_filter") continue;
    all.push_back({&row, row.give(&options)});
  }
  Share(std::move(all), std::move(options));
}

TEST_F(SharedObjectsTest, WhatIsRefusedIsNotKept) {
  const auto owner = std::make_shared<int>(0);
  const auto fake = [&]<typename T>(std::shared_ptr<T>* member) {
    *member = std::shared_ptr<T>(owner, reinterpret_cast<T*>(owner.get()));
  };
  const auto refused = [&](const Options& options) {
    const long holders = owner.use_count();
    DB* db = nullptr;
    const Status s = DB::Open(options, "/refused", &db);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_EQ(owner.use_count(), holders);
  };
  Options rows = MakeOptions();
  rows.row_cache = NewLRUCache(1 << 20);
  DB* db = nullptr;
  EXPECT_TRUE(DB::Open(rows, "/refused", &db).IsNotSupported());
  EXPECT_EQ(rows.row_cache.use_count(), 1);
  BlockBasedTableOptions table;
  fake(&table.persistent_cache);
  Options options = MakeOptions();
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  refused(options);
  table = BlockBasedTableOptions();
  fake(&table.user_defined_index_factory);
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  refused(options);
  table = BlockBasedTableOptions();
  options = MakeOptions();
  LRUCacheOptions cache;
  cache.capacity = 1 << 20;
  fake(&cache.secondary_cache);
  EXPECT_EQ(cache.MakeSharedCache(), nullptr);
  for (const bool lock_manager : {true, false}) {
    TransactionDBOptions transactions;
    if (lock_manager) {
      fake(&transactions.lock_mgr_handle);
    } else {
      fake(&transactions.secondary_indices.emplace_back());
    }
    TransactionDB* made = nullptr;
    const Status s = TransactionDB::Open(options, transactions, "/refused", &made);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  }
  cache.secondary_cache.reset();
  EXPECT_EQ(owner.use_count(), 1);
}

// ---- What Varve makes where nothing is given ----

std::set<const void*> CachesOf(Tenant* tenant) {
  std::set<const void*> caches;
  for (const Options& options : tenant->AllOptions()) {
    caches.insert(options.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache.get());
  }
  return caches;
}

TEST_F(SharedObjectsTest, TheDefaultBlockCacheIsTheTableFactorys) {
  const Options options = MakeOptions();
  Tenant one("/one", options);
  Tenant two("/two", options);
  for (Tenant* tenant : {&one, &two}) {
    tenant->Work();
    tenant->WorkInAnotherFamily(options);
  }
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table->block_cache, nullptr);
  EXPECT_EQ(table->block_cache->GetCapacity(), size_t{32} << 20);
  for (Tenant* tenant : {&one, &two}) {
    EXPECT_EQ(CachesOf(tenant), std::set<const void*>{table->block_cache.get()});
    for (const Options& found : tenant->AllOptions()) {
      EXPECT_EQ(found.table_factory, options.table_factory);
    }
    uint64_t bytes = 0;
    EXPECT_TRUE(
        tenant->db()->GetAggregatedIntProperty(DB::Properties::kBlockCacheCapacity, &bytes));
    EXPECT_EQ(bytes, uint64_t{32} << 20);
  }
  // Another factory for tables to come, which are in the same cache.
  EXPECT_TRUE(
      one.db()
          ->SetOptions(one.handles()[1], {{"block_based_table_factory", "{block_size=999}"}})
          .ok());
  EXPECT_EQ(CachesOf(&one), std::set<const void*>{table->block_cache.get()});
  one.Close();
  one.Open(options);
  EXPECT_EQ(CachesOf(&one), std::set<const void*>{table->block_cache.get()});
  Tenant other("/other", MakeOptions());
  EXPECT_EQ(CachesOf(&other).count(table->block_cache.get()), 0u);
}

// The program may have changed its mind about a cache that it has not given.
TEST_F(SharedObjectsTest, TheDefaultBlockCacheGoesWhereNoneIsWanted) {
  const Options options = MakeOptions();
  auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  { Tenant one("/one", options); }
  const std::shared_ptr<Cache> before = table->block_cache;
  table->no_block_cache = true;
  { Tenant one("/one", options); }
  EXPECT_EQ(table->block_cache, nullptr);
  table->no_block_cache = false;
  { Tenant one("/one", options); }
  EXPECT_EQ(table->block_cache, before);
  ASSERT_TRUE(
      options.table_factory->ConfigureFromString(ConfigOptions(), "no_block_cache=true").ok());
  { Tenant one("/one", options); }
  EXPECT_EQ(table->block_cache, nullptr);
  table->block_cache = NewLRUCache(1 << 20);
  DB* db = nullptr;
  const Status s = DB::Open(options, "/one", &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("no_block_cache"));
}

TEST_F(SharedObjectsTest, DatabasesThatAreOpenedAtOnceGetOneDefaultBlockCache) {
  for (int round = 0; round < 20; round++) {
    const Options options = MakeOptions();
    std::atomic<int> ready{0};
    std::set<const void*> caches[2];
    const auto opens = [&](int i) {
      ready++;
      while (ready < 2) std::this_thread::yield();
      Tenant tenant("/db" + std::to_string(i), options);
      caches[i] = CachesOf(&tenant);
    };
    std::thread other(opens, 1);
    opens(0);
    other.join();
    EXPECT_EQ(caches[0], caches[1]);
    EXPECT_EQ(caches[0].size(), 1u);
  }
}

TEST_F(SharedObjectsTest, AFamilyWithoutATableFactoryGetsOne) {
  Options options = MakeOptions();
  options.table_factory = nullptr;
  DB* db = nullptr;
  const Status s = DB::Open(options, "/none", &db);
  const std::unique_ptr<DB> closes(db);
  EXPECT_TRUE(s.ok() || s.IsInvalidArgument() || s.IsNotSupported()) << s.ToString();
}

// ---- Objects of transactions, and of texts ----

struct MutexCounts {
  std::atomic<uint64_t> made{0};
  std::atomic<uint64_t> left{0};
};

class CountingMutex final : public TransactionDBMutex {
 public:
  explicit CountingMutex(MutexCounts* counts) : counts_(counts) {
    counts_->made++;
    counts_->left++;
  }
  ~CountingMutex() override { counts_->left--; }
  Status Lock() override {
    mutex.lock();
    return Status::OK();
  }
  Status TryLockFor(int64_t) override { return Lock(); }
  void UnLock() override { mutex.unlock(); }
  std::mutex mutex;

 private:
  MutexCounts* const counts_;
};

class CountingCondVar final : public TransactionDBCondVar {
 public:
  explicit CountingCondVar(MutexCounts* counts) : counts_(counts) { counts_->left++; }
  ~CountingCondVar() override { counts_->left--; }
  Status Wait(std::shared_ptr<TransactionDBMutex> mutex) override {
    std::unique_lock<std::mutex> lock(static_cast<CountingMutex*>(mutex.get())->mutex,
                                      std::adopt_lock);
    condition_.wait(lock);
    lock.release();
    return Status::OK();
  }
  Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t micros) override {
    std::unique_lock<std::mutex> lock(static_cast<CountingMutex*>(mutex.get())->mutex,
                                      std::adopt_lock);
    const auto result = condition_.wait_for(lock, std::chrono::microseconds(micros));
    lock.release();
    return result == std::cv_status::timeout ? Status::TimedOut() : Status::OK();
  }
  void Notify() override { condition_.notify_one(); }
  void NotifyAll() override { condition_.notify_all(); }

 private:
  MutexCounts* const counts_;
  std::condition_variable condition_;
};

class CountingMutexFactory final : public TransactionDBMutexFactory {
 public:
  explicit CountingMutexFactory(MutexCounts* counts) : counts_(counts) {}
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<CountingMutex>(counts_);
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<CountingCondVar>(counts_);
  }

 private:
  MutexCounts* const counts_;
};

// Waits a millisecond for a lock, without success.
void WaitForLock(TransactionDB* db) {
  const std::unique_ptr<Transaction> holder(db->BeginTransaction(WriteOptions()));
  const std::unique_ptr<Transaction> waiter(db->BeginTransaction(WriteOptions()));
  EXPECT_TRUE(holder->Put("key", "1").ok());
  waiter->SetLockTimeout(1);
  EXPECT_TRUE(waiter->Put("key", "2").IsTimedOut());
}

TEST_F(SharedObjectsTest, MutexFactoriesAreSharedByTransactionDatabases) {
  MutexCounts counts;
  TransactionDBOptions transactions;
  transactions.custom_mutex_factory = std::make_shared<CountingMutexFactory>(&counts);
  {
    TransactionDB* raw[2] = {};
    std::unique_ptr<TransactionDB> dbs[2];
    for (int i = 0; i < 2; i++) {
      const std::string name = "/db" + std::to_string(i);
      ASSERT_TRUE(TransactionDB::Open(MakeOptions(), transactions, name, &raw[i]).ok());
      dbs[i].reset(raw[i]);
      const uint64_t before = counts.made;
      WaitForLock(raw[i]);
      EXPECT_GT(counts.made, before);
    }
  }
  EXPECT_EQ(transactions.custom_mutex_factory.use_count(), 1);
  EXPECT_EQ(counts.left, 0u);
}

TEST_F(SharedObjectsTest, LockBucketsAreSharedByOptimisticDatabases) {
  OptimisticTransactionDBOptions optimistic;
  optimistic.shared_lock_buckets = MakeSharedOccLockBuckets(16);
  const Options options = MakeOptions();
  std::vector<std::unique_ptr<DB>> dbs;
  for (const char* name : {"/one", "/two"}) {
    std::vector<ColumnFamilyHandle*> handles;
    OptimisticTransactionDB* db = nullptr;
    ASSERT_TRUE(OptimisticTransactionDB::Open(options, optimistic, name,
                                              {{kDefaultColumnFamilyName, options}}, &handles, &db)
                    .ok());
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(handles[0]).ok());
    dbs.emplace_back(db);
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    EXPECT_TRUE(transaction->Put("a", "1").ok());
    EXPECT_TRUE(transaction->Commit().ok());
  }
  dbs.clear();
  EXPECT_EQ(optimistic.shared_lock_buckets.use_count(), 1);
}

TEST_F(SharedObjectsTest, WhatReadsTextKeepsNothing) {
  ConfigOptions config;
  config.env = env_.get();
  config.registry = ObjectRegistry::NewInstance();
  DBOptions read;
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(GetDBOptionsFromString(config, DBOptions(), "max_open_files=7", &read).ok());
    ColumnFamilyOptions family;
    ASSERT_TRUE(GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(),
                                                 "block_based_table_factory={block_size=7}",
                                                 &family)
                    .ok());
  }
  EXPECT_EQ(config.registry.use_count(), 1);
  EXPECT_EQ(config.env, env_.get());
}

}  // namespace
}  // namespace varve::testing
