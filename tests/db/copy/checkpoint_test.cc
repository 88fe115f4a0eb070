// SPDX-License-Identifier: Apache-2.0

// Goal: a checkpoint is a database of its own with a prefix of the writes, is durable when the call
// returns, and does not exist at all when it fails; and it holds up no other call. Method:
// checkpoints of databases in memory are opened with kAbsoluteConsistency and compared; each call
// of the file system fails once, and the power goes before each; families, directories,
// transactions, links and leftovers in all the ways that the header names.

#include "varve/utilities/checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "varve/file_system_wrappers.h"
#include "varve/listener.h"
#include "varve/statistics.h"
#include "varve/utilities/transaction_db.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

constexpr uint64_t kNoFlush = UINT64_MAX;

// Refuses links, as between different file systems.
class NoLinks final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoLinks"; }
  IOStatus LinkFile(const std::string&, const std::string&, const IOOptions&,
                    IODebugContext*) override {
    return IOStatus::NotSupported("links");
  }
};

class MoveListener final : public EventListener {
 public:
  void OnDataMoved(DB* db, const DataMoveInfo& info) override {
    EXPECT_NE(db, nullptr);
    moves.push_back(info);
  }
  std::vector<DataMoveInfo> moves;
};

class CheckpointTest : public Database {
 protected:
  Status Create(const std::string& directory, uint64_t log_size_for_flush = kNoFlush,
                uint64_t* sequence = nullptr) {
    return CreateOf({}, directory, log_size_for_flush, sequence);
  }

  Status CreateOf(const std::vector<ColumnFamilyHandle*>& families, const std::string& directory,
                  uint64_t log_size_for_flush = kNoFlush, uint64_t* sequence = nullptr) {
    Checkpoint* raw = nullptr;
    Status s = Checkpoint::Create(db(), &raw);
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    if (!s.ok()) return s;
    return families.empty()
               ? checkpoint->CreateCheckpoint(directory, log_size_for_flush, sequence)
               : checkpoint->CreateCheckpoint(directory, families, log_size_for_flush, sequence);
  }

  // "a=1 b=2" of each family in turn, or why it does not open.
  std::string ScanOf(const std::string& directory, Env* env = nullptr,
                     std::vector<std::string> names = {}) {
    Options options = options_;
    options.db_paths.clear();
    options.wal_dir.clear();
    options.create_if_missing = false;
    options.listeners.clear();
    options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
    if (env != nullptr) options.env = env;
    Status s;
    if (names.empty()) s = DB::ListColumnFamilies(options, directory, &names);
    if (!s.ok()) return s.ToString();
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options);
    std::vector<ColumnFamilyHandle*> handles;
    DB* raw = nullptr;
    s = DB::Open(options, directory, families, &handles, &raw);
    if (!s.ok()) return s.ToString();
    const std::unique_ptr<DB> opened(raw);
    if (const Status sound = opened->VerifyChecksum(); !sound.ok()) return sound.ToString();
    std::string text;
    for (ColumnFamilyHandle* handle : handles) {
      text += handle->GetName() + ":";
      const std::unique_ptr<Iterator> it(opened->NewIterator(ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        text += " " + it->key().ToString() + "=" + it->value().ToString();
      }
      text += ";";
      EXPECT_TRUE(opened->DestroyColumnFamilyHandle(handle).ok());
    }
    return text;
  }

  bool Exists(const std::string& path) { return options_.env->FileExists(path).ok(); }

  std::vector<std::string> NamesIn(const std::string& directory) {
    std::vector<std::string> names;
    EXPECT_TRUE(options_.env->GetChildren(directory, &names).ok());
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    return names;
  }
};

TEST_F(CheckpointTest, HoldsTablesAndLogsAndGoesItsOwnWay) {
  Open();
  MakeTable({"a", "b"});
  Put("c", "log");
  uint64_t sequence = 0;
  ASSERT_TRUE(Create("/copy", kNoFlush, &sequence).ok());
  EXPECT_EQ(sequence, 3u);
  EXPECT_FALSE(Exists("/copy.tmp"));
  for (const std::string& name : NamesIn("/copy")) {
    EXPECT_TRUE(name != "LOCK" && name != "IDENTITY" && name != "LOG" && name != "1.dbtmp") << name;
  }
  Put("d", "later");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=of b c=log;");
  EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=of b c=log;");  // also what the first opening left
  EXPECT_EQ(Scan(), "a=of a b=of b c=log d=later");
  ASSERT_TRUE(Create("/flushed", 0).ok());
  EXPECT_EQ(ScanOf("/flushed"), "default: a=of a b=of b c=log d=later;");
}

