// SPDX-License-Identifier: Apache-2.0
#include "tests/flat/life_cycles.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "varve/cache.h"
#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/filter_policy.h"
#include "varve/listener.h"
#include "varve/rate_limiter.h"
#include "varve/sst_file_manager.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/options_util.h"
#include "varve/utilities/repair.h"
#include "varve/utilities/write_batch_with_index.h"
#include "varve/write_batch.h"
#include "varve/write_buffer_manager.h"

namespace varve::testing {

namespace {

const WriteOptions kWrite;
const ReadOptions kRead;

void Ok(const Status& s) {
  EXPECT_TRUE(s.ok()) << s.ToString();
}
void Refused(const Status& s) {
  EXPECT_FALSE(s.ok());
}
// Uses few keys, so that the live data does not grow.
std::string KeyOf(const FlatStage* stage) {
  return "key" + std::to_string(stage->round % 7);
}

// ---- Families ----

void CreatedAndDroppedFamilies(FlatStage* stage) {
  const std::string name = "family" + std::to_string(stage->round);
  ColumnFamilyHandle* handle = nullptr;
  Ok(stage->db->CreateColumnFamily(stage->options, name, &handle));
  Ok(stage->db->Put(kWrite, handle, "a", "1"));
  if (stage->round % 4 == 0) Ok(stage->db->Flush(FlushOptions(), handle));
  Ok(stage->db->DropColumnFamily(handle));
  Ok(stage->db->DestroyColumnFamilyHandle(handle));
}

// ---- Reading ----

void Snapshots(FlatStage* stage) {
  const Snapshot* const snapshot = stage->db->GetSnapshot();
  Ok(stage->db->Put(kWrite, KeyOf(stage), "1"));
  ReadOptions read;
  read.snapshot = snapshot;
  std::string value;
  stage->db->Get(read, KeyOf(stage), &value).PermitUncheckedError();
  stage->db->ReleaseSnapshot(snapshot);
}

void Iterators(FlatStage* stage) {
  const Slice upper("key5");
  ReadOptions read;
  read.iterate_upper_bound = &upper;
  read.tailing = stage->round % 2 == 0;
  const std::unique_ptr<Iterator> it(stage->db->NewIterator(read));
  it->SeekToFirst();
  Ok(stage->db->Put(kWrite, KeyOf(stage), "1"));
  if (stage->round % 3 == 0) Ok(stage->db->Flush(FlushOptions()));
  it->Refresh().PermitUncheckedError();
  it->Seek("key2");
  if (!read.tailing) it->SeekToLast();
  Ok(it->status());
}

void PointReads(FlatStage* stage) {
  PinnableSlice pinned;
  stage->db->Get(kRead, stage->family(), KeyOf(stage), &pinned).PermitUncheckedError();
  const std::vector<Slice> keys = {"key1", "key2", "none"};
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  stage->db->MultiGet(kRead, stage->family(), keys.size(), keys.data(), values.data(),
                      statuses.data());
  std::string text;
  EXPECT_TRUE(stage->db->GetProperty(DB::Properties::kStats, &text));
  std::map<std::string, std::string> map;
  EXPECT_TRUE(stage->db->GetMapProperty(stage->family(), DB::Properties::kCFStats, &map));
  std::vector<LiveFileMetaData> files;
  stage->db->GetLiveFilesMetaData(&files);
  TablePropertiesCollection properties;
  Ok(stage->db->GetPropertiesOfAllTables(stage->family(), &properties));
}

// A thread has an entry in several tables of the library.
void Threads(FlatStage* stage) {
  std::thread([stage] {
    std::string value;
    Ok(stage->db->Put(kWrite, KeyOf(stage), "1"));
    Ok(stage->db->Get(kRead, KeyOf(stage), &value));
    const std::unique_ptr<Iterator> it(stage->db->NewIterator(kRead));
    it->SeekToFirst();
    EXPECT_TRUE(it->Valid());
  }).join();
}

// ---- Writing ----

void Batches(FlatStage* stage) {
  WriteBatch batch;
  Ok(batch.Put(KeyOf(stage), "1"));
  batch.SetSavePoint();
  Ok(batch.Delete("key1"));
  Ok(batch.RollbackToSavePoint());
  Ok(batch.DeleteRange("x", "y"));
  Ok(stage->db->Write(kWrite, &batch));
  WriteBatchWithIndex indexed;
  Ok(indexed.Put("key1", "2"));
  Ok(indexed.Delete("key2"));
  const std::unique_ptr<Iterator> it(indexed.NewIteratorWithBase(stage->db->NewIterator(kRead)));
  it->SeekToFirst();
  Ok(stage->db->Write(kWrite, indexed.GetWriteBatch()));
}

void Flushes(FlatStage* stage) {
  Ok(stage->db->Put(kWrite, KeyOf(stage), std::string(1000, 'v')));
  Ok(stage->db->Flush(FlushOptions()));
}

void Compactions(FlatStage* stage) {
  Ok(stage->db->Put(kWrite, KeyOf(stage), std::string(1000, 'v')));
  Ok(stage->db->DeleteRange(kWrite, stage->family(), "key3", "key4"));
  Ok(stage->db->Flush(FlushOptions()));
  Ok(stage->db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  if (stage->round % 5 == 0) Ok(DeleteFilesInRange(stage->db, stage->family(), nullptr, nullptr));
}

void ChangedOptions(FlatStage* stage) {
  const std::string number = std::to_string(2 + stage->round % 3);
  Ok(stage->db->SetOptions(stage->family(), {{"max_write_buffer_number", number},
                                             {"block_based_table_factory", "{block_size=4000}"}}));
  Ok(stage->db->SetDBOptions({{"max_background_jobs", number}}));
}

void PausesAndHolds(FlatStage* stage) {
  Ok(stage->db->PauseBackgroundWork());
  Ok(stage->db->ContinueBackgroundWork());
  Ok(stage->db->DisableFileDeletions());
  std::vector<std::string> files;
  uint64_t bytes = 0;
  Ok(stage->db->GetLiveFiles(files, &bytes, true));
  Ok(stage->db->EnableFileDeletions());
  Ok(stage->db->LockWAL());
  Ok(stage->db->UnlockWAL());
  VectorLogPtr logs;
  Ok(stage->db->GetSortedWalFiles(logs));
}

// ---- Transactions ----

void UseTransaction(FlatStage* stage, Transaction* transaction) {
  std::string value;
  Ok(transaction->Put(KeyOf(stage), "1"));
  transaction->SetSavePoint();
  transaction->GetForUpdate(kRead, "key6", &value).PermitUncheckedError();
  Ok(transaction->Put("key5", "2"));
  Ok(transaction->RollbackToSavePoint());
  const std::unique_ptr<Iterator> it(transaction->GetIterator(kRead));
  it->SeekToFirst();
}

void EndedTransactions(FlatStage* stage) {
  TransactionOptions options;
  options.set_snapshot = stage->round % 2 == 0;
  std::unique_ptr<Transaction> transaction(stage->locking->BeginTransaction(kWrite, options));
  UseTransaction(stage, transaction.get());
  Ok(transaction->Commit());
  // The object is reused.
  EXPECT_EQ(stage->locking->BeginTransaction(kWrite, options, transaction.get()),
            transaction.get());
  UseTransaction(stage, transaction.get());
  Ok(transaction->Rollback());
  transaction.reset(stage->locking->BeginTransaction(kWrite, options));
  UseTransaction(stage, transaction.get());  // and dropped
}

void PreparedTransactions(FlatStage* stage) {
  for (const bool commits : {true, false}) {
    const std::unique_ptr<Transaction> transaction(stage->locking->BeginTransaction(kWrite));
    Ok(transaction->SetName("name" + std::to_string(stage->round) + (commits ? "c" : "r")));
    UseTransaction(stage, transaction.get());
    Ok(transaction->Prepare());
    Ok(commits ? transaction->Commit() : transaction->Rollback());
  }
}

// One conflict is with a lock, and one with a write.
void RefusedTransactions(FlatStage* stage) {
  TransactionOptions options;
  options.set_snapshot = true;
  options.lock_timeout = 0;
  const std::unique_ptr<Transaction> one(stage->locking->BeginTransaction(kWrite, options));
  const std::unique_ptr<Transaction> two(stage->locking->BeginTransaction(kWrite, options));
  Ok(one->Put("key1", "1"));
  Refused(two->Put("key1", "2"));
  Ok(one->Commit());
  Refused(two->Put("key1", "2"));
  Refused(two->Prepare());  // without a name
}

void OptimisticTransactions(FlatStage* stage) {
  for (const bool conflicts : {false, true}) {
    const std::unique_ptr<Transaction> transaction(stage->optimistic->BeginTransaction(kWrite));
    UseTransaction(stage, transaction.get());
    if (conflicts) Ok(stage->db->Put(kWrite, KeyOf(stage), "3"));
    const Status s = transaction->Commit();
    EXPECT_EQ(s.ok(), !conflicts) << s.ToString();
  }
}

// ---- Calls that fail ----

void RefusedCalls(FlatStage* stage) {
  DB* const db = stage->db;
  ColumnFamilyHandle* handle = nullptr;
  Refused(db->CreateColumnFamily(stage->options, kDefaultColumnFamilyName, &handle));
  ColumnFamilyOptions bad(stage->options);
  bad.compression = kXpressCompression;
  Refused(db->CreateColumnFamily(bad, "bad", &handle));
  Refused(db->DropColumnFamily(stage->family()));
  Refused(db->Merge(kWrite, stage->family(), "a", "1"));
  Refused(db->DeleteRange(kWrite, stage->family(), "b", "a"));
  Refused(db->Put(kWrite, stage->family(), "a", "timestamp", "1"));
  Refused(db->SetOptions(stage->family(), {{"unknown", "1"}}));
  Refused(db->SetDBOptions({{"max_background_jobs", "many"}}));
  Refused(db->IngestExternalFile(stage->family(), {"none.sst"}, IngestExternalFileOptions()));
  Refused(db->CompactFiles(CompactionOptions(), stage->family(), {"none.sst"}, 1));
  std::unique_ptr<TransactionLogIterator> updates;
  Refused(db->GetUpdatesSince(db->GetLatestSequenceNumber() + 1, &updates));
  std::string value;
  Refused(db->Get(kRead, "none" + std::to_string(stage->round), &value));
  EXPECT_FALSE(db->GetProperty("rocksdb.none", &value));
  WriteOptions write;
  write.sync = true;
  write.disableWAL = true;
  Refused(db->Put(write, "a", "1"));
}

// ---- Databases ----

void Databases(FlatStage* stage) {
  const std::unique_ptr<DB> db = OpenFlatDb(DbKind::kPlain, stage);
  Ok(db->Put(kWrite, KeyOf(stage), "1"));
  if (stage->round % 2 == 0) Ok(db->Flush(FlushOptions()));
  Ok(db->Close());
}

void ReadOnlyDatabases(FlatStage* stage) {
  if (stage->round == 0) Databases(stage);
  DB* db = nullptr;
  Ok(DB::OpenForReadOnly(stage->options, stage->Path("db"), &db));
  const std::unique_ptr<DB> closes(db);
  std::string value;
  Refused(db->Put(kWrite, "a", "1"));
  Ok(db->Get(kRead, "key0", &value));
}

void RefusedDatabases(FlatStage* stage) {
  if (stage->round == 0) Databases(stage);
  DB* db = nullptr;
  Options options = stage->options;
  options.create_if_missing = false;
  Refused(DB::Open(options, stage->Path("none"), &db));
  options.row_cache = NewLRUCache(1 << 20);
  Refused(DB::Open(options, stage->Path("db"), &db));
  options = stage->options;
  options.comparator = ReverseBytewiseComparator();
  Refused(DB::Open(options, stage->Path("db"), &db));
  options = stage->options;
  options.error_if_exists = true;
  Refused(DB::Open(options, stage->Path("db"), &db));
  std::vector<ColumnFamilyHandle*> handles;
  Refused(DB::Open(stage->options, stage->Path("db"),
                   {{"default", stage->options}, {"missing", stage->options}}, &handles, &db));
  Refused(DB::OpenForReadOnly(stage->options, stage->Path("none"), &db));
}

class IdleListener final : public EventListener {};

// Everything that a database may be given, made for it.
void DatabasesWithObjects(FlatStage* stage) {
  FlatStage own = *stage;
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(1 << 20);
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  own.options.table_factory.reset(NewBlockBasedTableFactory(table));
  own.options.write_buffer_manager =
      std::make_shared<WriteBufferManager>(8 << 20, table.block_cache, true);
  own.options.rate_limiter.reset(NewGenericRateLimiter(int64_t{1} << 40));
  own.options.statistics = CreateDBStatistics();
  own.options.sst_file_manager.reset(NewSstFileManager(own.options.env));
  own.options.sst_file_manager->SetStatisticsPtr(own.options.statistics);
  own.options.listeners.push_back(std::make_shared<IdleListener>());
  own.options.merge_operator = MergeOperators::CreateUInt64AddOperator();
  const std::unique_ptr<Env> env = NewCompositeEnv(FileSystem::Default());
  own.options.env = env.get();
  const std::unique_ptr<DB> db = OpenFlatDb(DbKind::kPlain, &own);
  Ok(db->Put(kWrite, "a", std::string(1000, 'v')));
  Ok(db->Flush(FlushOptions()));
  std::string value;
  Ok(db->Get(kRead, "a", &value));
  // The LOG continues in place.
  std::shared_ptr<Logger> log;
  Ok(CreateLoggerFromOptions(stage->Path("logs"), own.options, &log));
  Header(log, "a header");
}

void DestroyedDatabases(FlatStage* stage) {
  Databases(stage);
  Ok(DestroyDB(stage->Path("db"), stage->options));
  Ok(DestroyDB(stage->Path("none"), stage->options));
  Refused(DestroyDB("", stage->options));
}

void RepairedDatabases(FlatStage* stage) {
  if (stage->round == 0) Databases(stage);
  Ok(RepairDB(stage->Path("db"), stage->options));
  Refused(RepairDB(stage->Path("none"), stage->options));
}

// One opening leaves them prepared, and the next decides them.
void RecoveredTransactions(FlatStage* stage) {
  const std::string name = "name" + std::to_string(stage->round);
  {
    FlatStage own = *stage;
    const std::unique_ptr<DB> db = OpenFlatDb(DbKind::kLocking, &own);
    const std::unique_ptr<Transaction> transaction(own.locking->BeginTransaction(kWrite));
    Ok(transaction->SetName(name));
    Ok(transaction->Put("key1", "1"));
    Ok(transaction->Prepare());
  }
  FlatStage own = *stage;
  const std::unique_ptr<DB> db = OpenFlatDb(DbKind::kLocking, &own);
  const std::unique_ptr<Transaction> transaction(own.locking->GetTransactionByName(name));
  ASSERT_NE(transaction, nullptr);
  Ok(stage->round % 2 == 0 ? transaction->Commit() : transaction->Rollback());
}

void OptionsAndTexts(FlatStage* stage) {
  if (stage->round == 0) Databases(stage);
  ConfigOptions config;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  Ok(LoadLatestOptions(config, stage->Path("db"), &db_options, &families));
  std::string text;
  Ok(GetStringFromColumnFamilyOptions(config, families.at(0).options, &text));
  Refused(GetDBOptionsFromString(config, db_options, "unknown=1", &db_options));
  Refused(LoadLatestOptions(config, stage->Path("none"), &db_options, &families));
}

}  // namespace

std::unique_ptr<DB> OpenFlatDb(DbKind kind, FlatStage* stage) {
  const std::string name = stage->Path("db");
  DB* db = nullptr;
  if (kind == DbKind::kPlain) {
    Ok(DB::Open(stage->options, name, &db));
  } else if (kind == DbKind::kLocking) {
    Ok(TransactionDB::Open(stage->options, TransactionDBOptions(), name, &stage->locking));
    db = stage->locking;
  } else if (kind == DbKind::kOptimistic) {
    Ok(OptimisticTransactionDB::Open(stage->options, name, &stage->optimistic));
    db = stage->optimistic;
  }
  return std::unique_ptr<DB>(db);
}

const std::vector<LifeCycle>& LifeCycles() {
  static const std::vector<LifeCycle> cycles = {
      {"CreatedAndDroppedFamilies", DbKind::kPlain, CreatedAndDroppedFamilies, 2},
      {"Snapshots", DbKind::kPlain, Snapshots},
      {"Iterators", DbKind::kPlain, Iterators},
      {"PointReads", DbKind::kPlain, PointReads},
      {"Threads", DbKind::kPlain, Threads},
      {"Batches", DbKind::kPlain, Batches},
      {"Flushes", DbKind::kPlain, Flushes},
      {"Compactions", DbKind::kPlain, Compactions, 2},
      {"ChangedOptions", DbKind::kPlain, ChangedOptions},
      {"PausesAndHolds", DbKind::kPlain, PausesAndHolds},
      {"EndedTransactions", DbKind::kLocking, EndedTransactions},
      {"PreparedTransactions", DbKind::kLocking, PreparedTransactions},
      {"RefusedTransactions", DbKind::kLocking, RefusedTransactions},
      {"OptimisticTransactions", DbKind::kOptimistic, OptimisticTransactions},
      {"RefusedCalls", DbKind::kPlain, RefusedCalls},
      {"Databases", DbKind::kNone, Databases, 3},
      {"ReadOnlyDatabases", DbKind::kNone, ReadOnlyDatabases, 3},
      {"RefusedDatabases", DbKind::kNone, RefusedDatabases, 3},
      {"DatabasesWithObjects", DbKind::kNone, DatabasesWithObjects, 3},
      {"DestroyedDatabases", DbKind::kNone, DestroyedDatabases, 3},
      {"RepairedDatabases", DbKind::kNone, RepairedDatabases, 3},
      {"RecoveredTransactions", DbKind::kNone, RecoveredTransactions, 4},
      {"OptionsAndTexts", DbKind::kNone, OptionsAndTexts},
  };
  return cycles;
}

}  // namespace varve::testing