TEST_F(CheckpointTest, MayHaveSomeFamilies) {
  Open({"default", "a", "b"});
  Put("k", "default");
  Put("k", "a", "a");
  Put("k", "b", "b");
  Flush("b");
  ASSERT_TRUE(CreateOf({Handle("a")}, "/copy").ok());
  EXPECT_EQ(ScanOf("/copy"), "default: k=default;a: k=a;");
  ASSERT_TRUE(CreateOf({Handle("b"), Handle("default")}, "/copy2").ok());
  EXPECT_EQ(ScanOf("/copy2"), "default: k=default;b: k=b;");
  EXPECT_TRUE(CreateOf({nullptr}, "/copy3").IsInvalidArgument());
  const std::unique_ptr<Env> other_env = NewCompositeEnv(std::make_shared<MemFileSystem>());
  Options other_options;
  other_options.env = other_env.get();
  other_options.create_if_missing = true;
  DB* raw = nullptr;
  ASSERT_TRUE(DB::Open(other_options, "/other", &raw).ok());
  const std::unique_ptr<DB> other(raw);
  EXPECT_TRUE(CreateOf({other->DefaultColumnFamily()}, "/copy3").IsInvalidArgument());
  ASSERT_TRUE(db()->DropColumnFamily(Handle("b")).ok());
  EXPECT_TRUE(CreateOf({Handle("b")}, "/copy3").IsInvalidArgument());
  EXPECT_FALSE(Exists("/copy3") || Exists("/copy3.tmp"));
  ASSERT_TRUE(Create("/copy3").ok());
  EXPECT_EQ(ScanOf("/copy3"), "default: k=default;a: k=a;");
}

TEST_F(CheckpointTest, BringsSeveralDirectoriesTogether) {
  options_.db_paths = {DbPath("/fast", 1), DbPath("/slow", 1 << 30)};
  options_.wal_dir = "/logs";
  Open();
  MakeTable({"a"});
  CompactRangeOptions to_slow;
  to_slow.target_path_id = 1;
  ASSERT_TRUE(db()->CompactRange(to_slow, nullptr, nullptr).ok());
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].db_path, "/slow");
  Put("b", "log");
  ASSERT_TRUE(Create("/copy").ok());
  EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=log;");
  // Its OPTIONS do not refer to the logs of the original.
  for (const std::string& name : NamesIn("/copy")) {
    if (!name.starts_with("OPTIONS")) continue;
    EXPECT_EQ(ReadFile("/copy/" + name).find("/logs"), std::string::npos);
    EXPECT_EQ(ReadFile("/copy/" + name).find("/fast"), std::string::npos);
  }
}

// A copy would lack, in silence, what a secondary has from logs that belong to another process.
TEST_F(CheckpointTest, ASecondaryIsCopiedWhenAllIsInTables) {
  Open();
  MakeTable({"a"});
  Put("b", "log");
  std::unique_ptr<DB> secondary;
  Options options = options_;
  options.max_open_files = -1;
  ASSERT_TRUE(DB::OpenAsSecondary(options, kName, "/second", &secondary).ok());
  Checkpoint* raw = nullptr;
  ASSERT_TRUE(Checkpoint::Create(secondary.get(), &raw).ok());
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  const Status refused = checkpoint->CreateCheckpoint("/copy");
  EXPECT_TRUE(refused.IsNotSupported()) << refused.ToString();
  EXPECT_FALSE(Exists("/copy"));
  std::vector<LiveFileStorageInfo> files;
  EXPECT_TRUE(
      secondary->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files).IsNotSupported());
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  ASSERT_TRUE(secondary->TryCatchUpWithPrimary().ok());
  const Status s = checkpoint->CreateCheckpoint("/copy");
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=log;");
}

TEST_F(CheckpointTest, RefusesNamesThatItCannotHave) {
  Open();
  Put("k", "v");
  EXPECT_TRUE(Create("").IsInvalidArgument());
  EXPECT_TRUE(Create("///").IsInvalidArgument());
  EXPECT_TRUE(Create(kName).IsInvalidArgument());
  ASSERT_TRUE(Create("/copy/").ok());
  EXPECT_TRUE(Create("/copy").IsInvalidArgument());
  EXPECT_EQ(ScanOf("/copy"), "default: k=v;");
  Checkpoint* none = nullptr;
  EXPECT_TRUE(Checkpoint::Create(nullptr, &none).IsInvalidArgument());
  EXPECT_TRUE(Checkpoint::Create(db(), nullptr).IsInvalidArgument());
  std::unique_ptr<CheckpointEngine> engine;
  CheckpointEngineOptions options;
  options.max_background_operations = 0;
  EXPECT_TRUE(CheckpointEngine::Open(options, &engine).IsInvalidArgument());
}

TEST_F(CheckpointTest, RemovesLeftoversAndNothingElse) {
  Open();
  Put("k", "v");
  Env* const env = options_.env;
  ASSERT_TRUE(env->CreateDir("/copy.tmp").ok());
  WriteFile("/copy.tmp/000007.sst", "half");
  WriteFile("/copy.tmp/MANIFEST-000009", "");
  ASSERT_TRUE(Create("/copy").ok());
  EXPECT_EQ(ScanOf("/copy"), "default: k=v;");
  ASSERT_TRUE(env->CreateDir("/second.tmp").ok());
  WriteFile("/second.tmp/000007.sst", "half");
  WriteFile("/second.tmp/letter.txt", "mine");
  EXPECT_TRUE(Create("/second").IsAborted());
  EXPECT_EQ(NamesIn("/second.tmp").size(), 2u);
  ASSERT_TRUE(env->CreateDir("/third.tmp").ok());
  ASSERT_TRUE(env->CreateDir("/third.tmp/000007.sst").ok());
  EXPECT_TRUE(Create("/third").IsAborted());
  EXPECT_TRUE(Exists("/third.tmp/000007.sst"));
}

TEST_F(CheckpointTest, CopiesWhereThereAreNoLinks) {
  const std::unique_ptr<Env> env = NewCompositeEnv(std::make_shared<NoLinks>(file_system()));
  options_.env = env.get();
  options_.statistics = CreateDBStatistics();
  Open();
  MakeTable({"a"});
  Put("b", "log");
  ASSERT_TRUE(Create("/copy").ok());
  EXPECT_GT(options_.statistics->getTickerCount(CHECKPOINT_READ_BYTES), 0u);
  EXPECT_GT(options_.statistics->getTickerCount(CHECKPOINT_WRITE_BYTES), 0u);
  EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=log;");
  EXPECT_TRUE(Close().ok());
}

TEST_F(CheckpointTest, AnEngineMayCopyAndHasThreads) {
  auto listener = std::make_shared<MoveListener>();
  options_.listeners = {listener};
  Open();
  for (const char* key : {"a", "b", "c", "d"}) MakeTable({key});
  Put("e", "log");
  CheckpointEngineOptions options;
  options.use_link_file_when_available = false;
  options.max_background_operations = 3;
  options.io_buffer_size = 4096;
  options.backup_rate_limit = 100 << 20;
  std::unique_ptr<CheckpointEngine> engine;
  ASSERT_TRUE(CheckpointEngine::Open(options, &engine).ok());
  ASSERT_TRUE(engine->CreateCheckpoint(db(), "/copy", kNoFlush).ok());
  EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=of b c=of c d=of d e=log;");
  EXPECT_TRUE(engine->CreateCheckpoint(nullptr, "/other").IsInvalidArgument());
  EXPECT_TRUE(engine->CreateCheckpoint(db(), "/copy").IsInvalidArgument());
  ASSERT_TRUE(Create("/linked").ok());
  ASSERT_EQ(listener->moves.size(), 3u);
  const DataMoveInfo& copied = listener->moves[0];
  EXPECT_EQ(copied.kind, DataMoveInfo::Kind::kCheckpoint);
  EXPECT_EQ(copied.path, "/copy");
  EXPECT_EQ(copied.bytes_linked, 0u);
  EXPECT_GT(copied.bytes_copied, 0u);
  EXPECT_EQ(copied.sequence, 5u);
  EXPECT_TRUE(listener->moves[1].status.IsInvalidArgument());
  EXPECT_GT(listener->moves[2].bytes_linked, 0u);
}

TEST_F(CheckpointTest, HasWhatNoLogHas) {
  Open({"default", "a"});
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", "v").ok());
  Put("logged", "v");
  ASSERT_TRUE(Create("/copy").ok());
  EXPECT_EQ(ScanOf("/copy"), "default: logged=v;a: k=v;");
}

// A logged write follows each unlogged one: a copy that has the later one has the earlier one, too.
TEST_F(CheckpointTest, IsAPrefixBesideUnloggedWrites) {
  Open({"default", "a"});
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    for (int i = 1; !stop.load(); i++) {
      const std::string value = std::to_string(i);
      ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", value).ok());
      ASSERT_TRUE(db()->Put(WriteOptions(), "k", value).ok());
      if (i % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  const auto number_in = [](const std::string& text, const std::string& family) {
    const size_t at = text.find(family + ": k=");
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + family.size() + 4));
  };
  for (int i = 0; i < 30; i++) {
    const std::string directory = "/copy" + std::to_string(i);
    ASSERT_TRUE(Create(directory).ok());
    const std::string text = ScanOf(directory);
    EXPECT_GE(number_in(text, "a"), number_in(text, "default")) << text;
    EXPECT_LE(number_in(text, "a"), number_in(text, "default") + 1) << text;
  }
  stop.store(true);
  writer.join();
}

// Returns the bytes of digits in base 16.
std::string Bytes(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// The smallest directory that RocksDB opens: a table with k1 and k2, without a unique id, and a log
// with k3.
constexpr const char* kSmallestManifest =
    "eddde38e400001011a6c6576656c64622e4279746577697365436f6d70617261746f72020503060402670003fd020a"
    "6b3101010000000000000a6b320102000000000000010201";
constexpr const char* kSmallestLog =
    "9237815b130001030000000000000001000000"
    "01026b33027633";
constexpr const char* kSmallestTable =
    "000a026b3101010000000000007631010902320102000000000000763200000000010000000043ec2b5d00026b3200"
    "2500000000010000000073336811002404726f636b7364622e626c6f636b2e62617365642e7461626c652e696e6465"
    "782e7479706500000000080a1a636f6d70617261746f726c6576656c64622e4279746577697365436f6d7061726174"
    "6f720c070d72657373696f6e4e6f436f6d7072657373696f6e080c0164656c657465642e6b65797300081501696e64"
    "65782e6b65792e69732e757365722e6b6579010e160176616c75652e69732e64656c74612e656e636f64656401080b"
    "016e756d2e656e747269657302080c017261772e6b65792e73697a65140c0a0176616c75652e73697a650400000000"
    "0100000000314f1f17001203726f636b7364622e70726f706572746965733de10100000000010000000065d90c2d01"
    "a302202a0e000000000000000000000000000000000000000000000000000000000000000000000005000000f7cff4"
    "85b741e288";

TEST_F(CheckpointTest, FindsTheTableThatLevelDbHasNamed) {
  const std::string db_path(kName);
  ASSERT_TRUE(mem().CreateDirIfMissing(db_path, IOOptions(), nullptr).ok());
  WriteFile(db_path + "/CURRENT", "MANIFEST-000001\n");
  WriteFile(db_path + "/MANIFEST-000001", Bytes(kSmallestManifest));
  WriteFile(db_path + "/000003.ldb", Bytes(kSmallestTable));
  WriteFile(db_path + "/000005.log", Bytes(kSmallestLog));
  Open();
  std::vector<LiveFileStorageInfo> files;
  ASSERT_TRUE(db()->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files).ok());
  bool found = false;
  for (const LiveFileStorageInfo& file : files) {
    if (file.file_type == kCurrentFile) continue;
    EXPECT_TRUE(Exists(file.directory + "/" + file.relative_filename)) << file.relative_filename;
    found = found || file.relative_filename == "000003.ldb";
  }
  EXPECT_TRUE(found);
  ASSERT_TRUE(Create("/copy").ok());
  EXPECT_EQ(ScanOf("/copy"), "default: k1=v1 k2=v2 k3=v3;");
  EXPECT_TRUE(Exists("/copy/000003.sst"));
}

// The newest writes are of a family that is left out, and in no log.
TEST_F(CheckpointTest, ItsSequenceIsNotAboveItsNewest) {
  Open({"default", "a"});
  Put("k", "v");
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", "1").ok());
  ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", "2").ok());
  uint64_t sequence = 0;
  ASSERT_TRUE(CreateOf({Handle("default")}, "/copy", kNoFlush, &sequence).ok());
  EXPECT_EQ(sequence, 3u);
  DB* raw = nullptr;
  Options options = options_;
  options.create_if_missing = false;
  ASSERT_TRUE(DB::Open(options, "/copy", &raw).ok());
  const std::unique_ptr<DB> copy(raw);
  EXPECT_EQ(copy->GetLatestSequenceNumber(), sequence);
  ASSERT_TRUE(copy->Put(WriteOptions(), "later", "v").ok());
  EXPECT_EQ(copy->GetLatestSequenceNumber(), sequence + 1);
}

TEST_F(CheckpointTest, NeedsNoWritersUnlessItFlushes) {
  Open();
  Put("k", "v");
  ASSERT_TRUE(db()->LockWAL().ok());
  ASSERT_TRUE(Create("/copy").ok());
  EXPECT_TRUE(Create("/flushed", 0).IsAborted());
  EXPECT_FALSE(Exists("/flushed") || Exists("/flushed.tmp"));
  ASSERT_TRUE(db()->UnlockWAL().ok());
  EXPECT_EQ(ScanOf("/copy"), "default: k=v;");
}

TEST_F(CheckpointTest, OfADatabaseThatIsReadOnly) {
  Open({"default", "a"});
  Put("k", "v");
  Put("k", "w", "a");
  Kill();
  ASSERT_TRUE(TryOpenReadOnly({"default", "a"}).ok());
  ASSERT_TRUE(Create("/copy", 0).ok());
  EXPECT_EQ(ScanOf("/copy"), "default: k=v;a: k=w;");
  ASSERT_TRUE(Close().ok());
  // A read-only database cannot describe families that it has not opened.
  ASSERT_TRUE(TryOpenReadOnly({"default"}).ok());
  EXPECT_TRUE(Create("/copy2").IsInvalidArgument());
  ASSERT_TRUE(CreateOf({Handle("default")}, "/copy3").ok());
  EXPECT_EQ(ScanOf("/copy3"), "default: k=v;");
}

TEST_F(CheckpointTest, ARefusedCallAfterClose) {
  Open();
  Checkpoint* raw = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db(), &raw).ok());
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_TRUE(db()->Close().ok());
  EXPECT_TRUE(checkpoint->CreateCheckpoint("/copy").IsShutdownInProgress());
  EXPECT_FALSE(Exists("/copy"));
}

TEST_F(CheckpointTest, HoldsUndecidedTransactions) {
  TransactionDB* raw = nullptr;
  options_.create_if_missing = true;
  ASSERT_TRUE(TransactionDB::Open(options_, TransactionDBOptions(), kName, &raw).ok());
  std::unique_ptr<TransactionDB> txn_db(raw);
  std::unique_ptr<Transaction> prepared(txn_db->BeginTransaction(WriteOptions()));
  ASSERT_TRUE(prepared->SetName("undecided").ok());
  ASSERT_TRUE(prepared->Put("k", "prepared").ok());
  ASSERT_TRUE(prepared->Prepare().ok());
  ASSERT_TRUE(txn_db->Put(WriteOptions(), "a", "v").ok());
  // The log of the prepared transaction stays, though all writes are in tables.
  ASSERT_TRUE(txn_db->Flush(FlushOptions()).ok());
  ASSERT_TRUE(txn_db->Put(WriteOptions(), "b", "v").ok());
  for (const bool flush : {false, true}) {
    const std::string directory = flush ? "/flushed" : "/copy";
    Checkpoint* made = nullptr;
    ASSERT_TRUE(Checkpoint::Create(txn_db.get(), &made).ok());
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ASSERT_TRUE(checkpoint->CreateCheckpoint(directory, flush ? 0 : kNoFlush).ok());
    TransactionDB* opened = nullptr;
    const Status s = TransactionDB::Open(options_, TransactionDBOptions(), directory, &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<TransactionDB> copy(opened);
    std::vector<Transaction*> found;
    copy->GetAllPreparedTransactions(&found);
    ASSERT_EQ(found.size(), 1u);
    const std::unique_ptr<Transaction> undecided(found.front());
    EXPECT_EQ(undecided->GetName(), "undecided");
    std::string value;
    EXPECT_TRUE(copy->Get(ReadOptions(), "k", &value).IsNotFound());
    ASSERT_TRUE(undecided->Commit().ok());
    EXPECT_TRUE(copy->Get(ReadOptions(), "k", &value).ok());
    EXPECT_TRUE(copy->Get(ReadOptions(), "b", &value).ok());
  }
  // The copies have decided for themselves alone.
  ASSERT_TRUE(prepared->Rollback().ok());
  prepared.reset();
  EXPECT_TRUE(txn_db->Close().ok());
}

TEST_F(CheckpointTest, EveryCallOfTheFileSystemFailsOnce) {
  Open();
  MakeTable({"a"});
  MakeTable({"b"});
  Put("c", "log");
  uint64_t failures = 0;
  for (uint64_t nth = 1;; nth++) {
    ASSERT_LT(nth, 200u);
    FaultRule rule;
    rule.nth = nth;
    faults().Inject(rule);
    const Status s = Create("/copy");
    const bool struck = faults().strikes() > 0;
    faults().ClearFaults();
    if (!struck) {
      ASSERT_TRUE(s.ok()) << s.ToString();
      break;
    }
    if (s.ok()) {  // the failed call did not matter
      EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=of b c=log;") << nth;
      ASSERT_TRUE(DestroyDB("/copy", options_).ok());
      continue;
    }
    failures++;
    EXPECT_FALSE(Exists("/copy")) << nth;
    // Leftovers are removed by the next call with the same name.
    ASSERT_TRUE(Create("/copy").ok()) << nth;
    EXPECT_EQ(ScanOf("/copy"), "default: a=of a b=of b c=log;") << nth;
    ASSERT_TRUE(DestroyDB("/copy", options_).ok());
  }
  EXPECT_GT(failures, 10u);
  Put("d", "still written");
  EXPECT_EQ(Scan(), "a=of a b=of b c=log d=still written");
}

class CheckpointLossTest : public CheckpointTest,
                           public ::testing::WithParamInterface<bool>,
                           protected MemFileSystem::CallHook {
 protected:
  static constexpr CrashPolicy kPolicies[] = {
      CrashPolicy::kSyncedOnly,  CrashPolicy::kOrderedPrefix, CrashPolicy::kAllNames,
      CrashPolicy::kAdversarial, CrashPolicy::kSyncedBytes,   CrashPolicy::kKill};

  void BeforeCall(uint64_t index, MemCall, const std::string&) override { Clone(index); }

  void Clone(uint64_t seed) {
    for (const CrashPolicy policy : kPolicies) clones_.push_back(mem().CrashClone(policy, seed));
  }

  // Checks that the copy is missing or equals `whole`.
  void CheckClones(const std::string& directory, const std::string& whole, bool must_be_there) {
    for (size_t i = 0; i < clones_.size(); i++) {
      const std::unique_ptr<Env> env = NewCompositeEnv(clones_[i]);
      if (!env->FileExists(directory).ok()) {
        EXPECT_FALSE(must_be_there) << i;
        continue;
      }
      there_++;
      ASSERT_EQ(ScanOf(directory, env.get()), whole) << i;
    }
    clones_.clear();
  }

  std::vector<std::shared_ptr<MemFileSystem>> clones_;
  size_t there_ = 0;
};

TEST_P(CheckpointLossTest, ThePowerGoesBeforeEachCall) {
  std::unique_ptr<Env> no_links;
  if (!GetParam()) {
    no_links = NewCompositeEnv(std::make_shared<NoLinks>(file_system()));
    options_.env = no_links.get();
  }
  Open({"default", "a"});
  MakeTable({"a", "b"});
  Put("k", "v", "a");
  ASSERT_TRUE(db()->SyncWAL().ok());
  Put("c", "not synced");
  mem().SetCallHook(this);
  const Status s = Create("/copy");
  mem().SetCallHook(nullptr);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::string whole = "default: a=of a b=of b c=not synced;a: k=v;";
  EXPECT_GT(clones_.size(), 6 * 10u);
  CheckClones("/copy", whole, /*must_be_there=*/false);
  EXPECT_GT(there_, 0u);
  Clone(0);
  CheckClones("/copy", whole, /*must_be_there=*/true);
  EXPECT_TRUE(Close().ok());
}

INSTANTIATE_TEST_SUITE_P(Checkpoint, CheckpointLossTest, ::testing::Bool());

}  // namespace
}  // namespace varve::testing
